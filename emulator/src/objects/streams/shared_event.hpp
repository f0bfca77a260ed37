// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// An event that several processes see.
//
// Records are numbered. The page that the processes share says which record is the latest and up to
// which they have been reached. A process that records holds a lock on the byte of the file that
// has the record's number, until the record is reached; the system drops it when the process dies,
// however it dies, and so those who wait learn that the record will never be reached.

#pragma once

#include "objects/process/shared_file.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

namespace cuprum::emulator {

/// The part of an interprocess event that lies in shared memory.
class SharedEvent {
public:
    /// What became of a record.
    enum class Outcome : std::uint8_t { Pending, Reached, Failed };

    /// Makes a new one.
    [[nodiscard]] static std::shared_ptr<SharedEvent> create();

    /// Returns the one that another process, or this one, has described; throws INVALID_HANDLE.
    [[nodiscard]] static std::shared_ptr<SharedEvent> open(const SharedAddress& address);

    ~SharedEvent();
    SharedEvent(const SharedEvent&) = delete;
    SharedEvent& operator=(const SharedEvent&) = delete;

    [[nodiscard]] SharedAddress address() const noexcept { return file_->address(); }

    /// Starts a record and returns its number, never 0; reach() must follow.
    [[nodiscard]] std::uint64_t begin();

    /// Ends a record that begin() started and wakes those who wait.
    void reach(std::uint64_t number, bool has_failed) noexcept;

    /// Returns the number of the latest record, 0 if there was none.
    [[nodiscard]] std::uint64_t latest() const noexcept;

    /// Tells how a record stands. Failed where its work failed or its process has died.
    [[nodiscard]] Outcome outcome(std::uint64_t number) const noexcept;

    /// Blocks until a record is no longer pending, or until `is_given_up` says so.
    Outcome wait(std::uint64_t number, const std::function<bool()>& is_given_up) const noexcept;

private:
    struct Page;

    explicit SharedEvent(std::shared_ptr<SharedFile> file);

    [[nodiscard]] bool set_lock(std::uint64_t number, bool is_held) const noexcept;
    [[nodiscard]] bool is_locked_elsewhere(std::uint64_t number) const noexcept;

    std::shared_ptr<SharedFile> file_;
    Page* page_ = nullptr;
    std::atomic<std::uint64_t> begun_here_{0}; // the latest record of this process
    std::atomic<std::uint64_t> ended_here_{0}; // and up to which they have ended
};

} // namespace cuprum::emulator
