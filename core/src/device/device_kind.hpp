// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace cuprum::driver {

/// Returns whether code is compiled for an emulated device. Without a driver or a device it returns
/// false, because compiling for another machine needs neither.
[[nodiscard]] bool is_device_emulated();

} // namespace cuprum::driver
