// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "arrays/numpy_scalars.hpp"
#include "arrays/strided_memory_view.hpp"
#include "bindings.hpp"
#include "device/device_objects.hpp"
#include "graph/released_owners.hpp"
#include "memory/buffer_objects.hpp"
#include "memory/host_memory.hpp"
#include "support/arguments.hpp"
#include "support/waiting.hpp"
#include "texture/texture_objects.hpp"
#include "texture/texture_options.hpp"

#include <cuprum/detail/order.hpp>
#include <cuprum/dlpack.hpp>
#include <cuprum/region.hpp>
#include <cuprum/strided_layout.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/operators.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace cuprum::python {

using namespace nb::literals;

namespace {

/// Where a copy of an array begins and ends, as Python passes it.
struct CopyArguments {
    ArrayRegion region;       // in this array
    ArrayRegion other_region; // in the other array
    RegionPlace place;        // in a buffer
    bool has_place = false;
};

void bind_facts(nb::class_<PyOpaqueArray>& type);
void bind_copies(nb::class_<PyOpaqueArray>& type);
[[nodiscard]] std::uintptr_t address(const OpaqueArray& array);
[[nodiscard]] CopyArguments copy_arguments(nb::handle offset, nb::handle shape,
                                           nb::handle other_offset, const char* other_name,
                                           nb::handle pitch_bytes, nb::handle rows_per_slice);
void copy_from(const PyOpaqueArray& self, nb::handle source, nb::handle stream,
               const CopyArguments& how);
void copy_to(const PyOpaqueArray& self, nb::handle destination, nb::handle stream,
             const CopyArguments& how);
[[nodiscard]] nb::object to_numpy(const PyOpaqueArray& self, nb::handle stream, nb::handle offset,
                                  nb::handle shape);

} // namespace

void bind_opaque_array(nb::module_& module) {
    nb::class_<PyOpaqueArray> type(module, "OpaqueArray", nb::is_weak_referenceable(),
                                   R"(Memory in a layout that textures and surfaces read fast.

Made by ``Device.create_opaque_array``. It has no address: kernels read it through a
``TextureObject`` and read and write it through a ``SurfaceObject``. Copy data in with ``copy_from``
and out with ``copy_to`` or ``to_numpy``.

Examples
--------
>>> array = device.create_opaque_array({"shape": (8, 8), "format": "float32"})
>>> array.copy_from(np.ones((8, 8), dtype=np.float32), stream=stream)
>>> array.shape
(8, 8))");
    note_type<PyOpaqueArray>(type);
    type.def(
        "__init__",
        [](nb::handle, const nb::args&, const nb::kwargs&) {
            raise_error(PyExc_RuntimeError, "OpaqueArray cannot be instantiated directly. Use "
                                            "Device.create_opaque_array()");
        },
        nb::sig("def __init__(self, *args: object, **kwargs: object) -> None"));
    type.def_static(
        "from_handle",
        [](nb::handle handle, nb::handle owner) {
            const std::uint64_t number = address_argument(handle, "handle");
            auto array = [&] {
                std::shared_ptr<void> kept =
                    owner.is_none() ? nullptr : keep_for_graph(nb::borrow(owner));
                const nb::gil_scoped_release unlocked;
                return OpaqueArray::from_handle(reinterpret_cast<CUarray>(number), std::move(kept));
            }();
            return array_object(std::move(array));
        },
        "handle"_a.none(), nb::kw_only(), "owner"_a = nb::none(),
        nb::sig("def from_handle(handle: int, *, owner: object | None = None) -> OpaqueArray"),
        R"(Wrap an array made elsewhere, without owning it.

Parameters
----------
handle : int
    The driver's ``CUarray``. It belongs to the current context.
owner : object, optional
    Kept alive with the array.

Returns
-------
OpaqueArray
    The array, not owned.

Raises
------
TypeError
    If `handle` is not an int.
ValueError
    If `handle` is 0.
CUDAError
    If it is not an array of the current context.)");
    bind_facts(type);
    bind_copies(type);
    type.def("close", &PyOpaqueArray::drop,
             R"(Release this object's share of the array. Calling it again does nothing.

Textures, surfaces and graphs that use the array keep their shares.)");
    type.def(
        "__enter__", [](nb::object self) { return self; },
        nb::sig("def __enter__(self) -> OpaqueArray"));
    type.def(
        "__exit__", [](PyOpaqueArray& self, nb::handle, nb::handle, nb::handle) { self.drop(); },
        "exc_type"_a.none(), "exc"_a.none(), "tb"_a.none(),
        nb::sig("def __exit__(self, exc_type: object, exc: object, tb: object) -> None"));
}

nb::object array_object(OpaqueArray array) {
    return make<PyOpaqueArray>(std::move(array));
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

void bind_facts(nb::class_<PyOpaqueArray>& type) {
    type.def_prop_ro(
        "handle", [](const PyOpaqueArray& self) { return address(self); },
        "Return the driver's ``CUarray`` as an int, 0 once closed.");
    type.def_prop_ro("is_closed", &PyOpaqueArray::is_closed,
                     "Return whether ``close`` was called.");
    type.def_prop_ro(
        "shape", [](const PyOpaqueArray& self) { return shape_object(self.extent()); },
        nb::sig("def shape(self) -> tuple[int, ...]"),
        "Return width, height and depth in elements, as many as there are. Layers do not count.");
    type.def_prop_ro(
        "format", [](const PyOpaqueArray& self) { return format_object(self.format()); },
        nb::sig("def format(self) -> cuprum.typing.ArrayFormatType"),
        "Return the format of the elements.");
    type.def_prop_ro("num_channels", &PyOpaqueArray::num_channels,
                     "Return the number of channels of an element.");
    type.def_prop_ro("num_layers", &PyOpaqueArray::num_layers,
                     "Return the number of layers, 0 if the array has none.");
    type.def_prop_ro("is_cubemap", &PyOpaqueArray::is_cubemap,
                     "Return whether the array has six faces.");
    type.def_prop_ro("is_surface_load_store", &PyOpaqueArray::is_surface_load_store,
                     "Return whether a ``SurfaceObject`` can be made of the array.");
    type.def_prop_ro("element_bytes", &PyOpaqueArray::element_bytes,
                     "Return the bytes of an element, or of a block of a compressed format.");
    type.def_prop_ro("size_bytes", &PyOpaqueArray::size_bytes,
                     "Return the bytes of all elements, as copies take them.");
    type.def_prop_ro(
        "device", [](const PyOpaqueArray& self) { return device_object(self.device()); },
        nb::sig("def device(self) -> Device"), "Return the device that the array lies on.");
    type.def_prop_ro(
        "memory_requirements",
        [](const PyOpaqueArray& self) {
            const ArrayMemoryRequirements needed = self.memory_requirements();
            return nb::module_::import_("cuprum._texture_options")
                .attr("ArrayMemoryRequirements")(needed.size, needed.alignment);
        },
        nb::sig("def memory_requirements(self) -> cuprum._texture_options.ArrayMemoryRequirements"),
        R"(Return the memory that an array with ``is_deferred_mapping`` needs.

Raises
------
ValueError
    If the array has its own memory.)");
    type.def_prop_ro(
        "sparse_properties",
        [](const PyOpaqueArray& self) { return sparse_object(self.sparse_properties()); },
        nb::sig("def sparse_properties(self) -> cuprum._texture_options.ArraySparseProperties"),
        R"(Return how the memory of a sparse array is divided.

Raises
------
ValueError
    If the array is not sparse.)");
    type.def(
        "get_plane",
        [](const PyOpaqueArray& self, nb::handle index) {
            const std::size_t number = size_argument(index, "index");
            return array_object(
                self.plane(static_cast<unsigned>(std::min<std::size_t>(number, 0xffffffffU))));
        },
        "index"_a.none(), nb::sig("def get_plane(self, index: int) -> OpaqueArray"),
        R"(Return one plane of a video format as an array, which keeps this one alive.

Parameters
----------
index : int
    Which plane; 0 is the brightness.

Returns
-------
OpaqueArray
    The plane.

Raises
------
ValueError
    If the format has no such plane.)");
    type.def(
        "__array__",
        [](const PyOpaqueArray&, nb::handle, nb::handle) -> nb::object {
            raise_error(PyExc_TypeError,
                        "an OpaqueArray has no address that numpy could read; copy "
                        "it with to_numpy(stream=...)");
        },
        "dtype"_a = nb::none(), "copy"_a = nb::none(),
        nb::sig(
            "def __array__(self, dtype: object = None, copy: object = None) -> typing.NoReturn"),
        "Raise TypeError: numpy would make an array of one Python object.");
    type.attr("__array_ufunc__") = nb::none();
    type.def(
        "__eq__",
        [](const PyOpaqueArray& self, const PyOpaqueArray& other) {
            return static_cast<const OpaqueArray&>(self) == static_cast<const OpaqueArray&>(other);
        },
        nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"));
    type.def("__hash__",
             [](const PyOpaqueArray& self) { return std::hash<std::uintptr_t>{}(address(self)); });
    type.def("__repr__", [](const PyOpaqueArray& self) -> std::string {
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

void bind_copies(nb::class_<PyOpaqueArray>& type) {
    type.def(
        "copy_from",
        [](const PyOpaqueArray& self, nb::handle source, nb::handle stream, nb::handle offset,
           nb::handle shape, nb::handle src_offset, nb::handle pitch, nb::handle rows) {
            copy_from(self, source, stream,
                      copy_arguments(offset, shape, src_offset, "src_offset", pitch, rows));
        },
        "src"_a.none(), nb::kw_only(), "stream"_a.none(), "offset"_a = nb::none(),
        "shape"_a = nb::none(), "src_offset"_a = nb::none(), "pitch_bytes"_a = nb::none(),
        "rows_per_slice"_a = nb::none(),
        nb::sig("def copy_from(self, src: object, *, stream: Stream | GraphBuilder, offset: "
                "tuple[int, ...] | None = None, shape: tuple[int, ...] | None = None, src_offset: "
                "tuple[int, ...] | None = None, pitch_bytes: int | None = None, rows_per_slice: "
                "int | None = None) -> None"),
        R"(Copy all elements, or a region, into this array. Returns at once.

Parameters
----------
src : Buffer, OpaqueArray or object with the buffer protocol
    Where to copy from. A numpy array has the type of the channels and the shape of the region,
    slowest axis first; its last axis holds the channels. Its rows may have gaps. All numbers may
    also lie in one dimension. A buffer or a row of bytes, such as ``bytes``, has no type: it has at
    least the bytes of the region, rows one after another.
stream : Stream or GraphBuilder
    The copy is ordered on it. Host memory cannot be captured into a graph.
offset : tuple of int, optional
    The first element of the region: x, y, and the slice, layer or face.
shape : tuple of int, optional
    The size of the region: width, height, and slices, layers or faces. None is up to the end.
src_offset : tuple of int, optional
    The first element in another array.
pitch_bytes : int, optional
    Bytes from row to row in a buffer. None is without gaps.
rows_per_slice : int, optional
    Rows from slice to slice in a buffer. None is without gaps.

Raises
------
ValueError
    If the region does not lie in the array, or `src` is too small for it or has another shape or
    type.
TypeError
    If `src` has another type.)");
    type.def(
        "copy_to",
        [](const PyOpaqueArray& self, nb::handle destination, nb::handle stream, nb::handle offset,
           nb::handle shape, nb::handle dst_offset, nb::handle pitch, nb::handle rows) {
            copy_to(self, destination, stream,
                    copy_arguments(offset, shape, dst_offset, "dst_offset", pitch, rows));
            return nb::borrow(destination);
        },
        "dst"_a.none(), nb::kw_only(), "stream"_a.none(), "offset"_a = nb::none(),
        "shape"_a = nb::none(), "dst_offset"_a = nb::none(), "pitch_bytes"_a = nb::none(),
        "rows_per_slice"_a = nb::none(),
        nb::sig("def copy_to(self, dst: object, *, stream: Stream | GraphBuilder, offset: "
                "tuple[int, ...] | None = None, shape: tuple[int, ...] | None = None, dst_offset: "
                "tuple[int, ...] | None = None, pitch_bytes: int | None = None, rows_per_slice: "
                "int | None = None) -> object"),
        R"(Copy all elements, or a region, out of this array. Returns `dst` at once.

Parameters
----------
dst : Buffer, OpaqueArray or writable object with the buffer protocol
    Where to copy to; see ``copy_from``. Keep host memory alive, and do not read it before the
    stream gets there.
stream : Stream or GraphBuilder
    The copy is ordered on it. Host memory cannot be captured into a graph.
offset : tuple of int, optional
    The first element of the region: x, y, and the slice, layer or face.
shape : tuple of int, optional
    The size of the region: width, height, and slices, layers or faces. None is up to the end.
dst_offset : tuple of int, optional
    The first element in another array.
pitch_bytes : int, optional
    Bytes from row to row in a buffer. None is without gaps.
rows_per_slice : int, optional
    Rows from slice to slice in a buffer. None is without gaps.

Returns
-------
object
    `dst`.

Raises
------
ValueError
    If the region does not lie in the array, or `dst` is too small for it or has another shape or
    type.
TypeError
    If `dst` has another type.)");
    type.def("to_numpy", to_numpy, nb::kw_only(), "stream"_a.none(), "offset"_a = nb::none(),
             "shape"_a = nb::none(),
             nb::sig("def to_numpy(self, *, stream: Stream, offset: tuple[int, ...] | None = None, "
                     "shape: tuple[int, ...] | None = None) -> typing.Any"),
             R"(Return all elements, or a region, as a new numpy array. Waits for the stream.

The axes are slices or layers, rows, columns and channels. An axis that the array does not have is
left out, and so is that of a single channel. Blocks of a compressed format are bytes, video formats
of one plane words.

Parameters
----------
stream : Stream
    The copy is ordered on it.
offset : tuple of int, optional
    The first element of the region: x, y, and the slice, layer or face.
shape : tuple of int, optional
    The size of the region: width, height, and slices, layers or faces. None is up to the end.

Returns
-------
numpy.ndarray
    The elements.

Raises
------
TypeError
    If `stream` is not a stream, or `offset` or `shape` is not a tuple of ints.
ValueError
    If the region does not lie in the array.
ClosedError
    If the array or the stream is closed.
ImportError
    If numpy is not installed.)");
}

std::uintptr_t address(const OpaqueArray& array) {
    return array.is_closed() ? 0 : reinterpret_cast<std::uintptr_t>(array.handle());
}

CopyArguments copy_arguments(nb::handle offset, nb::handle shape, nb::handle other_offset,
                             const char* other_name, nb::handle pitch_bytes,
                             nb::handle rows_per_slice) {
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

nb::object to_numpy(const PyOpaqueArray& self, nb::handle stream, nb::handle offset,
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

} // namespace

} // namespace cuprum::python
