// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "usage/board.hpp"

#include "usage/record.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <ctime>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>

namespace cuprum::emulator::usage {

namespace {

constexpr std::uint64_t BOARD_MAGIC = 0x4452424F50435543; // "CUCPOBRD"
constexpr std::uint64_t BOARD_VERSION = 1;
constexpr const char* BOARD_NAME = "board";
constexpr std::size_t EVENT_COUNT = 256;
constexpr auto CONTROL_COUNT = static_cast<std::size_t>(Control::Count);

/// The layout of the file. A new file consists of zeros behind magic and version.
struct BoardLayout {
    std::uint64_t magic = BOARD_MAGIC;
    std::uint64_t version = BOARD_VERSION;
    std::uint64_t newest_event = 0;
    std::array<FailureEvent, EVENT_COUNT> events{}; // number n is at n % EVENT_COUNT
    std::array<std::array<std::uint64_t, CONTROL_COUNT>, MAX_DEVICES> controls{};
};

/// Takes a lock, but waits only for a while: a process that holds it may have been stopped.
bool lock_soon(int file, int kind) {
    constexpr int turns = 200;
    constexpr timespec pause{.tv_sec = 0, .tv_nsec = 1'000'000};
    for (int turn = 0; turn < turns; ++turn) {
        if (::flock(file, kind | LOCK_NB) == 0) {
            return true;
        }
        ::nanosleep(&pause, nullptr);
    }
    return false;
}

/// The open and locked file; -1 if it cannot be used.
class OpenBoard {
public:
    OpenBoard(const Folder& folder, bool is_writer) {
        if (folder.descriptor() < 0) {
            return;
        }
        // Only a writer creates the file: looking at a device leaves nothing behind.
        const int flags = is_writer ? O_RDWR | O_CREAT : O_RDONLY;
        file_ = ::openat(folder.descriptor(), BOARD_NAME,
                         flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, S_IRUSR | S_IWUSR);
        struct stat status{};
        if (file_ < 0 || !lock_soon(file_, is_writer ? LOCK_EX : LOCK_SH) ||
            ::fstat(file_, &status) != 0 || !S_ISREG(status.st_mode) ||
            status.st_uid != ::geteuid()) {
            give_up();
            return;
        }
        if (status.st_size == 0 && is_writer) {
            const BoardLayout empty;
            if (::pwrite(file_, &empty, sizeof empty, 0) != static_cast<ssize_t>(sizeof empty)) {
                // The disk may be full. A part of a board would never be used again. If this fails
                // too, the next reader finds a file of the wrong size.
                [[maybe_unused]] const int result = ::ftruncate(file_, 0);
                give_up();
            }
            return;
        }
        std::uint64_t magic = 0;
        std::uint64_t version = 0;
        if (status.st_size != sizeof(BoardLayout) || !read(offsetof(BoardLayout, magic), magic) ||
            !read(offsetof(BoardLayout, version), version) || magic != BOARD_MAGIC ||
            version != BOARD_VERSION) {
            give_up();
        }
    }

    ~OpenBoard() { give_up(); }

    OpenBoard(const OpenBoard&) = delete;
    OpenBoard& operator=(const OpenBoard&) = delete;

    [[nodiscard]] bool is_open() const noexcept { return file_ >= 0; }

    template <typename T>
    bool read(std::size_t offset, T& value) const noexcept {
        return ::pread(file_, &value, sizeof value, static_cast<off_t>(offset)) ==
               static_cast<ssize_t>(sizeof value);
    }

    template <typename T>
    bool write(std::size_t offset, const T& value) const noexcept {
        return ::pwrite(file_, &value, sizeof value, static_cast<off_t>(offset)) ==
               static_cast<ssize_t>(sizeof value);
    }

private:
    void give_up() noexcept {
        if (file_ >= 0) {
            ::close(file_);
            file_ = -1;
        }
    }

    int file_ = -1;
};

std::size_t offset_of_event(std::uint64_t number) {
    return offsetof(BoardLayout, events) + (number % EVENT_COUNT) * sizeof(FailureEvent);
}

std::size_t offset_of_control(std::uint32_t device, Control control) {
    return offsetof(BoardLayout, controls) +
           ((device % MAX_DEVICES) * CONTROL_COUNT + static_cast<std::size_t>(control)) *
               sizeof(std::uint64_t);
}

} // namespace

void Board::report_failure(std::uint32_t device, std::uint64_t xid) const noexcept {
    const OpenBoard board(folder_, true);
    std::uint64_t newest = 0;
    if (!board.is_open() || !board.read(offsetof(BoardLayout, newest_event), newest)) {
        return;
    }
    ++newest;
    const FailureEvent event{newest, ::getpid(), device, xid};
    if (board.write(offset_of_event(newest), event)) {
        (void)board.write(offsetof(BoardLayout, newest_event), newest);
    }
}

std::uint64_t Board::newest_event() const noexcept {
    const OpenBoard board(folder_, false);
    std::uint64_t newest = 0;
    return board.is_open() && board.read(offsetof(BoardLayout, newest_event), newest) ? newest : 0;
}

std::vector<FailureEvent> Board::events_after(std::uint64_t number) const {
    std::vector<FailureEvent> events;
    const OpenBoard board(folder_, false);
    std::uint64_t newest = 0;
    if (!board.is_open() || !board.read(offsetof(BoardLayout, newest_event), newest)) {
        return events;
    }
    const std::uint64_t oldest = newest > EVENT_COUNT ? newest - EVENT_COUNT + 1 : 1;
    // The file is untrusted: `newest` may be the largest number, after which `each` is 0.
    for (std::uint64_t each = oldest; each <= newest && each != 0; ++each) {
        FailureEvent event;
        if (each > number && board.read(offset_of_event(each), event) && event.number == each &&
            event.device < MAX_DEVICES) {
            events.push_back(event);
        }
    }
    return events;
}

std::uint64_t Board::get(std::uint32_t device, Control control) const noexcept {
    const OpenBoard board(folder_, false);
    std::uint64_t value = 0;
    return board.is_open() && board.read(offset_of_control(device, control), value) ? value : 0;
}

bool Board::set(std::uint32_t device, Control control, std::uint64_t value) const noexcept {
    const OpenBoard board(folder_, true);
    return board.is_open() && board.write(offset_of_control(device, control), value);
}

} // namespace cuprum::emulator::usage
