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

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace cuprum::emulator::jit {

/// The most blocks for which lanes may wait at an entry.
constexpr std::size_t MAX_WAITING = 16;

/// Lanes that stand at one instruction.
struct Stand {
    std::uint32_t pc = 0;
    std::uint32_t mask = 0; // of the warp
};

struct GangCall;

/// Functions of the emulated device that compiled code calls.
struct Services {
    /// Runs one instruction by its handler for lanes of a mask. Returns false after a fault.
    bool (*run)(WarpContext* warp, std::uint32_t pc, std::uint32_t mask);
};

/// What a gang is called with, and where it says how it stopped.
struct GangCall {
    const Services* services = nullptr;
    std::uint32_t first_lane = 0;            // of the gang in its warp
    std::uint32_t entry = 0;                 // index into Object::entries
    std::uint32_t mask = 0;                  // lanes that stand at the entry, of the warp
    std::uint32_t budget = 0;                // back edges left, counted down
    std::uint32_t waiting[MAX_WAITING] = {}; // lanes that wait for Entry::waiting, of the warp
    // Out.
    std::uint32_t stand_count = 0; // 0 after a fault
    Stand stands[WarpContext{}.groups.size()];
    std::uint32_t is_out_of_budget = 0;
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
};

struct Request {
    const bytecode::Kernel* kernel = nullptr;
    Shape shape;
    const char* level = "";   // an instruction-set level: isa_v2, isa_v3, isa_v4
    bool is_thorough = false; // more optimisation, for kernels that stay hot
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

/// What the plug-in offers. Safe to call from several threads.
struct Plugin {
    /// Changes with this header and the bytecode; both sides compare it.
    const char* build = "";

    /// Compiles a kernel. Returns why it cannot, or an empty string.
    std::string (*compile)(const Request& request, Object& object) = nullptr;

    /// Makes an object ready to run. Returns null, and why in `problem`, if it is damaged or there
    /// is no memory for code.
    std::unique_ptr<Code> (*load)(const Object& object, std::string& problem) = nullptr;
};

/// The plug-in's only exported function.
using PluginFunction = const Plugin* (*)();
constexpr const char* PLUGIN_FUNCTION = "cuprum_jit_plugin";

} // namespace cuprum::emulator::jit
