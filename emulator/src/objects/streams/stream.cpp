// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/streams/stream.hpp"

#include "objects/devices/context.hpp"
#include "objects/devices/device.hpp"
#include "objects/devices/green_context.hpp"
#include "objects/graphs/capture.hpp"

#include <algorithm>
#include <atomic>

namespace cuprum::emulator {

namespace {

std::atomic<std::uint64_t> next_stream_id{1};

} // namespace

Stream::Stream(std::shared_ptr<Context> context, Kind kind, int priority,
               std::shared_ptr<GreenContext> green)
    : context_(std::move(context)), green_(std::move(green)), kind_(kind),
      priority_(std::clamp(priority, GREATEST_PRIORITY, LEAST_PRIORITY)),
      id_(next_stream_id.fetch_add(1, std::memory_order_relaxed)) {}

void Stream::enqueue(const std::shared_ptr<Operation>& operation) {
    Capture::refuse_operation(*this);
    append(operation);
    operation->submit();
}

void Stream::enqueue_and_wait(const std::shared_ptr<Operation>& operation) {
    Capture::refuse_on(*this, "a stream that is capturing cannot be waited for");
    append(operation);
    operation->submit_and_wait();
}

void Stream::check_open() const {
    if (kind_ == Kind::Legacy) {
        Capture::refuse_implicit(*context_, green_.get(), true);
    }
}

void Stream::synchronize() {
    Capture::refuse_on(*this, "a stream that is capturing cannot be waited for");
    if (kind_ == Kind::Legacy) {
        // It waits for all blocking streams, so checking its own tail is not enough.
        enqueue_and_wait(std::make_shared<Marker>(context_->errors()));
        return;
    }
    if (const auto tail = pending_tail()) {
        tail->wait();
    }
}

bool Stream::is_idle() {
    check_open();
    if (pending_tail() != nullptr) {
        return false;
    }
    if (kind_ != Kind::Legacy) {
        return true;
    }
    const auto streams = context_->streams();
    return std::ranges::all_of(streams, [&](const auto& stream) {
        return stream->kind() == Kind::NonBlocking || stream->green() != green_ ||
               stream->pending_tail() == nullptr;
    });
}

std::uint32_t Stream::sm_count() const noexcept {
    return green_ != nullptr ? green_->sm_count() : context_->device().sm_count();
}

std::shared_ptr<Operation> Stream::pending_tail() {
    const std::lock_guard lock(mutex_);
    return tail_ == nullptr || tail_->is_done() ? nullptr : tail_;
}

void Stream::set_capture(std::shared_ptr<Capture> capture) noexcept {
    is_capturing_.store(capture != nullptr, std::memory_order_relaxed);
    capture_ = std::move(capture);
}

void Stream::append(const std::shared_ptr<Operation>& operation) {
    operation->set_priority(priority());
    // Every edge leads to an existing operation, so threads that interleave here cannot create a
    // cycle.
    check_open();
    if (kind_ == Kind::Legacy) {
        for (const auto& stream : context_->streams()) {
            if (stream->kind() != Kind::NonBlocking && stream->green() == green_) {
                operation->depend_on(stream->pending_tail());
            }
        }
    } else if (kind_ != Kind::NonBlocking) {
        const auto& legacy =
            green_ != nullptr ? green_->default_stream() : context_->legacy_stream();
        operation->depend_on(legacy->pending_tail());
    }
    const std::lock_guard lock(mutex_);
    operation->depend_on(tail_);
    tail_ = operation;
}

} // namespace cuprum::emulator
