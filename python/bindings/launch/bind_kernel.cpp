// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "launch/bind_kernel.hpp"

#include "launch/kernel_objects.hpp"
#include "program/program_objects.hpp"
#include "support/class.hpp"
#include "support/compatibility.hpp"
#include "support/display.hpp"
#include "support/recycling.hpp"

#include <cuprum/detail/leave_loaded.hpp>
#include <cuprum/kernel.hpp>
#include <cuprum/object_code.hpp>

#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <vector>

namespace cuprum::python {

namespace {

/// Returns what is known of each parameter, as "pointer", "int32", "float64" or "16 bytes". Returns
/// nothing if the driver does not report parameters.
[[nodiscard]] std::optional<std::vector<std::string>> parameter_words(const Kernel& kernel) {
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

[[nodiscard]] nb::object from_handle(nb::handle handle, nb::handle module) {
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
    auto made = without_gil([&] {
        return owner == nullptr ? Kernel::from_handle(kernel) : Kernel::from_handle(kernel, *owner);
    });
    return make<PyKernel>(std::move(made));
}

[[nodiscard]] nb::list arguments_info(const PyKernel& self) {
    const nb::object type = nb::module_::import_("cuprum._types").attr("ParamInfo");
    nb::list all;
    for (const ParameterInfo& parameter : self.parameters()) {
        all.append(type(parameter.offset, parameter.size));
    }
    return all;
}

[[nodiscard]] std::uintptr_t address(const Kernel& kernel) {
    return reinterpret_cast<std::uintptr_t>(kernel.handle());
}

} // namespace

void bind_kernel(nb::module_& module) {
    Class<PyKernel> type(module, "Kernel", nb::is_weak_referenceable(), nb::pooled());
    recycle<PyKernel>(type);
    type.refuse_construction(
        "Kernel objects cannot be instantiated directly. Use ObjectCode.get_kernel()");
    type.property("handle", [](const PyKernel& self) {
        if (compatibility::leaves_code_loaded()) {
            detail::leave_loaded(self);
        }
        return address(self);
    });
    type.property("name", [](const PyKernel& self) { return self.name(); });
    type.property("num_arguments", [](const PyKernel& self) { return self.parameters().size(); });
    type.property("arguments_info", arguments_info);
    type.static_method<from_handle>("from_handle");
    bind_kernel_attributes(module, type);
    bind_kernel_occupancy(module, type);
    type.property("is_closed", &PyKernel::is_closed);
    type.method<&PyKernel::drop>("close");
    type.method("__eq__", [](const PyKernel& self, const PyKernel& other) {
        return static_cast<const Kernel&>(self) == static_cast<const Kernel&>(other);
    });
    type.method("__hash__", [](const PyKernel& self) {
        return std::hash<std::uintptr_t>{}(self.is_closed() ? 0 : address(self));
    });
    type.method("__repr__", [](const PyKernel& self) -> std::string {
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
    type.property("_parameter_words", [](const PyKernel& self) -> nb::object {
        const auto words = parameter_words(self);
        return words ? nb::object(nb::tuple(nb::cast(*words))) : nb::none();
    });
    type.method("_repr_html_", [](nb::handle self) { return html_of(self, "kernel"); });
}

} // namespace cuprum::python
