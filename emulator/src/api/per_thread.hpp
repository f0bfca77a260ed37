// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "api/cuda_abi.hpp"
#include "objects/process/thread_state.hpp"

namespace cuprum::emulator {

/// Calls an entry point for which NULL is the calling thread's default stream.
template <typename... Params, typename... Args>
CUresult per_thread(CUresult(CUDAAPI* function)(Params...), Args... args) noexcept {
    struct Scope {
        bool& flag;
        bool before;

        ~Scope() { flag = before; }
    };

    bool& flag = thread_state().null_is_per_thread;
    const Scope scope{flag, flag};
    flag = true;
    return function(args...);
}

} // namespace cuprum::emulator
