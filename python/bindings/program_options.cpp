// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program_options.hpp"

#include "arguments.hpp"

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cuprum::python {

namespace {

void read(nb::handle value, const char* name, std::optional<bool>& option);
void read(nb::handle value, const char* name, std::optional<int>& option);
void read(nb::handle value, const char* name, std::optional<std::string>& option);
void read(nb::handle value, const char* name, std::vector<std::string>& option);
void read(nb::handle value, const char* name, std::vector<int>& option);
void read_macros(nb::handle value, ProgramOptions& options);
void read_precompiled_headers(nb::handle given, ProgramOptions& options);
void refuse_meaningless(nb::handle given);
[[nodiscard]] nb::object member(nb::handle given, const char* name);

} // namespace

ProgramOptions program_options(nb::handle given) {
    refuse_meaningless(given);
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
    CUPRUM_OPTION(time);
    CUPRUM_OPTION(fdevice_time_trace);
    CUPRUM_OPTION(frandom_seed);
    CUPRUM_OPTION(ofast_compile);
    CUPRUM_OPTION(ptxas_options);
    CUPRUM_OPTION(diag_error);
    CUPRUM_OPTION(diag_suppress);
    CUPRUM_OPTION(diag_warn);
#undef CUPRUM_OPTION
    read(member(given, "restrict"), "restrict", options.restrict_pointers);
    read_macros(member(given, "define_macro"), options);
    read_precompiled_headers(given, options);
    return options;
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

nb::object member(nb::handle given, const char* name) {
    return given.attr(name);
}

void read(nb::handle value, const char* name, std::optional<bool>& option) {
    if (value.is_none()) {
        return;
    }
    const int answer = PyObject_IsTrue(value.ptr());
    if (answer < 0) {
        PyErr_Clear();
        raise_error(PyExc_TypeError,
                    std::string(name) + " must be a bool, got " + type_label(value));
    }
    option = answer != 0;
}

int integer(nb::handle value, const char* name) {
    const long number = PyLong_Check(value.ptr()) != 0 ? PyLong_AsLong(value.ptr()) : -1;
    if (PyLong_Check(value.ptr()) == 0) {
        raise_error(PyExc_TypeError,
                    std::string(name) + " must be an int, got " + type_label(value));
    }
    if (PyErr_Occurred() != nullptr || number != static_cast<int>(number)) {
        PyErr_Clear();
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
        option = text_argument(value, name);
    }
}

void read(nb::handle value, const char* name, std::vector<std::string>& option) {
    option = text_list_argument(value, name);
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

/// Reads one macro: "NAME", "NAME=value" or ("NAME", "value").
void read_macro(nb::handle macro, ProgramOptions& options) {
    if (PyUnicode_Check(macro.ptr()) != 0) {
        options.define_macro.emplace_back(text_argument(macro, "define_macro"), std::nullopt);
        return;
    }
    if (PyTuple_Check(macro.ptr()) != 0 && PyTuple_Size(macro.ptr()) == 2) {
        const nb::handle value = PyTuple_GetItem(macro.ptr(), 1);
        options.define_macro.emplace_back(
            text_argument(PyTuple_GetItem(macro.ptr(), 0), "the name in define_macro"),
            value.is_none() ? std::nullopt
                            : std::optional(text_argument(value, "the value in define_macro")));
        return;
    }
    raise_error(PyExc_RuntimeError, "define_macro must be str, (name, value) or a sequence of "
                                    "those, got " +
                                        repr_text(macro));
}

/// A tuple of two strings is one macro with its value, as in ("NAME", "value").
bool is_single_macro(nb::handle value) {
    if (PyUnicode_Check(value.ptr()) != 0) {
        return true;
    }
    return PyTuple_Check(value.ptr()) != 0 && PyTuple_Size(value.ptr()) == 2 &&
           PyUnicode_Check(PyTuple_GetItem(value.ptr(), 0)) != 0 &&
           PyTuple_Check(PyTuple_GetItem(value.ptr(), 1)) == 0;
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

void read_precompiled_headers(nb::handle given, ProgramOptions& options) {
    const auto is_set = [given](const char* name) {
        std::optional<bool> flag;
        read(member(given, name), name, flag);
        return flag.value_or(false);
    };
    if (is_set("pch")) {
        options.extra.emplace_back("--pch");
    }
    for (const auto& [name, flag] :
         {std::pair("create_pch", "--create-pch="), std::pair("use_pch", "--use-pch="),
          std::pair("pch_dir", "--pch-dir=")}) {
        std::optional<std::string> text;
        read(member(given, name), name, text);
        if (text) {
            options.extra.push_back(flag + *text);
        }
    }
    for (const auto& [name, flag] :
         {std::pair("pch_verbose", "--pch-verbose="), std::pair("pch_messages", "--pch-messages="),
          std::pair("instantiate_templates_in_pch", "--instantiate-templates-in-pch=")}) {
        std::optional<bool> value;
        read(member(given, name), name, value);
        if (value) {
            options.extra.push_back(std::string(flag) + (*value ? "true" : "false"));
        }
    }
    if (is_set("numba_debug")) {
        options.extra.emplace_back("--numba-debug");
    }
}

void refuse_meaningless(nb::handle given) {
    for (const char* name : {"extra_sources", "use_libdevice"}) {
        const nb::object value = member(given, name);
        if (!value.is_none() && !value.is(nb::handle(Py_False))) {
            raise_error(PyExc_ValueError,
                        std::string(name) + " has no meaning for C++ source; it belongs to NVVM");
        }
    }
}

} // namespace

} // namespace cuprum::python
