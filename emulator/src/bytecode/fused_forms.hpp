// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Sequences of instructions that one handler runs, as requested by the pass `fuse_loads`.
//
// The instructions stay where they are. Only the first one gets the fused handler, which runs all
// of them if it can and otherwise only the first. So jumps into the middle, faults and diverged
// lanes need no special treatment.

#pragma once

#include "bytecode/forms.hpp"
#include "bytecode/instruction.hpp"
#include "ptx/tree.hpp"

#include <cstdint>

namespace cuprum::emulator {

/// How a fused multiply-add uses the values of the two loads before it.
enum class FusedRole : std::uint8_t {
    Product,    // first * second + src[2]
    AddsSecond, // first * src[1] + second
    AddsFirst,  // second * src[1] + first
};

/// Two f32 loads with linear addresses, followed by the fma.rn.f32 that is their only reader.
struct LoadLoadFmaForm {
    ptx::Space first = ptx::Space::Global;
    ptx::Space second = ptx::Space::Global;
    FusedRole role = FusedRole::Product;
    bool is_chain = false;   // more such sequences follow (bytecode::Variant::FusedChain)
    bool has_halves = false; // for blocks that are 16 threads wide
};

/// The selectors of one instruction-set level. They return nullptr for what is not fused.
struct FusedSelectors {
    bytecode::Handler (*load_load_fma)(const LoadLoadFmaForm&);
};

/// The same for instructions that run once for all warps of a block (interp/lockstep.hpp).
struct LockstepSelectors {
    bytecode::LockstepHandler (*move)(const MoveForm&);
    bytecode::LockstepHandler (*integer)(const IntegerForm&);
    bytecode::LockstepHandler (*bits)(const BitsForm&);
    bytecode::LockstepHandler (*compare)(const CompareForm&);
    bytecode::LockstepHandler (*convert)(const ConvertForm&);
    bytecode::LockstepHandler (*memory)(const MemoryForm&);
    bytecode::LockstepHandler (*load_load_fma)(const LoadLoadFmaForm&);
    bytecode::LockstepHandler (*texture)(const SampleForm&);
    bytecode::LockstepHandler (*spread)(bytecode::Width);
};

} // namespace cuprum::emulator
