// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/location.hpp>

#include <cuda.h>

#include <optional>

namespace cuprum::detail {

/// Returns a location as the driver takes it.
[[nodiscard]] CUmemLocation driver_location(const Location& location);

/// Returns the location that a CUmemLocationType and an id mean, nothing for "none".
[[nodiscard]] std::optional<Location> location_from(int type, int id);

} // namespace cuprum::detail
