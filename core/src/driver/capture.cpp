// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "driver/capture.hpp"

#include "support/locks.hpp"

#include <algorithm>
#include <mutex>

namespace cuprum::driver {

namespace {

/// The last fault of the process. The name is cut to fit: no allocation may fail here.
struct LastFault {
    cuprum::detail::SpinLock lock;
    std::uint64_t count = 0;
    int status = 0;
    char call[64] = {};
};

constinit LastFault last_fault;

} // namespace

void note_capture_fault(int status, std::string_view call) noexcept {
    // Once a capture is invalidated, every call on it fails in this way: the first cause counts.
    if (!is_capture_fault(status) || status == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED) {
        return;
    }
    const std::lock_guard lock(last_fault.lock);
    ++last_fault.count;
    last_fault.status = status;
    const std::size_t length = std::min(call.size(), sizeof(last_fault.call) - 1);
    std::copy_n(call.data(), length, last_fault.call);
    last_fault.call[length] = '\0';
}

std::uint64_t capture_fault_count() noexcept {
    const std::lock_guard lock(last_fault.lock);
    return last_fault.count;
}

std::optional<CaptureFault> capture_fault_since(std::uint64_t count) {
    char call[sizeof(last_fault.call)];
    int status = 0;
    {
        const std::lock_guard lock(last_fault.lock);
        if (last_fault.count <= count) {
            return std::nullopt;
        }
        status = last_fault.status;
        std::ranges::copy(last_fault.call, call);
    }
    return CaptureFault{call, static_cast<CUresult>(status)};
}

} // namespace cuprum::driver
