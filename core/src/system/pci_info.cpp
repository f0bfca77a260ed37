// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/system/pci_info.hpp>

#include "system/query.hpp"

namespace cuprum::system {

using namespace nvml_abi;

unsigned PciInfo::link_generation() const {
    return query<unsigned>(nvml::table().nvmlDeviceGetMaxPcieLinkGeneration, device_);
}

unsigned PciInfo::max_link_generation() const {
    return query<unsigned>(nvml::table().nvmlDeviceGetGpuMaxPcieLinkGeneration, device_);
}

unsigned PciInfo::max_link_width() const {
    return query<unsigned>(nvml::table().nvmlDeviceGetMaxPcieLinkWidth, device_);
}

unsigned PciInfo::current_link_generation() const {
    return query<unsigned>(nvml::table().nvmlDeviceGetCurrPcieLinkGeneration, device_);
}

unsigned PciInfo::current_link_width() const {
    return query<unsigned>(nvml::table().nvmlDeviceGetCurrPcieLinkWidth, device_);
}

unsigned PciInfo::rx_throughput() const {
    return query<unsigned>(nvml::table().nvmlDeviceGetPcieThroughput, device_,
                           NVML_PCIE_UTIL_RX_BYTES);
}

unsigned PciInfo::tx_throughput() const {
    return query<unsigned>(nvml::table().nvmlDeviceGetPcieThroughput, device_,
                           NVML_PCIE_UTIL_TX_BYTES);
}

unsigned PciInfo::replay_counter() const {
    return query<unsigned>(nvml::table().nvmlDeviceGetPcieReplayCounter, device_);
}

} // namespace cuprum::system
