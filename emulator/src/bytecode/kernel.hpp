// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bytecode/code_source.hpp"
#include "bytecode/instruction.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cuprum::emulator::bytecode {

/// The alignment of the banks, and of every value in them that is not a predicate.
constexpr std::uint32_t BANK_ALIGNMENT = 64;

/// The size of a lane of a value.
enum class Width : std::uint8_t { Predicate = 0, B32 = 4, B64 = 8, B128 = 16 };

/// Returns the bytes that a value of this width takes in a bank.
[[nodiscard]] constexpr std::uint32_t slot_bytes(Width width) {
    return width == Width::Predicate ? 4 : static_cast<std::uint32_t>(width) * WARP_SIZE;
}

/// The header before the lanes of a linear register (passes/find_linear.cpp). The value in lane l
/// is `base` plus `steps[b]` for every bit b that is set in l. Values of 32 bits are modulo 2^32.
struct alignas(BANK_ALIGNMENT) LinearHead {
    static constexpr std::uint32_t STEP_COUNT = 5;

    std::uint64_t base = 0;
    std::uint64_t steps[STEP_COUNT] = {};
    std::uint64_t has_lanes = 0; // 1: the lanes are up to date
    std::uint64_t is_varied = 0; // 1: only the lanes hold the value; base and steps are meaningless
};

/// Values that are known only per launch, block or warp. Instructions read them like registers.
enum class Special : std::uint8_t {
    // bank Launch
    NtidX,
    NtidY,
    NtidZ,
    NctaidX,
    NctaidY,
    NctaidZ,
    GridId,
    DynamicSharedSize,
    TotalSharedSize,
    NSmId,
    NWarpId,
    NclusterIdX,
    NclusterIdY,
    NclusterIdZ,
    ClusterNctaidX,
    ClusterNctaidY,
    ClusterNctaidZ,
    ClusterNctarank,
    EnvReg1,
    EnvReg2, // the two halves of a pointer to the grid workspace
    // bank Block
    CtaidX,
    CtaidY,
    CtaidZ,
    SmId,
    ClusterIdX,
    ClusterIdY,
    ClusterIdZ,
    ClusterCtaidX,
    ClusterCtaidY,
    ClusterCtaidZ,
    ClusterCtarank,
    // bank Registers: written once when a warp starts
    TidX,
    TidY,
    TidZ,
    WarpId,
    LocalBase,     // where the activation's local memory begins in the thread's; 64 bits wide
    ReturnAddress, // the instruction that each lane returns to; written by calls
};

/// The place of one launch-time value: which value, and its offset in the bank.
struct SpecialSlot {
    Special special{};
    std::uint32_t offset = 0;
    Width width = Width::B32;
    bool is_linear = false; // a LinearHead stands before it
};

/// The place of one scalar kernel parameter in the Launch bank.
struct ParameterSlot {
    std::uint32_t parameter_offset = 0; // bytes into the packed parameters
    std::uint8_t size_bytes = 0;        // 1, 2, 4 or 8
    bool is_signed = false;             // extend the sign when the lane is wider
    std::uint32_t offset = 0;           // of the bank
    Width width = Width::B32;
};

/// A constant that holds the address of a variable. Each context fills it in
/// (passes::place_symbols).
struct SymbolSlot {
    std::uint32_t offset = 0; // of the bank
    Width width = Width::B64;
    std::uint32_t symbol = 0; // index into Kernel::symbols
    std::uint64_t addend = 0;
};

/// One declared parameter, as cuKernelGetParamInfo reports it.
struct Parameter {
    std::uint32_t offset = 0;
    std::uint32_t size_bytes = 0;
    std::uint32_t alignment = 1;
};

/// One variable in static shared memory.
struct SharedVariable {
    std::string name;
    std::uint32_t offset = 0;
    std::uint32_t bytes = 0;
};

/// Where an instruction came from.
struct Line {
    std::uint32_t ptx_line = 0;
    std::uint32_t source_line = 0;
    std::uint32_t source_file = 0;
    std::uint32_t text_offset = 0; // of the PTX instruction, in Kernel::source
};

/// The unit of function addresses. The address that a kernel sees is the function's number in the
/// module plus one, times this. Such small numbers are never memory addresses, and they are even,
/// as pointers to members require.
constexpr std::uint64_t FUNCTION_ADDRESS_UNIT = 16;

/// Part of a frame of registers: places for registers of one width.
struct SlotRange {
    std::uint32_t begin = 0;
    std::uint32_t end = 0; // one past the last byte
    Width width = Width::B32;
    bool is_linear = false; // a LinearHead stands before each
};

/// A kernel that is ready to run.
struct Kernel {
    std::string name;
    std::vector<Instruction> code;
    std::vector<Operand> operands;             // the `extra` operands of instructions
    std::vector<std::byte> constants;          // bank Constants, while it is collected
    std::uint32_t constant_bytes = 0;          // of bank Constants
    std::shared_ptr<std::byte> constant_bank;  // the same bytes, aligned to BANK_ALIGNMENT
    std::vector<SymbolSlot> symbol_slots;      // constants that differ between contexts
    std::vector<std::string> symbols;          // the variables whose addresses they hold
    std::shared_ptr<CodeSource> code_source;   // what warps and blocks run: `code`, or a variant
    std::vector<LockstepHandler> lockstep;     // of the first instructions, for whole blocks
    bool can_run_in_teams = false;             // several short blocks may run in lockstep
    std::uint32_t first_effect = 0;            // the first instruction that others can notice
    std::vector<std::uint32_t> branch_targets; // the lists of brx.idx: instruction indices
    std::vector<Line> lines;
    std::shared_ptr<const std::string> source;                  // the PTX text, for reports
    std::shared_ptr<const std::vector<std::string_view>> files; // of source code, by number

    std::uint32_t frame_bytes = 0;  // of bank Registers, per warp
    std::uint32_t launch_bytes = 0; // of bank Launch
    std::uint32_t block_bytes = 0;  // of bank Block
    std::vector<SpecialSlot> launch_specials;
    std::vector<SpecialSlot> block_specials;
    std::vector<SpecialSlot> warp_specials;
    std::vector<ParameterSlot> parameter_slots;
    std::vector<std::uint32_t> linear_slots; // offsets in a frame of registers with a LinearHead
    std::vector<SlotRange> slot_ranges;      // all of the frame, in order
    std::uint32_t skipped_bytes = 0; // of registers in a frame that fused handlers do not write

    std::vector<Parameter> parameters;
    std::uint32_t parameter_bytes = 0; // packed size
    std::uint32_t static_shared_bytes = 0;
    std::vector<SharedVariable> shared_variables; // static ones, for reports
    // Shared memory between the static and the dynamic part that users do not see. It contains the
    // two areas below and the gaps before them.
    std::uint32_t hidden_shared_bytes = 0;
    // If a kernel takes the address of a parameter, the packed parameters are copied here. 0: no
    // copy.
    std::uint32_t parameter_copy_bytes = 0;
    std::uint32_t parameter_copy_offset = 0;
    // The system-reserved area, for kernels that ask for its address: cooperative groups keep the
    // barriers of multi-warp tiles there. 0: not needed.
    std::uint32_t reserved_shared_bytes = 0;
    std::uint32_t reserved_shared_offset = 0;
    std::uint32_t local_bytes = 0; // per thread and activation
    std::uint32_t constant_memory_bytes = 0;
    std::uint32_t register_count = 0; // 32-bit registers per thread, as reported to the user
    std::uint32_t max_threads[3] = {0, 0, 0};
    std::uint32_t required_threads[3] = {0, 0, 0};
    std::uint32_t required_cluster[3] = {0, 0, 0};
    std::uint32_t ptx_version = 0; // 90 for 9.0
    std::uint32_t target_sm = 0;
    bool uses_grid_sync = false;
    bool uses_heap = false;                   // calls malloc or free
    bool uses_warpgroups = false;             // executes wgmma, and is checked for races
    std::vector<std::string> group_registers; // the names of the registers that the check tracks

    // Functions that are called rather than inlined follow the kernel in `code`. Each activation
    // has its own frame and local memory, all of the same size. Registers of one width have the
    // same places in every function, so lanes in different functions never touch each other's
    // bytes.
    std::unordered_map<std::uint64_t, std::uint32_t> functions; // by address: first instruction
    std::uint32_t max_frames = 1;  // most activations of a thread, including the kernel
    std::uint32_t return_slot = 0; // offset of Special::ReturnAddress in a frame
};

} // namespace cuprum::emulator::bytecode
