// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What the lane-by-lane conversions know about number formats.

#pragma once

#include "interp/handlers/common.hpp"
#include "rows/format.hpp"

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

[[gnu::always_inline]] inline const rows::FormatRecord& record_of(Format format) {
    return rows::FORMATS[static_cast<unsigned>(format)];
}

[[gnu::always_inline]] inline IntegerLimits limits_of(Format format) {
    return {record_of(format).bits, (static_cast<unsigned>(format) & 1) != 0};
}

[[gnu::always_inline]] constexpr bool is_integer(Format format) {
    return format <= Format::S64;
}

/// Returns the position of the sign bit in a value.
[[gnu::always_inline]] inline unsigned sign_position(Format format) {
    return static_cast<unsigned>(record_of(format).exponent_bits + record_of(format).fraction_bits);
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
