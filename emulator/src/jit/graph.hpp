// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A kernel as the compiling engine sees it: blocks in an order in which they can run under masks,
// values in static single assignment, and what is known about the lanes of each value.
//
// A gang is a number of adjacent lanes of a warp that compiled code runs together. Compiled code
// exists in two versions. In the full version (F) all lanes of the gang run, and every branch that
// is taken there is uniform, or jumps over a few instructions that run under a mask
// (Block::is_simple). In the partial version (P) the lanes of a mask run, and branches may differ
// between lanes. These are two analyses and not two masks: what is uniform or affine in F may vary
// in P.
//
// Divergent branches are linearised. Blocks run in the order of `Graph::blocks`. At a divergent
// branch, the lanes for later blocks wait: each block has a mask of lanes that wait for it, and a
// list of blocks for which lanes may wait while it runs (Flow::waiting). The edge that leaves a
// block in the linearised code goes to the first block for which lanes may wait.
//
// The frame of a warp (bytecode/instruction.hpp) is where compiled code and the interpreter meet.
// Every value has the slot of its register there.

#pragma once

#include "bytecode/kernel.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace cuprum::emulator::jit {

constexpr std::uint32_t NONE = ~0u;

enum class Version : std::uint8_t { Full, Partial };

constexpr std::size_t VERSIONS = 2;

/// How compiled code is specialised.
struct Shape {
    std::uint32_t lanes = 16; // of a gang: 8, 16 or 32
    // The width of a block is a multiple of `lanes`: in a gang, %tid.x is adjacent and %tid.y and
    // %tid.z are uniform.
    bool has_whole_rows = true;
    // The height and depth of a block are 1: %tid.x is adjacent, %tid.y and %tid.z are 0.
    bool has_one_row = true;
};

/// How the lanes of a gang differ in one value.
struct Lanes {
    enum class Kind : std::uint8_t {
        Unknown, // only while the analysis runs
        Uniform, // all lanes have the base
        Pattern, // lane l has the base plus offsets[l]
        Varying,
    };

    Kind kind = Kind::Unknown;
    std::uint64_t alignment = 1;       // a power of two that divides the base
    std::vector<std::int64_t> offsets; // of Pattern: one a lane; at least one is not 0

    [[nodiscard]] bool is_uniform() const { return kind == Kind::Uniform; }

    [[nodiscard]] bool is_varying() const { return kind == Kind::Varying; }
};

/// What an instruction reads.
struct Ref {
    enum class Kind : std::uint8_t {
        None,     // absent: no guard, or a source that is not there
        Value,    // a register: number `value`
        Constant, // a constant of the kernel that is the same in all lanes and all contexts
        Lanes,    // a constant that differs between the lanes of a warp
        Bank, // uniform, known when the code runs: a parameter, %ctaid, an address of a variable
    };

    Kind kind = Kind::None;
    bytecode::Operand operand; // where the interpreter finds it
    std::uint32_t value = NONE;
};

/// One definition of a register.
struct Value {
    enum class Kind : std::uint8_t {
        Entry,     // as the kernel finds it in its frame: %tid and other values of the warp
        Phi,       // at the beginning of `block`
        Result,    // of Block::nodes[node] of `block`
        Undefined, // nothing was written before it is read
    };

    Kind kind = Kind::Undefined;
    bytecode::Width width = bytecode::Width::B32;
    std::uint32_t slot = 0; // offset in the frame
    std::uint32_t block = NONE;
    std::uint32_t node = NONE;
    std::vector<std::uint32_t> inputs;   // of Phi: a value for each of Block::predecessors
    std::array<Lanes, VERSIONS> lanes{}; // by Version
    bool is_used_elsewhere = false;      // outside its block, or by a phi
};

/// One instruction. Branches and other ends of blocks are nodes too, the last of their block.
struct Node {
    std::uint32_t pc = 0;
    Ref guard;                // of an instruction that is not a branch
    std::vector<Ref> sources; // in the order of passes::for_each_source, absent ones included
    std::vector<std::uint32_t> results;  // values; NONE where the destination is absent
    std::vector<std::uint32_t> previous; // of a guarded instruction: what each register held before
    // A result and no effect can be left out if nobody uses the result.
    bool is_needed = true;
};

struct Block {
    enum class End : std::uint8_t {
        Jump,     // to successors[0]
        Branch,   // `condition` holds: successors[0], else successors[1]
        Boundary, // compiled code stops before the instruction `end_pc`. The interpreter runs it,
                  // and compiled code may start again at each successor: barriers, calls, sleeps
        Exit,     // the lanes are done; the only block without successors
    };

    End end = End::Jump;
    std::uint32_t pc = 0; // the interpreter's instruction for lanes that stand before this block
    std::uint32_t end_pc = 0; // of Branch, Boundary and Exit: the instruction
    Ref condition;
    bool is_negated = false; // the branch is taken where the condition does not hold
    // What a jump back costs of the warp's budget (control.hpp), if this block ends with one.
    std::uint32_t cost = 0;
    std::vector<std::uint32_t> phis; // values
    std::vector<Node> nodes;         // without the end
    std::vector<std::uint32_t> successors;
    std::vector<std::uint32_t> predecessors;
    std::uint32_t loop = NONE; // the innermost loop that contains it
    bool is_loop_exit = false; // a block of our own between a loop and what follows
    bool is_latch = false;     // the only block of its loop that jumps back
    bool is_simple = false;    // ends with a divergent branch over few instructions: masked in F
    bool leaves_early = false; // ends with a divergent branch straight to the exit
    // The values of the registers that are live before the block, its phis included.
    std::vector<std::uint32_t> live_in;
    // Compiled code may be entered here.
    bool is_entry = false;
};

struct Loop {
    std::uint32_t header = NONE;
    std::uint32_t latch = NONE;
    std::uint32_t parent = NONE;
    std::vector<std::uint32_t> blocks; // sorted
    std::vector<std::uint32_t> exits;  // blocks outside, sorted: all are Block::is_loop_exit
    bool is_divergent = false;         // in P: lanes may leave it in different rounds
};

/// The order of the blocks under masks, for one version.
struct Flow {
    // By block: the later blocks for which lanes may wait while it runs, sorted.
    std::vector<std::vector<std::uint32_t>> waiting;
    // By block: lanes may wait for it, so it has a mask.
    std::vector<bool> has_mask;
    // By block: it ends with a branch whose condition differs between lanes.
    std::vector<bool> is_divergent;
};

struct Graph {
    const bytecode::Kernel* kernel = nullptr;
    Shape shape;
    std::vector<Block> blocks; // in the order in which they run; 0 is the entry of the kernel
    std::vector<Loop> loops;   // inner loops before outer ones
    std::vector<Value> values;
    std::array<Flow, VERSIONS> flows; // by Version
    std::uint32_t exit = NONE;        // the block with End::Exit
    bool needs_partial = false;       // P may be reached

    [[nodiscard]] const Flow& flow(Version version) const {
        return flows[static_cast<std::size_t>(version)];
    }

    [[nodiscard]] const Lanes& lanes(std::uint32_t value, Version version) const {
        return values[value].lanes[static_cast<std::size_t>(version)];
    }
};

/// What an instruction is for the engine.
enum class Role : std::uint8_t {
    Plain,    // compiled, or run by its handler from compiled code; the lanes go on behind it
    Branch,   // Branch, BranchGuarded
    Boundary, // compiled code stops before it
    Exit,
    Unfit, // the kernel cannot be compiled
};

[[nodiscard]] Role role_of(const bytecode::Instruction& instruction);

/// Builds the graph of a kernel. Returns why it cannot, or an empty string.
[[nodiscard]] std::string build(const bytecode::Kernel& kernel, const Shape& shape, Graph& graph);

/// Returns how the lanes differ in what a node reads.
[[nodiscard]] Lanes lanes_of(const Graph& graph, const Ref& ref, Version version);

/// Returns the bits of a constant as a value of this width has them in one lane of a warp.
[[nodiscard]] std::uint64_t constant_of(const Graph& graph, const Ref& ref, bytecode::Width width,
                                        std::uint32_t lane = 0);

/// Returns the graph as text: blocks, nodes, values with their lanes in both versions.
[[nodiscard]] std::string describe(const Graph& graph);

} // namespace cuprum::emulator::jit
