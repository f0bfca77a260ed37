// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace cuprum::driver {

/// Tells whether code is compiled for an emulated device. False where there is no driver or no
/// device: compiling for elsewhere needs neither.
[[nodiscard]] bool is_device_emulated();

} // namespace cuprum::driver
