// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Places in the host program, which reports show beside the driver call.
//
// A place holds the native call stack as addresses, which are named only when a report needs them.
// It also holds the Python lines as text, because the Python frames are gone by then. Equal places
// are stored once. Nothing is recorded unless a check or the leak report is enabled.

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cuprum::emulator::places {

/// The kinds of events whose places are recorded.
enum Subjects : std::uint8_t {
    OF_MEMORY = 1,   // allocating and freeing memory
    OF_LAUNCHES = 2, // launching kernels
    OF_HANDLES = 4,  // creating streams, events, modules and other objects
};

/// One place in the host program. It lives as long as the process.
struct Place {
    /// How many frames are kept, innermost first. Frames that are not the user's are dropped later.
    static constexpr std::size_t MAX_FRAMES = 24;

    std::array<std::uintptr_t, MAX_FRAMES> frames{}; // addresses inside the calls
    std::size_t frame_count = 0;
    std::string python; // "in load() at train.py:12", innermost first, a line each

    bool operator==(const Place&) const = default;
};

/// Sets for which Subjects places are recorded from now on; 0: none.
void set_recorded(std::uint8_t subjects) noexcept;

/// The value of the last set_recorded().
inline constinit std::atomic<std::uint8_t> recorded{0};

/// Returns whether places of a subject are recorded.
[[nodiscard]] inline bool is_recorded(std::uint8_t subject) noexcept {
    return (recorded.load(std::memory_order_relaxed) & subject) != 0;
}

/// Records where the current thread is. Returns nullptr if memory runs out. Waits only for other
/// threads that record a place, and runs none of the program's code.
[[nodiscard]] const Place* record() noexcept;

/// Records where the current thread is if the subject is recorded; returns nullptr if it is not.
[[nodiscard]] inline const Place* here(std::uint8_t subject) noexcept {
    return is_recorded(subject) ? record() : nullptr;
}

/// Returns how many different places have been recorded.
[[nodiscard]] std::size_t count() noexcept;

/// Returns a place as lines, each preceded by a line break and `indent`. Empty if nothing is known.
[[nodiscard]] std::string to_text(const Place& place, std::string_view indent);

} // namespace cuprum::emulator::places
