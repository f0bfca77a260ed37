// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The interface between the emulated device and the compiler, which is a plug-in of the same build
// (libcuprum_jit.so), and between compiled code and what runs it.
//
// Compiled code runs one gang of a warp (graph.hpp) from an entry until it must stop: at an
// instruction that only the interpreter runs, at the end, or when its budget of back edges is used
// up. It leaves all values that are needed later in the frame of the warp. Instructions that it
// cannot run itself, such as an access to unusual memory, run by their handler, in place.

#pragma once

#include "interp/warp.hpp"
#include "jit/graph.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::emulator::jit {

/// The most blocks for which lanes may wait at an entry.
constexpr std::size_t MAX_WAITING = 16;

/// Lanes that stand at one instruction.
struct Stand {
    std::uint32_t pc;
    std::uint32_t mask; // of the warp
};

struct GangCall;

/// What compiled code knows about the memory that one of its instructions accesses: the range of
/// device memory around the last address that it may read (or write) without another look. An
/// access that begins at `begin + offset` is fine if `offset` is a multiple of its unit, and in
/// units less than `limit`. Empty at first, and after every change of what is mapped.
struct Site {
    std::uint64_t begin = 0;
    std::uint64_t limit = 0;
};

/// One access of compiled code to memory.
struct AccessInfo {
    std::uint32_t pc = 0;         // its instruction
    std::uint32_t site = NONE;    // NONE: not an access to device memory
    std::uint32_t unit_shift = 0; // the unit is two to the power of this
    std::uint32_t span = 0;       // bytes from the beginning of the access on
    std::uint32_t is_write = 0;
};

/// Functions of the emulated device that compiled code calls. They return false after a fault.
struct Services {
    /// Runs one instruction by its handler for lanes of a mask.
    bool (*run)(WarpContext* warp, GangCall* call, std::uint32_t pc, std::uint32_t mask);

    /// As run(), for an access whose address is outside what its site knows. Updates the site.
    bool (*run_access)(WarpContext* warp, GangCall* call, std::uint32_t access, std::uint32_t mask,
                       std::uint64_t address);

    /// As run_access(), and preserves all registers but the result's, so that the code around a
    /// call that hardly ever happens need not save any. Null where there is no such function.
    void (*run_access_preserving)();
};

/// What a gang is called with, and where it says how it stopped.
struct GangCall {
    const Services* services = nullptr;
    Site* sites = nullptr;                   // Object::site_count of them, of this worker and code
    const AccessInfo* accesses = nullptr;    // Object::accesses
    std::uint32_t first_lane = 0;            // of the gang in its warp
    std::uint32_t entry = 0;                 // index into Object::entries
    std::uint32_t mask = 0;                  // lanes that stand at the entry, of the warp
    std::uint32_t budget = 0;                // back edges left, counted down
    std::uint32_t waiting[MAX_WAITING] = {}; // lanes that wait for Entry::waiting, of the warp
    // What is known of the lanes at the entry: they come from the interpreter; or straight from
    // compiled code, in version P; or in F, or they have just started.
    enum class Trust : std::uint32_t { None, Partial, Full };
    Trust trust = Trust::None;
    // Out.
    std::uint32_t stand_count = 0; // 0 after a fault
    Stand stands[bytecode::WARP_SIZE + 1];
    std::uint32_t is_out_of_budget = 0;
    std::uint32_t has_stopped_full = 0; // in version F
    // Not for compiled code: Object::flushes, for the handlers that it calls.
    std::uint32_t flushes = 0;
};

/// Runs a gang.
using GangFunction = void (*)(WarpContext* warp, GangCall* call);

/// Where compiled code can be entered.
struct Entry {
    std::uint32_t pc = 0;
    std::vector<std::uint32_t> waiting;      // the instructions for which other lanes may wait
    std::vector<std::uint32_t> linear_slots; // live registers with a LinearHead
};

/// Compiled code as bytes that can be stored: a relocatable object without references to this
/// process.
struct Object {
    std::vector<std::byte> code;
    std::vector<Entry> entries; // by pc
    std::uint32_t lanes = 16;   // of a gang
    std::uint32_t site_count = 0;
    std::vector<AccessInfo> accesses;
    // The processor must treat subnormal numbers as zeros while the code runs, but not while
    // handlers run.
    bool flushes = false;
};

/// Where a thread is that the process need not wait for when it exits.
enum class CompilerUse : std::uint8_t { Outside, Inside, Abandoned };

struct Request {
    const bytecode::Kernel* kernel = nullptr;
    Shape shape;
    const char* level = "";   // an instruction-set level: isa_v2, isa_v3, isa_v4
    bool is_thorough = false; // more optimisation, for kernels that stay hot
    // Inside while the compiler runs, and Outside when it returns. If it is Abandoned then, the
    // compiler does not return. It lives as long as the process. Null: the caller waits.
    std::atomic<CompilerUse>* use = nullptr;
};

/// Memory with executable code. Releases it.
class Code {
public:
    Code() = default;
    Code(const Code&) = delete;
    Code& operator=(const Code&) = delete;
    virtual ~Code() = default;

    [[nodiscard]] virtual GangFunction function() const noexcept = 0;
};

/// Returns a number that differs for other sizes.
constexpr std::uint64_t layout_of(std::initializer_list<std::size_t> sizes) {
    std::uint64_t number = 0xcbf29ce484222325u; // FNV-1a
    for (const std::size_t size : sizes) {
        number = (number ^ size) * 0x100000001b3u;
    }
    return number;
}

/// The layout of what compiled code and both sides of the interface read. A plug-in with another
/// one belongs to another build.
constexpr std::uint64_t PLUGIN_LAYOUT = layout_of(
    {sizeof(WarpContext), sizeof(BlockContext), sizeof(GangCall), sizeof(Stand), sizeof(Site),
     sizeof(AccessInfo), sizeof(Services), sizeof(Entry), sizeof(Object), sizeof(Request),
     sizeof(bytecode::Instruction), sizeof(bytecode::Kernel), sizeof(bytecode::Form),
     offsetof(WarpContext, block), offsetof(WarpContext, present), offsetof(BlockContext, shared),
     offsetof(BlockContext, local), static_cast<std::size_t>(FixedOp::Count)});

/// SHA-256 of some bytes.
using Digest = std::array<std::uint8_t, 32>;

/// What the plug-in offers. Safe to call from several threads.
struct Plugin {
    /// Both sides compare it.
    std::uint64_t layout = PLUGIN_LAYOUT;

    /// Compiles a kernel. Returns why it cannot, or an empty string.
    std::string (*compile)(const Request& request, Object& object) = nullptr;

    /// Makes an object ready to run. Returns null, and why in `problem`, if it is damaged or there
    /// is no memory for code.
    std::unique_ptr<Code> (*load)(const Object& object, std::string& problem) = nullptr;

    Digest (*digest)(std::string_view bytes) = nullptr;
};

/// The plug-in's only exported function.
using PluginFunction = const Plugin* (*)();
constexpr const char* PLUGIN_FUNCTION = "cuprum_jit_plugin";

} // namespace cuprum::emulator::jit
