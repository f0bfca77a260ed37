// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Memory as the functions in this folder read it: one lane at a time, any generic address.

#pragma once

#include "interp/warp.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace cuprum::emulator::builtins {

/// Returns where `bytes` bytes at a generic address of one lane lie, nullptr unless all of them may
/// be read.
[[nodiscard]] const std::byte* locate(const WarpContext& warp, std::uint32_t lane,
                                      std::uint64_t address, std::uint32_t bytes);

/// Reads a string that ends with a zero. Returns none, with the address that cannot be read in
/// `bad_address`, when it does not lie in memory.
[[nodiscard]] std::optional<std::string> read_string(const WarpContext& warp, std::uint32_t lane,
                                                     std::uint64_t address,
                                                     std::uint64_t& bad_address);

/// Returns the 4- or 8-byte value of one lane.
[[nodiscard]] std::uint32_t word_of(const WarpContext& warp, bytecode::Operand operand,
                                    std::uint32_t lane);
[[nodiscard]] std::uint64_t long_of(const WarpContext& warp, bytecode::Operand operand,
                                    std::uint32_t lane);

/// Stores a 4- or 8-byte value of one lane; a discarded result is fine.
void store_word(WarpContext& warp, bytecode::Operand operand, std::uint32_t lane,
                std::uint32_t value);
void store_long(WarpContext& warp, bytecode::Operand operand, std::uint32_t lane,
                std::uint64_t value);

} // namespace cuprum::emulator::builtins
