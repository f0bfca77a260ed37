// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Blocks, loops, and the order of the blocks.
//
// The order is topological apart from jumps back, the blocks of a loop are adjacent, and otherwise
// the lower program counter comes first, as in the interpreter. Every loop gets one latch, and
// every edge that leaves loops leads through a block of our own.

#include "interp/control.hpp"
#include "jit/analysis/internal.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <utility>

namespace cuprum::emulator::jit::analysis {

using bytecode::Instruction;

namespace {

/// Larger kernels stay interpreted: their analysis would take too long.
constexpr std::size_t MAX_INSTRUCTIONS = 100'000;

using Numbers = std::vector<std::uint32_t>;

/// The blocks before they have their final order.
class Builder {
public:
    explicit Builder(Work& work)
        : work_(work), kernel_(*work.graph.kernel), lanes_(work.graph.shape.lanes) {}

    [[nodiscard]] std::string build();

private:
    [[nodiscard]] std::string split();
    [[nodiscard]] std::string finish_block(std::uint32_t number, std::uint32_t begin,
                                           std::uint32_t end);
    void end_with(Block& block, const Instruction& instruction, std::uint32_t pc);
    [[nodiscard]] Numbers pcs_after(const Instruction& instruction, std::uint32_t pc) const;
    void skip_empty_blocks();
    void separate_roots();
    [[nodiscard]] std::string find_loops();
    void find_order();
    void find_predecessors();
    void find_dominators();
    void add_latches();
    void add_loop_exits();
    [[nodiscard]] std::uint32_t add_block(std::uint32_t before);
    void lay_out();
    void mark_entries();

    [[nodiscard]] bool dominates(std::uint32_t above, std::uint32_t block) const;

    [[nodiscard]] Role role(const Instruction& instruction) const {
        return role_of(instruction, lanes_);
    }

    Work& work_;
    const bytecode::Kernel& kernel_;
    std::uint32_t lanes_;
    std::vector<Block> blocks_;
    Numbers block_at_; // by pc: the block that begins there
    Numbers roots_;    // blocks; the first is the kernel's
    std::uint32_t exit_ = NONE;
    Numbers order_;      // reverse postorder
    Numbers position_;   // by block: in order_; NONE if it cannot be reached
    Numbers dominators_; // by block; a root has none
    std::vector<Loop> loops_;
    std::vector<std::vector<bool>> is_inside_; // by loop, only while loops are found
};

std::string Builder::build() {
    if (kernel_.code.size() > MAX_INSTRUCTIONS) {
        return "it has " + std::to_string(kernel_.code.size()) + " instructions";
    }
    if (std::string problem = split(); !problem.empty()) {
        return problem;
    }
    skip_empty_blocks();
    separate_roots();
    if (std::string problem = find_loops(); !problem.empty()) {
        return problem;
    }
    add_latches();
    (void)find_loops();
    add_loop_exits();
    (void)find_loops();
    lay_out();
    mark_entries();
    return {};
}

// ---- from instructions to blocks ---------------------------------------------------------------

/// Returns where lanes may go on after an instruction, each place once.
Numbers Builder::pcs_after(const Instruction& instruction, std::uint32_t pc) const {
    Numbers pcs;
    const bool is_guarded = !instruction.guard.is_none();
    const auto add = [&](std::uint32_t next) {
        if (std::ranges::find(pcs, next) == pcs.end()) {
            pcs.push_back(next);
        }
    };
    const bytecode::Form& form = instruction.form;
    if (form.is(FixedOp::BranchIndexed)) {
        for (std::uint32_t i = 0; i < instruction.tag; ++i) {
            add(kernel_.branch_targets[instruction.extra + i]);
        }
    } else if ((instruction.flags & bytecode::IS_BRANCH) != 0) {
        add(instruction.target);
    }
    if (is_guarded || (instruction.flags & bytecode::NO_FALL_THROUGH) == 0) {
        add(pc + 1);
    }
    return pcs;
}

std::string Builder::split() {
    const auto& code = kernel_.code;
    std::vector<bool> begins(code.size() + 1, false);
    begins[0] = true;
    std::uint32_t exit_pc = NONE;
    for (std::uint32_t pc = 0; pc < code.size(); ++pc) {
        const Role what = role(code[pc]);
        if (what == Role::Unfit) {
            return "instruction " + std::to_string(pc) + " has no form";
        }
        if (what == Role::Plain || does_nothing(code[pc])) {
            continue;
        }
        begins[pc + 1] = true;
        for (const std::uint32_t next : pcs_after(code[pc], pc)) {
            if (next >= code.size()) {
                return "its code has no end";
            }
            begins[next] = true;
        }
        if (what == Role::Exit && code[pc].guard.is_none()) {
            exit_pc = pc;
        }
    }
    if (exit_pc == NONE) {
        return "it has no exit without a condition";
    }
    for (const auto& [address, first] : kernel_.functions) {
        begins[first] = true;
    }

    block_at_.assign(code.size() + 1, NONE);
    for (std::uint32_t pc = 0; pc < code.size(); ++pc) {
        if (begins[pc]) {
            block_at_[pc] = static_cast<std::uint32_t>(blocks_.size());
            blocks_.emplace_back().pc = pc;
        }
    }
    exit_ = static_cast<std::uint32_t>(blocks_.size());
    Block& exit = blocks_.emplace_back();
    exit.end = Block::End::Exit;
    exit.pc = exit.end_pc = exit_pc;
    for (std::uint32_t number = 0; number < exit_; ++number) {
        const std::uint32_t end =
            number + 1 < exit_ ? blocks_[number + 1].pc : static_cast<std::uint32_t>(code.size());
        if (std::string problem = finish_block(number, blocks_[number].pc, end); !problem.empty()) {
            return problem;
        }
    }

    roots_ = {block_at_[0]};
    for (const auto& [address, first] : kernel_.functions) {
        roots_.push_back(block_at_[first]);
    }
    std::sort(roots_.begin() + 1, roots_.end());
    roots_.erase(std::unique(roots_.begin(), roots_.end()), roots_.end());
    return {};
}

std::string Builder::finish_block(std::uint32_t number, std::uint32_t begin, std::uint32_t end) {
    Block& block = blocks_[number];
    for (std::uint32_t pc = begin; pc < end; ++pc) {
        const Instruction& instruction = kernel_.code[pc];
        if (does_nothing(instruction)) {
            continue;
        }
        if (role(instruction) != Role::Plain) {
            end_with(block, instruction, pc); // the last one
            return {};
        }
        block.nodes.emplace_back().pc = pc;
    }
    if (end == kernel_.code.size()) {
        return "its code has no end";
    }
    block.successors = {block_at_[end]};
    return {};
}

void Builder::end_with(Block& block, const Instruction& instruction, std::uint32_t pc) {
    block.end_pc = pc;
    const Role what = role(instruction);
    if (what == Role::Boundary) {
        block.end = Block::End::Boundary;
        for (const std::uint32_t next : pcs_after(instruction, pc)) {
            block.successors.push_back(block_at_[next]);
        }
        return;
    }
    const std::uint32_t target = what == Role::Exit ? exit_ : block_at_[instruction.target];
    block.successors = {target};
    if (!instruction.guard.is_none() && block_at_[pc + 1] != target) {
        block.end = Block::End::Branch;
        block.successors.push_back(block_at_[pc + 1]);
        block.condition.operand = instruction.guard;
        block.is_negated = (instruction.flags & bytecode::GUARD_NEGATED) != 0;
    }
}

/// Lets branches to a mere exit lead to the exit itself.
void Builder::skip_empty_blocks() {
    const auto is_mere_exit = [&](std::uint32_t number) {
        const Block& block = blocks_[number];
        return block.end == Block::End::Jump && block.nodes.empty() && block.successors[0] == exit_;
    };
    for (Block& block : blocks_) {
        if (block.end == Block::End::Boundary) {
            continue; // the interpreter goes on there anyway
        }
        for (std::uint32_t& next : block.successors) {
            next = is_mere_exit(next) ? exit_ : next;
        }
        if (block.end == Block::End::Branch && block.successors[0] == block.successors[1]) {
            block.end = Block::End::Jump;
            block.successors.pop_back();
        }
    }
}

/// Gives roots that something jumps to a block before them.
void Builder::separate_roots() {
    find_predecessors();
    for (std::uint32_t& root : roots_) {
        if (!blocks_[root].predecessors.empty()) {
            root = add_block(root);
        }
    }
}

std::uint32_t Builder::add_block(std::uint32_t before) {
    Block block;
    block.pc = blocks_[before].pc;
    block.is_own = true;
    block.successors = {before};
    blocks_.push_back(std::move(block));
    return static_cast<std::uint32_t>(blocks_.size() - 1);
}

// ---- loops -------------------------------------------------------------------------------------

void Builder::find_predecessors() {
    for (Block& block : blocks_) {
        block.predecessors.clear();
    }
    for (std::uint32_t number = 0; number < blocks_.size(); ++number) {
        if (!position_.empty() && (number >= position_.size() || position_[number] == NONE)) {
            continue;
        }
        for (const std::uint32_t next : blocks_[number].successors) {
            blocks_[next].predecessors.push_back(number);
        }
    }
}

void Builder::find_order() {
    order_.clear();
    position_.assign(blocks_.size(), NONE);
    std::vector<bool> is_seen(blocks_.size(), false);
    std::vector<std::pair<std::uint32_t, std::size_t>> stack; // block, successors left
    const auto visit = [&](std::uint32_t number) {
        if (!is_seen[number]) {
            is_seen[number] = true;
            stack.emplace_back(number, blocks_[number].successors.size());
        }
    };
    for (auto root = roots_.rbegin(); root != roots_.rend(); ++root) {
        visit(*root);
        while (!stack.empty()) {
            auto& [number, left] = stack.back();
            if (left == 0) {
                order_.push_back(number);
                stack.pop_back();
            } else {
                --left;
                visit(blocks_[number].successors[left]);
            }
        }
    }
    std::ranges::reverse(order_);
    for (std::uint32_t i = 0; i < order_.size(); ++i) {
        position_[order_[i]] = i;
    }
}

/// Finds the dominators as Cooper, Harvey and Kennedy do. A block that several roots reach has
/// none.
void Builder::find_dominators() {
    constexpr std::uint32_t UNSET = NONE - 1;
    dominators_.assign(blocks_.size(), UNSET);
    for (const std::uint32_t root : roots_) {
        dominators_[root] = NONE;
    }
    const auto intersect = [&](std::uint32_t left, std::uint32_t right) {
        while (left != right) {
            if (left == NONE || right == NONE) {
                return NONE;
            }
            if (position_[left] > position_[right]) {
                left = dominators_[left];
            } else {
                right = dominators_[right];
            }
        }
        return left;
    };
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        for (const std::uint32_t number : order_) {
            if (blocks_[number].predecessors.empty()) {
                continue; // a root
            }
            // The last ones first: then a block with many predecessors takes short steps.
            Numbers all = blocks_[number].predecessors;
            std::erase_if(all, [&](std::uint32_t block) { return dominators_[block] == UNSET; });
            std::ranges::sort(all, std::ranges::greater{},
                              [&](std::uint32_t block) { return position_[block]; });
            std::uint32_t found = all[0];
            for (std::size_t i = 1; i < all.size(); ++i) {
                found = intersect(found, all[i]);
            }
            if (found != dominators_[number]) {
                dominators_[number] = found;
                has_changed = true;
            }
        }
    }
}

bool Builder::dominates(std::uint32_t above, std::uint32_t block) const {
    while (block != NONE && position_[block] > position_[above]) {
        block = dominators_[block];
    }
    return block == above;
}

std::string Builder::find_loops() {
    find_order();
    find_predecessors();
    find_dominators();
    loops_.clear();
    Numbers loop_of_header(blocks_.size(), NONE);
    for (Block& block : blocks_) {
        block.loop = NONE;
    }
    // Headers of inner loops come behind those of outer ones.
    for (auto at = order_.rbegin(); at != order_.rend(); ++at) {
        const std::uint32_t header = *at;
        Numbers open;
        for (const std::uint32_t before : blocks_[header].predecessors) {
            if (position_[before] < position_[header]) {
                continue;
            }
            if (!dominates(header, before)) {
                return "it has a loop with several entries";
            }
            open.push_back(before);
        }
        if (open.empty()) {
            continue;
        }
        const auto number = static_cast<std::uint32_t>(loops_.size());
        Loop& loop = loops_.emplace_back();
        loop.header = header;
        loop_of_header[header] = number;
        // Loops inside are complete: step over them.
        Numbers inside{header};
        blocks_[header].loop = blocks_[header].loop == NONE ? number : blocks_[header].loop;
        std::set<std::uint32_t> seen{header};
        while (!open.empty()) {
            std::uint32_t block = open.back();
            open.pop_back();
            std::uint32_t inner = blocks_[block].loop;
            while (inner != NONE && inner != number && loops_[inner].parent != NONE &&
                   loops_[inner].parent != number) {
                inner = loops_[inner].parent;
            }
            if (inner != NONE && inner != number) {
                loops_[inner].parent = number;
                block = loops_[inner].header;
            }
            if (!seen.insert(block).second) {
                continue;
            }
            if (inner == NONE) {
                blocks_[block].loop = number;
            }
            for (const std::uint32_t before : blocks_[block].predecessors) {
                if (inner == NONE || !dominates(block, before)) {
                    open.push_back(before);
                }
            }
        }
    }
    return {};
}

void Builder::add_latches() {
    for (const Loop& loop : loops_) {
        Numbers back;
        for (const std::uint32_t before : blocks_[loop.header].predecessors) {
            if (dominates(loop.header, before)) {
                back.push_back(before);
            }
        }
        std::uint32_t cost = control::LOOP_COST;
        for (const std::uint32_t before : back) {
            const Block& block = blocks_[before];
            if (block.end_pc == NONE || block.end == Block::End::Boundary) {
                continue;
            }
            const Instruction& last = kernel_.code[block.end_pc];
            if ((last.flags & bytecode::IS_BRANCH) != 0 && last.target <= block.end_pc) {
                cost = std::max<std::uint32_t>(cost, last.tag);
            }
        }
        std::uint32_t latch = back[0];
        if (back.size() > 1 || blocks_[latch].end != Block::End::Jump) {
            latch = add_block(loop.header);
            for (const std::uint32_t before : back) {
                std::ranges::replace(blocks_[before].successors, loop.header, latch);
            }
        }
        blocks_[latch].is_latch = true;
        blocks_[latch].cost = cost;
    }
}

void Builder::add_loop_exits() {
    const auto is_in = [&](std::uint32_t block, std::uint32_t loop) {
        std::uint32_t at = blocks_[block].loop;
        while (at != NONE && at != loop) {
            at = loops_[at].parent;
        }
        return at == loop;
    };
    for (const std::uint32_t number : order_) {
        if (blocks_[number].loop == NONE) {
            continue;
        }
        for (std::size_t i = 0; i < blocks_[number].successors.size(); ++i) {
            const std::uint32_t next = blocks_[number].successors[i];
            if (!is_in(next, blocks_[number].loop)) {
                const std::uint32_t between = add_block(next);
                blocks_[between].is_loop_exit = true;
                blocks_[number].successors[i] = between;
            }
        }
    }
}

// ---- the order ---------------------------------------------------------------------------------

/// Puts the blocks and loops into the graph, in their final order.
void Builder::lay_out() {
    Numbers waits(blocks_.size(), 0);   // predecessors that are not placed yet
    Numbers left(loops_.size() + 1, 0); // blocks of each loop that are not placed
    for (const std::uint32_t number : order_) {
        for (const std::uint32_t before : blocks_[number].predecessors) {
            waits[number] += position_[before] < position_[number] ? 1u : 0u;
        }
        for (std::uint32_t loop = blocks_[number].loop; loop != NONE; loop = loops_[loop].parent) {
            ++left[loop];
        }
    }
    // The blocks that can come next, by the loop in which they are seen from outside.
    using Key = std::pair<std::uint32_t, std::uint32_t>; // pc, place in order_
    std::vector<std::priority_queue<Key, std::vector<Key>, std::greater<>>> ready(loops_.size() +
                                                                                  1);
    const auto outside = static_cast<std::uint32_t>(loops_.size());
    const auto index_of = [&](std::uint32_t loop) { return loop == NONE ? outside : loop; };
    const auto add = [&](std::uint32_t number) {
        std::uint32_t loop = blocks_[number].loop;
        if (loop != NONE && loops_[loop].header == number) {
            loop = loops_[loop].parent;
        }
        ready[index_of(loop)].emplace(number == exit_ ? NONE : blocks_[number].pc,
                                      position_[number]);
    };
    std::ranges::for_each(roots_, add);
    Numbers placed;
    Numbers active{outside};
    while (placed.size() < order_.size()) {
        while (active.back() != outside && left[active.back()] == 0) {
            active.pop_back();
        }
        auto& queue = ready[active.back()];
        const std::uint32_t number = order_[queue.top().second];
        queue.pop();
        placed.push_back(number);
        const std::uint32_t loop = blocks_[number].loop;
        if (loop != NONE && loops_[loop].header == number) {
            active.push_back(loop);
        }
        for (std::uint32_t at = loop; at != NONE; at = loops_[at].parent) {
            --left[at];
        }
        for (const std::uint32_t next : blocks_[number].successors) {
            if (position_[number] < position_[next] && --waits[next] == 0) {
                add(next);
            }
        }
    }

    Numbers final_of(blocks_.size(), NONE);
    for (std::uint32_t i = 0; i < placed.size(); ++i) {
        final_of[placed[i]] = i;
    }
    Graph& graph = work_.graph;
    for (const std::uint32_t number : placed) {
        Block& block = graph.blocks.emplace_back(std::move(blocks_[number]));
        for (std::uint32_t& next : block.successors) {
            next = final_of[next];
        }
        for (std::uint32_t& before : block.predecessors) {
            before = final_of[before];
        }
        std::ranges::sort(block.predecessors);
        const std::uint32_t above = dominators_[number];
        work_.dominators.push_back(above == NONE ? NONE : final_of[above]);
    }
    graph.exit = final_of[exit_];
    for (Loop& loop : loops_) {
        loop.header = final_of[loop.header];
    }
    // Inner loops have been found before outer ones.
    graph.loops = std::move(loops_);
    for (std::uint32_t number = 0; number < graph.blocks.size(); ++number) {
        const Block& block = graph.blocks[number];
        if (block.is_latch) {
            graph.loops[block.loop].latch = number;
        }
        for (std::uint32_t at = block.loop; at != NONE; at = graph.loops[at].parent) {
            graph.loops[at].blocks.push_back(number);
        }
    }
    for (std::uint32_t number = 0; number < graph.blocks.size(); ++number) {
        const Block& block = graph.blocks[number];
        if (block.is_loop_exit) {
            std::uint32_t at = graph.blocks[block.predecessors[0]].loop;
            for (; at != NONE && !contains(graph.loops[at], number); at = graph.loops[at].parent) {
                graph.loops[at].exits.push_back(number);
            }
        }
    }
}

void Builder::mark_entries() {
    Graph& graph = work_.graph;
    const auto mark = [&](std::uint32_t number) {
        // Blocks of our own have the pc of what follows.
        while (graph.blocks[number].is_own) {
            number = graph.blocks[number].successors[0];
        }
        graph.blocks[number].is_entry = number != graph.exit;
    };
    for (std::uint32_t number = 0; number < graph.blocks.size(); ++number) {
        const Block& block = graph.blocks[number];
        if (block.predecessors.empty()) {
            mark(number);
        }
        if (block.end == Block::End::Boundary) {
            std::ranges::for_each(block.successors, mark);
        }
    }
    for (const Loop& loop : graph.loops) {
        mark(loop.header);
    }
}

} // namespace

std::string find_blocks(Work& work) {
    return Builder(work).build();
}

} // namespace cuprum::emulator::jit::analysis
