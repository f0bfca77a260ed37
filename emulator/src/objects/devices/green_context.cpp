// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/devices/green_context.hpp"

#include "objects/devices/device.hpp"
#include "objects/graphs/capture.hpp"
#include "objects/process/driver.hpp"
#include "objects/process/error.hpp"
#include "objects/streams/event.hpp"
#include "objects/streams/stream.hpp"

#include <cstdint>
#include <deque>
#include <mutex>

namespace cuprum::emulator {

namespace {

/// Keeps the handle of a destroyed green context's view for a while, so that its users get an exact
/// error. Only the latest ones are kept, since a program may create any number.
void retire_view(std::uint64_t handle) {
    constexpr std::size_t most_views = 1024;
    static std::mutex mutex;
    static auto* const views = new std::deque<std::uint64_t>; // never destroyed
    std::uint64_t oldest = 0;
    {
        const std::lock_guard lock(mutex);
        views->push_back(handle);
        if (views->size() > most_views) {
            oldest = views->front();
            views->pop_front();
        }
    }
    HandleTable::instance().erase(HandleKind::GreenContextView, oldest);
}

} // namespace

std::shared_ptr<GreenContext> GreenContext::create(const ResourceDescription& description) {
    auto primary = device_at(description.device()).retain_primary();
    std::shared_ptr<GreenContext> green(new GreenContext(std::move(primary), description.ranges()));
    green->queues_ = description.queues();
    // The green context outlives its default stream, so the stream must not own it.
    green->default_stream_ = std::make_shared<Stream>(
        green->primary_, Stream::Kind::Legacy, Stream::LEAST_PRIORITY,
        std::shared_ptr<GreenContext>(std::shared_ptr<void>(), green.get()));
    green->primary_->keep(green->default_stream_);
    HandleTable::instance().insert(HandleKind::GreenContext, green);
    return green;
}

GreenContext::GreenContext(std::shared_ptr<Context> primary, std::vector<SmRange> ranges)
    : primary_(std::move(primary)), ranges_(std::move(ranges)), id_(Context::next_id()),
      life_(primary_->life()) {}

void GreenContext::destroy() {
    auto& table = HandleTable::instance();
    if (table.erase(HandleKind::GreenContext, handle_value()) == nullptr) {
        fail(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the green context has been destroyed");
    }
    Capture::abandon(*primary_, this);
    drain();
    is_destroyed_.store(true);
    default_stream_->retire();
    (void)primary_->streams(); // drops our stream, which must not outlive us
    {
        const std::lock_guard lock(mutex_);
        if (view_ != nullptr) {
            retire_view(view_->handle_value());
        }
    }
    primary_->device().release_primary();
}

void GreenContext::check_usable() const {
    if (is_destroyed_.load() || primary_->life() != life_) {
        fail(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the green context has been destroyed");
    }
    primary_->check_usable();
}

std::uint32_t GreenContext::sm_count() const noexcept {
    std::uint32_t count = 0;
    for (const SmRange& range : ranges_) {
        count += range.count;
    }
    return count;
}

std::vector<std::shared_ptr<Stream>> GreenContext::streams() const {
    auto streams = primary_->streams();
    std::erase_if(streams, [&](const auto& stream) { return stream->green().get() != this; });
    return streams;
}

void GreenContext::drain() {
    if (const auto tail = default_stream_->pending_tail()) {
        tail->wait();
    }
    for (const auto& stream : streams()) {
        if (const auto tail = stream->pending_tail()) {
            tail->wait();
        }
    }
}

void GreenContext::synchronize() {
    Capture::refuse_in(*primary_, this);
    drain();
    primary_->device().release_unused_pool_memory();
    check_usable();
}

void GreenContext::record(Event& event) {
    Capture::refuse_in(*primary_, this);
    event.record(streams(), *default_stream_);
}

void GreenContext::wait_for(const Event& event) {
    Capture::refuse_in(*primary_, this);
    event.hold_back(*default_stream_);
    for (const auto& stream : streams()) {
        event.hold_back(*stream);
    }
}

CUcontext GreenContext::as_context() {
    const std::lock_guard lock(mutex_);
    if (view_ == nullptr) {
        view_ = std::make_shared<GreenContextView>(weak_from_this());
        HandleTable::instance().insert(HandleKind::GreenContextView, view_);
    }
    return view_->handle<CUcontext>();
}

} // namespace cuprum::emulator
