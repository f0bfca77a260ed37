// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings.hpp"
#include "memory/host_memory.hpp"
#include "program/cache_argument.hpp"
#include "program/code_type.hpp"
#include "program/program_objects.hpp"
#include "program/program_options.hpp"
#include "support/arguments.hpp"
#include "support/collection.hpp"
#include "support/compatibility.hpp"
#include "support/python_objects.hpp"

#include <cuprum/program.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace cuprum::python {

using namespace nb::literals;

namespace {

void construct(PyProgram* self, nb::handle code, nb::handle code_type, nb::handle options);
[[nodiscard]] nb::object compile(const PyProgram& self, nb::handle target_type,
                                 nb::handle name_expressions, nb::handle logs, nb::handle cache,
                                 nb::handle extra_digest);
void bind_properties(nb::class_<PyProgram>& type);
void bind_functions(nb::module_& module);

} // namespace

void bind_program(nb::module_& module) {
    nb::class_<PyProgram> type(module, "Program", nb::is_weak_referenceable(),
                               nb::type_slots(MemberSlots<PyProgram, &PyProgram::options>::slots),
                               R"(Source code and the options to compile it.

Parameters
----------
code : str, bytes or bytearray
    CUDA C++ source, PTX, or NVVM IR; bytes for NVVM alone.
code_type : SourceCodeType or str
    ``"c++"`` for NVRTC, ``"ptx"`` for the linker, ``"nvvm"`` for libNVVM.
options : ProgramOptions or dict, optional
    How it is compiled.

Raises
------
LibraryNotFoundError
    If the compiler library cannot be found. The message lists every place that was searched.
UnsupportedOptionError
    For options that the compiler cannot honour.

Examples
--------
>>> program = cuprum.Program('extern "C" __global__ void f() {}', "c++")
>>> kernel = program.compile("cubin").get_kernel("f")
>>> kernel.name
'f')");
    note_type<PyProgram>(type);
    type.def("__init__", construct, "code"_a.none(), "code_type"_a.none(), "options"_a = nb::none(),
             nb::sig("def __init__(self, code: str | bytes | bytearray, code_type: "
                     "cuprum.typing.SourceCodeType | str, "
                     "options: cuprum.ProgramOptions | dict | None = None) -> None"));
    type.def("compile", compile, "target_type"_a.none(), "name_expressions"_a = nb::make_tuple(),
             "logs"_a = nb::none(), nb::kw_only(), "cache"_a = nb::none(),
             "extra_digest"_a = nb::none(),
             nb::sig("def compile(self, target_type: cuprum.typing.ObjectCodeFormatType | str, "
                     "name_expressions: collections.abc.Iterable[str] = (), logs: object | None = "
                     "None, *, cache: cuprum.utils.ProgramCacheResource | None = None, "
                     "extra_digest: bytes | None = None) -> ObjectCode"),
             R"(Compile the program. Blocks; may be called again, also with another target.

Parameters
----------
target_type : ObjectCodeFormatType or str
    From C++ ``"ptx"``, ``"cubin"`` or ``"ltoir"``, from PTX ``"cubin"`` (or ``"ptx"``), from NVVM
    IR ``"ptx"`` or ``"ltoir"``. For an emulated device a cubin is a fat binary that holds the cubin
    and its PTX; a GPU and the emulated device both load it.
name_expressions : iterable of str, optional
    For C++ only: kernels with mangled names, such as ``"add<float>"``. The result finds them under
    these names.
logs : object with ``write``, optional
    Receives the compiler's log, unless it is empty.
cache : ProgramCacheResource, optional
    Searched before compiling, and stores the result. A cached result has no log.
extra_digest : bytes, optional
    Part of the cache key, for contents that the cache cannot see, such as the files in
    ``include_path``.

Returns
-------
ObjectCode
    The compiled code.

Raises
------
NVRTCError, NVVMError, LinkerError
    If it does not compile, with log and options.
ValueError
    If there is a cache and the result depends on contents that its key does not cover. The message
    says which.)");
    type.def("cancel", &PyProgram::cancel,
             R"(Cancel the compilations of this program that run in other threads.

They soon raise ``NVRTCError`` with ``NVRTC_ERROR_CANCELLED``. Later compilations are not affected.

Raises
------
NotSupportedError
    If NVRTC is older than 12.8.)");
    type.def_prop_ro("is_closed", &PyProgram::is_closed, "Return whether ``close`` was called.");
    type.def("close", &PyProgram::drop,
             "Release the compiler's state. Calling it again does nothing.");
    type.def("__repr__", [](const PyProgram& self) {
        if (self.is_closed()) {
            return std::string("<Program closed>");
        }
        std::string more;
        if (!compatibility::keeps_reprs_short()) {
            const ProgramOptions& options = static_cast<const Program&>(self).options();
            more = "name=" + repr_text(nb::cast(options.name)) + " code_type='" +
                   std::string(to_string(self.language())) +
                   "' arch=" + repr_text(nb::cast(options.arch.value_or(""))) + " ";
        }
        return "<Program " + more + "backend='" + std::string(to_string(self.backend())) + "'>";
    });
    bind_properties(type);
    bind_functions(module);
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

/// Returns the member of an enumeration in cuprum.typing that stands for a text.
nb::object enumerator(const char* type, std::string_view text) {
    return nb::module_::import_("cuprum.typing").attr(type)(nb::str(text.data(), text.size()));
}

void bind_properties(nb::class_<PyProgram>& type) {
    type.def_prop_ro(
        "backend",
        [](const PyProgram& self) {
            return enumerator("CompilerBackendType", to_string(self.backend()));
        },
        nb::sig("def backend(self) -> cuprum.typing.CompilerBackendType"),
        "Return which compiler is used.");
    type.def_prop_ro(
        "pch_status",
        [](const PyProgram& self) -> nb::object {
            const auto status = self.pch_status();
            return status.has_value() ? enumerator("PCHStatusType", to_string(*status))
                                      : nb::none();
        },
        nb::sig("def pch_status(self) -> cuprum.typing.PCHStatusType | None"),
        "Return the result of the precompiled header in the last compilation. None if no header "
        "was "
        "requested or nothing was compiled yet. A failure is also a warning, with the reason.");
    type.def_prop_ro(
        "options", [](const PyProgram& self) { return self.options; },
        nb::sig("def options(self) -> cuprum.ProgramOptions"),
        "Return the options that it was made with.");
    type.def_prop_ro("compiler_options", &PyProgram::compiler_options,
                     "Return the options as they are passed to the compiler.");
    type.def_prop_ro("log", &PyProgram::log,
                     "Return the log of the last compilation, which may be empty.");
    type.def_prop_ro(
        "handle",
        [](const PyProgram& self) { return reinterpret_cast<std::uintptr_t>(self.handle()); },
        nb::call_guard<nb::gil_scoped_release>(),
        "Return an ``nvrtcProgram``, ``nvvmProgram`` or the linker's handle, as an "
        "int, made of the source and not compiled yet.");
}

CodeType target_argument(nb::handle target_type) {
    const auto target = code_type_from(text_argument(target_type, "target_type"));
    if (!target.has_value()) {
        raise_error(PyExc_ValueError, "target_type must be \"ptx\", \"cubin\" or \"ltoir\", got " +
                                          repr_text(target_type));
    }
    return *target;
}

/// Refuses a target that the compiler of a language does not have.
void check_target(SourceType language, CodeType target) {
    const bool is_ptx = language == SourceType::Ptx;
    if (language == SourceType::Cxx || target == CodeType::Ptx ||
        target == (is_ptx ? CodeType::Cubin : CodeType::LtoIr)) {
        return; // the core checks the targets of C++
    }
    raise_error(PyExc_ValueError, "Unsupported target_type=\"" + std::string(to_string(target)) +
                                      (is_ptx ? "\" for PTX; expected \"cubin\" or \"ptx\""
                                              : "\" for NVVM; expected \"ptx\" or \"ltoir\""));
}

SourceType language_argument(nb::handle code_type) {
    const std::string language = lower_case(text_argument(code_type, "code_type"));
    for (const SourceType known : {SourceType::Cxx, SourceType::Ptx, SourceType::Nvvm}) {
        if (language == to_string(known)) {
            return known;
        }
    }
    raise_error(PyExc_RuntimeError, "Unsupported code_type='" + language +
                                        "' (supported_code_types=('c++', 'ptx', 'nvvm'))");
}

std::string source_argument(nb::handle code, SourceType language) {
    if (PyUnicode_Check(code.ptr()) != 0) {
        return text_argument(code, "code");
    }
    if (language == SourceType::Nvvm) {
        if (PyBytes_Check(code.ptr()) != 0 || PyByteArray_Check(code.ptr()) != 0) {
            const HostMemory memory(code, HostMemory::Access::Read, "code");
            return {static_cast<const char*>(memory.data()), memory.size()};
        }
        raise_error(PyExc_TypeError,
                    "NVVM IR code must be provided as str, bytes, or bytearray, got " +
                        type_label(code));
    }
    std::string text = "code must be str for code_type '" + std::string(to_string(language)) +
                       "', got " + type_label(code);
    if (nb::hasattr(code, "__fspath__")) {
        text += "; pass the text of the file, as in path.read_text()";
    }
    raise_error(PyExc_TypeError, text);
}

/// Returns the name, without folder and suffix, of the Python file that is running.
std::optional<std::string> caller_file() {
    PyFrameObject* const frame = PyEval_GetFrame(); // borrowed
    if (frame == nullptr) {
        return std::nullopt;
    }
    const nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
    const nb::object path = code.attr("co_filename");
    Py_ssize_t length = 0;
    const char* const file = PyUnicode_AsUTF8AndSize(path.ptr(), &length);
    if (file == nullptr) { // the name is no text in UTF-8, or no text
        clear_error(PyExc_Exception);
        return std::nullopt;
    }
    std::string stem =
        std::filesystem::path(std::string_view(file, static_cast<std::size_t>(length)))
            .stem()
            .string();
    return stem.empty() ? std::nullopt : std::optional(std::move(stem));
}

void construct(PyProgram* self, nb::handle code, nb::handle code_type, nb::handle options) {
    const SourceType language = language_argument(code_type);
    const std::string source = source_argument(code, language);
    nb::object given = options_argument(options, "ProgramOptions");
    if (!given.is_valid()) {
        given = nb::module_::import_("cuprum._options").attr("ProgramOptions")();
    }
    ProgramOptions how = program_options(given);
    if (language == SourceType::Ptx && how.numba_debug.value_or(false)) {
        if (PyErr_WarnEx(PyExc_UserWarning,
                         "ProgramOptions numba_debug is ignored for code_type='ptx'", 1) != 0) {
            throw nb::python_error();
        }
        how.numba_debug.reset();
    }
    how.debug_file_prefix = caller_file();
    note_search_paths();
    auto program = [&] {
        const nb::gil_scoped_release unlocked;
        return Program(source, language, std::move(how));
    }();
    new (self) PyProgram(std::move(program), std::move(given));
}

nb::object compile(const PyProgram& self, nb::handle target_type, nb::handle name_expressions,
                   nb::handle logs, nb::handle cache, nb::handle extra_digest) {
    const CodeType target = target_argument(target_type);
    check_target(self.language(), target);
    CompileRequest request;
    request.name_expressions = text_list_argument(name_expressions, "a name in name_expressions");
    if (!extra_digest.is_none()) {
        request.extra_digest = text_argument(extra_digest, "extra_digest");
    }
    const CacheArgument given(cache);
    request.cache = given.get();
    if (request.cache != nullptr) {
        check_as_reference(self.Program::options(), self.language(),
                           request.extra_digest.has_value());
    }
    auto code = [&] {
        const nb::gil_scoped_release unlocked;
        return self.compile(target, request);
    }();
    if (!logs.is_none()) {
        if (const std::string log = self.log(); !log.empty()) {
            logs.attr("write")(log);
        }
    }
    return make<PyObjectCode>(std::move(code));
}

void bind_functions(nb::module_& module) {
    module.def(
        "nvrtc_options", [](nb::handle options) { return program_options(options).to_nvrtc(); },
        "options"_a, "Return ProgramOptions as NVRTC takes them.");
    module.def(
        "nvvm_options",
        [](nb::handle options, nb::handle target) {
            return program_options(options).to_nvvm(target_argument(target));
        },
        "options"_a, "target_type"_a, "Return ProgramOptions as libNVVM takes them.");
    module.def(
        "supported_architectures",
        [] {
            note_search_paths();
            const nb::gil_scoped_release unlocked;
            return supported_architectures();
        },
        R"(Return the architectures that NVRTC compiles for, ascending, as in 90 for ``sm_90``.

Needs no device.

Returns
-------
list[int]
    The architectures.

Raises
------
LibraryNotFoundError
    If there is no NVRTC. The text shows the places that were searched.)");
    module.def(
        "compiler_version",
        [](nb::handle backend) {
            note_search_paths();
            const std::string wanted = lower_case(text_argument(backend, "backend"));
            for (const CompilerBackend known :
                 {CompilerBackend::Nvrtc, CompilerBackend::Nvvm, CompilerBackend::NvJitLink,
                  CompilerBackend::Driver}) {
                if (wanted == lower_case(to_string(known))) {
                    const nb::gil_scoped_release unlocked;
                    return compiler_version(known);
                }
            }
            raise_error(PyExc_ValueError,
                        "backend must be a CompilerBackendType, got " + repr_text(backend));
        },
        "backend"_a,
        nb::sig("def compiler_version(backend: cuprum.typing.CompilerBackendType | "
                "str) -> str"),
        R"(Return the version of a compiler, such as ``"13.0"``.

Parameters
----------
backend : CompilerBackendType or str
    Which compiler, such as ``"NVRTC"``.

Returns
-------
str
    Major and minor number.

Raises
------
ValueError
    If there is no such compiler.)");
    module.def(
        "default_include_directories",
        [] {
            note_search_paths();
            const nb::gil_scoped_release unlocked;
            return default_include_directories();
        },
        R"(Return the folders of CUDA's and CCCL's headers, which every program can include.

Returns
-------
list[str]
    The folders, in the order in which they are searched.

Raises
------
LibraryNotFoundError
    If there is no NVRTC, whose folder the search starts from.)");
}

} // namespace

} // namespace cuprum::python
