// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// cvt: the most frequent conversions. All others are in convert_any.cpp.

#include "rows/convert.hpp"

#include "interp/handlers/functions.hpp"
#include "interp/handlers/rows.hpp"
#include "interp/handlers/select.hpp"
#include "interp/handlers/small_formats.hpp"

#include <type_traits>

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

constexpr std::uint16_t FLUSHES = 1;
constexpr std::uint16_t SATURATES = 2;

// ---- integers to integers ----------------------------------------------------------------------

template <typename To, typename From>
struct Resize {
    using D = typename To::Storage;
    using S = typename From::Storage;

    static D apply(S value) { return To::extend(static_cast<D>(From::extend(value))); }
};

// ---- integers to floats ------------------------------------------------------------------------

template <typename To, typename From>
struct ToFloat {
    static To apply(typename From::Storage value) { return static_cast<To>(From::extend(value)); }
};

// ---- floats to integers ------------------------------------------------------------------------

template <Rounding ROUNDING>
[[gnu::always_inline]] inline double round_to_integer(double value) {
    switch (ROUNDING) {
    case Rounding::Nearest:
        return __builtin_rint(value);
    case Rounding::Down:
        return __builtin_floor(value);
    case Rounding::Up:
        return __builtin_ceil(value);
    default:
        return __builtin_trunc(value);
    }
}

template <Rounding ROUNDING>
[[gnu::always_inline]] inline float round_to_integer(float value) {
    switch (ROUNDING) {
    case Rounding::Nearest:
        return __builtin_rintf(value);
    case Rounding::Down:
        return __builtin_floorf(value);
    case Rounding::Up:
        return __builtin_ceilf(value);
    default:
        return __builtin_truncf(value);
    }
}

/// Rounds and clamps. A NaN gives 0, or only the top bit if either side has 64 bits.
template <typename To, typename From, Rounding ROUNDING>
[[gnu::always_inline]] inline To to_integer(From value) {
    constexpr bool is_signed = To(-1) < To(0);
    constexpr unsigned bits = sizeof(To) * 8;
    const double rounded = round_to_integer<ROUNDING>(static_cast<double>(value));
    constexpr double limit =
        is_signed ? (bits == 32 ? 0x1p31 : 0x1p63) : (bits == 32 ? 0x1p32 : 0x1p64);
    constexpr double low = is_signed ? -limit : 0.0;
    constexpr To least = is_signed ? static_cast<To>(UnsignedLike<To>{1} << (bits - 1)) : To{0};
    constexpr To most = static_cast<To>(~static_cast<UnsignedLike<To>>(least));
    constexpr bool is_wide = sizeof(To) == 8 || sizeof(From) == 8;
    constexpr To nan = is_wide ? static_cast<To>(UnsignedLike<To>{1} << (bits - 1)) : To{0};
    // Convert only inside the range; outside it the result is undefined in C++.
    const bool fits = rounded >= low && rounded < limit;
    To result;
    if constexpr (sizeof(To) == 4) {
        result = static_cast<To>(static_cast<std::int64_t>(fits ? rounded : 0.0));
    } else {
        result = static_cast<To>(fits ? rounded : 0.0);
    }
    result = rounded >= limit ? most : result;
    result = rounded < low ? least : result;
    return value != value ? nan : result;
}

template <typename To, typename From, Rounding ROUNDING>
const Instruction* float_to_integer(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    alignas(VECTOR_BYTES) To result[WARP_SIZE];
    const auto* const from = lanes_of<From>(warp, at->src[0]);
    if ((at->tag & FLUSHES) != 0) {
        for (unsigned i = 0; i < WARP_SIZE; ++i) {
            result[i] = to_integer<To, From, ROUNDING>(flush(static_cast<From>(from[i])));
        }
    } else {
        for (unsigned i = 0; i < WARP_SIZE; ++i) {
            result[i] = to_integer<To, From, ROUNDING>(from[i]);
        }
    }
    store_lanes<To>(locate(warp, at->dst[0]), result, mask);
    return at + 1;
}

// ---- floats to floats --------------------------------------------------------------------------

template <typename To, typename From, typename Body>
[[gnu::always_inline]] inline const Instruction*
convert_floats(WarpContext& warp, const Instruction* at, std::uint32_t mask, Body body) {
    alignas(VECTOR_BYTES) To result[WARP_SIZE];
    const auto* const from = lanes_of<From>(warp, at->src[0]);
    const bool flushes = (at->tag & FLUSHES) != 0;
    for (unsigned i = 0; i < WARP_SIZE; ++i) {
        From value = from[i];
        value = flushes ? flush(value) : value;
        result[i] = body(value);
    }
    if ((at->tag & SATURATES) != 0) {
        for (unsigned i = 0; i < WARP_SIZE; ++i) {
            result[i] = saturate(result[i]);
        }
    }
    if (flushes) {
        for (unsigned i = 0; i < WARP_SIZE; ++i) {
            result[i] = flush(result[i]);
        }
    }
    store_lanes<To>(locate(warp, at->dst[0]), result, mask);
    return at + 1;
}

template <typename To, typename From>
const Instruction* resize_float(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    if constexpr (sizeof(To) == sizeof(From)) {
        if ((at->tag & FLUSHES) != 0) {
            return convert_floats<To, From>(warp, at, mask,
                                            [](From value) { return canonical(value); });
        }
        return convert_floats<To, From>(warp, at, mask, [](From value) { return value; });
    } else if constexpr (sizeof(To) < sizeof(From)) {
        // A value that rounds to 24 bits below the smallest normal number is flushed, even if
        // rounding to the coarser grid of subnormal numbers would reach that number.
        const double least = (at->tag & FLUSHES) != 0 ? 0x1p-126 - 0x1p-151 : 0.0;
        return convert_floats<To, From>(warp, at, mask, [least](From value) {
            const bool is_tiny = value < least && value > -least;
            return static_cast<To>(is_tiny ? value * 0.0 : value);
        });
    } else if ((at->tag & FLUSHES) != 0) {
        return convert_floats<To, From>(
            warp, at, mask, [](From value) { return static_cast<To>(canonical(value)); });
    } else {
        return convert_floats<To, From>(warp, at, mask,
                                        [](From value) { return static_cast<To>(value); });
    }
}

template <typename T, Rounding ROUNDING>
const Instruction* round_float(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    return convert_floats<T, T>(
        warp, at, mask, [](T value) { return canonical(round_to_integer<ROUNDING>(value)); });
}

template <bool BFLOAT>
struct Widen {
    static float apply(std::uint32_t bits) {
        const float value = HalfFormat<BFLOAT>::widen(bits & 0xffffu);
        return BFLOAT ? value : canonical(value);
    }
};

template <bool BFLOAT>
struct Narrow {
    static std::uint32_t apply(float value) { return HalfFormat<BFLOAT>::narrow(value); }
};

/// Packs two values; the first source goes to the upper half.
template <bool BFLOAT>
struct NarrowPair {
    static std::uint32_t apply(float high, float low) {
        return HalfFormat<BFLOAT>::narrow(high) << 16 | HalfFormat<BFLOAT>::narrow(low);
    }
};

/// An integer format as stored in a lane.
template <Format FORMAT>
using IntegerOf =
    Integer<typename IntegerOfSize<rows::FORMATS[static_cast<unsigned>(FORMAT)].bits == 64 ? 8 : 4,
                                   (static_cast<unsigned>(FORMAT) & 1) != 0>::Type,
            rows::FORMATS[static_cast<unsigned>(FORMAT)].bits>;

/// Returns the unsigned format for one that fills its lane, if the sign changes nothing.
constexpr Format without_sign(Format format) {
    return format == Format::S32 ? Format::U32 : format == Format::S64 ? Format::U64 : format;
}

/// Returns the handler of a form for registers that are as wide as their values need; nullptr if
/// it has none of its own.
template <ConvertForm FORM>
constexpr Handler own_handler() {
    constexpr Format from = FORM.from;
    constexpr Format to = FORM.to;
    constexpr bool is_nearest = FORM.rounding == Rounding::Nearest;
    constexpr bool is_plain = is_nearest && !FORM.is_saturating && !FORM.flushes && !FORM.is_relu &&
                              !FORM.is_finite_saturating && !FORM.rounds_to_integer;
    constexpr bool is_from_full = from == Format::F32 || from == Format::F64;
    constexpr bool is_to_full = to == Format::F32 || to == Format::F64;
    using FromFloat = std::conditional_t<from == Format::F64, double, float>;
    using ToFloat32Or64 = std::conditional_t<to == Format::F64, double, float>;
    using Word = std::uint32_t;
    if constexpr (FORM.random != RandomBits::None || FORM.rounds_away) {
        return nullptr;
    } else if constexpr (is_integer(from) && is_integer(to)) {
        if constexpr (!FORM.is_saturating) {
            using To = IntegerOf<without_sign(to)>;
            using From = IntegerOf<from == Format::S64 ? Format::U64 : from>;
            return map_lanes<Resize<To, From>, typename To::Storage, typename From::Storage>;
        }
    } else if constexpr (is_integer(from)) {
        if constexpr (is_plain && is_to_full) {
            using From = IntegerOf<from>;
            return map_lanes<ToFloat<ToFloat32Or64, From>, ToFloat32Or64, typename From::Storage>;
        }
    } else if constexpr (is_integer(to)) {
        if constexpr (is_from_full && IntegerOf<to>::bits >= 32) {
            return float_to_integer<typename IntegerOf<to>::Storage, FromFloat, FORM.rounding>;
        }
    } else if constexpr (from == to && is_from_full) {
        if constexpr (FORM.rounds_to_integer) {
            return round_float<FromFloat, FORM.rounding>;
        } else {
            return resize_float<FromFloat, FromFloat>;
        }
    } else if constexpr (is_from_full && is_to_full) {
        if constexpr (is_nearest) {
            return resize_float<ToFloat32Or64, FromFloat>;
        }
    } else if constexpr (is_plain && to == Format::F32 &&
                         (from == Format::F16 || from == Format::BF16)) {
        return map_lanes<Widen<from == Format::BF16>, float, Word>;
    } else if constexpr (is_plain && from == Format::F32 &&
                         (to == Format::F16 || to == Format::BF16)) {
        if constexpr (FORM.is_pair) {
            return map_lanes<NarrowPair<to == Format::BF16>, Word, float, float>;
        } else {
            return map_lanes<Narrow<to == Format::BF16>, Word, float>;
        }
    }
    return nullptr;
}

struct Choose {
    template <ConvertForm FORM>
    static constexpr Handler handler() {
        return own_handler<FORM>();
    }
};

} // namespace

Handler select_convert(const ConvertForm& form) {
    if (form.random != RandomBits::None) { // also of four values
        return convert_random;
    }
    // Registers that are wider than their values are not among the forms of the rows.
    if (const Handler handler = RowHandlers<rows::CONVERT_ROWS, Choose>::find(form)) {
        return handler;
    }
    return is_integer(form.from) && form.to == Format::F64 ? convert_integer_to_double
                                                           : convert_any;
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
