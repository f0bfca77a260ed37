// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "interp/tensor_values.hpp"

#include <cstring>

namespace cuprum::emulator {

namespace {

ptx::Type type_of(TensorElement element) {
    using ptx::Type;
    switch (element) {
    case TensorElement::U32:
        return Type::U32;
    case TensorElement::S32:
        return Type::S32;
    case TensorElement::U64:
        return Type::U64;
    case TensorElement::S64:
        return Type::S64;
    case TensorElement::F16:
        return Type::F16;
    case TensorElement::Bf16:
        return Type::BF16;
    case TensorElement::F32:
    case TensorElement::F32Ftz:
    case TensorElement::Tf32:
    case TensorElement::Tf32Ftz:
        return Type::F32;
    case TensorElement::F64:
        return Type::F64;
    default:
        return Type::None;
    }
}

/// Rounds to the nearest number with 10 bits of fraction; halfway cases to even.
void round_to_tf32(std::byte* elements, std::size_t bytes) {
    constexpr std::uint32_t dropped_bits = 13;
    constexpr std::uint32_t exponent = 0x7f800000;
    constexpr std::uint32_t nan = 0x7fffe000;
    for (std::size_t at = 0; at + sizeof(std::uint32_t) <= bytes; at += sizeof(std::uint32_t)) {
        std::uint32_t value;
        std::memcpy(&value, elements + at, sizeof value);
        if ((value & exponent) != exponent) {
            const std::uint32_t is_odd = value >> dropped_bits & 1;
            value = (value + (1u << (dropped_bits - 1)) - 1 + is_odd) >> dropped_bits
                                                                             << dropped_bits;
        } else if (value << 9 != 0) {
            value = nan;
        }
        std::memcpy(elements + at, &value, sizeof value);
    }
}

} // namespace

std::uint64_t fill_of(const TensorMap& map) {
    // The same 16 bits for all types: they make a number that is not a number in each of them.
    return map.fill == TensorFill::Zero ? 0 : 0x7ff77ff77ff77ff7;
}

Conversion conversion_of(TensorElement element) {
    return element == TensorElement::Tf32 || element == TensorElement::Tf32Ftz ? round_to_tf32
                                                                               : nullptr;
}

std::optional<Reduction> reduction_of(bulk_copy::Operation operation, TensorElement element) {
    using bulk_copy::Operation;
    using ptx::Type;
    const Type type = type_of(element);
    const bool is_float = type == Type::F32 || type == Type::F64;
    const bool is_half = type == Type::F16 || type == Type::BF16;
    bool exists = type != Type::None;
    switch (operation) {
    case Operation::Add:
        exists = exists && type != Type::S64;
        break;
    case Operation::Min:
    case Operation::Max:
        exists = exists && !is_float;
        break;
    case Operation::Inc:
    case Operation::Dec:
        exists = type == Type::U32;
        break;
    case Operation::And:
    case Operation::Or:
    case Operation::Xor:
        exists = exists && !is_float && !is_half && type != Type::S64;
        break;
    }
    if (!exists) {
        return std::nullopt;
    }
    return Reduction{type, element == TensorElement::F32Ftz || element == TensorElement::Tf32Ftz};
}

} // namespace cuprum::emulator
