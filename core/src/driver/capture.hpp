// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Stream captures that other code runs beside our calls.
//
// While a stream capture is active, the driver refuses calls that a graph cannot contain, and the
// refusal also invalidates the capture. Retrying such a call later does not help: the capture is
// lost. The rule covers the thread that captures, and every thread if the capture is global, even
// for calls that have nothing to do with the captured streams. A thread is exempt while it is in
// relaxed capture mode.
//
// Measured on an H200 with driver 580, for calls on streams that do not capture:
// - refused outside relaxed mode: cuMemAllocAsync, cuMemFreeAsync, cuMemFree, cuMemFreeHost,
//   cuMemHostUnregister, cuMemPoolDestroy, cuLibraryUnload, cuModuleUnload, and every
//   synchronisation or query of a stream or an event;
// - always allowed: creating, recording, waiting for and destroying events, creating and destroying
//   streams, cuMemUnmap, cuMemRelease, cuMemAddressFree, cuCtxDestroy;
// - refused even in relaxed mode: cuCtxSynchronize of a context with a capture.
//
// A destructor runs at a time that nobody chooses, for example when a garbage collector does. It
// must never end a capture, so everything that destructors call from the first list runs under
// RelaxedCapture, always. The two mode changes take about 15 ns together, against 600 to 1100 ns
// for one allocation and its free. A thread that stayed in relaxed mode would save them, but it
// would also switch off the driver's checks for the captures that the program itself makes there.

#pragma once

#include "driver/call.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cuprum::driver {

/// Puts the calling thread into relaxed capture mode for a scope.
class RelaxedCapture {
public:
    [[nodiscard]] RelaxedCapture() noexcept : is_changed_(exchange()) {}

    ~RelaxedCapture() {
        if (is_changed_) [[likely]] { // else `mode_` is not the thread's
            exchange();
        }
    }

    RelaxedCapture(const RelaxedCapture&) = delete;
    RelaxedCapture& operator=(const RelaxedCapture&) = delete;

private:
    bool exchange() noexcept {
        return release_now("change of the capture mode", table().cuThreadExchangeStreamCaptureMode,
                           &mode_);
    }

    CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
    bool is_changed_;
};

/// The driver's answer to whether a stream is part of a stream capture.
struct CaptureQuery {
    CUresult status = CUDA_SUCCESS; // of the query itself
    CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;

    /// Returns whether work on the stream would join a capture or disturb one. The legacy default
    /// stream disturbs every capture of a blocking stream.
    [[nodiscard]] bool is_capturing() const noexcept {
        return capture != CU_STREAM_CAPTURE_STATUS_NONE ||
               status == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
};

/// Asks the driver whether a stream is part of a stream capture. Does not throw for its answer.
[[nodiscard]] inline CaptureQuery query_capture(CUstream stream, const Table& driver = table()) {
    CaptureQuery answer;
    answer.status = driver.cuStreamIsCapturing(stream, &answer.capture);
    return answer;
}

/// Returns whether a stream is part of a stream capture.
/// @throws CUDAError if the driver does not know.
[[nodiscard]] inline CUstreamCaptureStatus capture_status(CUstream stream) {
    const CaptureQuery answer = query_capture(stream);
    if (answer.status != CUDA_SUCCESS) [[unlikely]] {
        raise(answer.status, table().cuStreamIsCapturing.name);
    }
    return answer.capture;
}

/// A call that failed because it breaks a rule of stream captures. Most such calls invalidate a
/// capture.
struct CaptureFault {
    std::string call;
    CUresult status = CUDA_SUCCESS;
};

/// Returns whether a code says that a call breaks a rule of stream captures.
[[nodiscard]] constexpr bool is_capture_fault(int status) noexcept {
    return status >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED &&
           status <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
}

/// Remembers a fault, for the error of the capture that it invalidated. Called for every CUDAError.
void note_capture_fault(int status, std::string_view call) noexcept;

/// Returns how many faults there were so far in this process.
[[nodiscard]] std::uint64_t capture_fault_count() noexcept;

/// Returns the last fault if there was one after the first `count`. The error that a capture is
/// invalidated is no fault.
[[nodiscard]] std::optional<CaptureFault> capture_fault_since(std::uint64_t count);

} // namespace cuprum::driver
