// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The memory that kernels allocate from.

#pragma once

#include <cstdint>
#include <map>
#include <mutex>

namespace cuprum::emulator::builtins {

/// Hands out pieces of a range of device memory, which somebody else owns and keeps. Safe to use
/// from several threads. What it knows of the pieces is not kept among them: a kernel that writes
/// past the end of one spoils only data.
class Heap {
public:
    Heap(std::uint64_t base, std::uint64_t bytes);

    /// Returns the address of `bytes` bytes, aligned to 16, or 0 when there is no such piece left.
    [[nodiscard]] std::uint64_t allocate(std::uint64_t bytes);

    /// Takes a piece back. Returns false when nothing that is in use begins at `address`.
    [[nodiscard]] bool release(std::uint64_t address);

    /// Returns how many bytes from an address on belong to the piece that holds it, as it was asked
    /// for; 0 when no piece does.
    [[nodiscard]] std::uint64_t bytes_from(std::uint64_t address) const;

private:
    struct Piece {
        std::uint64_t bytes = 0;
        std::uint64_t asked_bytes = 0;
    };

    mutable std::mutex mutex_;
    std::map<std::uint64_t, std::uint64_t> free_; // address to bytes, never adjacent
    std::map<std::uint64_t, Piece> used_;
};

} // namespace cuprum::emulator::builtins
