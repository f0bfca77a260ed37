// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "arrays/numpy_scalars.hpp"
#include "arrays/strided_memory_view.hpp"
#include "device/device_objects.hpp"
#include "graph/released_owners.hpp"
#include "memory/buffer_objects.hpp"
#include "memory/host_memory.hpp"
#include "support/class.hpp"
#include "support/waiting.hpp"
#include "texture/texture_objects.hpp"
#include "texture/texture_options.hpp"

#include <cuprum/detail/order.hpp>
#include <cuprum/dlpack.hpp>
#include <cuprum/region.hpp>
#include <cuprum/strided_layout.hpp>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

namespace cuprum::python {

namespace {

/// Where a copy of an array begins and ends, as Python passes it.
struct CopyArguments {
    ArrayRegion region;       // in this array
    ArrayRegion other_region; // in the other array
    RegionPlace place;        // in a buffer
    bool has_place = false;
};

[[nodiscard]] std::uintptr_t address(const OpaqueArray& array) {
    return array.is_closed() ? 0 : reinterpret_cast<std::uintptr_t>(array.handle());
}

void bind_facts(Class<PyOpaqueArray>& type) {
    type.property("handle", [](const PyOpaqueArray& self) { return address(self); });
    type.property("is_closed", &PyOpaqueArray::is_closed);
    type.property("shape", [](const PyOpaqueArray& self) { return shape_object(self.extent()); });
    type.property("format", [](const PyOpaqueArray& self) { return format_object(self.format()); });
    type.property("num_channels", &PyOpaqueArray::num_channels);
    type.property("num_layers", &PyOpaqueArray::num_layers);
    type.property("is_cubemap", &PyOpaqueArray::is_cubemap);
    type.property("is_surface_load_store", &PyOpaqueArray::is_surface_load_store);
    type.property("element_bytes", &PyOpaqueArray::element_bytes);
    type.property("size_bytes", &PyOpaqueArray::size_bytes);
    type.property("device", [](const PyOpaqueArray& self) { return device_object(self.device()); });
    type.property("memory_requirements", [](const PyOpaqueArray& self) {
        const ArrayMemoryRequirements needed = self.memory_requirements();
        return nb::module_::import_("cuprum._texture_options")
            .attr("ArrayMemoryRequirements")(needed.size, needed.alignment);
    });
    type.property("sparse_properties", [](const PyOpaqueArray& self) {
        return sparse_object(self.sparse_properties());
    });
    type.method("get_plane", [](const PyOpaqueArray& self, std::size_t number) {
        return array_object(
            self.plane(static_cast<unsigned>(std::min<std::size_t>(number, 0xffffffffU))));
    });
    type.method("__array__", [](const PyOpaqueArray&, nb::handle, nb::handle) -> nb::object {
        raise_error(PyExc_TypeError, "an OpaqueArray has no address that numpy could read; copy "
                                     "it with to_numpy(stream=...)");
    });
    type.attr("__array_ufunc__") = nb::none();
    type.method("__eq__", [](const PyOpaqueArray& self, const PyOpaqueArray& other) {
        return static_cast<const OpaqueArray&>(self) == static_cast<const OpaqueArray&>(other);
    });
    type.method("__hash__", [](const PyOpaqueArray& self) {
        return std::hash<std::uintptr_t>{}(address(self));
    });
    type.method("__repr__", [](const PyOpaqueArray& self) -> std::string {
        if (self.is_closed()) {
            return "<OpaqueArray closed>";
        }
        const OpaqueArrayOptions options = self.options();
        return "OpaqueArray(shape=" + repr_text(shape_object(options.extent)) + ", format=" +
               nb::cast<std::string>(nb::object(format_object(options.format).attr("name"))) +
               ", num_channels=" + std::to_string(options.num_channels) +
               (options.num_layers != 0 ? ", num_layers=" + std::to_string(options.num_layers)
                                        : std::string()) +
               (options.is_cubemap ? ", is_cubemap=True" : "") + ")";
    });
}

[[nodiscard]] CopyArguments copy_arguments(nb::handle offset, nb::handle shape,
                                           nb::handle other_offset, const char* other_name,
                                           nb::handle pitch_bytes, nb::handle rows_per_slice) {
    CopyArguments made;
    made.region = region_argument(offset, shape);
    made.other_region = region_argument(other_offset, nb::none(), other_name);
    made.place.pitch = pitch_bytes.is_none() ? 0 : size_argument(pitch_bytes, "pitch_bytes");
    made.place.rows_per_slice =
        rows_per_slice.is_none() ? 0 : size_argument(rows_per_slice, "rows_per_slice");
    made.has_place = made.place.pitch != 0 || made.place.rows_per_slice != 0;
    return made;
}

/// Returns the type of the numbers that a format of the buffer protocol describes; without bits if
/// they are of several types, not numbers, or of the other byte order.
dlpack::DataType number_type(const char* format, std::size_t itemsize) {
    constexpr std::size_t byte_bits = 8;
    constexpr std::size_t most_bits = 255;
    constexpr dlpack::DataType none{};
    dlpack::DataType type = none;
    int seen = 0;            // the letter of all numbers
    std::size_t count = 0;   // of numbers
    std::size_t repeat = 1;  // of what comes next
    bool is_complex = false; // what comes next
    for (const char* next = format; *next != 0; ++next) {
        switch (*next) {
        case '@':
        case '=':
        case '<':
        case '^':
        case ' ':
        case '}':
            continue;
        case 'Z': // the letter of its parts follows
            is_complex = true;
            continue;
        case 'T': // a structure
            if (next[1] != '{') {
                return none;
            }
            ++next;
            continue;
        case ':': // the name of a member
            next = std::strchr(next + 1, ':');
            if (next == nullptr) {
                return none;
            }
            continue;
        case '(': // an array, as in (2,3)f
            for (++next; *next != 0 && *next != ')'; ++next) {
                char* end = nullptr;
                repeat *= std::strtoul(next, &end, 10);
                next = end;
                if (*next != ',') {
                    break;
                }
            }
            if (*next != ')') {
                return none;
            }
            continue;
        default:
            break;
        }
        if (*next >= '0' && *next <= '9') {
            char* end = nullptr;
            repeat *= std::strtoul(next, &end, 10);
            next = end - 1;
            continue;
        }
        if (std::strchr("efdg", *next) != nullptr) {
            type.code = is_complex ? dlpack::TypeCode::Complex : dlpack::TypeCode::Float;
        } else if (std::strchr("bhilqn", *next) != nullptr) {
            type.code = dlpack::TypeCode::Int;
        } else if (std::strchr("BHILQNcs", *next) != nullptr) {
            type.code = dlpack::TypeCode::UInt;
        } else if (*next == '?') {
            type.code = dlpack::TypeCode::Bool;
        } else {
            return none;
        }
        const int letter = is_complex ? -*next : *next;
        if (seen != 0 && seen != letter) {
            return none;
        }
        seen = letter;
        count += repeat;
        repeat = 1;
        is_complex = false;
    }
    if (count == 0 || itemsize % count != 0 || itemsize / count * byte_bits > most_bits) {
        return none;
    }
    type.bits = static_cast<std::uint8_t>(itemsize / count * byte_bits);
    type.lanes = static_cast<std::uint16_t>(count);
    return type;
}

/// Host memory with the layout that its object gives it.
class HostView {
public:
    HostView(nb::handle object, bool is_written, const char* name)
        : is_array_(is_numpy_array(object.ptr())) {
        if (PyObject_CheckBuffer(object.ptr()) == 0) {
            raise_error(PyExc_TypeError, std::string(name) +
                                             " must be a Buffer, an OpaqueArray or an object with "
                                             "the buffer protocol, as numpy arrays have it, got " +
                                             type_label(object));
        }
        refuse_objects(object, name);
        open(object, is_written, name);
        type_ = number_type(view_.format == nullptr ? "B" : view_.format,
                            static_cast<std::size_t>(view_.itemsize));
        if (type_.bits == 0) {
            const std::string format = view_.format;
            PyBuffer_Release(&view_);
            refuse_elements(object, name, "the format '" + format + "'");
        }
    }

    ~HostView() { PyBuffer_Release(&view_); }

    HostView(const HostView&) = delete;
    HostView& operator=(const HostView&) = delete;

    /// Returns whether the object is a row of bytes, such as bytes, a bytearray or a mapped file:
    /// memory without a type. Arrays of bytes are no such objects.
    [[nodiscard]] bool is_raw() const {
        return !is_array_ && view_.ndim == 1 && type_ == dlpack::type_of<std::uint8_t>() &&
               PyBuffer_IsContiguous(&view_, 'C') != 0;
    }

    [[nodiscard]] void* data() const noexcept { return view_.buf; }

    [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(view_.len); }

    [[nodiscard]] dlpack::DataType type() const noexcept { return type_; }

    [[nodiscard]] StridedLayout layout(const char* name) const {
        std::vector<StridedLayout::Index> shape(view_.shape, view_.shape + view_.ndim);
        if (view_.strides == nullptr) { // as ctypes gives it
            return StridedLayout(std::span<const StridedLayout::Index>(shape),
                                 static_cast<std::size_t>(view_.itemsize));
        }
        std::vector<StridedLayout::Index> strides;
        for (int i = 0; i < view_.ndim; ++i) {
            const Py_ssize_t stride = view_.shape[i] <= 1 ? view_.itemsize : view_.strides[i];
            if (stride % view_.itemsize != 0) {
                raise_error(PyExc_ValueError,
                            std::string(name) + " has a stride of " + std::to_string(stride) +
                                " bytes, expected a multiple of the item's " +
                                std::to_string(view_.itemsize) + "; copy it first");
            }
            strides.push_back(stride / view_.itemsize);
        }
        return StridedLayout(std::span<const StridedLayout::Index>(shape),
                             std::span<const StridedLayout::Index>(strides),
                             static_cast<std::size_t>(view_.itemsize));
    }

private:
    void open(nb::handle object, bool is_written, const char* name) {
        const int flags = PyBUF_RECORDS_RO | (is_written ? PyBUF_WRITABLE : 0);
        if (PyObject_GetBuffer(object.ptr(), &view_, flags) == 0) {
            return;
        }
        nb::python_error reason; // takes the error that is set
        if (!is_layout_error(reason)) {
            throw std::move(reason);
        }
        Py_buffer any{};
        if (PyObject_GetBuffer(object.ptr(), &any, PyBUF_STRIDED_RO) != 0) {
            PyErr_Clear();
            throw std::move(reason);
        }
        const bool is_readonly = any.readonly != 0;
        PyBuffer_Release(&any);
        if (is_written && is_readonly) {
            raise_error(PyExc_BufferError, std::string(name) + " (" + type_label(object) +
                                               ") is read-only, expected writable memory");
        }
        refuse_elements(object, name, "a type that the buffer protocol cannot describe");
    }

    [[noreturn]] static void refuse_elements(nb::handle object, const char* name,
                                             const std::string& elements) {
        const nb::object dtype = nb::getattr(object, "dtype", nb::none());
        raise_error(PyExc_ValueError,
                    std::string(name) + " (" + type_label(object) + ") has elements of " +
                        (dtype.is_none() ? elements : repr_text(dtype)) +
                        ", expected numbers of one type in this machine's byte order; convert it, "
                        "view it as another type, or pass its bytes to copy them as they are");
    }

    Py_buffer view_{};
    dlpack::DataType type_{};
    bool is_array_;
};

void refuse_host_capture(const Stream& stream, const char* name) {
    if (cuprum::detail::is_capturing(stream)) {
        raise_error(PyExc_RuntimeError, std::string(name) +
                                            " is host memory, and the stream is capturing: a graph "
                                            "would use the memory whenever it runs; copy through a "
                                            "Buffer");
    }
}

void refuse_place(const CopyArguments& how, const char* name) {
    if (how.has_place) {
        raise_error(PyExc_ValueError, std::string("pitch_bytes and rows_per_slice are for buffers, "
                                                  "but ") +
                                          name + " is none");
    }
}

void copy_from(const PyOpaqueArray& self, nb::handle source, nb::handle stream,
               const CopyArguments& how) {
    const Stream& order = stream_argument(stream);
    if (const PyBuffer* const buffer = get_if<PyBuffer>(source)) {
        {
            const Brief unlocked;
            self.copy_from(*buffer, how.place, how.region, order);
        }
        retain_if_captured(*buffer, order);
        return;
    }
    if (const PyOpaqueArray* const array = get_if<PyOpaqueArray>(source)) {
        refuse_place(how, "src");
        ArrayRegion from = how.other_region;
        from.width = how.region.width;
        from.height = how.region.height;
        from.depth = how.region.depth;
        // NOTE: without sizes, to copy the same blocks: the end of an array can cut one off.
        const ArrayRegion to{.x = how.region.x, .y = how.region.y, .z = how.region.z};
        const Brief unlocked;
        if (from == ArrayRegion{} && how.region == ArrayRegion{}) {
            self.copy_from(static_cast<const OpaqueArray&>(*array), order);
        } else {
            self.copy_from(*array, from, to, order);
        }
        return;
    }
    const HostView memory(source, false, "src");
    refuse_place(how, "src");
    refuse_host_capture(order, "src");
    if (memory.is_raw()) {
        const nb::gil_scoped_release unlocked;
        self.copy_from_host_bytes(memory.data(), memory.size(), {}, how.region, order);
        return;
    }
    const StridedLayout layout = memory.layout("src");
    const nb::gil_scoped_release unlocked;
    self.copy_from_host_view(memory.data(), layout, memory.type(), how.region, order, "src");
}

void copy_to(const PyOpaqueArray& self, nb::handle destination, nb::handle stream,
             const CopyArguments& how) {
    const Stream& order = stream_argument(stream);
    if (const PyBuffer* const buffer = get_if<PyBuffer>(destination)) {
        if (buffer->is_readonly) {
            raise_error(PyExc_ValueError, "dst is read-only memory");
        }
        {
            const Brief unlocked;
            self.copy_to(*buffer, how.place, how.region, order);
        }
        retain_if_captured(*buffer, order);
        return;
    }
    if (const PyOpaqueArray* const array = get_if<PyOpaqueArray>(destination)) {
        refuse_place(how, "dst");
        const Brief unlocked;
        if (how.other_region == ArrayRegion{} && how.region == ArrayRegion{}) {
            self.copy_to(static_cast<const OpaqueArray&>(*array), order);
        } else {
            array->copy_from(self, how.region, how.other_region, order);
        }
        return;
    }
    const HostView memory(destination, true, "dst");
    refuse_place(how, "dst");
    refuse_host_capture(order, "dst");
    if (memory.is_raw()) {
        const nb::gil_scoped_release unlocked;
        self.copy_to_host_bytes(memory.data(), memory.size(), {}, how.region, order);
        return;
    }
    const StridedLayout layout = memory.layout("dst");
    const nb::gil_scoped_release unlocked;
    self.copy_to_host_view(memory.data(), layout, memory.type(), how.region, order, "dst");
}

[[nodiscard]] nb::object to_numpy(const PyOpaqueArray& self, nb::handle stream, nb::handle offset,
                                  nb::handle shape) {
    const Stream& order = stream_argument(stream);
    CopyArguments how;
    how.region = region_argument(offset, shape);
    const OpaqueArrayOptions options = self.options();
    const nb::object made =
        nb::module_::import_("cuprum._texture_options")
            .attr("_new_numpy_array")(format_object(options.format), shape_object(options.extent),
                                      (options.is_cubemap ? 6U : 1U) *
                                          (options.num_layers != 0 ? options.num_layers : 1U),
                                      options.num_layers != 0 || options.is_cubemap,
                                      self.element_bytes(), info_of(options.format).block,
                                      numpy_dtype(info_of(options.format).number), offset, shape);
    copy_to(self, made, stream, how);
    sync_with_signals(order);
    return made;
}

void bind_copies(Class<PyOpaqueArray>& type) {
    type.method("copy_from", [](const PyOpaqueArray& self, nb::handle source, nb::handle stream,
                                nb::handle offset, nb::handle shape, nb::handle src_offset,
                                nb::handle pitch, nb::handle rows) {
        copy_from(self, source, stream,
                  copy_arguments(offset, shape, src_offset, "src_offset", pitch, rows));
    });
    type.method("copy_to", [](const PyOpaqueArray& self, nb::handle destination, nb::handle stream,
                              nb::handle offset, nb::handle shape, nb::handle dst_offset,
                              nb::handle pitch, nb::handle rows) {
        copy_to(self, destination, stream,
                copy_arguments(offset, shape, dst_offset, "dst_offset", pitch, rows));
        return nb::borrow(destination);
    });
    type.method<to_numpy>("to_numpy");
}

} // namespace

void bind_opaque_array(nb::module_& module) {
    Class<PyOpaqueArray> type(module, "OpaqueArray", nb::is_weak_referenceable());
    type.refuse_construction("OpaqueArray cannot be instantiated directly. Use "
                             "Device.create_opaque_array()");
    type.static_method("from_handle", [](nb::handle handle, nb::handle owner) {
        const std::uint64_t number = address_argument(handle, "handle");
        auto array = [&] {
            std::shared_ptr<void> kept =
                owner.is_none() ? nullptr : keep_for_graph(nb::borrow(owner));
            const nb::gil_scoped_release unlocked;
            return OpaqueArray::from_handle(reinterpret_cast<CUarray>(number), std::move(kept));
        }();
        return array_object(std::move(array));
    });
    bind_facts(type);
    bind_copies(type);
    type.method<&PyOpaqueArray::drop>("close");
    type.method("__enter__", [](nb::object self) { return self; });
    type.method("__exit__",
                [](PyOpaqueArray& self, nb::handle, nb::handle, nb::handle) { self.drop(); });
}

nb::object array_object(OpaqueArray array) {
    return make<PyOpaqueArray>(std::move(array));
}

} // namespace cuprum::python
