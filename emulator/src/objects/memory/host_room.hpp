// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// How much memory the container of this process can still provide.
//
// The system provides pages of device memory when they are first touched, and ends a process of a
// control group that is over its limit. An allocation must therefore fit beside everything that has
// been promised but not touched yet, by this process and by others in the same container:
//
//     left = limit - usage of the control group, without its file cache
//     promised = allocated and not touched, of all processes in the group
//
// An allocation is refused if it would make promised larger than left minus a reserve. The reserve
// is for the program itself, whose own memory the emulated device does not see coming.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace cuprum::emulator::host_room {

/// Returns what is left of a limit for the program itself.
[[nodiscard]] constexpr std::uint64_t reserve_of(std::uint64_t limit_bytes) {
    constexpr std::uint64_t least = std::uint64_t{32} << 20;
    return limit_bytes / 32 < least ? least : limit_bytes / 32;
}

/// Returns how many bytes can still be allocated. Empty if no control group sets a limit.
[[nodiscard]] std::optional<std::uint64_t> available_bytes();

/// Decides about memory that has been charged to a device, or about `more_bytes` of host memory.
/// Returns why there is no room, or an empty text. Costs next to nothing without a limit; with a
/// limit it looks again only after a part of the available memory has been allocated.
[[nodiscard]] std::string find_problem(std::uint64_t bytes, std::uint64_t more_bytes = 0);

} // namespace cuprum::emulator::host_room
