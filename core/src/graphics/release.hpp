// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "device/context_state.hpp"
#include "driver/capture.hpp"
#include "driver/current.hpp"
#include "stream/deferred_release.hpp"

#include <memory>

namespace cuprum::detail {

/// Releases an object in a destructor, in its context. Does it later if the calling thread runs a
/// host function, never ends a stream capture, and does nothing if a reset destroyed the object.
template <typename Handle>
void release_in_context(const std::shared_ptr<ContextState>& context, unsigned made_at,
                        const char* what, const driver::Entry<CUresult(Handle)>& entry,
                        Handle handle) noexcept {
    const auto release = [context, made_at, what, &entry, handle](void* /*none*/) noexcept {
        if (driver::is_leaving() || !is_intact(context, made_at)) {
            return;
        }
        try {
            const driver::RelaxedCapture relaxed;
            const driver::Current current(context->handle);
            driver::release_now(what, entry, handle);
        } catch (...) {
            driver::report_release_failure(what);
        }
    };
    if (!runs_host_function()) [[likely]] {
        release(nullptr);
        return;
    }
    try {
        defer_release(std::shared_ptr<void>(nullptr, release));
    } catch (...) {
        driver::report_release_failure(what);
    }
}

} // namespace cuprum::detail
