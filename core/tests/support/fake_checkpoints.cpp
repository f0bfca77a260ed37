// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/fake_functions.hpp"

namespace cuprum::testing {

namespace {

FakeDriver& fake() {
    return *active_fake();
}

/// Moves a process from one state to another.
CUresult change(int pid, CUprocessState from, CUprocessState to) {
    const auto process = fake().processes.find(pid);
    if (process == fake().processes.end()) {
        return CUDA_ERROR_NOT_INITIALIZED;
    }
    if (process->second != from) {
        return CUDA_ERROR_ILLEGAL_STATE;
    }
    process->second = to;
    return CUDA_SUCCESS;
}

} // namespace

void add_checkpoints(driver::Table& table) {
    table.cuCheckpointProcessGetState = [](int pid, CUprocessState* state) {
        const auto process = fake().processes.find(pid);
        if (process == fake().processes.end()) {
            return CUDA_ERROR_NOT_INITIALIZED;
        }
        *state = process->second;
        return CUDA_SUCCESS;
    };
    table.cuCheckpointProcessGetRestoreThreadId = [](int pid, int* tid) {
        *tid = pid + 1;
        return fake().processes.count(pid) == 0 ? CUDA_ERROR_NOT_INITIALIZED : CUDA_SUCCESS;
    };
    table.cuCheckpointProcessLock = [](int pid, CUcheckpointLockArgs* args) {
        fake().lock_timeout_ms = args == nullptr ? 0 : args->timeoutMs;
        return change(pid, CU_PROCESS_STATE_RUNNING, CU_PROCESS_STATE_LOCKED);
    };
    table.cuCheckpointProcessCheckpoint = [](int pid, CUcheckpointCheckpointArgs*) {
        return change(pid, CU_PROCESS_STATE_LOCKED, CU_PROCESS_STATE_CHECKPOINTED);
    };
    table.cuCheckpointProcessRestore = [](int pid, CUcheckpointRestoreArgs* args) {
        fake().gpu_pairs.clear();
        if (args != nullptr) {
            fake().gpu_pairs.assign(args->gpuPairs, args->gpuPairs + args->gpuPairsCount);
        }
        return change(pid, CU_PROCESS_STATE_CHECKPOINTED, CU_PROCESS_STATE_LOCKED);
    };
    table.cuCheckpointProcessUnlock = [](int pid, CUcheckpointUnlockArgs*) {
        return change(pid, CU_PROCESS_STATE_LOCKED, CU_PROCESS_STATE_RUNNING);
    };
}

} // namespace cuprum::testing
