// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "driver/device_kind.hpp"

#include "driver/call.hpp"

#include <cuprum/error.hpp>

namespace cuprum::driver {

bool is_device_emulated() {
    try {
        return is_emulated();
    } catch (const LibraryNotFoundError&) {
        return false; // compiling for elsewhere needs no driver
    } catch (const CUDAError&) {
        return false; // nor a device
    }
}

} // namespace cuprum::driver
