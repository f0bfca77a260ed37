// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What an executable graph gave up while launches may still use it.
//
// The driver never lets two launches of one executable overlap: each is ordered behind the one
// before, on whatever stream. So an event behind the last launch is done when all launches are.
// Retired Payloads wait for that event on the list of awaited releases; see
// stream/deferred_release.hpp for who asks, and when.

#pragma once

#include "graph/payload.hpp"
#include "stream/event_state.hpp"
#include "stream/stream_tail.hpp"

#include <memory>

namespace cuprum::detail {

/// Releases a Payload once an event is done. If there is none, asks the tail of a stream for one
/// later; without a tail, releases it now. Does not call the driver.
void retire(PayloadShare payload, const std::shared_ptr<EventState>& mark,
            const std::shared_ptr<StreamTail>& tail = nullptr) noexcept;

} // namespace cuprum::detail
