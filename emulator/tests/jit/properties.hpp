// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What holds of every graph.

#pragma once

#include "jit/graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace cuprum::emulator::test {

/// Checks a graph. Failures name block and value.
class GraphChecker {
public:
    explicit GraphChecker(const jit::Graph& graph) : graph_(graph) {}

    void check() {
        check_edges();
        check_loops();
        check_entries();
        find_dominators();
        for (std::uint32_t b = 0; b < graph_.blocks.size(); ++b) {
            check_values(b);
            check_live(b);
            check_edges_of_values(b);
        }
        check_values_behind_loops();
        for (const jit::Version version : {jit::Version::Full, jit::Version::Partial}) {
            check_waiting(version);
            check_joins(version);
        }
        check_divergent_loops();
        check_lanes();
    }

private:
    using Numbers = std::vector<std::uint32_t>;

    [[nodiscard]] const jit::Value& value(std::uint32_t number) const {
        return graph_.values[number];
    }

    [[nodiscard]] static bool contains(const Numbers& list, std::uint32_t what) {
        return std::ranges::find(list, what) != list.end();
    }

    static std::string at(std::uint32_t block) { return "b" + std::to_string(block); }

    // ---- blocks ---------------------------------------------------------------------------------

    void check_edges() {
        ASSERT_EQ(graph_.exit, graph_.blocks.size() - 1);
        for (std::uint32_t b = 0; b < graph_.blocks.size(); ++b) {
            const jit::Block& block = graph_.blocks[b];
            EXPECT_EQ(block.end == jit::Block::End::Exit, b == graph_.exit) << at(b);
            if (block.end == jit::Block::End::Branch) {
                ASSERT_EQ(block.successors.size(), 2u) << at(b);
                EXPECT_NE(block.successors[0], block.successors[1]) << at(b);
            } else if (block.end == jit::Block::End::Jump) {
                ASSERT_EQ(block.successors.size(), 1u) << at(b);
            }
            for (const std::uint32_t next : block.successors) {
                EXPECT_TRUE(contains(graph_.blocks[next].predecessors, b)) << at(b);
                const bool is_back = block.is_latch && next == graph_.loops[block.loop].header;
                EXPECT_EQ(next <= b, is_back) << at(b) << " to " << at(next);
            }
            for (const std::uint32_t before : block.predecessors) {
                EXPECT_TRUE(contains(graph_.blocks[before].successors, b)) << at(b);
            }
            EXPECT_TRUE(!block.is_own || block.nodes.empty()) << at(b);
        }
    }

    void check_loops() {
        for (std::uint32_t l = 0; l < graph_.loops.size(); ++l) {
            const jit::Loop& loop = graph_.loops[l];
            EXPECT_TRUE(loop.parent == jit::NONE || loop.parent > l);
            // Adjacent blocks, from the header to the latch.
            ASSERT_EQ(loop.blocks.size(), loop.latch - loop.header + 1);
            EXPECT_EQ(loop.blocks.front(), loop.header);
            EXPECT_EQ(loop.blocks.back(), loop.latch);
            EXPECT_TRUE(graph_.blocks[loop.latch].is_latch);
            EXPECT_EQ(graph_.blocks[loop.latch].end, jit::Block::End::Jump);
            EXPECT_GT(graph_.blocks[loop.latch].cost, 0u);
            Numbers exits;
            for (const std::uint32_t b : loop.blocks) {
                for (const std::uint32_t before : graph_.blocks[b].predecessors) {
                    EXPECT_TRUE(b == loop.header || contains(loop.blocks, before))
                        << at(b) << " is entered from " << at(before);
                }
                for (const std::uint32_t next : graph_.blocks[b].successors) {
                    if (!contains(loop.blocks, next)) {
                        exits.push_back(next);
                        EXPECT_TRUE(graph_.blocks[next].is_loop_exit) << at(next);
                        EXPECT_EQ(graph_.blocks[next].predecessors.size(), 1u) << at(next);
                    }
                }
            }
            std::ranges::sort(exits);
            EXPECT_EQ(exits, loop.exits);
        }
    }

    void check_entries() {
        std::set<std::uint32_t> pcs;
        for (std::uint32_t b = 0; b < graph_.blocks.size(); ++b) {
            const jit::Block& block = graph_.blocks[b];
            if (block.is_entry) {
                EXPECT_TRUE(pcs.insert(block.pc).second) << at(b);
                EXPECT_FALSE(block.is_own) << at(b);
            }
        }
        // Where lanes may come from the interpreter, there is an entry.
        for (const jit::Block& block : graph_.blocks) {
            for (const std::uint32_t next : block.successors) {
                if (block.end == jit::Block::End::Boundary && next != graph_.exit) {
                    const std::uint32_t pc = graph_.blocks[next].pc;
                    EXPECT_TRUE(pcs.contains(pc) || pc == graph_.blocks[graph_.exit].pc) << pc;
                }
            }
        }
        for (const jit::Loop& loop : graph_.loops) {
            EXPECT_TRUE(graph_.blocks[loop.header].is_entry) << at(loop.header);
        }
    }

    void find_dominators() {
        const std::size_t count = graph_.blocks.size();
        dominators_.assign(count, std::vector<bool>(count, true));
        for (bool has_changed = true; has_changed;) {
            has_changed = false;
            for (std::uint32_t b = 0; b < count; ++b) {
                const Numbers& before = graph_.blocks[b].predecessors;
                std::vector<bool> now(count, !before.empty());
                for (const std::uint32_t p : before) {
                    for (std::size_t i = 0; i < count; ++i) {
                        now[i] = now[i] && dominators_[p][i];
                    }
                }
                now[b] = true;
                has_changed |= now != dominators_[b];
                dominators_[b] = std::move(now);
            }
        }
    }

    // ---- values ---------------------------------------------------------------------------------

    /// Expects a value to be defined at the end of a block.
    void expect_defined(std::uint32_t number, std::uint32_t block) {
        ASSERT_LT(number, graph_.values.size()) << at(block);
        if (const std::uint32_t from = value(number).block; from != jit::NONE) {
            EXPECT_TRUE(dominators_[block][from]) << "v" << number << " in " << at(block);
        }
    }

    /// Expects a value to be defined before node `n` of a block, and to be live there.
    void expect_defined(std::uint32_t number, std::uint32_t block, std::uint32_t n) {
        expect_defined(number, block);
        const jit::Value& it = value(number);
        const bool is_of_node = it.kind == jit::Value::Kind::Result && it.block == block;
        if (is_of_node) {
            EXPECT_LT(it.node, n) << "v" << number << " in " << at(block);
        } else {
            EXPECT_TRUE(contains(graph_.blocks[block].live_in, number))
                << "v" << number << " is not live in " << at(block);
        }
    }

    void check_values(std::uint32_t b) {
        const jit::Block& block = graph_.blocks[b];
        for (const std::uint32_t phi : block.phis) {
            const jit::Value& it = value(phi);
            EXPECT_EQ(it.kind, jit::Value::Kind::Phi);
            ASSERT_EQ(it.inputs.size(), block.predecessors.size()) << "v" << phi;
            for (std::size_t i = 0; i < it.inputs.size(); ++i) {
                EXPECT_EQ(value(it.inputs[i]).slot, it.slot) << "v" << phi;
                expect_defined(it.inputs[i], block.predecessors[i]);
            }
        }
        for (std::uint32_t n = 0; n < block.nodes.size(); ++n) {
            const jit::Node& node = block.nodes[n];
            if (!node.is_needed) {
                continue;
            }
            const auto check = [&](const jit::Ref& ref) {
                EXPECT_EQ(ref.kind == jit::Ref::Kind::Value, ref.value != jit::NONE);
                if (ref.kind == jit::Ref::Kind::Value) {
                    expect_defined(ref.value, b, n);
                }
            };
            check(node.guard);
            std::ranges::for_each(node.sources, check);
            EXPECT_EQ(node.previous.size(),
                      node.guard.kind == jit::Ref::Kind::None ? 0 : node.results.size());
            for (std::size_t i = 0; i < node.previous.size(); ++i) {
                EXPECT_EQ(node.previous[i] == jit::NONE, node.results[i] == jit::NONE);
                if (node.previous[i] != jit::NONE) {
                    expect_defined(node.previous[i], b, n);
                    EXPECT_EQ(value(node.previous[i]).slot, value(node.results[i]).slot);
                }
            }
        }
        if (block.condition.kind == jit::Ref::Kind::Value) {
            expect_defined(block.condition.value, b,
                           static_cast<std::uint32_t>(block.nodes.size()));
            EXPECT_TRUE(contains(block.live_out, block.condition.value)) << at(b);
        }
    }

    void check_live(std::uint32_t b) {
        const jit::Block& block = graph_.blocks[b];
        for (const Numbers* const list : {&block.live_in, &block.live_out}) {
            for (std::size_t i = 1; i < list->size(); ++i) {
                EXPECT_LT(value((*list)[i - 1]).slot, value((*list)[i]).slot) << at(b);
            }
        }
        for (const std::uint32_t number : block.live_in) {
            const jit::Value& it = value(number);
            expect_defined(number, b);
            EXPECT_TRUE(it.kind != jit::Value::Kind::Result || it.block != b) << at(b);
            EXPECT_TRUE(it.block == b || it.is_used_elsewhere) << "v" << number;
        }
        for (const std::uint32_t number : block.live_out) {
            expect_defined(number, b, static_cast<std::uint32_t>(block.nodes.size()));
        }
        if (block.end == jit::Block::End::Exit) {
            EXPECT_TRUE(block.live_in.empty() && block.live_out.empty());
        }
    }

    /// What is live before a block is there at the end of those before it.
    void check_edges_of_values(std::uint32_t b) {
        const jit::Block& block = graph_.blocks[b];
        for (std::size_t p = 0; p < block.predecessors.size(); ++p) {
            const std::uint32_t from = block.predecessors[p];
            for (const std::uint32_t number : block.live_in) {
                const bool is_own_phi =
                    value(number).kind == jit::Value::Kind::Phi && value(number).block == b;
                const std::uint32_t there = is_own_phi ? value(number).inputs[p] : number;
                const bool is_of_boundary =
                    value(there).kind == jit::Value::Kind::Entry && value(there).block == from;
                EXPECT_TRUE(is_of_boundary || contains(graph_.blocks[from].live_out, there))
                    << "v" << there << " from " << at(from) << " to " << at(b);
            }
        }
    }

    // ---- order and lanes ------------------------------------------------------------------------

    void check_waiting(jit::Version version) {
        const jit::Flow& flow = graph_.flow(version);
        std::vector<bool> is_waited_for(graph_.blocks.size(), false);
        for (std::uint32_t b = 0; b < graph_.blocks.size(); ++b) {
            const Numbers& waiting = flow.waiting[b];
            EXPECT_TRUE(std::ranges::is_sorted(waiting)) << at(b);
            EXPECT_TRUE(waiting.empty() || waiting.front() > b) << at(b);
            for (const std::uint32_t other : waiting) {
                is_waited_for[other] = true;
            }
            const jit::Block& block = graph_.blocks[b];
            if (block.end == jit::Block::End::Boundary || b == graph_.exit) {
                continue;
            }
            Numbers next = block.successors;
            if (version == jit::Version::Partial && block.leaves_early) {
                EXPECT_TRUE(waiting.empty()) << at(b);
                std::erase(next, graph_.exit);
            }
            if (block.is_latch) {
                if (waiting.empty() || version == jit::Version::Full ||
                    !graph_.loops[block.loop].is_divergent) {
                    continue;
                }
                next.clear(); // the jump back is not part of the order
            }
            const auto expect_waiting = [&](Numbers all) {
                all.insert(all.end(), waiting.begin(), waiting.end());
                std::ranges::sort(all);
                for (std::size_t i = 1; i < all.size(); ++i) {
                    EXPECT_TRUE(all[i] == all[0] || contains(flow.waiting[all[0]], all[i]))
                        << at(all[i]) << " while " << at(all[0]) << " runs, from " << at(b);
                }
            };
            if (flow.is_divergent[b]) {
                expect_waiting(next);
            } else {
                for (const std::uint32_t to : next) {
                    expect_waiting({to});
                }
            }
            expect_waiting({});
            const bool differs = block.end == jit::Block::End::Branch &&
                                 !lanes_of(graph_, block.condition, version).is_uniform();
            if (version == jit::Version::Partial) {
                EXPECT_EQ(flow.is_divergent[b], differs) << at(b);
            } else {
                EXPECT_EQ(flow.is_divergent[b], differs && block.is_simple) << at(b);
                EXPECT_TRUE(block.is_simple || !differs || waiting.empty()) << at(b);
            }
        }
        EXPECT_EQ(is_waited_for, flow.has_mask);
    }

    /// Lanes may leave a divergent loop in different rounds, so they wait behind it, and each keeps
    /// what it left with.
    void check_divergent_loops() {
        const jit::Flow& flow = graph_.flow(jit::Version::Partial);
        for (const jit::Loop& loop : graph_.loops) {
            bool is_divergent = false;
            for (const std::uint32_t exit : loop.exits) {
                const std::uint32_t from = graph_.blocks[exit].predecessors[0];
                const Numbers& waiting = flow.waiting[from];
                is_divergent |=
                    flow.is_divergent[from] || (!waiting.empty() && waiting.front() <= loop.latch);
                if (!loop.is_divergent) {
                    continue;
                }
                EXPECT_TRUE(contains(flow.waiting[loop.header], exit) ||
                            graph_.blocks[from].end == jit::Block::End::Boundary)
                    << at(exit);
                for (const std::uint32_t phi : graph_.blocks[exit].phis) {
                    EXPECT_TRUE(graph_.lanes(phi, jit::Version::Partial).is_varying())
                        << "v" << phi;
                }
            }
            EXPECT_EQ(loop.is_divergent, is_divergent) << at(loop.header);
        }
    }

    /// What a loop changes is used behind it only by the phis of its exits.
    void check_values_behind_loops() {
        std::vector<std::set<std::uint32_t>> written(graph_.loops.size()); // slots
        for (const jit::Value& it : graph_.values) {
            const bool is_written = it.kind == jit::Value::Kind::Result ||
                                    (it.kind == jit::Value::Kind::Entry && it.block != jit::NONE);
            if (is_written) {
                for (std::uint32_t l = graph_.blocks[it.block].loop; l != jit::NONE;
                     l = graph_.loops[l].parent) {
                    written[l].insert(it.slot);
                }
            }
        }
        for (std::uint32_t b = 0; b < graph_.blocks.size(); ++b) {
            for (const std::uint32_t number : graph_.blocks[b].live_in) {
                const jit::Value& it = value(number);
                for (std::uint32_t l = it.block == jit::NONE ? jit::NONE
                                                             : graph_.blocks[it.block].loop;
                     l != jit::NONE; l = graph_.loops[l].parent) {
                    EXPECT_TRUE(contains(graph_.loops[l].blocks, b) ||
                                !written[l].contains(it.slot))
                        << "v" << number << " in " << at(b);
                }
            }
        }
    }

    /// Lanes that come to a block by different ways have different values.
    void check_joins(jit::Version version) {
        for (std::uint32_t b = 0; b < graph_.blocks.size(); ++b) {
            const jit::Block& block = graph_.blocks[b];
            if (!graph_.flow(version).has_mask[b] || block.is_loop_exit) {
                continue;
            }
            for (const std::uint32_t phi : block.phis) {
                std::set<std::uint32_t> inputs;
                for (std::size_t i = 0; i < block.predecessors.size(); ++i) {
                    if (block.predecessors[i] < b) {
                        inputs.insert(value(phi).inputs[i]);
                    }
                }
                EXPECT_TRUE(inputs.size() < 2 || graph_.lanes(phi, version).is_varying() ||
                            are_all_undefined(inputs))
                    << "v" << phi;
            }
        }
    }

    [[nodiscard]] bool are_all_undefined(const std::set<std::uint32_t>& values) const {
        return std::ranges::all_of(values, [&](std::uint32_t number) {
            return value(number).kind == jit::Value::Kind::Undefined;
        });
    }

    void check_lanes() {
        for (const jit::Block& block : graph_.blocks) {
            const auto check = [&](std::uint32_t number) {
                const jit::Lanes& full = graph_.lanes(number, jit::Version::Full);
                const jit::Lanes& partial = graph_.lanes(number, jit::Version::Partial);
                EXPECT_NE(full.kind, jit::Lanes::Kind::Unknown) << "v" << number;
                EXPECT_NE(partial.kind, jit::Lanes::Kind::Unknown) << "v" << number;
                // F knows at least as much.
                EXPECT_TRUE(partial.is_varying() ||
                            (full.kind == partial.kind && full.offsets == partial.offsets))
                    << "v" << number;
                EXPECT_EQ(full.is_pattern(), full.offsets.size() == graph_.shape.lanes);
            };
            std::ranges::for_each(block.phis, check);
            for (const jit::Node& node : block.nodes) {
                for (const std::uint32_t result : node.results) {
                    if (result != jit::NONE) {
                        check(result);
                    }
                }
            }
        }
    }

    const jit::Graph& graph_;
    std::vector<std::vector<bool>> dominators_;
};

} // namespace cuprum::emulator::test
