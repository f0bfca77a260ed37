// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What the lane-by-lane conversions know about number formats.

#pragma once

#include "interp/handlers/common.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

/// Returns the form that `ConvertForm::packed` has encoded.
inline ConvertForm unpack(std::int64_t bits) {
    ConvertForm form;
    form.from = static_cast<Format>(bits & 0xff);
    form.to = static_cast<Format>(bits >> 8 & 0xff);
    form.from_width = static_cast<Width>(bits >> 16 & 0xff);
    form.to_width = static_cast<Width>(bits >> 24 & 0xff);
    form.rounding = static_cast<Rounding>(bits >> 32 & 0xff);
    form.rounds_away = (bits >> 40 & 1) != 0;
    form.rounds_to_integer = (bits >> 41 & 1) != 0;
    form.flushes = (bits >> 42 & 1) != 0;
    form.is_saturating = (bits >> 43 & 1) != 0;
    form.is_finite_saturating = (bits >> 44 & 1) != 0;
    form.is_relu = (bits >> 45 & 1) != 0;
    form.is_pair = (bits >> 46 & 1) != 0;
    form.random = static_cast<RandomBits>(bits >> 47 & 3);
    return form;
}

struct IntegerLimits {
    unsigned bits;
    bool is_signed;
};

inline IntegerLimits limits_of(Format format) {
    constexpr unsigned bits[] = {8, 8, 16, 16, 32, 32, 64, 64};
    const auto index = static_cast<unsigned>(format);
    return {bits[index & 7], (index & 1) != 0};
}

/// The layout of a small format.
struct Layout {
    int exponent_bits;
    int fraction_bits;
    std::uint32_t largest;
    std::uint32_t infinity; // 0: there is none
    std::uint32_t nan;      // the result for a NaN; the largest number if the format has no NaN
};

inline Layout layout_of(Format format) {
    switch (format) {
    case Format::F16:
        return {5, 10, 0x7bff, 0x7c00, 0x7fff};
    case Format::BF16:
        return {8, 7, 0x7f7f, 0x7f80, 0x7fff};
    case Format::TF32:
        return {8, 10, 0x3fbff, 0x3fc00, 0x3ffff};
    case Format::E4M3:
        return {4, 3, 0x7e, 0, 0x7f};
    case Format::E5M2:
        return {5, 2, 0x7b, 0x7c, 0x7f};
    case Format::E2M3:
        return {2, 3, 0x1f, 0, 0x1f};
    case Format::E3M2:
        return {3, 2, 0x1f, 0, 0x1f};
    default: // E2M1
        return {2, 1, 0x7, 0, 0x7};
    }
}

/// Returns how many bits of a register a value takes.
inline unsigned storage_bits(Format format) {
    switch (format) {
    case Format::F16:
    case Format::BF16:
        return 16;
    case Format::TF32:
    case Format::F32:
        return 32;
    case Format::F64:
        return 64;
    case Format::E2M1:
        return 4;
    case Format::E4M3:
    case Format::E5M2:
    case Format::E2M3:
    case Format::E3M2:
    case Format::UE8M0:
        return 8;
    default:
        return limits_of(format).bits;
    }
}

inline bool is_integer(Format format) {
    return format <= Format::S64;
}

/// Returns the position of the sign bit in a value.
inline unsigned sign_position(Format format) {
    switch (format) {
    case Format::E2M3:
    case Format::E3M2:
        return 5;
    default:
        return storage_bits(format) - 1;
    }
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
