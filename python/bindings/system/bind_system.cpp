// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The functions of cuprum.system, and the order in which its classes are bound.

#include "bindings.hpp"
#include "system/system_objects.hpp"

#include <cuprum/error.hpp>
#include <cuprum/system/system.hpp>

#include <nanobind/stl/string.h>

#include <limits>

namespace cuprum::python {

using namespace nb::literals;

namespace {

nb::object version_tuple(const std::vector<int>& numbers) {
    nb::list list;
    for (const int number : numbers) {
        list.append(number);
    }
    return nb::tuple(list);
}

const system::Device& system_device_argument(nb::handle value, const char* name) {
    const auto* const device = get_if<system::Device>(value);
    if (device == nullptr) {
        raise_error(PyExc_TypeError, std::string(name) + " must be a cuprum.system.Device, got " +
                                         type_label(value));
    }
    return *device;
}

void bind_versions(nb::module_& module) {
    module.def(
        "get_user_mode_driver_version",
        [] {
            const auto version = ask([] { return system::user_mode_driver_version(); });
            return nb::make_tuple(version.major, version.minor);
        },
        nb::sig("def get_user_mode_driver_version() -> tuple[int, ...]"),
        R"(Return the newest CUDA that the driver supports, as ``(major, minor)``.

Without NVML, the driver itself is asked.

Returns
-------
tuple[int, ...]
    The version.

Raises
------
LibraryNotFoundError
    If there is neither NVML nor a driver.)");
    module.def(
        "get_kernel_mode_driver_version",
        [] { return version_tuple(ask([] { return system::kernel_mode_driver_version(); })); },
        nb::sig("def get_kernel_mode_driver_version() -> tuple[int, ...]"),
        R"(Return the version of the kernel's driver, such as ``(580, 65, 6)``.

Returns
-------
tuple[int, ...]
    The version.

Raises
------
LibraryNotFoundError
    If there is no NVML. The text shows the places that were searched.
NvmlError
    If NVML cannot answer.)");
    module.def(
        "get_nvml_version",
        [] { return version_tuple(ask([] { return system::nvml_version(); })); },
        nb::sig("def get_nvml_version() -> tuple[int, ...]"),
        R"(Return the version of NVML, such as ``(13, 580, 65, 6)``.

Returns
-------
tuple[int, ...]
    The version.

Raises
------
LibraryNotFoundError
    If there is no NVML. The text shows the places that were searched.
NvmlError
    If NVML cannot answer.)");
    module.def(
        "get_driver_branch", [] { return ask([] { return system::driver_branch(); }); },
        R"(Return the branch that the driver is from, such as ``r580_00``.

Returns
-------
str
    The name of the branch.

Raises
------
LibraryNotFoundError
    If there is no NVML. The text shows the places that were searched.
NvmlError
    If NVML cannot answer.)");
    module.def(
        "get_num_devices", [] { return ask([] { return system::Device::count(); }); },
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
    module.def(
        "get_nvml_path", [] { return ask([] { return system::library_path(); }); },
        R"(Return the file that NVML was loaded from. Loads it.

Returns
-------
str
    The path.

Raises
------
LibraryNotFoundError
    With the places that were searched, and what to install.)");
    module.def(
        "get_process_name",
        [](nb::handle pid) {
            const unsigned number = unsigned_argument(pid, "pid");
            return text_object(ask([&] { return system::process_name(number); }));
        },
        "pid"_a, nb::sig("def get_process_name(pid: int) -> str"),
        R"(Return the name of a process that uses a device.

Parameters
----------
pid : int
    The number of the process.

Returns
-------
str
    The name.

Raises
------
NotFoundError
    If the process is gone, or uses no device.)");
}

void bind_topology(nb::module_& module) {
    module.def(
        "get_topology_common_ancestor",
        [](nb::handle device1, nb::handle device2) {
            const system::Device first = system_device_argument(device1, "device1");
            const system::Device second = system_device_argument(device2, "device2");
            return member(ask([&] { return system::topology_common_ancestor(first, second); }));
        },
        "device1"_a, "device2"_a,
        nb::sig("def get_topology_common_ancestor(device1: SystemDevice, device2: SystemDevice) "
                "-> cuprum.system.typing.GpuTopologyLevel"),
        R"(Return where the paths of two devices meet.

Parameters
----------
device1 : SystemDevice
    A device.
device2 : SystemDevice
    Another device.

Returns
-------
GpuTopologyLevel
    The place, from the same board to different nodes.

Raises
------
TypeError
    If one of them is not a device.
NvmlError
    If NVML cannot answer; ``NotSupportedError`` if the device does not have it.)");
    module.def(
        "get_p2p_status",
        [](nb::handle device1, nb::handle device2, nb::handle index) {
            const system::Device first = system_device_argument(device1, "device1");
            const system::Device second = system_device_argument(device2, "device2");
            const auto which = Members<system::GpuP2PCapsIndex>::parse(index);
            return member(ask([&] { return system::p2p_status(first, second, which); }));
        },
        "device1"_a, "device2"_a, "index"_a,
        nb::sig("def get_p2p_status(device1: SystemDevice, device2: SystemDevice, index: "
                "cuprum.system.typing.GpuP2PCapsIndex | str) -> cuprum.system.typing.GpuP2PStatus"),
        R"(Return whether one device can reach another.

Parameters
----------
device1, device2 : Device
    The devices.
index : GpuP2PCapsIndex or str
    In which way: ``"read"``, ``"write"``, ``"nvlink"``, ``"atomics"`` or ``"pci"``.

Returns
-------
GpuP2PStatus
    The state of the link.

Raises
------
TypeError
    If one of them is not a device.
ValueError
    If there is no such way.
NvmlError
    If NVML cannot answer; ``NotSupportedError`` if the device does not have it.)");
    module.def(
        "explain_clock_event_reason",
        [](nb::handle reason) {
            return std::string(system::explain(Members<system::ClockEventReason>::parse(reason)));
        },
        "reason"_a,
        nb::sig("def explain_clock_event_reason(reason: "
                "cuprum.system.typing.ClocksEventReasons | str) -> str"),
        "Return what a reason for low clocks means, in one sentence.");
    module.def(
        "is_nvml_initialized",
        [] { return system::library_state() == system::LibraryState::Initialized; },
        "Return whether this process has initialised NVML.");
    module.def("initialize_nvml", &system::initialize, nb::call_guard<nb::gil_scoped_release>(),
               "Load and initialise NVML, as every query does on its own.");
}

} // namespace

void bind_system(nb::module_& module) {
    bind_system_values(module);
    bind_system_parts(module);
    bind_system_links(module);
    bind_system_device(module);
    bind_system_events(module);
    bind_versions(module);
    bind_topology(module);
}

unsigned unsigned_argument(nb::handle value, const char* name) {
    const std::size_t number = size_argument(value, name);
    if (number > std::numeric_limits<unsigned>::max()) {
        raise_error(PyExc_ValueError, std::string(name) + " is " + std::to_string(number) +
                                          ", expected at most 4294967295");
    }
    return static_cast<unsigned>(number);
}

PyObject* find_member(const char* type, std::string_view value) {
    const nb::object found = nb::module_::import_("cuprum.system.typing")
                                 .attr(type)(nb::str(value.data(), value.size()));
    return nb::object(found).release().ptr();
}

void refuse_choice(const EnumLabel& label, nb::handle value, const std::string& names) {
    if (PyUnicode_Check(value.ptr()) == 0) {
        raise_error(PyExc_TypeError, std::string("Invalid ") + label.what + ": expected a " +
                                         label.type + " or a str, got " + type_label(value));
    }
    raise_error(PyExc_ValueError, std::string("Invalid ") + label.what + ": " + repr_text(value) +
                                      "; expected one of " + names);
}

std::size_t index_argument(nb::handle index, std::size_t count, const char* what) {
    const Py_ssize_t given = PyNumber_AsSsize_t(index.ptr(), PyExc_IndexError);
    if (given == -1 && PyErr_Occurred() != nullptr) {
        throw nb::python_error();
    }
    const auto size = static_cast<Py_ssize_t>(count);
    const Py_ssize_t place = given < 0 ? given + size : given;
    if (place < 0 || place >= size) {
        raise_error(PyExc_IndexError, std::string(what) + " index is " + std::to_string(given) +
                                          ", but there are " + std::to_string(count));
    }
    return static_cast<std::size_t>(place);
}

} // namespace cuprum::python
