// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "device/context_state.hpp"
#include "driver/call.hpp"
#include "driver/handle.hpp"

#include <cuprum/detail/access.hpp>
#include <cuprum/event.hpp>

#include <atomic>
#include <memory>

namespace cuprum::detail {

/// A driver event. It has no context if it is from a handle: the driver keeps that one.
struct EventState : Owned<CUevent, &driver::Table::cuEventDestroy, "event", ReleaseIn::AnyContext> {
    unsigned flags = 0; // the driver's; for an event from a handle, which has no query, defaults
    std::unique_ptr<const IPCEventDescriptor> origin; // set for an event of another process
    std::atomic<bool> is_recorded{false};             // by this library; used for error texts only

    EventState() noexcept {} // NOLINT(modernize-use-equals-default): that would clear it twice

    /// Makes the state of an event that is yet to be made in a context.
    EventState(const std::shared_ptr<ContextState>& home, unsigned driver_flags) noexcept
        : Owned(home), flags(driver_flags) {}

    [[nodiscard]] bool is_timing_enabled() const noexcept {
        return (flags & CU_EVENT_DISABLE_TIMING) == 0;
    }

    [[nodiscard]] bool is_blocking_sync() const noexcept {
        return (flags & CU_EVENT_BLOCKING_SYNC) != 0;
    }

    [[nodiscard]] bool is_ipc_enabled() const noexcept {
        return (flags & CU_EVENT_INTERPROCESS) != 0;
    }
};

/// Returns the state of an event, to use it.
/// @throws ClosedError if the event is closed or a device reset destroyed it.
[[nodiscard]] inline EventState& open(const Event& event) {
    return open(Access::state(event), "Event");
}

[[noreturn, gnu::cold]] void refuse_timing_of_shared_event();

/// Returns the driver's flags for an event. Here, so that those of the usual one are a constant.
/// @throws std::invalid_argument if it is to have timing and be shared.
[[nodiscard]] inline unsigned event_flags(const EventOptions& options) {
    if (options.ipc_enabled && options.timing_enabled) [[unlikely]] {
        refuse_timing_of_shared_event();
    }
    return (options.timing_enabled ? 0U : unsigned{CU_EVENT_DISABLE_TIMING}) |
           (options.blocking_sync ? unsigned{CU_EVENT_BLOCKING_SYNC} : 0U) |
           (options.ipc_enabled ? unsigned{CU_EVENT_INTERPROCESS} : 0U);
}

/// Makes an event in a context, which must be the current one.
[[nodiscard]] Event make_event(const std::shared_ptr<ContextState>& context, unsigned flags);

} // namespace cuprum::detail
