// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Writes the LLVM function that runs one gang of a kernel (jit/plugin.hpp).
//
// Every block of the graph becomes one or two basic blocks: F for gangs whose lanes all run, P for
// those that run under a mask (jit/graph.hpp). A value that is used outside its block lives in an
// `alloca`, which LLVM turns into SSA form: a scalar where all lanes of the version are uniform or
// follow a pattern, a vector where they vary. Phis have a second one, into which the blocks before
// store.
//
//   entry ──► load what is live from the frame ──► F or P block
//   stop  ──► store what is live to the frame, say which lanes stand where, return
//
// What has no code here runs by its handler: its sources go to the frame, the handler runs, and its
// results come from the frame.

#pragma once

#include "jit/address.hpp"
#include "jit/plugin.hpp"
#include "jit_llvm/emit_values.hpp"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace cuprum::emulator::jit {

class KernelEmitter {
public:
    KernelEmitter(const Graph& graph, const Target& target, llvm::Module& module);

    /// Writes the function. Call it once.
    void run(const std::string& name);

    [[nodiscard]] std::vector<Entry> take_entries() { return std::move(entries_); }

    [[nodiscard]] std::vector<AccessInfo> take_accesses() { return std::move(accesses_); }

    [[nodiscard]] std::uint32_t site_count() const { return site_count_; }

private:
    using Width = bytecode::Width;
    using IR = llvm::Value*;

    /// The lanes for which code runs: a vector of bits, or null for all lanes of the gang.
    struct Mask {
        IR bits = nullptr;

        [[nodiscard]] bool is_full() const { return bits == nullptr; }
    };

    /// A value to load at an entry of P, for the lanes that need it: those that run, and those for
    /// which it is live where they wait.
    struct LiveEntry {
        std::uint32_t value;
        bool is_input; // a phi, before its block
        IR mask;
        IR lane; // one of the mask; null if the value varies
    };

    /// Values at hand in the basic block that is being written.
    struct Known {
        llvm::DenseMap<std::uint32_t, IR> own;     // as the version has them: scalar or vector
        llvm::DenseMap<std::uint32_t, IR> vectors; // scalars as vectors
    };

    /// The address of one access (emit_memory.cpp).
    struct Access;
    struct Reach;

    // ---- the frame and other memory: emit_frame.cpp
    [[nodiscard]] IR field(IR base, std::size_t offset, llvm::Type* type, const char* name,
                           bool is_constant = true);
    [[nodiscard]] IR slot_pointer(std::uint32_t slot, Width width);
    [[nodiscard]] IR load_slot(std::uint32_t slot, Width width);
    [[nodiscard]] IR load_slot_lane(std::uint32_t slot, Width width, IR lane);
    void store_slot(std::uint32_t slot, Width width, IR value, Mask mask);
    [[nodiscard]] bool is_linear(std::uint32_t slot) const;
    [[nodiscard]] bool is_set_at_start(std::uint32_t value) const;
    void spill(const std::vector<std::uint32_t>& values, Mask mask, std::uint32_t phis_of);
    [[nodiscard]] std::vector<LiveEntry>
    live_for(const std::vector<std::pair<std::uint32_t, IR>>& lanes_before);
    IR find_strange(const std::vector<LiveEntry>& live);
    void load_live(const std::vector<LiveEntry>& live);
    void emit_entry(std::uint32_t block, llvm::BasicBlock* at);

    /// Whether there is code for P. Without, the interpreter runs the few gangs that need it: lanes
    /// never part in F, and all gangs of a block are whole.
    [[nodiscard]] bool has_partial() const {
        return graph_.needs_partial || !graph_.shape.has_whole_rows;
    }

    void stop(std::uint32_t pc, const std::vector<std::uint32_t>& live, std::uint32_t phis_of,
              std::uint32_t block, Mask mask);
    void stand(std::uint32_t pc, Mask mask, bool is_perhaps_empty);
    void bail(std::uint32_t block, std::size_t node, Mask mask);
    [[nodiscard]] const std::vector<std::uint32_t>& live_before(std::uint32_t block,
                                                                std::size_t node);

    // ---- values: kernel_emitter.cpp
    [[nodiscard]] llvm::Type* type_of(Width width) const;
    [[nodiscard]] llvm::Type* vector_of(Width width) const;

    [[nodiscard]] const Lanes& lanes(std::uint32_t value) const {
        return graph_.lanes(value, version_);
    }

    [[nodiscard]] IR home(std::uint32_t value, Version version, bool is_input);
    [[nodiscard]] IR own(std::uint32_t value);
    [[nodiscard]] IR bank_scalar(const Ref& ref, Width width);
    [[nodiscard]] IR scalar(const Ref& ref, Width width,
                            bool reads_bits = true); // uniform: the value; pattern: its base
    [[nodiscard]] IR first_lane(const Ref& ref, Width width,
                                bool reads_bits = true); // what lane 0 of the gang has
    [[nodiscard]] IR vector(const Ref& ref, Width width, bool reads_bits = true);
    [[nodiscard]] IR vector_of_value(std::uint32_t value);
    [[nodiscard]] IR canonical_vector(std::uint32_t value);
    [[nodiscard]] IR as_width(IR value, Width width);
    [[nodiscard]] IR splat(IR value);
    [[nodiscard]] IR pattern(const Lanes& lanes, llvm::Type* element);
    void define(std::uint32_t value, IR result);
    void find_raw();
    [[nodiscard]] bool leaves_raw(const Node& node) const;

    [[nodiscard]] bool is_raw(const Ref& ref) const {
        return ref.kind == Ref::Kind::Value && raw_[ref.value];
    }

    [[nodiscard]] IR canonical(IR bits);
    void define_lanes(std::uint32_t value, IR vector); // from a vector, whatever its lanes are
    [[nodiscard]] IR any(Mask mask);
    [[nodiscard]] IR bits(Mask mask); // as an integer of `lanes` bits
    [[nodiscard]] IR warp_mask(Mask mask);
    [[nodiscard]] IR all_lanes();

    [[nodiscard]] IR mask_or_all(Mask mask) { return mask.is_full() ? all_lanes() : mask.bits; }

    [[nodiscard]] Mask both(Mask mask, IR condition);
    [[nodiscard]] IR first_active(Mask mask);

    // ---- control flow: emit_control.cpp
    void emit_block(std::uint32_t block, Version version);
    void emit_end(std::uint32_t block, Mask mask);
    void emit_branch(std::uint32_t block, Mask mask);
    void emit_latch(std::uint32_t block, Mask mask);
    void edge(std::uint32_t from, std::uint32_t to, Mask mask);
    void go(std::uint32_t to, std::uint32_t from);
    void go_to(std::uint32_t block);
    void to_partial(std::uint32_t block);
    [[nodiscard]] IR is_promotable(const std::vector<std::uint32_t>& values, std::uint32_t phis_of,
                                   std::vector<std::pair<IR, IR>>& stores);

    [[nodiscard]] const Flow& flow() const { return graph_.flow(version_); }

    void find_waiting_places();
    [[nodiscard]] IR waiting_home(std::uint32_t block);
    [[nodiscard]] IR load_waiting(std::uint32_t block);
    void store_waiting(std::uint32_t block, IR mask);
    [[nodiscard]] Mask waiting_mask(std::uint32_t block, const std::vector<std::uint32_t>& all,
                                    Mask running);
    [[nodiscard]] Mask live_mask();
    [[nodiscard]] Mask opaque(Mask mask);
    [[nodiscard]] llvm::BasicBlock* block_of(std::uint32_t block, Version version);
    [[nodiscard]] llvm::BasicBlock* new_block(const char* name);

    void begin(llvm::BasicBlock* block) { ir_.SetInsertPoint(block); }

    [[nodiscard]] bool is_heavy(std::uint32_t block) const;

    // ---- instructions: emit_nodes.cpp, emit_memory.cpp, emit_warp.cpp
    void emit_node(std::uint32_t block, std::size_t node, Mask mask);
    bool emit_value(const Node& node, Mask mask);
    bool emit_memory(const Node& node, Mask mask);
    bool emit_warp(const Node& node, Mask mask);
    void emit_shuffle(const Node& node, WarpOp op, llvm::SmallVectorImpl<IR>& results);
    [[nodiscard]] IR permuted(IR values, IR from);
    [[nodiscard]] bool emit_rendezvous(std::uint32_t block, std::size_t node, Mask mask);
    [[nodiscard]] IR stays_in_range(IR base, std::int64_t least, std::int64_t most, bool is_signed);
    void guard_widening(std::uint32_t block, std::size_t node, Mask mask);
    void run_handler(const Node& node, Mask mask);
    [[nodiscard]] IR call_run(const Node& node, Mask mask);
    [[nodiscard]] IR call_access(const Node& node, Mask mask, const Access& access);
    [[nodiscard]] bool find_access(const Node& node, Access& access);
    [[nodiscard]] Reach reach_of(Access& access);
    [[nodiscard]] IR is_accessible(Access& access);
    [[nodiscard]] IR is_active_accessible(const Access& access, const Reach& reach);
    [[nodiscard]] IR are_indices_accessible(const Access& access, const Reach& reach);
    [[nodiscard]] const Address* parts_of(const Ref& address);
    [[nodiscard]] IR base_of(const Address& parts, Width width);
    void take_apart(Access& access, const Address& parts);
    [[nodiscard]] IR test_adjacency(Access& adjacent, const Address& parts);
    void find_active(Access& access);
    [[nodiscard]] IR host_of(const Access& access);
    [[nodiscard]] IR repeated(IR mask, std::uint32_t count);
    void prefetch(const Access& access, IR host);
    void load_components(const Access& access, llvm::SmallVectorImpl<IR>& results);
    void emit_access(Access& access, llvm::SmallVectorImpl<IR>& results);
    void join(llvm::ArrayRef<IR> left, llvm::BasicBlock* left_end, llvm::ArrayRef<IR> right,
              llvm::BasicBlock* right_end, llvm::SmallVectorImpl<IR>& results);
    void store_components(const Access& access);
    template <typename Instruction>
    Instruction* in_device(Instruction* access, bool is_constant);
    void call_handler(const Node& node, Mask mask, const Access* access,
                      llvm::SmallVectorImpl<IR>& results);
    void merge_results(const Node& node, IR guard, llvm::ArrayRef<IR> results, bool are_scalars);

    [[nodiscard]] const bytecode::Instruction& at(const Node& node) const {
        return graph_.kernel->code[node.pc];
    }

    [[nodiscard]] Mask guarded(const Node& node, Mask mask, IR& guard);

    const Graph& graph_;
    const std::uint32_t width_; // lanes of a gang
    const Target target_;
    llvm::Module& module_;
    llvm::LLVMContext& context_;
    llvm::IRBuilder<> ir_;
    llvm::IRBuilder<> allocas_;
    llvm::Function* function_ = nullptr;
    llvm::BasicBlock* return_ = nullptr;
    IR warp_ = nullptr;
    IR call_ = nullptr;
    IR bank_[4] = {};
    IR first_ = nullptr; // GangCall::first_lane
    IR first64_ = nullptr;
    IR shared_ = nullptr; // host address of the block's shared memory
    IR shared_bytes_ = nullptr;
    IR sites_ = nullptr;
    llvm::AllocaInst* opaque_ = nullptr;
    llvm::AllocaInst* exchange_ = nullptr; // values that lanes exchange
    IR local_ = nullptr;                   // host address of the gang's local memory
    IR local_stride_ = nullptr;            // of one thread
    IR budget_ = nullptr;                  // alloca
    IR live_ = nullptr;                    // alloca: lanes that have not left (P)
    IR left_ = nullptr;                    // alloca: lanes that wait at the exit for good
    Version version_ = Version::Full;
    Known known_;
    std::uint32_t current_ = NONE; // the block that is being written
    std::vector<std::array<llvm::BasicBlock*, VERSIONS>> blocks_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, llvm::AllocaInst*> homes_;
    std::vector<IR> waiting_full_;      // by block: where the mask is in F
    IR waiting_partial_ = nullptr;      // those of P, one behind the other
    std::vector<std::uint32_t> places_; // by block: its number there
    std::map<std::pair<std::uint32_t, std::size_t>, std::vector<std::uint32_t>> live_before_;
    // By value: a NaN in it may have any bits. They are made canonical where something reads them.
    std::vector<bool> raw_;
    std::array<std::unique_ptr<Addresses>, VERSIONS> addresses_;
    std::vector<Entry> entries_;
    std::uint32_t site_count_ = 0;
    std::vector<AccessInfo> accesses_;
    llvm::MDNode* unlikely_ = nullptr;
    llvm::MDNode* engine_scope_ = nullptr; // of memory that kernels cannot reach
    llvm::MDNode* device_scope_ = nullptr;
};

} // namespace cuprum::emulator::jit
