// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace cuprum::emulator {

namespace bytecode {
struct Instruction;
}

struct BlockContext;
struct WarpContext;

/// An interface that receives how the threads of a block synchronise and what they allocate. Only
/// checked blocks have an observer; check/ implements it.
class Observer {
public:
    virtual ~Observer() = default;
    Observer() = default;
    Observer(const Observer&) = delete;
    Observer& operator=(const Observer&) = delete;

    /// Records that lanes have arrived at a block barrier.
    virtual void arrived(const WarpContext& warp, std::uint32_t mask) = 0;

    /// Records that lanes leave a block barrier for only some threads of the block.
    virtual void passed(const WarpContext& warp, std::uint32_t mask) = 0;

    /// Records that all threads of the block have met at a barrier.
    virtual void met() = 0;

    /// Records that all threads of the cluster have met.
    virtual void cluster_met() = 0;

    /// Records that a warpgroup multiplies the matrices of two descriptors; that of A is unused if
    /// A is in registers. Returns false after a fault.
    virtual bool multiplies(WarpContext& warp, const bytecode::Instruction* at, std::uint64_t a,
                            std::uint64_t b) = 0;

    /// Records that malloc has returned memory to a kernel.
    virtual void allocated(std::uint64_t address, std::uint64_t bytes) = 0;
};

} // namespace cuprum::emulator
