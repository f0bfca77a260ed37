// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/export.hpp>
#include <cuprum/detail/nvml_types.hpp>

#include <cstdint>
#include <string>

namespace cuprum::system {

/// A device on the PCI bus, from Device::pci_info(). The address is read once, the rest each time.
///
/// @code
/// const cuprum::system::PciInfo pci = cuprum::system::Device(0).pci_info();
/// std::printf("%s, vendor %x\n", pci.bus_id().c_str(), pci.vendor_id());
/// @endcode
class CUPRUM_API PciInfo {
public:
    /// Returns the address as "00000000:65:00.0". CUDA writes its domain with four digits.
    [[nodiscard]] const std::string& bus_id() const noexcept { return bus_id_; }

    /// Returns the domain.
    [[nodiscard]] unsigned domain() const noexcept { return domain_; }

    /// Returns the bus.
    [[nodiscard]] unsigned bus() const noexcept { return bus_; }

    /// Returns the number of the device on the bus.
    [[nodiscard]] unsigned device() const noexcept { return device_number_; }

    /// Returns the number of the vendor; NVIDIA's is 0x10de.
    [[nodiscard]] unsigned vendor_id() const noexcept { return pci_device_id_ & 0xffffU; }

    /// Returns the number of the device's type.
    [[nodiscard]] unsigned device_id() const noexcept { return pci_device_id_ >> 16U; }

    /// Returns the number of the board's type.
    [[nodiscard]] unsigned subsystem_id() const noexcept { return subsystem_id_; }

    /// Returns the class, 3 for displays. 0 for drivers before 550.
    [[nodiscard]] unsigned base_class() const noexcept { return base_class_; }

    /// Returns the class within `base_class()`.
    [[nodiscard]] unsigned sub_class() const noexcept { return sub_class_; }

    /// Returns the newest generation of PCIe that device and slot share.
    [[nodiscard]] unsigned link_generation() const;
    /// Returns the newest generation that the device supports.
    [[nodiscard]] unsigned max_link_generation() const;
    /// Returns how many lanes device and slot share.
    [[nodiscard]] unsigned max_link_width() const;
    /// Returns the generation of PCIe that is in use.
    [[nodiscard]] unsigned current_link_generation() const;
    /// Returns the lanes that are in use.
    [[nodiscard]] unsigned current_link_width() const;
    /// Returns what the device received, in KB/s. Measures for 20 ms.
    [[nodiscard]] unsigned rx_throughput() const;
    /// Returns what the device sent, in KB/s. Measures for 20 ms.
    [[nodiscard]] unsigned tx_throughput() const;
    /// Returns how often a packet was sent again.
    [[nodiscard]] unsigned replay_counter() const;

private:
    friend class Device;

    explicit PciInfo(::nvmlDevice_st* device) noexcept : device_(device) {}

    ::nvmlDevice_st* device_;
    std::string bus_id_;
    unsigned domain_ = 0;
    unsigned bus_ = 0;
    unsigned device_number_ = 0;
    unsigned pci_device_id_ = 0;
    unsigned subsystem_id_ = 0;
    unsigned base_class_ = 0;
    unsigned sub_class_ = 0;
};

} // namespace cuprum::system
