// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Several instructions in a row that one handler runs, as the pass `fuse_loads` asks for them.
//
// The instructions stay where they are. The first gets the fused handler, which runs all of them
// when it can and else the first alone; so a jump to one in the middle, a fault or lanes that have
// diverged need no care.

#pragma once

#include "bytecode/instruction.hpp"
#include "ptx/tree.hpp"

#include <cstdint>

namespace cuprum::emulator {

/// How a fused multiply-add uses what the two loads before it have read.
enum class FusedRole : std::uint8_t {
    Product,    // first * second + src[2]
    AddsSecond, // first * src[1] + second
    AddsFirst,  // second * src[1] + first
};

/// Two loads of f32 with linear addresses and the fma.rn.f32 behind them, which alone reads them.
struct LoadLoadFmaForm {
    ptx::Space first = ptx::Space::Global;
    ptx::Space second = ptx::Space::Global;
    FusedRole role = FusedRole::Product;
};

/// The selectors of one instruction-set level; nullptr for what is not fused.
struct FusedSelectors {
    bytecode::Handler (*load_load_fma)(const LoadLoadFmaForm&);
};

} // namespace cuprum::emulator
