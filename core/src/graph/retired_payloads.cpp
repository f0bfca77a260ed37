// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/retired_payloads.hpp"

#include "driver/call.hpp"

#include <utility>

namespace cuprum::detail {

namespace {

/// Returns whether the answer for an event means that the work before it has ended: it is done, or
/// its context has failed or is gone. Any other answer may be one to a call that the driver does
/// not allow, as in a host function of others.
bool is_over(CUresult status) noexcept {
    switch (status) {
    case CUDA_SUCCESS:
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_INVALID_CONTEXT:
    case CUDA_ERROR_INVALID_HANDLE:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_CONTAINED:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_TENSOR_MEMORY_LEAK:
    case CUDA_ERROR_MPS_CLIENT_TERMINATED:
    case CUDA_ERROR_EXTERNAL_DEVICE:
        return true;
    default:
        return false;
    }
}

/// Payloads that launches use until an event is done.
struct RetiredPayload final : AwaitedRelease {
    RetiredPayload(PayloadShare retired, std::shared_ptr<EventState> behind) noexcept
        : payload(std::move(retired)), mark(std::move(behind)) {}

    [[nodiscard]] bool is_due() noexcept override {
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
