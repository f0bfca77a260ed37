// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The heap that kernels allocate from.

#pragma once

#include "builtins/free_ranges.hpp"

#include <cstdint>
#include <map>
#include <mutex>

namespace cuprum::emulator::builtins {

/// An allocator for a range of device memory that someone else owns. Safe to use from several
/// threads. Its bookkeeping lies outside the range, so a kernel that writes past the end of a piece
/// damages only data.
class Heap {
public:
    Heap(std::uint64_t base, std::uint64_t bytes);

    /// Returns the address of `bytes` bytes, aligned to 16, or 0 if no free piece is large enough.
    [[nodiscard]] std::uint64_t allocate(std::uint64_t bytes);

    /// Frees a piece. Returns false if no used piece begins at `address`.
    [[nodiscard]] bool release(std::uint64_t address);

    /// Returns how many requested bytes follow `address` in the piece that contains it; 0 if no
    /// piece contains it.
    [[nodiscard]] std::uint64_t bytes_from(std::uint64_t address) const;

private:
    struct Piece {
        std::uint64_t bytes = 0;
        std::uint64_t asked_bytes = 0;
    };

    mutable std::mutex mutex_;
    FreeRanges free_;
    std::map<std::uint64_t, Piece> used_;
};

} // namespace cuprum::emulator::builtins
