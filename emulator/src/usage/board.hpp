// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The state that belongs to the emulated devices rather than to a process: the events of failed
// kernels, and what the setters of NVML have set. It is kept in the file `board` of the runtime
// folder until the machine restarts.

#pragma once

#include "usage/folder.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace cuprum::emulator::usage {

/// A kernel that failed, as a GPU driver reports it: an XID.
struct FailureEvent {
    std::uint64_t number = 0; // counts the events of all devices, from 1
    std::int32_t pid = 0;
    std::uint32_t device = 0;
    std::uint64_t xid = 0;
};

/// What a setter of NVML can change. 0 means that nothing has been set.
enum class Control : std::uint32_t {
    PersistenceMode, // 1 + the mode
    PowerLimit,      // milliwatts
    FanSpeed,        // 1 + per cent, of all fans
    GraphicsClockMin,
    GraphicsClockMax, // MHz
    MemoryClockMin,
    MemoryClockMax,
    Count
};

/// The file `board`. Every call opens it anew and takes its lock; it is small and rarely used.
/// Nothing throws: a file that cannot be used reads as empty.
class Board {
public:
    explicit Board(const Folder& folder) : folder_(folder) {}

    /// Appends an event. The oldest of more than 256 is lost.
    void report_failure(std::uint32_t device, std::uint64_t xid) const noexcept;

    /// Returns the number of the newest event; 0 if there is none.
    [[nodiscard]] std::uint64_t newest_event() const noexcept;

    /// Returns the events after `number` that still exist, in order.
    [[nodiscard]] std::vector<FailureEvent> events_after(std::uint64_t number) const;

    /// Returns what has been set, or 0.
    [[nodiscard]] std::uint64_t get(std::uint32_t device, Control control) const noexcept;

    /// Sets a control. Returns false if the file cannot be written.
    bool set(std::uint32_t device, Control control, std::uint64_t value) const noexcept;

private:
    const Folder& folder_;
};

} // namespace cuprum::emulator::usage
