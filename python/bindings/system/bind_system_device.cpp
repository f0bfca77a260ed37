// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The class cuprum.system.Device: how it is found and what it is. Its state is bound in
// bind_system_device_state.cpp.

#include "device/device_objects.hpp"
#include "support/class.hpp"
#include "support/compatibility.hpp"
#include "system/system_objects.hpp"

#include <cuprum/system/inforom.hpp>
#include <cuprum/system/mig.hpp>
#include <cuprum/system/pci_info.hpp>
#include <cuprum/system/system.hpp>

#include <limits>

namespace cuprum::python {

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
        return without_gil([&] { return SystemDevice(static_cast<int>(number)); });
    }
    if (!uuid.is_none()) {
        const std::string wanted = text_argument(uuid, "uuid");
        return without_gil([&] { return SystemDevice::from_uuid(wanted); });
    }
    if (!pci_bus_id.is_none()) {
        const std::string wanted = text_argument(pci_bus_id, "pci_bus_id");
        return without_gil([&] { return SystemDevice::from_pci_bus_id(wanted); });
    }
    const std::string wanted = text_argument(serial, "serial");
    return without_gil([&] { return SystemDevice::from_serial(wanted); });
}

unsigned device_index(const SystemDevice& self) {
    return without_gil([&] { return self.index(); });
}

nb::object device_uuid(const SystemDevice& self) {
    return text_object(without_gil([&] { return self.uuid(); }));
}

nb::object device_bare_uuid(const SystemDevice& self) {
    return text_object(without_gil([&] { return self.uuid_without_prefix(); }));
}

nb::object device_name(const SystemDevice& self) {
    return text_object(without_gil([&] { return self.name(); }));
}

nb::object device_brand(const SystemDevice& self) {
    return text_object(without_gil([&] { return self.brand(); }));
}

nb::object device_serial(const SystemDevice& self) {
    return text_object(without_gil([&] { return self.serial(); }));
}

nb::object device_vbios(const SystemDevice& self) {
    return text_object(without_gil([&] { return self.vbios_version(); }));
}

unsigned device_minor_number(const SystemDevice& self) {
    return without_gil([&] { return self.minor_number(); });
}

unsigned device_module_id(const SystemDevice& self) {
    return without_gil([&] { return self.module_id(); });
}

int device_numa_node(const SystemDevice& self) {
    return without_gil([&] { return self.numa_node_id(); });
}

nb::object device_arch(const SystemDevice& self) {
    static std::atomic<PyObject*> architectures{nullptr};
    const system::DeviceArch arch = without_gil([&] { return self.arch(); });
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
    const auto capability = without_gil([&] { return self.compute_capability(); });
    return nb::make_tuple(capability.major, capability.minor);
}

/// Returns the PCI address. A MIG device has none.
system::PciInfo pci_info_of(const SystemDevice& self) {
    constexpr int invalid_argument = 2;
    try {
        return without_gil([&] { return self.pci_info(); });
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
    return make<system::DeviceAttributes>(without_gil([&] { return self.attributes(); }));
}

nb::object device_inforom(const SystemDevice& self) {
    return make<system::Inforom>(self.inforom());
}

nb::object device_mig(const SystemDevice& self) {
    return make<system::Mig>(self.mig());
}

nb::object device_to_cuda(const SystemDevice& self) {
    return device_object(without_gil([&] { return self.to_cuda_device(); }));
}

void bind_identity(Class<SystemDevice>& type) {
    type.property("index", device_index);
    type.property("uuid", device_uuid);
    type.property("uuid_without_prefix", device_bare_uuid);
    type.property("pci_bus_id", device_pci_bus_id);
    type.property("name", device_name);
    type.property("brand", device_brand);
    type.property("serial", device_serial);
    type.property("vbios_version", device_vbios);
    type.property("arch", device_arch);
    type.property("cuda_compute_capability", device_capability);
    type.property("minor_number", device_minor_number);
    type.property("module_id", device_module_id);
    type.property("numa_node_id", device_numa_node);
    type.property("attributes", device_attributes);
    type.property("pci_info", device_pci_info);
    type.property("inforom", device_inforom);
    type.property("mig", device_mig);
    type.method<device_to_cuda>("to_cuda_device");
}

void bind_finding(Class<SystemDevice>& type) {
    type.static_method("get_device_count",
                       [] { return without_gil([] { return SystemDevice::count(); }); });
    type.static_method("get_all_devices", [] {
        return object_iterator(without_gil([] { return SystemDevice::all(); }));
    });
    type.static_method("get_all_devices_with_cpu_affinity", [](nb::handle cpu_index) {
        const unsigned cpu = unsigned_argument(cpu_index, "cpu_index");
        return object_iterator(without_gil([&] { return SystemDevice::with_cpu_affinity(cpu); }));
    });
    type.method("__eq__",
                [](const SystemDevice& self, const SystemDevice& other) { return self == other; });
    type.method("__hash__",
                [](const SystemDevice& self) { return std::hash<SystemDevice>()(self); });
    type.method("__repr__", [](const SystemDevice& self) {
        return without_gil([&] {
            return "<system.Device " + std::to_string(self.index()) + " (" + self.name() + ")>";
        });
    });
    type.method("__reduce__", [](const SystemDevice& self) {
        return nb::make_tuple(nb::module_::import_("cuprum.system._pickling").attr("device"),
                              nb::make_tuple(device_uuid(self)));
    });
    // Programs pass it to other bindings of NVML.
    type.property("handle", [](const SystemDevice& self) {
        return reinterpret_cast<std::uintptr_t>(self.handle());
    });
}

} // namespace

void bind_system_device(nb::module_& module) {
    Class<SystemDevice> type(module, "SystemDevice", nb::is_weak_referenceable());
    type.constructor([](SystemDevice* self, nb::handle index, nb::handle uuid,
                        nb::handle pci_bus_id, nb::handle serial) {
        new (self) SystemDevice(find_system_device(index, uuid, pci_bus_id, serial));
    });
    bind_finding(type);
    bind_identity(type);
    add_device_state(type);
}

} // namespace cuprum::python
