// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The class cuprum.system.Device: how it is found and what it is. Its state is bound in
// bind_system_device_state.cpp.

#include "device/device_objects.hpp"
#include "support/compatibility.hpp"
#include "system/system_objects.hpp"

#include <cuprum/error.hpp>
#include <cuprum/system/inforom.hpp>
#include <cuprum/system/mig.hpp>
#include <cuprum/system/pci_info.hpp>
#include <cuprum/system/system.hpp>

#include <nanobind/operators.h>
#include <nanobind/stl/string.h>

#include <limits>

namespace cuprum::python {

using namespace nb::literals;
using SystemDevice = system::Device;

namespace {

SystemDevice find_system_device(nb::handle index, nb::handle uuid, nb::handle pci_bus_id,
                                nb::handle serial) {
    const int count = static_cast<int>(!index.is_none()) + static_cast<int>(!uuid.is_none()) +
                      static_cast<int>(!pci_bus_id.is_none()) + static_cast<int>(!serial.is_none());
    if (count > 1) {
        raise_error(PyExc_ValueError,
                    "Device takes only one of index, uuid, pci_bus_id and serial, got " +
                        std::to_string(count));
    }
    if (count == 0) {
        raise_error(PyExc_ValueError,
                    "Device needs either a device index, or one of uuid, pci_bus_id and serial");
    }
    if (!index.is_none()) {
        const nb::object whole = nb::steal(PyNumber_Index(index.ptr()));
        if (!whole.is_valid()) {
            clear_error(PyExc_TypeError);
            raise_error(PyExc_TypeError, "index must be an int, got " + type_label(index));
        }
        const long number = PyLong_AsLong(whole.ptr());
        if (number == -1 && PyErr_Occurred() != nullptr) {
            clear_error(PyExc_OverflowError);
            raise_error(PyExc_ValueError,
                        "index is " + repr_text(index) + ", expected the number of a device");
        }
        if (number < 0 || number > std::numeric_limits<int>::max()) {
            raise_error(PyExc_ValueError, "index is " + std::to_string(number) +
                                              ", expected at least 0: devices are counted from 0");
        }
        return ask([&] { return SystemDevice(static_cast<int>(number)); });
    }
    if (!uuid.is_none()) {
        const std::string wanted = text_argument(uuid, "uuid");
        return ask([&] { return SystemDevice::from_uuid(wanted); });
    }
    if (!pci_bus_id.is_none()) {
        const std::string wanted = text_argument(pci_bus_id, "pci_bus_id");
        return ask([&] { return SystemDevice::from_pci_bus_id(wanted); });
    }
    const std::string wanted = text_argument(serial, "serial");
    return ask([&] { return SystemDevice::from_serial(wanted); });
}

unsigned device_index(const SystemDevice& self) {
    return ask([&] { return self.index(); });
}

nb::object device_uuid(const SystemDevice& self) {
    return text_object(ask([&] { return self.uuid(); }));
}

nb::object device_bare_uuid(const SystemDevice& self) {
    return text_object(ask([&] { return self.uuid_without_prefix(); }));
}

nb::object device_name(const SystemDevice& self) {
    return text_object(ask([&] { return self.name(); }));
}

nb::object device_brand(const SystemDevice& self) {
    return text_object(ask([&] { return self.brand(); }));
}

nb::object device_serial(const SystemDevice& self) {
    return text_object(ask([&] { return self.serial(); }));
}

nb::object device_vbios(const SystemDevice& self) {
    return text_object(ask([&] { return self.vbios_version(); }));
}

unsigned device_minor_number(const SystemDevice& self) {
    return ask([&] { return self.minor_number(); });
}

unsigned device_module_id(const SystemDevice& self) {
    return ask([&] { return self.module_id(); });
}

int device_numa_node(const SystemDevice& self) {
    return ask([&] { return self.numa_node_id(); });
}

nb::object device_arch(const SystemDevice& self) {
    static std::atomic<PyObject*> architectures{nullptr};
    const system::DeviceArch arch = ask([&] { return self.arch(); });
    PyObject* type = architectures.load(std::memory_order_acquire);
    if (type == nullptr) {
        type = nb::object(nb::module_::import_("cuprum.system.typing").attr("DeviceArch"))
                   .release()
                   .ptr();
        architectures.store(type, std::memory_order_release);
    }
    const bool is_known =
        arch >= system::DeviceArch::Kepler && arch <= system::DeviceArch::Blackwell;
    return nb::borrow(type)(static_cast<unsigned>(is_known ? arch : system::DeviceArch::Unknown));
}

nb::object device_capability(const SystemDevice& self) {
    const auto capability = ask([&] { return self.compute_capability(); });
    return nb::make_tuple(capability.major, capability.minor);
}

/// Returns the PCI address. A MIG device has none.
system::PciInfo pci_info_of(const SystemDevice& self) {
    constexpr int invalid_argument = 2;
    try {
        return ask([&] { return self.pci_info(); });
    } catch (const NVMLError& error) {
        if (error.code() != invalid_argument) {
            throw;
        }
        raise_error(PyExc_RuntimeError, "this device does not have PCI attributes, as a MIG device "
                                        "does not; ask mig.parent");
    }
}

nb::object device_pci_info(const SystemDevice& self) {
    return make<system::PciInfo>(pci_info_of(self));
}

nb::object device_pci_bus_id(const SystemDevice& self) {
    return text_object(pci_info_of(self).bus_id());
}

nb::object device_attributes(const SystemDevice& self) {
    return make<system::DeviceAttributes>(ask([&] { return self.attributes(); }));
}

nb::object device_inforom(const SystemDevice& self) {
    return make<system::Inforom>(self.inforom());
}

nb::object device_mig(const SystemDevice& self) {
    return make<system::Mig>(self.mig());
}

nb::object device_to_cuda(const SystemDevice& self) {
    return device_object(ask([&] { return self.to_cuda_device(); }));
}

void bind_identity(nb::class_<SystemDevice>& type) {
    fast_property<device_index>(type, "def index(self) -> int",
                                "Return NVML's index, which may differ from CUDA's ordinal.");
    fast_property<device_uuid>(type, "def uuid(self) -> str",
                               "Return the UUID with its prefix, ``GPU-`` or ``MIG-``.");
    fast_property<device_bare_uuid>(type, "def uuid_without_prefix(self) -> str",
                                    "Return the UUID as CUDA writes it.");
    fast_property<device_pci_bus_id>(type, "def pci_bus_id(self) -> str",
                                     "Return the PCI address, such as ``00000000:65:00.0``.");
    fast_property<device_name>(type, "def name(self) -> str", "Return the model's name.");
    fast_property<device_brand>(type, "def brand(self) -> str",
                                "Return the brand, ``Unknown`` for one that is not known here.");
    fast_property<device_serial>(type, "def serial(self) -> str",
                                 "Return the serial number of the board.");
    fast_property<device_vbios>(type, "def vbios_version(self) -> str",
                                "Return the version of the device's BIOS.");
    fast_property<device_arch>(type, "def arch(self) -> cuprum.system.typing.DeviceArch",
                               "Return the architecture.");
    fast_property<device_capability>(type, "def cuda_compute_capability(self) -> tuple[int, int]",
                                     "Return the compute capability as ``(major, minor)``.");
    fast_property<device_minor_number>(type, "def minor_number(self) -> int",
                                       "Return the number in the device file, ``/dev/nvidia0``.");
    fast_property<device_module_id>(type, "def module_id(self) -> int",
                                    "Return the number of the module on its baseboard.");
    fast_property<device_numa_node>(
        type, "def numa_node_id(self) -> int",
        "Return the NUMA node that the device's memory is, where it is one.");
    fast_property<device_attributes>(type, "def attributes(self) -> DeviceAttributes",
                                     "Return engines and slices.");
    fast_property<device_pci_info>(type, "def pci_info(self) -> PciInfo",
                                   R"(Return the device's place on the PCI bus.

Raises
------
RuntimeError
    If it has none, as a MIG device.)");
    fast_property<device_inforom>(type, "def inforom(self) -> InforomInfo",
                                  "Return the memory that identifies the board.");
    fast_property<device_mig>(type, "def mig(self) -> MigInfo",
                              "Return the division of the device into smaller ones.");
    fast_method<device_to_cuda>(type, "def to_cuda_device(self) -> Device",
                                R"(Return the same device as CUDA knows it. Starts the driver.

Returns
-------
Device
    The device of `cuprum`.

Raises
------
RuntimeError
    If CUDA does not see it, as with ``CUDA_VISIBLE_DEVICES`` or MIG.)");
}

void bind_finding(nb::class_<SystemDevice>& type) {
    type.def_static(
        "get_device_count", [] { return ask([] { return SystemDevice::count(); }); },
        R"(Return the number of devices that NVML sees.

Returns
-------
int
    The number.

Raises
------
LibraryNotFoundError
    If there is no NVML. The text shows the places that were searched.
NvmlError
    If NVML cannot answer.)");
    type.def_static(
        "get_all_devices", [] { return object_iterator(ask([] { return SystemDevice::all(); })); },
        nb::sig("def get_all_devices() -> collections.abc.Iterator[SystemDevice]"),
        R"(Return an iterator over all devices, in NVML's order.

Returns
-------
Iterator[SystemDevice]
    The devices.

Raises
------
LibraryNotFoundError
    If there is no NVML. The text shows the places that were searched.
NvmlError
    If NVML cannot answer.)");
    type.def_static(
        "get_all_devices_with_cpu_affinity",
        [](nb::handle cpu_index) {
            const unsigned cpu = unsigned_argument(cpu_index, "cpu_index");
            return object_iterator(ask([&] { return SystemDevice::with_cpu_affinity(cpu); }));
        },
        "cpu_index"_a,
        nb::sig("def get_all_devices_with_cpu_affinity(cpu_index: int) -> "
                "collections.abc.Iterator[SystemDevice]"),
        R"(Return an iterator over the devices near a CPU.

Parameters
----------
cpu_index : int
    The number of the CPU.

Returns
-------
Iterator[SystemDevice]
    The devices.

Raises
------
ValueError
    If the number is negative.
InvalidArgumentError
    If there is no such CPU.
LibraryNotFoundError
    If there is no NVML. The text shows the places that were searched.)");
    type.def(
        "__eq__", [](const SystemDevice& self, const SystemDevice& other) { return self == other; },
        nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"));
    type.def("__hash__", [](const SystemDevice& self) { return std::hash<SystemDevice>()(self); });
    type.def("__repr__", [](const SystemDevice& self) {
        return ask([&] {
            return "<system.Device " + std::to_string(self.index()) + " (" + self.name() + ")>";
        });
    });
    type.def("__reduce__", [](const SystemDevice& self) {
        return nb::make_tuple(nb::module_::import_("cuprum.system._pickling").attr("device"),
                              nb::make_tuple(device_uuid(self)));
    });
    // Programs pass it to other bindings of NVML.
    type.def_prop_ro(
        "handle",
        [](const SystemDevice& self) { return reinterpret_cast<std::uintptr_t>(self.handle()); },
        "Return NVML's handle as an int.");
}

} // namespace

void bind_system_device(nb::module_& module) {
    nb::class_<SystemDevice> type(module, "SystemDevice", nb::is_weak_referenceable(),
                                  R"(One device as the management library (NVML) knows it.

Nothing here starts CUDA, except ``to_cuda_device``. Properties ask NVML each time. What the device
does not have raises NotSupportedError.

Parameters
----------
index : int, optional
    NVML's index, from 0.
uuid : str or bytes, optional
    With or without the prefix ``GPU-`` or ``MIG-``.
pci_bus_id : str or bytes, optional
    Such as ``0000:65:00.0``.
serial : str or bytes, optional
    The serial number of the board.

Raises
------
ValueError
    Unless exactly one of them is given.
NotFoundError, InvalidArgumentError
    If there is no such device; the text lists those that there are.

Examples
--------
>>> device = cuprum.system.Device(index=0)
>>> device.memory_info.total > 0
True)");
    note_type<SystemDevice>(type);
    type.def(
        "__init__",
        [](SystemDevice* self, nb::handle index, nb::handle uuid, nb::handle pci_bus_id,
           nb::handle serial) {
            new (self) SystemDevice(find_system_device(index, uuid, pci_bus_id, serial));
        },
        nb::kw_only(), "index"_a = nb::none(), "uuid"_a = nb::none(), "pci_bus_id"_a = nb::none(),
        "serial"_a = nb::none(),
        nb::sig("def __init__(self, *, index: int | None = None, uuid: str | bytes | None = None, "
                "pci_bus_id: str | bytes | None = None, serial: str | bytes | None = None) -> "
                "None"));
    bind_finding(type);
    bind_identity(type);
    add_device_state(type);
}

} // namespace cuprum::python
