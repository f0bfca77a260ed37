// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "interp/memory_map.hpp"

#include <cstdint>

namespace cuprum::emulator {

/// Returns what this process itself may do with all of a range of its memory, as the system says.
[[nodiscard]] Permission permission_of_process(std::uint64_t address, std::uint64_t bytes);

} // namespace cuprum::emulator
