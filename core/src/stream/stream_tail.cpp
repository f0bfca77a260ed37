// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "stream/stream_tail.hpp"

#include "driver/call.hpp"
#include "driver/capture.hpp"
#include "driver/current.hpp"
#include "stream/deferred_release.hpp"
#include "support/warn.hpp"

#include <string>

namespace cuprum::detail {

std::shared_ptr<EventState> StreamTail::mark() {
    const std::lock_guard lock(mutex_); // the stream stays while it is used
    return stream_ == nullptr ? last_ : record();
}

void StreamTail::end() noexcept {
    std::exception_ptr failure;
    {
        const std::lock_guard lock(mutex_);
        try {
            last_ = record();
        } catch (...) {
            failure = std::current_exception();
        }
        stream_ = nullptr;
    }
    if (failure != nullptr) { // without the lock: a warning can run code of the program
        warn_unmarked(failure);
    }
}

std::shared_ptr<EventState> StreamTail::record() {
    if (driver::is_leaving() || runs_host_function() || !is_intact(context_, made_at_)) {
        return nullptr;
    }
    const auto is_capturing = [&] {
        return driver::capture_status(stream_) != CU_STREAM_CAPTURE_STATUS_NONE;
    };
    const driver::RelaxedCapture relaxed;
    if (is_capturing()) { // the event would stand for captured work
        return nullptr;
    }
    const driver::Current current(context_->handle);
    if (unused_ == nullptr) {
        unused_ = Access::state(make_event(context_, CU_EVENT_DISABLE_TIMING));
    }
    driver::call(driver::table().cuEventRecord, unused_->handle, stream_);
    // Another thread may have begun a capture in between.
    return is_capturing() ? nullptr : std::exchange(unused_, nullptr);
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
