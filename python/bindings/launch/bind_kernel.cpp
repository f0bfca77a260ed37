// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "launch/bind_kernel.hpp"

#include "bindings.hpp"
#include "launch/kernel_objects.hpp"
#include "program/program_objects.hpp"
#include "support/arguments.hpp"
#include "support/compatibility.hpp"
#include "support/display.hpp"
#include "support/python_objects.hpp"
#include "support/recycling.hpp"

#include <cuprum/detail/leave_loaded.hpp>
#include <cuprum/kernel.hpp>
#include <cuprum/object_code.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/operators.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace cuprum::python {

using namespace nb::literals;

namespace {

[[nodiscard]] nb::object from_handle(nb::handle handle, nb::handle module);
[[nodiscard]] nb::list arguments_info(const PyKernel& self);
[[nodiscard]] std::uintptr_t address(const Kernel& kernel);
[[nodiscard]] std::optional<std::vector<std::string>> parameter_words(const Kernel& kernel);

} // namespace

void bind_kernel(nb::module_& module) {
    nb::class_<PyKernel> type(module, "Kernel", nb::is_weak_referenceable(), nb::pooled(),
                              R"(A kernel, which keeps its code loaded.

Obtained from ``ObjectCode.get_kernel``. It knows the number and sizes of its parameters, so that
``launch`` can check its arguments.

Examples
--------
>>> kernel = code.get_kernel("add_one")
>>> kernel.num_arguments
1
>>> cuprum.launch(stream, cuprum.LaunchConfig(grid=1, block=32), kernel, buffer))");
    note_type<PyKernel>(type);
    recycle<PyKernel>(type);
    type.def(
        "__init__",
        [](nb::handle, const nb::args&, const nb::kwargs&) {
            raise_error(
                PyExc_RuntimeError,
                "Kernel objects cannot be instantiated directly. Use ObjectCode.get_kernel()");
        },
        nb::sig("def __init__(self, *args: object, **kwargs: object) -> None"));
    type.def_prop_ro(
        "handle",
        [](const PyKernel& self) {
            if (compatibility::leaves_code_loaded()) {
                detail::leave_loaded(self);
            }
            return address(self);
        },
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
    type.def_static(
        "from_handle", from_handle, "handle"_a.none(), "mod"_a = nb::none(),
        nb::sig("def from_handle(handle: int, mod: ObjectCode | None = None) -> Kernel"),
        R"(Wrap a kernel that other code loaded.

Parameters
----------
handle : int
    The driver's ``CUkernel``.
mod : ObjectCode, optional
    Kept alive with the kernel. Not needed for code that Cuprum loaded. If it is not the kernel's
    own code, a warning says so.

Returns
-------
Kernel
    The kernel.

Raises
------
TypeError
    If the handle is not an int, or `mod` not an ObjectCode.)");
    bind_kernel_attributes(module, type);
    bind_kernel_occupancy(module, type);
    type.def_prop_ro("is_closed", &PyKernel::is_closed, "Return whether ``close`` was called.");
    type.def("close", &PyKernel::drop,
             "Release this object's share of the kernel. Calling it again does nothing.");
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
        if (self.is_closed()) {
            return "<Kernel closed>";
        }
        const std::string handle = "handle=" + hex_text(address(self)) + ">";
        if (compatibility::keeps_reprs_short()) {
            return "<Kernel " + handle;
        }
        std::string parameters;
        if (const auto words = parameter_words(self)) {
            for (const std::string& word : *words) {
                parameters += (parameters.empty() ? "" : ", ") + word;
            }
            parameters = " parameters=(" + parameters + ")";
        }
        return "<Kernel name=" + repr_text(nb::cast(self.name())) + parameters + " " + handle;
    });
    type.def_prop_ro(
        "_parameter_words",
        [](const PyKernel& self) -> nb::object {
            const auto words = parameter_words(self);
            return words ? nb::object(nb::tuple(nb::cast(*words))) : nb::none();
        },
        nb::sig("def _parameter_words(self) -> tuple[str, ...] | None"),
        "Return what is known of each parameter, for people to read; None if nothing is.");
    bind_html(type, "kernel");
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

/// Returns what is known of each parameter, as "pointer", "int32", "float64" or "16 bytes". Returns
/// nothing if the driver does not report parameters.
std::optional<std::vector<std::string>> parameter_words(const Kernel& kernel) {
    constexpr std::size_t bits_per_byte = 8;
    std::vector<std::string> words;
    try {
        const nb::gil_scoped_release unlocked;
        for (const ParameterInfo& each : kernel.parameters()) {
            const std::string bits = std::to_string(each.size * bits_per_byte);
            switch (each.kind) {
            case ParameterKind::Pointer:
                words.emplace_back("pointer");
                break;
            case ParameterKind::Integer:
                // PTX declares pointers as integers.
                words.push_back("int" + bits + (each.size == sizeof(void*) ? " or pointer" : ""));
                break;
            case ParameterKind::Float:
                words.push_back("float" + bits);
                break;
            case ParameterKind::Unknown:
                words.push_back(std::to_string(each.size) + (each.size == 1 ? " byte" : " bytes"));
                break;
            }
        }
    } catch (const std::runtime_error&) {
        return std::nullopt;
    }
    return words;
}

nb::object from_handle(nb::handle handle, nb::handle module) {
    if (PyIndex_Check(handle.ptr()) == 0) {
        raise_error(PyExc_TypeError, "handle must be an int, got " + type_label(handle));
    }
    auto* const kernel =
        reinterpret_cast<CUkernel>(static_cast<std::uintptr_t>(address_argument(handle, "handle")));
    const PyObjectCode* owner = module.is_none() ? nullptr : get_if<PyObjectCode>(module);
    if (owner == nullptr && !module.is_none()) {
        raise_error(PyExc_TypeError,
                    "mod must be an ObjectCode or None, got " + type_label(module));
    }
    auto made = [&] {
        const nb::gil_scoped_release unlocked;
        return owner == nullptr ? Kernel::from_handle(kernel) : Kernel::from_handle(kernel, *owner);
    }();
    return make<PyKernel>(std::move(made));
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
