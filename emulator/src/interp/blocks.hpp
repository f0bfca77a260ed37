// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Parts of block compression that have sources of their own.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace cuprum::emulator {

/// Reads bits of a block of 16 bytes, the lowest first.
class BlockBits {
public:
    explicit BlockBits(const std::byte* block) {
        std::memcpy(&low_, block, sizeof low_);
        std::memcpy(&high_, block + sizeof low_, sizeof high_);
    }

    /// Takes the next bits, at most 32.
    std::uint32_t take(unsigned count) {
        const std::uint64_t bits = position_ >= 64  ? high_ >> (position_ - 64)
                                   : position_ == 0 ? low_
                                                    : low_ >> position_ | high_ << (64 - position_);
        position_ += count;
        return static_cast<std::uint32_t>(bits & ((std::uint64_t{1} << count) - 1));
    }

private:
    std::uint64_t low_ = 0;
    std::uint64_t high_ = 0;
    unsigned position_ = 0;
};

/// Returns red, green, blue and alpha of a BC7 block's texel, 8 bits each.
[[nodiscard]] std::array<std::int32_t, 4> decode_bc7(const std::byte* block, unsigned texel);

} // namespace cuprum::emulator
