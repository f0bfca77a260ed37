// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "library.hpp"

namespace cuprum::nvml {

/// How many bytes the live processes have copied.
struct Traffic {
    std::uint64_t from_device_bytes = 0;
    std::uint64_t to_device_bytes = 0;
};

[[nodiscard]] Traffic traffic_of(const State& state, unsigned int index);

} // namespace cuprum::nvml
