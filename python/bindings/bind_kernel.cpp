// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "arguments.hpp"
#include "objects.hpp"

#include <cuprum/kernel.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/operators.h>
#include <nanobind/stl/string.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

namespace cuprum::python {

using namespace nb::literals;

namespace {

/// The figures of a kernel on one device, read when first asked for.
struct PyKernelAttributes {
    explicit PyKernelAttributes(const Kernel& shared, std::optional<Device> on = {})
        : kernel(shared), device(on) {}

    /// Returns the figures on the device, the current one if none was named.
    [[nodiscard]] const KernelAttributes& read() {
        const nb::ft_lock_guard lock(mutex);
        if (!figures) {
            // Stored with the GIL held: another thread may read them too.
            figures = [this] {
                const nb::gil_scoped_release unlocked;
                return kernel.attributes(device ? *device : Device());
            }();
        }
        return *figures;
    }

    Held<Kernel> kernel;
    std::optional<Device> device;
    std::optional<KernelAttributes> figures;
    nb::ft_mutex mutex;
};

struct PyKernelOccupancy {
    explicit PyKernelOccupancy(const Kernel& shared) : kernel(shared) {}

    Held<Kernel> kernel;
};

void bind_attributes(nb::module_& module);
void bind_occupancy(nb::module_& module);
[[nodiscard]] nb::list arguments_info(const PyKernel& self);
[[nodiscard]] std::uintptr_t address(const Kernel& kernel);

} // namespace

void bind_kernel(nb::module_& module) {
    bind_attributes(module);
    bind_occupancy(module);
    nb::class_<PyKernel> type(module, "Kernel", nb::is_weak_referenceable(),
                              R"(Share a kernel; it keeps its code loaded.

Obtained from ``ObjectCode.get_kernel``. It knows how many parameters it takes and how large, so
that ``launch`` can check.)");
    note_type<PyKernel>(type);
    type.def(
        "__init__",
        [](nb::handle, const nb::args&, const nb::kwargs&) {
            raise_error(PyExc_RuntimeError,
                        "a Kernel is not made directly; use ObjectCode.get_kernel()");
        },
        nb::sig("def __init__(self, *args: object, **kwargs: object) -> None"));
    type.def_prop_ro(
        "handle", [](const PyKernel& self) { return address(self); },
        "Return the driver's ``CUkernel`` as an int.");
    type.def_prop_ro(
        "name", [](const PyKernel& self) { return self.name(); },
        "Return the name that it has in the code.");
    type.def_prop_ro(
        "num_arguments", [](const PyKernel& self) { return self.parameters().size(); },
        "Return how many parameters it takes.");
    type.def_prop_ro("arguments_info", arguments_info,
                     nb::sig("def arguments_info(self) -> list[cuprum._types.ParamInfo]"),
                     "Return offset and size of each parameter as named tuples.");
    type.def_prop_ro(
        "attributes", [](const PyKernel& self) { return make<PyKernelAttributes>(self); },
        nb::sig("def attributes(self) -> KernelAttributes"),
        R"(Return the kernel's figures on the current device.

Index it for another one: ``kernel.attributes[device].num_regs``.)");
    type.def_prop_ro(
        "occupancy", [](const PyKernel& self) { return make<PyKernelOccupancy>(self); },
        nb::sig("def occupancy(self) -> KernelOccupancy"),
        "Return an object that answers how many blocks fit on a multiprocessor.");
    type.def("close", &PyKernel::drop,
             "Give up this object's share of the kernel. Calling it again does nothing.");
    type.def(
        "__eq__",
        [](const PyKernel& self, const PyKernel& other) {
            return static_cast<const Kernel&>(self) == static_cast<const Kernel&>(other);
        },
        nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"));
    type.def("__hash__", [](const PyKernel& self) {
        return std::hash<std::uintptr_t>{}(self.is_closed() ? 0 : address(self));
    });
    type.def("__repr__", [](const PyKernel& self) -> std::string {
        return self.is_closed() ? "<Kernel closed>"
                                : "<Kernel handle=" + hex_text(address(self)) + ">";
    });
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

void bind_attributes(nb::module_& module) {
    nb::class_<PyKernelAttributes> type(module, "KernelAttributes",
                                        "Read the figures of a kernel on one device.");
    note_type<PyKernelAttributes>(type);
    type.def(
        "__getitem__",
        [](PyKernelAttributes& self, nb::handle device) {
            return make<PyKernelAttributes>(self.kernel, device_argument(device, "device"));
        },
        "device"_a.none(),
        nb::sig("def __getitem__(self, device: Device | int) -> KernelAttributes"),
        "Return the figures on another device.");
#define CUPRUM_FIGURE(name, text)                                                                  \
    type.def_prop_ro(#name, [](PyKernelAttributes& self) { return self.read().name; }, text)
    CUPRUM_FIGURE(max_threads_per_block, "Return the most threads that a block may have.");
    CUPRUM_FIGURE(shared_size_bytes, "Return the static shared memory that a block takes.");
    CUPRUM_FIGURE(const_size_bytes, "Return the constant memory that it takes.");
    CUPRUM_FIGURE(local_size_bytes, "Return the local memory that a thread takes.");
    CUPRUM_FIGURE(num_regs, "Return the registers that a thread takes.");
    CUPRUM_FIGURE(ptx_version, "Return the PTX version that it was compiled for, 90 for 9.0.");
    CUPRUM_FIGURE(binary_version, "Return the architecture that it was compiled for, 90 for 9.0.");
    CUPRUM_FIGURE(max_dynamic_shared_size_bytes,
                  "Return the most dynamic shared memory that a launch may ask for.");
#undef CUPRUM_FIGURE
}

void bind_occupancy(nb::module_& module) {
    nb::class_<PyKernelOccupancy> type(module, "KernelOccupancy",
                                       "Answer how many blocks of a kernel fit on a device.");
    note_type<PyKernelOccupancy>(type);
    type.def(
        "max_active_blocks_per_multiprocessor",
        [](const PyKernelOccupancy& self, int block_size, nb::handle shared_bytes) {
            const std::size_t bytes = size_argument(shared_bytes, "dynamic_shared_memory_size");
            const nb::gil_scoped_release unlocked;
            return self.kernel.max_active_blocks_per_multiprocessor(block_size, bytes);
        },
        "block_size"_a, "dynamic_shared_memory_size"_a.none(),
        nb::sig("def max_active_blocks_per_multiprocessor(self, block_size: int, "
                "dynamic_shared_memory_size: int) -> int"),
        R"(Return how many blocks fit on one multiprocessor at once.

Parameters
----------
block_size : int
    Threads per block.
dynamic_shared_memory_size : int
    Dynamic shared memory per block, in bytes.)");
}

nb::list arguments_info(const PyKernel& self) {
    const nb::object type = nb::module_::import_("cuprum._types").attr("ParamInfo");
    nb::list all;
    for (const ParameterInfo& parameter : self.parameters()) {
        all.append(type(parameter.offset, parameter.size));
    }
    return all;
}

std::uintptr_t address(const Kernel& kernel) {
    return reinterpret_cast<std::uintptr_t>(kernel.handle());
}

} // namespace

} // namespace cuprum::python
