// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/checkpoint.hpp>

#include "driver/call.hpp"
#include "support/text.hpp"

#include <cuprum/device.hpp>
#include <cuprum/error.hpp>

#include <cuda.h>

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <sys/stat.h>
#include <vector>

namespace cuprum::checkpoint {

namespace {

using driver::table;

/// Returns what a wrong state is and what to do about it.
std::string describe_state(int pid, const char* wanted) {
    CUprocessState state{};
    const std::string needed = "process " + std::to_string(pid) + " must be " + wanted;
    if (table().cuCheckpointProcessGetState(pid, &state) != CUDA_SUCCESS) {
        return needed;
    }
    const auto now = static_cast<ProcessState>(state);
    const char* advice = now == ProcessState::Running        ? "; call lock() first"
                         : now == ProcessState::Checkpointed ? "; call restore() first"
                         : now == ProcessState::Locked && std::string_view(wanted) == "running"
                             ? "; call unlock() first"
                         : now == ProcessState::Locked ? "; call checkpoint() first"
                                                       : "; it cannot continue: end it";
    return needed + ", but it is " + std::string(to_string(now)) +
           (to_string(now) == wanted ? ": another process changes its state at the moment"
                                     : advice);
}

/// Returns why a process cannot be reached; empty if it is there and ours.
std::string describe_process(int pid) {
    const std::string number = std::to_string(pid);
    struct stat status{};
    if (::stat(("/proc/" + number).c_str(), &status) != 0) {
        return "there is no process " + number;
    }
    // "PID (name) STATE ...": the name may contain anything.
    std::ifstream file("/proc/" + number + "/stat");
    const std::string line((std::istreambuf_iterator<char>(file)), {});
    if (const auto end = line.rfind(") "); end != std::string::npos && line[end + 2] == 'Z') {
        return "process " + number + " has ended, and its parent has not waited for it yet";
    }
    if (::geteuid() != 0 && status.st_uid != ::geteuid()) {
        return "process " + number + " belongs to another user (" + std::to_string(status.st_uid) +
               "); only that user and root can checkpoint it";
    }
    return {};
}

/// Throws CUDAError for a call about a process, with what can be said about that process.
[[noreturn]] void raise_for(int pid, CUresult status, const char* call, const std::string& known) {
    if (!known.empty()) {
        driver::raise(status, call, known);
    }
    std::string hint = describe_process(pid);
    if (hint.empty() &&
        (status == CUDA_ERROR_NOT_INITIALIZED || status == CUDA_ERROR_INVALID_VALUE)) {
        hint = "process " + std::to_string(pid) +
               " does not use CUDA: it has no context. If it uses the emulated device, this "
               "process must use it too, and the other way round";
    } else if (hint.empty() && status == CUDA_ERROR_NOT_SUPPORTED) {
        hint = "the driver cannot do this with process " + std::to_string(pid) +
               "; memory that processes share is a usual reason";
    } else if (hint.empty() && status == CUDA_ERROR_OUT_OF_MEMORY) {
        hint = "there is not enough memory for the contents of the devices of process " +
               std::to_string(pid) + "; free some and try again";
    }
    driver::raise(status, call, hint);
}

/// Calls a driver function for a process and explains a failure. `wanted` says which state the
/// call needs; nullptr if any will do.
template <typename Entry, typename... Args>
void call_for(int pid, const char* wanted, const Entry& entry, Args... args) {
    driver::initialise();
    const CUresult status = entry(pid, args...);
    if (status == CUDA_SUCCESS) {
        return;
    }
    std::string known;
    if (status == CUDA_ERROR_ILLEGAL_STATE && wanted != nullptr) {
        known = describe_state(pid, wanted);
    }
    raise_for(pid, status, entry.name, known);
}

CUuuid read_uuid(const std::string& text) {
    constexpr std::string_view prefix = "GPU-";
    std::string_view rest = text;
    if (rest.starts_with(prefix)) {
        rest.remove_prefix(prefix.size());
    }
    CUuuid uuid{};
    std::size_t digits = 0;
    bool is_good = true;
    for (const char letter : rest) {
        if (letter == '-') {
            continue;
        }
        const int digit = letter >= '0' && letter <= '9'   ? letter - '0'
                          : letter >= 'a' && letter <= 'f' ? letter - 'a' + 10
                          : letter >= 'A' && letter <= 'F' ? letter - 'A' + 10
                                                           : -1;
        if (digit < 0 || digits == 2 * sizeof uuid.bytes) {
            is_good = false;
            break;
        }
        char& byte = uuid.bytes[digits / 2];
        byte = static_cast<char>((static_cast<unsigned char>(byte) << 4U) |
                                 static_cast<unsigned>(digit));
        ++digits;
    }
    if (!is_good || digits != 2 * sizeof uuid.bytes) {
        throw std::invalid_argument(
            "a GPU UUID must be 32 hex characters (with optional hyphens), got '" + text + "'");
    }
    return uuid;
}

/// Returns the UUIDs of all devices.
std::string list_devices() {
    std::string text;
    for (const Device& device : Device::all()) {
        text += (text.empty() ? "" : ", ") + device.uuid();
    }
    return text;
}

} // namespace

std::string_view to_string(ProcessState state) noexcept {
    return detail::enumerator_text<ProcessState::Failed>(
        state, {"running", "locked", "checkpointed", "failed"});
}

Process::Process(int pid) : pid_(pid) {
    if (pid <= 0) {
        throw std::invalid_argument("pid must be a positive int, got " + std::to_string(pid));
    }
}

ProcessState Process::state() const {
    CUprocessState state{};
    call_for(pid_, nullptr, table().cuCheckpointProcessGetState, &state);
    if (state < CU_PROCESS_STATE_RUNNING || state > CU_PROCESS_STATE_FAILED) {
        throw std::runtime_error("the driver reports state " + std::to_string(state) +
                                 " for process " + std::to_string(pid_) +
                                 ", which this version of Cuprum does not know");
    }
    return static_cast<ProcessState>(state);
}

int Process::restore_thread_id() const {
    int thread = 0;
    call_for(pid_, nullptr, table().cuCheckpointProcessGetRestoreThreadId, &thread);
    return thread;
}

void Process::lock(std::chrono::milliseconds timeout) const {
    if (timeout.count() < 0) {
        throw std::invalid_argument("timeout_ms must be >= 0 (0 waits forever), got " +
                                    std::to_string(timeout.count()));
    }
    constexpr auto longest = std::numeric_limits<unsigned>::max();
    if (timeout.count() > std::int64_t{longest}) {
        throw std::invalid_argument("timeout_ms must be at most " + std::to_string(longest) +
                                    ", got " + std::to_string(timeout.count()) +
                                    "; 0 waits forever");
    }
    CUcheckpointLockArgs args{};
    args.timeoutMs = static_cast<unsigned>(timeout.count());
    driver::initialise();
    const auto& entry = table().cuCheckpointProcessLock;
    const CUresult status = entry(pid_, &args);
    if (status == CUDA_ERROR_NOT_READY) {
        raise_for(pid_, status, entry.name,
                  "process " + std::to_string(pid_) + " still had calls or work after " +
                      std::to_string(timeout.count()) +
                      " ms; it continues and is not locked: allow more time, or try again later");
    }
    if (status != CUDA_SUCCESS) {
        raise_for(pid_, status, entry.name,
                  status == CUDA_ERROR_ILLEGAL_STATE ? describe_state(pid_, "running") : "");
    }
}

void Process::checkpoint() const {
    call_for(pid_, "locked", table().cuCheckpointProcessCheckpoint,
             static_cast<CUcheckpointCheckpointArgs*>(nullptr));
}

void Process::restore(std::span<const DevicePair> pairs) const {
    std::vector<CUcheckpointGpuPair> raw;
    for (const DevicePair& pair : pairs) {
        raw.push_back({read_uuid(pair.from), read_uuid(pair.to)});
    }
    CUcheckpointRestoreArgs args{};
    args.gpuPairs = raw.data();
    args.gpuPairsCount = static_cast<unsigned>(raw.size());
    driver::initialise();
    const auto& entry = table().cuCheckpointProcessRestore;
    const CUresult status = entry(pid_, raw.empty() ? nullptr : &args);
    if (status == CUDA_SUCCESS) {
        return;
    }
    std::string known;
    if (status == CUDA_ERROR_ILLEGAL_STATE) {
        known = describe_state(pid_, "checkpointed");
    } else if (status == CUDA_ERROR_INVALID_VALUE && !raw.empty() &&
               describe_process(pid_).empty()) {
        known = "the driver refuses the mapping of devices: it must name every device of the "
                "machine once on each side, and a device can only be replaced by one of the same "
                "type; the machine has " +
                list_devices();
    }
    raise_for(pid_, status, entry.name, known);
}

void Process::unlock() const {
    call_for(pid_, "locked", table().cuCheckpointProcessUnlock,
             static_cast<CUcheckpointUnlockArgs*>(nullptr));
}

} // namespace cuprum::checkpoint
