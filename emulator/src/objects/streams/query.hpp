// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "builtins/status_line.hpp"
#include "objects/streams/operation.hpp"

namespace cuprum::emulator {

/// Returns what a query of a stream or event returns, and records that a host thread has asked.
inline CUresult query_result(bool is_done) noexcept {
    if (!is_done) {
        return not_ready();
    }
    builtins::StatusLine::instance().end_poll();
    return CUDA_SUCCESS;
}

} // namespace cuprum::emulator
