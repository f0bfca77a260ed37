// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// How the functions in this folder read memory: one lane at a time, at any generic address.

#pragma once

#include "interp/warp.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace cuprum::emulator::builtins {

/// Returns the host address of `bytes` bytes at a generic address of one lane, or nullptr unless
/// all of them are readable.
[[nodiscard]] const std::byte* locate(const WarpContext& warp, std::uint32_t lane,
                                      std::uint64_t address, std::uint32_t bytes);

/// Reads a zero-terminated string. If it cannot be read, returns none and sets `bad_address`.
[[nodiscard]] std::optional<std::string> read_string(const WarpContext& warp, std::uint32_t lane,
                                                     std::uint64_t address,
                                                     std::uint64_t& bad_address);

/// Returns the 4- or 8-byte value of one lane.
[[nodiscard]] std::uint32_t word_of(const WarpContext& warp, bytecode::Operand operand,
                                    std::uint32_t lane);
[[nodiscard]] std::uint64_t long_of(const WarpContext& warp, bytecode::Operand operand,
                                    std::uint32_t lane);

/// Stores a 4- or 8-byte value of one lane. The operand may be a discarded result.
void store_word(WarpContext& warp, bytecode::Operand operand, std::uint32_t lane,
                std::uint32_t value);
void store_long(WarpContext& warp, bytecode::Operand operand, std::uint32_t lane,
                std::uint64_t value);

} // namespace cuprum::emulator::builtins
