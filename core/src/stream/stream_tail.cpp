// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "stream/stream_tail.hpp"

#include "driver/call.hpp"
#include "driver/capture.hpp"
#include "driver/current.hpp"
#include "stream/deferred_release.hpp"
#include "support/locks.hpp"
#include "support/warn.hpp"

#include <cuprum/error.hpp>

#include <string>

namespace cuprum::detail {

using Answer = TailMark::Answer;

TailMark StreamTail::mark() noexcept {
    if (driver::is_leaving() || !is_intact(context_, made_at_)) {
        return {Answer::Over};
    }
    if (runs_host_function()) {
        return {Answer::Later};
    }
    try {
        const driver::Current current(context_->handle);
        const QuietLock lock(mutex_); // the stream stays while it is used
        return stream_ == nullptr ? last_ : record();
    } catch (const CUDAError& error) {
        return {is_over(error.code()) ? Answer::Over : Answer::Later, {}, std::current_exception()};
    } catch (...) {
        return {Answer::Later, {}, std::current_exception()};
    }
}

void StreamTail::end() noexcept {
    TailMark last = mark();
    if (driver::is_leaving()) {
        return;
    }
    const bool is_marked = last.answer != Answer::Later;
    {
        const std::lock_guard lock(mutex_);
        stream_ = nullptr;
        last_ = {is_marked ? last.answer : Answer::Never, last.event, {}};
    }
    if (!is_marked) { // without the lock: a warning can run code of the program
        last.failure != nullptr ? warn_unmarked(last.failure)
                                : warn_unmarked("its stream was closed while it was captured");
    }
}

TailMark StreamTail::record() {
    const auto is_capturing = [&] {
        return driver::capture_status(stream_) != CU_STREAM_CAPTURE_STATUS_NONE;
    };
    if (is_capturing()) { // the event would stand for captured work
        return {Answer::Later};
    }
    if (unused_ == nullptr) {
        unused_ = Access::state(make_event(context_, CU_EVENT_DISABLE_TIMING));
    }
    driver::call(driver::table().cuEventRecord, unused_->handle, stream_);
    if (is_capturing()) { // another thread began in between
        return {Answer::Later};
    }
    return {Answer::Event, std::exchange(unused_, nullptr)};
}

bool is_over(int status) noexcept {
    switch (status) {
    case CUDA_SUCCESS:
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_INVALID_CONTEXT:
    case CUDA_ERROR_INVALID_HANDLE:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_CONTAINED:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_TENSOR_MEMORY_LEAK:
    case CUDA_ERROR_MPS_CLIENT_TERMINATED:
    case CUDA_ERROR_EXTERNAL_DEVICE:
        return true;
    default:
        return false;
    }
}

void warn_unmarked(const std::exception_ptr& failure) noexcept {
    try {
        std::rethrow_exception(failure);
    } catch (const std::exception& error) {
        warn_unmarked(error.what());
    } catch (...) {
        warn_unmarked("the reason is not known");
    }
}

void warn_unmarked(const char* reason) noexcept {
    try {
        warn(WarningKind::Release, std::string("the end of a graph launch could not be marked: ") +
                                       reason +
                                       "; what the graph uses is released later than usual");
    } catch (...) { // there is no memory for the text
        warn(WarningKind::Release, reason);
    }
}

} // namespace cuprum::detail
