// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Integer arithmetic (operations/integer.hpp).

#include "operations/integer.hpp"

#include "interp/handlers/rows.hpp"
#include "interp/handlers/select.hpp"
#include "rows/integer.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

/// mul.wide of 32 bits, a vector at a time.
template <typename T, typename D>
const Instruction* multiply_wide(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    typedef T Half __attribute__((vector_size(VECTOR_BYTES / 2), aligned(4), may_alias));
    const auto* const a = reinterpret_cast<const Half*>(locate(warp, at->src[0]));
    const auto* const b = reinterpret_cast<const Half*>(locate(warp, at->src[1]));
    [[maybe_unused]] constexpr bool is_signed = T(-1) < T(0);
    Vector<D> result[CHUNKS<D>]; // all of it before the first store: a slot may overlap another
    for (unsigned chunk = 0; chunk < CHUNKS<D>; ++chunk) {
        // The products read the low half of each 64 bits, so how sources are extended is free.
#if defined(__AVX512F__)
        constexpr __mmask8 all = 0xff;
        const __m512i p = _mm512_maskz_cvtepu32_epi64(all, reinterpret_cast<__m256i>(a[chunk]));
        const __m512i q = _mm512_maskz_cvtepu32_epi64(all, reinterpret_cast<__m256i>(b[chunk]));
        result[chunk] = reinterpret_cast<Vector<D>>(is_signed ? _mm512_maskz_mul_epi32(all, p, q)
                                                              : _mm512_maskz_mul_epu32(all, p, q));
#elif defined(__AVX2__)
        const __m256i p = _mm256_cvtepu32_epi64(reinterpret_cast<__m128i>(a[chunk]));
        const __m256i q = _mm256_cvtepu32_epi64(reinterpret_cast<__m128i>(b[chunk]));
        result[chunk] = reinterpret_cast<Vector<D>>(is_signed ? _mm256_mul_epi32(p, q)
                                                              : _mm256_mul_epu32(p, q));
#else
        result[chunk] = __builtin_convertvector(a[chunk], Vector<D>) *
                        __builtin_convertvector(b[chunk], Vector<D>);
#endif
    }
    store_lanes<D>(locate(warp, at->dst[0]), reinterpret_cast<const D*>(result), mask);
    return at + 1;
}

/// Returns whether whole vectors are computed at once: sources and result have the same width.
constexpr bool uses_vectors(IntegerForm form) {
    if (form.is_saturating) {
        return false;
    }
    switch (form.op) {
    case IntegerOp::Add:
    case IntegerOp::Sub:
    case IntegerOp::MulLo:
    case IntegerOp::MadLo:
    case IntegerOp::Neg:
    case IntegerOp::Min:
    case IntegerOp::Max:
    case IntegerOp::Abs:
    case IntegerOp::CarrylessMadLo:
    case IntegerOp::CarrylessMadHi:
        return true;
    case IntegerOp::MulHi:
    case IntegerOp::MulWide:
    case IntegerOp::MadHi:
    case IntegerOp::MadWide:
        return ptx::bits_of(form.type) == 16;
    default:
        return false;
    }
}

struct Choose {
    template <IntegerForm GIVEN>
    static constexpr Handler handler() {
        constexpr IntegerForm form = operations::without_sign(GIVEN);
        using Lane = operations::LaneOf<form.type>;
        using T = typename Lane::T;
        using Op = operations::PlainInteger<form>;
        constexpr unsigned count = operations::source_count(form.op);
        constexpr bool is_wide = form.op == IntegerOp::MulWide || form.op == IntegerOp::MadWide;
        if constexpr (form.is_packed) {
            return packed<form, count>();
        } else if constexpr (uses_vectors(form)) {
            return map_vectors<OnVectors<Op>, T, count>;
        } else if constexpr (form.op == IntegerOp::MulWide) {
            return multiply_wide<T, typename Lane::Wide>;
        } else if constexpr (is_wide) {
            return map_lanes<Op, typename Lane::Wide, T, T, typename Lane::Wide>;
        } else if constexpr (count == 3) {
            return map_lanes<Op, T, T, T, T>;
        } else {
            return map_lanes<Op, T, T, T>;
        }
    }

    template <IntegerForm FORM, unsigned COUNT>
    static constexpr Handler packed() {
        using U = std::uint32_t;
        if constexpr (COUNT == 1) {
            return map_lanes<operations::PackedInteger<FORM>, U, U>;
        } else {
            return map_lanes<operations::PackedInteger<FORM>, U, U, U>;
        }
    }
};

const Instruction* dot4(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    using U = std::uint32_t;
    switch (at->tag & 3) {
    case 0:
        return map_lanes<operations::Dot4<false, false>, U, U, U, U>(warp, at, mask);
    case 1:
        return map_lanes<operations::Dot4<true, false>, U, U, U, U>(warp, at, mask);
    case 2:
        return map_lanes<operations::Dot4<false, true>, U, U, U, U>(warp, at, mask);
    default:
        return map_lanes<operations::Dot4<true, true>, U, U, U, U>(warp, at, mask);
    }
}

template <bool HIGH>
const Instruction* dot2_half(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    using U = std::uint32_t;
    switch (at->tag & 3) {
    case 0:
        return map_lanes<operations::Dot2<false, false, HIGH>, U, U, U, U>(warp, at, mask);
    case 1:
        return map_lanes<operations::Dot2<true, false, HIGH>, U, U, U, U>(warp, at, mask);
    case 2:
        return map_lanes<operations::Dot2<false, true, HIGH>, U, U, U, U>(warp, at, mask);
    default:
        return map_lanes<operations::Dot2<true, true, HIGH>, U, U, U, U>(warp, at, mask);
    }
}

const Instruction* dot2(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    return (at->tag & 4) != 0 ? dot2_half<true>(warp, at, mask) : dot2_half<false>(warp, at, mask);
}

} // namespace

Handler select_integer(const IntegerForm& form) {
    return RowHandlers<rows::INTEGER_ROWS, Choose>::find(form);
}

Handler select_dot(const DotForm& form) {
    return form.is_four_way ? dot4 : dot2;
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
