// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "driver/table.hpp"

#include <cuprum/device.hpp>

namespace cuprum::detail {

/// The driver's description of some resource of a device. Plain data: nothing is released.
struct ResourceState {
    CUdevResource resource{};
    Device device;
    bool is_usable = true; // false after a dry run
};

} // namespace cuprum::detail
