// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/event.hpp"

#include "objects/context.hpp"
#include "objects/error.hpp"
#include "objects/stream.hpp"

namespace cuprum::emulator {

namespace {

constexpr unsigned KNOWN_FLAGS =
    CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;

} // namespace

Event::Event(std::shared_ptr<Context> context, unsigned flags)
    : context_(std::move(context)), flags_(flags) {
    require((flags & ~KNOWN_FLAGS) == 0, "unknown event flags");
    require((flags & CU_EVENT_INTERPROCESS) == 0 || (flags & CU_EVENT_DISABLE_TIMING) != 0,
            "an interprocess event cannot measure time: add CU_EVENT_DISABLE_TIMING");
}

void Event::record(Stream& stream) {
    if (&stream.context() != context_.get()) {
        fail(CUDA_ERROR_INVALID_HANDLE, "event and stream belong to different contexts");
    }
    auto marker = std::make_shared<Marker>(context_->errors());
    stream.enqueue(marker);
    const std::lock_guard lock(mutex_);
    mark_ = std::move(marker);
}

void Event::hold_back(Stream& stream) const {
    const auto recorded = mark();
    if (recorded == nullptr || recorded->is_done()) {
        return;
    }
    auto marker = std::make_shared<Marker>(stream.context().errors());
    marker->depend_on(recorded);
    stream.enqueue(marker);
}

bool Event::is_done() const {
    const auto recorded = mark();
    return recorded == nullptr || recorded->is_done();
}

void Event::synchronize() const {
    if (const auto recorded = mark()) {
        recorded->wait();
    }
}

float Event::elapsed_ms(const Event& begin, const Event& end) {
    if (((begin.flags_ | end.flags_) & CU_EVENT_DISABLE_TIMING) != 0) {
        fail(CUDA_ERROR_INVALID_HANDLE, "an event was created with CU_EVENT_DISABLE_TIMING");
    }
    const auto first = begin.mark();
    const auto last = end.mark();
    if (first == nullptr || last == nullptr) {
        fail(CUDA_ERROR_INVALID_HANDLE, "an event was never recorded");
    }
    if (!first->is_done() || !last->is_done()) {
        fail(CUDA_ERROR_NOT_READY, "an event has been recorded but not reached");
    }
    constexpr float ns_per_ms = 1e6F;
    return static_cast<float>(last->finish_time_ns() - first->finish_time_ns()) / ns_per_ms;
}

std::shared_ptr<Operation> Event::mark() const {
    const std::lock_guard lock(mutex_);
    return mark_;
}

} // namespace cuprum::emulator
