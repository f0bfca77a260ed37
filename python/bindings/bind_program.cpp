// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "arguments.hpp"
#include "code_type.hpp"
#include "objects.hpp"
#include "program_options.hpp"

#include <cuprum/detail/runtime.hpp>
#include <cuprum/program.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <string>
#include <utility>

namespace cuprum::python {

using namespace nb::literals;

namespace {

void construct(PyProgram* self, nb::handle code, nb::handle code_type, nb::handle options);
[[nodiscard]] nb::object compile(const PyProgram& self, nb::handle target_type,
                                 nb::handle name_expressions, nb::handle logs);

} // namespace

void bind_program(nb::module_& module) {
    nb::class_<PyProgram> type(module, "Program", nb::is_weak_referenceable(),
                               R"(Hold source code and the compiler's state for it.

Parameters
----------
code : str
    CUDA C++ source.
code_type : SourceCodeType or str
    ``"c++"``.
options : ProgramOptions or dict, optional
    How it is compiled.

Raises
------
LibraryNotFoundError
    If the compiler library cannot be found; the text lists where it was looked for.)");
    note_type<PyProgram>(type);
    type.def("__init__", construct, "code"_a.none(), "code_type"_a.none(), "options"_a = nb::none(),
             nb::sig("def __init__(self, code: str, code_type: cuprum.typing.SourceCodeType | str, "
                     "options: cuprum._options.ProgramOptions | dict | None = None) -> None"));
    type.def("compile", compile, "target_type"_a.none(), "name_expressions"_a = nb::make_tuple(),
             "logs"_a = nb::none(),
             nb::sig("def compile(self, target_type: cuprum.typing.ObjectCodeFormatType | str, "
                     "name_expressions: collections.abc.Iterable[str] = (), logs: object | None = "
                     "None) -> ObjectCode"),
             R"(Compile the program. Blocks; may be called again, also with another target.

Parameters
----------
target_type : ObjectCodeFormatType or str
    ``"ptx"``, ``"cubin"`` or ``"ltoir"``. For an emulated device a cubin is a fat binary that holds
    the cubin and its PTX; a GPU and the emulated device both load it.
name_expressions : iterable of str, optional
    Kernels whose names C++ decorates, such as ``"add<float>"``; the result knows them by these
    names.
logs : object with ``write``, optional
    Given the compiler's log, unless it is empty.

Raises
------
NVRTCError
    If the source does not compile, with log and options.)");
    type.def_prop_ro(
        "backend",
        [](const PyProgram&) {
            return nb::module_::import_("cuprum.typing").attr("CompilerBackendType").attr("NVRTC");
        },
        nb::sig("def backend(self) -> cuprum.typing.CompilerBackendType"),
        "Return which compiler is used.");
    type.def_prop_ro(
        "options", [](const PyProgram& self) { return self.options; },
        nb::sig("def options(self) -> cuprum._options.ProgramOptions"),
        "Return the options that it was made with.");
    type.def_prop_ro("compiler_options", &PyProgram::compiler_options,
                     "Return the options as they are passed to the compiler.");
    type.def_prop_ro("log", &PyProgram::log,
                     "Return the log of the last compilation, empty if there was nothing to say.");
    type.def("close", &PyProgram::drop,
             "Give up the compiler's state. Calling it again does nothing.");
    type.def("__repr__", [](const PyProgram& self) {
        return self.is_closed() ? "<Program closed>" : "<Program backend='NVRTC'>";
    });
    module.def(
        "nvrtc_options", [](nb::handle options) { return program_options(options).to_nvrtc(); },
        "options"_a, "Return ProgramOptions as NVRTC takes them.");
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

/// Tells the core, once, where Python keeps packages: CUDA's compilers may be among them.
void note_search_paths() {
    static std::atomic<bool> is_done = false;
    if (!is_done.exchange(true)) {
        detail::set_library_search_paths(nb::cast<std::vector<std::string>>(
            nb::module_::import_("cuprum._libraries").attr("search_paths")()));
    }
}

void construct(PyProgram* self, nb::handle code, nb::handle code_type, nb::handle options) {
    const std::string language = lower_case(text_argument(code_type, "code_type"));
    if (language == "ptx" || language == "nvvm") {
        raise_error(PyExc_NotImplementedError,
                    "code_type \"" + language + "\" is not available yet" +
                        (language == "ptx" ? "; ObjectCode.from_ptx() loads PTX" : ""));
    }
    if (language != "c++") {
        raise_error(PyExc_RuntimeError, "code_type must be \"c++\", got " + repr_text(code_type));
    }
    if (PyUnicode_Check(code.ptr()) == 0) {
        raise_error(PyExc_TypeError, "code must be str for C++, got " + type_label(code));
    }
    nb::object given = options_argument(options, "ProgramOptions");
    if (!given.is_valid()) {
        given = nb::module_::import_("cuprum._options").attr("ProgramOptions")();
    }
    ProgramOptions how = program_options(given);
    const std::string source = text_argument(code, "code");
    note_search_paths();
    auto program = [&] {
        const nb::gil_scoped_release unlocked;
        return Program(source, std::move(how));
    }();
    new (self) PyProgram(std::move(program), std::move(given));
}

nb::object compile(const PyProgram& self, nb::handle target_type, nb::handle name_expressions,
                   nb::handle logs) {
    const auto target = code_type_from(text_argument(target_type, "target_type"));
    if (target != CodeType::Ptx && target != CodeType::Cubin && target != CodeType::LtoIr) {
        raise_error(PyExc_ValueError, "target_type must be \"ptx\", \"cubin\" or \"ltoir\", got " +
                                          repr_text(target_type));
    }
    const auto names = text_list_argument(name_expressions, "a name in name_expressions");
    auto code = [&] {
        const nb::gil_scoped_release unlocked;
        return self.compile(*target, names);
    }();
    if (!logs.is_none()) {
        if (const std::string log = self.log(); !log.empty()) {
            logs.attr("write")(log);
        }
    }
    return make<PyObjectCode>(std::move(code));
}

} // namespace

} // namespace cuprum::python
