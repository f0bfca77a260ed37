// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cuprum::detail {

/// SHA-256 (FIPS 180-4). Uses the processor's SHA instructions if it has them.
class Sha256 {
public:
    static constexpr std::size_t DIGEST_BYTES = 32;

    void add(std::string_view bytes) noexcept;
    /// Adds a text and its length, so that the border between two texts matters.
    void add_field(std::string_view text) noexcept;
    /// Ends the message and returns its digest, as 32 bytes.
    [[nodiscard]] std::string finish();

private:
    static constexpr std::size_t BLOCK_BYTES = 64;

    std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<unsigned char, BLOCK_BYTES> pending_{};
    std::uint64_t bytes_ = 0;
};

/// Returns the digest of one text.
[[nodiscard]] std::string sha256(std::string_view text);

/// Returns bytes as lower-case hexadecimal digits.
[[nodiscard]] std::string hexadecimal(std::string_view bytes);

} // namespace cuprum::detail
