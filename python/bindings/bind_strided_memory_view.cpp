// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "arguments.hpp"
#include "objects.hpp"
#include "strided_memory_view.hpp"

#include <nanobind/nanobind.h>

#include <cstdint>
#include <span>

namespace cuprum::python {

using namespace nb::literals;

namespace {

[[nodiscard]] nb::tuple to_tuple(std::span<const std::int64_t> numbers);
void construct(StridedMemoryView* self, nb::handle object, nb::handle stream);

} // namespace

void bind_strided_memory_view(nb::module_& module) {
    nb::class_<StridedMemoryView> type(module, "StridedMemoryView", nb::is_weak_referenceable(),
                                       R"(Describe another library's array without copying it.

Made by one of the ``from_*`` methods from arrays of numpy, CuPy, PyTorch and others. Keeps the array
alive.)");
    note_type<StridedMemoryView>(type);
    type.def("__init__", construct, "obj"_a.none(), "stream_ptr"_a = nb::none(),
             nb::sig("def __init__(self, obj: object, stream_ptr: int | None = None) -> None"));
    type.def_static("from_any_interface", StridedMemoryView::from_any_interface, "obj"_a.none(),
                    "stream_ptr"_a = nb::none(),
                    nb::sig("def from_any_interface(obj: object, stream_ptr: int | None = None) -> "
                            "StridedMemoryView"),
                    R"(View an object through DLPack or else the CUDA array interface.

Parameters
----------
obj : object
    An array.
stream_ptr : int
    The stream that will use the memory, which is made to wait for what the array's own stream holds,
    or -1 for no ordering.

Raises
------
BufferError
    If the object has neither protocol or `stream_ptr` is not given.)");
    type.def_static("from_dlpack", StridedMemoryView::from_dlpack, "obj"_a.none(),
                    "stream_ptr"_a = nb::none(),
                    nb::sig("def from_dlpack(obj: object, stream_ptr: int | None = None) -> "
                            "StridedMemoryView"),
                    "View an object through DLPack. See ``from_any_interface``.");
    type.def_static("from_cuda_array_interface", StridedMemoryView::from_cuda_array_interface,
                    "obj"_a.none(), "stream_ptr"_a = nb::none(),
                    nb::sig("def from_cuda_array_interface(obj: object, stream_ptr: int | None = "
                            "None) -> StridedMemoryView"),
                    "View an object through ``__cuda_array_interface__``. See "
                    "``from_any_interface``.");
    type.def_static("from_array_interface", StridedMemoryView::from_array_interface, "obj"_a.none(),
                    nb::sig("def from_array_interface(obj: object) -> StridedMemoryView"),
                    "View an object in host memory through ``__array_interface__``.");
    type.def_prop_ro("ptr", &StridedMemoryView::ptr, "Return the address of the first element.");
    type.def_prop_ro("device_id", &StridedMemoryView::device_id,
                     "Return the ordinal of the device it lies on, -1 for host memory.");
    type.def_prop_ro("is_device_accessible", &StridedMemoryView::is_device_accessible,
                     "Tell whether devices can reach the memory.");
    type.def_prop_ro("readonly", &StridedMemoryView::readonly,
                     "Tell whether the memory must not be written.");
    type.def_prop_ro("exporting_obj", &StridedMemoryView::exporting_obj,
                     nb::sig("def exporting_obj(self) -> object"), "Return the array.");
    type.def_prop_ro(
        "shape", [](const StridedMemoryView& self) { return to_tuple(self.shape()); },
        nb::sig("def shape(self) -> tuple[int, ...]"), "Return the extents.");
    type.def_prop_ro(
        "strides",
        [](const StridedMemoryView& self) -> nb::object {
            const auto strides = self.strides();
            return strides ? nb::object(to_tuple(*strides)) : nb::none();
        },
        nb::sig("def strides(self) -> tuple[int, ...] | None"),
        "Return the strides in elements, or None if it is contiguous in C order.");
    type.def_prop_ro("size", &StridedMemoryView::size, "Return the number of elements.");
    type.def_prop_ro("dtype", &StridedMemoryView::dtype, nb::lock_self(),
                     nb::sig("def dtype(self) -> object"),
                     "Return the elements' numpy dtype, or its string if there is no numpy.");
    type.def("__repr__", [](StridedMemoryView& self) {
        return nb::str("StridedMemoryView(ptr={}, shape={}, strides={}, dtype={}, device_id={}, "
                       "is_device_accessible={}, readonly={})")
            .format(nb::str(hex_text(self.ptr()).c_str()), to_tuple(self.shape()),
                    self.strides() ? nb::object(to_tuple(*self.strides())) : nb::none(),
                    self.dtype(), self.device_id(), self.is_device_accessible(), self.readonly());
    });
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

nb::tuple to_tuple(std::span<const std::int64_t> numbers) {
    nb::list list;
    for (const std::int64_t number : numbers) {
        list.append(number);
    }
    return nb::tuple(list);
}

void construct(StridedMemoryView* self, nb::handle object, nb::handle stream) {
    if (PyErr_WarnEx(PyExc_DeprecationWarning,
                     "StridedMemoryView(obj) is deprecated; use "
                     "StridedMemoryView.from_any_interface(obj, stream_ptr)",
                     1) != 0) {
        throw nb::python_error();
    }
    new (self) StridedMemoryView(StridedMemoryView::from_any_interface(object, stream));
}

} // namespace

} // namespace cuprum::python
