// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Compiles PTX and analyses it for the compiling engine. Tests find instructions by their text.

#pragma once

#include "jit/graph.hpp"
#include "passes/compile.hpp"
#include "ptx/parser.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::emulator::test {

/// Compiles a module. Returns no kernels if it is refused; `log` then says why.
[[nodiscard]] inline std::vector<std::shared_ptr<const bytecode::Kernel>>
compile_for_graph(const std::string& text, std::string& log) {
    MemoryMap map; // no kernel runs
    map.memory_base = std::uint64_t{1} << 40;
    map.memory_bytes = std::uint64_t{1} << 20;
    ptx::Diagnostics diagnostics;
    const auto module = ptx::parse(text, diagnostics);
    log = diagnostics.to_text();
    if (!module) {
        return {};
    }
    passes::CompileOptions options;
    options.memory = &map;
    options.device_sm = 90;
    for (const auto& variable : passes::global_variables(*module, map.memory_bytes, diagnostics)) {
        options.symbols.insert(variable.name);
    }
    auto kernels = passes::compile(*module, options, diagnostics);
    log = diagnostics.to_text();
    return kernels;
}

/// A kernel and its graph.
struct Analysed {
    std::shared_ptr<const bytecode::Kernel> kernel;
    jit::Graph graph;
    std::string problem;

    /// Returns the number of the only instruction whose PTX text begins so.
    [[nodiscard]] std::uint32_t pc(std::string_view text) const {
        std::uint32_t found = jit::NONE;
        for (std::uint32_t at = 0; at < kernel->code.size(); ++at) {
            const bytecode::Family family = kernel->code[at].form.family();
            if (family == bytecode::Family::Spread || family == bytecode::Family::Settle) {
                continue; // inserted before an instruction, with its text
            }
            const std::uint32_t offset = kernel->lines[kernel->code[at].line].text_offset;
            const std::string_view there =
                std::string_view(*kernel->source).substr(offset, text.size() + 1);
            if (there.starts_with(text) && !(there.back() >= '0' && there.back() <= '9' &&
                                             there.size() > text.size())) { // not %r10 for %r1
                EXPECT_EQ(found, jit::NONE) << "'" << text << "' is there twice";
                found = at;
            }
        }
        EXPECT_NE(found, jit::NONE) << "there is no '" << text << "'";
        return found;
    }

    /// Returns the block that contains this instruction or ends with it.
    [[nodiscard]] std::uint32_t block(std::string_view text) const {
        const std::uint32_t at = pc(text);
        for (std::uint32_t number = 0; number < graph.blocks.size(); ++number) {
            const jit::Block& block = graph.blocks[number];
            bool is_here = block.end_pc == at && block.end != jit::Block::End::Exit;
            for (const jit::Node& node : block.nodes) {
                is_here |= node.pc == at;
            }
            if (is_here) {
                return number;
            }
        }
        ADD_FAILURE() << "no block has '" << text << "'";
        return 0;
    }

    [[nodiscard]] const jit::Block& block_at(std::string_view text) const {
        return graph.blocks[block(text)];
    }

    [[nodiscard]] const jit::Node& node(std::string_view text) const {
        for (const jit::Node& node : block_at(text).nodes) {
            if (node.pc == pc(text)) {
                return node;
            }
        }
        ADD_FAILURE() << "no node has '" << text << "'";
        return graph.blocks[0].nodes[0];
    }

    /// Returns the lanes of the first result in F and in P: U, A (adjacent), P (another pattern) or
    /// V.
    [[nodiscard]] std::string lanes(std::string_view text) const {
        return lanes_of(node(text).results[0]);
    }

    [[nodiscard]] std::string lanes_of(std::uint32_t value) const {
        std::string both;
        for (const jit::Version version : {jit::Version::Full, jit::Version::Partial}) {
            both += letter(graph.lanes(value, version));
        }
        return both;
    }

    /// Returns the lanes of a source.
    [[nodiscard]] std::string source_lanes(std::string_view text, std::size_t index) const {
        std::string both;
        for (const jit::Version version : {jit::Version::Full, jit::Version::Partial}) {
            both += letter(jit::lanes_of(graph, node(text).sources[index], version));
        }
        return both;
    }

    [[nodiscard]] static char letter(const jit::Lanes& lanes) {
        if (!lanes.is_pattern()) {
            return lanes.is_uniform() ? 'U' : 'V';
        }
        for (std::size_t lane = 0; lane < lanes.offsets.size(); ++lane) {
            if (lanes.offsets[lane] != static_cast<std::int64_t>(lane)) {
                return 'P';
            }
        }
        return 'A';
    }

    [[nodiscard]] std::uint64_t alignment(std::string_view text) const {
        return graph.lanes(node(text).results[0], jit::Version::Full).alignment;
    }

    [[nodiscard]] bool is_divergent(std::string_view text, jit::Version version) const {
        return graph.flow(version).is_divergent[block(text)];
    }

    /// Returns whether lanes wait for a block.
    [[nodiscard]] bool has_mask(std::string_view text, jit::Version version) const {
        return graph.flow(version).has_mask[block(text)];
    }
};

/// Analyses a kernel.
[[nodiscard]] inline Analysed analyse(std::shared_ptr<const bytecode::Kernel> kernel,
                                      const jit::Shape& shape = {}) {
    Analysed result;
    result.kernel = std::move(kernel);
    result.problem = jit::build(*result.kernel, shape, result.graph);
    return result;
}

/// Analyses a kernel with the parameters `p`, an address in %p, and `n` in %n. %i is the number of
/// the thread in its row, %t in its block. There are also registers %r, %d, %f and %q (predicates).
[[nodiscard]] inline Analysed analyse_body(const std::string& body, const jit::Shape& shape = {},
                                           const std::string& before = {}) {
    std::string log;
    const auto kernels = compile_for_graph(
        ".version 8.0\n.target sm_80\n.address_size 64\n" + before +
            ".visible .entry k(.param .u64 pp, .param .u32 nn) {\n"
            ".reg .b32 %r<32>; .reg .b32 %n; .reg .b32 %i; .reg .b32 %t; .reg .b32 %c;\n"
            ".reg .b64 %d<32>; .reg .b64 %p; .reg .f32 %f<16>; .reg .pred %q<16>;\n"
            "ld.param.u64 %p, [pp];\nld.param.u32 %n, [nn];\nmov.u32 %t, %tid.x;\n"
            "mov.u32 %c, %ctaid.x;\nmov.u32 %i, %ntid.x;\nmad.lo.u32 %i, %i, %c, %t;\n" +
            body + "}\n",
        log);
    if (kernels.size() != 1) {
        ADD_FAILURE() << log << body;
        return {};
    }
    return analyse(kernels[0], shape);
}

} // namespace cuprum::emulator::test
