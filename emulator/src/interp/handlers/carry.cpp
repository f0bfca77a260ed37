// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Extended-precision integer arithmetic, with a carry per lane in a predicate.

#include "interp/handlers/rows.hpp"
#include "interp/handlers/select.hpp"
#include "operations/integer.hpp"
#include "rows/integer.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

template <CarryForm FORM>
const Instruction* extended(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    using Op = operations::Carry<FORM>;
    using U = typename operations::LaneOf<FORM.type>::Unsigned;
    const auto* const a = lanes_of<U>(warp, at->src[0]);
    const auto* const b = lanes_of<U>(warp, at->src[1]);
    const auto* const c = Op::IS_MAD ? lanes_of<U>(warp, at->src[2]) : a;
    const std::uint32_t carry_in =
        FORM.reads_carry ? predicate_of(warp, at->src[Op::IS_MAD ? 3 : 2]) : 0;
    alignas(VECTOR_BYTES) U result[WARP_SIZE];
    std::uint32_t carry_out = 0;
    for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
        bool carries = false;
        result[lane] =
            Op::apply(static_cast<U>(a[lane]), static_cast<U>(b[lane]), static_cast<U>(c[lane]),
                      static_cast<U>(carry_in >> lane & 1), carries);
        carry_out |= static_cast<std::uint32_t>(carries) << lane;
    }
    store_lanes<U>(locate(warp, at->dst[0]), result, mask);
    if constexpr (FORM.writes_carry) {
        write_predicate(warp, at->dst[1], carry_out, mask);
    }
    return at + 1;
}

struct Choose {
    template <CarryForm GIVEN>
    static constexpr Handler handler() {
        constexpr CarryForm form = [] {
            CarryForm result = GIVEN;
            if (result.op != CarryOp::MadHi) { // the low half does not depend on signs
                result.type = ptx::bits_of(result.type) == 64 ? ptx::Type::U64 : ptx::Type::U32;
            }
            return result;
        }();
        return extended<form>;
    }
};

} // namespace

Handler select_carry(const CarryForm& form) {
    return RowHandlers<rows::CARRY_ROWS, Choose>::find(form);
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
