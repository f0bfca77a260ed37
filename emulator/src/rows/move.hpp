// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The rows of selections.

#pragma once

#include "rows/row.hpp"

namespace cuprum::emulator::rows {

template <MoveOp OP>
constexpr Meaning<MoveForm> selection(const Match& match) {
    const bool is_wide = bits_of(match.type().part) == 64;
    return {.form = {.op = OP, .width = is_wide ? bytecode::Width::B64 : bytecode::Width::B32},
            .tag = static_cast<std::uint16_t>(match.index('f'))};
}

constexpr Row<MoveForm> SELECT_ROWS[] = {
    {"selp.{T:SELECTED}", "=T TTp0", selection<MoveOp::Select>},
    {"slct.{T:SELECTED}.s32", "=T TTi", selection<MoveOp::SelectBySign>},
    {"slct{f:,.ftz}.{T:SELECTED}.f32", "=T TTf", selection<MoveOp::SelectByFloatSign>},
    refuse("slct.ftz.{SELECTED}.s32", "has .ftz, but does not compare an f32"),
};

} // namespace cuprum::emulator::rows
