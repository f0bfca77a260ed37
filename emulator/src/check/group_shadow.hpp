// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What the check `races` knows about wgmma in one running block: which registers and which shared
// memory the products of a warpgroup may still use.
//
// On a GPU a product runs beside its warpgroup. It is complete once a warp has waited for the group
// that it was committed to. Here it is complete at once, so only this record shows a missing wait.
//
// A warp numbers its groups from 1. The product of the group that is being collected has the number
// after the last committed one.

#pragma once

#include "interp/warp.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace cuprum::emulator::check {

class GroupShadow {
public:
    static constexpr std::uint32_t PIECE_BYTES = 16; // the unit of what a product reads

    /// How an instruction uses a register.
    enum class Use : std::uint8_t { Read, Write, Copy, Accumulate, Multiply };

    /// The use of a register that needs a fence or a wait before it.
    struct Misuse {
        bool needs_fence = false;      // else it needs a wait
        std::uint32_t instruction = 0; // that wrote the register, or the product
    };

    void start(const BlockContext& block);

    /// Records the use of a register by a warp. `other` is the source of a copy, if it is tracked.
    [[nodiscard]] std::optional<Misuse> use(std::uint32_t warp, std::uint32_t index, Use use,
                                            std::uint32_t instruction,
                                            std::optional<std::uint32_t> other = {});
    void fence(std::uint32_t warp);
    void commit(std::uint32_t warp);
    void wait(std::uint32_t warp, std::uint32_t most_pending);

    /// Returns the product that may still read one of these bytes, if any: its instruction.
    [[nodiscard]] std::optional<std::uint32_t> find_reader(std::uint32_t offset,
                                                           std::uint32_t bytes) const;
    /// Records that a product of a warp reads 16 bytes of shared memory.
    void read_piece(std::uint32_t warp, std::uint32_t offset, std::uint32_t instruction);

private:
    struct Register {
        std::uint32_t pending = 0;     // the group that uses it; 0: none
        std::uint32_t instruction = 0; // of the product or the last write
        bool is_read_only = false;     // the product only reads it
        bool is_unfenced = false;      // written since the last wgmma.fence
    };

    struct Warp {
        std::vector<Register> registers;
        std::uint32_t committed = 0;
    };

    struct Reading {
        std::uint32_t group = 0;
        std::uint32_t instruction = 0;
    };

    struct Group {
        std::vector<Reading> pieces;
        std::uint32_t completed = 0; // number of the last group that a warp has waited for
        std::uint32_t latest = 0;    // number of the last group with a product
    };

    std::vector<Warp> warps_;
    std::vector<Group> groups_;
    std::uint32_t piece_count_ = 0;
};

} // namespace cuprum::emulator::check
