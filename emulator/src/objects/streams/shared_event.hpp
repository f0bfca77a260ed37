// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// An event that several processes see.
//
// Records are numbered. The shared page holds the number of the latest record and of the latest
// record that was reached. A process that records locks the byte of the file at the record's number
// until the record is reached. If the process dies, the system drops the lock. So waiting processes
// learn that the record will never be reached.

#pragma once

#include "objects/process/shared_file.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

namespace cuprum::emulator {

/// The part of an interprocess event that is in shared memory.
class SharedEvent {
public:
    /// The state of a record.
    enum class Outcome : std::uint8_t { Pending, Reached, Failed };

    /// Creates a new event.
    [[nodiscard]] static std::shared_ptr<SharedEvent> create();

    /// Opens the event that another process, or this one, has exported. Throws INVALID_HANDLE.
    [[nodiscard]] static std::shared_ptr<SharedEvent> open(const SharedAddress& address);

    ~SharedEvent();
    SharedEvent(const SharedEvent&) = delete;
    SharedEvent& operator=(const SharedEvent&) = delete;

    [[nodiscard]] SharedAddress address() const noexcept { return file_->address(); }

    /// Starts a record and returns its number, which is never 0. reach() must follow.
    [[nodiscard]] std::uint64_t begin();

    /// Ends a record that begin() started and wakes waiting threads.
    void reach(std::uint64_t number, bool has_failed) noexcept;

    /// Returns the number of the latest record, or 0 if there is none.
    [[nodiscard]] std::uint64_t latest() const noexcept;

    /// Returns the state of a record. It is Failed if its work failed or its process has died.
    [[nodiscard]] Outcome outcome(std::uint64_t number) const noexcept;

    /// Blocks until a record is no longer pending, or until `is_given_up` returns true.
    Outcome wait(std::uint64_t number, const std::function<bool()>& is_given_up) const noexcept;

private:
    struct Page;

    explicit SharedEvent(std::shared_ptr<SharedFile> file);

    [[nodiscard]] bool set_lock(std::uint64_t number, bool is_held) const noexcept;
    [[nodiscard]] bool is_locked_elsewhere(std::uint64_t number) const noexcept;

    std::shared_ptr<SharedFile> file_;
    Page* page_ = nullptr;
    std::atomic<std::uint64_t> begun_here_{0}; // the latest record of this process
    std::atomic<std::uint64_t> ended_here_{0}; // the latest of them that has ended
};

} // namespace cuprum::emulator
