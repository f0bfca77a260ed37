// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings.hpp"
#include "program/code_type.hpp"
#include "program/program_objects.hpp"
#include "program/program_options.hpp"
#include "support/arguments.hpp"
#include "support/collection.hpp"
#include "support/compatibility.hpp"
#include "support/python_objects.hpp"

#include <cuprum/linker.hpp>
#include <cuprum/object_code.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <vector>

namespace cuprum::python {

using namespace nb::literals;

namespace {

void construct(PyLinker* self, const nb::args& codes, nb::handle options);
[[nodiscard]] nb::object link(const PyLinker& self, nb::handle target_type);
[[nodiscard]] nb::object which_backend();

} // namespace

void bind_linker(nb::module_& module) {
    nb::class_<PyLinker> type(module, "Linker", nb::is_weak_referenceable(),
                              nb::type_slots(MemberSlots<PyLinker, &PyLinker::options>::slots),
                              R"(A linker, which turns several pieces of code into one image.

For an emulated device, which cannot run machine code, the result is a fat binary that holds the
cubin and PTX: from nvJitLink if all input is LTO-IR, from the one input if there is one, else from
the emulated device's own linker.

Parameters
----------
*object_codes : ObjectCode
    What is linked.
options : LinkerOptions or dict, optional
    How it is linked.

Raises
------
LinkerError
    If the linker refuses an input or an option.

Examples
--------
>>> first = cuprum.Program("__device__ int one() { return 1; }", "c++",
...                        {"relocatable_device_code": True}).compile("ptx")
>>> second = cuprum.Program("extern __device__ int one();"
...                         'extern "C" __global__ void f(int* x) { *x = one(); }', "c++",
...                         {"relocatable_device_code": True}).compile("ptx")
>>> linked = cuprum.Linker(first, second).link("cubin")
>>> linked.get_kernel("f").num_arguments
1)");
    note_type<PyLinker>(type);
    type.def("__init__", construct, "object_codes"_a, "options"_a = nb::none(),
             nb::sig("def __init__(self, *object_codes: ObjectCode, "
                     "options: cuprum.LinkerOptions | dict | None = None) -> None"));
    type.def("link", link, "target_type"_a.none(),
             nb::sig("def link(self, target_type: cuprum.typing.ObjectCodeFormatType | str) -> "
                     "ObjectCode"),
             R"(Link. Blocks; may be called again.

Parameters
----------
target_type : ObjectCodeFormatType or str
    ``"cubin"``, or ``"ptx"`` if all input is LTO-IR.

Returns
-------
ObjectCode
    The linked code.

Raises
------
LinkerError
    If it does not link, with log and options.)");
    type.def("get_error_log", &PyLinker::error_log, nb::call_guard<nb::gil_scoped_release>(),
             R"(Return the errors of the last ``link``, or so far.

Returns
-------
str
    The messages, one on each line.

Raises
------
ClosedError
    If the linker is closed.
LinkerError
    If nvJitLink cannot return its log.)");
    type.def("get_info_log", &PyLinker::info_log, nb::call_guard<nb::gil_scoped_release>(),
             R"(Return the other messages of the last ``link``.

Returns
-------
str
    The messages, one on each line.

Raises
------
ClosedError
    If the linker is closed.
LinkerError
    If nvJitLink cannot return its log.)");
    type.def_prop_ro(
        "backend",
        [](const PyLinker& self) {
            const std::string_view name = to_string(self.backend());
            return nb::module_::import_("cuprum.typing")
                .attr("CompilerBackendType")(nb::str(name.data(), name.size()));
        },
        nb::sig("def backend(self) -> cuprum.typing.CompilerBackendType"),
        "Return the backend: nvJitLink or the driver.");
    type.def_prop_ro(
        "options", [](const PyLinker& self) { return self.options; },
        nb::sig("def options(self) -> cuprum.LinkerOptions"),
        "Return the options that it was made with.");
    type.def_prop_ro("linker_options", &PyLinker::linker_options,
                     "Return the options as they are passed to nvJitLink.");
    type.def_prop_ro(
        "handle",
        [](const PyLinker& self) { return reinterpret_cast<std::uintptr_t>(self.handle()); },
        nb::call_guard<nb::gil_scoped_release>(),
        "Return the ``nvJitLinkHandle`` or ``CUlinkState`` as an int.");
    type.def_prop_ro("is_closed", &PyLinker::is_closed, "Return whether ``close`` was called.");
    type.def("close", &PyLinker::drop,
             "Release the linker's state. Calling it again does nothing.");
    type.def("__repr__", [](const PyLinker& self) {
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
    const nb::object function = nb::cpp_function(
        [](nb::handle) { return which_backend(); }, nb::name("which_backend"), "cls"_a,
        nb::sig("def which_backend(cls) -> cuprum.typing.CompilerBackendType"),
        R"(Return the default backend.

It is nvJitLink. If nvJitLink 12.3 or later is missing, it is the driver, with a warning.

Returns
-------
CompilerBackendType
    The backend of a linker whose options name none.

Raises
------
LibraryNotFoundError
    If there is neither nvJitLink nor a driver.)");
    type.attr("which_backend") = nb::steal(PyClassMethod_New(function.ptr()));
    module.def(
        "nvjitlink_options",
        [](nb::handle options) { return linker_options(options).to_nvjitlink(); }, "options"_a,
        "Return LinkerOptions as nvJitLink takes them.");
}

// ---- helpers -----------------------------------------------------------------------------------

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
    auto linker = [&] {
        const nb::gil_scoped_release unlocked;
        return Linker(parts, std::move(how));
    }();
    new (self) PyLinker(std::move(linker), std::move(given));
}

nb::object link(const PyLinker& self, nb::handle target_type) {
    const auto target = code_type_from(text_argument(target_type, "target_type"));
    if (target != CodeType::Cubin && target != CodeType::Ptx) {
        raise_error(PyExc_ValueError,
                    "target_type must be \"cubin\" or \"ptx\", got " + repr_text(target_type));
    }
    auto code = [&] {
        const nb::gil_scoped_release unlocked;
        return self.link(*target);
    }();
    return make<PyObjectCode>(std::move(code));
}

nb::object which_backend() {
    note_search_paths();
    const std::string_view name = to_string([] {
        const nb::gil_scoped_release unlocked;
        return Linker::which_backend();
    }());
    return nb::module_::import_("cuprum.typing")
        .attr("CompilerBackendType")(nb::str(name.data(), name.size()));
}

} // namespace

} // namespace cuprum::python
