// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "objects/memory/memory_image.hpp"
#include "objects/process/control_channel.hpp"

#include <cuda.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace cuprum::emulator {

/// The thread that locks, checkpoints, restores and unlocks this process when one asks for it.
///
/// It starts with the first context and sleeps in poll(). Requests are carried out one after the
/// other, all on this thread: tools that freeze the other threads of a process let this one run
/// (cuCheckpointProcessGetRestoreThreadId). A lock waits without blocking the thread, so that the
/// state can be asked meanwhile.
class RestoreThread {
public:
    /// Returns the process's thread; never destroyed.
    [[nodiscard]] static RestoreThread& instance();

    /// Starts the thread unless it runs. If it cannot listen, the log says why, and the process
    /// cannot be checkpointed.
    void start() noexcept;

    /// Removes the socket's name: the process leaves.
    void withdraw() noexcept;

    /// Closes the descriptors that a forked child has inherited. The child has no such thread.
    void forget_after_fork() noexcept;

private:
    static constexpr std::size_t MAX_CONNECTIONS = 16;

    /// A lock that waits for calls and work.
    struct PendingLock {
        int connection = -1;
        std::optional<std::chrono::steady_clock::time_point> deadline;
    };

    RestoreThread() = default;

    void serve() noexcept;
    void take_connections() noexcept;
    void serve_connection(std::atomic<int>& connection) noexcept;
    void hang_up(std::atomic<int>& connection) noexcept;
    [[nodiscard]] std::optional<ControlAnswer> carry_out(int connection,
                                                         const ControlRequest& request);
    [[nodiscard]] ControlAnswer answer() const;
    void begin_lock(int connection, std::uint32_t timeout_ms);
    void continue_lock() noexcept;
    void abandon_lock() noexcept;
    void checkpoint();
    void restore(std::span<const CUcheckpointGpuPair> pairs);
    void unlock();
    void require_state(CUprocessState wanted, const char* action) const;

    std::mutex start_mutex_;
    bool is_started_ = false;
    ControlSocket socket_;
    std::atomic<int> listening_{-1};
    std::array<std::atomic<int>, MAX_CONNECTIONS> connections_;
    // What follows belongs to the thread.
    CUprocessState state_ = CU_PROCESS_STATE_RUNNING;
    int thread_ = 0;
    std::optional<PendingLock> pending_;
    std::unique_ptr<MemoryImage> image_;
};

} // namespace cuprum::emulator
