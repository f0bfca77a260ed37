// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// assert() in kernels: every failing thread prints a message, then the grid ends.

#include "builtins/builtins.hpp"
#include "builtins/memory.hpp"
#include "builtins/output.hpp"
#include "builtins/status_line.hpp"

#include <bit>
#include <cstdio>

namespace cuprum::emulator::builtins {

using bytecode::Instruction;

namespace {

std::string text_at(const WarpContext& warp, std::uint32_t lane, std::uint64_t address) {
    std::uint64_t bad_address = 0;
    return address == 0 ? "?" : read_string(warp, lane, address, bad_address).value_or("?");
}

} // namespace

const Instruction* fail_assert(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const auto first = static_cast<std::uint32_t>(std::countr_zero(mask));
    const std::string condition = text_at(warp, first, long_of(warp, at->src[0], first));
    const std::string place = text_at(warp, first, long_of(warp, at->src[1], first)) + ":" +
                              std::to_string(word_of(warp, at->src[2], first)) + ", in " +
                              text_at(warp, first, long_of(warp, at->src[3], first));
    const BlockContext& block = *warp.block;
    std::string text;
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const std::uint32_t thread =
            warp.thread(static_cast<std::uint32_t>(std::countr_zero(left)));
        const std::uint32_t width = block.dimensions[0];
        const std::uint32_t height = block.dimensions[1];
        text += place + ": block (" + std::to_string(block.index[0]) + ", " +
                std::to_string(block.index[1]) + ", " + std::to_string(block.index[2]) +
                "), thread (" + std::to_string(thread % width) + ", " +
                std::to_string(thread / width % height) + ", " +
                std::to_string(thread / width / height) + "): assertion '" + condition +
                "' does not hold\n";
    }
    flush_output(); // earlier output comes first
    StatusLine::instance().make_room();
    (void)std::fwrite(text.data(), 1, text.size(), stderr);
    return raise_fault(warp, at, FaultKind::Assert, first,
                       "'" + condition + "' does not hold at " + place);
}

} // namespace cuprum::emulator::builtins
