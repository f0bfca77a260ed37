// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The functions of cuprum.system, and the order in which its classes are bound.

#include "support/class.hpp"
#include "system/system_objects.hpp"

#include <cuprum/system/system.hpp>

#include <limits>

namespace cuprum::python {

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
    function(module, "get_user_mode_driver_version", [] {
        const auto version = without_gil([] { return system::user_mode_driver_version(); });
        return nb::make_tuple(version.major, version.minor);
    });
    function(module, "get_kernel_mode_driver_version", [] {
        return version_tuple(without_gil([] { return system::kernel_mode_driver_version(); }));
    });
    function(module, "get_nvml_version",
             [] { return version_tuple(without_gil([] { return system::nvml_version(); })); });
    function(module, "get_driver_branch",
             [] { return without_gil([] { return system::driver_branch(); }); });
    function(module, "get_num_devices",
             [] { return without_gil([] { return system::Device::count(); }); });
    function(module, "get_nvml_path",
             [] { return without_gil([] { return system::library_path(); }); });
    function(module, "get_process_name", [](nb::handle pid) {
        const unsigned number = unsigned_argument(pid, "pid");
        return text_object(without_gil([&] { return system::process_name(number); }));
    });
}

void bind_topology(nb::module_& module) {
    function(module, "get_topology_common_ancestor", [](nb::handle device1, nb::handle device2) {
        const system::Device first = system_device_argument(device1, "device1");
        const system::Device second = system_device_argument(device2, "device2");
        return member(without_gil([&] { return system::topology_common_ancestor(first, second); }));
    });
    function(
        module, "get_p2p_status", [](nb::handle device1, nb::handle device2, nb::handle index) {
            const system::Device first = system_device_argument(device1, "device1");
            const system::Device second = system_device_argument(device2, "device2");
            const auto which = Members<system::GpuP2PCapsIndex>::parse(index);
            return member(without_gil([&] { return system::p2p_status(first, second, which); }));
        });
    function(module, "explain_clock_event_reason", [](nb::handle reason) {
        return std::string(system::explain(Members<system::ClockEventReason>::parse(reason)));
    });
    function(module, "is_nvml_initialized",
             [] { return system::library_state() == system::LibraryState::Initialized; });
    function<&system::initialize>(module, "initialize_nvml", RELEASES_GIL);
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
