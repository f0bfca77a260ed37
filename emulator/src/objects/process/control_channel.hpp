// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// How one process asks another to lock, checkpoint, restore or unlock itself.
//
// A process with a context listens at a socket `<pid>.control` in the user's runtime folder. A
// request and its answer are one packet each. Both ends check who the other is: the system names
// the peer's user and process. What arrives is checked before it is believed.

#pragma once

#include "usage/folder.hpp"

#include <cuda.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <sys/types.h>
#include <vector>

namespace cuprum::emulator {

/// What a process can be asked.
enum class ControlCommand : std::uint32_t {
    GetState = 1,
    GetThread,
    Lock,
    Checkpoint,
    Restore,
    Unlock,
};

/// A request.
struct ControlRequest {
    ControlCommand command{};
    std::uint32_t timeout_ms = 0;             // Lock; 0: none
    std::vector<CUcheckpointGpuPair> pairs{}; // Restore; empty: every device stays
};

/// What the process says.
struct ControlAnswer {
    CUresult result = CUDA_SUCCESS;
    CUprocessState state = CU_PROCESS_STATE_RUNNING;
    int thread = 0;
    std::string message; // of a failure
};

/// Asks a process and waits for its answer; also this very process.
///
/// @throws DriverError INVALID_VALUE if there is no such process or it is another user's,
/// NOT_INITIALIZED if it has no context of the emulated device, NOT_SUPPORTED if its emulated
/// device is of another version, NOT_READY if a lock with a timeout gets no answer in time or the
/// process takes no connection.
[[nodiscard]] ControlAnswer ask_process(pid_t process, const ControlRequest& request);

/// The end of the channel at which a process listens.
class ControlSocket {
public:
    /// Begins to listen; throws std::runtime_error.
    void listen();

    /// Stops to listen and removes the name. Safe to call from any thread.
    void withdraw() noexcept;

    /// Takes the next connection; -1 if there is none, or if it is refused because of its user.
    [[nodiscard]] int accept() const noexcept;

    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

    /// Reads a request from a connection; nothing if there is none or it makes no sense.
    [[nodiscard]] static std::optional<ControlRequest> receive(int connection);

    /// Sends an answer; false if nobody is there to read it.
    static bool send(int connection, const ControlAnswer& answer) noexcept;

private:
    std::optional<usage::Folder> folder_;
    std::string name_;
    int descriptor_ = -1;
};

} // namespace cuprum::emulator
