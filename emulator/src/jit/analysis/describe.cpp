// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A graph as text, for tests and for people:
//
//   b1 at 4, entry, loop 0, waiting P(b3), mask F
//     v7 = phi(b0: v2, b2: v9) U4 | V
//     5: add.s32 %r5, %r5, %r1 -> v8 = (v7, v1) if v3, before v7, U | V
//     in v7 v1
//     out v8 v1
//     -> b2, b3 if v4 (negated), divergent P
//
// Lanes stand after the results, for F and P: U, A (a pattern of adjacent numbers), P (another one)
// or V, and an alignment above 1. One letter stands for both if they are the same.

#include "bytecode/forms.hpp"
#include "jit/analysis/internal.hpp"

#include <algorithm>
#include <bit>
#include <sstream>

namespace cuprum::emulator::jit {

namespace {

using Numbers = std::vector<std::uint32_t>;

std::string text_of(const Lanes& lanes) {
    std::string text = "?";
    if (lanes.is_uniform()) {
        text = "U";
    } else if (lanes.is_varying()) {
        text = "V";
    } else if (lanes.is_pattern()) {
        bool is_adjacent = true;
        for (std::size_t lane = 0; lane < lanes.offsets.size(); ++lane) {
            is_adjacent &= lanes.offsets[lane] == static_cast<std::int64_t>(lane);
        }
        text = is_adjacent ? "A" : "P";
    }
    if (lanes.alignment == MAX_ALIGNMENT) {
        return text + "0";
    }
    return lanes.alignment > 1 ? text + std::to_string(lanes.alignment) : text;
}

/// Writes one graph.
class Writer {
public:
    explicit Writer(const Graph& graph) : graph_(graph) {}

    [[nodiscard]] std::string text();

private:
    void write_block(std::uint32_t number);
    void write_head(std::uint32_t number);
    void write_node(const Node& node);
    void write_end(std::uint32_t number);
    void write_versions(const char* name, bool in_full, bool in_partial);
    void write_blocks(const Numbers& blocks);
    void write_values(const char* name, const Numbers& values);

    [[nodiscard]] std::string lanes(std::uint32_t value) const;
    [[nodiscard]] std::string text_of(const Ref& ref) const;
    [[nodiscard]] std::string text_of(std::uint32_t value) const;
    [[nodiscard]] std::string instruction_at(std::uint32_t pc) const;

    const Graph& graph_;
    std::ostringstream out_;
};

std::string Writer::text() {
    out_ << graph_.kernel->name << ": " << graph_.blocks.size() << " blocks, "
         << graph_.loops.size() << " loops" << (graph_.needs_partial ? ", needs P" : "") << "\n";
    for (std::size_t i = 0; i < graph_.loops.size(); ++i) {
        const Loop& loop = graph_.loops[i];
        out_ << "loop " << i << ": b" << loop.header << " to b" << loop.latch << ", exits";
        write_blocks(loop.exits);
        out_ << (loop.is_divergent ? ", divergent" : "") << "\n";
    }
    for (std::uint32_t number = 0; number < graph_.blocks.size(); ++number) {
        write_block(number);
    }
    return out_.str();
}

void Writer::write_versions(const char* name, bool in_full, bool in_partial) {
    if (in_full || in_partial) {
        out_ << ", " << name << (in_full ? " F" : "") << (in_partial ? " P" : "");
    }
}

void Writer::write_blocks(const Numbers& blocks) {
    for (const std::uint32_t block : blocks) {
        out_ << " b" << block;
    }
}

void Writer::write_values(const char* name, const Numbers& values) {
    if (!values.empty()) {
        out_ << "  " << name;
        for (const std::uint32_t value : values) {
            out_ << " " << text_of(value);
        }
        out_ << "\n";
    }
}

std::string Writer::lanes(std::uint32_t value) const {
    const std::string full = jit::text_of(graph_.lanes(value, Version::Full));
    const std::string partial = jit::text_of(graph_.lanes(value, Version::Partial));
    return full == partial ? full : full + "|" + partial;
}

std::string Writer::text_of(std::uint32_t value) const {
    if (value == NONE) {
        return "_";
    }
    const Value& it = graph_.values[value];
    return it.kind == Value::Kind::Undefined                   ? "undefined"
           : it.kind == Value::Kind::Entry && it.block == NONE ? "entry" + std::to_string(value)
           : it.kind == Value::Kind::Entry                     ? "frame" + std::to_string(value)
                                                               : "v" + std::to_string(value);
}

std::string Writer::text_of(const Ref& ref) const {
    switch (ref.kind) {
    case Ref::Kind::Value:
        return text_of(ref.value);
    case Ref::Kind::Constant:
        return std::to_string(
            static_cast<std::int32_t>(constant_of(graph_, ref, bytecode::Width::B32)));
    case Ref::Kind::Lanes:
        return "lanes";
    case Ref::Kind::Bank:
        return (ref.operand.bank() == bytecode::Bank::Constants ? "symbol"
                : ref.operand.bank() == bytecode::Bank::Launch  ? "launch"
                                                                : "block") +
               std::to_string(ref.operand.offset());
    default:
        return "_";
    }
}

std::string Writer::instruction_at(std::uint32_t pc) const {
    const bytecode::Kernel& kernel = *graph_.kernel;
    const std::uint32_t line = kernel.code[pc].line;
    std::string text;
    if (kernel.source != nullptr && line < kernel.lines.size()) {
        const std::size_t begin = kernel.lines[line].text_offset;
        const std::size_t end = std::min(kernel.source->find(';', begin), kernel.source->size());
        text = begin < end ? kernel.source->substr(begin, end - begin) : std::string();
        std::ranges::replace(text, '\n', ' ');
    }
    return std::to_string(pc) + ": " + text;
}

void Writer::write_block(std::uint32_t number) {
    const Block& block = graph_.blocks[number];
    write_head(number);
    for (const std::uint32_t phi : block.phis) {
        out_ << "  " << text_of(phi) << " = phi(";
        for (std::size_t i = 0; i < block.predecessors.size(); ++i) {
            out_ << (i == 0 ? "b" : ", b") << block.predecessors[i] << ": "
                 << text_of(graph_.values[phi].inputs[i]);
        }
        out_ << ") " << lanes(phi) << "\n";
    }
    write_values("in", block.live_in);
    std::ranges::for_each(block.nodes, [this](const Node& node) { write_node(node); });
    write_values("out", block.live_out);
    write_end(number);
}

void Writer::write_head(std::uint32_t number) {
    const Block& block = graph_.blocks[number];
    out_ << "b" << number << " at " << block.pc;
    if (block.is_entry) {
        out_ << ", entry";
    }
    if (block.loop != NONE) {
        out_ << ", loop " << block.loop;
    }
    out_ << (block.is_loop_exit ? ", loop exit" : block.is_own ? ", own" : "");
    if (block.is_latch) {
        out_ << ", latch of cost " << block.cost;
    }
    for (const Version version : {Version::Full, Version::Partial}) {
        const Numbers& waiting = graph_.flow(version).waiting[number];
        if (!waiting.empty()) {
            out_ << ", waiting in " << (version == Version::Full ? "F" : "P");
            write_blocks(waiting);
        }
    }
    write_versions("mask", graph_.flow(Version::Full).has_mask[number],
                   graph_.flow(Version::Partial).has_mask[number]);
    out_ << "\n";
}

void Writer::write_node(const Node& node) {
    out_ << "  " << instruction_at(node.pc);
    if (!node.is_needed) {
        out_ << " (not needed)\n";
        return;
    }
    out_ << " ->";
    for (const std::uint32_t result : node.results) {
        out_ << " " << text_of(result);
    }
    out_ << " (";
    for (std::size_t i = 0; i < node.sources.size(); ++i) {
        out_ << (i == 0 ? "" : ", ") << text_of(node.sources[i]);
    }
    out_ << ")";
    if (node.guard.kind != Ref::Kind::None) {
        out_ << " if " << text_of(node.guard) << " before";
        for (const std::uint32_t value : node.previous) {
            out_ << " " << text_of(value);
        }
    }
    for (const std::uint32_t result : node.results) {
        out_ << " " << (result == NONE ? "_" : lanes(result));
    }
    write_versions("must not wrap", node.must_not_wrap[0], node.must_not_wrap[1]);
    out_ << "\n";
}

void Writer::write_end(std::uint32_t number) {
    const Block& block = graph_.blocks[number];
    switch (block.end) {
    case Block::End::Exit:
        out_ << "  exit\n";
        return;
    case Block::End::Boundary:
        out_ << "  " << instruction_at(block.end_pc) << " -> boundary, then";
        write_blocks(block.successors);
        break;
    case Block::End::Branch:
        out_ << "  " << (block.is_negated ? "unless " : "if ") << text_of(block.condition)
             << " -> b" << block.successors[0] << " else b" << block.successors[1];
        write_versions("divergent", graph_.flow(Version::Full).is_divergent[number],
                       graph_.flow(Version::Partial).is_divergent[number]);
        out_ << (block.is_simple ? ", simple" : "") << (block.leaves_early ? ", leaves" : "");
        break;
    default:
        out_ << "  -> b" << block.successors[0];
    }
    out_ << "\n";
}

} // namespace

std::string describe(const Graph& graph) {
    return Writer(graph).text();
}

} // namespace cuprum::emulator::jit
