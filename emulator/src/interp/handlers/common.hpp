// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The foundation of all handlers: vectors of one hardware register, masked stores, and drivers that
// apply an operation to the 32 lanes of its operands.
//
// This header is compiled once per instruction-set level. Everything in it is in that level's
// namespace. Nothing here calls inline functions of the standard library or of other headers,
// because the linker would keep one copy for all levels, possibly one that this machine cannot run.

#pragma once

#include "bytecode/forms.hpp"
#include "bytecode/instruction.hpp"
#include "interp/warp.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <cstddef>
#include <cstdint>

#ifndef CUPRUM_ISA_NAMESPACE
#define CUPRUM_ISA_NAMESPACE isa_generic
#endif

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

using bytecode::FULL_MASK;
using bytecode::Handler;
using bytecode::Instruction;
using bytecode::Operand;
using bytecode::WARP_SIZE;
using bytecode::Width;

#if defined(__AVX512F__)
constexpr unsigned VECTOR_BYTES = 64;
#elif defined(__AVX2__)
constexpr unsigned VECTOR_BYTES = 32;
#else
constexpr unsigned VECTOR_BYTES = 16;
#endif

template <typename T>
struct VectorOf {
    typedef T Value __attribute__((vector_size(VECTOR_BYTES)));
    typedef T Memory __attribute__((vector_size(VECTOR_BYTES), aligned(4), may_alias));
};

/// A lane's value in memory that other types may alias: slots are reused for other widths.
template <typename T>
struct Aliased {
    typedef T Value __attribute__((may_alias));
};

/// One hardware vector of T.
template <typename T>
using Vector = typename VectorOf<T>::Value;

template <typename T>
constexpr unsigned LANES = VECTOR_BYTES / sizeof(T);
template <typename T>
constexpr unsigned CHUNKS = WARP_SIZE / LANES<T>;

template <unsigned BYTES>
struct SignedOf;

template <>
struct SignedOf<4> {
    using Type = std::int32_t;
    using Unsigned = std::uint32_t;
};

template <>
struct SignedOf<8> {
    using Type = std::int64_t;
    using Unsigned = std::uint64_t;
};

template <typename T>
using SignedLike = typename SignedOf<sizeof(T)>::Type;
template <typename T>
using UnsignedLike = typename SignedOf<sizeof(T)>::Unsigned;

/// Returns the address of an operand's bytes.
[[gnu::always_inline]] inline std::byte* locate(const WarpContext& warp, Operand operand) {
    return reinterpret_cast<std::byte* const*>(&warp.banks)[operand.bits >> Operand::OFFSET_BITS] +
           (operand.bits & Operand::OFFSET_MASK);
}

template <typename T>
[[gnu::always_inline]] inline typename Aliased<T>::Value* lanes_of(const WarpContext& warp,
                                                                   Operand operand) {
    return reinterpret_cast<typename Aliased<T>::Value*>(locate(warp, operand));
}

[[gnu::always_inline]] inline std::uint32_t predicate_of(const WarpContext& warp, Operand operand) {
    return *lanes_of<std::uint32_t>(warp, operand);
}

/// Returns destination or source number `index` of the kernel's list of further operands.
[[gnu::always_inline]] inline Operand further_operand(const WarpContext& warp,
                                                      const Instruction* at, unsigned index) {
    // This reads the vector's data pointer without calling its members.
    const auto& list = warp.block->kernel->operands;
    const Operand* const data = *reinterpret_cast<const Operand* const*>(&list);
    return data[at->extra + index];
}

/// Writes the lanes of `mask` of a predicate.
[[gnu::always_inline]] inline void write_predicate(const WarpContext& warp, Operand operand,
                                                   std::uint32_t value, std::uint32_t mask) {
    auto* const slot = lanes_of<std::uint32_t>(warp, operand);
    *slot = (*slot & ~mask) | (value & mask);
}

template <typename T>
[[gnu::always_inline]] inline Vector<T> load(const std::byte* from, unsigned chunk) {
    return reinterpret_cast<const typename VectorOf<T>::Memory*>(from)[chunk];
}

template <typename T>
[[gnu::always_inline]] inline void store(std::byte* to, unsigned chunk, Vector<T> value) {
    reinterpret_cast<typename VectorOf<T>::Memory*>(to)[chunk] = value;
}

/// Returns a vector with the same bits in all lanes.
///
/// NOTE: not a sum of floating-point numbers. It would change -0 to 0, and take two more
/// operations.
template <typename T>
[[gnu::always_inline]] inline Vector<T> broadcast(T value) {
    return reinterpret_cast<Vector<T>>(Vector<UnsignedLike<T>>{} +
                                       __builtin_bit_cast(UnsignedLike<T>, value));
}

/// Returns {0, 1, 2, ...}.
template <typename T>
[[gnu::always_inline]] inline Vector<T> iota() {
    Vector<T> result{};
    for (unsigned i = 0; i < LANES<T>; ++i) {
        result[i] = static_cast<T>(i);
    }
    return result;
}

/// Expands the bits of `mask` that belong to a chunk to all-ones lanes.
template <typename T>
[[gnu::always_inline]] inline Vector<SignedLike<T>> expand(std::uint32_t mask, unsigned chunk) {
    using U = UnsignedLike<T>;
    const Vector<U> bit = broadcast<U>(1) << iota<U>();
    const Vector<U> bits = broadcast<U>(static_cast<U>(mask >> (chunk * LANES<T>)));
    return (bits & bit) != 0;
}

/// Stores the lanes of a chunk of a register that are in `mask` and leaves the others unchanged.
///
/// NOTE: do not use the masked store of AVX-512 here. A later load of the same place waits until
/// that store has left the core: a chain of such instructions took 2.6 times as long on an EPYC.
/// This function writes the other lanes too, so it is for registers only.
template <typename T>
[[gnu::always_inline]] inline void store_masked(std::byte* to, unsigned chunk, Vector<T> value,
                                                std::uint32_t mask) {
    const Vector<T> old = load<T>(to, chunk);
#if defined(__AVX512F__)
    const std::uint32_t bits = mask >> (chunk * LANES<T>);
    if constexpr (sizeof(T) == 4) {
        store<T>(to, chunk,
                 reinterpret_cast<Vector<T>>(_mm512_mask_blend_epi32(
                     static_cast<__mmask16>(bits), reinterpret_cast<__m512i>(old),
                     reinterpret_cast<__m512i>(value))));
    } else {
        store<T>(to, chunk,
                 reinterpret_cast<Vector<T>>(_mm512_mask_blend_epi64(
                     static_cast<__mmask8>(bits), reinterpret_cast<__m512i>(old),
                     reinterpret_cast<__m512i>(value))));
    }
#else
    store<T>(to, chunk, expand<T>(mask, chunk) ? value : old);
#endif
}

/// Stores 32 computed lanes, but only those in `mask`.
template <typename T>
[[gnu::always_inline]] inline void store_lanes(std::byte* to, const T* values, std::uint32_t mask) {
    const auto* const from = reinterpret_cast<const std::byte*>(values);
    if (mask == FULL_MASK) [[likely]] {
        for (unsigned chunk = 0; chunk < CHUNKS<T>; ++chunk) {
            store<T>(to, chunk, load<T>(from, chunk));
        }
    } else {
        for (unsigned chunk = 0; chunk < CHUNKS<T>; ++chunk) {
            store_masked<T>(to, chunk, load<T>(from, chunk), mask);
        }
    }
}

/// Packs the sign bits of a comparison's lanes into bits.
template <typename T>
[[gnu::always_inline]] inline std::uint32_t sign_bits(Vector<T> lanes) {
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 4) {
        return _mm512_movepi32_mask(reinterpret_cast<__m512i>(lanes));
    } else {
        return _mm512_movepi64_mask(reinterpret_cast<__m512i>(lanes));
    }
#elif defined(__AVX2__)
    if constexpr (sizeof(T) == 4) {
        return static_cast<std::uint32_t>(_mm256_movemask_ps(reinterpret_cast<__m256>(lanes)));
    } else {
        return static_cast<std::uint32_t>(_mm256_movemask_pd(reinterpret_cast<__m256d>(lanes)));
    }
#elif defined(__SSE2__)
    if constexpr (sizeof(T) == 4) {
        return static_cast<std::uint32_t>(_mm_movemask_ps(reinterpret_cast<__m128>(lanes)));
    } else {
        return static_cast<std::uint32_t>(_mm_movemask_pd(reinterpret_cast<__m128d>(lanes)));
    }
#else
    std::uint32_t bits = 0;
    for (unsigned i = 0; i < LANES<T>; ++i) {
        bits |= static_cast<std::uint32_t>(lanes[i] < 0) << i;
    }
    return bits;
#endif
}

/// Calls `body(lane)` for every lane in `mask`, lowest first.
template <typename Body>
[[gnu::always_inline]] inline void for_each_lane(std::uint32_t mask, Body body) {
    while (mask != 0) {
        const unsigned lane = static_cast<unsigned>(__builtin_ctz(mask));
        mask &= mask - 1;
        body(lane);
    }
}

// ---- drivers -----------------------------------------------------------------------------------
//
// An operation is a type with a static `apply`. The vector drivers call it with whole hardware
// vectors of operands that are as wide as the result. They work chunk by chunk, so the destination
// may be a source. The lane drivers call it for one lane at a time and may change the width. They
// read everything before they write, because a slot of another width can overlap.

/// dst[0] = Op(src[0 .. COUNT)), all of T.
template <typename Op, typename T, unsigned COUNT>
const Instruction* map_vectors(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    std::byte* const to = locate(warp, at->dst[0]);
    const std::byte* const a = locate(warp, at->src[0]);
    const std::byte* const b = COUNT > 1 ? locate(warp, at->src[1]) : a;
    const std::byte* const c = COUNT > 2 ? locate(warp, at->src[2]) : a;
    const auto compute = [&](unsigned chunk) __attribute__((always_inline)) -> Vector<T> {
        if constexpr (COUNT == 1) {
            return Op::template apply<T>(load<T>(a, chunk));
        } else if constexpr (COUNT == 2) {
            return Op::template apply<T>(load<T>(a, chunk), load<T>(b, chunk));
        } else {
            return Op::template apply<T>(load<T>(a, chunk), load<T>(b, chunk), load<T>(c, chunk));
        }
    };
    if (mask == FULL_MASK) [[likely]] {
        for (unsigned chunk = 0; chunk < CHUNKS<T>; ++chunk) {
            store<T>(to, chunk, compute(chunk));
        }
    } else {
        for (unsigned chunk = 0; chunk < CHUNKS<T>; ++chunk) {
            store_masked<T>(to, chunk, compute(chunk), mask);
        }
    }
    return at + 1;
}

/// dst[0] of D = Op(src[0] of A, src[1] of B, src[2] of C). Omit missing sources.
template <typename Op, typename D, typename A, typename B = void, typename C = void>
const Instruction* map_lanes(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    alignas(VECTOR_BYTES) D result[WARP_SIZE];
    const auto* const a = lanes_of<A>(warp, at->src[0]);
    if constexpr (__is_same(B, void)) {
        for (unsigned i = 0; i < WARP_SIZE; ++i) {
            result[i] = Op::apply(static_cast<A>(a[i]));
        }
    } else if constexpr (__is_same(C, void)) {
        const auto* const b = lanes_of<B>(warp, at->src[1]);
        for (unsigned i = 0; i < WARP_SIZE; ++i) {
            result[i] = Op::apply(static_cast<A>(a[i]), static_cast<B>(b[i]));
        }
    } else {
        const auto* const b = lanes_of<B>(warp, at->src[1]);
        const auto* const c = lanes_of<C>(warp, at->src[2]);
        for (unsigned i = 0; i < WARP_SIZE; ++i) {
            result[i] = Op::apply(static_cast<A>(a[i]), static_cast<B>(b[i]), static_cast<C>(c[i]));
        }
    }
    store_lanes<D>(locate(warp, at->dst[0]), result, mask);
    return at + 1;
}

// ---- narrow integers ---------------------------------------------------------------------------

/// An integer type as stored in a lane: 8- and 16-bit values have garbage above them.
template <typename STORAGE, unsigned BITS>
struct Integer {
    using Storage = STORAGE;
    static constexpr unsigned bits = BITS;
    static constexpr bool is_signed = STORAGE(-1) < STORAGE(0);

    /// Returns lanes with the value extended to the full lane.
    template <typename V>
    [[gnu::always_inline]] static V extend(V value) {
        constexpr int unused = static_cast<int>(sizeof(STORAGE) * 8 - BITS);
        if constexpr (unused == 0) {
            return value;
        } else {
            return (value << unused) >> unused;
        }
    }
};

using U8 = Integer<std::uint32_t, 8>;
using S8 = Integer<std::int32_t, 8>;
using U16 = Integer<std::uint32_t, 16>;
using S16 = Integer<std::int32_t, 16>;
using U32 = Integer<std::uint32_t, 32>;
using S32 = Integer<std::int32_t, 32>;
using U64 = Integer<std::uint64_t, 64>;
using S64 = Integer<std::int64_t, 64>;

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
