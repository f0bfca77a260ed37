// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Bitwise operations, shifts, bit fields (operations/bits.hpp) and predicate logic.

#include "operations/bits.hpp"

#include "interp/handlers/lop3.hpp"
#include "interp/handlers/rows.hpp"
#include "interp/handlers/select.hpp"
#include "rows/integer.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

/// Applies an operation to all lanes as map_lanes does, with the four sources of bfi.
template <typename T, typename Op>
const Instruction* insert_bits(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    alignas(VECTOR_BYTES) T result[WARP_SIZE];
    const auto* const a = lanes_of<T>(warp, at->src[0]);
    const auto* const b = lanes_of<T>(warp, at->src[1]);
    const auto* const position = lanes_of<std::uint32_t>(warp, at->src[2]);
    const auto* const length = lanes_of<std::uint32_t>(warp, at->src[3]);
    for (unsigned i = 0; i < WARP_SIZE; ++i) {
        result[i] = Op::apply(static_cast<T>(a[i]), static_cast<T>(b[i]),
                              static_cast<std::uint32_t>(position[i]),
                              static_cast<std::uint32_t>(length[i]));
    }
    store_lanes<T>(locate(warp, at->dst[0]), result, mask);
    return at + 1;
}

template <BitsOp OP>
const Instruction* combine_predicates(WarpContext& warp, const Instruction* at,
                                      std::uint32_t mask) {
    const std::uint32_t a =
        predicate_of(warp, at->src[0]) ^ (0u - static_cast<std::uint32_t>(at->tag & 1));
    if constexpr (OP == BitsOp::PredicateNot) {
        write_predicate(warp, at->dst[0], ~a, mask);
    } else {
        const std::uint32_t b =
            predicate_of(warp, at->src[1]) ^ (0u - static_cast<std::uint32_t>(at->tag >> 1 & 1));
        const std::uint32_t result = OP == BitsOp::PredicateAnd  ? a & b
                                     : OP == BitsOp::PredicateOr ? a | b
                                                                 : a ^ b;
        write_predicate(warp, at->dst[0], result, mask);
    }
    return at + 1;
}

/// Returns whether whole vectors are computed at once.
constexpr bool uses_vectors(const BitsForm& form) {
    switch (form.op) {
    case BitsOp::And:
    case BitsOp::Or:
    case BitsOp::Xor:
    case BitsOp::Not:
    case BitsOp::Cnot:
        return true;
    case BitsOp::Shl:
    case BitsOp::ShrUnsigned:
    case BitsOp::ShrSigned:
        return form.bits != 64;
    default:
        return false;
    }
}

constexpr bool is_predicate(BitsOp op) {
    return op == BitsOp::PredicateAnd || op == BitsOp::PredicateOr || op == BitsOp::PredicateXor ||
           op == BitsOp::PredicateNot;
}

/// Forms of 16 bits have the handlers of 32 bits if what is above the value does not matter.
constexpr BitsForm in_whole_lanes(BitsForm form) {
    const bool uses_own_bits =
        form.op == BitsOp::Cnot || form.op == BitsOp::ShrUnsigned || form.op == BitsOp::ShrSigned;
    if (form.bits == 16 && !uses_own_bits) {
        form.bits = 32;
    }
    return form;
}

struct Choose {
    template <unsigned BITS>
    using Lane = typename operations::IntegerOfSize<BITS / 8, false>::Type;

    template <BitsForm GIVEN>
    static constexpr Handler handler() {
        constexpr BitsForm form = in_whole_lanes(GIVEN);
        if constexpr (form.op == BitsOp::Lop3) {
            return map_vectors<Lop3<form.lut>, std::uint32_t, 3>;
        } else if constexpr (is_predicate(form.op)) {
            return combine_predicates<form.op>;
        } else {
            return of_lanes<form>();
        }
    }

    template <BitsForm FORM>
    static constexpr Handler of_lanes() {
        using Op = operations::Bits<FORM>;
        constexpr operations::BitsShape shape = operations::shape_of(FORM);
        using D = Lane<shape.result>;
        using A = Lane<shape.sources[0]>;
        if constexpr (uses_vectors(FORM)) {
            return map_vectors < OnVectors<Op>, D, shape.sources[1] == 0 ? 1 : 2 > ;
        } else if constexpr (shape.sources[1] == 0) {
            return map_lanes<Op, D, A>;
        } else if constexpr (shape.sources[2] == 0) {
            return map_lanes<Op, D, A, Lane<shape.sources[1]>>;
        } else if constexpr (shape.sources[3] == 0) {
            return map_lanes<Op, D, A, Lane<shape.sources[1]>, Lane<shape.sources[2]>>;
        } else {
            return insert_bits<D, Op>;
        }
    }
};

} // namespace

Handler select_bits(const BitsForm& form) {
    return RowHandlers<rows::BITS_ROWS, Choose>::find(form);
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
