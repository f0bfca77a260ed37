// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bytecode/kernel.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cuprum::emulator::passes {

/// Writes a value to every lane of a constant.
void write_constant(std::byte* out, std::uint64_t bits, bytecode::Width width);

/// The layout of the Constants, Launch and Block banks of a kernel. Equal values are stored once.
class Banks {
public:
    /// Keeps a reference to `kernel` and fills in its bank fields. No bank grows beyond
    /// `most_bytes`.
    Banks(bytecode::Kernel& kernel, std::uint32_t most_bytes)
        : kernel_(kernel), most_bytes_(most_bytes) {}

    /// Returns the bank that had no room for a value, or nullptr. Operands of such values are
    /// wrong.
    [[nodiscard]] const char* overfull() const { return overfull_; }

    /// Returns the operand that holds `bits` in every lane.
    [[nodiscard]] bytecode::Operand constant(std::uint64_t bits, bytecode::Width width);
    /// Returns the operand that holds a separate value for each lane.
    [[nodiscard]] bytecode::Operand lane_constant(std::span<const std::uint32_t> lanes);
    /// Returns the operand of the address `addend` bytes into dynamic shared memory. The address
    /// becomes known once all static shared memory is placed; see place_dynamic_shared().
    [[nodiscard]] bytecode::Operand dynamic_shared(std::uint64_t addend, bytecode::Width width);
    /// Returns the operand of the address `addend` bytes into a variable, which each context fills
    /// in. The name must live as long as the banks.
    [[nodiscard]] bytecode::Operand symbol(std::string_view name, std::uint64_t addend,
                                           bytecode::Width width);
    /// Fills in the addresses that dynamic_shared() has returned operands for.
    void place_dynamic_shared(std::uint64_t base);

    /// Returns the operand of a scalar of the kernel's parameters.
    [[nodiscard]] bytecode::Operand parameter(std::uint32_t parameter_offset,
                                              std::uint8_t size_bytes, bool is_signed,
                                              bytecode::Width width);
    /// Returns the operand of a value that is known only per launch or per block.
    [[nodiscard]] bytecode::Operand special(bytecode::Special special, bytecode::Width width);

private:
    struct Promise {
        std::uint32_t offset = 0;
        bytecode::Width width{};
        std::uint64_t addend = 0;
    };

    using ConstantKey = std::pair<std::uint64_t, bytecode::Width>;

    [[nodiscard]] bool has_room(std::size_t bank_bytes, bytecode::Width width, const char* bank);
    [[nodiscard]] std::uint32_t reserve(std::uint32_t& bank_bytes, bytecode::Width width,
                                        const char* bank);
    [[nodiscard]] std::uint32_t append(bytecode::Width width);

    bytecode::Kernel& kernel_;
    std::uint32_t most_bytes_;
    const char* overfull_ = nullptr;
    std::map<ConstantKey, std::uint32_t> constants_;
    std::map<ConstantKey, std::uint32_t> dynamic_shared_;
    std::unordered_map<std::string_view, std::uint32_t> symbol_numbers_; // names of the module
    std::map<std::tuple<std::uint32_t, std::uint64_t, bytecode::Width>, std::uint32_t> symbols_;
    std::map<std::vector<std::uint32_t>, std::uint32_t> lane_constants_;
    std::map<std::tuple<std::uint32_t, std::uint8_t, bool, bytecode::Width>, std::uint32_t>
        parameters_;
    std::map<std::pair<bytecode::Special, bytecode::Width>, std::uint32_t> specials_;
    std::vector<Promise> promises_;
};

} // namespace cuprum::emulator::passes
