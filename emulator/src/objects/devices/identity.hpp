// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// How programs recognise the emulated devices. The emulated NVML uses it too, so that both
// libraries name a device alike.

#pragma once

#include <array>
#include <cstdint>

namespace cuprum::emulator {

/// The CUDA version that the emulated driver implements.
inline constexpr int DRIVER_VERSION = 13000;

/// What cuDeviceGetName says.
inline constexpr const char* DEVICE_NAME = "Cuprum Emulated Device";

/// Returns the UUID of a device.
[[nodiscard]] constexpr std::array<std::uint8_t, 16> device_uuid(int ordinal,
                                                                 std::uint32_t compute_major) {
    std::array<std::uint8_t, 16> uuid{'C', 'u', 'p', 'r', 'u', 'm', 'E',
                                      'm', 'u', 'l', 'a', 't', 'o', 'r'};
    uuid[14] = static_cast<std::uint8_t>(compute_major);
    uuid[15] = static_cast<std::uint8_t>(ordinal);
    return uuid;
}

/// Returns the number of the PCI bus of a device; domain, device and function are 0.
[[nodiscard]] constexpr int pci_bus(int ordinal) {
    return ordinal + 1;
}

} // namespace cuprum::emulator
