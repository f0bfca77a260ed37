// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What cvt computes, from its text. A value is exact in a long double, and is rounded once.

#pragma once

#include "interp/float_reference.hpp"

namespace cuprum::emulator::test {

inline FloatFormat format_of(const rows::FormatRecord& record) {
    return {static_cast<unsigned>(record.exponent_bits + record.fraction_bits + 1),
            static_cast<unsigned>(record.fraction_bits), record.largest};
}

class ConvertReference {
public:
    static const rows::FormatRecord& record_of(rows::FormatName name) {
        return rows::FORMATS[static_cast<unsigned>(name.format)];
    }

    static bool is_float(const rows::FormatRecord& record) { return record.exponent_bits != 0; }

    explicit ConvertReference(const rows::Match& match)
        : match_(match), to_(rows::format_named(match['T'])), from_(rows::format_named(match['A'])),
          target_(record_of(to_)), source_(record_of(from_)) {
        mode_ = mode_of(match);
    }

    void compute(Values& values, unsigned source_count) const {
        const auto [a, b, random, unused] = values.source;
        if (to_.count == 1) {
            values.result = low_bits(static_cast<Wide>(one(a, 0)), std::max(target_.bits, 16u));
        } else {
            // With two sources, the first is the upper one.
            const unsigned used = target_.fraction_bits == 10 ? 13 : 16; // random bits
            const auto random_of = [&](std::uint64_t bits) {
                return std::ldexp(static_cast<long double>(low_bits(static_cast<Wide>(bits), used)),
                                  -static_cast<int>(used));
            };
            const std::uint64_t upper =
                one(source_count == 1 ? a >> source_.bits : a, random_of(random >> 16));
            const std::uint64_t lower = one(source_count == 1 ? a : b, random_of(random));
            values.result = upper << target_.bits | lower;
        }
        const bool is_number = to_.count == 1 && is_float(target_) && match_['T'] != "tf32";
        values.error = is_number ? 1e-20 : 0; // any NaN is right
    }

private:
    static bool is_signed(rows::FormatName name) {
        return static_cast<unsigned>(name.format) % 2 == 1;
    }

    [[nodiscard]] std::uint64_t one(std::uint64_t bits, long double random) const {
        bits = low_bits(static_cast<Wide>(bits), source_.bits);
        if (!is_float(source_)) {
            const Wide value = number_of(bits, source_.bits, is_signed(from_));
            return is_float(target_) ? float_of(static_cast<long double>(value), random)
                                     : integer_of(value, !match_.has("sat"));
        }
        const long double value = number(bits);
        if (is_float(target_)) {
            return match_.has("rna") && std::isnan(value) ? bits & 0xffffe000
                                                          : float_of(value, random);
        }
        if (std::isnan(value)) {
            const bool is_wide = target_.bits == 64 || source_.bits == 64;
            return is_wide ? integer_of(Wide{1} << (target_.bits - 1), true) : 0;
        }
        constexpr long double beyond = 0x1p70L; // any integer format
        const long double limited = std::fmin(std::fmax(whole(value), -beyond), beyond);
        return integer_of(static_cast<Wide>(limited), false);
    }

    [[nodiscard]] long double number(std::uint64_t bits) const {
        if (source_.fraction_bits == 0) { // a power of two
            return bits == source_.nan ? std::nanl("")
                                       : std::ldexp(1.0L, static_cast<int>(bits) - 127);
        }
        const FloatFormat format = format_of(source_);
        const bool flushes = match_.has("ftz") && match_['A'] == "f32" && match_['T'] != "f16";
        return format.decode(flushes ? format.flush(bits) : bits);
    }

    [[nodiscard]] long double whole(long double value) const {
        std::fesetround(mode_);
        volatile long double result = std::nearbyint(value);
        std::fesetround(FE_TONEAREST);
        return result;
    }

    /// Returns an integer of the result, extended to its register.
    [[nodiscard]] std::uint64_t integer_of(Wide value, bool wraps) const {
        const unsigned sign = is_signed(to_) ? 1 : 0;
        const Wide most = (Wide{1} << (target_.bits - sign)) - 1;
        const Wide limited = std::clamp(value, is_signed(to_) ? -most - 1 : Wide{0}, most);
        const auto kept = static_cast<std::uint64_t>(wraps ? value : limited);
        return static_cast<std::uint64_t>(number_of(kept, target_.bits, is_signed(to_)));
    }

    [[nodiscard]] std::uint64_t float_of(long double value, long double random) const {
        if (match_.has("relu") && !std::isnan(value) && std::signbit(value)) {
            value = 0;
        }
        if (match_['R'].size() == 3) {
            value = whole(value);
        }
        if (match_.has("sat")) {
            value = std::isnan(value) || value <= 0 ? 0 : std::fmin(value, 1.0L);
        }
        const unsigned shift = match_['T'] == "tf32" ? 13 : 0;
        if (std::isnan(value)) {
            return target_.bits == 64 ? 0x7ff8000000000000 : std::uint64_t{target_.nan} << shift;
        }
        if (target_.fraction_bits == 0) {
            return power_of(std::fabs(value));
        }
        FloatFormat format = format_of(target_);
        format.saturates = match_.has("satfinite");
        const bool flushes = match_.has("ftz") && match_['T'] == "f32";
        const long double carry = match_.has("rna") ? 0.5L : match_.has("rs") ? random : -1;
        return format.encode(value, mode_, flushes, carry) << shift;
    }

    [[nodiscard]] std::uint64_t power_of(long double value) const {
        const bool is_finite = std::isfinite(value);
        std::uint64_t bits = 0; // 2^-127, also for smaller values
        while (bits < 0xff && is_finite &&
               (match_['R'] == "rp" ? std::ldexp(1.0L, static_cast<int>(bits) - 127) < value
                                    : std::ldexp(1.0L, static_cast<int>(bits) - 126) <= value)) {
            ++bits;
        }
        bits = is_finite ? bits : 0xff;
        return bits == 0xff && match_.has("satfinite") ? 0xfe : bits;
    }

    const rows::Match& match_;
    rows::FormatName to_;
    rows::FormatName from_;
    const rows::FormatRecord& target_;
    const rows::FormatRecord& source_;
    int mode_ = FE_TONEAREST;
};

} // namespace cuprum::emulator::test
