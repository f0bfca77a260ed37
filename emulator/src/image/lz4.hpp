// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace cuprum::emulator {

/// Decompresses one LZ4 block (no frame) to exactly `size` bytes. Returns nothing if the block is
/// malformed or gives another size.
[[nodiscard]] std::optional<std::string> decompress_lz4(std::span<const unsigned char> block,
                                                        std::size_t size);

} // namespace cuprum::emulator
