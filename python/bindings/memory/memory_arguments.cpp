// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "device/device_objects.hpp"
#include "memory/buffer_objects.hpp"
#include "memory/buffer_parts.hpp"
#include "memory/memory_objects.hpp"
#include "support/python_objects.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/device.hpp>
#include <cuprum/location.hpp>
#include <cuprum/stream.hpp>

#include <string>

namespace cuprum::python {

namespace {

[[nodiscard]] nb::object host_class() {
    return nb::module_::import_("cuprum._host").attr("Host");
}

} // namespace

std::optional<Location> location_argument(nb::handle value, bool is_none_allowed) {
    if (value.is_none()) {
        if (!is_none_allowed) {
            raise_error(PyExc_ValueError, "location is required: a Device or a Host, got None");
        }
        return std::nullopt;
    }
    if (const PyDevice* device = get_if<PyDevice>(value)) {
        return Location::device(device->core);
    }
    if (PyObject_IsInstance(value.ptr(), host_class().ptr()) == 1) {
        if (nb::cast<bool>(value.attr("is_numa_current"))) {
            return Location::host_numa_current();
        }
        const nb::object node = value.attr("numa_id");
        return node.is_none() ? Location::host() : Location::host_numa(nb::cast<int>(node));
    }
    raise_error(PyExc_TypeError,
                "location must be a Device, Host, or None, got " + type_label(value));
}

nb::object location_object(const Location& location) {
    switch (location.kind) {
    case LocationKind::Device:
        return device_object(Device(location.id));
    case LocationKind::HostNuma:
        return host_class()(location.id);
    case LocationKind::HostNumaCurrent:
        return host_class().attr("numa_current")();
    default:
        return host_class()();
    }
}

std::vector<Buffer> buffer_list_argument(nb::handle value, const char* name, bool is_written) {
    if (get_if<PyBuffer>(value) != nullptr) {
        raise_error(PyExc_TypeError, std::string(name) +
                                         " must be a sequence of Buffers, got one Buffer; put it "
                                         "in a list, or use the buffer's own method");
    }
    if (PyUnicode_Check(value.ptr()) != 0 || PySequence_Check(value.ptr()) == 0) {
        raise_error(PyExc_TypeError,
                    std::string(name) + " must be a sequence of Buffers, got " + type_label(value));
    }
    const nb::object sequence = nb::steal(PySequence_Fast(value.ptr(), ""));
    if (!sequence.is_valid()) {
        throw nb::python_error(); // what its items raised
    }
    std::vector<Buffer> buffers;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(sequence.ptr()); ++i) {
        const nb::handle item(PySequence_Fast_GET_ITEM(sequence.ptr(), i));
        const PyBuffer* buffer = get_if<PyBuffer>(item);
        const std::string place = std::string(name) + "[" + std::to_string(i) + "]";
        if (buffer == nullptr) {
            raise_error(PyExc_TypeError,
                        place + ": expected Buffer, got " + Py_TYPE(item.ptr())->tp_name);
        }
        if (is_written) {
            check_writable(*buffer, place.c_str());
        }
        buffers.push_back(lasting_share(*buffer));
    }
    return buffers;
}

std::optional<Stream> optional_stream_argument(nb::handle stream) {
    if (stream.is_none()) {
        return std::nullopt;
    }
    const Stream& given = stream_argument(stream);
    (void)given.handle(); // a closed one does not count as none
    return given;
}

} // namespace cuprum::python
