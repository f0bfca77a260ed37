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
// Every value has the slot of its register there. A slot is the register of this representation:
// at each place at most one value is in a slot, and all inputs of a phi have its slot.
//
// What is known about the lanes of a value holds for lanes that have come to it through compiled
// code of that version. It is not known of lanes that arrive from the interpreter: it may have
// taken them there by different ways, or in different rounds of a loop, and joined them. So compare
// the lanes of Block::live_in with what is expected before entering a block, and enter it with
// lanes that agree. What Lanes::alignment and Lanes::most say needs no test: it holds on every way.

#pragma once

#include "bytecode/kernel.hpp"

#include <array>
#include <cstdint>
#include <optional>
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
    // A number of blocks in some direction times a size of blocks is below 2^31: indices of threads
    // have no sign.
    bool has_small_grid = true;
};

/// The most threads of a block in one direction.
constexpr std::uint32_t MAX_BLOCK_SIZE = 1024;

/// Lanes::most where nothing is known.
constexpr std::uint64_t UNBOUNDED = ~std::uint64_t{0};

/// How the lanes of a gang differ in one value.
struct Lanes {
    enum class Kind : std::uint8_t {
        Unknown, // only while the analysis runs
        Uniform, // all lanes have the base
        Pattern, // lane l has the base plus offsets[l]
        Varying,
    };

    Kind kind = Kind::Unknown;
    // A power of two that divides the base, modulo 2^32 for values of 32 bits.
    std::uint64_t alignment = 1;
    std::vector<std::int64_t> offsets; // of Pattern: one a lane; at least one is not 0
    // Of Varying, in gangs of a whole warp: for each bit that is set, lanes whose numbers differ in
    // that bit alone have the same. Butterfly shuffles make them so.
    std::uint8_t symmetry = 0;
    // No lane is greater, as an unsigned number. This holds on every way too.
    std::uint64_t most = UNBOUNDED;

    [[nodiscard]] static Lanes varying() {
        Lanes lanes;
        lanes.kind = Kind::Varying;
        return lanes;
    }

    [[nodiscard]] bool is_uniform() const { return kind == Kind::Uniform; }

    [[nodiscard]] bool is_pattern() const { return kind == Kind::Pattern; }

    [[nodiscard]] bool is_varying() const { return kind == Kind::Varying; }

    friend bool operator==(const Lanes&, const Lanes&) = default;
};

/// The alignment of zero: more than any offset.
constexpr std::uint64_t MAX_ALIGNMENT = std::uint64_t{1} << 20;

/// Returns whether the base plus any offset never wraps around, be they signed or not.
[[nodiscard]] bool never_wraps(const Lanes& lanes);

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
        // Found in the frame. `block` is NONE: set when the warp or the activation starts (%tid).
        // Else: written by the instruction at the end of this Boundary. Such a value is in none of
        // the lists of its block; it is in those of the successors, and an input of their phis.
        Entry,
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
    // False: it has no effect and nobody uses its results. It can be left out, and its results are
    // in no list.
    bool is_needed = true;
    // By Version: it extends a pattern of 32 bits, and its result is as its lanes say only if no
    // lane of the source wraps around. Test that before.
    std::array<bool, VERSIONS> must_not_wrap{};
};

struct Block {
    enum class End : std::uint8_t {
        Jump,     // to successors[0]
        Branch,   // `condition` holds: successors[0], else successors[1]
        Boundary, // compiled code stops before the instruction `end_pc`. The interpreter runs it,
                  // and compiled code may start again at each successor: barriers, calls, sleeps
        // (its first successor that is not a block of our own). Without successors, no lane
        // goes on here: a return or a trap
        Exit, // the lanes are done; has no successors
    };

    End end = End::Jump;
    std::uint32_t pc = 0; // the interpreter's instruction for lanes that stand before this block
    std::uint32_t end_pc = NONE; // the instruction that ends it, unless it just goes on
    Ref condition;
    bool is_negated = false; // the branch is taken where the condition does not hold
    // Of a latch: what its jump back costs of the warp's budget (control.hpp).
    std::uint32_t cost = 0;
    std::vector<std::uint32_t> phis; // values
    std::vector<Node> nodes;         // without the end
    std::vector<std::uint32_t> successors;
    std::vector<std::uint32_t> predecessors;
    std::uint32_t loop = NONE; // the innermost loop that contains it
    bool is_own = false;       // no block of the kernel: inserted here, without nodes. `pc` is that
                               // of the next block of the kernel
    bool is_loop_exit = false; // a block of our own between a loop and what follows
    bool is_latch = false;     // the only block of its loop that jumps back; it always jumps
    bool is_simple = false;    // ends with a divergent branch over few instructions: masked in F
    // Ends with a branch straight to the exit that is divergent in P, where no lanes wait: lanes
    // that leave there do not wait for the exit, they are done.
    bool leaves_early = false;
    // The values of the registers that are live before the block, its phis included, by slot.
    // Undefined: in this slot is nothing that anybody needs.
    std::vector<std::uint32_t> live_in;
    // The values of the registers that are live behind the nodes, by slot: what the condition or
    // the Boundary's instruction reads, and what the successors need. In the slots that an
    // unguarded Boundary writes is nothing before.
    std::vector<std::uint32_t> live_out;
    // Compiled code may be entered here: at the entry of the kernel and of its functions, at loop
    // headers and behind a Boundary. No two entries have the same `pc`, and none is a block of our
    // own, except block 0 if the kernel begins with a loop (then the header is the entry).
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
    bool needs_partial = false;       // F may reach a branch that differs between lanes, and P

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

/// `lanes` is the size of a gang: what looks at all lanes of a warp is a Boundary for smaller ones.
[[nodiscard]] Role role_of(const bytecode::Instruction& instruction,
                           std::uint32_t lanes = bytecode::WARP_SIZE);

/// Returns the width of a source, by its place in Node::sources. Only of forms that have a
/// structure in forms.hpp; else that of a word.
[[nodiscard]] bytecode::Width source_width(const bytecode::Instruction& instruction,
                                           std::size_t index);

/// Builds the graph of a kernel. Returns why it cannot, or an empty string.
[[nodiscard]] std::string build(const bytecode::Kernel& kernel, const Shape& shape, Graph& graph);

/// Returns how the lanes differ in what a node reads.
[[nodiscard]] Lanes lanes_of(const Graph& graph, const Ref& ref, Version version);

/// Returns the bits of a constant as a value of this width has them in one lane of a warp.
[[nodiscard]] std::uint64_t constant_of(const Graph& graph, const Ref& ref, bytecode::Width width,
                                        std::uint32_t lane = 0);

/// Returns the bits of a source that is a constant, or a register that was set to one.
[[nodiscard]] std::optional<std::uint64_t> known_bits(const Graph& graph, const Ref& ref,
                                                      bytecode::Width width);

/// Returns the graph as text: blocks, nodes, values with their lanes in both versions.
[[nodiscard]] std::string describe(const Graph& graph);

} // namespace cuprum::emulator::jit
