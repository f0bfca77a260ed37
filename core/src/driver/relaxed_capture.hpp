// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "driver/call.hpp"

namespace cuprum::driver {

/// Lets the calling thread, for a scope, make calls that cannot be captured while captures are
/// under way which they have nothing to do with: without it they would fail, and end those
/// captures.
class RelaxedCapture {
public:
    [[nodiscard]] RelaxedCapture() noexcept { exchange(); }

    ~RelaxedCapture() { exchange(); }

    RelaxedCapture(const RelaxedCapture&) = delete;
    RelaxedCapture& operator=(const RelaxedCapture&) = delete;

private:
    void exchange() noexcept {
        release_now("change of the capture mode", table().cuThreadExchangeStreamCaptureMode,
                    &mode_);
    }

    CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

} // namespace cuprum::driver
