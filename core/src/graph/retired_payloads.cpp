// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/retired_payloads.hpp"

#include "driver/call.hpp"
#include "driver/capture.hpp"

#include <utility>

namespace cuprum::detail {

namespace {

/// Payloads that launches use until an event is done.
struct RetiredPayload final : AwaitedRelease {
    RetiredPayload(PayloadShare retired, std::shared_ptr<EventState> behind) noexcept
        : payload(std::move(retired)), mark(std::move(behind)) {}

    [[nodiscard]] bool is_due() noexcept override {
        if (mark->is_lost()) {
            return true; // a reset of the device ended the launches
        }
        try {
            const CUresult status = driver::table().cuEventQuery(mark->handle);
            // An error of the context ends all its work, and all later calls report it.
            return status != CUDA_ERROR_NOT_READY && !driver::is_capture_fault(status);
        } catch (...) { // the first call of an entry looks it up, which can fail
            return false;
        }
    }

    PayloadShare payload;
    std::shared_ptr<EventState> mark;
};

} // namespace

void retire(PayloadShare payload, const std::shared_ptr<EventState>& mark) noexcept {
    if (payload == nullptr || mark == nullptr) {
        return;
    }
    try {
        push_awaited(std::make_unique<RetiredPayload>(payload, mark));
    } catch (...) {
        // Without memory for the list it is kept for good: a launch may use it.
        static_cast<void>(payload.release());
        driver::report_release_failure("what an executable graph keeps alive");
    }
}

} // namespace cuprum::detail
