// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Copies the constants to aligned memory, and fills in what only a context knows.

#include "passes/banks.hpp"
#include "passes/build.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace cuprum::emulator::passes {

namespace {

std::size_t bank_bytes(const bytecode::Kernel& kernel) {
    return kernel.constant_bytes + bytecode::BANK_ALIGNMENT;
}

std::shared_ptr<std::byte> make_bank(std::size_t bytes) {
    constexpr std::align_val_t ALIGNMENT{bytecode::BANK_ALIGNMENT};
    return {static_cast<std::byte*>(::operator new(bytes, ALIGNMENT)),
            [](std::byte* bank) { ::operator delete(bank, ALIGNMENT); }};
}

} // namespace

void place_constants(KernelBuild& build) {
    bytecode::Kernel& kernel = build.kernel;
    kernel.constant_bytes = static_cast<std::uint32_t>(kernel.constants.size());
    kernel.constant_bank = make_bank(bank_bytes(kernel));
    std::ranges::copy(kernel.constants, kernel.constant_bank.get());
    kernel.constants = {};
}

std::shared_ptr<std::byte>
place_symbols(const bytecode::Kernel& kernel,
              const std::unordered_map<std::string, std::uint64_t>& addresses) {
    if (kernel.symbol_slots.empty()) {
        return kernel.constant_bank;
    }
    auto bank = make_bank(bank_bytes(kernel));
    std::memcpy(bank.get(), kernel.constant_bank.get(), kernel.constant_bytes);
    for (const bytecode::SymbolSlot& slot : kernel.symbol_slots) {
        write_constant(bank.get() + slot.offset,
                       addresses.at(kernel.symbols[slot.symbol]) + slot.addend, slot.width);
    }
    return bank;
}

} // namespace cuprum::emulator::passes
