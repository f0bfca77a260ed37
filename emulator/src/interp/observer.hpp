// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace cuprum::emulator {

struct BlockContext;
struct WarpContext;

/// Receives how the threads of a block order each other's work, and what they allocate. Only blocks
/// that are checked have one; check/ implements it.
class Observer {
public:
    virtual ~Observer() = default;
    Observer() = default;
    Observer(const Observer&) = delete;
    Observer& operator=(const Observer&) = delete;

    /// Lanes have arrived at a block barrier.
    virtual void arrived(const WarpContext& warp, std::uint32_t mask) = 0;

    /// Lanes leave a block barrier that only some threads of the block took part in.
    virtual void passed(const WarpContext& warp, std::uint32_t mask) = 0;

    /// All threads of the block have met at a barrier.
    virtual void met() = 0;

    /// All threads of the cluster have met.
    virtual void cluster_met() = 0;

    /// malloc has returned memory to a kernel.
    virtual void allocated(std::uint64_t address, std::uint64_t bytes) = 0;
};

} // namespace cuprum::emulator
