// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "memory/buffer_objects.hpp"
#include "memory/memory_objects.hpp"
#include "stream/stream_objects.hpp"
#include "support/class.hpp"
#include "support/leaving.hpp"
#include "support/lent_owner.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/detail/access.hpp>
#include <cuprum/memory_resource.hpp>

#include <memory>
#include <new>
#include <stdexcept>

namespace cuprum::python {

using namespace nb::literals;

namespace {

/// A MemoryResource written in Python, as the core sees it: frees go to its `deallocate`.
///
/// It does not hold the Python object, which the collector could not see: every share of a buffer
/// that comes from it goes with a reference of its own (PyBuffer::kept, lasting_share).
class PythonMemoryResource final : public MemoryResource {
public:
    explicit PythonMemoryResource(nb::handle object);

    [[nodiscard]] CUdeviceptr allocate_bytes(std::size_t bytes, const Stream& stream) override;
    void deallocate_bytes(CUdeviceptr pointer, std::size_t bytes, const Stream& stream) override;

    [[nodiscard]] bool is_device_accessible() const noexcept override { return is_device_; }

    [[nodiscard]] bool is_host_accessible() const noexcept override { return is_host_; }

    [[nodiscard]] bool is_managed() const noexcept override { return is_managed_; }

    [[nodiscard]] int device_id() const noexcept override { return device_id_; }

    // The object is there as long as the buffer is; see PyBuffer::leave_share.
    [[nodiscard]] bool may_free_later() const noexcept override { return false; }

protected:
    [[nodiscard]] Buffer make_buffer(std::size_t bytes, const Stream& stream) override;

private:
    nb::handle object_;
    bool is_device_ = false;
    bool is_host_ = false;
    bool is_managed_ = false;
    int device_id_ = -1;
};

void bind_base(nb::module_& module);
[[nodiscard]] bool is_of_core(nb::handle resource) noexcept;
[[noreturn]] void refuse(nb::handle self, const char* member);

} // namespace

void bind_memory_resource(nb::module_& module) {
    bind_base(module);
}

std::shared_ptr<MemoryResource> core_resource(nb::handle resource) {
    if (PyObject_TypeCheck(resource.ptr(), TYPE<PyMemoryResource>) == 0) {
        raise_error(PyExc_TypeError, "mr must be a MemoryResource, got " + type_label(resource));
    }
    if (is_of_core(resource) && !nb::inst_ready(resource)) {
        raise_error(PyExc_TypeError, "mr is not made yet: call its __init__");
    }
    if (is_python_resource(resource)) {
        return std::make_shared<PythonMemoryResource>(resource);
    }
    if (get_if<PyMemoryPool>(resource) != nullptr) {
        return nb::inst_ptr<PyMemoryPool>(resource)->core->shared_from_this();
    }
    return nb::inst_ptr<PyNativeResource>(resource)->core;
}

bool is_python_resource(nb::handle resource) noexcept {
    // A class derived from one of ours may free in its own way.
    const PyTypeObject* type = Py_TYPE(resource.ptr());
    const std::array<const PyTypeObject*, 7> own{
        TYPE<PyDeviceMemoryResource>,      TYPE<PyPinnedMemoryResource>,
        TYPE<PyManagedMemoryResource>,     TYPE<PyLegacyPinnedMemoryResource>,
        TYPE<PySynchronousMemoryResource>, TYPE<PyGraphMemoryResource>,
        TYPE<PyVirtualMemoryResource>};
    return std::ranges::find(own, type) == own.end();
}

void keep_also(nb::handle buffer, nb::handle object) {
    nb::object& kept = payload<PyBuffer>(buffer)->kept;
    kept = kept.is_valid() ? nb::object(nb::make_tuple(kept, object)) : nb::borrow(object);
    if (!is_tracked(buffer)) {
        PyObject_GC_Track(buffer.ptr());
    }
}

void show_foreign_stream(nb::handle buffer, nb::handle stream) {
    const nb::handle queue = stream_object(stream);
    const bool is_foreign = payload<PyStream>(queue)->lent.owner().is_valid();
    const nb::object before = std::exchange(payload<PyBuffer>(buffer)->freed_on,
                                            is_foreign ? nb::borrow(queue) : nb::object());
    if (is_foreign && !is_tracked(buffer)) {
        PyObject_GC_Track(buffer.ptr());
    }
}

Buffer lasting_share(const PyBuffer& buffer) {
    if (!buffer.kept.is_valid()) {
        return buffer;
    }

    struct Both {
        std::shared_ptr<void> kept; // given up last
        Buffer share;
    };

    const auto both = std::make_shared<Both>(keep_alive(buffer.kept), Buffer(buffer));
    using cuprum::detail::Access;
    return Access::make<Buffer>(
        std::shared_ptr<cuprum::detail::MemoryRange>(both, Access::state(both->share).get()));
}

void retain_lasting_share(const PyBuffer& buffer, const Stream& stream) {
    auto share = cuprum::detail::Access::state(lasting_share(buffer));
    const nb::gil_scoped_release unlocked;
    cuprum::detail::retain_object(stream, std::move(share));
}

void PyBuffer::leave_share() const noexcept {
    try {
        cuprum::detail::defer_release(cuprum::detail::Access::state(lasting_share(*this)));
    } catch (const std::bad_alloc&) {
        return; // it is then freed here, which is reported if it cannot be
    }
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

void bind_base(nb::module_& module) {
    Class<PyMemoryResource> type(module, "MemoryResource", nb::is_weak_referenceable());
    type.constructor([](nb::pointer_and_handle<PyMemoryResource> self) {
        if (is_of_core(self.h)) { // which holds more than a PyMemoryResource
            raise_error(PyExc_TypeError, "MemoryResource.__init__ cannot make a " +
                                             type_label(self.h) +
                                             ": call the __init__ of the class it is derived from");
        }
        new (self.p) PyMemoryResource();
    });
    // NOTE: nb::handle, not PyMemoryResource&: derived classes need not call __init__.
    type.method("allocate",
                [](nb::handle self, nb::handle, nb::handle) { refuse(self, "allocate"); });
    type.method("deallocate", [](nb::handle self, nb::handle, nb::handle, nb::handle) {
        refuse(self, "deallocate");
    });
    type.property("is_device_accessible",
                  [](nb::handle self) { refuse(self, "is_device_accessible"); });
    type.property("is_host_accessible",
                  [](nb::handle self) { refuse(self, "is_host_accessible"); });
    type.property("device_id", [](nb::handle self) { refuse(self, "device_id"); });
    type.property("is_managed", [](nb::handle) { return false; });
    type.method("__repr__", [](nb::handle self) {
        return nb::object(nb::module_::import_("cuprum._display").attr("memory_resource")(self));
    });
}

void refuse(nb::handle self, const char* member) {
    raise_error(PyExc_TypeError, type_label(self) + " must override MemoryResource." + member);
}

/// Returns whether a resource holds one of the core, its class being one of ours or derived from
/// it.
bool is_of_core(nb::handle resource) noexcept {
    return PyObject_TypeCheck(resource.ptr(), TYPE<PyMemoryPool>) != 0 ||
           PyObject_TypeCheck(resource.ptr(), TYPE<PyNativeResource>) != 0;
}

/// Returns what a resource says of itself, or null: a class may leave things out, or say that it
/// has none of them, in the ways of Python and of its base classes. Other errors are errors.
nb::object said_by(nb::handle resource, const char* name) {
    PyObject* const value = PyObject_GetAttrString(resource.ptr(), name);
    if (value != nullptr) {
        return nb::steal(value);
    }
    for (PyObject* const reason :
         {PyExc_AttributeError, PyExc_NotImplementedError, PyExc_TypeError, PyExc_RuntimeError}) {
        if (PyErr_ExceptionMatches(reason) != 0) {
            PyErr_Clear();
            return {};
        }
    }
    throw nb::python_error();
}

PythonMemoryResource::PythonMemoryResource(nb::handle object) : object_(object) {
    // Read once, because any thread may ask a buffer.
    const auto is = [object](const char* name) {
        const nb::object said = said_by(object, name);
        return said.is_valid() && flag_argument(said, false);
    };
    is_device_ = is("is_device_accessible");
    is_host_ = is("is_host_accessible");
    is_managed_ = is("is_managed");
    if (const nb::object device = said_by(object, "device_id"); device.is_valid()) {
        const std::string name = type_label(object) + ".device_id";
        device_id_ = optional_int_argument(device, name.c_str()).value_or(-1);
    }
}

Buffer PythonMemoryResource::make_buffer(std::size_t bytes, const Stream& stream) {
    const nb::gil_scoped_acquire locked;
    const nb::object self = nb::borrow(object_);
    const nb::object made =
        self.attr("allocate")(bytes, "stream"_a = make<PyStream>(Stream(stream)));
    const PyBuffer* buffer = get_if<PyBuffer>(made);
    if (buffer == nullptr) {
        raise_error(PyExc_TypeError,
                    type_label(self) + ".allocate must give a Buffer, got " + type_label(made));
    }
    return lasting_share(*buffer);
}

CUdeviceptr PythonMemoryResource::allocate_bytes(std::size_t /*bytes*/, const Stream& /*stream*/) {
    throw std::logic_error("a memory resource written in Python gives whole buffers");
}

void PythonMemoryResource::deallocate_bytes(CUdeviceptr pointer, std::size_t bytes,
                                            const Stream& stream) {
    const PythonScope python;
    if (!python) {
        return;
    }
    // A buffer may be dropped while an exception is on its way.
    const nb::error_scope pending;
    const nb::object self = nb::borrow(object_); // it may let go of itself
    self.attr("deallocate")(pointer, bytes,
                            "stream"_a =
                                stream.is_closed() ? nb::none() : make<PyStream>(Stream(stream)));
}

} // namespace

} // namespace cuprum::python
