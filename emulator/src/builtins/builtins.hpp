// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Functions that the device itself provides. Kernels declare them without a body.

#pragma once

#include "bytecode/instruction.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace cuprum::emulator::builtins {

using Function = std::remove_pointer_t<bytecode::Handler>;

Function print;           // src[0]: format; src[1]: packed arguments; dst[0]: number of arguments
Function fail_assert;     // src[0]: condition; src[1]: file; src[2]: line; src[3]: function
Function allocate;        // src[0]: bytes; dst[0]: address or 0
Function release;         // src[0]: address
Function set_conditional; // src[0]: handle; src[1]: value
Function launch_graph;    // src[0]: graph; src[1]: stream; dst[0]: error
Function find_current_graph; // dst[0]: graph
Function make_launch;        // src[0]: kernel; dst[0]: address of the launch, or 0
Function launch_kernel;      // src[0]: address of the launch; src[1]: stream; dst[0]: error
Function launch_copy;  // src[0]: to; src[1]: from; src[2]: bytes; src[3]: stream; dst[0]: error
Function launch_fill;  // src[0]: to; src[1]: byte; src[2]: bytes; src[3]: stream; dst[0]: error
Function ask_launcher; // src[0]: LauncherQuestion; dst[0]: answer

/// A function as PTX declares it. Sizes are in bytes.
struct Builtin {
    std::string_view name;
    FixedOp op;
    std::uint32_t result_size = 0; // 0: returns nothing
    std::array<std::uint32_t, 5> parameter_sizes{};
    std::uint32_t parameter_count = 0;
    std::uint32_t used_count = 0; // how many parameters the handler reads
    bool is_heap = false;
};

/// Returns the function with a name, or nullptr.
[[nodiscard]] const Builtin* find(std::string_view name);

/// Returns whether a function belongs to libcudadevrt, which kernels that launch kernels call. The
/// emulated device has its own version of some functions, in device_runtime.cpp.
[[nodiscard]] bool is_of_device_runtime(std::string_view name);

/// The part of an error message that explains that a function is missing.
constexpr std::string_view NO_DEVICE_RUNTIME =
    "of the device runtime, libcudadevrt, the emulated device has launches, streams, events, "
    "cudaMemcpyAsync, cudaMemsetAsync, cudaMalloc, cudaFree, cudaGetDevice, cudaGetLastError and "
    "cudaGetErrorString, and only if the "
    "code is linked (nvcc -rdc=true, or cuLink); call other functions from the host";

/// Returns all functions, for the documentation.
[[nodiscard]] std::span<const Builtin> all();

} // namespace cuprum::emulator::builtins
