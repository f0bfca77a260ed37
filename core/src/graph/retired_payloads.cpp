// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/retired_payloads.hpp"

#include "driver/call.hpp"

#include <utility>

namespace cuprum::detail {

namespace {

/// Payloads that launches use until an event is done.
struct RetiredPayload final : AwaitedRelease {
    RetiredPayload(PayloadShare retired, std::shared_ptr<EventState> behind,
                   std::shared_ptr<StreamTail> to_ask) noexcept
        : payload(std::move(retired)), mark(std::move(behind)), tail(std::move(to_ask)) {}

    [[nodiscard]] bool is_due() noexcept override {
        if (mark == nullptr) { // the stream could not be marked before
            TailMark asked = tail->mark();
            if (asked.answer != TailMark::Answer::Event) {
                return asked.answer == TailMark::Answer::Over;
            }
            mark = std::move(asked.event);
        }
        if (mark->is_lost()) {
            return true; // a reset of the device ended the launches
        }
        try {
            return is_over(driver::table().cuEventQuery(mark->handle));
        } catch (...) { // the first call of an entry looks it up, which can fail
            return false;
        }
    }

    PayloadShare payload;
    std::shared_ptr<EventState> mark;
    std::shared_ptr<StreamTail> tail; // to ask if there is no mark
};

} // namespace

void retire(PayloadShare payload, const std::shared_ptr<EventState>& mark,
            const std::shared_ptr<StreamTail>& tail) noexcept {
    if (payload == nullptr || (mark == nullptr && tail == nullptr)) {
        return;
    }
    try {
        push_awaited(std::make_unique<RetiredPayload>(payload, mark, tail));
    } catch (...) {
        // Without memory for the list it is kept for good: a launch may use it.
        static_cast<void>(payload.release());
        driver::report_release_failure("what an executable graph keeps alive");
    }
}

} // namespace cuprum::detail
