// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The rows of operations between the lanes of a warp.

#pragma once

#include "rows/row.hpp"

namespace cuprum::emulator::rows {

template <WarpOp... OPS>
constexpr Meaning<WarpForm> warp(const Match& match) {
    constexpr WarpOp ops[] = {OPS...};
    return {.form = {.op = ops[match.index('O')],
                     .width = match['W'] == "b64" ? bytecode::Width::B64 : bytecode::Width::B32},
            .tag = static_cast<std::uint16_t>(match.index('a') | match.index('n') << 1)};
}

constexpr std::string_view NO_SYNC =
    "without .sync is not supported: compute capability 7.0 removed it";

constexpr Row<WarpForm> WARP_ROWS[] = {
    {"vote.sync.{O:all,any,uni}.pred", "=p p0w",
     warp<WarpOp::VoteAll, WarpOp::VoteAny, WarpOp::VoteUni>, Effect::Meets, 30},
    {"vote.sync.ballot.b32", "=w p0w", warp<WarpOp::VoteBallot>, Effect::Meets, 30},
    {"shfl.sync.{O:up,down,bfly,idx}.b32", "=V wwww",
     warp<WarpOp::ShuffleUp, WarpOp::ShuffleDown, WarpOp::ShuffleButterfly, WarpOp::ShuffleIndex>,
     Effect::Meets, 30},
    {"match.any.sync.{W:b32,b64}", "=w Ww", warp<WarpOp::MatchAny>, Effect::Meets, 70},
    {"match.all.sync.{W:b32,b64}", "=V Ww", warp<WarpOp::MatchAll>, Effect::Meets, 70},
    {"redux.sync.{O:add,min,max}.{T:u32}", "=T Tw",
     warp<WarpOp::ReduxAdd, WarpOp::ReduxMinUnsigned, WarpOp::ReduxMaxUnsigned>, Effect::Meets, 80},
    {"redux.sync.{O:add,min,max}.{T:s32}", "=T Tw",
     warp<WarpOp::ReduxAdd, WarpOp::ReduxMinSigned, WarpOp::ReduxMaxSigned>, Effect::Meets, 80},
    {"redux.sync.{O:and,or,xor}.{T:b32}", "=T Tw",
     warp<WarpOp::ReduxAnd, WarpOp::ReduxOr, WarpOp::ReduxXor>, Effect::Meets, 80},
    {"redux.sync.{O:min,max}{a:,.abs}{n:,.NaN}.{T:f32}", "=T Tw",
     warp<WarpOp::ReduxMinFloat, WarpOp::ReduxMaxFloat>, Effect::Meets, 100},
    {"elect.sync", "=E w", warp<WarpOp::Elect>, Effect::Meets, 90},
    refuse("vote.{all,any,uni}.pred", NO_SYNC),
    refuse("vote.ballot.b32", NO_SYNC),
    refuse("shfl.{up,down,bfly,idx}.b32", NO_SYNC),
};

constexpr Meaning<MoveForm> active_mask(const Match& /*match*/) {
    return {MoveForm{.op = MoveOp::ActiveMask}};
}

constexpr Row<MoveForm> ACTIVE_MASK_ROWS[] = {
    {"activemask.b32", "=w ", active_mask, Effect::Observes, 30},
};

} // namespace cuprum::emulator::rows
