// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "objects/devices/device.hpp"
#include "objects/process/driver.hpp"
#include "objects/process/shared_file.hpp"

#include <cuda.h>

namespace cuprum::emulator {

/// Writes a location for other processes, which may number the machine's devices in another way.
inline void put_location(SharedHeader& about, const CUmemLocation& location) {
    about.location_type = location.type;
    about.location_id =
        location.type == CU_MEM_LOCATION_TYPE_DEVICE ? device_at(location.id).unit() : location.id;
}

/// Reads a location that another process has written. Throws INVALID_DEVICE for a device that this
/// process does not have.
[[nodiscard]] inline CUmemLocation location_of(const SharedHeader& about) {
    CUmemLocation location{};
    location.type = static_cast<CUmemLocationType>(about.location_type);
    location.id = location.type == CU_MEM_LOCATION_TYPE_DEVICE
                      ? Driver::instance().device_of_unit(about.location_id).ordinal()
                      : about.location_id;
    return location;
}

} // namespace cuprum::emulator
