// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// How a device is connected and divided: PCI, NVLink, MIG.

#include "support/class.hpp"
#include "system/system_objects.hpp"

#include <cuprum/system/mig.hpp>
#include <cuprum/system/nvlink.hpp>
#include <cuprum/system/pci_info.hpp>

namespace cuprum::python {

namespace {

using system::Mig;
using system::NvLink;
using system::PciInfo;

unsigned pci_link_generation(const PciInfo& self) {
    return without_gil([&] { return self.link_generation(); });
}

unsigned pci_max_link_generation(const PciInfo& self) {
    return without_gil([&] { return self.max_link_generation(); });
}

unsigned pci_max_link_width(const PciInfo& self) {
    return without_gil([&] { return self.max_link_width(); });
}

unsigned pci_current_link_generation(const PciInfo& self) {
    return without_gil([&] { return self.current_link_generation(); });
}

unsigned pci_current_link_width(const PciInfo& self) {
    return without_gil([&] { return self.current_link_width(); });
}

unsigned pci_rx(const PciInfo& self) {
    return without_gil([&] { return self.rx_throughput(); });
}

unsigned pci_tx(const PciInfo& self) {
    return without_gil([&] { return self.tx_throughput(); });
}

unsigned pci_replays(const PciInfo& self) {
    return without_gil([&] { return self.replay_counter(); });
}

void bind_pci(nb::module_& module) {
    Class<PciInfo> type(module, "PciInfo");
    type.property("bus_id", &PciInfo::bus_id)
        .property("bus", &PciInfo::bus)
        .property("device", &PciInfo::device)
        .property("domain", &PciInfo::domain)
        .property("vendor_id", &PciInfo::vendor_id)
        .property("device_id", &PciInfo::device_id)
        .property("subsystem_id", &PciInfo::subsystem_id)
        .property("base_class", &PciInfo::base_class)
        .property("sub_class", &PciInfo::sub_class)
        .method("__repr__", [](const PciInfo& self) { return "<PciInfo " + self.bus_id() + ">"; });
    type.property("link_generation", pci_link_generation);
    type.property("max_link_generation", pci_max_link_generation);
    type.property("max_link_width", pci_max_link_width);
    type.property("current_link_generation", pci_current_link_generation);
    type.property("current_link_width", pci_current_link_width);
    type.property("rx_throughput", pci_rx);
    type.property("tx_throughput", pci_tx);
    type.property("replay_counter", pci_replays);
}

nb::object nvlink_version(const NvLink& self) {
    const auto version = without_gil([&] { return self.version(); });
    return nb::make_tuple(version.major, version.minor);
}

bool nvlink_state(const NvLink& self) {
    return without_gil([&] { return self.is_active(); });
}

void bind_nvlink(nb::module_& module) {
    Class<NvLink> type(module, "NvlinkInfo");
    type.property("version", nvlink_version);
    type.property("state", nvlink_state);
    static_cast<nb::class_<NvLink>&>(type).def_prop_ro_static(
        "max_links",
        [](nb::handle) {
            constexpr int most = 18;
            if (PyErr_WarnEx(PyExc_DeprecationWarning,
                             "max_links is deprecated; Device.get_nvlink_count() returns how many "
                             "links a device has",
                             1) != 0) {
                throw nb::python_error();
            }
            return most;
        },
        stub_entry("NvlinkInfo", "max_links").text);
}

bool mig_is_device(const Mig& self) {
    return without_gil([&] { return self.is_mig_device(); });
}

bool mig_pending(const Mig& self) {
    return without_gil([&] { return self.is_pending(); });
}

unsigned mig_count(const Mig& self) {
    return without_gil([&] { return self.device_count(); });
}

nb::object mig_parent(const Mig& self) {
    return make<system::Device>(without_gil([&] { return self.parent(); }));
}

nb::object mig_device(const Mig& self, nb::handle index) {
    const unsigned number = unsigned_argument(index, "index");
    return make<system::Device>(without_gil([&] { return self.device(number); }));
}

nb::object mig_devices(const Mig& self) {
    return object_iterator(without_gil([&] { return self.devices(); }));
}

void bind_mig(nb::module_& module) {
    Class<Mig> type(module, "MigInfo");
    type.property("is_mig_device", mig_is_device);
    type.property(
        "mode", [](const Mig& self) { return without_gil([&] { return self.is_enabled(); }); },
        [](const Mig& self, nb::handle mode) {
            const bool wanted = bool_argument(mode, "mode");
            without_gil([&] { self.set_enabled(wanted); });
        });
    type.property("pending_mode", mig_pending);
    type.property("device_count", mig_count);
    type.property("parent", mig_parent);
    type.method<mig_device>("get_device_by_index");
    type.method<mig_devices>("get_all_devices");
}

} // namespace

void bind_system_links(nb::module_& module) {
    bind_pci(module);
    bind_nvlink(module);
    bind_mig(module);
}

} // namespace cuprum::python
