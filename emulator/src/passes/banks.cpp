// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "passes/banks.hpp"

#include <algorithm>
#include <cstring>

namespace cuprum::emulator::passes {

using bytecode::Bank;
using bytecode::BANK_ALIGNMENT;
using bytecode::Operand;
using bytecode::Special;
using bytecode::Width;

namespace {

/// The largest result of padded_bytes().
constexpr std::size_t MOST_PADDED_BYTES = bytecode::slot_bytes(Width::B128);

/// Returns how many bytes a value takes with the padding that keeps the next one aligned.
std::uint32_t padded_bytes(Width width) {
    return (bytecode::slot_bytes(width) + BANK_ALIGNMENT - 1) / BANK_ALIGNMENT * BANK_ALIGNMENT;
}

} // namespace

Operand Banks::constant(std::uint64_t bits, Width width) {
    if (width == Width::B32) {
        bits &= 0xffffffffu;
    } else if (width == Width::Predicate) {
        bits = bits != 0 ? 1 : 0;
    }
    const auto [entry, is_new] = constants_.try_emplace({bits, width}, 0);
    if (is_new) {
        entry->second = append(width);
        write_constant(kernel_.constants.data() + entry->second, bits, width);
    }
    return {Bank::Constants, entry->second};
}

Operand Banks::lane_constant(std::span<const std::uint32_t> lanes) {
    const auto [entry, is_new] =
        lane_constants_.try_emplace(std::vector<std::uint32_t>(lanes.begin(), lanes.end()), 0);
    if (is_new) {
        entry->second = append(Width::B32);
        std::memcpy(kernel_.constants.data() + entry->second, lanes.data(),
                    std::min<std::size_t>(lanes.size(), bytecode::WARP_SIZE) *
                        sizeof(std::uint32_t));
    }
    return {Bank::Constants, entry->second};
}

Operand Banks::dynamic_shared(std::uint64_t addend, Width width) {
    const auto [entry, is_new] = dynamic_shared_.try_emplace({addend, width}, 0);
    if (is_new) {
        entry->second = append(width);
        promises_.push_back({entry->second, width, addend});
    }
    return {Bank::Constants, entry->second};
}

Operand Banks::symbol(std::string_view name, std::uint64_t addend, Width width) {
    auto& names = kernel_.symbols;
    const auto [known, is_first] =
        symbol_numbers_.try_emplace(name, static_cast<std::uint32_t>(names.size()));
    if (is_first) {
        names.emplace_back(name);
    }
    const std::uint32_t symbol = known->second;
    const auto [entry, is_new] = symbols_.try_emplace({symbol, addend, width}, 0);
    if (is_new) {
        entry->second = append(width);
        kernel_.symbol_slots.push_back(
            {.offset = entry->second, .width = width, .symbol = symbol, .addend = addend});
    }
    return {Bank::Constants, entry->second};
}

void Banks::place_dynamic_shared(std::uint64_t base) {
    for (const Promise& promise : promises_) {
        write_constant(kernel_.constants.data() + promise.offset, base + promise.addend,
                       promise.width);
    }
}

Operand Banks::parameter(std::uint32_t parameter_offset, std::uint8_t size_bytes, bool is_signed,
                         Width width) {
    const auto [entry, is_new] =
        parameters_.try_emplace({parameter_offset, size_bytes, is_signed, width}, 0);
    if (is_new) {
        entry->second = reserve(kernel_.launch_bytes, width, "parameters");
        kernel_.parameter_slots.push_back({.parameter_offset = parameter_offset,
                                           .size_bytes = size_bytes,
                                           .is_signed = is_signed,
                                           .offset = entry->second,
                                           .width = width});
    }
    return {Bank::Launch, entry->second};
}

Operand Banks::special(Special special, Width width) {
    const bool is_block = special >= Special::CtaidX;
    const auto [entry, is_new] = specials_.try_emplace({special, width}, 0);
    if (is_new) {
        entry->second = reserve(is_block ? kernel_.block_bytes : kernel_.launch_bytes, width,
                                "special registers");
        (is_block ? kernel_.block_specials : kernel_.launch_specials)
            .push_back({.special = special, .offset = entry->second, .width = width});
    }
    return {is_block ? Bank::Block : Bank::Launch, entry->second};
}

/// Returns whether a bank of this size has room for one more value. If not, remembers that.
bool Banks::has_room(std::size_t bank_bytes, Width width, const char* bank) {
    if (bank_bytes + padded_bytes(width) <= most_bytes_) {
        return true;
    }
    overfull_ = bank;
    return false;
}

std::uint32_t Banks::reserve(std::uint32_t& bank_bytes, Width width, const char* bank) {
    if (!has_room(bank_bytes, width, bank)) {
        return 0;
    }
    const std::uint32_t offset = bank_bytes;
    bank_bytes += padded_bytes(width);
    return offset;
}

std::uint32_t Banks::append(Width width) {
    if (!has_room(kernel_.constants.size(), width, "constants")) {
        kernel_.constants.resize(
            std::max<std::size_t>(kernel_.constants.size(), MOST_PADDED_BYTES));
        return 0; // a place that may be written, in a kernel that is refused
    }
    const auto offset = static_cast<std::uint32_t>(kernel_.constants.size());
    kernel_.constants.resize(offset + padded_bytes(width));
    return offset;
}

void write_constant(std::byte* out, std::uint64_t bits, Width width) {
    if (width == Width::Predicate) {
        const std::uint32_t mask = bits != 0 ? bytecode::FULL_MASK : 0;
        std::memcpy(out, &mask, sizeof mask);
        return;
    }
    const auto lane_bytes = static_cast<std::uint32_t>(width);
    for (std::uint32_t lane = 0; lane < bytecode::WARP_SIZE; ++lane, out += lane_bytes) {
        // The upper half of a 128-bit lane stays zero.
        std::memcpy(out, &bits, std::min<std::size_t>(lane_bytes, sizeof bits));
    }
}

} // namespace cuprum::emulator::passes
