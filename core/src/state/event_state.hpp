// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "driver/call.hpp"
#include "state/context_state.hpp"

#include <cuprum/event.hpp>

#include <atomic>
#include <memory>

namespace cuprum::detail {

/// A driver event and its context. Destroying the state destroys the event if it is ours.
struct EventState {
    CUevent handle = nullptr;
    std::shared_ptr<ContextState> context; // null for a foreign event
    bool is_owned = false;
    bool is_timing_enabled = true; // the driver cannot tell of a foreign event: assumed
    bool is_blocking_sync = false;
    bool is_ipc_enabled = false;
    unsigned made_at = 0; // the context's count of resets when it was made
    std::unique_ptr<const IPCEventDescriptor> origin; // of an event of another process
    std::atomic<bool> is_recorded{false};             // by us; only ever used to word an error

    EventState() noexcept {} // NOLINT(modernize-use-equals-default): that would clear it twice

    /// Makes the state of an event that is yet to be made in a context.
    EventState(const std::shared_ptr<ContextState>& home, EventOptions options) noexcept
        : context(home), is_timing_enabled(options.timing_enabled),
          is_blocking_sync(options.blocking_sync), is_ipc_enabled(options.ipc_enabled),
          made_at(home->reset_count.load(std::memory_order_relaxed)) {}

    ~EventState();
    EventState(const EventState&) = delete;
    EventState& operator=(const EventState&) = delete;
};

/// Makes an event in a context, which must be the current one.
[[nodiscard]] Event make_event(const std::shared_ptr<ContextState>& context, EventOptions options);

} // namespace cuprum::detail
