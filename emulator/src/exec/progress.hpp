// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Shows on the terminal how far a long kernel is: "kernel k: 120 of 4096 blocks (2 %), 5 s".
//
// A thread looks a few times a second at what the workers run, and draws while a host thread waits
// for the device. Workers count nothing for it: grids know how many of their blocks have finished.
// A worker notes only which grid it turns to.

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace cuprum::emulator::exec {

class Grid;

/// See the head of this file.
class Progress {
    struct Slot;

public:
    using Milliseconds = std::chrono::milliseconds;

    Progress();
    ~Progress();

    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// Shows grids that have run for `after`; zero means never. After start(), zero hides them and
    /// other times have an effect only if start() has begun to look.
    void configure(Milliseconds after) noexcept;

    /// Starts to look at so many workers, if configure() has asked for it.
    void start(std::uint32_t workers);

    /// Returns whether there is a thread that looks. Constant while workers run.
    [[nodiscard]] bool is_on() const noexcept { return slots_ != nullptr; }

    /// Removes the line and stops. A second call does nothing.
    void stop() noexcept;

    /// The scope in which a worker runs blocks of a grid, which lives at least as long.
    class Turn {
    public:
        [[nodiscard]] Turn(Progress& progress, std::uint32_t worker, const Grid& grid)
            : slot_(progress.is_on() ? progress.slot(worker) : nullptr) {
            if (slot_ != nullptr) [[unlikely]] {
                set(&grid);
            }
        }

        ~Turn() {
            if (slot_ != nullptr) [[unlikely]] {
                set(nullptr);
            }
        }

        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;

    private:
        void set(const Grid* grid) noexcept;

        Slot* slot_;
    };

private:
    [[nodiscard]] Slot* slot(std::uint32_t worker) const noexcept;
    void watch();
    [[nodiscard]] std::string describe() const;

    std::atomic<Milliseconds::rep> after_ms_{0};
    std::uint32_t slot_count_ = 0;
    std::unique_ptr<Slot[]> slots_; // one per worker; null: off
    std::mutex mutex_;
    std::condition_variable stopped_;
    bool is_stopping_ = false;
    std::thread thread_;
};

} // namespace cuprum::emulator::exec
