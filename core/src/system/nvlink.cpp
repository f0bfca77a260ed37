// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/system/nvlink.hpp>

#include "system/query.hpp"

#include <array>
#include <stdexcept>
#include <string>

namespace cuprum::system {

NvLinkVersion NvLink::version() const {
    // By NVML's number; 0 stands for an invalid version.
    static constexpr std::array<NvLinkVersion, 9> VERSIONS{
        {{0, 0}, {1, 0}, {2, 0}, {2, 2}, {3, 0}, {3, 1}, {4, 0}, {5, 0}, {6, 0}}};
    const auto number = query<unsigned>(nvml::table().nvmlDeviceGetNvLinkVersion, device_, index_);
    if (number == 0 || number >= VERSIONS.size()) {
        throw std::runtime_error("NVML reports version number " + std::to_string(number) +
                                 " for NVLink " + std::to_string(index_) +
                                 ", which is not known here; update Cuprum");
    }
    return VERSIONS[number];
}

bool NvLink::is_active() const {
    return query_enabled(nvml::table().nvmlDeviceGetNvLinkState, device_, index_);
}

} // namespace cuprum::system
