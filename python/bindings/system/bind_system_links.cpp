// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// How a device is connected and divided: PCI, NVLink, MIG.

#include "system/system_objects.hpp"

#include <cuprum/system/mig.hpp>
#include <cuprum/system/nvlink.hpp>
#include <cuprum/system/pci_info.hpp>

#include <nanobind/stl/string.h>

namespace cuprum::python {

using namespace nb::literals;

namespace {

using system::Mig;
using system::NvLink;
using system::PciInfo;

unsigned pci_link_generation(const PciInfo& self) {
    return ask([&] { return self.link_generation(); });
}

unsigned pci_max_link_generation(const PciInfo& self) {
    return ask([&] { return self.max_link_generation(); });
}

unsigned pci_max_link_width(const PciInfo& self) {
    return ask([&] { return self.max_link_width(); });
}

unsigned pci_current_link_generation(const PciInfo& self) {
    return ask([&] { return self.current_link_generation(); });
}

unsigned pci_current_link_width(const PciInfo& self) {
    return ask([&] { return self.current_link_width(); });
}

unsigned pci_rx(const PciInfo& self) {
    return ask([&] { return self.rx_throughput(); });
}

unsigned pci_tx(const PciInfo& self) {
    return ask([&] { return self.tx_throughput(); });
}

unsigned pci_replays(const PciInfo& self) {
    return ask([&] { return self.replay_counter(); });
}

void bind_pci(nb::module_& module) {
    nb::class_<PciInfo> type(
        module, "PciInfo",
        R"(A device on the PCI bus. The address is read once, the rest each time.

Examples
--------
>>> cuprum.system.Device(index=0).pci_info.bus_id
'00000000:01:00.0')");
    note_type<PciInfo>(type);
    type.def_prop_ro("bus_id", &PciInfo::bus_id,
                     "Return the address, such as ``00000000:65:00.0``. CUDA writes four digits of "
                     "the domain.")
        .def_prop_ro("bus", &PciInfo::bus, "Return the number of the bus.")
        .def_prop_ro("device", &PciInfo::device, "Return the number on the bus.")
        .def_prop_ro("domain", &PciInfo::domain, "Return the domain of the bus.")
        .def_prop_ro("vendor_id", &PciInfo::vendor_id, "Return the maker, 0x10de for NVIDIA.")
        .def_prop_ro("device_id", &PciInfo::device_id, "Return the number of the model.")
        .def_prop_ro("subsystem_id", &PciInfo::subsystem_id, "Return the number of the board.")
        .def_prop_ro("base_class", &PciInfo::base_class, "Return the class, 3 for displays.")
        .def_prop_ro("sub_class", &PciInfo::sub_class, "Return the class within that.")
        .def("__repr__", [](const PciInfo& self) { return "<PciInfo " + self.bus_id() + ">"; });
    fast_property<pci_link_generation>(type, "def link_generation(self) -> int",
                                       "Return the newest PCIe that device and slot share.");
    fast_property<pci_max_link_generation>(type, "def max_link_generation(self) -> int",
                                           "Return the newest PCIe that the device supports.");
    fast_property<pci_max_link_width>(type, "def max_link_width(self) -> int",
                                      "Return the lanes that device and slot share.");
    fast_property<pci_current_link_generation>(type, "def current_link_generation(self) -> int",
                                               "Return the generation in use.");
    fast_property<pci_current_link_width>(type, "def current_link_width(self) -> int",
                                          "Return the lanes in use.");
    fast_property<pci_rx>(type, "def rx_throughput(self) -> int",
                          "Return what the device received, in KB/s. Measures for 20 ms.");
    fast_property<pci_tx>(type, "def tx_throughput(self) -> int",
                          "Return what the device sent, in KB/s. Measures for 20 ms.");
    fast_property<pci_replays>(type, "def replay_counter(self) -> int",
                               "Return how often data had to be sent again.");
}

nb::object nvlink_version(const NvLink& self) {
    const auto version = ask([&] { return self.version(); });
    return nb::make_tuple(version.major, version.minor);
}

bool nvlink_state(const NvLink& self) {
    return ask([&] { return self.is_active(); });
}

void bind_nvlink(nb::module_& module) {
    nb::class_<NvLink> type(module, "NvlinkInfo", R"(One NVLink of a device.

Examples
--------
>>> for link in cuprum.system.Device(index=0).get_nvlinks():  # doctest: +SKIP
...     print(link.version, link.state))");
    note_type<NvLink>(type);
    fast_property<nvlink_version>(type, "def version(self) -> tuple[int, int]",
                                  "Return the version as ``(major, minor)``.");
    fast_property<nvlink_state>(type, "def state(self) -> bool",
                                "Return whether the link is active.");
    type.def_prop_ro_static(
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
        "Return the number of links that a device may have at most; deprecated.");
}

bool mig_is_device(const Mig& self) {
    return ask([&] { return self.is_mig_device(); });
}

bool mig_pending(const Mig& self) {
    return ask([&] { return self.is_pending(); });
}

unsigned mig_count(const Mig& self) {
    return ask([&] { return self.device_count(); });
}

nb::object mig_parent(const Mig& self) {
    return make<system::Device>(ask([&] { return self.parent(); }));
}

nb::object mig_device(const Mig& self, nb::handle index) {
    const unsigned number = unsigned_argument(index, "index");
    return make<system::Device>(ask([&] { return self.device(number); }));
}

nb::object mig_devices(const Mig& self) {
    return object_iterator(ask([&] { return self.devices(); }));
}

void bind_mig(nb::module_& module) {
    nb::class_<Mig> type(module, "MigInfo", R"(The division of a device into smaller ones.

Examples
--------
>>> cuprum.system.Device(index=0).mig.is_mig_device
False)");
    note_type<Mig>(type);
    fast_property<mig_is_device>(type, "def is_mig_device(self) -> bool",
                                 "Return whether the device is itself a part of another.");
    type.def_prop_rw(
        "mode", [](const Mig& self) { return ask([&] { return self.is_enabled(); }); },
        [](const Mig& self, nb::handle mode) {
            const bool wanted = bool_argument(mode, "mode");
            ask([&] { self.set_enabled(wanted); });
        },
        nb::for_getter(nb::sig("def mode(self) -> bool")),
        nb::for_setter(nb::sig("def mode(self, mode: bool, /) -> None")),
        nb::for_getter("Return or set whether the device is divided. Setting it needs root, and on "
                       "some devices a reset."));
    fast_property<mig_pending>(type, "def pending_mode(self) -> bool",
                               "Return whether the device is divided after the next reset.");
    fast_property<mig_count>(type, "def device_count(self) -> int",
                             "Return how many parts there can be at most, 0 if none.");
    fast_property<mig_parent>(type, "def parent(self) -> SystemDevice",
                              "Return the device that this one is a part of.");
    fast_method<mig_device>(type, "def get_device_by_index(self, index: int) -> SystemDevice",
                            R"(Return a part by its index.

Parameters
----------
index : int
    Less than ``device_count``.

Returns
-------
SystemDevice
    The part, as a device.

Raises
------
NotFoundError
    If there is none with this index.)");
    fast_method<mig_devices>(type,
                             "def get_all_devices(self) -> collections.abc.Iterator[SystemDevice]",
                             R"(Return an iterator over the parts that exist.

Returns
-------
Iterator[SystemDevice]
    The parts, as devices.

Raises
------
NvmlError
    If NVML cannot answer.)");
}

} // namespace

void bind_system_links(nb::module_& module) {
    bind_pci(module);
    bind_nvlink(module);
    bind_mig(module);
}

} // namespace cuprum::python
