// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "driver/relaxed_capture.hpp"

namespace cuprum::detail {

/// Frees memory of a pool in the order of a stream that is not capturing.
///
/// While another stream is, the driver refuses that and ends the capture, unless the thread says
/// that it means it. Saying so takes two calls: it is done once a stream's handle has gone from us
/// to others or from others to us, since nobody else begins a capture beside our work. A capture of
/// streams that we never heard of is ended by the driver, but the memory is not lost.
[[nodiscard]] inline CUresult free_in_order(CUdeviceptr pointer, CUstream stream) {
    const auto& free = driver::table().cuMemFreeAsync;
    if (!driver::detail::process_flags.are_streams_shared.load(std::memory_order_relaxed)) [[likely]] {
        const CUresult status = free(pointer, stream);
        if (status != CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED) [[likely]] {
            return status;
        }
    }
    const driver::RelaxedCapture relaxed;
    return free(pointer, stream);
}

/// Notes that streams are known both to us and to others.
inline void note_shared_streams() noexcept {
    auto& are_shared = driver::detail::process_flags.are_streams_shared;
    if (!are_shared.load(std::memory_order_relaxed)) {
        are_shared.store(true, std::memory_order_relaxed);
    }
}

} // namespace cuprum::detail
