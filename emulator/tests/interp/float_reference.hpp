// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What instructions on floating-point numbers compute, from their text. Results are computed with
// the 64 bits of a long double, whose last bit is set if more follow, and rounded once. It shares
// nothing with the handlers.

#pragma once

#include "interp/integer_reference.hpp"

#include <cfenv>
#include <cmath>
#include <limits>

namespace cuprum::emulator::test {

/// A format with a sign, given by its size and its fraction. Exponent 0 means subnormal.
struct FloatFormat {
    unsigned bits = 32;
    unsigned fraction_bits = 23;
    std::uint64_t largest = 0; // 0: what is below infinity
    bool saturates = false;    // numbers beyond the largest become that one

    [[nodiscard]] std::uint64_t sign() const { return std::uint64_t{1} << (bits - 1); }

    [[nodiscard]] std::uint64_t infinity() const {
        return sign() - (std::uint64_t{1} << fraction_bits);
    }

    [[nodiscard]] std::uint64_t most() const { return largest != 0 ? largest : infinity() - 1; }

    [[nodiscard]] std::uint64_t magnitude(std::uint64_t value) const {
        return value & (sign() - 1);
    }

    [[nodiscard]] bool is_nan(std::uint64_t value) const { return magnitude(value) > infinity(); }

    [[nodiscard]] int least_exponent() const { return 2 - (1 << (bits - 2 - fraction_bits)); }

    [[nodiscard]] std::uint64_t flush(std::uint64_t value) const {
        return magnitude(value) < std::uint64_t{1} << fraction_bits ? value & sign() : value;
    }

    [[nodiscard]] long double decode(std::uint64_t value) const {
        const std::uint64_t rest = magnitude(value);
        const auto exponent = static_cast<int>(rest >> fraction_bits);
        const std::uint64_t one = std::uint64_t{1} << fraction_bits;
        const std::uint64_t fraction = (rest & (one - 1)) + (exponent == 0 ? 0 : one);
        const int shift =
            std::max(exponent - 1, 0) + least_exponent() - static_cast<int>(fraction_bits);
        const long double result =
            rest <= most()       ? std::ldexp(static_cast<long double>(fraction), shift)
            : rest == infinity() ? std::numeric_limits<long double>::infinity()
                                 : std::nanl("");
        return (value & sign()) != 0 ? -result : result;
    }

    /// Rounds a number that is not a NaN. `flushes`: to zero if it is below the normal numbers once
    /// rounded without a limit for the exponent. `carry`, unless negative, is added to what is
    /// dropped, and decides the rounding.
    [[nodiscard]] std::uint64_t encode(long double value, int mode, bool flushes = false,
                                       long double carry = -1) const {
        const std::uint64_t sign_bit = std::signbit(value) ? sign() : 0;
        if (std::isinf(value) || value == 0) {
            return sign_bit | (value == 0 ? 0 : saturates ? most() : infinity());
        }
        const int exponent = std::ilogb(value);
        const auto fraction = static_cast<int>(fraction_bits);
        const auto round = [&](int unit) { // to a multiple of 2^unit
            volatile long double scaled = std::ldexp(value, -unit);
            if (carry >= 0) {
                return std::floor(std::fabs(scaled) + carry);
            }
            std::fesetround(mode);
            volatile long double rounded = std::nearbyint(scaled);
            std::fesetround(FE_TONEAREST);
            return std::fabs(rounded);
        };
        if (flushes && std::ldexp(round(exponent - fraction), exponent - fraction) <
                           std::ldexp(1.0L, least_exponent())) {
            return sign_bit;
        }
        const int own = std::max(exponent, least_exponent());
        const auto units = static_cast<std::uint64_t>(round(own - fraction));
        const std::uint64_t result =
            units + (static_cast<std::uint64_t>(own - least_exponent()) << fraction_bits);
        const bool stays_finite = mode == FE_TOWARDZERO || (mode == FE_DOWNWARD && sign_bit == 0) ||
                                  (mode == FE_UPWARD && sign_bit != 0);
        return sign_bit | (result <= most()            ? result
                           : saturates || stays_finite ? most()
                                                       : infinity());
    }
};

/// Returns the format of a type, or of each half of a pair.
inline FloatFormat format_of(ptx::Type type) {
    switch (type) {
    case ptx::Type::F64:
        return {64, 52};
    case ptx::Type::F32:
        return {32, 23};
    case ptx::Type::F16:
    case ptx::Type::F16x2:
        return {16, 10};
    default:
        return {16, 7};
    }
}

/// Returns the host's rounding direction for an instruction.
inline int mode_of(const rows::Match& match) {
    const std::string_view rounding = match['R'];
    return rounding.starts_with("rz")   ? FE_TOWARDZERO
           : rounding.starts_with("rm") ? FE_DOWNWARD
           : rounding.starts_with("rp") ? FE_UPWARD
                                        : FE_TONEAREST;
}

/// Computes towards zero with 64 bits, and sets the last one if the result is inexact.
template <typename Body>
long double sticky(int mode, Body body) {
    std::fesetround(FE_TOWARDZERO);
    std::feclearexcept(FE_INEXACT);
    volatile long double result = body();
    const bool is_inexact = std::fetestexcept(FE_INEXACT) != 0;
    std::fesetround(mode);
    volatile long double zero = result == 0 ? body() : 0; // has the sign of this direction
    std::fesetround(FE_TONEAREST);
    if (result == 0 || !std::isfinite(result)) {
        return result == 0 ? zero : result;
    }
    int exponent = 0;
    const long double fraction = std::ldexp(std::fabs(std::frexp(result, &exponent)), 64);
    const auto bits = static_cast<std::uint64_t>(fraction);
    const bool has_more = is_inexact || static_cast<long double>(bits) != fraction;
    const auto odd = static_cast<long double>(bits | static_cast<std::uint64_t>(has_more));
    return std::copysign(std::ldexp(odd, exponent - 64), result);
}

class FloatReference {
public:
    explicit FloatReference(const rows::Match& match) : match_(match), opcode_(match.word(0)) {
        type_ = match.type().part;
        format_ = format_of(type_);
        mode_ = mode_of(match);
        flushes_ = match.has("ftz");
    }

    void compute(Values& values, unsigned source_count) const {
        const bool is_pair = type_ == ptx::Type::F16x2 || type_ == ptx::Type::BF16x2;
        if (opcode_.starts_with("set")) {
            compare(values, is_pair);
            return;
        }
        const unsigned bits = format_.bits * (is_pair || match_.type().is_packed ? 2 : 1);
        values.result = 0;
        for (unsigned at = 0; at < bits; at += format_.bits) {
            std::uint64_t source[3];
            for (unsigned i = 0; i < 3; ++i) {
                source[i] = low_bits(static_cast<Wide>(values.source[i] >> at), format_.bits);
                if (!match_['n'].empty() && i + 1 < source_count) {
                    const FloatFormat narrow{16, match_['n'] == "f16" ? 10u : 7u};
                    source[i] = encode(narrow.decode(values.source[i] & 0xffff), FE_TONEAREST);
                }
            }
            values.result |= one(source, source_count) << at;
        }
        const bool is_approximate = match_.has("approx") || match_.has("full");
        values.error = opcode_ == "tanh" && format_.bits == 32 ? 0x1p-10
                       : is_approximate && format_.bits == 16  ? 0x1p-7
                       : is_approximate && format_.bits == 32  ? 3e-7
                       : is_approximate && flushes_ ? 0x1p-19 // only the upper half is computed
                       : format_.bits == 64         ? 1e-20   // any NaN is right
                                                    : 0;
    }

private:
    void compare(Values& values, bool is_pair) const {
        const bool lower = holds(values.source[0], values.source[1]);
        write_comparison(match_, values, lower);
        if (is_pair) {
            Values upper = values;
            write_comparison(match_, upper, holds(values.source[0] >> 16, values.source[1] >> 16));
            values.second = upper.result; // of setp
            if (opcode_ == "set") {
                values.result = (values.result & 0xffff) | (upper.result & 0xffff0000);
            }
        }
    }

    [[nodiscard]] bool holds(std::uint64_t x, std::uint64_t y) const {
        std::uint64_t bits[2] = {x, y};
        for (std::uint64_t& each : bits) {
            each = low_bits(static_cast<Wide>(each), format_.bits);
            each = flushes_ ? format_.flush(each) : each;
        }
        const bool is_unordered = format_.is_nan(bits[0]) || format_.is_nan(bits[1]);
        const std::string_view how = match_['C'];
        if (is_unordered || how == "num" || how == "nan") {
            return how == "num" ? !is_unordered : is_unordered && how.size() == 3;
        }
        const long double a = format_.decode(bits[0]);
        const long double b = format_.decode(bits[1]);
        return how.starts_with("eq")   ? a == b
               : how.starts_with("ne") ? a != b
               : how.starts_with("lt") ? a < b
               : how.starts_with("le") ? a <= b
               : how.starts_with("gt") ? a > b
                                       : a >= b;
    }

    [[nodiscard]] std::uint64_t one(std::uint64_t (&source)[3], unsigned count) const {
        const std::uint64_t sign = format_.sign();
        if (opcode_ == "copysign") {
            return (source[0] & sign) | format_.magnitude(source[1]);
        }
        if (opcode_ == "testp") {
            return test(source[0]) ? 1 : 0;
        }
        for (std::uint64_t& each : source) {
            each &= flushes_ && format_.bits == 64 ? 0xffffffff00000000 : ~std::uint64_t{0};
            each = flushes_ ? format_.flush(each) : each;
        }
        if (opcode_ == "neg" || opcode_ == "abs") {
            const bool is_nan = format_.is_nan(source[0]);
            return is_nan             ? sign - 1
                   : opcode_ == "neg" ? source[0] ^ sign
                                      : format_.magnitude(source[0]);
        }
        if (opcode_ == "min" || opcode_ == "max") {
            if (count == 3 && match_.has("abs")) {
                for (std::uint64_t& each : source) {
                    each = format_.magnitude(each);
                }
            }
            const std::uint64_t first = extreme(source[0], source[1]);
            return count == 3 ? extreme(first, source[2]) : first;
        }
        constexpr std::uint64_t out_of_bounds = 0x7ff7; // of a tensor copy
        if (match_.has("oob") && (format_.magnitude(source[0]) == out_of_bounds ||
                                  format_.magnitude(source[1]) == out_of_bounds)) {
            return 0;
        }
        std::uint64_t result = arithmetic(source);
        if (match_.has("sat")) {
            const std::uint64_t unit = format_.encode(1, FE_TONEAREST);
            result = format_.is_nan(result) || (result & sign) != 0 ? 0 : std::min(result, unit);
        }
        return match_.has("relu") && (result & sign) != 0 ? 0 : result;
    }

    [[nodiscard]] bool test(std::uint64_t value) const {
        const std::string_view property = match_['O'];
        const std::uint64_t rest = format_.magnitude(value);
        const bool is_subnormal = rest != 0 && format_.flush(rest) == 0;
        return property == "finite"       ? rest < format_.infinity()
               : property == "infinite"   ? rest == format_.infinity()
               : property == "number"     ? !format_.is_nan(value)
               : property == "notanumber" ? format_.is_nan(value)
               : property == "normal"     ? rest < format_.infinity() && !is_subnormal
                                          : is_subnormal;
    }

    /// Returns the lesser or greater value; -0 is less than +0.
    [[nodiscard]] std::uint64_t extreme(std::uint64_t a, std::uint64_t b) const {
        const std::uint64_t sign = match_.has("xorsign") ? (a ^ b) & format_.sign() : 0;
        if (match_.has("xorsign")) {
            a = format_.magnitude(a);
            b = format_.magnitude(b);
        }
        const bool has_nan = format_.is_nan(a) || format_.is_nan(b);
        if ((format_.is_nan(a) && format_.is_nan(b)) || (has_nan && match_.has("NaN"))) {
            return format_.sign() - 1;
        }
        if (has_nan) {
            return sign | (format_.is_nan(a) ? b : a);
        }
        const auto rank = [&](std::uint64_t value) {
            const auto rest = static_cast<Wide>(format_.magnitude(value));
            return (value & format_.sign()) != 0 ? -rest - 1 : rest;
        };
        return sign | ((rank(a) < rank(b)) == (opcode_ == "min") ? a : b);
    }

    [[nodiscard]] std::uint64_t arithmetic(const std::uint64_t (&source)[3]) const {
        if (type_ == ptx::Type::F64) {
            std::fesetround(mode_);
            volatile double a = std::bit_cast<double>(source[0]);
            volatile double b = std::bit_cast<double>(source[1]);
            volatile double c = std::bit_cast<double>(source[2]);
            volatile double result = value_of<double>(a, b, c);
            std::fesetround(FE_TONEAREST);
            const auto bits = std::bit_cast<std::uint64_t>(double{result});
            return flushes_ ? format_.flush(bits) : bits;
        }
        volatile long double a = format_.decode(source[0]);
        volatile long double b = format_.decode(source[1]);
        volatile long double c = format_.decode(source[2]);
        if (opcode_ == "div" && match_.has("approx") && std::isgreater(std::fabs(b), 0x1p126L) &&
            std::isfinite(b)) {
            b = std::copysign(std::numeric_limits<long double>::infinity(), b);
        }
        if ((opcode_ == "sin" || opcode_ == "cos") && std::isgreaterequal(std::fabs(a), 0x1p31L) &&
            std::isfinite(a)) {
            a = 0; // neighbouring numbers are turns apart
        }
        const auto exact = [&] { return value_of<long double>(a, b, c); };
        return encode(sticky(mode_, exact), mode_);
    }

    [[nodiscard]] std::uint64_t encode(long double value, int mode) const {
        return std::isnan(value) ? format_.sign() - 1 : format_.encode(value, mode, flushes_);
    }

    template <typename T>
    [[nodiscard]] T value_of(T a, T b, T c) const {
        return opcode_ == "add"     ? a + b
               : opcode_ == "sub"   ? a - b
               : opcode_ == "mul"   ? a * b
               : opcode_ == "div"   ? a / b
               : opcode_ == "rcp"   ? T{1} / a
               : opcode_ == "sqrt"  ? std::sqrt(a)
               : opcode_ == "rsqrt" ? T{1} / std::sqrt(a)
               : opcode_ == "sin"   ? std::sin(a)
               : opcode_ == "cos"   ? std::cos(a)
               : opcode_ == "lg2"   ? std::log2(a)
               : opcode_ == "ex2"   ? std::exp2(a)
               : opcode_ == "tanh"  ? std::tanh(a)
               : sizeof(T) == 8     ? std::fma(a, b, c)
                                    : a * b + c;
    }

    const rows::Match& match_;
    std::string_view opcode_;
    ptx::Type type_{};
    FloatFormat format_;
    int mode_ = FE_TONEAREST;
    bool flushes_ = false;
};

/// Returns whether two results are equal, or as close as an approximation must be.
inline bool is_close(std::uint64_t got, std::uint64_t wanted, const rows::Match& match,
                     double error) {
    const FloatFormat format = format_of(match.type().part);
    for (unsigned at = 0; at < 64; at += format.bits) {
        const auto bits_of = [&](std::uint64_t value) {
            return low_bits(static_cast<Wide>(value >> at), format.bits);
        };
        if (bits_of(got) == bits_of(wanted) ||
            (format.is_nan(bits_of(got)) && format.is_nan(bits_of(wanted)))) {
            continue;
        }
        const long double a = format.decode(bits_of(got));
        const long double b = format.decode(bits_of(wanted));
        // Sines, cosines and logarithms are as exact as their largest values, others as their own.
        const bool is_absolute =
            match.word(0) == "sin" || match.word(0) == "cos" || match.word(0) == "lg2";
        const long double scale = is_absolute ? std::fmax(std::fabs(b), 1) : std::fabs(b);
        const long double least = match.has("ftz") ? 0x1p-125L : 0x1p-148L;
        const bool is_tiny = format.bits == 32 && std::fabs(a) <= least && std::fabs(b) <= least;
        if (!(std::fabs(a - b) <= scale * error) && !is_tiny) {
            return false;
        }
    }
    return true;
}

} // namespace cuprum::emulator::test
