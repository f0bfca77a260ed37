// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// NVIDIA documents lists, UUIDs, the order and what ends a list. That a number may be followed by
// other characters, and that a repeated device hides all, is what users of drivers 510 to 550 saw.

#include "objects/devices/visible_devices.hpp"

#include "objects/devices/identity.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <string>

namespace cuprum::emulator {

namespace {

constexpr int NONE = -1;
constexpr std::string_view UUID_PREFIX = "GPU-";

std::string uuid_text(int device, std::uint32_t compute_major) {
    std::string text(UUID_PREFIX);
    std::size_t index = 0;
    for (const std::uint8_t byte : device_uuid(device, compute_major)) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", byte);
        text += index == 4 || index == 6 || index == 8 || index == 10 ? "-" : "";
        text += digits;
        ++index;
    }
    return text;
}

/// Returns the number that an entry begins with, as strtol() reads it.
int number_of(std::string_view entry) {
    std::size_t at = 0;
    while (at < entry.size() && std::isspace(static_cast<unsigned char>(entry[at])) != 0) {
        ++at;
    }
    at += at < entry.size() && entry[at] == '+' ? 1 : 0;
    int number = NONE;
    for (; at < entry.size() && entry[at] >= '0' && entry[at] <= '9'; ++at) {
        constexpr int beyond_all = 1 << 20;
        number = std::min(beyond_all, std::max(number, 0) * 10 + (entry[at] - '0'));
    }
    return number;
}

/// Returns the only device whose UUID begins with an entry.
int device_of(std::string_view entry, std::uint32_t device_count, std::uint32_t compute_major) {
    int found = NONE;
    for (int device = 0; device < static_cast<int>(device_count); ++device) {
        if (uuid_text(device, compute_major).starts_with(entry)) {
            if (found != NONE) {
                return NONE;
            }
            found = device;
        }
    }
    return found;
}

} // namespace

std::vector<int> visible_devices(std::string_view list, std::uint32_t device_count,
                                 std::uint32_t compute_major) {
    const bool has_uuids = list.starts_with(UUID_PREFIX);
    std::vector<int> devices;
    for (std::size_t at = 0; at <= list.size();) {
        const std::size_t end = std::min(list.find(',', at), list.size());
        const std::string_view entry = list.substr(at, end - at);
        const bool is_uuid = has_uuids && entry.starts_with(UUID_PREFIX);
        const int device = is_uuid     ? device_of(entry, device_count, compute_major)
                           : has_uuids ? NONE
                                       : number_of(entry);
        if (device == NONE || device >= static_cast<int>(device_count)) {
            break;
        }
        if (std::ranges::find(devices, device) != devices.end()) {
            return {};
        }
        devices.push_back(device);
        at = end + 1;
    }
    return devices;
}

} // namespace cuprum::emulator
