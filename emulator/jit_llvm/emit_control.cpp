// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Blocks and the ways between them.

#include "jit_llvm/kernel_emitter.hpp"

#include <llvm/IR/Constants.h>
#include <llvm/IR/MDBuilder.h>

#include <algorithm>

namespace cuprum::emulator::jit {

using bytecode::Width;

/// A block with more instructions than this is skipped if no lane runs it.
constexpr std::size_t WORTH_SKIPPING = 8;

/// Makes room for the masks of the lanes that wait for blocks in P. All of them are 0 at first, and
/// whenever the code comes to P.
void KernelEmitter::find_waiting_places() {
    std::uint32_t count = 0;
    for (const auto& waiting : graph_.flow(Version::Partial).waiting) {
        places_.push_back(count);
        count += waiting.empty() ? 0 : 1;
    }
    waiting_full_.resize(graph_.blocks.size());
    if (count != 0) {
        const std::uint64_t bytes = std::uint64_t{count} * width_ / 8;
        llvm::AllocaInst* const all =
            allocas_.CreateAlloca(llvm::ArrayType::get(ir_.getIntNTy(width_), count));
        all->setAlignment(llvm::Align(64));
        allocas_.CreateMemSet(all, ir_.getInt8(0), bytes, llvm::MaybeAlign(64));
        waiting_partial_ = all;
    }
}

/// Returns where the mask of the lanes that wait for a block is, as a word.
KernelEmitter::IR KernelEmitter::waiting_home(std::uint32_t block) {
    auto* const type = ir_.getIntNTy(width_);
    if (version_ == Version::Partial) {
        return ir_.CreateConstInBoundsGEP1_64(type, waiting_partial_, places_[block]);
    }
    IR& home = waiting_full_[block];
    if (home == nullptr) {
        home = allocas_.CreateAlloca(type);
        allocas_.CreateStore(llvm::Constant::getNullValue(type), home);
    }
    return home;
}

// NOTE: In P, these masks really are in memory. Divergent code gives long expressions of masks, for
// which LLVM's selection of instructions takes exponential time.

KernelEmitter::IR KernelEmitter::load_waiting(std::uint32_t block) {
    IR const word = ir_.CreateLoad(ir_.getIntNTy(width_), waiting_home(block),
                                   /*isVolatile=*/version_ == Version::Partial);
    return ir_.CreateBitCast(word, vector_of(Width::Predicate));
}

void KernelEmitter::store_waiting(std::uint32_t block, IR mask) {
    ir_.CreateStore(bits({mask}), waiting_home(block),
                    /*isVolatile=*/version_ == Version::Partial);
}

KernelEmitter::Mask KernelEmitter::live_mask() {
    if (version_ == Version::Full) {
        return {};
    }
    return {ir_.CreateLoad(vector_of(Width::Predicate), live_)};
}

/// Returns the lanes that wait for a block while `running` run and lanes may wait for the blocks of
/// `all`. A block for which all other lanes come together has no mask of its own.
KernelEmitter::Mask KernelEmitter::waiting_mask(std::uint32_t block,
                                                const std::vector<std::uint32_t>& all,
                                                Mask running) {
    if (!flow().waiting[block].empty()) {
        return {load_waiting(block)};
    }
    IR elsewhere = mask_or_all(running);
    for (const std::uint32_t each : all) {
        if (each != block && !flow().waiting[each].empty()) {
            elsewhere = ir_.CreateOr(elsewhere, load_waiting(each));
        }
    }
    return opaque({ir_.CreateAnd(mask_or_all(live_mask()), ir_.CreateNot(elsewhere))});
}

/// Returns a mask that LLVM does not look through. Its selection of instructions takes exponential
/// time for long expressions of masks, which only stops have.
KernelEmitter::Mask KernelEmitter::opaque(Mask mask) {
    if (mask.is_full()) {
        return mask;
    }
    if (opaque_ == nullptr) {
        opaque_ = allocas_.CreateAlloca(ir_.getIntNTy(width_));
    }
    ir_.CreateStore(bits(mask), opaque_, /*isVolatile=*/true);
    IR const word = ir_.CreateLoad(ir_.getIntNTy(width_), opaque_, /*isVolatile=*/true);
    return {ir_.CreateBitCast(word, vector_of(Width::Predicate))};
}

bool KernelEmitter::is_heavy(std::uint32_t block) const {
    const Block& about = graph_.blocks[block];
    if (about.nodes.size() > WORTH_SKIPPING || about.end == Block::End::Boundary ||
        about.end == Block::End::Exit || about.is_latch ||
        (about.loop != NONE && graph_.loops[about.loop].header == block)) {
        return true;
    }
    return std::ranges::any_of(about.nodes, [&](const Node& node) {
        const bytecode::Family family = at(node).form.family();
        return family == bytecode::Family::Memory || family == bytecode::Family::Atomic ||
               family == bytecode::Family::Fixed || family == bytecode::Family::Warp;
    });
}

/// Goes to a block, or to an earlier one for which lanes may wait.
void KernelEmitter::go(std::uint32_t to, std::uint32_t from) {
    const std::vector<std::uint32_t>& waiting = flow().waiting[from];
    go_to(waiting.empty() ? to : std::min(to, waiting.front()));
}

void KernelEmitter::go_to(std::uint32_t block) {
    ir_.CreateBr(block_of(block, version_));
}

void KernelEmitter::emit_block(std::uint32_t block, Version version) {
    const Block& about = graph_.blocks[block];
    version_ = version;
    known_ = Known();
    current_ = block;
    begin(block_of(block, version));
    auto* const mask_type = vector_of(Width::Predicate);
    const std::vector<std::uint32_t>& waiting = flow().waiting[block];
    if (version == Version::Partial && waiting.empty() && flow().has_mask[block] &&
        about.end != Block::End::Exit) {
        // All lanes have come together: perhaps the full version can go on.
        llvm::BasicBlock* const check = new_block("check_full");
        llvm::BasicBlock* const stay = new_block("stay");
        IR const live = bits(live_mask());
        ir_.CreateCondBr(ir_.CreateICmpEQ(live, llvm::Constant::getAllOnesValue(live->getType())),
                         check, stay);
        begin(check);
        std::vector<std::pair<IR, IR>> stores;
        if (IR const bad = is_promotable(about.live_in, block, stores)) {
            llvm::BasicBlock* const fits = new_block("fits");
            ir_.CreateCondBr(any({bad}), stay, fits);
            begin(fits);
        }
        for (const auto& [value, place] : stores) {
            ir_.CreateStore(value, place);
        }
        ir_.CreateBr(block_of(block, Version::Full));
        begin(stay);
        known_ = Known();
    }
    Mask mask;
    if (waiting.empty()) {
        mask = live_mask();
    } else {
        mask = {load_waiting(block)};
        if (is_heavy(block)) {
            llvm::BasicBlock* const runs = new_block("runs");
            ir_.CreateCondBr(any(mask), runs, block_of(waiting.front(), version));
            begin(runs);
        }
        store_waiting(block, llvm::Constant::getNullValue(mask_type));
    }
    for (const std::uint32_t phi : about.phis) {
        const Value& value = graph_.values[phi];
        auto* const type = lanes(phi).is_varying() ? vector_of(value.width) : type_of(value.width);
        define(phi, ir_.CreateLoad(type, home(phi, version, true)));
    }
    for (std::size_t n = 0; n < about.nodes.size(); ++n) {
        emit_node(block, n, mask);
    }
    emit_end(block, mask);
}

/// Prepares to leave a block for another: puts the inputs of its phis in place, and adds the lanes
/// to those that wait for it.
void KernelEmitter::edge(std::uint32_t from, std::uint32_t to, Mask mask) {
    const Block& target = graph_.blocks[to];
    const Block& source = graph_.blocks[from];
    const auto position = static_cast<std::size_t>(std::ranges::find(target.predecessors, from) -
                                                   target.predecessors.begin());
    const bool is_header = target.loop != NONE && graph_.loops[target.loop].header == to;
    const bool is_back = is_header && graph_.loops[target.loop].latch == from;
    const bool has_mask = flow().has_mask[to];
    bool is_plain = is_back;
    if (!is_back && target.is_loop_exit) {
        bool is_divergent = false;
        for (std::uint32_t l = source.loop;
             l != NONE && !std::ranges::binary_search(graph_.loops[l].blocks, to);
             l = graph_.loops[l].parent) {
            is_divergent |= graph_.loops[l].is_divergent && version_ == Version::Partial;
        }
        is_plain = !is_divergent && !has_mask;
    } else if (!is_back) {
        std::uint32_t first = NONE;
        for (const std::uint32_t before : target.predecessors) {
            if (!is_header || before != graph_.loops[target.loop].latch) {
                first = std::min(first, before);
            }
        }
        is_plain = !has_mask || (first == from && target.loop == source.loop);
    }
    is_plain |= mask.is_full();
    std::vector<std::pair<std::uint32_t, IR>> inputs;
    for (const std::uint32_t phi : target.phis) {
        const std::uint32_t input = graph_.values[phi].inputs[position];
        if (graph_.values[input].kind == Value::Kind::Undefined) {
            continue;
        }
        inputs.emplace_back(phi, lanes(phi).is_varying() ? vector_of_value(input) : own(input));
    }
    for (auto [phi, value] : inputs) {
        IR const place = home(phi, version_, true);
        if (!is_plain && lanes(phi).is_varying()) {
            value = ir_.CreateSelect(mask.bits, value, ir_.CreateLoad(value->getType(), place));
        }
        ir_.CreateStore(value, place);
    }
    if (!flow().waiting[to].empty()) {
        store_waiting(to, ir_.CreateOr(load_waiting(to), mask_or_all(mask)));
    }
}

void KernelEmitter::emit_end(std::uint32_t block, Mask mask) {
    const Block& about = graph_.blocks[block];
    switch (about.end) {
    case Block::End::Exit: {
        stop(about.pc, {}, NONE, block, mask);
        return;
    }
    case Block::End::Boundary:
        stop(about.end_pc, about.live_out, NONE, block, mask);
        return;
    case Block::End::Jump:
        if (about.is_latch) {
            emit_latch(block, mask);
            return;
        }
        edge(block, about.successors[0], mask);
        go(about.successors[0], block);
        return;
    case Block::End::Branch:
        emit_branch(block, mask);
        return;
    }
}

/// The end of a round of a loop: counts the budget down, and stops before the next round when it is
/// used up.
void KernelEmitter::emit_latch(std::uint32_t block, Mask mask) {
    const Block& about = graph_.blocks[block];
    const std::uint32_t header = about.successors[0];
    const Loop& loop = graph_.loops[about.loop];
    const std::vector<std::uint32_t>& waiting = flow().waiting[block];
    edge(block, header, mask);
    llvm::BasicBlock* const next = new_block("next_round");
    llvm::BasicBlock* const spent = new_block("spent");
    const bool is_divergent = version_ == Version::Partial && loop.is_divergent && !waiting.empty();
    if (is_divergent) {
        llvm::BasicBlock* const goes_on = new_block("goes_on");
        ir_.CreateCondBr(any(mask), goes_on, block_of(waiting.front(), version_));
        begin(goes_on);
    }
    IR const budget = ir_.CreateLoad(ir_.getInt32Ty(), budget_);
    const std::uint32_t cost = std::max(1u, about.cost);
    IR const left = ir_.CreateSub(budget, ir_.getInt32(cost));
    ir_.CreateStore(left, budget_);
    ir_.CreateCondBr(ir_.CreateICmpSLE(left, ir_.getInt32(0)), spent, next, unlikely_);
    const Known kept = known_;
    begin(spent);
    ir_.CreateStore(ir_.getInt32(0), budget_);
    ir_.CreateStore(ir_.getInt32(1),
                    ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), call_,
                                                   offsetof(GangCall, is_out_of_budget)));
    stop(graph_.blocks[header].pc, graph_.blocks[header].live_in, header, block, mask);
    known_ = kept;
    begin(next);
    go_to(header);
}

/// Leaves F: puts what varies in P in the place where P expects it.
void KernelEmitter::to_partial(std::uint32_t block) {
    for (const std::uint32_t each : graph_.blocks[block].live_out) {
        if (graph_.values[each].kind == Value::Kind::Undefined) {
            continue;
        }
        const bool is_vector = graph_.lanes(each, Version::Full).is_varying();
        if (!is_vector && graph_.lanes(each, Version::Partial).is_varying()) {
            ir_.CreateStore(vector_of_value(each), home(each, Version::Partial, false));
        }
    }
    // What both versions have in the same way is at hand still.
    Known kept;
    for (const auto& [value, now] : known_.own) {
        if (graph_.lanes(value, Version::Full).is_varying() ==
            graph_.lanes(value, Version::Partial).is_varying()) {
            kept.own[value] = now;
        } else if (IR const lanes_now = known_.vectors.lookup(value)) {
            kept.own[value] = lanes_now;
        }
    }
    known_ = std::move(kept);
    version_ = Version::Partial;
}

/// Looks in P whether values have the lanes that F expects. Returns the lanes that have not, or
/// null if there is nothing to look at; and what to store where for F.
KernelEmitter::IR KernelEmitter::is_promotable(const std::vector<std::uint32_t>& values,
                                               std::uint32_t phis_of,
                                               std::vector<std::pair<IR, IR>>& stores) {
    IR bad = nullptr;
    for (const std::uint32_t each : values) {
        const Value& value = graph_.values[each];
        const Lanes& wanted = graph_.lanes(each, Version::Full);
        if (value.kind == Value::Kind::Undefined || wanted.is_varying() ||
            !graph_.lanes(each, Version::Partial).is_varying()) {
            continue;
        }
        const bool is_input = value.kind == Value::Kind::Phi && value.block == phis_of;
        IR found = ir_.CreateLoad(vector_of(value.width), home(each, Version::Partial, is_input));
        if (wanted.kind == Lanes::Kind::Pattern) {
            found = ir_.CreateSub(found, pattern(wanted, type_of(value.width)));
        }
        IR const base = ir_.CreateExtractElement(found, std::uint64_t{0});
        IR const differs = ir_.CreateICmpNE(found, ir_.CreateVectorSplat(width_, base));
        bad = bad == nullptr ? differs : ir_.CreateOr(bad, differs);
        stores.emplace_back(base, home(each, Version::Full, is_input));
    }
    return bad;
}

void KernelEmitter::emit_branch(std::uint32_t block, Mask mask) {
    const Block& about = graph_.blocks[block];
    std::uint32_t taken = about.successors[0];
    std::uint32_t other = about.successors[1];
    if (about.is_negated) {
        std::swap(taken, other);
    }
    if (taken == other) {
        edge(block, taken, mask);
        go(taken, block);
        return;
    }
    const bool is_uniform = !lanes_of(graph_, about.condition, version_).is_varying();
    const auto in_version = [&](std::uint32_t to, Mask there) {
        edge(block, to, there);
        go(to, block);
    };
    const auto branch = [&](IR condition, llvm::BasicBlock* yes, llvm::BasicBlock* no) {
        ir_.CreateCondBr(condition, yes, no);
    };
    if (is_uniform) {
        llvm::BasicBlock* const yes = new_block("taken");
        llvm::BasicBlock* const no = new_block("not_taken");
        branch(scalar(about.condition, Width::Predicate), yes, no);
        const Known kept = known_;
        begin(yes);
        in_version(taken, mask);
        known_ = kept;
        begin(no);
        in_version(other, mask);
        return;
    }
    IR const condition = vector(about.condition, Width::Predicate);
    if (about.leaves_early) {
        const bool is_taken = taken == graph_.exit;
        const std::uint32_t stays_at = is_taken ? other : taken;
        IR const stays = is_taken ? ir_.CreateNot(condition) : condition;
        const Mask staying = both(mask, stays);
        IR const staying_bits = bits(staying);
        llvm::BasicBlock* const none = new_block("all_leave");
        llvm::BasicBlock* const some = new_block("some_leave");
        if (version_ == Version::Full) {
            llvm::BasicBlock* const all = new_block("all_stay");
            llvm::BasicBlock* const not_all = new_block("not_all_stay");
            branch(ir_.CreateICmpEQ(staying_bits,
                                    llvm::Constant::getAllOnesValue(staying_bits->getType())),
                   all, not_all);
            const Known kept = known_;
            begin(all);
            in_version(stays_at, mask);
            known_ = kept;
            begin(not_all);
        }
        branch(
            ir_.CreateICmpEQ(staying_bits, llvm::Constant::getNullValue(staying_bits->getType())),
            none, some);
        const Known kept = known_;
        begin(none);
        edge(block, graph_.exit, mask);
        go_to(graph_.exit);
        known_ = kept;
        begin(some);
        IR const left = ir_.CreateLoad(vector_of(Width::Predicate), left_);
        IR const leaving = ir_.CreateAnd(mask_or_all(mask), ir_.CreateNot(stays));
        ir_.CreateStore(ir_.CreateOr(left, leaving), left_);
        ir_.CreateStore(staying.bits, live_);
        if (version_ == Version::Full) {
            to_partial(block);
            edge(block, stays_at, staying);
            go_to(stays_at);
            version_ = Version::Full;
        } else {
            edge(block, stays_at, staying);
            go_to(stays_at);
        }
        return;
    }
    IR const not_condition = ir_.CreateNot(condition);
    if (version_ == Version::Full && !about.is_simple) {
        llvm::BasicBlock* const all = new_block("all_take");
        llvm::BasicBlock* const not_all = new_block("not_all_take");
        llvm::BasicBlock* const none = new_block("none_takes");
        llvm::BasicBlock* const mixed = new_block("mixed");
        IR const word = bits({condition});
        branch(ir_.CreateICmpEQ(word, llvm::Constant::getAllOnesValue(word->getType())), all,
               not_all);
        const Known kept = known_;
        begin(all);
        in_version(taken, mask);
        known_ = kept;
        begin(not_all);
        branch(ir_.CreateICmpEQ(word, llvm::Constant::getNullValue(word->getType())), none, mixed);
        begin(none);
        in_version(other, mask);
        known_ = kept;
        begin(mixed);
        to_partial(block);
        ir_.CreateStore(all_lanes(), live_);
        edge(block, taken, {condition});
        edge(block, other, {not_condition});
        go(std::min(taken, other), block);
        version_ = Version::Full;
        return;
    }
    edge(block, taken, both(mask, condition));
    edge(block, other, both(mask, not_condition));
    go(std::min(taken, other), block);
}

} // namespace cuprum::emulator::jit
