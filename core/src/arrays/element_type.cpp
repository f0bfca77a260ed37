// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "arrays/element_type.hpp"

namespace cuprum::detail {

namespace {

std::string kind_of(dlpack::TypeCode code) {
    switch (code) {
    case dlpack::TypeCode::Int:
        return "int";
    case dlpack::TypeCode::UInt:
        return "uint";
    case dlpack::TypeCode::Float:
        return "float";
    case dlpack::TypeCode::BFloat:
        return "bfloat";
    case dlpack::TypeCode::Complex:
        return "complex";
    case dlpack::TypeCode::Bool:
        return "bool";
    default:
        return "DLPack type " + std::to_string(static_cast<int>(code)) + " of bits ";
    }
}

} // namespace

std::string text_of(dlpack::DataType type, std::size_t itemsize) {
    if (type.bits == 0) {
        return "elements of " + std::to_string(itemsize) + " bytes";
    }
    return (type.lanes == 1 ? std::string() : std::to_string(type.lanes) + " x ") +
           kind_of(type.code) + std::to_string(type.bits);
}

} // namespace cuprum::detail
