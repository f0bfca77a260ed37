// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "driver/call.hpp"

#include <cuda.h>

namespace cuprum::driver {

/// Makes a context current and returns whether it was pushed for that. Costs one cheap driver call
/// if it is current already, which is nearly always.
[[nodiscard]] inline bool push_unless_current(CUcontext wanted) {
    CUcontext current = nullptr;
    call(table().cuCtxGetCurrent, &current);
    if (current == wanted) {
        return false;
    }
    call(table().cuCtxPushCurrent, wanted);
    return true;
}

/// Pops what push_unless_current() pushed. Reports a failure.
inline void pop_pushed() noexcept {
    CUcontext popped = nullptr;
    release_now("current context", table().cuCtxPopCurrent, &popped);
}

/// Makes a context current for a scope.
class Current {
public:
    [[nodiscard]] explicit Current(CUcontext wanted) : is_pushed_(push_unless_current(wanted)) {}

    ~Current() {
        if (is_pushed_) {
            pop_pushed();
        }
    }

    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

    /// Returns whether another context was current.
    [[nodiscard]] bool is_pushed() const noexcept { return is_pushed_; }

private:
    bool is_pushed_;
};

/// Returns whether a call may have failed because its stream's context was not current.
[[nodiscard]] inline bool is_about_context(CUresult status) noexcept {
    return status == CUDA_ERROR_INVALID_CONTEXT || status == CUDA_ERROR_INVALID_HANDLE;
}

/// Calls a function that enqueues work on device memory. Drivers use the stream's context, whatever
/// is current. If one refuses, it is called once more with the context that `context_of` returns.
/// `raise` throws for the status of a failure.
///
/// NOTE: copies between devices have another fallback: see copy() in memory/.
template <typename Entry, typename ContextOf, typename Raise, typename... Args>
inline void call_for_stream(const Entry& entry, const ContextOf& context_of, const Raise& raise,
                            Args... args) {
    CUresult status = entry(args...);
    if (is_about_context(status) || status == CUDA_ERROR_INVALID_VALUE) [[unlikely]] {
        const Current current(context_of());
        if (current.is_pushed()) {
            status = entry(args...);
        }
    }
    if (status != CUDA_SUCCESS) [[unlikely]] {
        raise(status);
    }
}

/// Returns whether a handle means the legacy default stream, which null does too.
[[nodiscard]] inline bool is_legacy_default_stream(CUstream stream) noexcept {
    return stream == nullptr || stream == CU_STREAM_LEGACY;
}

/// Returns whether a handle means a default stream of whichever context is current.
[[nodiscard]] inline bool is_default_stream(CUstream stream) noexcept {
    return is_legacy_default_stream(stream) || stream == CU_STREAM_PER_THREAD;
}

} // namespace cuprum::driver
