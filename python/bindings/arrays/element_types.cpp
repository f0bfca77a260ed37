// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Element types between DLPack and numpy. Types that numpy itself lacks come from ml_dtypes.

#include "arrays/strided_memory_view.hpp"
#include "support/arguments.hpp"

#include <cuprum/dlpack.hpp>

#include <nanobind/stl/string.h>

#include <array>
#include <string>
#include <string_view>

namespace cuprum::python {

namespace {

constexpr unsigned BYTE_BITS = 8;

/// The names that ml_dtypes gives to the 8-bit floats, in the order of DLPack's codes.
constexpr std::array FLOAT8_NAMES{
    "float8_e3m4",     "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn",
    "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",    "float8_e8m0fnu",
};

[[nodiscard]] nb::object ml_dtype(const char* name) {
    try {
        return nb::module_::import_("numpy").attr("dtype")(
            nb::module_::import_("ml_dtypes").attr(name));
    } catch (nb::python_error& error) {
        if (!error.matches(PyExc_ImportError) && !error.matches(PyExc_AttributeError)) {
            throw;
        }
        raise_error(PyExc_NotImplementedError, std::string("a dtype for ") + name +
                                                   " requires `ml_dtypes`, which is not installed "
                                                   "or too old");
    }
}

[[nodiscard]] std::string text_of(nb::handle object, const char* attribute) {
    return nb::cast<std::string>(nb::object(object.attr(attribute)));
}

} // namespace

nb::object numpy_dtype(const dlpack::DataType& type) {
    const auto number = static_cast<unsigned>(type.code);
    if (type.lanes != 1) {
        raise_error(PyExc_NotImplementedError,
                    "vector elements (lanes=" + std::to_string(type.lanes) +
                        ") have no dtype; pass one to view(dtype=…)");
    }
    char kind = 0;
    switch (type.code) {
    case dlpack::TypeCode::Int:
        kind = 'i';
        break;
    case dlpack::TypeCode::UInt:
        kind = 'u';
        break;
    case dlpack::TypeCode::Float:
        kind = 'f';
        break;
    case dlpack::TypeCode::Complex:
        kind = 'c';
        break;
    case dlpack::TypeCode::Bool:
        kind = 'b';
        break;
    case dlpack::TypeCode::BFloat:
        return ml_dtype("bfloat16");
    default:
        break;
    }
    const auto first = static_cast<unsigned>(dlpack::TypeCode::FirstFloat8);
    if (kind == 0 && number >= first && number - first < FLOAT8_NAMES.size() &&
        type.bits == BYTE_BITS) {
        return ml_dtype(FLOAT8_NAMES[number - first]);
    }
    if (kind == 0) {
        raise_error(PyExc_NotImplementedError, "DLPack's type code " + std::to_string(number) +
                                                   " with " + std::to_string(type.bits) +
                                                   " bits has no dtype");
    }
    nb::str typestr((kind + std::to_string(type.bits / BYTE_BITS)).c_str());
    try {
        return nb::module_::import_("numpy").attr("dtype")(typestr);
    } catch (nb::python_error& error) {
        if (!error.matches(PyExc_ImportError)) {
            throw;
        }
        return typestr;
    }
}

dlpack::DataType dlpack_type_of(nb::handle given) {
    using dlpack::TypeCode;
    nb::object dtype = nb::borrow(given);
    if (nb::isinstance<nb::str>(given)) { // there is no numpy
        raise_error(PyExc_BufferError, "dtype is text: exporting it needs numpy");
    }
    if (!nb::object(dtype.attr("fields")).is_none()) {
        raise_error(PyExc_BufferError,
                    "dtype is " + repr_text(dtype) + ": Structured dtypes have no DLPack type");
    }
    if (!nb::cast<bool>(nb::object(dtype.attr("isnative")))) {
        raise_error(PyExc_BufferError, "dtype is " + repr_text(dtype) +
                                           ": Non-native-endian numbers have no DLPack type");
    }
    const std::string name = text_of(dtype, "name");
    const auto bytes = nb::cast<unsigned>(nb::object(dtype.attr("itemsize")));
    const auto type = [bytes](TypeCode code) {
        return dlpack::DataType{code, static_cast<std::uint8_t>(bytes * BYTE_BITS), 1};
    };
    if (name == "bfloat16") {
        return type(TypeCode::BFloat);
    }
    for (std::size_t i = 0; i < FLOAT8_NAMES.size(); ++i) {
        if (name == FLOAT8_NAMES[i]) {
            // NOLINTNEXTLINE(clang-analyzer-optin.core.EnumCastOutOfRange): it has room for them
            return type(static_cast<TypeCode>(static_cast<std::size_t>(TypeCode::FirstFloat8) + i));
        }
    }
    constexpr unsigned widest = 8; // of a number
    constexpr unsigned widest_complex = 16;
    switch (text_of(dtype, "kind")[0]) {
    case 'b':
        return type(TypeCode::Bool);
    case 'i':
        return type(TypeCode::Int);
    case 'u':
        return type(TypeCode::UInt);
    case 'f':
        if (bytes <= widest) {
            return type(TypeCode::Float);
        }
        break;
    case 'c':
        if (bytes <= widest_complex) {
            return type(TypeCode::Complex);
        }
        break;
    default:
        break;
    }
    raise_error(PyExc_BufferError, "Unsupported dtype for DLPack export: " + repr_text(dtype));
}

} // namespace cuprum::python
