// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Sequences of instructions that one handler runs, as requested by the passes `fuse_loads` and
// `find_pairs`.
//
// The instructions stay where they are. Only the first one gets the fused handler. A sequence of
// loads runs only its first instruction if something is unusual; a pair always runs as a whole. So
// faults and diverged lanes need no special treatment. Nothing jumps to an instruction that reads a
// result which the handler does not store.

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
    bool is_chain = false;  // more such sequences follow (bytecode::Variant::FusedChain)
    bool is_stored = false; // a store follows (bytecode::RUNS_NEXT); only for lockstep
};

/// How an f32 instruction uses the result of the one before it: as src[0], unless noted.
enum class FloatPairUse : std::uint8_t {
    Added,
    Reduced,    // result - src[1]
    Subtracted, // src[0] - result
    Multiplied,
    Scaled,     // result * src[1] + src[2]
    Summed,     // src[0] * src[1] + result
    Less,       // the comparisons of setp come last
    NotGreater, // less or equal
    Greater,
    NotLess,
};

/// add, sub or mul of f32, followed by the only reader of the result: add, sub, mul, fma or setp.
struct FloatPairForm {
    FloatOp first = FloatOp::Add;
    FloatPairUse use = FloatPairUse::Added;
};

/// The selectors of one instruction-set level. They return nullptr for what is not fused.
struct FusedSelectors {
    bytecode::Handler (*load_load_fma)(const LoadLoadFmaForm&);
    bytecode::Handler (*float_pair)(const FloatPairForm&);
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
    bytecode::LockstepHandler settle;
    // For instructions on plain registers.
    bytecode::LockstepHandler (*floating)(const FloatForm&);
    bytecode::LockstepHandler (*conversion)(const ConvertForm&);
    bytecode::LockstepHandler (*float_pair)(const FloatPairForm&);
};

} // namespace cuprum::emulator
