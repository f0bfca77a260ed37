// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/streams/event.hpp"

#include "objects/devices/context.hpp"
#include "objects/devices/device.hpp"
#include "objects/process/error.hpp"
#include "objects/process/log.hpp"
#include "objects/streams/stream.hpp"

namespace cuprum::emulator {

namespace {

constexpr unsigned KNOWN_FLAGS =
    CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;

constexpr char LOST[] = "the process that recorded the shared event failed or died before its "
                        "work was done";

/// Fails a call that waited for a process which died. The context cannot be used afterwards,
/// because work that depends on the other process may have run.
[[noreturn]] void fail_externally(ErrorState& errors) {
    errors.set(CUDA_ERROR_EXTERNAL_DEVICE);
    fail(errors.get(), LOST); // this context had failed before
}

} // namespace

Event::Event(std::shared_ptr<Context> context, unsigned flags)
    : context_(std::move(context)), flags_(flags) {
    require((flags & ~KNOWN_FLAGS) == 0, "unknown event flags");
    require((flags & CU_EVENT_INTERPROCESS) == 0 || (flags & CU_EVENT_DISABLE_TIMING) != 0,
            "an interprocess event cannot measure time: add CU_EVENT_DISABLE_TIMING");
    if ((flags & CU_EVENT_INTERPROCESS) != 0) {
        shared_ = SharedEvent::create();
    }
}

Event::Event(std::shared_ptr<Context> context, std::shared_ptr<SharedEvent> shared)
    : context_(std::move(context)), flags_(CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS),
      shared_(std::move(shared)) {}

void Event::check_recordable(const Stream& stream) const {
    if (&stream.context() != context_.get()) {
        fail(CUDA_ERROR_INVALID_HANDLE, "event and stream belong to different contexts");
    }
}

void Event::record(Stream& stream, bool is_external) {
    check_recordable(stream);
    if (Capture::take_record(stream, *this, is_external)) {
        return;
    }
    if (shared_ != nullptr) {
        record_shared(stream);
        return;
    }
    auto marker = std::make_shared<Marker>(context_->errors());
    stream.enqueue(marker);
    const std::lock_guard lock(mutex_);
    mark_ = std::move(marker);
}

void Event::record(const std::vector<std::shared_ptr<Stream>>& streams, Stream& joining) {
    check_recordable(joining);
    if (Capture::take_record(joining, *this, false)) {
        return;
    }
    const auto join = std::make_shared<Marker>(context_->errors());
    for (const auto& stream : streams) {
        join->depend_on(stream->pending_tail());
    }
    if (shared_ != nullptr) {
        joining.enqueue(join);
        record_shared(joining);
        return;
    }
    join->depend_on(joining.pending_tail());
    {
        const std::lock_guard lock(mutex_);
        mark_ = join;
    }
    join->submit();
}

void Event::hold_back(Stream& stream, bool is_external) const {
    if (Capture::take_wait(stream, *this, is_external)) {
        return;
    }
    if (shared_ != nullptr) {
        hold_back_shared(stream);
        return;
    }
    const auto recorded = mark();
    if (recorded == nullptr || recorded->is_done()) {
        return;
    }
    auto marker = std::make_shared<Marker>(stream.context().errors());
    marker->depend_on(recorded);
    stream.enqueue(marker);
}

bool Event::is_done() const {
    Capture::refuse_captured(*this);
    if (shared_ != nullptr) {
        const auto outcome = shared_->outcome(shared_->latest());
        if (outcome == SharedEvent::Outcome::Failed) {
            fail_externally(*context_->errors());
        }
        return outcome == SharedEvent::Outcome::Reached;
    }
    const auto recorded = mark();
    return recorded == nullptr || recorded->is_done();
}

void Event::synchronize() const {
    Capture::refuse_captured(*this);
    if (shared_ != nullptr) {
        const auto is_given_up = [&] { return context_->errors()->get() != CUDA_SUCCESS; };
        if (shared_->wait(shared_->latest(), is_given_up) == SharedEvent::Outcome::Failed) {
            fail_externally(*context_->errors());
        }
        return;
    }
    if (const auto recorded = mark()) {
        recorded->wait();
    }
}

float Event::elapsed_ms(const Event& begin, const Event& end) {
    Capture::refuse_captured(begin);
    Capture::refuse_captured(end);
    if (((begin.flags_ | end.flags_) & CU_EVENT_DISABLE_TIMING) != 0) {
        fail(CUDA_ERROR_INVALID_HANDLE, "an event was created with CU_EVENT_DISABLE_TIMING");
    }
    if (&begin.context().device() != &end.context().device()) {
        fail(CUDA_ERROR_INVALID_HANDLE, "the events belong to different devices, " +
                                            std::to_string(begin.context().device().ordinal()) +
                                            " and " +
                                            std::to_string(end.context().device().ordinal()));
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

void Event::set_point(Capture::Point point) {
    is_captured_.store(point.capture != nullptr, std::memory_order_relaxed);
    point_ = std::move(point);
}

void Event::record_shared(Stream& stream) {
    stream.check_open(); // first: a number without work would never be reached
    const std::uint64_t number = shared_->begin();
    auto task = std::make_shared<Task>(
        context_->errors(),
        [shared = shared_, errors = context_->errors(), number] {
            shared->reach(number, errors->get() != CUDA_SUCCESS);
        },
        Task::Size::Bookkeeping);
    stream.enqueue(task);
    const std::lock_guard lock(mutex_);
    mark_ = std::move(task);
    shared_number_ = number;
}

void Event::hold_back_shared(Stream& stream) const {
    const std::uint64_t number = shared_->latest();
    if (shared_->outcome(number) == SharedEvent::Outcome::Reached) {
        return;
    }
    const auto errors = stream.context().errors();
    {
        const std::lock_guard lock(mutex_);
        if (shared_number_ == number && mark_ != nullptr) {
            auto marker = std::make_shared<Marker>(errors);
            marker->depend_on(mark_);
            stream.enqueue(marker);
            return;
        }
    }
    // The work belongs to another process, which announces nothing.
    stream.enqueue(std::make_shared<WaitUntil>(errors, [shared = shared_, number, errors] {
        const auto outcome = shared->outcome(number);
        if (outcome == SharedEvent::Outcome::Failed && errors->set(CUDA_ERROR_EXTERNAL_DEVICE)) {
            log(LogLevel::Error, LOST);
        }
        return outcome != SharedEvent::Outcome::Pending;
    }));
}

std::shared_ptr<Operation> Event::pending_mark() const {
    auto recorded = mark();
    return recorded == nullptr || recorded->is_done() ? nullptr : recorded;
}

void Event::set_mark(std::shared_ptr<Operation> mark) {
    Capture::leave_point(*this);
    const std::lock_guard lock(mutex_);
    mark_ = std::move(mark);
}

std::shared_ptr<Operation> Event::mark() const {
    const std::lock_guard lock(mutex_);
    return mark_;
}

} // namespace cuprum::emulator
