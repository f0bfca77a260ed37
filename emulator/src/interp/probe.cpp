// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "interp/probe.hpp"

#include "bytecode/check_forms.hpp"
#include "interp/clock.hpp"
#include "interp/groups.hpp"
#include "interp/mbarrier.hpp"
#include "interp/random.hpp"
#include "interp/warp.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <set>
#include <string_view>

namespace cuprum::emulator {

using bytecode::Instruction;

namespace {

/// A block with more states than this computes; it does not wait.
constexpr std::size_t MAX_STATES = std::size_t{1} << 16;
constexpr std::size_t MAX_SITES = 64;

/// Parts of a call that is not inlined. They change only the block's own registers and memory.
constexpr std::array CALL_PARTS{FixedOp::Call,      FixedOp::CallIndirect, FixedOp::Return,
                                FixedOp::PassBytes, FixedOp::FetchBytes,   FixedOp::LocalAddress,
                                FixedOp::ReadLocal, FixedOp::WriteLocal};

bool is_call_part(const bytecode::Form& form) {
    return std::ranges::any_of(CALL_PARTS, [&](FixedOp op) { return form.is(op); });
}

/// Combines a hash with further bytes.
std::uint64_t hash_bytes(std::uint64_t hash, const std::byte* bytes, std::size_t count) {
    constexpr std::uint64_t factor = 0x9e3779b97f4a7c15;
    std::uint64_t word = 0;
    for (; count >= sizeof word; count -= sizeof word, bytes += sizeof word) {
        std::memcpy(&word, bytes, sizeof word);
        hash = (hash ^ word) * factor;
        hash ^= hash >> 29;
    }
    word = count;
    std::memcpy(&word, bytes, count);
    return mix(hash ^ word);
}

std::uint64_t hash_frame(const WarpContext& warp, std::uint32_t depth) {
    return hash_bytes(mix(warp.index + 1), warp.frame(depth), warp.block->kernel->frame_bytes);
}

/// Hashes all that the threads of one block can see of themselves.
std::uint64_t hash_block(const BlockContext& block) {
    std::uint64_t hash = mix(block.cluster_rank + 1);
    for (std::uint32_t w = 0; w < block.warp_count; ++w) {
        const WarpContext& warp = block.warps[w];
        std::uint32_t depth = 0;
        std::uint64_t groups = 0; // a sum, because the order of the groups means nothing
        for (std::uint32_t i = 0; i < warp.group_count; ++i) {
            const Group& group = warp.groups[i];
            depth = std::max(depth, group.depth);
            // A group that sleeps or has yielded goes on by itself.
            const bool goes_on = groups::is_runnable(group) || group.state == Stop::Sleep;
            const auto state = static_cast<std::uint64_t>(goes_on ? Stop::Running : group.state);
            groups += mix(mix(std::uint64_t{group.pc} << 32 | group.mask) ^
                          (std::uint64_t{group.depth} << 40 | std::uint64_t{group.barrier} << 32 |
                           group.wait_mask) ^
                          state << 56);
        }
        hash = mix(hash ^ groups);
        for (std::uint32_t d = 0; d <= depth && warp.group_count != 0; ++d) {
            hash = mix(hash ^ hash_frame(warp, d));
        }
    }
    for (const Barrier& barrier : block.barriers) {
        hash = mix(hash ^ (std::uint64_t{barrier.arrived} << 32 | barrier.expected));
    }
    hash = hash_bytes(hash, block.shared, block.shared_bytes);
    return hash_bytes(hash, block.local,
                      std::size_t{block.local_stride_bytes} * block.thread_count);
}

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> words) {
    return std::ranges::any_of(words,
                               [&](std::string_view word) { return text.starts_with(word); });
}

/// Calls `visit` for each register in a text.
template <typename Visit>
void for_each_register(std::string_view text, Visit visit) {
    constexpr std::string_view ends = " ,;:|!{}[]()+-";
    while (!text.empty()) {
        const std::size_t end = std::min(text.find_first_of(ends), text.size());
        if (text.starts_with("%")) {
            visit(text.substr(0, end));
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

/// Splits an instruction's text into what it writes and what it reads (with its guard). Both have
/// registers in them.
std::pair<std::string, std::string> split_operands(const std::string& text) {
    std::string guard;
    std::string_view rest = text;
    if (rest.starts_with("@")) {
        const std::size_t end = std::min(rest.find(' '), rest.size());
        guard = std::string(rest.substr(1, end - 1)) + " ";
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    rest.remove_prefix(std::min(rest.find(' '), rest.size()));
    const std::size_t brace =
        rest.find_first_not_of(' ') < rest.size() && rest[rest.find_first_not_of(' ')] == '{'
            ? rest.find('}')
            : 0;
    const std::size_t comma = std::min(rest.find(',', brace), rest.size());
    return {std::string(rest.substr(0, comma)), guard + std::string(rest.substr(comma))};
}

} // namespace

Probe::Probe()
    : clock_(now_ns()),
      timer_(static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                            std::chrono::system_clock::now().time_since_epoch())
                                            .count())) {}

void Probe::observe(const BlockContext& block) {
    ++look_count_;
    if (has_clock_ && followed_ != effects_.size()) {
        followed_ = effects_.size();
        has_moved_ |= can_clock_end(block.warps[0]);
    }
    std::uint64_t state = 0;
    for (std::uint32_t rank = 0; rank < block.cluster->size; ++rank) {
        state = mix(state ^ hash_block(*block.cluster->blocks[rank]));
    }
    remember(state);
}

void Probe::observe(const WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const Effect effect = effect_of(warp, at); // also notes that the block comes here
    if (mask == 0) {
        return;
    }
    switch (effect) {
    case Effect::None:
        return;
    case Effect::Writes:
        has_moved_ = true;
        return;
    case Effect::Clock:
        has_clock_ = true;
        return;
    case Effect::Reads:
        break;
    }
    const std::uint32_t pc = groups::index_of(warp, at);
    const std::uint32_t depth = warp.groups[warp.current].depth;
    remember(mix(hash_frame(warp, depth) ^ pc) ^ mask);
    const bool is_known = std::ranges::any_of(sites_, [&](const Site& site) {
        return site.warp == warp.index + warp.block->cluster_rank * bytecode::WARP_SIZE &&
               site.pc == pc;
    });
    if (!is_known && sites_.size() < MAX_SITES) {
        Site site;
        site.warp = warp.index + warp.block->cluster_rank * bytecode::WARP_SIZE;
        site.pc = pc;
        if (at->form.is(FixedOp::MbarrierWait)) {
            Group lanes = warp.groups[warp.current];
            lanes.mask = mask;
            site.text = mbarrier::describe(warp, lanes, at);
        }
        sites_.push_back(std::move(site));
    }
}

Effect Probe::effect_of(const WarpContext& warp, const Instruction* at) {
    const std::uint32_t pc = groups::index_of(warp, at);
    const auto found = effects_.find(pc);
    if (found != effects_.end()) {
        return found->second;
    }
    const std::string text = text_of(*warp.block->kernel, *at);
    Effect effect = text.empty() ? Effect::Writes : emulator::effect_of(text);
    if (is_call_part(at->form) || bytecode::is_check(at->form) ||
        (effect == Effect::Writes && (at->flags & bytecode::HAS_SIDE_EFFECT) == 0)) {
        effect = Effect::None;
    } else if (effect == Effect::Reads && at->dst_count == 0 && text.find("atom") != text.npos) {
        effect = Effect::Writes; // nobody reads the result, so that it would not show a change
    }
    effects_.emplace(pc, effect);
    return effect;
}

/// Returns whether the value of a clock decides about a branch that leaves the instructions which
/// the block has executed, and from there may leave its loop.
bool Probe::can_clock_end(const WarpContext& warp) const {
    const bytecode::Kernel& kernel = *warp.block->kernel;
    std::set<std::string, std::less<>> timed; // registers that depend on a clock
    for (bool has_grown = true; has_grown;) {
        has_grown = false;
        for (const auto& [pc, effect] : effects_) {
            const auto [written, read] = split_operands(text_of(kernel, warp.code[pc]));
            bool depends = effect == Effect::Clock;
            for_each_register(read,
                              [&](std::string_view name) { depends |= timed.contains(name); });
            if (depends) {
                for_each_register(written, [&](std::string_view name) {
                    has_grown |= timed.emplace(name).second;
                });
            }
        }
    }
    return std::ranges::any_of(effects_, [&](const auto& entry) {
        const Instruction& at = warp.code[entry.first];
        const std::string text = text_of(kernel, at);
        bool depends = false;
        for_each_register(text.starts_with("@") ? text.substr(1, text.find(' ') - 1) : text,
                          [&](std::string_view name) { depends |= timed.contains(name); });
        if (!depends) {
            return false;
        }
        if ((at.flags & bytecode::IS_BRANCH) != 0) {
            return leaves_loop(warp, at.target) || leaves_loop(warp, entry.first + 1);
        }
        return (at.flags & bytecode::ENDS_BLOCK) != 0 && !at.form.is(FixedOp::Sleep) &&
               text.starts_with("@"); // a guarded exit, a branch with a table
    });
}

/// Returns whether a path from an instruction reaches the end of the kernel without an instruction
/// that the block has executed.
bool Probe::leaves_loop(const WarpContext& warp, std::uint32_t pc) const {
    std::vector<std::uint32_t> open{pc};
    std::set<std::uint32_t> seen;
    while (!open.empty()) {
        const std::uint32_t next = open.back();
        open.pop_back();
        if (effects_.contains(next) || !seen.insert(next).second) {
            continue;
        }
        const Instruction& at = warp.code[next];
        const bool is_branch = (at.flags & bytecode::IS_BRANCH) != 0;
        if (is_branch) {
            open.push_back(at.target);
        }
        const bool goes_on = (at.flags & bytecode::NO_FALL_THROUGH) == 0 || !at.guard.is_none();
        if (goes_on) {
            open.push_back(next + 1);
        }
        if (!is_branch && (at.form.is(FixedOp::Exit) || at.form.is(FixedOp::Trap) ||
                           at.form.is(FixedOp::Return) || !goes_on)) {
            return true;
        }
    }
    return false;
}

void Probe::remember(std::uint64_t state) {
    const bool is_new = states_.insert(state).second;
    has_moved_ |= (is_new && !is_learning_) || states_.size() > MAX_STATES;
}

Effect effect_of(const std::string& text) {
    std::string_view opcode = text;
    if (opcode.starts_with("@")) {
        opcode.remove_prefix(std::min(opcode.find(' ') + 1, opcode.size()));
    }
    const std::string_view operands = opcode.substr(std::min(opcode.find(' '), opcode.size()));
    opcode = opcode.substr(0, opcode.find(' '));
    const std::size_t dot = std::min(opcode.find('.'), opcode.size());
    const std::string_view name = opcode.substr(0, dot);
    // The first space that an instruction names is the one that it writes to.
    const std::size_t own =
        std::min({opcode.find(".shared"), opcode.find(".local"), opcode.find(".param")});
    const bool is_own = own != opcode.npos && own < opcode.find(".global");
    if (name == "ld" || name == "ldu") {
        return is_own && !opcode.substr(own).starts_with(".shared") ? Effect::None : Effect::Reads;
    }
    if (name == "atom" || starts_with_any(name, {"tex", "tld4", "suld"}) ||
        starts_with_any(opcode, {"mbarrier.test_wait", "mbarrier.try_wait"})) {
        return Effect::Reads;
    }
    if (name == "mov" && (operands.find("%clock") != operands.npos ||
                          operands.find("%globaltimer") != operands.npos)) {
        return Effect::Clock;
    }
    const bool waits_for_copies = starts_with_any(
        opcode, {"cp.async.wait", "cp.async.commit", "cp.async.bulk.wait", "cp.async.bulk.commit"});
    const bool can_write = starts_with_any(name, {"st", "red", "cp", "sust", "sured", "multimem",
                                                  "tensormap", "tcgen05", "call"}) ||
                           opcode.starts_with("wmma.store");
    const bool is_other = name == "redux" || starts_with_any(name, {"stmatrix", "stack"});
    return can_write && !is_own && !waits_for_copies && !is_other ? Effect::Writes : Effect::None;
}

} // namespace cuprum::emulator
