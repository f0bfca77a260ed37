// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Checkpoints of the CUDA state of processes:
//
//             lock()             checkpoint()
//   Running ─────────► Locked ─────────────────► Checkpointed
//           ◄─────────        ◄─────────────────
//            unlock()             restore()

#pragma once

#include <cuprum/detail/export.hpp>
#include <cuprum/detail/text.hpp>

#include <chrono>
#include <span>
#include <string>
#include <string_view>

/// Saves and restores what processes have on devices.
namespace cuprum::checkpoint {

/// What a process can do with CUDA.
enum class ProcessState {
    Running = 0,      // everything
    Locked = 1,       // calls of CUDA wait, and no work runs
    Checkpointed = 2, // as Locked, and device memory lies in host memory
    Failed = 3,       // nothing: a checkpoint or restore failed for good
};

/// Returns "running", "locked", "checkpointed" or "failed".
[[nodiscard]] CUPRUM_API std::string_view to_string(ProcessState state) noexcept;

/// A device of the checkpoint and the device to restore it onto, as UUIDs: 32 hexadecimal digits,
/// with hyphens as Device::uuid() writes them or without, and with or without "GPU-" before them.
struct DevicePair {
    std::string from; // the device of the process, as its UUID
    std::string to;   // the device that replaces it, as its UUID
};

/// A process that uses CUDA, often another one than this. A plain value that holds the number.
///
/// All functions block until the process has done what they ask for. They need a driver of CUDA
/// 12.8 or newer, Linux, and the rights of the process's user.
///
/// They throw CUDAError, which says what is known about the process: that it does not exist,
/// belongs to someone else, has no context, or is in the wrong state. A failure leaves the process
/// in the state that it was in.
///
/// @code
/// const cuprum::checkpoint::Process process(4711);
/// process.lock();
/// process.checkpoint(); // device memory is in host memory now
/// process.restore();
/// process.unlock();
/// @endcode
class CUPRUM_API Process {
public:
    /// Selects a process by its number. The process is not looked for.
    /// @throws std::invalid_argument if the number is not positive.
    explicit Process(int pid);

    /// Returns the number of the process.
    [[nodiscard]] int pid() const noexcept { return pid_; }

    /// Returns the state that the process is in.
    [[nodiscard]] ProcessState state() const;

    /// Returns the number of the process's thread that carries out checkpoint() and restore(). A
    /// tool that freezes the process must let this thread run.
    [[nodiscard]] int restore_thread_id() const;

    /// Holds back all further CUDA calls of the process and waits for its work on devices,
    /// including host functions. A timeout of 0 waits forever; after any other the process
    /// continues, and CUDAError has the code CUDA_ERROR_NOT_READY.
    void lock(std::chrono::milliseconds timeout = std::chrono::milliseconds(0)) const;

    /// Moves the device memory of a locked process to host memory and releases its devices.
    void checkpoint() const;

    /// Brings the device memory of a checkpointed process back; the process is locked then. Memory
    /// keeps its addresses.
    ///
    /// With pairs, devices of the process become other devices of the same type. All devices that
    /// the driver has must be named, also those that stay (NVIDIA's driver ignores
    /// CUDA_VISIBLE_DEVICES here).
    /// @throws std::invalid_argument if a text is not a UUID.
    void restore(std::span<const DevicePair> pairs = {}) const;

    /// Lets a locked process continue.
    void unlock() const;

    friend bool operator==(const Process&, const Process&) = default;

private:
    int pid_;
};

} // namespace cuprum::checkpoint
