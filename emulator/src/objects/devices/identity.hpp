// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// How programs recognise the emulated devices. The emulated NVML uses it too, so that both
// libraries name a device alike.

#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace cuprum::emulator {

/// The CUDA version that the emulated driver reports: the newest whose compilers are tested.
inline constexpr int DEFAULT_DRIVER_VERSION = 13040;

/// The environment variable that changes it, such as CUPRUM_EMULATOR_DRIVER_VERSION=12.4.
inline constexpr const char* DRIVER_VERSION_VARIABLE = "CUPRUM_EMULATOR_DRIVER_VERSION";

/// Returns 13040 for "13.4", and 0 for anything that is no version from 12.0 to 13.9.
[[nodiscard]] constexpr int parse_driver_version(std::string_view text) noexcept {
    const bool is_version = text.size() == 4 && text[0] == '1' &&
                            (text[1] == '2' || text[1] == '3') && text[2] == '.' &&
                            text[3] >= '0' && text[3] <= '9';
    return is_version ? 10000 + (text[1] - '0') * 1000 + (text[3] - '0') * 10 : 0;
}

/// Returns the CUDA version that the emulated driver reports. cuInit refuses invalid values of the
/// variable; they count as unset here.
[[nodiscard]] inline int driver_version() noexcept {
    static const int version = [] {
        const char* const text = ::secure_getenv(DRIVER_VERSION_VARIABLE);
        const int wanted = text != nullptr ? parse_driver_version(text) : 0;
        return wanted != 0 ? wanted : DEFAULT_DRIVER_VERSION;
    }();
    return version;
}

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
