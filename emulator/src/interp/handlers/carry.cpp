// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Extended-precision integer arithmetic, with a carry per lane in a predicate.

#include "interp/handlers/common.hpp"
#include "interp/handlers/select.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

__extension__ typedef unsigned __int128 Unsigned128;
__extension__ typedef __int128 Signed128;

template <typename U>
U high_product(U a, U b, bool is_signed);

template <>
std::uint32_t high_product(std::uint32_t a, std::uint32_t b, bool is_signed) {
    const std::uint64_t product =
        is_signed ? static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(a)} *
                                               static_cast<std::int32_t>(b))
                  : std::uint64_t{a} * b;
    return static_cast<std::uint32_t>(product >> 32);
}

template <>
std::uint64_t high_product(std::uint64_t a, std::uint64_t b, bool is_signed) {
    if (is_signed) {
        return static_cast<std::uint64_t>(
            (static_cast<Signed128>(static_cast<std::int64_t>(a)) * static_cast<std::int64_t>(b)) >>
            64);
    }
    return static_cast<std::uint64_t>((static_cast<Unsigned128>(a) * b) >> 64);
}

template <CarryOp OP, typename U, bool SIGNED, bool READS, bool WRITES>
const Instruction* extended(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    constexpr bool is_mad = OP == CarryOp::MadLo || OP == CarryOp::MadHi;
    const auto* const a = lanes_of<U>(warp, at->src[0]);
    const auto* const b = lanes_of<U>(warp, at->src[1]);
    const auto* const c = is_mad ? lanes_of<U>(warp, at->src[2]) : a;
    const std::uint32_t carry_in = READS ? predicate_of(warp, at->src[is_mad ? 3 : 2]) : 0;
    alignas(VECTOR_BYTES) U result[WARP_SIZE];
    std::uint32_t carry_out = 0;
    for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
        const U carry = carry_in >> lane & 1;
        U x = a[lane];
        U y = b[lane];
        bool carries = false;
        if constexpr (OP == CarryOp::Sub) {
            // A GPU adds the complement, so the flag is 0 if the subtraction borrows. This matters
            // where both kinds of instructions read the same flag, as in NVRTC's division of
            // 128-bit integers.
            const U borrow = READS ? carry ^ 1 : 0;
            const U difference = x - y;
            result[lane] = difference - borrow;
            carries = !(x < y || difference < borrow);
        } else {
            if constexpr (is_mad) {
                x = OP == CarryOp::MadHi ? high_product<U>(x, y, SIGNED) : x * y;
                y = c[lane];
            }
            const U sum = x + y;
            result[lane] = sum + carry;
            carries = sum < x || result[lane] < sum;
        }
        carry_out |= static_cast<std::uint32_t>(carries) << lane;
    }
    store_lanes<U>(locate(warp, at->dst[0]), result, mask);
    if constexpr (WRITES) {
        write_predicate(warp, at->dst[1], carry_out, mask);
    }
    return at + 1;
}

template <CarryOp OP, typename U, bool SIGNED>
Handler select_flags(const CarryForm& form) {
    if (form.reads_carry) {
        return form.writes_carry ? extended<OP, U, SIGNED, true, true>
                                 : extended<OP, U, SIGNED, true, false>;
    }
    return form.writes_carry ? extended<OP, U, SIGNED, false, true> : nullptr;
}

template <CarryOp OP>
Handler select_type(const CarryForm& form) {
    switch (form.type) {
    case ptx::Type::U32:
        return select_flags<OP, std::uint32_t, false>(form);
    case ptx::Type::S32:
        return select_flags<OP, std::uint32_t, true>(form);
    case ptx::Type::U64:
        return select_flags<OP, std::uint64_t, false>(form);
    case ptx::Type::S64:
        return select_flags<OP, std::uint64_t, true>(form);
    default:
        return nullptr;
    }
}

} // namespace

Handler select_carry(const CarryForm& form) {
    switch (form.op) {
    case CarryOp::Add:
        return select_type<CarryOp::Add>(form);
    case CarryOp::Sub:
        return select_type<CarryOp::Sub>(form);
    case CarryOp::MadLo:
        return select_type<CarryOp::MadLo>(form);
    case CarryOp::MadHi:
        return select_type<CarryOp::MadHi>(form);
    }
    return nullptr;
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
