// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace cuprum::emulator {

/// The environment variable by which programs choose devices of the machine.
inline constexpr const char* VISIBLE_DEVICES_VARIABLE = "CUDA_VISIBLE_DEVICES";

/// Returns the machine's devices that a value of CUDA_VISIBLE_DEVICES shows, in its order.
///
/// The value is a list of numbers or of UUIDs ("GPU-…", of which a unique beginning is enough). The
/// first entry that names no device ends it. A list that names a device twice shows none.
[[nodiscard]] std::vector<int> visible_devices(std::string_view list, std::uint32_t device_count,
                                               std::uint32_t compute_major);

} // namespace cuprum::emulator
