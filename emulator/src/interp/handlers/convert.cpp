// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// cvt: the most frequent conversions. All others are in convert_any.cpp.

#include "interp/handlers/functions.hpp"
#include "interp/handlers/select.hpp"

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

template <typename To, typename From>
Handler resize() {
    return map_lanes<Resize<To, From>, typename To::Storage, typename From::Storage>;
}

template <typename From>
Handler select_resize(Format to) {
    switch (to) {
    case Format::U8:
        return resize<U8, From>();
    case Format::S8:
        return resize<S8, From>();
    case Format::U16:
        return resize<U16, From>();
    case Format::S16:
        return resize<S16, From>();
    case Format::U32:
    case Format::S32:
        return resize<U32, From>();
    case Format::U64:
    case Format::S64:
        return resize<U64, From>();
    default:
        return nullptr;
    }
}

Handler select_integers(const ConvertForm& form) {
    switch (form.from) {
    case Format::U8:
        return select_resize<U8>(form.to);
    case Format::S8:
        return select_resize<S8>(form.to);
    case Format::U16:
        return select_resize<U16>(form.to);
    case Format::S16:
        return select_resize<S16>(form.to);
    case Format::U32:
        return select_resize<U32>(form.to);
    case Format::S32:
        return select_resize<S32>(form.to);
    case Format::U64:
    case Format::S64:
        return select_resize<U64>(form.to);
    default:
        return nullptr;
    }
}

// ---- integers to floats ------------------------------------------------------------------------

template <typename To, typename From>
struct ToFloat {
    static To apply(typename From::Storage value) { return static_cast<To>(From::extend(value)); }
};

template <typename To>
Handler select_to_float(Format from) {
    switch (from) {
    case Format::U8:
        return map_lanes<ToFloat<To, U8>, To, std::uint32_t>;
    case Format::S8:
        return map_lanes<ToFloat<To, S8>, To, std::int32_t>;
    case Format::U16:
        return map_lanes<ToFloat<To, U16>, To, std::uint32_t>;
    case Format::S16:
        return map_lanes<ToFloat<To, S16>, To, std::int32_t>;
    case Format::U32:
        return map_lanes<ToFloat<To, U32>, To, std::uint32_t>;
    case Format::S32:
        return map_lanes<ToFloat<To, S32>, To, std::int32_t>;
    case Format::U64:
        return map_lanes<ToFloat<To, U64>, To, std::uint64_t>;
    case Format::S64:
        return map_lanes<ToFloat<To, S64>, To, std::int64_t>;
    default:
        return nullptr;
    }
}

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

template <typename To, typename From>
Handler select_integer_rounding(Rounding rounding) {
    switch (rounding) {
    case Rounding::Nearest:
        return float_to_integer<To, From, Rounding::Nearest>;
    case Rounding::Down:
        return float_to_integer<To, From, Rounding::Down>;
    case Rounding::Up:
        return float_to_integer<To, From, Rounding::Up>;
    case Rounding::Zero:
        return float_to_integer<To, From, Rounding::Zero>;
    }
    return nullptr;
}

template <typename From>
Handler select_to_integer(const ConvertForm& form) {
    switch (form.to) {
    case Format::U32:
        return select_integer_rounding<std::uint32_t, From>(form.rounding);
    case Format::S32:
        return select_integer_rounding<std::int32_t, From>(form.rounding);
    case Format::U64:
        return select_integer_rounding<std::uint64_t, From>(form.rounding);
    case Format::S64:
        return select_integer_rounding<std::int64_t, From>(form.rounding);
    default:
        return nullptr;
    }
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

template <typename T>
Handler select_round_float(Rounding rounding) {
    switch (rounding) {
    case Rounding::Nearest:
        return round_float<T, Rounding::Nearest>;
    case Rounding::Down:
        return round_float<T, Rounding::Down>;
    case Rounding::Up:
        return round_float<T, Rounding::Up>;
    case Rounding::Zero:
        return round_float<T, Rounding::Zero>;
    }
    return nullptr;
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

Handler select_floats(const ConvertForm& form) {
    const bool is_wide = form.from == Format::F64;
    if (form.from == form.to && (form.from == Format::F32 || is_wide)) {
        if (form.rounds_to_integer) {
            return is_wide ? select_round_float<double>(form.rounding)
                           : select_round_float<float>(form.rounding);
        }
        return is_wide ? resize_float<double, double> : resize_float<float, float>;
    }
    if (form.rounds_to_integer || form.rounding != Rounding::Nearest) {
        return nullptr;
    }
    if (form.from == Format::F32 && form.to == Format::F64) {
        return resize_float<double, float>;
    }
    if (form.from == Format::F64 && form.to == Format::F32) {
        return resize_float<float, double>;
    }
    if (form.is_saturating || form.flushes || form.is_relu || form.is_finite_saturating) {
        return nullptr;
    }
    using U = std::uint32_t;
    if (form.to == Format::F32) {
        return form.from == Format::F16    ? map_lanes<Widen<false>, float, U>
               : form.from == Format::BF16 ? map_lanes<Widen<true>, float, U>
                                           : nullptr;
    }
    if (form.from == Format::F32 && form.to == Format::F16) {
        return form.is_pair ? map_lanes<NarrowPair<false>, U, float, float>
                            : map_lanes<Narrow<false>, U, float>;
    }
    if (form.from == Format::F32 && form.to == Format::BF16) {
        return form.is_pair ? map_lanes<NarrowPair<true>, U, float, float>
                            : map_lanes<Narrow<true>, U, float>;
    }
    return nullptr;
}

bool is_integer(Format format) {
    return format <= Format::S64;
}

/// Returns whether registers are only as wide as the values need. Wider ones go to convert_any.
bool has_natural_widths(const ConvertForm& form) {
    const auto natural = [](Format format) {
        return format == Format::U64 || format == Format::S64 || format == Format::F64 ? Width::B64
                                                                                       : Width::B32;
    };
    return form.from_width == natural(form.from) && form.to_width == natural(form.to);
}

} // namespace

Handler select_convert(const ConvertForm& form) {
    if (form.random != RandomBits::None) {
        return select_random_conversion(form);
    }
    Handler handler = nullptr;
    if (has_natural_widths(form) && !form.rounds_away) {
        const bool is_plain = !form.is_saturating && !form.flushes && !form.is_relu;
        if (is_integer(form.from) && is_integer(form.to)) {
            handler = form.is_saturating ? nullptr : select_integers(form);
        } else if (is_integer(form.from)) {
            if (form.rounding == Rounding::Nearest && is_plain) {
                handler = form.to == Format::F32   ? select_to_float<float>(form.from)
                          : form.to == Format::F64 ? select_to_float<double>(form.from)
                                                   : nullptr;
            }
        } else if (is_integer(form.to)) {
            handler = form.from == Format::F32   ? select_to_integer<float>(form)
                      : form.from == Format::F64 ? select_to_integer<double>(form)
                                                 : nullptr;
        } else {
            handler = select_floats(form);
        }
    }
    return handler != nullptr ? handler : select_any_conversion(form);
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
