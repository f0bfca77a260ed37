// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "launch/bind_kernel.hpp"
#include "launch/kernel_objects.hpp"
#include "support/arguments.hpp"
#include "support/compatibility.hpp"
#include "support/held.hpp"
#include "support/python_objects.hpp"

#include <cuprum/device.hpp>
#include <cuprum/kernel.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <optional>

namespace cuprum::python {

using namespace nb::literals;

namespace {

/// The attributes of a kernel on one device, the current one if none was named.
struct PyKernelAttributes {
    explicit PyKernelAttributes(const Kernel& shared, std::optional<Device> on = {})
        : kernel(shared), device(on) {}

    [[nodiscard]] int read(KernelAttribute attribute) const {
        const nb::gil_scoped_release unlocked; // the first reading may load or compile the kernel
        return kernel.attribute(attribute, device ? *device : Device());
    }

    void write(KernelAttribute attribute, int value) const {
        const nb::gil_scoped_release unlocked;
        kernel.set_attribute(attribute, value, device ? *device : Device());
    }

    Held<Kernel> kernel;
    std::optional<Device> device;
};

template <KernelAttribute Attribute>
void bind_number(nb::class_<PyKernelAttributes>& type, const char* name, const char* text) {
    type.def_prop_ro(
        name, [](const PyKernelAttributes& self) { return self.read(Attribute); }, text);
}

template <KernelAttribute Attribute>
void bind_flag(nb::class_<PyKernelAttributes>& type, const char* name, const char* text) {
    type.def_prop_ro(
        name, [](const PyKernelAttributes& self) { return self.read(Attribute) != 0; }, text);
}

template <KernelAttribute Attribute>
void bind_settable(nb::class_<PyKernelAttributes>& type, const char* name, const char* text) {
    type.def_prop_rw(
        name, [](const PyKernelAttributes& self) { return self.read(Attribute); },
        [name](const PyKernelAttributes& self, nb::handle value) {
            const std::optional<int> wanted = optional_int_argument(value, name);
            if (!wanted) {
                raise_error(PyExc_TypeError, std::string(name) + " must be an integer, got None");
            }
            self.write(Attribute, *wanted);
        },
        nb::arg().none(),
        nb::for_setter(
            nb::sig((std::string("def ") + name + "(self, value: int, /) -> None").c_str())),
        text);
}

} // namespace

void bind_kernel_attributes(nb::module_& module, nb::class_<PyKernel>& kernel) {
    nb::class_<PyKernelAttributes> type(module, "KernelAttributes",
                                        R"(The attributes of a kernel on one device.

Setting an attribute affects all later launches on that device.

Examples
--------
>>> kernel.attributes.max_threads_per_block
1024)");
    note_type<PyKernelAttributes>(type);
    type.def(
        "__init__",
        [](nb::handle, const nb::args&, const nb::kwargs&) {
            raise_error(PyExc_RuntimeError,
                        "KernelAttributes cannot be instantiated directly. Use Kernel.attributes");
        },
        nb::sig("def __init__(self, *args: object, **kwargs: object) -> None"));
    type.def(
        "__getitem__",
        [](const PyKernelAttributes& self, nb::handle device) {
            return make<PyKernelAttributes>(self.kernel, device_argument(device, "device"));
        },
        "device"_a.none(),
        nb::sig("def __getitem__(self, device: Device | int) -> KernelAttributes"),
        "Return the attributes on another device.");
    type.def("__repr__", [](nb::handle self) {
        const auto& held = held_by<PyKernelAttributes>(self);
        const auto kernel = reinterpret_cast<std::uintptr_t>(held.kernel.handle());
        return "<" + type_label(self) + " kernel=" +
               (compatibility::keeps_reprs_short() ? hex_text(kernel)
                                                   : repr_text(nb::cast(held.kernel.name()))) +
               (held.device ? " device=" + std::to_string(held.device->ordinal()) : "") + ">";
    });
    using enum KernelAttribute;
    bind_number<MaxThreadsPerBlock>(type, "max_threads_per_block",
                                    "Return the most threads that a block may have.");
    bind_number<SharedSizeBytes>(type, "shared_size_bytes",
                                 "Return the static shared memory that a block takes.");
    bind_number<ConstSizeBytes>(type, "const_size_bytes",
                                "Return the constant memory that it takes.");
    bind_number<LocalSizeBytes>(type, "local_size_bytes",
                                "Return the local memory that a thread takes.");
    bind_number<NumRegs>(type, "num_regs", "Return the registers that a thread takes.");
    bind_number<PtxVersion>(type, "ptx_version",
                            "Return the PTX version that it was compiled for, 90 for 9.0.");
    bind_number<BinaryVersion>(type, "binary_version",
                               "Return the architecture that it was compiled for, 90 for 9.0.");
    bind_flag<CacheModeCa>(type, "cache_mode_ca",
                           "Return whether it was compiled to cache global loads in L1.");
    bind_settable<MaxDynamicSharedSizeBytes>(
        type, "max_dynamic_shared_size_bytes",
        R"(Return or set the most dynamic shared memory that a launch may use, in bytes.

A launch that needs more raises this limit, up to the limit of the device.)");
    bind_settable<PreferredSharedMemoryCarveout>(
        type, "preferred_shared_memory_carveout",
        "Return or set the percent of L1 to use as shared memory; -1 is the driver's choice.");
    bind_flag<ClusterSizeMustBeSet>(type, "cluster_size_must_be_set",
                                    "Return whether a launch must give a cluster.");
    bind_settable<RequiredClusterWidth>(
        type, "required_cluster_width",
        "Return or set the x extent that a cluster must have; 0 is any.");
    bind_settable<RequiredClusterHeight>(
        type, "required_cluster_height",
        "Return or set the y extent that a cluster must have; 0 is any.");
    bind_settable<RequiredClusterDepth>(
        type, "required_cluster_depth",
        "Return or set the z extent that a cluster must have; 0 is any.");
    type.def_prop_rw(
        "non_portable_cluster_size_allowed",
        [](const PyKernelAttributes& self) {
            return self.read(NonPortableClusterSizeAllowed) != 0;
        },
        [](const PyKernelAttributes& self, bool value) {
            self.write(NonPortableClusterSizeAllowed, value ? 1 : 0);
        },
        "Return or set whether a cluster may have more than 8 blocks.");
    bind_settable<ClusterSchedulingPolicyPreference>(
        type, "cluster_scheduling_policy_preference",
        "Return or set how clusters are placed: 0 default, 1 spread, 2 load balancing.");
    kernel.def_prop_ro(
        "attributes", [](const PyKernel& self) { return make<PyKernelAttributes>(self); },
        nb::sig("def attributes(self) -> KernelAttributes"),
        R"(Return the kernel's attributes on the current device.

Index it for another one: ``kernel.attributes[device].num_regs``.)");
}

} // namespace cuprum::python
