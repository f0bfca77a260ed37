// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A view as a DLPack tensor, which keeps the view alive.

#include "arrays/view_dlpack.hpp"

#include "arrays/dlpack_export.hpp"
#include "arrays/view_sources.hpp"
#include "memory/buffer_dlpack.hpp"
#include "support/class.hpp"
#include "support/leaving.hpp"

#include <cuprum/dlpack.hpp>
#include <cuprum/strided_layout.hpp>

#include <new>

namespace cuprum::python {

namespace {

[[nodiscard]] nb::object export_view(nb::handle self, nb::handle stream, nb::handle max_version,
                                     nb::handle device, nb::handle copy);
[[nodiscard]] nb::object device_tuple(StridedMemoryView& self);
[[nodiscard]] const dlpack::ExchangeTable& exchange_table();

} // namespace

void bind_view_dlpack(Class<StridedMemoryView>& type) {
    type.method<export_view>("__dlpack__", HOT);
    type.method<device_tuple>("__dlpack_device__", HOT);
    const nb::object capsule = exchange_capsule(exchange_table());
    type.attr("__dlpack_c_exchange_api__") = capsule;
    type.attr("__c_dlpack_exchange_api__") = capsule; // its name before it was settled
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

/// Gives back a tensor: the view, and what lies in the same block.
template <typename Managed>
void destroy(Managed* managed) {
    auto* const view = static_cast<PyObject*>(managed->owner);
    if (const PythonScope python; python) { // else there is nothing left to give it back to
        Py_DECREF(view);
    }
    ::operator delete(managed);
}

template <typename Managed>
PyObject* kept_by(const Managed* tensor) noexcept {
    return tensor != nullptr && tensor->deleter == destroy<Managed>
               ? static_cast<PyObject*>(tensor->owner)
               : nullptr;
}

void describe(StridedMemoryView& view, dlpack::Device device, dlpack::Tensor& out) {
    out.dtype = view.dlpack_type();
    out.device = device;
    out.ndim = static_cast<std::int32_t>(view.shape().size());
    // Consumers take the address of nothing for nothing.
    out.data = view.size() == 0 ? nullptr : reinterpret_cast<void*>(view.pointer);
    out.byte_offset = 0;
    out.shape = nullptr;
    out.strides = nullptr;
}

/// Makes a tensor, its extents and its strides (which version 1.2 demands) in one block.
template <typename Managed>
Managed* make_tensor(nb::handle object, StridedMemoryView& view, dlpack::Device device) {
    dlpack::Tensor tensor{};
    describe(view, device, tensor);
    const std::size_t ndim = view.shape().size();
    const StridedLayout layout = view.layout();
    void* const block = ::operator new(sizeof(Managed) + 2 * ndim * sizeof(std::int64_t));
    auto* const managed = new (block) Managed{};
    if (ndim != 0) {
        auto* const extents = reinterpret_cast<std::int64_t*>(managed + 1);
        std::ranges::copy(layout.shape(), extents);
        std::ranges::copy(layout.strides(), extents + ndim);
        tensor.shape = extents;
        tensor.strides = extents + ndim;
    }
    managed->tensor = tensor;
    managed->owner = Py_NewRef(object.ptr());
    managed->deleter = destroy<Managed>;
    if constexpr (std::is_same_v<Managed, dlpack::ManagedTensorVersioned>) {
        managed->version = dlpack::CURRENT_VERSION;
        managed->flags = view.is_readonly ? dlpack::FLAG_READ_ONLY : 0;
    }
    return managed;
}

StridedMemoryView& view_in(nb::handle object) {
    auto* const view = get_if<StridedMemoryView>(object);
    if (view == nullptr) {
        raise_error(PyExc_TypeError,
                    "py_object must be a StridedMemoryView, got " + type_label(object));
    }
    return *view;
}

nb::object export_view(nb::handle self, nb::handle stream, nb::handle max_version,
                       nb::handle device, nb::handle copy) {
    StridedMemoryView& view = view_in(self);
    const nb::ft_object_guard guard(self); // what is made when it is first asked for
    dlpack::Device own = view.dlpack_device();
    const bool is_on_host = own.type != dlpack::DeviceType::Cuda;
    const auto request = ExportRequest::read(stream, max_version, device, copy, own, is_on_host);
    if (request.wants_cpu) {
        own = {dlpack::DeviceType::Cpu, 0};
    } else if (request.ordering == ExportRequest::Ordering::Handle) {
        const ConsumerStream consumer{ConsumerStream::Kind::Handle, request.stream};
        if (view.is_ordered) {
            consumer.wait_for(view.ordered_stream);
        } else if (!view.share.is_closed() && own.type != dlpack::DeviceType::Cpu) {
            wait_for_buffer(consumer, view.share);
        }
    }
    request.check_readonly(view.is_readonly);
    return request.is_versioned
               ? wrap_in_capsule(make_tensor<dlpack::ManagedTensorVersioned>(self, view, own))
               : wrap_in_capsule(make_tensor<dlpack::ManagedTensor>(self, view, own));
}

nb::object device_tuple(StridedMemoryView& self) {
    const dlpack::Device device = self.dlpack_device();
    return nb::make_tuple(static_cast<int>(device.type), device.id);
}

int managed_from_view(void* object, dlpack::ManagedTensorVersioned** out) {
    return status_of([&] {
        *out = nullptr;
        const nb::handle self(static_cast<PyObject*>(object));
        StridedMemoryView& view = view_in(self);
        const nb::ft_object_guard guard(self);
        *out = make_tensor<dlpack::ManagedTensorVersioned>(self, view, view.dlpack_device());
    });
}

int tensor_from_view(void* object, dlpack::Tensor* out) {
    return status_of([&] {
        const nb::handle self(static_cast<PyObject*>(object));
        StridedMemoryView& view = view_in(self);
        const nb::ft_object_guard guard(self);
        describe(view, view.dlpack_device(), *out);
        if (out->ndim != 0) {
            // The layout lives as long as the view does.
            const auto& layout = *nb::inst_ptr<StridedLayout>(view.layout_object());
            out->shape = const_cast<std::int64_t*>(layout.shape().data());
            out->strides = const_cast<std::int64_t*>(layout.strides().data());
        }
    });
}

const dlpack::ExchangeTable& exchange_table() {
    static const dlpack::ExchangeTable table{
        .header = {dlpack::CURRENT_VERSION, nullptr},
        .allocate = refuse_allocation,
        .managed_from_object = managed_from_view,
        .managed_to_object = view_from_managed,
        .tensor_from_object = tensor_from_view,
        .current_work_stream = no_current_stream,
    };
    return table;
}

} // namespace

PyObject* kept_by_view_tensor(const dlpack::ManagedTensor* tensor) noexcept {
    return kept_by(tensor);
}

PyObject* kept_by_view_tensor(const dlpack::ManagedTensorVersioned* tensor) noexcept {
    return kept_by(tensor);
}

} // namespace cuprum::python
