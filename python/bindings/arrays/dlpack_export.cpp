// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "arrays/dlpack_export.hpp"

#include "arrays/view_sources.hpp"
#include "support/compatibility.hpp"
#include "support/errors.hpp"
#include "support/python_objects.hpp"

#include <cuprum/device.hpp>
#include <cuprum/dlpack.hpp>

#include <string>

namespace cuprum::python {

namespace {

[[noreturn, gnu::cold]] void refuse_device(nb::handle device, const dlpack::Device& own,
                                           bool is_host_accessible) {
    const std::string refusal = "Sorry, not supported: dl_device other than None";
    if (compatibility::keeps_dlpack_errors_short()) {
        raise_error(PyExc_BufferError, refusal);
    }
    raise_error(PyExc_BufferError, refusal + " and where the memory is, (" +
                                       std::to_string(static_cast<int>(own.type)) + ", " +
                                       std::to_string(own.id) +
                                       (is_host_accessible ? ") or (1, 0)" : ")") + ", got " +
                                       repr_text(device) + "; nothing is copied");
}

[[nodiscard]] bool knows_versions(nb::handle max_version) {
    if (max_version.is_none()) {
        return false;
    }
    const bool is_pair =
        PyTuple_Check(max_version.ptr()) != 0 && PyTuple_GET_SIZE(max_version.ptr()) == 2;
    const auto number = [&](Py_ssize_t index) {
        return is_pair ? PyLong_AsLong(PyTuple_GET_ITEM(max_version.ptr(), index)) : -1;
    };
    const long major = number(0);
    if (major < 0 || number(1) < 0) {
        PyErr_Clear();
        raise_error(PyExc_BufferError,
                    "Expected max_version tuple[int, int], got " + repr_text(max_version));
    }
    return major >= 1;
}

} // namespace

ExportRequest ExportRequest::read(nb::handle stream, nb::handle max_version, nb::handle device,
                                  nb::handle copy, const dlpack::Device& own,
                                  bool is_host_accessible) {
    ExportRequest request;
    if (flag_argument(copy, false)) {
        raise_error(PyExc_BufferError, "Sorry, not supported: copy=True");
    }
    if (!device.is_none()) {
        constexpr int cpu = static_cast<int>(dlpack::DeviceType::Cpu);
        const bool is_own = nb::make_tuple(static_cast<int>(own.type), own.id).equal(device);
        request.wants_cpu = !is_own && is_host_accessible && nb::make_tuple(cpu, 0).equal(device);
        if (!is_own && !request.wants_cpu) {
            refuse_device(device, own, is_host_accessible);
        }
    }
    request.is_versioned = knows_versions(max_version);
    const ConsumerStream consumer = ConsumerStream::from(stream, "stream");
    if (consumer.kind == ConsumerStream::Kind::Handle) {
        request.ordering = Ordering::Handle;
        request.stream = consumer.handle;
    }
    return request;
}

void ExportRequest::check_readonly(bool is_readonly) const {
    if (is_readonly && !is_versioned && !compatibility::exports_readonly_memory_unmarked()) {
        raise_error(PyExc_BufferError, "the memory is read-only, which DLPack marks only since "
                                       "version 1.0; pass max_version=(1, 0)");
    }
}

nb::object exchange_capsule(const dlpack::ExchangeTable& table) {
    PyObject* capsule =
        PyCapsule_New(const_cast<dlpack::ExchangeTable*>(&table), dlpack::EXCHANGE_NAME, nullptr);
    if (capsule == nullptr) {
        throw nb::python_error();
    }
    return nb::steal(capsule);
}

int refuse_allocation(dlpack::Tensor* /*prototype*/, dlpack::ManagedTensorVersioned** out,
                      void* context, dlpack::SetError set_error) {
    const char* const text = "allocating through DLPack is not supported; use "
                             "MemoryResource.allocate and StridedMemoryView.from_buffer";
    if (out != nullptr) {
        *out = nullptr;
    }
    if (set_error != nullptr) {
        set_error(context, "NotImplementedError", text);
        return -1;
    }
    const PyGILState_STATE state = PyGILState_Ensure();
    PyErr_SetString(PyExc_NotImplementedError, text);
    PyGILState_Release(state);
    return -1;
}

int view_from_managed(dlpack::ManagedTensorVersioned* tensor, void** out_object) {
    if (out_object == nullptr) {
        PyErr_SetString(PyExc_RuntimeError, "out_py_object cannot be NULL");
        return -1;
    }
    *out_object = nullptr;
    if (tensor == nullptr) {
        PyErr_SetString(PyExc_RuntimeError, "tensor cannot be NULL");
        return -1;
    }
    return status_of([&] {
        nb::object object = make<StridedMemoryView>();
        view_managed(*nb::inst_ptr<StridedMemoryView>(object), nb::none(), tensor);
        *out_object = object.release().ptr();
    });
}

int no_current_stream(dlpack::DeviceType /*type*/, std::int32_t /*id*/, void** out_stream) {
    if (out_stream == nullptr) {
        PyErr_SetString(PyExc_RuntimeError, "out_current_stream cannot be NULL");
        return -1;
    }
    *out_stream = nullptr;
    return 0;
}

} // namespace cuprum::python
