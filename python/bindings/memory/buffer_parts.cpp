// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "memory/buffer_parts.hpp"

#include "arrays/extents.hpp"
#include "memory/buffer_objects.hpp"
#include "memory/host_memory.hpp"
#include "support/class.hpp"

#include <cuprum/region.hpp>

#include <cstring>

namespace cuprum::python {

namespace {

template <typename T>
[[nodiscard]] T read_as(const void* bytes) {
    T value{};
    std::memcpy(&value, bytes, sizeof(value));
    return value;
}

[[nodiscard]] nb::object slice(nb::handle self, nb::handle key) {
    const PyBuffer& buffer = held_by<PyBuffer>(self);
    if (!PySlice_Check(key.ptr())) {
        raise_error(PyExc_TypeError,
                    "a Buffer is cut by slices, as in buffer[16:32], got " + type_label(key));
    }
    Py_ssize_t start = 0;
    Py_ssize_t stop = 0;
    Py_ssize_t step = 1;
    if (PySlice_Unpack(key.ptr(), &start, &stop, &step) != 0) {
        throw nb::python_error();
    }
    if (step != 1) {
        raise_error(PyExc_ValueError, "the step of a Buffer's slice must be 1, got " +
                                          std::to_string(step) + "; a StridedMemoryView has steps");
    }
    const Py_ssize_t count =
        PySlice_AdjustIndices(static_cast<Py_ssize_t>(buffer.size()), &start, &stop, step);
    auto bytes = buffer.slice(static_cast<std::size_t>(start), static_cast<std::size_t>(count));
    nb::object part = get_if<PyManagedBuffer>(self) != nullptr
                          ? make<PyManagedBuffer>(std::move(bytes), buffer.resource, buffer.owner)
                          : make<PyBuffer>(std::move(bytes), buffer.resource, buffer.owner);
    nb::inst_ptr<PyBuffer>(part)->is_readonly = buffer.is_readonly;
    if (buffer.kept.is_valid()) {
        keep_also(part, buffer.kept);
    }
    return part;
}

std::size_t optional_size(nb::handle value, const char* name) {
    return value.is_none() ? 0 : size_argument(value, name);
}

RegionExtent extent_argument(nb::handle value, std::size_t most) {
    const auto numbers = extents_argument(value, "extent");
    if (numbers.empty() || numbers.size() > most) {
        raise_error(PyExc_ValueError, "extent must have 1 to " + std::to_string(most) +
                                          " numbers, got " + std::to_string(numbers.size()));
    }
    for (const std::int64_t number : numbers) {
        if (number < 0) {
            raise_error(PyExc_ValueError, "extent must not be negative, got " + repr_text(value));
        }
    }
    const auto at = [&](std::size_t i) {
        return i < numbers.size() ? static_cast<std::size_t>(numbers[i]) : 1U;
    };
    return {.width = at(0), .height = at(1), .depth = at(2)};
}

void copy_region_from(const PyBuffer& self, nb::handle source, nb::handle extent, nb::handle stream,
                      nb::handle offset, nb::handle pitch, nb::handle rows_per_slice,
                      nb::handle src_offset, nb::handle src_pitch, nb::handle src_rows_per_slice) {
    const PyBuffer& from = buffer_argument(source, "src");
    check_writable(self, "the buffer");
    const RegionExtent size = extent_argument(extent, 3);
    const Stream& order = stream_argument(stream);
    const RegionPlace into{.offset = optional_size(offset, "offset"),
                           .pitch = optional_size(pitch, "pitch"),
                           .rows_per_slice = optional_size(rows_per_slice, "rows_per_slice")};
    const RegionPlace out_of{.offset = optional_size(src_offset, "src_offset"),
                             .pitch = optional_size(src_pitch, "src_pitch"),
                             .rows_per_slice =
                                 optional_size(src_rows_per_slice, "src_rows_per_slice")};
    {
        const Brief unlocked(!self.is_release_brief() || !from.is_release_brief());
        copy_region(self, into, from, out_of, size, order);
    }
    retain_if_captured(self, order);
    retain_if_captured(from, order);
}

void fill_rectangle(const PyBuffer& self, nb::handle value, nb::handle extent, const Stream& order,
                    nb::handle offset, nb::handle pitch) {
    check_writable(self, "the buffer");
    const RegionExtent size = extent_argument(extent, 2);
    const RegionPlace place{.offset = optional_size(offset, "offset"),
                            .pitch = optional_size(pitch, "pitch"),
                            .rows_per_slice = 0};
    std::visit(
        [&](auto number) {
            const Brief unlocked(!self.is_release_brief());
            fill_region(self, place, size, number, order);
        },
        pattern_argument(value));
    retain_if_captured(self, order);
}

} // namespace

void bind_buffer_parts(Class<PyBuffer>& type) {
    type.method<slice>("__getitem__", HOT);
    type.method<copy_region_from>("copy_region_from", HOT);
    type.method<fill_rectangle>("fill_region", HOT);
}

const PyBuffer& buffer_argument(nb::handle value, const char* name) {
    const PyBuffer* buffer = get_if<PyBuffer>(value);
    if (buffer == nullptr) {
        const bool is_unmade = PyObject_TypeCheck(value.ptr(), TYPE<PyBuffer>) != 0;
        raise_error(PyExc_TypeError,
                    std::string(name) + (is_unmade
                                             ? " is a Buffer made with __new__ alone"
                                             : " must be a Buffer, got " + type_label(value)));
    }
    return *buffer;
}

void refuse_readonly(const char* name) {
    raise_error(PyExc_ValueError, std::string(name) +
                                      " is read-only: it is memory that was registered with "
                                      "read_only=True; write to other memory");
}

std::variant<std::uint8_t, std::uint16_t, std::uint32_t> pattern_argument(nb::handle value) {
    if (PyLong_Check(value.ptr()) != 0) {
        int overflow = 0;
        const long number = PyLong_AsLongAndOverflow(value.ptr(), &overflow);
        if (overflow != 0 || number < 0 || number > UINT8_MAX) {
            raise_error(PyExc_OverflowError, "value must be from 0 to 255 if it is an int, got " +
                                                 repr_text(value) +
                                                 "; pass bytes for a wider pattern");
        }
        return static_cast<std::uint8_t>(number);
    }
    if (PyObject_CheckBuffer(value.ptr()) == 0) {
        raise_error(PyExc_TypeError,
                    "value must be an int or have the buffer protocol, got " + type_label(value));
    }
    const HostMemory pattern(value, HostMemory::Access::Read, "value");
    switch (pattern.size()) {
    case sizeof(std::uint8_t):
        return read_as<std::uint8_t>(pattern.data());
    case sizeof(std::uint16_t):
        return read_as<std::uint16_t>(pattern.data());
    case sizeof(std::uint32_t):
        return read_as<std::uint32_t>(pattern.data());
    default:
        raise_error(PyExc_ValueError,
                    "value must have 1, 2 or 4 bytes, got " + std::to_string(pattern.size()));
    }
}

} // namespace cuprum::python
