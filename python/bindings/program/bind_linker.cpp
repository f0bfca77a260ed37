// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/code_type.hpp"
#include "program/program_objects.hpp"
#include "program/program_options.hpp"
#include "support/class.hpp"
#include "support/collection.hpp"
#include "support/compatibility.hpp"

#include <cuprum/linker.hpp>
#include <cuprum/object_code.hpp>

#include <nanobind/stl/vector.h>

#include <vector>

namespace cuprum::python {

using namespace nb::literals;

namespace {

void construct(PyLinker* self, const nb::args& codes, nb::handle options) {
    if (codes.size() == 0) {
        raise_error(PyExc_ValueError, "At least one ObjectCode object must be provided");
    }
    std::vector<ObjectCode> parts;
    for (nb::handle code : codes) {
        const auto* const part = get_if<PyObjectCode>(code);
        if (part == nullptr) {
            raise_error(PyExc_TypeError,
                        "Linker takes ObjectCode objects, got " + type_label(code));
        }
        parts.push_back(*part);
    }
    nb::object given = options_argument(options, "LinkerOptions");
    if (!given.is_valid()) {
        given = nb::module_::import_("cuprum._options").attr("LinkerOptions")();
    }
    LinkerOptions how = linker_options(given);
    note_search_paths();
    auto linker = without_gil([&] { return Linker(parts, std::move(how)); });
    new (self) PyLinker(std::move(linker), std::move(given));
}

[[nodiscard]] nb::object link(const PyLinker& self, nb::handle target_type) {
    const auto target = code_type_from(text_argument(target_type, "target_type"));
    if (target != CodeType::Cubin && target != CodeType::Ptx) {
        raise_error(PyExc_ValueError,
                    "target_type must be \"cubin\" or \"ptx\", got " + repr_text(target_type));
    }
    auto code = without_gil([&] { return self.link(*target); });
    return make<PyObjectCode>(std::move(code));
}

[[nodiscard]] nb::object which_backend() {
    note_search_paths();
    const std::string_view name = to_string([] {
        const nb::gil_scoped_release unlocked;
        return Linker::which_backend();
    }());
    return nb::module_::import_("cuprum.typing")
        .attr("CompilerBackendType")(nb::str(name.data(), name.size()));
}

} // namespace

void bind_linker(nb::module_& module) {
    Class<PyLinker> type(module, "Linker", nb::is_weak_referenceable(),
                         nb::type_slots(MemberSlots<PyLinker, &PyLinker::options>::slots));
    type.constructor<construct>();
    type.method<link>("link");
    type.method<&PyLinker::error_log>("get_error_log", RELEASES_GIL);
    type.method<&PyLinker::info_log>("get_info_log", RELEASES_GIL);
    type.property("backend", [](const PyLinker& self) {
        const std::string_view name = to_string(self.backend());
        return nb::module_::import_("cuprum.typing")
            .attr("CompilerBackendType")(nb::str(name.data(), name.size()));
    });
    type.property("options", [](const PyLinker& self) { return self.options; });
    type.property("linker_options", &PyLinker::linker_options);
    type.property(
        "handle",
        [](const PyLinker& self) { return reinterpret_cast<std::uintptr_t>(self.handle()); },
        RELEASES_GIL);
    type.property("is_closed", &PyLinker::is_closed);
    type.method<&PyLinker::drop>("close");
    type.method("__repr__", [](const PyLinker& self) {
        if (self.is_closed()) {
            return std::string("<Linker closed>");
        }
        const std::string name =
            compatibility::keeps_reprs_short()
                ? ""
                : "name=" + repr_text(nb::cast(static_cast<const Linker&>(self).options().name)) +
                      " ";
        return "<Linker " + name + "backend='" + std::string(to_string(self.backend())) + "'>";
    });
    // As the class method that it is elsewhere.
    type.class_method("which_backend", [](nb::handle) { return which_backend(); });
    function(module, "nvjitlink_options",
             [](nb::handle options) { return linker_options(options).to_nvjitlink(); });
}

} // namespace cuprum::python
