// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Views through `__cuda_array_interface__` and `__array_interface__`, which are dictionaries.

#include "arrays/extents.hpp"
#include "arrays/view_sources.hpp"
#include "support/arguments.hpp"
#include "support/compatibility.hpp"
#include "support/names.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/device.hpp>
#include <cuprum/dlpack.hpp>

#include <nanobind/stl/string.h>

#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>

namespace cuprum::python {

namespace {

constexpr std::int64_t OLDEST_VERSION = 3;

[[nodiscard]] nb::handle entry(const nb::dict& interface, PyObject* key) {
    PyObject* const value = PyDict_GetItemWithError(interface.ptr(), key);
    if (value == nullptr && PyErr_Occurred() != nullptr) {
        throw nb::python_error();
    }
    return value;
}

nb::handle required(const nb::dict& interface, PyObject* key) {
    const nb::handle value = entry(interface, key);
    if (!value.is_valid()) {
        raise_error(PyExc_BufferError, "the array interface has no " + repr_text(key));
    }
    return value;
}

/// Returns the dictionary, with what both interfaces demand checked.
[[nodiscard]] nb::dict read_interface(nb::handle object, PyObject* attribute) {
    PyObject* const found = PyObject_GetAttr(object.ptr(), attribute);
    if (found == nullptr) {
        if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0 ||
            nb::hasattr(object.type(), nb::borrow(attribute))) {
            throw nb::python_error();
        }
        PyErr_Clear();
        raise_error(PyExc_BufferError, type_label(object) + " has no " +
                                           nb::cast<std::string>(nb::handle(attribute)) +
                                           ", expected an array that has one");
    }
    const nb::object interface = nb::steal(found);
    if (PyDict_Check(found) == 0) {
        raise_error(PyExc_TypeError,
                    repr_text(attribute) + " must be a dict, got " + type_label(found));
    }
    nb::dict entries = nb::borrow<nb::dict>(interface);
    const nb::handle version = entry(entries, names().version);
    if (!version.is_valid() || PyLong_Check(version.ptr()) == 0 ||
        PyLong_AsLong(version.ptr()) < OLDEST_VERSION) {
        PyErr_Clear();
        raise_error(PyExc_BufferError,
                    repr_text(attribute) + " has version " +
                        (version.is_valid() ? repr_text(version) : std::string("none")) +
                        ", expected v3 or above");
    }
    const nb::handle mask = entry(entries, names().mask);
    if (mask.is_valid() && !mask.is_none()) {
        raise_error(PyExc_BufferError, repr_text(attribute) + " has a mask: mask is not supported");
    }
    return entries;
}

[[nodiscard]] std::size_t itemsize_of(const std::string& typestr) {
    constexpr std::size_t unicode_bytes = 4;
    constexpr std::size_t shortest = 3; // byte order, kind, size
    if (typestr.size() < shortest || std::isdigit(static_cast<unsigned char>(typestr[2])) == 0 ||
        typestr[0] == '>') {
        raise_error(PyExc_BufferError,
                    "typestr must be little-endian like \"<f4\", got \"" + typestr + "\"");
    }
    constexpr std::size_t largest = std::numeric_limits<std::int32_t>::max(); // numpy's own limit
    const std::size_t size = std::strtoul(typestr.c_str() + 2, nullptr, 10);
    if (size > largest / unicode_bytes) {
        raise_error(PyExc_BufferError, "typestr \"" + typestr +
                                           "\" describes elements of more than " +
                                           std::to_string(largest) + " bytes");
    }
    return typestr[1] == 'U' ? size * unicode_bytes : size;
}

/// Fills in what both interfaces say.
void apply_interface(StridedMemoryView& view, nb::handle object, const nb::dict& interface) {
    const std::string typestr = text_argument(required(interface, names().typestr), "typestr");
    view.itemsize = itemsize_of(typestr);
    view.dtype = nb::str(typestr.c_str(), typestr.size());
    view.type_source = StridedMemoryView::TypeSource::Text;
    const nb::handle data = required(interface, names().data);
    if (PyTuple_Check(data.ptr()) == 0 || PyTuple_GET_SIZE(data.ptr()) != 2) {
        raise_error(PyExc_BufferError,
                    "data must be (address, is_readonly), got " + type_label(data));
    }
    view.base = view.pointer =
        address_argument(PyTuple_GET_ITEM(data.ptr(), 0), "the address in data");
    view.is_readonly = is_true(PyTuple_GET_ITEM(data.ptr(), 1));
    const nb::handle shape = required(interface, names().shape);
    const nb::handle strides = entry(interface, names().strides);
    const bool has_strides = strides.is_valid() && !strides.is_none();
    const auto extents = extents_argument(shape, "shape");
    view.set_ndim(extents.size(), has_strides);
    for (std::size_t i = 0; i < extents.size(); ++i) {
        if (extents[i] < 0) {
            raise_error(PyExc_ValueError,
                        "shape must not hold negative extents, got " + repr_text(shape));
        }
        view.shape_data()[i] = extents[i];
    }
    view.check_extents();
    if (has_strides) {
        const auto steps = extents_argument(strides, "strides");
        if (steps.size() != extents.size()) {
            raise_error(PyExc_BufferError, "strides must have one entry for each extent, got " +
                                               repr_text(strides) + " for the shape " +
                                               repr_text(shape));
        }
        const auto element = static_cast<std::int64_t>(view.itemsize);
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const std::int64_t bytes = steps[i];
            if (element == 0 || bytes % element != 0) {
                raise_error(PyExc_ValueError, "strides must be divisible by itemsize: axis " +
                                                  std::to_string(i) + " has " +
                                                  std::to_string(bytes) + " bytes, an element " +
                                                  std::to_string(element));
            }
            view.strides_data()[i] = bytes / element;
        }
    }
    view.exporter = nb::borrow(object);
}

} // namespace

void view_cuda_array_interface(StridedMemoryView& view, nb::handle object, ConsumerStream stream) {
    const ArrayProducer producer = array_producer(object);
    if (producer.way == ArrayProducer::Way::Exchange || producer.way == ArrayProducer::Way::Torch) {
        return view_any(view, object, stream); // the same, faster, and with the producer's stream
    }
    const nb::dict interface = read_interface(object, names().cuda_array);
    stream.require();
    apply_interface(view, object, interface);
    view.is_device_accessible = true;
    view.device_type = dlpack::DeviceType::Unknown;
    {
        const nb::gil_scoped_release unlocked;
        view.device_id = view.pointer == 0 ? Device().ordinal()
                                           : Buffer::from_handle(view.pointer, 1).device_id();
    }
    const nb::handle produced = entry(interface, names().stream);
    if (produced.is_valid() && !produced.is_none()) {
        stream.wait_for(address_argument(produced, "the stream in __cuda_array_interface__"));
    }
    if (stream.kind == ConsumerStream::Kind::Handle) {
        view.ordered_stream = stream.handle;
        view.is_ordered = true;
    }
}

void view_array_interface(StridedMemoryView& view, nb::handle object) {
    const ArrayProducer producer = array_producer(object);
    if (producer.way == ArrayProducer::Way::Numpy &&
        !compatibility::reads_array_interface_literally()) {
        return view_numpy(view, object);
    }
    if (producer.way == ArrayProducer::Way::Exchange || producer.way == ArrayProducer::Way::Torch) {
        return view_any(view, object, {ConsumerStream::Kind::NoOrder, 0});
    }
    const nb::dict interface = read_interface(object, names().array);
    apply_interface(view, object, interface);
    if (compatibility::reads_array_interface_literally()) {
        const nb::gil_scoped_release unlocked;
        view.device_id = Device().ordinal();
    } else if (nb::hasattr(object, "dtype") && nb::cast<std::string>(view.dtype)[1] == 'V') {
        // A record: only the object itself knows its fields.
        view.dtype = nb::borrow(object).attr("dtype");
        view.type_source = StridedMemoryView::TypeSource::Dtype;
    }
}

} // namespace cuprum::python
