// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The buffer protocol for memory that the host can reach, as memoryview() and numpy use it. Each
// view holds a share of the memory, so closing the buffer does not free it.

#include "memory/buffer_objects.hpp"
#include "memory/buffer_parts.hpp"
#include "support/arguments.hpp"
#include "support/errors.hpp"
#include "support/gil.hpp"
#include "support/python_objects.hpp"

#include <cuprum/buffer.hpp>

#include <exception>
#include <memory>
#include <string>

namespace cuprum::python {

namespace {

int get_memory(PyObject* self, Py_buffer* out, int flags) {
    try {
        out->obj = nullptr;
        PyBuffer* const buffer = get_if<PyBuffer>(self);
        if (buffer == nullptr) {
            raise_error(PyExc_BufferError, "the Buffer was made with __new__ alone");
        }
        if (buffer->size() != 0 && buffer->handle() == 0) {
            raise_error(PyExc_BufferError,
                        "the buffer's address is null: there is no memory to see");
        }
        if (buffer->size() != 0 && !buffer->is_host_accessible()) {
            raise_error(PyExc_BufferError, "the buffer is memory of device " +
                                               std::to_string(buffer->device_id()) +
                                               ", which the host cannot reach; copy it with "
                                               "copy_to_host, or view it through DLPack");
        }
        // A memoryview shows the collector this buffer, which shows what it keeps. But it has no
        // finaliser: memory with a resource or a stream would be freed when the objects behind
        // those were taken apart already. So they are hidden.
        auto share = std::make_unique<Buffer>(buffer->resource.is_valid() ? lasting_share(*buffer)
                                                                          : Buffer(*buffer));
        static char nothing = 0; // some consumers refuse the address of an empty buffer
        void* const data = buffer->size() == 0 ? &nothing : buffer->data<void>();
        if (PyBuffer_FillInfo(out, self, data, static_cast<Py_ssize_t>(buffer->size()),
                              buffer->is_readonly ? 1 : 0, flags) != 0) {
            throw nb::python_error();
        }
        out->internal = share.release();
        const nb::ft_object_guard guard(self);
        ++buffer->exports;
        return 0;
    } catch (...) {
        set_python_error(std::current_exception());
        return -1;
    }
}

void release_memory(PyObject* self, Py_buffer* view) {
    {
        const Brief unlocked(true); // this may be the last share
        delete static_cast<Buffer*>(view->internal);
    }
    PyBuffer& buffer = *nb::inst_ptr<PyBuffer>(self);
    nb::object kept;
    const nb::ft_object_guard guard(self);
    if (--buffer.exports == 0 && buffer.is_closed()) {
        kept = std::move(buffer.kept);
    }
}

} // namespace

PyType_Slot* buffer_protocol_slots() {
    static PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_memory)},
                                  {Py_bf_releasebuffer, reinterpret_cast<void*>(release_memory)},
                                  {0, nullptr}};
    return slots;
}

} // namespace cuprum::python
