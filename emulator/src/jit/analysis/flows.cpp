// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The order under masks, together with the lanes of all values: a branch is divergent if its
// condition differs between lanes, and a phi differs between lanes that come by different ways.
//
// Both are found by assuming at first that no branch is divergent and no value known. Facts only
// get worse from there, so that this ends.

#include "bytecode/forms.hpp"
#include "jit/analysis/internal.hpp"

#include <algorithm>
#include <iterator>
#include <span>

namespace cuprum::emulator::jit::analysis {

namespace {

/// A branch over at most so many instructions is masked in F.
constexpr std::size_t MAX_SIMPLE_NODES = 16;
constexpr std::size_t MAX_SIMPLE_BLOCKS = 32;

/// More entries in the lists of blocks for which lanes may wait are refused.
constexpr std::size_t MAX_WAITING_TOTAL = 4'000'000;

using Numbers = std::vector<std::uint32_t>;

Lanes uniform() {
    Lanes lanes;
    lanes.kind = Lanes::Kind::Uniform;
    return lanes;
}

/// The users of each value, to look at again when its lanes change.
class Users {
public:
    explicit Users(const Graph& graph);

    struct User {
        std::uint32_t block;
        std::uint32_t node; // or NONE: the phi
        std::uint32_t phi;
    };

    [[nodiscard]] std::span<const User> of(std::uint32_t value) const {
        return {users_.data() + first_[value], first_[value + 1] - first_[value]};
    }

private:
    std::vector<std::size_t> first_;
    std::vector<User> users_;
};

Users::Users(const Graph& graph) : first_(graph.values.size() + 1, 0) {
    const auto for_each = [&](auto visit) {
        for (std::uint32_t b = 0; b < graph.blocks.size(); ++b) {
            const Block& block = graph.blocks[b];
            for (const std::uint32_t phi : block.phis) {
                for (const std::uint32_t input : graph.values[phi].inputs) {
                    visit(input, User{b, NONE, phi});
                }
            }
            for (std::uint32_t n = 0; n < block.nodes.size(); ++n) {
                const Node& node = block.nodes[n];
                const auto note = [&](std::uint32_t value) {
                    if (value != NONE) {
                        visit(value, User{b, n, NONE});
                    }
                };
                note(node.guard.value);
                for (const Ref& ref : node.sources) {
                    note(ref.value);
                }
                std::ranges::for_each(node.previous, note);
            }
        }
    };
    for_each([&](std::uint32_t value, const User&) { ++first_[value + 1]; });
    for (std::size_t i = 1; i < first_.size(); ++i) {
        first_[i] += first_[i - 1];
    }
    users_.resize(first_.back());
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for_each([&](std::uint32_t value, const User& user) { users_[next[value]++] = user; });
}

/// Analyses one version.
class Solver {
public:
    Solver(Graph& graph, const Users& users, Version version)
        : graph_(graph), users_(users), version_(version),
          flow_(graph.flows[static_cast<std::size_t>(version)]) {}

    [[nodiscard]] std::string solve();

private:
    void find_waiting();
    void add_waiting(Numbers blocks);
    void find_masks();
    void find_lanes();
    bool finish_unknown();
    [[nodiscard]] bool find_divergence();

    [[nodiscard]] Lanes& lanes(std::uint32_t value) {
        return graph_.values[value].lanes[static_cast<std::size_t>(version_)];
    }

    void update(std::uint32_t value, const Lanes& now);
    void update_phi(std::uint32_t block, std::uint32_t phi);
    void update_node(std::uint32_t block, Node& node);
    [[nodiscard]] bool joins_different_ways(std::uint32_t block, const Value& phi) const;
    void mark_dirty(std::uint32_t block, std::uint32_t node, std::uint32_t phi);

    Graph& graph_;
    const Users& users_;
    Version version_;
    Flow& flow_;
    std::vector<bool> is_loop_divergent_;
    std::vector<std::vector<bool>> is_dirty_node_; // by block
    std::vector<bool> is_dirty_phi_;               // by value
    std::vector<bool> is_dirty_;                   // by block
    std::size_t total_waiting_ = 0;
};

std::string Solver::solve() {
    const std::size_t count = graph_.blocks.size();
    flow_.is_divergent.assign(count, false);
    is_loop_divergent_.assign(graph_.loops.size(), false);
    is_dirty_phi_.assign(graph_.values.size(), false);
    is_dirty_.assign(count, true);
    for (const Block& block : graph_.blocks) {
        is_dirty_node_.emplace_back(block.nodes.size(), true);
    }
    for (std::uint32_t value = 0; value < graph_.values.size(); ++value) {
        const Value& it = graph_.values[value];
        lanes(value) = it.kind == Value::Kind::Entry       ? lanes_of_entry(graph_, it)
                       : it.kind == Value::Kind::Undefined ? uniform()
                                                           : Lanes{};
    }
    do {
        find_waiting();
        if (total_waiting_ > MAX_WAITING_TOTAL) {
            return "too many of its branches differ between lanes";
        }
        find_masks();
        for (std::uint32_t b = 0; b < count; ++b) {
            for (const std::uint32_t phi : graph_.blocks[b].phis) {
                mark_dirty(b, NONE, phi);
            }
        }
        do {
            find_lanes();
        } while (finish_unknown());
    } while (find_divergence());
    if (version_ == Version::Partial) {
        for (std::size_t i = 0; i < graph_.loops.size(); ++i) {
            graph_.loops[i].is_divergent = is_loop_divergent_[i];
        }
    }
    return {};
}

// ---- where lanes wait --------------------------------------------------------------------------

/// Lanes are there for all these blocks: those for the first one run, the others wait meanwhile.
void Solver::add_waiting(Numbers blocks) {
    if (blocks.size() < 2) {
        return;
    }
    std::ranges::sort(blocks);
    blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
    Numbers& waiting = flow_.waiting[blocks.front()];
    const std::size_t before = waiting.size();
    Numbers all;
    std::set_union(waiting.begin(), waiting.end(), blocks.begin() + 1, blocks.end(),
                   std::back_inserter(all));
    waiting = std::move(all);
    total_waiting_ += waiting.size() - before;
}

void Solver::find_waiting() {
    flow_.waiting.assign(graph_.blocks.size(), {});
    total_waiting_ = 0;
    for (std::uint32_t b = 0; b < graph_.blocks.size() && total_waiting_ <= MAX_WAITING_TOTAL;
         ++b) {
        Block& block = graph_.blocks[b];
        Numbers& waiting = flow_.waiting[b];
        const bool is_in_divergent_loop = block.loop != NONE && is_loop_divergent_[block.loop];
        if (is_in_divergent_loop && graph_.loops[block.loop].header == b) {
            // Lanes that have left in earlier rounds. Those behind a Boundary are gone.
            Numbers exits;
            for (const std::uint32_t exit : graph_.loops[block.loop].exits) {
                const Block& from = graph_.blocks[graph_.blocks[exit].predecessors[0]];
                if (from.end != Block::End::Boundary) {
                    exits.push_back(exit);
                }
            }
            exits.push_back(b);
            add_waiting(std::move(exits));
        }
        if (block.is_latch) {
            if (is_in_divergent_loop) {
                add_waiting(waiting);
            }
            continue;
        }
        if (block.end == Block::End::Boundary) {
            add_waiting(waiting); // the block is skipped if no lanes have come to it
            continue;
        }
        Numbers next = block.successors;
        if (version_ == Version::Partial) {
            block.leaves_early = flow_.is_divergent[b] && waiting.empty() &&
                                 std::ranges::find(next, graph_.exit) != next.end();
            if (block.leaves_early) {
                std::erase(next, graph_.exit);
            }
        }
        const Numbers here = waiting;
        const auto go = [&](Numbers to) {
            to.insert(to.end(), here.begin(), here.end());
            add_waiting(std::move(to));
        };
        if (flow_.is_divergent[b]) {
            go(next);
        } else {
            for (const std::uint32_t to : next) {
                go({to});
            }
        }
        go({}); // the block is skipped if no lanes have come to it
    }
}

void Solver::find_masks() {
    flow_.has_mask.assign(graph_.blocks.size(), false);
    for (const Numbers& waiting : flow_.waiting) {
        for (const std::uint32_t block : waiting) {
            flow_.has_mask[block] = true;
        }
    }
}

// ---- lanes -------------------------------------------------------------------------------------

void Solver::mark_dirty(std::uint32_t block, std::uint32_t node, std::uint32_t phi) {
    is_dirty_[block] = true;
    if (node == NONE) {
        is_dirty_phi_[phi] = true;
    } else {
        is_dirty_node_[block][node] = true;
    }
}

void Solver::find_lanes() {
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        for (std::uint32_t b = 0; b < graph_.blocks.size(); ++b) {
            if (!is_dirty_[b]) {
                continue;
            }
            has_changed = true;
            is_dirty_[b] = false;
            Block& block = graph_.blocks[b];
            for (const std::uint32_t phi : block.phis) {
                if (is_dirty_phi_[phi]) {
                    is_dirty_phi_[phi] = false;
                    update_phi(b, phi);
                }
            }
            for (std::size_t n = 0; n < block.nodes.size(); ++n) {
                if (is_dirty_node_[b][n]) {
                    is_dirty_node_[b][n] = false;
                    update_node(b, block.nodes[n]);
                }
            }
        }
    }
}

/// Worsens what is known of a value, never the reverse.
void Solver::update(std::uint32_t value, const Lanes& now) {
    if (now.kind == Lanes::Kind::Unknown) {
        return;
    }
    Lanes& known = lanes(value);
    Lanes both = meet(known, now);
    if (graph_.values[value].kind == Value::Kind::Phi && known.kind != Lanes::Kind::Unknown &&
        both.most > known.most) {
        both.most = UNBOUNDED; // what a loop adds to would grow round by round
    }
    if (both == known) {
        return;
    }
    known = std::move(both);
    for (const Users::User& user : users_.of(value)) {
        mark_dirty(user.block, user.node, user.phi);
    }
}

/// Returns whether lanes that run a block together may have come to it with different inputs of a
/// phi.
bool Solver::joins_different_ways(std::uint32_t number, const Value& phi) const {
    const Block& block = graph_.blocks[number];
    if (block.is_loop_exit) {
        for (std::uint32_t at = graph_.blocks[block.predecessors[0]].loop;
             at != NONE && !contains(graph_.loops[at], number); at = graph_.loops[at].parent) {
            if (is_loop_divergent_[at]) {
                return true;
            }
        }
        return false;
    }
    if (!flow_.has_mask[number]) {
        return false;
    }
    std::uint32_t first = NONE;
    for (std::size_t i = 0; i < phi.inputs.size(); ++i) {
        if (block.predecessors[i] >= number) {
            continue; // a round later
        }
        if (first != NONE && phi.inputs[i] != first) {
            return true;
        }
        first = phi.inputs[i];
    }
    return false;
}

void Solver::update_phi(std::uint32_t block, std::uint32_t phi) {
    const Value& value = graph_.values[phi];
    Lanes all;
    for (const std::uint32_t input : value.inputs) {
        if (graph_.values[input].kind != Value::Kind::Undefined) {
            all = meet(all, lanes(input));
        }
    }
    if (all.kind == Lanes::Kind::Unknown) {
        return;
    }
    if (joins_different_ways(block, value)) {
        all = Lanes::varying();
    }
    update(phi, all);
}

void Solver::update_node(std::uint32_t block, Node& node) {
    const bool is_guarded = node.guard.kind != Ref::Kind::None;
    const Lanes guard = lanes_of(graph_, node.guard, version_);
    for (std::size_t i = 0; i < node.results.size(); ++i) {
        if (node.results[i] == NONE) {
            continue;
        }
        Lanes now = lanes_of_result(graph_, node, i, version_);
        if (is_guarded && now.kind != Lanes::Kind::Unknown) {
            const Lanes& before = lanes(node.previous[i]);
            if (guard.kind == Lanes::Kind::Unknown || before.kind == Lanes::Kind::Unknown) {
                continue;
            }
            now = guard.is_uniform() ? meet(now, before) : Lanes::varying();
        }
        if (!flow_.waiting[block].empty()) { // under a mask
            now.symmetry = 0;
        } else if (now.symmetry == bytecode::WARP_SIZE - 1) {
            now = uniform();
        }
        update(node.results[i], now);
    }
}

/// What depends only on itself or on what was never written is varying. Returns whether there is
/// such a value.
bool Solver::finish_unknown() {
    bool has_unknown = false;
    for (const Block& block : graph_.blocks) {
        const auto finish = [&](std::uint32_t value) {
            if (value != NONE && lanes(value).kind == Lanes::Kind::Unknown) {
                has_unknown = true;
                update(value, Lanes::varying());
            }
        };
        std::ranges::for_each(block.phis, finish);
        for (const Node& node : block.nodes) {
            std::ranges::for_each(node.results, finish);
        }
    }
    return has_unknown;
}

/// Finds divergent branches and loops. Returns whether there are new ones.
bool Solver::find_divergence() {
    bool has_changed = false;
    for (std::uint32_t b = 0; b < graph_.blocks.size(); ++b) {
        const Block& block = graph_.blocks[b];
        if (block.end != Block::End::Branch || flow_.is_divergent[b] ||
            (version_ == Version::Full && !block.is_simple)) {
            continue;
        }
        if (!lanes_of(graph_, block.condition, version_).is_uniform()) {
            flow_.is_divergent[b] = true;
            has_changed = true;
        }
    }
    if (version_ == Version::Full) {
        return has_changed;
    }
    // Lanes leave a loop in different rounds if others stay in it.
    for (std::size_t i = 0; i < graph_.loops.size(); ++i) {
        const Loop& loop = graph_.loops[i];
        for (const std::uint32_t exit : loop.exits) {
            const std::uint32_t from = graph_.blocks[exit].predecessors[0];
            const Numbers& waiting = flow_.waiting[from];
            const bool do_others_stay = !waiting.empty() && waiting.front() <= loop.latch;
            if (!is_loop_divergent_[i] && (flow_.is_divergent[from] || do_others_stay)) {
                is_loop_divergent_[i] = true;
                has_changed = true;
            }
        }
    }
    return has_changed;
}

// ---- short branches ----------------------------------------------------------------------------

/// Returns whether an instruction may run under a mask in F.
bool is_easy(const Graph& graph, const Node& node) {
    const bytecode::Form& form = graph.kernel->code[node.pc].form;
    switch (form.family()) {
    case bytecode::Family::Atomic:
    case bytecode::Family::Warp:
    case bytecode::Family::Matrix:
    case bytecode::Family::Fixed:
        return false;
    default:
        return true;
    }
}

/// Returns whether all lanes that take a divergent branch meet again after few instructions.
bool is_simple(const Graph& graph, std::uint32_t number) {
    const Block& block = graph.blocks[number];
    const Flow& flow = graph.flow(Version::Partial);
    if (block.is_latch) {
        return false;
    }
    Numbers open(block.successors); // sorted; where lanes are
    std::ranges::sort(open);
    Numbers seen;
    std::size_t nodes = 0;
    while (open.size() > 1) {
        const std::uint32_t at = open.front();
        open.erase(open.begin());
        const Block& here = graph.blocks[at];
        seen.push_back(at);
        if (here.is_loop_exit || here.end == Block::End::Boundary || here.end == Block::End::Exit ||
            here.loop != block.loop || here.is_latch ||
            (here.loop != NONE && graph.loops[here.loop].header == at) ||
            (flow.is_divergent[at] && !here.is_simple) || seen.size() > MAX_SIMPLE_BLOCKS) {
            return false;
        }
        for (const std::uint32_t before : here.predecessors) {
            if (before != number && std::ranges::find(seen, before) == seen.end()) {
                return false;
            }
        }
        for (const Node& node : here.nodes) {
            nodes += node.is_needed ? 1 : 0;
            if (!is_easy(graph, node)) {
                return false;
            }
        }
        if (nodes > MAX_SIMPLE_NODES) {
            return false;
        }
        for (const std::uint32_t next : here.successors) {
            const auto place = std::ranges::lower_bound(open, next);
            if (place == open.end() || *place != next) {
                open.insert(place, next);
            }
        }
    }
    const Block& join = graph.blocks[open.front()];
    return join.end != Block::End::Exit && join.loop == block.loop && !join.is_loop_exit &&
           open.front() > number;
}

/// Marks the instructions that widen a pattern which may wrap around.
void find_widening(Graph& graph) {
    for (Block& block : graph.blocks) {
        for (Node& node : block.nodes) {
            const bytecode::Form& form = graph.kernel->code[node.pc].form;
            bool widens = false;
            std::size_t sources = 1;
            if (form.family() == bytecode::Family::Convert) {
                const auto convert = form.as<ConvertForm>();
                widens = (convert.from == Format::U32 || convert.from == Format::S32) &&
                         (convert.to == Format::U64 || convert.to == Format::S64);
            } else if (form.family() == bytecode::Family::Integer) {
                const IntegerOp op = form.as<IntegerForm>().op;
                widens = op == IntegerOp::MulWide || op == IntegerOp::MadWide;
                sources = 2;
            }
            if (!widens || node.results[0] == NONE) {
                continue;
            }
            for (std::size_t v = 0; v < VERSIONS; ++v) {
                const auto version = static_cast<Version>(v);
                if (graph.lanes(node.results[0], version).is_varying()) {
                    continue;
                }
                for (std::size_t i = 0; i < sources; ++i) {
                    node.must_not_wrap[v] = node.must_not_wrap[v] ||
                                            !never_wraps(lanes_of(graph, node.sources[i], version));
                }
            }
        }
    }
}

} // namespace

std::string find_flows(Work& work) {
    Graph& graph = work.graph;
    const Users users(graph);
    if (std::string problem = Solver(graph, users, Version::Partial).solve(); !problem.empty()) {
        return problem;
    }
    const Flow& partial = graph.flow(Version::Partial);
    // From the last one on, so that those inside are known before those around them.
    for (auto b = static_cast<std::uint32_t>(graph.blocks.size()); b-- > 0;) {
        Block& block = graph.blocks[b];
        block.is_simple = partial.is_divergent[b] && !block.leaves_early && is_simple(graph, b);
    }
    if (std::string problem = Solver(graph, users, Version::Full).solve(); !problem.empty()) {
        return problem;
    }
    for (std::uint32_t b = 0; b < graph.blocks.size(); ++b) {
        const Block& block = graph.blocks[b];
        graph.needs_partial |= block.end == Block::End::Branch && !block.is_simple &&
                               !lanes_of(graph, block.condition, Version::Full).is_uniform();
    }
    find_widening(graph);
    return {};
}

} // namespace cuprum::emulator::jit::analysis
