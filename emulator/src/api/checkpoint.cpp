// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Checkpoints of processes. They act on a process by its number, often another one than this. They
// need no cuInit in this process, and are not held back by a lock of it.

#include "api/entry.hpp"
#include "api/handles.hpp"
#include "objects/process/control_channel.hpp"
#include "objects/process/error.hpp"

#include <algorithm>
#include <iterator>
#include <span>

using namespace cuprum::emulator;

namespace {

/// Asks a process and throws what it answers, unless that is success.
ControlAnswer ask(int process, const ControlRequest& request) {
    ControlAnswer answer = ask_process(process, request);
    if (answer.result != CUDA_SUCCESS) {
        fail(answer.result, answer.message);
    }
    return answer;
}

template <typename T>
void require_zero(const T& reserved) {
    require(std::ranges::all_of(reserved, [](auto each) { return each == 0; }),
            "reserved members of the arguments must be zero");
}

} // namespace

extern "C" {

CUresult CUDAAPI cuCheckpointProcessGetRestoreThreadId(int pid, int* tid) {
    return early_entry("cuCheckpointProcessGetRestoreThreadId", [&] {
        require(tid != nullptr, "tid must not be NULL");
        *tid = ask(pid, {.command = ControlCommand::GetThread}).thread;
    });
}

CUresult CUDAAPI cuCheckpointProcessGetState(int pid, CUprocessState* state) {
    return early_entry("cuCheckpointProcessGetState", [&] {
        require(state != nullptr, "state must not be NULL");
        *state = ask(pid, {.command = ControlCommand::GetState}).state;
    });
}

CUresult CUDAAPI cuCheckpointProcessLock(int pid, CUcheckpointLockArgs* args) {
    return early_entry("cuCheckpointProcessLock", [&] {
        ControlRequest request{.command = ControlCommand::Lock};
        if (args != nullptr) {
            require(args->reserved0 == 0, "reserved members of the arguments must be zero");
            require_zero(args->reserved1);
            request.timeout_ms = args->timeoutMs;
        }
        (void)ask(pid, request);
    });
}

CUresult CUDAAPI cuCheckpointProcessCheckpoint(int pid, CUcheckpointCheckpointArgs* args) {
    return early_entry("cuCheckpointProcessCheckpoint", [&] {
        if (args != nullptr) {
            require_zero(args->reserved);
        }
        (void)ask(pid, {.command = ControlCommand::Checkpoint});
    });
}

CUresult CUDAAPI cuCheckpointProcessRestore(int pid, CUcheckpointRestoreArgs* args) {
    return early_entry("cuCheckpointProcessRestore", [&] {
        ControlRequest request{.command = ControlCommand::Restore};
        if (args != nullptr) {
            require_zero(args->reserved);
            require(args->reserved1 == 0, "reserved members of the arguments must be zero");
            require(args->gpuPairs != nullptr || args->gpuPairsCount == 0,
                    "gpuPairs is NULL, but gpuPairsCount is not 0");
            const std::span pairs(args->gpuPairs, args->gpuPairsCount);
            request.pairs.assign(pairs.begin(), pairs.end());
        }
        (void)ask(pid, request);
    });
}

CUresult CUDAAPI cuCheckpointProcessUnlock(int pid, CUcheckpointUnlockArgs* args) {
    return early_entry("cuCheckpointProcessUnlock", [&] {
        if (args != nullptr) {
            require_zero(args->reserved);
        }
        (void)ask(pid, {.command = ControlCommand::Unlock});
    });
}

} // extern "C"
