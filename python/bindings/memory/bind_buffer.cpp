// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "memory/buffer_collection.hpp"
#include "memory/buffer_dlpack.hpp"
#include "memory/buffer_objects.hpp"
#include "memory/buffer_parts.hpp"
#include "memory/copy_options.hpp"
#include "memory/host_memory.hpp"
#include "memory/memory_objects.hpp"
#include "support/class.hpp"
#include "support/compatibility.hpp"
#include "support/display.hpp"
#include "support/recycling.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/copy.hpp>
#include <cuprum/detail/order.hpp>

#include <variant>

namespace cuprum::python {

using namespace nb::literals;

namespace {

[[nodiscard]] std::string place_text(const PyBuffer& buffer);
[[nodiscard]] std::string resource_text(const PyBuffer& buffer);
void bind_facts(Class<PyBuffer>& type);
void bind_copies(Class<PyBuffer>& type);
void bind_closing(Class<PyBuffer>& type);
[[nodiscard]] nb::object from_handle(nb::handle ptr, nb::handle size, nb::handle resource,
                                     nb::handle owner, nb::handle stream);
[[nodiscard]] std::size_t handle(const PyBuffer& self);
[[nodiscard]] std::size_t size(const PyBuffer& self);
[[nodiscard, gnu::hot]] nb::object copy_to(const PyBuffer& self, nb::handle destination,
                                           nb::handle stream, nb::handle options);
[[gnu::hot]] void copy_from(const PyBuffer& self, nb::handle source, nb::handle stream,
                            nb::handle options);
[[gnu::hot]] void fill(const PyBuffer& self, nb::handle value, nb::handle stream);
[[gnu::hot]] void close(PyBuffer& self, nb::handle stream);
void fill_with_pattern(const PyBuffer& self, nb::handle value, const Stream& order);
[[nodiscard]] nb::object to_numpy(nb::handle self, nb::handle dtype, nb::handle copy);
void refuse_capture(const Stream& stream, const char* name);

} // namespace

void bind_buffer(nb::module_& module) {
    Class<PyBuffer> type(module, "Buffer", nb::is_weak_referenceable(), nb::pooled(),
                         nb::type_slots(buffer_slots()));
    recycle<PyBuffer>(type);
    type.refuse_construction("a Buffer is not made directly; use Device.allocate(), "
                             "MemoryResource.allocate() or Buffer.from_handle()");
    type.static_method<from_handle>("from_handle");
    bind_facts(type);
    bind_copies(type);
    bind_closing(type);
    type.method<to_numpy>("__array__");
    type.attr("__array_ufunc__") = nb::none(); // comparisons with numpy's numbers are ours
    bind_buffer_parts(type);
    bind_buffer_dlpack(type);
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

void bind_facts(Class<PyBuffer>& type) {
    type.property("handle", handle);
    type.property("size", size);
    type.property("is_closed", &PyBuffer::is_closed);
    type.property("device_id", &PyBuffer::device_id, RELEASES_GIL);
    type.property("is_device_accessible", &PyBuffer::is_device_accessible, RELEASES_GIL);
    type.property("is_host_accessible", &PyBuffer::is_host_accessible, RELEASES_GIL);
    type.property("is_managed", &PyBuffer::is_managed, RELEASES_GIL);
    bind_buffer_sharing(type);
    type.property("memory_resource", [](const PyBuffer& self) {
        return self.resource.is_valid() ? self.resource : nb::none();
    });
    type.property("owner", [](const PyBuffer& self) {
        return self.owner.is_valid() ? self.owner : nb::none();
    });
    type.method("__eq__", [](const PyBuffer& self, const PyBuffer& other) {
        return static_cast<const Buffer&>(self) == static_cast<const Buffer&>(other);
    });
    type.method("__hash__", [](const PyBuffer& self) {
        return self.is_closed() ? nb::hash(nb::make_tuple(0, 0))
                                : nb::hash(nb::make_tuple(self.handle(), self.size()));
    });
    type.method("__repr__", [](nb::handle self) {
        const auto& buffer = held_by<PyBuffer>(self);
        return "<" + type_label(self) +
               (buffer.is_closed() ? " closed>"
                                   : " ptr=" + hex_text(buffer.handle()) +
                                         " size=" + std::to_string(buffer.size()) +
                                         place_text(buffer) + resource_text(buffer) + ">");
    });
    type.method("_repr_html_", [](nb::handle self) { return html_of(self, "buffer"); });
}

/// Returns the kind of memory and its device, as in " kind=device device=0", for `repr`. Empty if
/// the driver does not know the address.
std::string place_text(const PyBuffer& buffer) {
    if (compatibility::keeps_reprs_short()) {
        return {};
    }
    try {
        const nb::gil_scoped_release unlocked;
        const bool is_host = buffer.is_host_accessible();
        const char* const kind = buffer.is_managed()             ? "managed"
                                 : !is_host                      ? "device"
                                 : buffer.is_device_accessible() ? "pinned"
                                                                 : "host";
        const int device = buffer.device_id();
        return std::string(" kind=") + kind +
               (device < 0 ? "" : " device=" + std::to_string(device));
    } catch (const std::exception&) {
        return {};
    }
}

/// Returns the class of the resource that a buffer came from, for `repr`.
std::string resource_text(const PyBuffer& buffer) {
    return compatibility::keeps_reprs_short() || !buffer.resource.is_valid()
               ? ""
               : " resource=" + type_label(buffer.resource);
}

void bind_copies(Class<PyBuffer>& type) {
    type.method<copy_to>("copy_to", HOT);
    type.method<copy_from>("copy_from", HOT);
    type.method("copy_from_host", [](const PyBuffer& self, nb::handle source, const Stream& order) {
        const HostMemory memory(source, HostMemory::Access::Read, "source");
        check_writable(self, "the buffer");
        refuse_capture(order, "source");
        const nb::gil_scoped_release unlocked;
        self.copy_from_host_bytes(memory.data(), memory.size(), order);
    });
    type.method("copy_to_host",
                [](const PyBuffer& self, nb::handle destination, const Stream& order) {
                    const HostMemory memory(destination, HostMemory::Access::Write, "destination");
                    refuse_capture(order, "destination");
                    const nb::gil_scoped_release unlocked;
                    self.copy_to_host_bytes(memory.data(), memory.size(), order);
                });
    type.method<fill>("fill", HOT);
}

void bind_closing(Class<PyBuffer>& type) {
    type.method<close>("close", HOT);
    type.method("set_deallocation_stream", [](nb::handle self, nb::handle stream) {
        const Stream& order = stream_argument(stream);
        held_by<PyBuffer>(self).set_deallocation_stream(order);
        show_foreign_stream(self, stream);
    });
    type.method("__enter__", [](nb::handle self) { return nb::borrow(self); });
    type.method("__exit__", [](PyBuffer& self, const nb::args&) { self.drop(); });
}

nb::object from_handle(nb::handle ptr, nb::handle size, nb::handle resource, nb::handle owner,
                       nb::handle stream) {
    return wrap_memory<PyBuffer>(ptr, size, resource, owner, stream);
}

std::size_t handle(const PyBuffer& self) {
    return self.handle();
}

std::size_t size(const PyBuffer& self) {
    return self.size();
}

/// Returns whether a copy only enqueues; one from or to pageable host memory waits.
bool is_copy_brief(const PyBuffer& source, const PyBuffer& destination) {
    return source.is_release_brief() && destination.is_release_brief();
}

void copy(const PyBuffer& source, const PyBuffer& destination, const Stream& stream) {
    check_writable(destination, "the destination");
    {
        const Brief unlocked(!is_copy_brief(source, destination));
        source.copy_to(destination, stream);
    }
    retain_if_captured(source, stream);
    retain_if_captured(destination, stream);
}

void copy(const PyBuffer& source, const PyBuffer& destination, const Stream& stream,
          const std::optional<CopyOptions>& options) {
    if (!options) {
        copy(source, destination, stream);
        return;
    }
    check_writable(destination, "the destination");
    {
        const nb::gil_scoped_release unlocked;
        copy_with_options(stream, source, destination, *options);
    }
    retain_if_captured(source, stream);
    retain_if_captured(destination, stream);
}

nb::object copy_to(const PyBuffer& source, nb::handle destination, nb::handle stream,
                   nb::handle options) {
    if (options.is_none() && Py_TYPE(destination.ptr()) == TYPE<PyBuffer> &&
        is_ready_inside(destination)) [[likely]] {
        copy(source, *inside<PyBuffer>(destination), stream_argument(stream));
        return nb::borrow(destination);
    }
    (void)source.handle(); // a closed one is refused before anything is allocated
    const auto how = copy_options_argument(options);
    const Stream& order = how ? copy_stream_argument(stream) : stream_argument(stream);
    nb::object target = nb::borrow(destination);
    if (destination.is_none()) {
        if (!source.resource.is_valid()) {
            raise_error(PyExc_ValueError, "dst is not given, and the buffer has no memory resource "
                                          "to allocate one from");
        }
        target = allocate_from(source.resource, source.size(), stream);
    }
    const PyBuffer& into = buffer_argument(target, "dst");
    copy(source, into, order, how);
    return target;
}

void copy_from(const PyBuffer& self, nb::handle source, nb::handle stream, nb::handle options) {
    const PyBuffer& from = buffer_argument(source, "src");
    if (options.is_none()) [[likely]] {
        copy(from, self, stream_argument(stream));
        return;
    }
    const auto how = copy_options_argument(options);
    copy(from, self, how ? copy_stream_argument(stream) : stream_argument(stream), how);
}

void fill(const PyBuffer& self, nb::handle value, nb::handle stream) {
    const Stream& order = stream_argument(stream);
    check_writable(self, "the buffer");
    if (Py_ssize_t number = 0; read_small_int(value, number) && number >= 0 && number <= UINT8_MAX)
        [[likely]] {
        {
            const Brief unlocked(!self.is_release_brief());
            self.fill(static_cast<std::uint8_t>(number), order);
        }
        retain_if_captured(self, order);
        return;
    }
    fill_with_pattern(self, value, order);
    retain_if_captured(self, order);
}

void fill_with_pattern(const PyBuffer& self, nb::handle value, const Stream& order) {
    std::visit(
        [&](auto number) {
            const Brief unlocked(!self.is_release_brief());
            self.fill(number, order);
        },
        pattern_argument(value));
}

void close(PyBuffer& self, nb::handle stream) {
    if (stream.is_none() || self.is_closed()) {
        self.drop();
        return;
    }
    const Stream& order = stream_argument(stream);
    {
        const Brief unlocked(!self.is_release_brief());
        self.Buffer::close(order);
    }
    self.drop();
}

/// Host memory is held for the call alone, and a graph would use it whenever it runs.
/// What numpy asks for if the buffer protocol gave it nothing. Without it, numpy would make an
/// array of one Python object.
nb::object to_numpy(nb::handle self, nb::handle dtype, nb::handle copy) {
    const auto& buffer = held_by<PyBuffer>(self);
    if (!buffer.is_host_accessible()) {
        raise_error(PyExc_TypeError, "the buffer is memory of device " +
                                         std::to_string(buffer.device_id()) +
                                         ", which numpy cannot read; copy it to an array with "
                                         "buffer.copy_to_host(array, stream=...), or view it with "
                                         "StridedMemoryView.from_buffer()");
    }
    const nb::object bytes = nb::steal(PyMemoryView_FromObject(self.ptr()));
    if (!bytes.is_valid()) {
        throw nb::python_error();
    }
    return nb::module_::import_("numpy").attr(is_true(copy) ? "array"
                                                            : "asarray")(bytes, "dtype"_a = dtype);
}

void refuse_capture(const Stream& stream, const char* name) {
    if (cuprum::detail::is_capturing(stream)) {
        raise_error(PyExc_RuntimeError,
                    std::string("stream is capturing, and the graph would use the memory of ") +
                        name +
                        " each time it runs; copy from or to a Buffer of host memory, as "
                        "LegacyPinnedMemoryResource allocates it");
    }
}

} // namespace

} // namespace cuprum::python
