// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "exec/progress.hpp"

#include "builtins/status_line.hpp"
#include "bytecode/readable_name.hpp"
#include "exec/grid.hpp"
#include "interp/clock.hpp"

#include <signal.h>

#include <exception>

namespace cuprum::emulator::exec {

using builtins::StatusLine;

namespace {

constexpr std::chrono::milliseconds PROGRESS_PERIOD{250};

std::string described(const Grid& grid, std::uint64_t seconds) {
    const std::uint64_t total = grid.block_count();
    const std::uint64_t finished = grid.finished_count();
    return "cuprum emulator: kernel " + bytecode::readable_name(grid.kernel().name) + ": " +
           std::to_string(finished) + " of " + std::to_string(total) +
           (total == 1 ? " block (" : " blocks (") + std::to_string(finished * 100 / total) +
           " %), " + std::to_string(seconds) + " s";
}

} // namespace

struct alignas(64) Progress::Slot {
    std::mutex mutex;
    const Grid* grid = nullptr; // alive while it stands here
};

Progress::Progress() = default;

Progress::~Progress() {
    stop();
}

void Progress::configure(Milliseconds after) noexcept {
    after_ms_ = after.count();
}

void Progress::start(std::uint32_t workers) {
    if (after_ms_ == 0 || is_on()) {
        return;
    }
    slots_ = std::make_unique<Slot[]>(workers);
    slot_count_ = workers;
    StatusLine::instance().enable(true);
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before); // signals are for the program's own threads
    try {
        thread_ = std::thread([this] { watch(); });
    } catch (...) {
        slots_ = nullptr; // no thread or no memory: kernels run without progress
        StatusLine::instance().enable(false);
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Progress::stop() noexcept {
    {
        const std::lock_guard lock(mutex_);
        is_stopping_ = true;
    }
    stopped_.notify_all();
    if (thread_.joinable()) {
        thread_.join();
    }
}

Progress::Slot* Progress::slot(std::uint32_t worker) const noexcept {
    return &slots_[worker];
}

void Progress::Turn::set(const Grid* grid) noexcept {
    const std::lock_guard lock(slot_->mutex);
    slot_->grid = grid;
}

void Progress::watch() {
    StatusLine& line = StatusLine::instance();
    std::unique_lock lock(mutex_);
    while (!stopped_.wait_for(lock, PROGRESS_PERIOD, [this] { return is_stopping_; })) {
        // A grid removes the line when it ends. It waits for the line, so none is drawn after that.
        const auto held = line.hold();
        try {
            const std::string text = describe();
            text.empty() ? line.clear() : line.draw(text);
        } catch (const std::exception&) {
            line.clear(); // out of memory
        }
    }
    const auto held = line.hold();
    line.clear();
}

/// Describes the grid that has run for longest; empty if none has run for long. The line is held.
std::string Progress::describe() const {
    const Milliseconds after(after_ms_.load());
    if (after.count() == 0) {
        return {};
    }
    const std::uint64_t now = now_ns();
    std::uint64_t first_ns = now;
    std::string text;
    for (std::uint32_t i = 0; i < slot_count_; ++i) {
        const std::lock_guard lock(slots_[i].mutex);
        const Grid* const grid = slots_[i].grid;
        const std::uint64_t begin_ns = grid == nullptr ? 0 : grid->begin_ns();
        if (begin_ns == 0 || begin_ns >= first_ns || grid->is_done()) {
            continue;
        }
        if (const std::chrono::nanoseconds time(now - begin_ns); time >= after) {
            first_ns = begin_ns;
            text = described(*grid, std::chrono::duration_cast<std::chrono::seconds>(time).count());
        }
    }
    return text;
}

} // namespace cuprum::emulator::exec
