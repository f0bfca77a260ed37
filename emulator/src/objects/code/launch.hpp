// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "exec/engine.hpp"
#include "objects/code/function.hpp"
#include "objects/process/error_state.hpp"
#include "objects/streams/stream.hpp"

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace cuprum::emulator {

struct Allocation;

/// A launch as the caller described it.
struct LaunchRequest {
    std::uint32_t grid[3] = {1, 1, 1};
    std::uint32_t block[3] = {1, 1, 1};
    std::uint32_t shared_bytes = 0;
    void** parameters = nullptr;            // addresses of the arguments
    void** extra = nullptr;                 // or the packed buffer, as cuLaunchKernel takes it
    std::span<const std::byte> packed = {}; // or the arguments, packed already
    bool is_cooperative = false;
    std::uint32_t cluster[3] = {0, 0, 0};       // zeros: as the kernel declares
    std::optional<int> priority = std::nullopt; // if it differs from that of the stream
    CUevent completion_event = nullptr;         // recorded after the launch
    CUkernel kernel = nullptr;                  // the handle that was passed, if it is a kernel's
    std::span<const CUlaunchAttribute> attributes = {}; // as given
    bool may_overlap = false;                           // with the kernel before it
};

/// A launch that the engine can run, and what it needs until it is done.
struct PreparedLaunch {
    exec::GridLaunch grid;
    std::shared_ptr<Module> module;              // whose variables the kernel uses
    std::shared_ptr<const Allocation> workspace; // of a cooperative grid's barrier
};

/// Reads launch attributes into a request. Throws INVALID_VALUE if one is unknown.
void apply_attributes(LaunchRequest& request, std::span<const CUlaunchAttribute> attributes);

/// Checks a launch against the kernel and the device, of which it can use `sm_count` processors.
///
/// @throws DriverError with the documented code for the first limit that is exceeded.
void check_launch(Function& function, const Context& context, std::uint32_t sm_count,
                  const LaunchRequest& request);

/// Returns the arguments of a launch as the kernel declares them; throws INVALID_VALUE.
[[nodiscard]] std::vector<std::byte> pack_arguments(const bytecode::Kernel& kernel,
                                                    const LaunchRequest& request);

/// Returns the next number for a launch of the host, in the order of the program. Launches of
/// kernels have other numbers: with them, the order would depend on when a kernel runs.
[[nodiscard]] std::uint64_t next_grid_id() noexcept;

/// Makes a checked launch ready to run. The caller sets its `grid_id`.
[[nodiscard]] PreparedLaunch prepare_launch(Function& function, Context& context, int priority,
                                            const LaunchRequest& request);

/// Returns the driver's result code for a fault of a kernel.
[[nodiscard]] CUresult code_of_fault(FaultKind kind);

/// Records and logs the fault of a kernel, if it has one and is the first in its context. NVML
/// reports it as an event of the device.
void report_fault(ErrorState& errors, int device, const Fault* fault) noexcept;

/// Checks a launch against the limits of the kernel and the device, and enqueues it.
///
/// @throws DriverError with the documented code for the first limit that is exceeded.
void launch(const std::shared_ptr<Function>& function, Stream& stream,
            const LaunchRequest& request);

} // namespace cuprum::emulator
