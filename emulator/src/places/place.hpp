// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Where in the host program something was done: what reports say beside the driver call.
//
// A place is the native call stack, as addresses that are named only when a report needs them, and
// the lines of Python, as text, since its frames are gone by then. Equal places are kept once. None
// is recorded unless a check or the list of leaks was asked for.

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cuprum::emulator::places {

/// What places are recorded of.
enum Subjects : std::uint8_t {
    OF_MEMORY = 1,   // who allocated and who freed
    OF_LAUNCHES = 2, // who launched a kernel
    OF_HANDLES = 4,  // who made streams, events, modules and the like
};

/// One place in the host program; lives as long as the process.
struct Place {
    /// Frames that are kept, the innermost first: some are not the user's and are left out later.
    static constexpr std::size_t MAX_FRAMES = 24;

    std::array<std::uintptr_t, MAX_FRAMES> frames{}; // addresses inside the calls
    std::size_t frame_count = 0;
    std::string python; // "in load() at train.py:12", innermost first, a line each

    bool operator==(const Place&) const = default;
};

/// Says of which Subjects places are recorded from now on; 0: of none.
void set_recorded(std::uint8_t subjects) noexcept;

/// Holds what set_recorded() was told.
inline constinit std::atomic<std::uint8_t> recorded{0};

/// Tells whether places of a subject are recorded.
[[nodiscard]] inline bool is_recorded(std::uint8_t subject) noexcept {
    return (recorded.load(std::memory_order_relaxed) & subject) != 0;
}

/// Records where the current thread is; nullptr when memory runs out. Waits for nobody but others
/// who record, and runs no code of the program.
[[nodiscard]] const Place* record() noexcept;

/// Records where the current thread is if places of the subject are recorded; else returns nullptr.
[[nodiscard]] inline const Place* here(std::uint8_t subject) noexcept {
    return is_recorded(subject) ? record() : nullptr;
}

/// Returns how many different places have been recorded.
[[nodiscard]] std::size_t count() noexcept;

/// Returns a place in lines, each led by a line break and `indent`. Empty when nothing is known.
[[nodiscard]] std::string to_text(const Place& place, std::string_view indent);

} // namespace cuprum::emulator::places
