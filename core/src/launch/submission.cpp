// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "launch/submission.hpp"

#include "device/device_state.hpp"
#include "driver/current.hpp"
#include "driver/handle.hpp"
#include "launch/launch_failure.hpp"
#include "program/kernel_state.hpp"
#include "stream/active_captures.hpp"
#include "stream/event_state.hpp"
#include "stream/stream_state.hpp"
#include "support/locks.hpp"

#include <mutex>

namespace cuprum::detail {

namespace {

/// Lets the graph that a stream is captured into keep alive what a launch uses.
[[gnu::cold]] void retain_captured(const StreamState& stream, const LaunchConfig& config,
                                   const Kernel& kernel) {
    const auto capture = find_capture(stream);
    if (capture == nullptr) {
        return;
    }
    capture->retain(Access::state(kernel));
    if (config.programmatic_event.has_value()) {
        capture->retain(Access::state(config.programmatic_event->event));
    }
    if (config.launch_completion_event.has_value()) {
        capture->retain(Access::state(*config.launch_completion_event));
    }
}

/// Refuses a priority that the device does not have: drivers silently take the nearest one.
void check_priority(const StreamState& stream, int priority) {
    DeviceState& device =
        stream.context != nullptr ? *stream.context->device : *context_state_of(stream)->device;
    static_cast<void>(checked_priority(device, priority, "LaunchConfig priority"));
}

/// Returns the device that work on a stream runs on.
CUdevice device_of(const StreamState& stream) {
    return stream.context != nullptr ? stream.context->device->handle
                                     : context_state_of(stream)->device->handle;
}

} // namespace

[[gnu::hot]] void submit(const Stream& stream, const LaunchConfig& config,
                         const CUlaunchConfig& encoded, const Kernel& kernel, void** addresses) {
    const StreamState& queue = open(stream);
    const KernelState& function = open(kernel);
    // NOTE: no context is made current. The driver runs a kernel in the context of the stream. The
    // default streams belong to the current context, so there must be one.
    if (queue.context == nullptr) {
        static_cast<void>(context_of(queue));
    }
    if (config.shmem_size != 0) {
        allow_shared_memory(function, device_of(queue), config.shmem_size);
    }
    if (encoded.numAttrs != 0 && config.priority.has_value()) [[unlikely]] {
        check_priority(queue, *config.priority);
    }
    // NOTE: the driver accepts a kernel as a function here and finds the one of the context.
    const auto start = [&] {
        return driver::table().cuLaunchKernelEx(
            &encoded, reinterpret_cast<CUfunction>(function.handle), addresses, nullptr);
    };
    CUresult status = start();
    if (status == CUDA_ERROR_INVALID_CONTEXT && queue.context != nullptr) [[unlikely]] {
        const driver::Current current(queue.context->handle); // for drivers that need it current
        status = start();
    }
    if (status != CUDA_SUCCESS) [[unlikely]] {
        raise_launch_failure(status, config, kernel, stream);
    }
    queue.last_launch.note(function.label);
    if (has_active_captures()) [[unlikely]] {
        retain_captured(queue, config, kernel);
    }
}

void allow_shared_memory(const KernelState& kernel, CUdevice device, std::size_t bytes) {
    if (kernel.is_allowed(device, bytes)) {
        return;
    }
    // Without the lock, two threads could read the same limit, and the second to set it could lower
    // what the first needs.
    static constinit std::mutex raising;
    const QuietLock lock(raising);
    const auto& table = driver::table();
    int allowed = 0;
    driver::call(table.cuKernelGetAttribute, &allowed,
                 CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel.handle, device);
    if (static_cast<std::size_t>(allowed) < bytes) {
        const CUresult status =
            table.cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                       static_cast<int>(bytes), kernel.handle, device);
        if (status == CUDA_ERROR_INVALID_VALUE) {
            return;
        }
        if (status != CUDA_SUCCESS) {
            driver::raise(status, table.cuKernelSetAttribute.name);
        }
        allowed = static_cast<int>(bytes);
        forget_occupancy();
    }
    kernel.note_allowed(device, static_cast<std::size_t>(allowed));
}

} // namespace cuprum::detail
