// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "memory/host_memory.hpp"
#include "program/cache_argument.hpp"
#include "program/code_type.hpp"
#include "program/program_objects.hpp"
#include "program/program_options.hpp"
#include "support/class.hpp"
#include "support/collection.hpp"
#include "support/compatibility.hpp"

#include <cuprum/program.hpp>

#include <nanobind/stl/vector.h>

#include <filesystem>

namespace cuprum::python {

namespace {

/// Returns the member of an enumeration in cuprum.typing that stands for a text.
nb::object enumerator(const char* type, std::string_view text) {
    return nb::module_::import_("cuprum.typing").attr(type)(nb::str(text.data(), text.size()));
}

void bind_properties(Class<PyProgram>& type) {
    type.property("backend", [](const PyProgram& self) {
        return enumerator("CompilerBackendType", to_string(self.backend()));
    });
    type.property("pch_status", [](const PyProgram& self) -> nb::object {
        const auto status = self.pch_status();
        return status.has_value() ? enumerator("PCHStatusType", to_string(*status)) : nb::none();
    });
    type.property("options", [](const PyProgram& self) { return self.options; });
    type.property("compiler_options", &PyProgram::compiler_options);
    type.property("log", &PyProgram::log);
    type.property(
        "handle",
        [](const PyProgram& self) { return reinterpret_cast<std::uintptr_t>(self.handle()); },
        RELEASES_GIL);
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
    auto program = without_gil([&] { return Program(source, language, std::move(how)); });
    new (self) PyProgram(std::move(program), std::move(given));
}

[[nodiscard]] nb::object compile(const PyProgram& self, nb::handle target_type,
                                 nb::handle name_expressions, nb::handle logs, nb::handle cache,
                                 nb::handle extra_digest) {
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
    auto code = without_gil([&] { return self.compile(target, request); });
    if (!logs.is_none()) {
        if (const std::string log = self.log(); !log.empty()) {
            logs.attr("write")(log);
        }
    }
    return make<PyObjectCode>(std::move(code));
}

void bind_functions(nb::module_& module) {
    function(module, "nvrtc_options",
             [](nb::handle options) { return program_options(options).to_nvrtc(); });
    function(module, "nvvm_options", [](nb::handle options, nb::handle target) {
        return program_options(options).to_nvvm(target_argument(target));
    });
    function(module, "supported_architectures", [] {
        note_search_paths();
        const nb::gil_scoped_release unlocked;
        return supported_architectures();
    });
    function(module, "compiler_version", [](nb::handle backend) {
        note_search_paths();
        const std::string wanted = lower_case(text_argument(backend, "backend"));
        for (const CompilerBackend known : {CompilerBackend::Nvrtc, CompilerBackend::Nvvm,
                                            CompilerBackend::NvJitLink, CompilerBackend::Driver}) {
            if (wanted == lower_case(to_string(known))) {
                const nb::gil_scoped_release unlocked;
                return compiler_version(known);
            }
        }
        raise_error(PyExc_ValueError,
                    "backend must be a CompilerBackendType, got " + repr_text(backend));
    });
    function(module, "default_include_directories", [] {
        note_search_paths();
        const nb::gil_scoped_release unlocked;
        return default_include_directories();
    });
}

} // namespace

void bind_program(nb::module_& module) {
    Class<PyProgram> type(module, "Program", nb::is_weak_referenceable(),
                          nb::type_slots(MemberSlots<PyProgram, &PyProgram::options>::slots));
    type.constructor<construct>();
    type.method<compile>("compile");
    type.method<&PyProgram::cancel>("cancel");
    type.property("is_closed", &PyProgram::is_closed);
    type.method<&PyProgram::drop>("close");
    type.method("__repr__", [](const PyProgram& self) {
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

} // namespace cuprum::python
