// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Kernels that launch kernels (dynamic parallelism). objects/ knows what functions are, so it
// provides the launches.

#pragma once

#include "interp/warp.hpp"

#include <cstddef>
#include <cstdint>

namespace cuprum::emulator::builtins {

/// What precedes the arguments of a launch in device memory. device_runtime.cpp fills in the shape.
struct LaunchHeader {
    std::uint32_t grid[3];
    std::uint32_t block[3];
    std::uint32_t shared_bytes;
    std::uint32_t unused;
    std::uint64_t kernel; // the address of the kernel
    std::uint64_t reserved[3];
};

static_assert(sizeof(LaunchHeader) == 64 && offsetof(LaunchHeader, shared_bytes) == 24);

enum class LauncherQuestion : std::uint32_t {
    LastError, // of the thread; clears it
    PeekError,
    Device,
};

/// What a thread of a kernel can ask for. `thread` is its number in the block. Errors are of type
/// cudaError_t.
struct KernelLaunches {
    /// Allocates a LaunchHeader and space for the arguments. Returns 0 after an error.
    std::uint64_t (*make)(const BlockContext& block, std::uint32_t thread,
                          std::uint64_t kernel) = nullptr;
    /// Launches and frees what `make` returned. Returns an error.
    std::uint32_t (*launch)(const BlockContext& block, std::uint32_t thread, std::uint64_t header,
                            std::uint64_t stream) = nullptr;
    /// Copies bytes, or fills them with a byte, in the order of the launches. Return an error.
    std::uint32_t (*copy)(const BlockContext& block, std::uint32_t thread, std::uint64_t to,
                          std::uint64_t from, std::uint64_t bytes, std::uint64_t stream) = nullptr;
    std::uint32_t (*fill)(const BlockContext& block, std::uint32_t thread, std::uint64_t to,
                          std::uint8_t byte, std::uint64_t bytes, std::uint64_t stream) = nullptr;
    std::uint32_t (*ask)(const BlockContext& block, std::uint32_t thread,
                         LauncherQuestion question) = nullptr;
};

/// Sets the functions, which must stay. Before the first kernel that calls them.
void set_kernel_launches(const KernelLaunches& functions) noexcept;

} // namespace cuprum::emulator::builtins
