// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Values: static single assignment of the slots of a frame.
//
// A phi stands where different definitions of a slot meet, if the slot is live there, and in every
// block behind a loop that writes it (LCSSA): lanes that leave a loop in different rounds keep
// their own values.

#include "bytecode/forms.hpp"
#include "jit/analysis/internal.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <utility>

namespace cuprum::emulator::jit {

using bytecode::Bank;
using bytecode::Instruction;
using bytecode::Operand;
using bytecode::Width;

std::uint64_t constant_of(const Graph& graph, const Ref& ref, Width width, std::uint32_t lane) {
    const std::byte* const place = graph.kernel->constant_bank.get() + ref.operand.offset();
    if (width == Width::Predicate) {
        std::uint32_t mask = 0;
        std::memcpy(&mask, place, sizeof mask);
        return mask >> lane & 1;
    }
    const auto bytes = static_cast<std::size_t>(width);
    std::uint64_t bits = 0;
    std::memcpy(&bits, place + bytes * lane, std::min(bytes, sizeof bits));
    return bits;
}

std::optional<std::uint64_t> known_bits(const Graph& graph, const Ref& ref, Width width) {
    if (ref.kind == Ref::Kind::Constant) {
        return constant_of(graph, ref, width);
    }
    if (ref.kind != Ref::Kind::Value || graph.values[ref.value].kind != Value::Kind::Result) {
        return std::nullopt;
    }
    const Value& value = graph.values[ref.value];
    const Node& node = graph.blocks[value.block].nodes[value.node];
    const bytecode::Form& form = graph.kernel->code[node.pc].form;
    const bool is_copy = form.family() == bytecode::Family::Move &&
                         form.as<MoveForm>().op == MoveOp::Copy &&
                         node.guard.kind == Ref::Kind::None;
    return is_copy && node.sources[0].kind == Ref::Kind::Constant
               ? std::optional(constant_of(graph, node.sources[0], width))
               : std::nullopt;
}

namespace analysis {

namespace {

/// Larger frames, and larger tables of what is live where, are refused.
constexpr std::uint32_t MAX_FRAME_BYTES = 1u << 26;
constexpr std::size_t MAX_TABLE_BITS = std::size_t{1} << 28;

using Numbers = std::vector<std::uint32_t>;

/// A set of slots for each block or loop.
class SlotSets {
public:
    SlotSets() = default;

    SlotSets(std::size_t sets, std::size_t slots)
        : words_((slots + 63) / 64), bits_(sets * words_, 0) {}

    [[nodiscard]] bool has(std::size_t set, std::uint32_t slot) const {
        return (bits_[set * words_ + slot / 64] >> (slot % 64) & 1) != 0;
    }

    void add(std::size_t set, std::uint32_t slot) {
        bits_[set * words_ + slot / 64] |= std::uint64_t{1} << (slot % 64);
    }

    void remove(std::size_t set, std::uint32_t slot) {
        bits_[set * words_ + slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
    }

    [[nodiscard]] std::span<std::uint64_t> words(std::size_t set) {
        return {bits_.data() + set * words_, words_};
    }

    template <typename Visit>
    void for_each(std::size_t set, Visit visit) const {
        for (std::size_t w = 0; w < words_; ++w) {
            for (std::uint64_t rest = bits_[set * words_ + w]; rest != 0; rest &= rest - 1) {
                visit(static_cast<std::uint32_t>(w * 64) +
                      static_cast<std::uint32_t>(std::countr_zero(rest)));
            }
        }
    }

private:
    std::size_t words_ = 0;
    std::vector<std::uint64_t> bits_;
};

/// Builds the values of a graph.
class Builder {
public:
    explicit Builder(Work& work) : work_(work), graph_(work.graph), kernel_(*work.graph.kernel) {}

    [[nodiscard]] std::string build();

private:
    void resolve_operands();
    void find_slots();
    void find_liveness();
    void place_phis();
    void rename();
    void enter(std::uint32_t number);
    void write(std::uint32_t slot, std::uint32_t value);
    void drop_unneeded();
    void find_used_elsewhere();

    [[nodiscard]] Ref ref_of(Operand operand, Width width) const;

    [[nodiscard]] std::uint32_t slot_of(Operand operand) const {
        return is_register(operand) ? slot_at_[operand.offset() / 4] : NONE;
    }

    [[nodiscard]] static bool is_register(Operand operand) {
        return operand.bank() == Bank::Registers && !operand.is_none();
    }

    [[nodiscard]] std::uint32_t add_value(Value::Kind kind, std::uint32_t slot, std::uint32_t block,
                                          std::uint32_t node);
    [[nodiscard]] std::uint32_t current(std::uint32_t slot);

    [[nodiscard]] const Instruction* boundary(const Block& block) const {
        return block.end == Block::End::Boundary ? &kernel_.code[block.end_pc] : nullptr;
    }

    void read(Ref& ref);

    Work& work_;
    Graph& graph_;
    const bytecode::Kernel& kernel_;
    Numbers slot_at_;                // by offset / 4
    Numbers offsets_;                // by slot
    std::vector<Width> widths_;      // by slot
    std::vector<bool> is_special_;   // by slot: set when the warp starts
    std::vector<bool> is_symbol_;    // by offset / BANK_ALIGNMENT in the constants
    SlotSets live_in_;               // by block
    SlotSets live_out_;              // by block, behind the nodes
    SlotSets written_;               // by block, also by its Boundary
    std::vector<Numbers> phi_slots_; // by block
    Numbers current_;                // by slot, while values are found
    Numbers initial_;                // by slot: the value in the frame at the start
    std::vector<std::pair<std::uint32_t, std::uint32_t>> undo_; // slot, value before
};

std::string Builder::build() {
    if (kernel_.frame_bytes > MAX_FRAME_BYTES) {
        return "it has too many registers";
    }
    find_slots();
    if (graph_.blocks.size() * offsets_.size() > MAX_TABLE_BITS) {
        return "it has too many blocks and registers";
    }
    resolve_operands();
    find_liveness();
    place_phis();
    rename();
    drop_unneeded();
    find_used_elsewhere();
    return {};
}

// ---- operands ----------------------------------------------------------------------------------

void Builder::find_slots() {
    slot_at_.assign(kernel_.frame_bytes / 4 + 1, NONE);
    std::vector<bool> is_used(slot_at_.size(), false);
    const auto note = [&](Operand operand) {
        if (is_register(operand)) {
            is_used[operand.offset() / 4] = true;
        }
    };
    for (const Instruction& instruction : kernel_.code) {
        note(instruction.guard);
        std::ranges::for_each(sources_of(kernel_, instruction), note);
        std::ranges::for_each(destinations_of(kernel_, instruction), note);
    }
    auto range = kernel_.slot_ranges.begin();
    for (std::uint32_t at = 0; at < is_used.size(); ++at) {
        if (is_used[at]) {
            while (range->end <= at * 4) {
                ++range;
            }
            slot_at_[at] = static_cast<std::uint32_t>(offsets_.size());
            offsets_.push_back(at * 4);
            widths_.push_back(range->width);
        }
    }
    is_special_.assign(offsets_.size(), false);
    for (const bytecode::SpecialSlot& special : kernel_.warp_specials) {
        if (slot_at_[special.offset / 4] != NONE) {
            is_special_[slot_at_[special.offset / 4]] = true;
        }
    }
    is_symbol_.assign(kernel_.constant_bytes / bytecode::BANK_ALIGNMENT + 1, false);
    for (const bytecode::SymbolSlot& symbol : kernel_.symbol_slots) {
        is_symbol_[symbol.offset / bytecode::BANK_ALIGNMENT] = true;
    }
}

Ref Builder::ref_of(Operand operand, Width width) const {
    Ref ref;
    ref.operand = operand;
    if (operand.is_none()) {
        return ref;
    }
    switch (operand.bank()) {
    case Bank::Registers:
        ref.kind = Ref::Kind::Value;
        break;
    case Bank::Constants: {
        ref.kind = Ref::Kind::Constant;
        if (is_symbol_[operand.offset() / bytecode::BANK_ALIGNMENT]) {
            ref.kind = Ref::Kind::Bank;
            break;
        }
        const std::uint64_t first = constant_of(graph_, ref, width);
        for (std::uint32_t lane = 1; lane < bytecode::WARP_SIZE; ++lane) {
            if (constant_of(graph_, ref, width, lane) != first) {
                ref.kind = Ref::Kind::Lanes;
            }
        }
        break;
    }
    default:
        ref.kind = Ref::Kind::Bank;
    }
    return ref;
}

void Builder::resolve_operands() {
    for (Block& block : graph_.blocks) {
        for (Node& node : block.nodes) {
            const Instruction& instruction = kernel_.code[node.pc];
            node.guard = ref_of(instruction.guard, Width::Predicate);
            const std::vector<Operand> sources = sources_of(kernel_, instruction);
            node.sources.reserve(sources.size());
            for (std::size_t i = 0; i < sources.size(); ++i) {
                node.sources.push_back(ref_of(sources[i], source_width(instruction, i)));
            }
        }
        block.condition = ref_of(block.condition.operand, Width::Predicate);
    }
}

// ---- what is live ------------------------------------------------------------------------------

void Builder::find_liveness() {
    const std::size_t count = graph_.blocks.size();
    SlotSets used(count, offsets_.size()); // before they are written
    live_in_ = SlotSets(count, offsets_.size());
    live_out_ = SlotSets(count, offsets_.size());
    written_ = SlotSets(count, offsets_.size());
    SlotSets written_last(count, offsets_.size()); // surely, by the Boundary
    SlotSets read_last(count, offsets_.size());    // by the end of the block
    for (std::uint32_t b = 0; b < count; ++b) {
        const Block& block = graph_.blocks[b];
        const auto read = [&](Operand operand) {
            const std::uint32_t slot = slot_of(operand);
            if (slot != NONE && !written_.has(b, slot)) {
                used.add(b, slot);
            }
        };
        const auto read_at_end = [&](Operand operand) {
            if (const std::uint32_t slot = slot_of(operand); slot != NONE) {
                read_last.add(b, slot);
            }
        };
        for (const Node& node : block.nodes) {
            const Instruction& instruction = kernel_.code[node.pc];
            read(instruction.guard);
            std::ranges::for_each(sources_of(kernel_, instruction), read);
            for (const Operand operand : destinations_of(kernel_, instruction)) {
                if (!instruction.guard.is_none()) {
                    read(operand);
                }
            }
            for (const Operand operand : destinations_of(kernel_, instruction)) {
                if (const std::uint32_t slot = slot_of(operand); slot != NONE) {
                    written_.add(b, slot);
                }
            }
        }
        read_at_end(block.condition.operand);
        if (const Instruction* const last = boundary(block)) {
            read_at_end(last->guard);
            std::ranges::for_each(sources_of(kernel_, *last), read_at_end);
            for (const Operand operand : destinations_of(kernel_, *last)) {
                const std::uint32_t slot = slot_of(operand);
                if (slot == NONE) {
                    continue;
                }
                if (last->guard.is_none()) {
                    written_last.add(b, slot);
                } else {
                    read_last.add(b, slot);
                }
            }
        }
    }
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        for (auto b = static_cast<std::uint32_t>(count); b-- > 0;) {
            const auto out = live_out_.words(b);
            const auto in = live_in_.words(b);
            std::ranges::fill(out, 0);
            for (const std::uint32_t next : graph_.blocks[b].successors) {
                const auto live = live_in_.words(next);
                for (std::size_t w = 0; w < out.size(); ++w) {
                    out[w] |= live[w];
                }
            }
            for (std::size_t w = 0; w < out.size(); ++w) {
                out[w] = (out[w] & ~written_last.words(b)[w]) | read_last.words(b)[w];
                const std::uint64_t now = used.words(b)[w] | (out[w] & ~written_.words(b)[w]);
                has_changed |= now != in[w];
                in[w] = now;
            }
        }
    }
    for (std::uint32_t b = 0; b < count; ++b) {
        if (const Instruction* const last = boundary(graph_.blocks[b])) {
            for (const Operand operand : destinations_of(kernel_, *last)) {
                if (const std::uint32_t slot = slot_of(operand); slot != NONE) {
                    written_.add(b, slot);
                }
            }
        }
    }
}

// ---- phis --------------------------------------------------------------------------------------

void Builder::place_phis() {
    const auto count = static_cast<std::uint32_t>(graph_.blocks.size());
    phi_slots_.assign(count, {});
    SlotSets phis(count, offsets_.size());

    SlotSets written_in(graph_.loops.size(), offsets_.size());
    for (std::uint32_t b = 0; b < count; ++b) {
        const auto from = written_.words(b);
        for (std::uint32_t at = graph_.blocks[b].loop; at != NONE; at = graph_.loops[at].parent) {
            const auto to = written_in.words(at);
            for (std::size_t w = 0; w < to.size(); ++w) {
                to[w] |= from[w];
            }
        }
    }

    // The blocks where what a block defines meets something else.
    std::vector<Numbers> frontiers(count);
    for (std::uint32_t b = 0; b < count; ++b) {
        const Block& block = graph_.blocks[b];
        if (block.predecessors.size() < 2 || b == graph_.exit) {
            continue; // nothing is live at the exit
        }
        for (std::uint32_t at : block.predecessors) {
            for (; at != NONE && at != work_.dominators[b]; at = work_.dominators[at]) {
                if (!frontiers[at].empty() && frontiers[at].back() == b) {
                    break; // so have those above
                }
                frontiers[at].push_back(b);
            }
        }
    }

    std::vector<Numbers> writers(offsets_.size());
    const auto add_phi = [&](std::uint32_t b, std::uint32_t slot) {
        if (!phis.has(b, slot)) {
            phis.add(b, slot);
            writers[slot].push_back(b);
        }
    };
    for (std::uint32_t b = 0; b < count; ++b) {
        written_.for_each(b, [&](std::uint32_t slot) { writers[slot].push_back(b); });
        if (graph_.blocks[b].is_loop_exit) {
            std::uint32_t left = NONE; // the outermost loop that is left
            for (std::uint32_t at = graph_.blocks[graph_.blocks[b].predecessors[0]].loop;
                 at != NONE && !contains(graph_.loops[at], b); at = graph_.loops[at].parent) {
                left = at;
            }
            live_in_.for_each(b, [&](std::uint32_t slot) {
                if (written_in.has(left, slot)) {
                    add_phi(b, slot);
                }
            });
        }
    }
    for (std::uint32_t slot = 0; slot < offsets_.size(); ++slot) {
        for (std::size_t i = 0; i < writers[slot].size(); ++i) {
            for (const std::uint32_t b : frontiers[writers[slot][i]]) {
                if (live_in_.has(b, slot)) {
                    add_phi(b, slot);
                }
            }
        }
    }
    for (std::uint32_t b = 0; b < count; ++b) {
        phis.for_each(b, [&](std::uint32_t slot) { phi_slots_[b].push_back(slot); });
    }
}

// ---- values ------------------------------------------------------------------------------------

std::uint32_t Builder::add_value(Value::Kind kind, std::uint32_t slot, std::uint32_t block,
                                 std::uint32_t node) {
    Value& value = graph_.values.emplace_back();
    value.kind = kind;
    value.width = widths_[slot];
    value.slot = offsets_[slot];
    value.block = block;
    value.node = node;
    return static_cast<std::uint32_t>(graph_.values.size() - 1);
}

/// Returns the value that is in a slot now.
std::uint32_t Builder::current(std::uint32_t slot) {
    if (current_[slot] != NONE) {
        return current_[slot];
    }
    if (initial_[slot] == NONE) {
        initial_[slot] = add_value(is_special_[slot] ? Value::Kind::Entry : Value::Kind::Undefined,
                                   slot, NONE, NONE);
    }
    return initial_[slot];
}

void Builder::write(std::uint32_t slot, std::uint32_t value) {
    undo_.emplace_back(slot, current_[slot]);
    current_[slot] = value;
}

void Builder::read(Ref& ref) {
    if (ref.kind == Ref::Kind::Value) {
        ref.value = current(slot_of(ref.operand));
    }
}

void Builder::rename() {
    current_.assign(offsets_.size(), NONE);
    initial_.assign(offsets_.size(), NONE);
    const auto count = static_cast<std::uint32_t>(graph_.blocks.size());
    std::vector<Numbers> below(count);
    Numbers roots;
    for (std::uint32_t b = count; b-- > 0;) {
        (work_.dominators[b] == NONE ? roots : below[work_.dominators[b]]).push_back(b);
        for (const std::uint32_t slot : phi_slots_[b]) {
            const std::uint32_t phi = add_value(Value::Kind::Phi, slot, b, NONE);
            graph_.values[phi].inputs.assign(graph_.blocks[b].predecessors.size(), NONE);
            graph_.blocks[b].phis.push_back(phi);
        }
    }

    struct Step {
        std::uint32_t block;
        std::size_t undo; // how far to go back afterwards
        bool is_done;
    };

    std::vector<Step> steps;
    for (const std::uint32_t root : roots) {
        steps.push_back({root, 0, false});
    }
    std::ranges::reverse(steps);
    while (!steps.empty()) {
        Step& step = steps.back();
        if (step.is_done) {
            for (; undo_.size() > step.undo; undo_.pop_back()) {
                current_[undo_.back().first] = undo_.back().second;
            }
            steps.pop_back();
            continue;
        }
        step.is_done = true;
        step.undo = undo_.size();
        const std::uint32_t number = step.block;
        enter(number);
        for (const std::uint32_t next : below[number]) {
            steps.push_back({next, 0, false});
        }
    }
}

/// Finds the values of one block, and what it contributes to the phis of its successors.
void Builder::enter(std::uint32_t number) {
    Block& block = graph_.blocks[number];
    for (std::size_t i = 0; i < block.phis.size(); ++i) {
        write(phi_slots_[number][i], block.phis[i]);
    }
    live_in_.for_each(number, [&](std::uint32_t slot) { block.live_in.push_back(current(slot)); });
    for (std::uint32_t n = 0; n < block.nodes.size(); ++n) {
        Node& node = block.nodes[n];
        read(node.guard);
        std::ranges::for_each(node.sources, [this](Ref& ref) { read(ref); });
        const std::vector<Operand> destinations = destinations_of(kernel_, kernel_.code[node.pc]);
        if (node.guard.kind != Ref::Kind::None) {
            for (const Operand operand : destinations) {
                const std::uint32_t slot = slot_of(operand);
                node.previous.push_back(slot == NONE ? NONE : current(slot));
            }
        }
        for (const Operand operand : destinations) {
            const std::uint32_t slot = slot_of(operand);
            node.results.push_back(slot == NONE ? NONE
                                                : add_value(Value::Kind::Result, slot, number, n));
            if (slot != NONE) {
                write(slot, node.results.back());
            }
        }
    }
    read(block.condition);
    live_out_.for_each(number,
                       [&](std::uint32_t slot) { block.live_out.push_back(current(slot)); });
    if (const Instruction* const last = boundary(block)) {
        for (const Operand operand : destinations_of(kernel_, *last)) {
            if (const std::uint32_t slot = slot_of(operand); slot != NONE) {
                write(slot, add_value(Value::Kind::Entry, slot, number, NONE));
            }
        }
    }
    for (const std::uint32_t next : block.successors) {
        const Block& after = graph_.blocks[next];
        const auto place = static_cast<std::size_t>(
            std::ranges::lower_bound(after.predecessors, number) - after.predecessors.begin());
        for (std::size_t i = 0; i < after.phis.size(); ++i) {
            graph_.values[after.phis[i]].inputs[place] = current(phi_slots_[next][i]);
        }
    }
}

// ---- what is needed ----------------------------------------------------------------------------

/// Returns whether an instruction does more than to compute its results.
bool has_effect(const Instruction& instruction) {
    switch (instruction.form.family()) {
    case bytecode::Family::Move:
    case bytecode::Family::Integer:
    case bytecode::Family::Dot:
    case bytecode::Family::Bits:
    case bytecode::Family::Carry:
    case bytecode::Family::Float:
    case bytecode::Family::Compare:
    case bytecode::Family::Convert:
    case bytecode::Family::Pack:
        return false;
    default:
        return true; // also loads, which can fault
    }
}

/// Finds the values that something depends on, and removes the others from all lists.
void Builder::drop_unneeded() {
    std::vector<bool> is_needed(graph_.values.size(), false);
    Numbers open;
    const auto need = [&](std::uint32_t value) {
        if (value != NONE && !is_needed[value]) {
            is_needed[value] = true;
            open.push_back(value);
        }
    };
    const auto need_node = [&](const Node& node) {
        need(node.guard.value);
        for (const Ref& ref : node.sources) {
            need(ref.value);
        }
        std::ranges::for_each(node.previous, need);
        std::ranges::for_each(node.results, need);
    };
    for (Block& block : graph_.blocks) {
        for (const Node& node : block.nodes) {
            if (has_effect(kernel_.code[node.pc])) {
                need_node(node);
            }
        }
        need(block.condition.value);
        if (const Instruction* const last = boundary(block)) {
            Numbers slots;
            const auto add = [&](Operand operand) {
                if (const std::uint32_t slot = slot_of(operand); slot != NONE) {
                    slots.push_back(offsets_[slot]);
                }
            };
            add(last->guard);
            std::ranges::for_each(sources_of(kernel_, *last), add);
            std::ranges::for_each(destinations_of(kernel_, *last), add);
            for (const std::uint32_t value : block.live_out) {
                if (std::ranges::find(slots, graph_.values[value].slot) != slots.end()) {
                    need(value);
                }
            }
        }
    }
    while (!open.empty()) {
        const Value& value = graph_.values[open.back()];
        open.pop_back();
        if (value.kind == Value::Kind::Phi) {
            std::ranges::for_each(value.inputs, need);
        } else if (value.kind == Value::Kind::Result) {
            need_node(graph_.blocks[value.block].nodes[value.node]);
        }
    }
    const auto drop = [&](Numbers& values) {
        std::erase_if(values, [&](std::uint32_t value) { return !is_needed[value]; });
    };
    for (Block& block : graph_.blocks) {
        drop(block.phis);
        drop(block.live_in);
        drop(block.live_out);
        for (Node& node : block.nodes) {
            node.is_needed = has_effect(kernel_.code[node.pc]) ||
                             std::ranges::any_of(node.results, [&](std::uint32_t value) {
                                 return value != NONE && is_needed[value];
                             });
        }
    }
}

void Builder::find_used_elsewhere() {
    for (std::uint32_t b = 0; b < graph_.blocks.size(); ++b) {
        const Block& block = graph_.blocks[b];
        for (const std::uint32_t value : block.live_in) {
            graph_.values[value].is_used_elsewhere |= graph_.values[value].block != b;
        }
        for (const std::uint32_t phi : block.phis) {
            for (const std::uint32_t input : graph_.values[phi].inputs) {
                graph_.values[input].is_used_elsewhere = true;
            }
        }
    }
}

} // namespace

std::string find_values(Work& work) {
    return Builder(work).build();
}

} // namespace analysis

} // namespace cuprum::emulator::jit
