// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A buffer as a DLPack tensor: one dimension of bytes. The tensor shares the memory, so that it
// outlives the buffer's close().

#include "memory/buffer_dlpack.hpp"

#include "arrays/dlpack_export.hpp"
#include "arrays/view_sources.hpp"
#include "memory/buffer_objects.hpp"
#include "support/class.hpp"
#include "support/leaving.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/detail/order.hpp>
#include <cuprum/dlpack.hpp>

namespace cuprum::python {

namespace {

[[nodiscard]] nb::object export_buffer(const PyBuffer& self, nb::handle stream,
                                       nb::handle max_version, nb::handle device, nb::handle copy);
[[nodiscard]] nb::object device_tuple(const PyBuffer& self);
[[nodiscard]] const dlpack::ExchangeTable& exchange_table();

} // namespace

void bind_buffer_dlpack(Class<PyBuffer>& type) {
    type.method<export_buffer>("__dlpack__", HOT);
    type.method<device_tuple>("__dlpack_device__", HOT);
    const nb::object capsule = exchange_capsule(exchange_table());
    type.attr("__dlpack_c_exchange_api__") = capsule;
}

dlpack::DeviceType dlpack_device_type_of(const Buffer& memory) {
    using dlpack::DeviceType;
    const bool is_on_device = memory.is_device_accessible();
    const bool is_on_host = memory.is_host_accessible();
    if (is_on_device) {
        return !is_on_host           ? DeviceType::Cuda
               : memory.is_managed() ? DeviceType::CudaManaged
                                     : DeviceType::CudaHost;
    }
    if (!is_on_host) {
        raise_error(PyExc_BufferError, "buffer is neither device-accessible nor host-accessible");
    }
    return DeviceType::Cpu;
}

dlpack::Device dlpack_device_of(const PyBuffer& buffer) {
    if (buffer.is_release_brief() && !buffer.is_closed()) [[likely]] { // from a device's pool
        return {dlpack::DeviceType::Cuda, buffer.device_id()};
    }
    const dlpack::DeviceType type = dlpack_device_type_of(buffer);
    return {type, type == dlpack::DeviceType::Cuda ? buffer.device_id() : 0};
}

bool wait_for_buffer(const ConsumerStream& consumer, const Buffer& memory) {
    note_python_in_driver(); // another library's stream
    const Brief unlocked;
    return cuprum::detail::order_after(reinterpret_cast<CUstream>(consumer.handle), memory);
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

/// What a tensor owns: a share of the memory, and what it points to.
template <typename Managed>
struct Exported {
    explicit Exported(const PyBuffer& shared)
        : buffer(shared), kept(nb::object(shared.kept).release().ptr()),
          is_release_brief(shared.is_release_brief()) {}

    Managed managed{};
    Buffer buffer;
    PyObject* kept; // as the buffer's; null if the core holds all there is
    std::int64_t extent = 0;
    std::int64_t stride = 1;
    bool is_release_brief;
};

template <typename Managed>
void destroy(Managed* managed) {
    // Any thread may drop a tensor, with or without the GIL; freeing may take long.
    auto* const exported = static_cast<Exported<Managed>*>(managed->owner);
    PyObject* const kept = exported->kept;
    if (Py_IsInitialized() != 0 && PyGILState_Check() != 0) {
        const Brief unlocked(!exported->is_release_brief);
        delete exported;
    } else {
        delete exported;
    }
    if (kept == nullptr) {
        return;
    }
    if (const PythonScope python; python) { // else it is freed with the process
        Py_DECREF(kept);
    }
}

template <typename Managed>
PyObject* kept_by(const Managed* tensor) noexcept {
    return tensor != nullptr && tensor->deleter == destroy<Managed>
               ? static_cast<Exported<Managed>*>(tensor->owner)->kept
               : nullptr;
}

void describe(const PyBuffer& self, dlpack::Device device, std::int64_t* extent,
              std::int64_t* stride, dlpack::Tensor& out) {
    *extent = static_cast<std::int64_t>(self.size());
    out = {.data = reinterpret_cast<void*>(static_cast<std::uintptr_t>(self.handle())),
           .device = device,
           .ndim = 1,
           .dtype = {dlpack::TypeCode::Int, 8, 1},
           .shape = extent,
           .strides = stride,
           .byte_offset = 0};
}

template <typename Managed>
Managed* make_tensor(const PyBuffer& self, dlpack::Device device) {
    auto exported = std::make_unique<Exported<Managed>>(self);
    Managed& managed = exported->managed;
    describe(self, device, &exported->extent, &exported->stride, managed.tensor);
    managed.owner = exported.get();
    managed.deleter = destroy<Managed>;
    if constexpr (std::is_same_v<Managed, dlpack::ManagedTensorVersioned>) {
        managed.version = dlpack::CURRENT_VERSION;
        managed.flags = self.is_readonly ? dlpack::FLAG_READ_ONLY : 0;
    }
    return &exported.release()->managed;
}

nb::object export_buffer(const PyBuffer& self, nb::handle stream, nb::handle max_version,
                         nb::handle device, nb::handle copy) {
    dlpack::Device own = dlpack_device_of(self);
    const bool is_on_host = own.type != dlpack::DeviceType::Cuda;
    const auto request = ExportRequest::read(stream, max_version, device, copy, own, is_on_host);
    if (request.wants_cpu) {
        own = {dlpack::DeviceType::Cpu, 0};
    } else if (request.ordering == ExportRequest::Ordering::Handle &&
               own.type != dlpack::DeviceType::Cpu) {
        wait_for_buffer(ConsumerStream{ConsumerStream::Kind::Handle, request.stream}, self);
    }
    request.check_readonly(self.is_readonly);
    return request.is_versioned
               ? wrap_in_capsule(make_tensor<dlpack::ManagedTensorVersioned>(self, own))
               : wrap_in_capsule(make_tensor<dlpack::ManagedTensor>(self, own));
}

nb::object device_tuple(const PyBuffer& self) {
    const dlpack::Device device = dlpack_device_of(self);
    return nb::make_tuple(static_cast<int>(device.type), device.id);
}

/// Returns the buffer in an object given to the exchange functions.
const PyBuffer& buffer_in(void* object) {
    const PyBuffer* buffer = get_if<PyBuffer>(static_cast<PyObject*>(object));
    if (buffer == nullptr) {
        raise_error(PyExc_TypeError, "py_object must be a Buffer, got " +
                                         type_label(static_cast<PyObject*>(object)));
    }
    return *buffer;
}

int managed_from_buffer(void* object, dlpack::ManagedTensorVersioned** out) {
    return status_of([&] {
        *out = nullptr;
        const PyBuffer& buffer = buffer_in(object);
        *out = make_tensor<dlpack::ManagedTensorVersioned>(buffer, dlpack_device_of(buffer));
    });
}

const dlpack::ExchangeTable& exchange_table() {
    static const dlpack::ExchangeTable table{
        .header = {dlpack::CURRENT_VERSION, nullptr},
        .allocate = refuse_allocation,
        .managed_from_object = managed_from_buffer,
        .managed_to_object = view_from_managed,
        .tensor_from_object = nullptr, // a buffer keeps no extents that could be lent
        .current_work_stream = no_current_stream,
    };
    return table;
}

} // namespace

PyObject* kept_by_buffer_tensor(const dlpack::ManagedTensor* tensor) noexcept {
    return kept_by(tensor);
}

PyObject* kept_by_buffer_tensor(const dlpack::ManagedTensorVersioned* tensor) noexcept {
    return kept_by(tensor);
}

} // namespace cuprum::python
