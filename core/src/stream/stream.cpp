// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// NOTE: calls on a created stream need no current context: the driver uses the stream's own. Calls
// on a default stream use the current context, as CUDA defines them.

#include <cuprum/stream.hpp>

#include "device/device_state.hpp"
#include "driver/capture.hpp"
#include "driver/current.hpp"
#include "driver/deferred_release.hpp"
#include "driver/handle.hpp"
#include "stream/active_captures.hpp"
#include "stream/event_state.hpp"
#include "stream/stream_state.hpp"
#include "support/text.hpp"
#include "support/warn.hpp"

#include <cuprum/detail/pending.hpp>
#include <cuprum/detail/record.hpp>
#include <cuprum/detail/unexposed_handle.hpp>
#include <cuprum/device.hpp>
#include <cuprum/device_resources.hpp>
#include <cuprum/error.hpp>

#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace cuprum {

namespace {

using driver::call;
using driver::table;

constexpr const char* DEFAULT_STREAM = "the default stream";

Stream stream_for_token(CUstream token) {
    auto state = std::make_shared<detail::StreamState>();
    state->handle = token;
    state->is_default = true;
    state->may_capture = true;
    state->last_launch.watch(token);
    return detail::Access::make<Stream>(std::move(state));
}

} // namespace

Stream Stream::create(const Context& context, const StreamOptions& options) {
    const detail::ContextState& home = detail::open(context);
    if (home.green != nullptr) {
        return Stream(detail::make_stream(detail::Access::state(context), options));
    }
    const driver::Current current(home.handle);
    return Stream(detail::make_stream(detail::Access::state(context), options));
}

Stream Device::create_stream() const {
    return create_stream(StreamOptions{});
}

Stream Device::create_stream(const StreamOptions& options) const {
    if (const auto* home = detail::current_primary(*state_)) {
        return detail::Access::make<Stream>(detail::make_stream(*home, options));
    }
    return Stream::create(detail::Access::make<Context>(detail::context_for(*state_)), options);
}

[[gnu::hot]] std::shared_ptr<detail::StreamState>
detail::make_stream(const std::shared_ptr<ContextState>& context, const StreamOptions& options) {
    const int priority = checked_priority(*context->device, options.priority);
    auto state = std::make_shared<StreamState>();
    state->belong_to(context);
    if (context->green != nullptr) {
        if (!options.nonblocking) {
            throw std::invalid_argument("nonblocking is false: streams of a green context must be "
                                        "non-blocking");
        }
        call(table().cuGreenCtxStreamCreate, &state->handle, context->green,
             unsigned{CU_STREAM_NON_BLOCKING}, priority);
    } else {
        call(table().cuStreamCreateWithPriority, &state->handle,
             options.nonblocking ? unsigned{CU_STREAM_NON_BLOCKING} : unsigned{CU_STREAM_DEFAULT},
             priority);
    }
    state->is_owned = true;
    state->last_launch.watch(state->handle);
    return state;
}

Stream Stream::from_handle(CUstream handle, std::shared_ptr<void> owner) {
    driver::initialise();
    auto state = std::make_shared<detail::StreamState>();
    state->handle = handle;
    state->may_capture = true;
    state->owner = std::move(owner);
    state->is_default = driver::is_default_stream(handle);
    if (!state->is_default) {
        CUcontext context = nullptr;
        call(table().cuStreamGetCtx, handle, &context);
        state->belong_to(detail::context_state(context));
    }
    return Stream(std::move(state));
}

Stream Stream::legacy_default() {
    return stream_for_token(CU_STREAM_LEGACY);
}

Stream Stream::per_thread_default() {
    return stream_for_token(CU_STREAM_PER_THREAD);
}

Stream Stream::default_stream() {
    constexpr int decimal = 10;
    // Read on every call, so that a program can change it.
    const char* setting = ::secure_getenv("CUPRUM_PER_THREAD_DEFAULT_STREAM");
    const bool is_per_thread = setting != nullptr && std::strtol(setting, nullptr, decimal) != 0;
    return is_per_thread ? per_thread_default() : legacy_default();
}

CUstream Stream::handle() const {
    detail::StreamState& stream = detail::open(state_, "Stream");
    // The caller can begin a capture from now on.
    // NOTE: without the test, every reader on another core would fetch the line again.
    if (!stream.may_capture.load(std::memory_order_relaxed)) {
        stream.may_capture.store(true, std::memory_order_relaxed);
    }
    return stream.handle;
}

bool Stream::is_nonblocking() const {
    unsigned flags = 0;
    call(table().cuStreamGetFlags, detail::handle_of(*this), &flags);
    return (flags & CU_STREAM_NON_BLOCKING) != 0;
}

int Stream::priority() const {
    int priority = 0;
    call(table().cuStreamGetPriority, detail::handle_of(*this), &priority);
    return priority;
}

Context Stream::context() const {
    return detail::Access::make<Context>(detail::context_state_of(detail::open(state_, "Stream")));
}

Device Stream::device() const {
    return context().device();
}

DeviceResources Stream::resources() const {
    return context().resources();
}

void Stream::sync() const {
    call(table().cuStreamSynchronize, detail::handle_of(*this));
    detail::release_deferred();
}

[[gnu::hot]] int detail::query(const Stream& stream) {
    return table().cuStreamQuery(handle_of(stream));
}

[[gnu::hot]] bool Stream::is_done() const {
    // NOTE: "not ready" is an answer here, not a failure. Deferred releases stay on their list:
    // they may wait for a stream, and this function must not.
    const auto status = static_cast<CUresult>(detail::query(*this));
    if (status == CUDA_ERROR_NOT_READY) {
        return false;
    }
    if (status != CUDA_SUCCESS) [[unlikely]] {
        driver::raise(status, table().cuStreamQuery.name);
    }
    return true;
}

Event Stream::record(const EventOptions& options) const {
    Event event = Event::create(context(), options);
    record(event);
    return event;
}

TimedEvent Stream::record_timed(EventOptions options) const {
    TimedEvent event = TimedEvent::create(context(), options);
    record(event);
    return event;
}

void Stream::record(const Event& event, EventUse use) const {
    const CUstream stream = detail::handle_of(*this);
    detail::EventState& state = detail::open(event);
    if (use == EventUse::External) [[unlikely]] {
        call(table().cuEventRecordWithFlags, state.handle, stream,
             unsigned{CU_EVENT_RECORD_EXTERNAL});
        detail::retain_if_captured(*state_, detail::Access::state(event)); // it is in a node
    } else {
        call(table().cuEventRecord, state.handle, stream);
    }
    state.is_recorded.store(true, std::memory_order_relaxed);
}

[[gnu::hot]] bool detail::record_unless_shared(const Stream& stream, const Event& event) {
    const StreamState& queue = open(stream);
    EventState& state = open(event);
    if (state.is_ipc_enabled()) [[unlikely]] {
        return false;
    }
    call(table().cuEventRecord, state.handle, queue.handle);
    state.is_recorded.store(true, std::memory_order_relaxed);
    return true;
}

void Stream::wait(const Event& event, EventUse use) const {
    detail::StreamState& stream = detail::open(state_, "Stream");
    stream.may_capture.store(true, std::memory_order_relaxed); // the event may be a captured one
    call(table().cuStreamWaitEvent, stream.handle, event.handle(),
         use == EventUse::External ? unsigned{CU_EVENT_WAIT_EXTERNAL}
                                   : unsigned{CU_EVENT_WAIT_DEFAULT});
    if (use == EventUse::External) {
        detail::retain_if_captured(stream, detail::Access::state(event));
    }
}

void Stream::wait(const Stream& other) const {
    if (detail::handle_of(*this) == detail::handle_of(other)) {
        return; // a stream is in order with itself
    }
    wait(other.record());
}

CUstream detail::unexposed_handle(const Stream& stream) {
    return handle_of(stream);
}

bool detail::is_lost(const Stream& stream) noexcept {
    return !stream.is_closed() && detail::Access::state(stream)->is_lost();
}

bool operator==(const Stream& left, const Stream& right) noexcept {
    if (left.is_closed() || right.is_closed()) {
        return left.is_closed() == right.is_closed();
    }
    return left.state_->handle == right.state_->handle;
}

std::string to_string(const Stream& stream) {
    if (stream.is_closed()) {
        return "<Stream closed>";
    }
    const detail::StreamState& state = *detail::Access::state(stream);
    if (state.handle == CU_STREAM_PER_THREAD) {
        return "<Stream per-thread default>";
    }
    if (state.is_default) {
        return "<Stream legacy default>";
    }
    return "<Stream handle=" + detail::hexadecimal(state.handle) +
           " device=" + std::to_string(state.context->device->ordinal) + ">";
}

namespace {

void report_exception(const char* what) noexcept {
    try {
        detail::warn(WarningKind::HostFunction,
                     std::string("a host function that a stream called threw: ") + what);
    } catch (...) {
        detail::warn(WarningKind::HostFunction, "a host function that a stream called threw");
    }
}

} // namespace

void Stream::launch_host(std::function<void()> function) const {
    if (!function) {
        throw std::invalid_argument("function is empty, expected something to call");
    }
    detail::release_deferred();
    const CUstream stream = detail::handle_of(*this);
    const auto& entry = driver::table().cuLaunchHostFunc;
    if (detail::has_active_captures()) {
        if (const auto record = detail::find_capture(*state_)) {
            record->capture_callback(*this, std::move(function));
            return;
        }
    }
    // Every launch of a graph would call a captured function, but this one is called once only.
    if (driver::capture_status(stream) != CU_STREAM_CAPTURE_STATUS_NONE) {
        throw CUDAError(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, entry.name,
                        "the stream is being captured by other code than a GraphBuilder, whose "
                        "graph cannot own the function; add it to that graph as a host node");
    }
    auto held = std::make_unique<detail::HostFunction>(std::move(function));
    driver::call(entry, stream, &detail::call_host_function, static_cast<void*>(held.get()));
    // NOTE: the stream owns it now. If earlier work of the context fails, the driver never calls
    // the function and says nothing, so that the function leaks.
    static_cast<void>(held.release()); // NOLINT(bugprone-unused-return-value)
}

void detail::call_host_function(void* function) noexcept {
    std::unique_ptr<HostFunction> held(static_cast<HostFunction*>(function));
    {
        const HostFunctionScope scope;
        try {
            held->function();
        } catch (const std::exception& error) {
            report_exception(error.what());
        } catch (...) {
            report_exception("something that is not a std::exception");
        }
    }
    push_deferred(std::move(held));
}

namespace detail {

[[gnu::hot]] StreamState::~StreamState() {
    if (!is_owned) {
        return;
    }
    release_in<ReleaseIn::AnyContext>(context, made_at, "stream", driver::table().cuStreamDestroy,
                                      handle);
    release_deferred();
}

CUcontext context_of(const StreamState& stream) {
    return stream.context != nullptr ? stream.context->handle : current_context(DEFAULT_STREAM);
}

std::shared_ptr<ContextState> context_state_of(const StreamState& stream) {
    return stream.context != nullptr ? stream.context
                                     : context_state(current_context(DEFAULT_STREAM));
}

} // namespace detail

} // namespace cuprum

std::size_t std::hash<cuprum::Stream>::operator()(const cuprum::Stream& stream) const noexcept {
    return std::hash<const void*>()(cuprum::detail::handle_or_null(stream));
}
