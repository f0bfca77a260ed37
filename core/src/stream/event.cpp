// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/event.hpp>

#include "device/device_state.hpp"
#include "driver/current.hpp"
#include "driver/deferred_release.hpp"
#include "driver/handle.hpp"
#include "stream/event_state.hpp"
#include "support/text.hpp"

#include <cuprum/context.hpp>
#include <cuprum/detail/pending.hpp>
#include <cuprum/device.hpp>
#include <cuprum/error.hpp>

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace cuprum {

namespace {

using driver::call;
using driver::table;

bool is_pending(const detail::EventState& event) {
    return table().cuEventQuery(event.handle) == CUDA_ERROR_NOT_READY;
}

/// Says which event has no time to offer, and why; empty if it cannot be told.
///
/// The driver has one code for events without timing and events that were never recorded.
std::string why_no_time(CUresult status, const detail::EventState& later,
                        const detail::EventState& earlier) {
    const auto which = [](bool is_later, bool is_earlier, const char* one, const char* both) {
        return is_later && is_earlier
                   ? std::string("neither ") + both
                   : std::string(is_earlier ? "the earlier one " : "the later one ") + one;
    };
    if (status == CUDA_ERROR_NOT_READY) {
        const std::string advice = "; synchronise the later one before asking";
        const bool is_later = is_pending(later);
        const bool is_earlier = is_pending(earlier);
        if (!is_later && !is_earlier) { // done in the meantime
            return "One or both events have not completed" + advice;
        }
        return "One or both events have not completed: " +
               which(is_later, is_earlier, "is not done", "is done") + advice;
    }
    if (status != CUDA_ERROR_INVALID_HANDLE) {
        return {};
    }
    if (!later.is_timing_enabled() || !earlier.is_timing_enabled()) {
        return "Both Events must be created with timing enabled: " +
               which(!later.is_timing_enabled(), !earlier.is_timing_enabled(), "has none",
                     "has it") +
               "; make both with timing_enabled = true in EventOptions";
    }
    const bool is_later = later.is_owned && !later.is_recorded.load(std::memory_order_relaxed);
    const bool is_earlier =
        earlier.is_owned && !earlier.is_recorded.load(std::memory_order_relaxed);
    if (is_later || is_earlier) {
        return "Both Events must be recorded: " + which(is_later, is_earlier, "was not", "was") +
               "; record it on a stream first";
    }
    return "Both Events must be recorded, with timing enabled and on one device: one was not";
}

/// Makes an event when the primary context is not current. Apart, and with a copy of the options,
/// so that where it is current the usual ones never leave their registers.
[[gnu::cold, gnu::noinline]] Event make_event_elsewhere(detail::DeviceState& device,
                                                        EventOptions options) {
    return Event::create(detail::Access::make<Context>(detail::context_for(device)), options);
}

inline Event make_event(detail::DeviceState& device, EventOptions options) {
    if (const auto* home = detail::current_primary(device)) [[likely]] {
        return detail::make_event(*home, detail::event_flags(options));
    }
    return make_event_elsewhere(device, options);
}

} // namespace

Event Event::create(const Context& context, const EventOptions& options) {
    const driver::Current current(context.handle());
    return detail::make_event(detail::Access::state(context), detail::event_flags(options));
}

[[gnu::hot]] Event detail::make_event(const std::shared_ptr<ContextState>& context,
                                      unsigned flags) {
    auto state = std::make_shared<EventState>(context, flags);
    call(table().cuEventCreate, &state->handle, flags);
    state->is_owned = true;
    return Access::make<Event>(std::move(state));
}

void detail::refuse_timing_of_shared_event() {
    throw std::invalid_argument("ipc_enabled and timing_enabled are both true: the driver has "
                                "no events that do both");
}

Event Event::from_handle(CUevent handle) {
    if (handle == nullptr) {
        throw std::invalid_argument("handle is null, expected an event");
    }
    driver::initialise();
    auto state = std::make_shared<detail::EventState>();
    state->handle = handle;
    return Event(std::move(state));
}

Event Event::from_ipc_descriptor(const IPCEventDescriptor& descriptor) {
    static_assert(sizeof(CUipcEventHandle) == sizeof(descriptor.bytes));
    CUipcEventHandle shared{};
    std::memcpy(&shared, descriptor.bytes.data(), sizeof(shared));
    // The driver opens the event in the current context. A reset of that context destroys it.
    const auto home =
        detail::context_state(detail::current_context("opening an event of another process"));
    auto state = std::make_shared<detail::EventState>(
        home, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING |
                  (descriptor.blocking_sync ? unsigned{CU_EVENT_BLOCKING_SYNC} : 0U));
    call(table().cuIpcOpenEventHandle, &state->handle, shared);
    state->is_owned = true;
    state->origin = std::make_unique<const IPCEventDescriptor>(descriptor);
    return Event(std::move(state));
}

CUevent Event::handle() const {
    return detail::open(state_, "Event").handle;
}

bool Event::is_timing_enabled() const {
    return detail::open(state_, "Event").is_timing_enabled();
}

bool Event::is_blocking_sync() const {
    return detail::open(state_, "Event").is_blocking_sync();
}

bool Event::is_ipc_enabled() const {
    return detail::open(state_, "Event").is_ipc_enabled();
}

IPCEventDescriptor Event::ipc_descriptor() const {
    const detail::EventState& own = detail::open(state_, "Event");
    if (!own.is_ipc_enabled()) {
        throw std::logic_error("the event is not IPC-enabled; make it with ipc_enabled = true in "
                               "EventOptions");
    }
    if (own.origin != nullptr) {
        return *own.origin;
    }
    CUipcEventHandle shared{};
    const driver::Current current(own.context->handle);
    call(table().cuIpcGetEventHandle, &shared, own.handle);
    IPCEventDescriptor descriptor{.blocking_sync = own.is_blocking_sync()};
    std::memcpy(descriptor.bytes.data(), &shared, sizeof(shared));
    return descriptor;
}

std::optional<Context> Event::context() const {
    const detail::EventState& own = detail::open(state_, "Event");
    const bool is_made_here = own.context != nullptr && own.origin == nullptr;
    return is_made_here ? std::optional(detail::Access::make<Context>(own.context)) : std::nullopt;
}

[[gnu::hot]] int detail::query(const Event& event) {
    return table().cuEventQuery(open(Access::state(event), "Event").handle);
}

[[gnu::hot]] bool Event::is_done() const {
    // NOTE: "not ready" is an answer here, not a failure.
    const auto status = static_cast<CUresult>(detail::query(*this));
    if (status != CUDA_SUCCESS && status != CUDA_ERROR_NOT_READY) [[unlikely]] {
        driver::raise(status, table().cuEventQuery.name);
    }
    return status == CUDA_SUCCESS;
}

void Event::sync() const {
    call(table().cuEventSynchronize, handle());
    detail::release_deferred();
}

float Event::milliseconds_since(const Event& earlier) const {
    const detail::EventState& end = detail::open(state_, "Event");
    const detail::EventState& start = detail::open(earlier.state_, "Event");
    float milliseconds = 0;
    const auto& query = table().cuEventElapsedTime;
    const CUresult status = query(&milliseconds, start.handle, end.handle);
    if (status != CUDA_SUCCESS) {
        throw CUDAError(static_cast<int>(status), query.name, why_no_time(status, end, start));
    }
    return milliseconds;
}

bool detail::is_lost(const Event& event) noexcept {
    return !event.is_closed() && detail::Access::state(event)->is_lost();
}

bool operator==(const Event& left, const Event& right) noexcept {
    return detail::handle_or_null(left) == detail::handle_or_null(right);
}

std::string to_string(const Event& event) {
    if (event.is_closed()) {
        return "<Event closed>";
    }
    const detail::EventState& state = *detail::Access::state(event);
    std::string text = "<Event handle=" + detail::hexadecimal(state.handle);
    if (state.context) { // the options of an event from a handle are not known
        text += " device=" + std::to_string(state.context->device->ordinal) +
                (state.is_timing_enabled() ? " timing=on" : " timing=off");
    }
    return text + ">";
}

[[gnu::hot]] Event Device::create_event() const {
    return make_event(*state_, {});
}

Event Device::create_event(const EventOptions& options) const {
    return make_event(*state_, options);
}

TimedEvent Device::create_timed_event() const {
    return TimedEvent::create(detail::Access::make<Context>(detail::context_for(*state_)));
}

void Context::record(const Event& event) const {
    const detail::ContextState& own = detail::open(state_, "Context");
    if (own.green != nullptr) {
        call(table().cuGreenCtxRecordEvent, own.green, event.handle());
    } else {
        call(table().cuCtxRecordEvent, own.handle.get(), event.handle());
    }
    detail::open(event).is_recorded.store(true, std::memory_order_relaxed);
}

void Context::wait(const Event& event) const {
    const detail::ContextState& own = detail::open(state_, "Context");
    if (own.green != nullptr) {
        call(table().cuGreenCtxWaitEvent, own.green, event.handle());
    } else {
        call(table().cuCtxWaitEvent, own.handle.get(), event.handle());
    }
}

TimedEvent TimedEvent::create(const Context& context, EventOptions options) {
    options.timing_enabled = true;
    return TimedEvent(Event::create(context, options));
}

TimedEvent::TimedEvent(Event event) : Event(std::move(event)) {
    if (!is_timing_enabled()) {
        throw std::invalid_argument("event was made without timing, expected one made with "
                                    "timing_enabled = true in EventOptions");
    }
}

} // namespace cuprum

std::size_t std::hash<cuprum::Event>::operator()(const cuprum::Event& event) const noexcept {
    return std::hash<const void*>()(cuprum::detail::handle_or_null(event));
}
