// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A buffer as a DLPack tensor: one dimension of bytes. The capsule shares the memory, so that it
// outlives the buffer's close().

#include "buffer_dlpack.hpp"

#include "arguments.hpp"
#include "dlpack.hpp"

#include <nanobind/nanobind.h>

#include <array>
#include <cstdint>
#include <memory>
#include <utility>

namespace cuprum::python {

using namespace nb::literals;

namespace {

[[nodiscard]] nb::object export_buffer(const PyBuffer& self, nb::handle stream,
                                       nb::handle max_version, nb::handle device, nb::handle copy);
[[nodiscard]] dlpack::Device device_of(const PyBuffer& self);

} // namespace

void bind_buffer_dlpack(nb::class_<PyBuffer>& type) {
    type.def("__dlpack__", export_buffer, nb::kw_only(), "stream"_a = nb::none(),
             "max_version"_a = nb::none(), "dl_device"_a = nb::none(), "copy"_a = nb::none(),
             nb::sig("def __dlpack__(self, *, stream: int | None = None, max_version: tuple[int, "
                     "int] | None = None, dl_device: tuple[int, int] | None = None, copy: bool | "
                     "None = None) -> object"),
             R"(Return the memory as a DLPack capsule: one dimension of int8.

Parameters
----------
stream : int, optional
    Accepted for the protocol's sake. A buffer does not know which stream last wrote to it, so the
    caller orders its work.
max_version : tuple of int, optional
    The newest version that the caller knows; a versioned capsule is returned from (1, 0) on.
dl_device : tuple of int, optional
    Only None or the device it lies on.
copy : bool, optional
    True is refused.

Raises
------
BufferError
    If another device or a copy is asked for.)");
    type.def(
        "__dlpack_device__",
        [](const PyBuffer& self) {
            const dlpack::Device device = device_of(self);
            return nb::make_tuple(static_cast<int>(device.type), device.id);
        },
        nb::sig("def __dlpack_device__(self) -> tuple[int, int]"),
        "Return DLPack's device type and the ordinal.");
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

/// What a capsule owns: a share of the memory, and what its tensor points to.
template <typename Managed>
struct Exported {
    explicit Exported(const Buffer& shared) : buffer(shared) {}

    Managed managed{};
    Buffer buffer;
    std::int64_t extent = 0;
};

template <typename Managed>
void destroy(Managed* managed) {
    // Any thread may drop a tensor, with or without the GIL.
    delete static_cast<Exported<Managed>*>(managed->owner);
}

template <typename Managed>
const char* capsule_name();

template <>
const char* capsule_name<dlpack::ManagedTensor>() {
    return dlpack::NAME;
}

template <>
const char* capsule_name<dlpack::ManagedTensorVersioned>() {
    return dlpack::VERSIONED_NAME;
}

template <typename Managed>
nb::object make_capsule(const PyBuffer& self) {
    auto exported = std::make_unique<Exported<Managed>>(self);
    exported->extent = static_cast<std::int64_t>(self.size());
    Managed& managed = exported->managed;
    managed.owner = exported.get();
    managed.deleter = destroy<Managed>;
    managed.tensor = {.data = reinterpret_cast<void*>(static_cast<std::uintptr_t>(self.handle())),
                      .device = device_of(self),
                      .ndim = 1,
                      .dtype = {dlpack::TypeCode::Int, 8, 1},
                      .shape = &exported->extent,
                      .strides = nullptr,
                      .byte_offset = 0};
    if constexpr (std::is_same_v<Managed, dlpack::ManagedTensorVersioned>) {
        managed.version = dlpack::CURRENT_VERSION;
    }
    PyObject* capsule = PyCapsule_New(&managed, capsule_name<Managed>(), [](PyObject* unused) {
        // A consumer renames the capsule and takes over its contents.
        if (PyCapsule_IsValid(unused, capsule_name<Managed>()) != 0) {
            auto* held =
                static_cast<Managed*>(PyCapsule_GetPointer(unused, capsule_name<Managed>()));
            const nb::gil_scoped_release unlocked;
            held->deleter(held);
        }
    });
    if (capsule == nullptr) {
        throw nb::python_error();
    }
    exported.release();
    return nb::steal(capsule);
}

nb::object export_buffer(const PyBuffer& self, nb::handle /*stream*/, nb::handle max_version,
                         nb::handle device, nb::handle copy) {
    if (!copy.is_none() && PyObject_IsTrue(copy.ptr()) != 0) {
        raise_error(PyExc_BufferError,
                    "copy must be None or False: a buffer is shared, not copied");
    }
    if (!device.is_none()) {
        const dlpack::Device own = device_of(self);
        if (!nb::make_tuple(static_cast<int>(own.type), own.id).equal(device)) {
            raise_error(PyExc_BufferError,
                        "dl_device must be None or the device the buffer lies on: it is not moved");
        }
    }
    if (max_version.is_none()) {
        return make_capsule<dlpack::ManagedTensor>(self);
    }
    if (PyTuple_Check(max_version.ptr()) == 0 || PyTuple_Size(max_version.ptr()) != 2) {
        raise_error(PyExc_BufferError,
                    "max_version must be a tuple (major, minor), got " + type_label(max_version));
    }
    const long major = PyLong_AsLong(PyTuple_GetItem(max_version.ptr(), 0));
    if (major == -1 && PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        raise_error(PyExc_BufferError, "max_version must hold two integers");
    }
    return major >= 1 ? make_capsule<dlpack::ManagedTensorVersioned>(self)
                      : make_capsule<dlpack::ManagedTensor>(self);
}

dlpack::Device device_of(const PyBuffer& self) {
    const bool is_on_device = self.is_device_accessible();
    const bool is_on_host = self.is_host_accessible();
    if (is_on_device && is_on_host) {
        const bool is_managed =
            self.resource.is_valid() &&
            PyObject_IsTrue(nb::object(self.resource.attr("is_managed")).ptr()) == 1;
        return is_managed ? dlpack::Device{dlpack::DeviceType::CudaManaged, 0}
                          : dlpack::Device{dlpack::DeviceType::CudaHost, 0};
    }
    if (is_on_device) {
        return {dlpack::DeviceType::Cuda, self.device_id()};
    }
    if (is_on_host) {
        return {dlpack::DeviceType::Cpu, 0};
    }
    raise_error(PyExc_BufferError, "neither host nor device can reach this buffer");
}

} // namespace

} // namespace cuprum::python
