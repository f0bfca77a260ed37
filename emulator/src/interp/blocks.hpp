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

/// Returns the subset that a texel of a block belongs to.
[[nodiscard]] unsigned block_subset(unsigned subsets, std::uint32_t partition, unsigned texel);

/// Takes the indices of all texels and returns that of one. The first of each subset has one bit
/// less.
[[nodiscard]] std::uint32_t take_block_index(BlockBits& bits, unsigned subsets,
                                             std::uint32_t partition, unsigned width,
                                             unsigned texel);

/// Returns the weight of the second colour in 1/64, for an index of 2 to 4 bits.
[[nodiscard]] std::int32_t block_weight(unsigned bits, std::uint32_t index);

/// Returns red, green and blue of a BC6H block's texel, as bits of halves.
[[nodiscard]] std::array<std::int32_t, 3> decode_bc6h(const std::byte* block, unsigned texel,
                                                      bool is_signed);

/// Returns red, green, blue and alpha of a BC7 block's texel, 8 bits each.
[[nodiscard]] std::array<std::int32_t, 4> decode_bc7(const std::byte* block, unsigned texel);

} // namespace cuprum::emulator
