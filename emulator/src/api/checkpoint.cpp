// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Checkpoints of processes. They act on a process by its number, often another one than this. They
// need no cuInit in this process, and are not held back by a lock of it.

#include "api/entry.hpp"
#include "api/handles.hpp"
#include "objects/process/control_channel.hpp"
#include "objects/process/error.hpp"

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

} // namespace

ROW(cuCheckpointProcessGetRestoreThreadId, 12080, Early, int pid, int& tid) {
    tid = ask(pid, {.command = ControlCommand::GetThread}).thread;
}

ROW(cuCheckpointProcessGetState, 12080, Early, int pid, CUprocessState& state) {
    state = ask(pid, {.command = ControlCommand::GetState}).state;
}

ROW(cuCheckpointProcessLock, 12080, Early, int pid, CUcheckpointLockArgs* args) {
    ControlRequest request{.command = ControlCommand::Lock};
    if (args != nullptr) {
        require(args->reserved0 == 0, "reserved members of the arguments must be zero");
        require_zero(args->reserved1);
        request.timeout_ms = args->timeoutMs;
    }
    (void)ask(pid, request);
}

ROW(cuCheckpointProcessCheckpoint, 12080, Early, int pid, CUcheckpointCheckpointArgs* args) {
    if (args != nullptr) {
        require_zero(args->reserved);
    }
    (void)ask(pid, {.command = ControlCommand::Checkpoint});
}

ROW(cuCheckpointProcessRestore, 12080, Early, int pid, CUcheckpointRestoreArgs* args) {
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
}

ROW(cuCheckpointProcessUnlock, 12080, Early, int pid, CUcheckpointUnlockArgs* args) {
    if (args != nullptr) {
        require_zero(args->reserved);
    }
    (void)ask(pid, {.command = ControlCommand::Unlock});
}
