// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Copies between views, buffers and the arrays of other libraries.

#include "arrays/view_copy.hpp"

#include "arrays/view_sources.hpp"
#include "memory/buffer_objects.hpp"
#include "support/class.hpp"

#include <cuprum/detail/order.hpp>
#include <cuprum/detail/unexposed_handle.hpp>
#include <cuprum/dlpack.hpp>
#include <cuprum/region.hpp>
#include <cuprum/strided_layout.hpp>

namespace cuprum::python {

namespace {

/// One side of a copy.
struct Side {
    nb::object kept; // what holds the memory
    StridedMemoryView* view = nullptr;
};

/// Returns the other side as a view; a buffer is seen in the shape of `like`.
Side side_of(nb::handle object, StridedMemoryView& like, const Stream& stream) {
    if (auto* view = get_if<StridedMemoryView>(object)) {
        return {nb::borrow(object), view};
    }
    Side side{make<StridedMemoryView>(), nullptr};
    side.view = nb::inst_ptr<StridedMemoryView>(side.kept);
    if (const PyBuffer* buffer = get_if<PyBuffer>(object)) {
        const StridedLayout layout(like.shape(), like.itemsize);
        if (buffer->size() != layout.required_size_in_bytes()) {
            raise_error(PyExc_ValueError, "the buffer has " + std::to_string(buffer->size()) +
                                              " bytes, expected the view's " +
                                              std::to_string(layout.required_size_in_bytes()));
        }
        view_buffer(*side.view, object, make<StridedLayout>(layout), nb::none(), false);
    } else {
        const auto handle = reinterpret_cast<std::uintptr_t>(stream.handle());
        view_any(*side.view, object, {ConsumerStream::Kind::Handle, handle});
    }
    return side;
}

void check_types(StridedMemoryView& destination, StridedMemoryView& source) {
    using Source = StridedMemoryView::TypeSource;
    if (destination.type_source == Source::None || source.type_source == Source::None) {
        return; // bytes; the sizes are compared later
    }
    if (destination.type_source == Source::DLPack && source.type_source == Source::DLPack) {
        const dlpack::DataType& a = destination.type;
        const dlpack::DataType& b = source.type;
        if (a.code == b.code && a.bits == b.bits && a.lanes == b.lanes) {
            return;
        }
    }
    const nb::object into = destination.dtype_object();
    const nb::object out_of = source.dtype_object();
    if (!into.equal(out_of)) {
        raise_error(PyExc_ValueError, "the source's elements are " + repr_text(out_of) +
                                          ", the destination's " + repr_text(into) +
                                          ", expected the same: a copy does not convert");
    }
}

void copy(StridedMemoryView& destination, StridedMemoryView& source, const Stream& stream,
          nb::handle blocking) {
    if (destination.is_readonly) {
        raise_error(PyExc_ValueError,
                    "the destination is read-only; copy into memory that may be written");
    }
    check_types(destination, source);
    const StridedLayout into = destination.layout();
    const StridedLayout out_of = source.layout();
    for (const StridedMemoryView* side : {&destination, &source}) {
        if (side->is_ordered) {
            const auto handle = reinterpret_cast<std::uintptr_t>(stream.handle());
            ConsumerStream{ConsumerStream::Kind::Handle, handle}.wait_for(side->ordered_stream);
        }
    }
    const bool is_waiting = blocking.is_none()
                                ? !destination.is_device_accessible || !source.is_device_accessible
                                : flag_argument(blocking, false);
    if (is_waiting && cuprum::detail::is_capturing(cuprum::detail::unexposed_handle(stream))) {
        raise_error(PyExc_RuntimeError,
                    "stream is capturing, and a copy that waits for it would end the capture; copy "
                    "between buffers, or pass blocking=False and keep the memory as long as the "
                    "graph");
    }
    const CUdeviceptr to = destination.base;
    const CUdeviceptr from = source.base;
    const nb::gil_scoped_release unlocked;
    copy_strided(to, into, from, out_of, stream);
    if (is_waiting) {
        stream.sync();
    }
}

void refuse_allocator(nb::handle allocator) {
    if (!allocator.is_none()) {
        raise_error(PyExc_TypeError, "allocator must be None, got " + type_label(allocator) +
                                         ": copies need no temporary memory");
    }
}

void copy_from(nb::handle self, nb::handle other, nb::handle stream, nb::handle allocator,
               nb::handle blocking) {
    auto& view = held_by<StridedMemoryView>(self);
    refuse_allocator(allocator);
    const Stream& order = stream_argument(stream);
    view.check_not_empty();
    const Side source = side_of(other, view, order);
    copy(view, *source.view, order, blocking);
}

void copy_to(nb::handle self, nb::handle other, nb::handle stream, nb::handle allocator,
             nb::handle blocking) {
    auto& view = held_by<StridedMemoryView>(self);
    refuse_allocator(allocator);
    const Stream& order = stream_argument(stream);
    view.check_not_empty();
    const Side destination = side_of(other, view, order);
    copy(*destination.view, view, order, blocking);
}

} // namespace

void bind_view_copy(Class<StridedMemoryView>& type) {
    type.method<copy_from>("copy_from", HOT);
    type.method<copy_to>("copy_to", HOT);
}

} // namespace cuprum::python
