// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/program_options.hpp"

#include "support/arguments.hpp"

#include <cuprum/detail/runtime.hpp>
#include <cuprum/linker.hpp>
#include <cuprum/object_code.hpp>
#include <cuprum/program.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cuprum::python {

namespace {

[[nodiscard]] nb::object member(nb::handle given, const char* name) {
    return given.attr(name);
}

void read(nb::handle value, const char* name, std::optional<bool>& option) {
    if (value.is_none()) {
        return;
    }
    try {
        option = is_true(value);
    } catch (nb::python_error& error) {
        if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_ValueError)) {
            throw;
        }
        raise_error(PyExc_TypeError,
                    std::string(name) + " must be a bool, got " + type_label(value));
    }
}

int integer(nb::handle value, const char* name) {
    const long number = PyLong_Check(value.ptr()) != 0 ? PyLong_AsLong(value.ptr()) : -1;
    if (PyLong_Check(value.ptr()) == 0) {
        raise_error(PyExc_TypeError,
                    std::string(name) + " must be an int, got " + type_label(value));
    }
    if (PyErr_Occurred() != nullptr || number != static_cast<int>(number)) {
        clear_error(PyExc_OverflowError);
        raise_error(PyExc_ValueError, std::string(name) + " is out of range");
    }
    return static_cast<int>(number);
}

void read(nb::handle value, const char* name, std::optional<int>& option) {
    if (!value.is_none()) {
        option = integer(value, name);
    }
}

void read(nb::handle value, const char* name, std::optional<std::string>& option) {
    if (!value.is_none()) {
        option = path_argument(value, name);
    }
}

void read(nb::handle value, const char* name, std::vector<std::string>& option) {
    if (value.is(nb::handle(Py_False))) {
        return; // as good as none
    }
    if (nb::hasattr(value, "__fspath__")) {
        option.push_back(path_argument(value, name));
        return;
    }
    if (value.is_none() || PyUnicode_Check(value.ptr()) != 0 || PyBytes_Check(value.ptr()) != 0) {
        option = text_list_argument(value, name);
        return;
    }
    for (nb::handle item : nb::borrow<nb::object>(value)) {
        option.push_back(path_argument(item, name));
    }
}

void read(nb::handle value, const char* name, std::vector<int>& option) {
    if (value.is_none()) {
        return;
    }
    if (PyLong_Check(value.ptr()) != 0) {
        option.push_back(integer(value, name));
        return;
    }
    for (nb::handle item : nb::borrow<nb::object>(value)) {
        option.push_back(integer(item, name));
    }
}

[[noreturn]] void refuse_macro_tuple(nb::handle macro) {
    raise_error(PyExc_RuntimeError,
                "Expected define_macro tuple to be (name, value), both str, got " +
                    repr_text(macro));
}

/// Reads one macro: "NAME", "NAME=value" or ("NAME", "value").
void read_macro(nb::handle macro, ProgramOptions& options) {
    if (PyUnicode_Check(macro.ptr()) != 0) {
        options.define_macro.emplace_back(text_argument(macro, "define_macro"), std::nullopt);
        return;
    }
    if (PyTuple_Check(macro.ptr()) != 0) {
        if (PyTuple_Size(macro.ptr()) != 2) {
            refuse_macro_tuple(macro);
        }
        const nb::handle name = PyTuple_GetItem(macro.ptr(), 0);
        const nb::handle value = PyTuple_GetItem(macro.ptr(), 1);
        if (PyUnicode_Check(name.ptr()) == 0 ||
            (PyUnicode_Check(value.ptr()) == 0 && !value.is_none())) {
            refuse_macro_tuple(macro);
        }
        options.define_macro.emplace_back(
            text_argument(name, "define_macro"),
            value.is_none() ? std::nullopt : std::optional(text_argument(value, "define_macro")));
        return;
    }
    raise_error(PyExc_RuntimeError, "Expected define_macro to be a str, a (name, value) tuple of "
                                    "str, or a sequence of those, got " +
                                        repr_text(macro));
}

/// A tuple whose first item is a str is one macro with its value, as in ("NAME", "value").
bool is_single_macro(nb::handle value) {
    return PyUnicode_Check(value.ptr()) != 0 ||
           (PyTuple_Check(value.ptr()) != 0 && PyTuple_Size(value.ptr()) > 0 &&
            PyTuple_Size(value.ptr()) <= 2 &&
            PyUnicode_Check(PyTuple_GetItem(value.ptr(), 0)) != 0 &&
            (PyTuple_Size(value.ptr()) == 1 ||
             PyTuple_Check(PyTuple_GetItem(value.ptr(), 1)) == 0));
}

void read_macros(nb::handle value, ProgramOptions& options) {
    if (value.is_none()) {
        return;
    }
    if (is_single_macro(value) ||
        (PyTuple_Check(value.ptr()) == 0 && PyList_Check(value.ptr()) == 0)) {
        read_macro(value, options);
        return;
    }
    for (nb::handle macro : nb::borrow<nb::object>(value)) {
        read_macro(macro, options);
    }
}

/// Reads pairs of name and text; the text may also be a bytearray.
void read_pairs(nb::handle value, const char* name,
                std::vector<std::pair<std::string, std::string>>& option) {
    if (value.is_none()) {
        return;
    }
    for (nb::handle item : nb::borrow<nb::object>(value)) {
        const nb::object text = nb::borrow(item)[1];
        std::string bytes;
        if (PyByteArray_Check(text.ptr()) != 0) {
            bytes.assign(PyByteArray_AsString(text.ptr()),
                         static_cast<std::size_t>(PyByteArray_Size(text.ptr())));
        } else {
            bytes = text_argument(text, name);
        }
        option.emplace_back(text_argument(nb::object(nb::borrow(item)[0]), name), std::move(bytes));
    }
}

void read_headers(nb::handle value, ProgramOptions& options) {
    if (value.is_none()) {
        return;
    }
    if (PyMapping_Check(value.ptr()) == 0 || !nb::hasattr(value, "items")) {
        raise_error(PyExc_TypeError,
                    "headers must map names to texts, or be None, got " + type_label(value));
    }
    read_pairs(nb::object(value.attr("items")()), "headers", options.headers);
}

/// True stands for the log, False for nothing.
void read_time(nb::handle value, ProgramOptions& options) {
    static constexpr const char* TO_THE_LOG = "-";
    if (PyBool_Check(value.ptr()) == 0) {
        read(value, "time", options.time);
    } else if (value.is(nb::handle(Py_True))) {
        options.time = TO_THE_LOG;
    }
}

} // namespace

ProgramOptions program_options(nb::handle given) {
    ProgramOptions options;
    if (const nb::object name = member(given, "name"); !name.is_none()) {
        options.name = text_argument(name, "name");
    }
#define CUPRUM_OPTION(option) read(member(given, #option), #option, options.option)
    CUPRUM_OPTION(arch);
    CUPRUM_OPTION(std);
    CUPRUM_OPTION(include_path);
    CUPRUM_OPTION(pre_include);
    CUPRUM_OPTION(undefine_macro);
    CUPRUM_OPTION(relocatable_device_code);
    CUPRUM_OPTION(debug);
    CUPRUM_OPTION(lineinfo);
    CUPRUM_OPTION(device_code_optimize);
    CUPRUM_OPTION(ftz);
    CUPRUM_OPTION(prec_sqrt);
    CUPRUM_OPTION(prec_div);
    CUPRUM_OPTION(fma);
    CUPRUM_OPTION(use_fast_math);
    CUPRUM_OPTION(extra_device_vectorization);
    CUPRUM_OPTION(link_time_optimization);
    CUPRUM_OPTION(gen_opt_lto);
    CUPRUM_OPTION(extensible_whole_program);
    CUPRUM_OPTION(device_as_default_execution_space);
    CUPRUM_OPTION(device_int128);
    CUPRUM_OPTION(device_float128);
    CUPRUM_OPTION(builtin_move_forward);
    CUPRUM_OPTION(builtin_initializer_list);
    CUPRUM_OPTION(brief_diagnostics);
    CUPRUM_OPTION(disable_warnings);
    CUPRUM_OPTION(no_source_include);
    CUPRUM_OPTION(no_display_error_number);
    CUPRUM_OPTION(no_cache);
    CUPRUM_OPTION(fdevice_syntax_only);
    CUPRUM_OPTION(minimal);
    CUPRUM_OPTION(max_register_count);
    CUPRUM_OPTION(split_compile);
    CUPRUM_OPTION(optimization_info);
    CUPRUM_OPTION(fdevice_time_trace);
    CUPRUM_OPTION(frandom_seed);
    CUPRUM_OPTION(ofast_compile);
    CUPRUM_OPTION(ptxas_options);
    CUPRUM_OPTION(diag_error);
    CUPRUM_OPTION(diag_suppress);
    CUPRUM_OPTION(diag_warn);
    CUPRUM_OPTION(pch);
    CUPRUM_OPTION(create_pch);
    CUPRUM_OPTION(use_pch);
    CUPRUM_OPTION(pch_dir);
    CUPRUM_OPTION(pch_verbose);
    CUPRUM_OPTION(pch_messages);
    CUPRUM_OPTION(instantiate_templates_in_pch);
    CUPRUM_OPTION(use_libdevice);
    CUPRUM_OPTION(numba_debug);
    CUPRUM_OPTION(default_include_path);
#undef CUPRUM_OPTION
    read(member(given, "restrict"), "restrict", options.restrict_pointers);
    read_macros(member(given, "define_macro"), options);
    read_time(member(given, "time"), options);
    read_pairs(member(given, "extra_sources"), "extra_sources", options.extra_sources);
    read_headers(member(given, "headers"), options);
    return options;
}

LinkerOptions linker_options(nb::handle given) {
    LinkerOptions options;
    if (const nb::object name = member(given, "name"); !name.is_none()) {
        options.name = text_argument(name, "name");
    }
#define CUPRUM_OPTION(option) read(member(given, #option), #option, options.option)
    CUPRUM_OPTION(arch);
    CUPRUM_OPTION(max_register_count);
    CUPRUM_OPTION(time);
    CUPRUM_OPTION(verbose);
    CUPRUM_OPTION(link_time_optimization);
    CUPRUM_OPTION(ptx);
    CUPRUM_OPTION(optimization_level);
    CUPRUM_OPTION(debug);
    CUPRUM_OPTION(lineinfo);
    CUPRUM_OPTION(ftz);
    CUPRUM_OPTION(prec_div);
    CUPRUM_OPTION(prec_sqrt);
    CUPRUM_OPTION(fma);
    CUPRUM_OPTION(kernels_used);
    CUPRUM_OPTION(variables_used);
    CUPRUM_OPTION(optimize_unused_variables);
    CUPRUM_OPTION(ptxas_options);
    CUPRUM_OPTION(split_compile);
    CUPRUM_OPTION(split_compile_extended);
    CUPRUM_OPTION(no_cache);
#undef CUPRUM_OPTION
    if (const nb::object backend = member(given, "backend"); !backend.is_none()) {
        const std::string wanted = lower_case(text_argument(backend, "backend"));
        if (wanted != "nvjitlink" && wanted != "driver") {
            raise_error(PyExc_ValueError,
                        "backend must be \"nvJitLink\" or \"driver\", got " + repr_text(backend));
        }
        options.backend = wanted == "driver" ? CompilerBackend::Driver : CompilerBackend::NvJitLink;
    }
    return options;
}

void note_search_paths() {
    static std::atomic<bool> is_done = false;
    if (!is_done.exchange(true)) {
        detail::set_library_search_paths(nb::cast<std::vector<std::string>>(
            nb::module_::import_("cuprum._libraries").attr("search_paths")()));
    }
}

JITOptions jit_options(nb::handle given) {
    JITOptions options;
    for_each_jit_option(options, [given](const char* name, auto& option) {
        read(member(given, name), name, option);
    });
    return options;
}

} // namespace cuprum::python
