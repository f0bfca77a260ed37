// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "device/context_state.hpp"
#include "driver/capture.hpp"
#include "driver/current.hpp"
#include "stream/deferred_release.hpp"

#include <cuprum/error.hpp>

#include <memory>
#include <optional>

namespace cuprum::detail {

/// Runs a function that releases an object, in the context of the object. For destructors: reports
/// what the function throws. Does it later if the calling thread runs a host function, never ends a
/// stream capture, and does nothing if a reset destroyed the object.
template <typename Release>
void release_in_context(const std::shared_ptr<ContextState>& context, unsigned made_at,
                        const char* what, const Release& release) noexcept {
    const auto run = [context, made_at, what,
                      release = Release(release)](void* /*none*/) mutable noexcept {
        if (driver::is_leaving() || !is_intact(context, made_at)) {
            return;
        }
        std::optional<driver::Current> current;
        try {
            current.emplace(context->handle);
        } catch (...) { // the driver may need no context for the release
            driver::report_release_failure(what);
        }
        try {
            const driver::RelaxedCapture relaxed;
            release();
        } catch (const CUDAError& error) {
            if (error.code() != CUDA_ERROR_DEINITIALIZED) { // the driver is gone, and the object
                driver::report_release_failure(what);
            }
        } catch (...) {
            driver::report_release_failure(what);
        }
    };
    if (!runs_host_function()) [[likely]] {
        auto now = run;
        now(nullptr);
        return;
    }
    try {
        defer_release(std::shared_ptr<void>(nullptr, run));
    } catch (...) {
        driver::report_release_failure(what);
    }
}

} // namespace cuprum::detail
