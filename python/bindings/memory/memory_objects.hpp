// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What Python's memory resources hold, and how arguments become places and sizes.

#pragma once

#include "memory/buffer_objects.hpp"
#include "support/arguments.hpp"
#include "support/gil.hpp"
#include "support/instances.hpp"
#include "support/python_objects.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/ipc.hpp>
#include <cuprum/location.hpp>
#include <cuprum/memory_pool.hpp>
#include <cuprum/memory_resource.hpp>
#include <cuprum/stream.hpp>

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace cuprum::python {

/// A resource of the core that is not a pool.
struct PyNativeResource : PyMemoryResource {
    explicit PyNativeResource(std::shared_ptr<MemoryResource> resource)
        : core(std::move(resource)) {}

    std::shared_ptr<MemoryResource> core;
};

struct PyLegacyPinnedMemoryResource : PyNativeResource {
    using PyNativeResource::PyNativeResource;
};

struct PySynchronousMemoryResource : PyNativeResource {
    using PyNativeResource::PyNativeResource;
};

struct PyGraphMemoryResource : PyNativeResource {
    using PyNativeResource::PyNativeResource;
};

/// Virtual memory, with the options as Python gave them.
struct PyVirtualMemoryResource : PyNativeResource {
    PyVirtualMemoryResource(std::shared_ptr<MemoryResource> resource, nb::object options)
        : PyNativeResource(std::move(resource)), config(std::move(options)) {}

    nb::object config; // a VirtualMemoryResourceOptions
};

/// A file descriptor that a pool is imported with, and what the pool is known by.
struct PyIPCAllocationHandle {
    PyIPCAllocationHandle(IPCAllocationHandle handle, nb::object name)
        : core(std::move(handle)), uuid(std::move(name)) {}

    IPCAllocationHandle core;
    nb::object uuid; // a uuid.UUID, or None
};

/// Returns a place, from a Device or a Host; nothing for None if that is allowed.
[[nodiscard]] std::optional<Location> location_argument(nb::handle value, bool is_none_allowed);

/// Returns the Device or Host of a place.
[[nodiscard]] nb::object location_object(const Location& location);

/// Returns lasting shares of the buffers of a sequence: its items may be gone when this returns,
/// and others may close them meanwhile. `name` is the argument's, for messages.
/// @throws ValueError, if they are to be written, for one that must not be.
[[nodiscard]] std::vector<Buffer> buffer_list_argument(nb::handle value, const char* name,
                                                       bool is_written = false);

/// Returns the stream of an argument that may be left out.
[[nodiscard]] std::optional<Stream> optional_stream_argument(nb::handle stream);

/// Allocates from a pool that belongs to a Python resource.
template <typename Made>
[[nodiscard, gnu::always_inline]] inline nb::object
allocate_in(MemoryPool& pool, nb::object resource, std::size_t bytes, nb::handle stream) {
    // A pool may have to get memory from the system first, which takes its time.
    constexpr std::size_t most_brief_bytes = 1U << 20U;
    const Stream& order = stream_argument(stream);
    auto buffer = [&] {
        const Brief unlocked(bytes > most_brief_bytes);
        return pool.allocate(bytes, order);
    }();
    const bool is_foreign = payload<PyMemoryPool>(resource)->lent.owner().is_valid();
    nb::object made = make<Made>(std::move(buffer), std::move(resource), nb::object());
    if (is_foreign) [[unlikely]] {
        keep_also(made, payload<PyBuffer>(made)->resource);
    }
    keep_foreign_stream(made, stream);
    return made;
}

/// Makes a buffer over existing memory: Buffer.from_handle and ManagedBuffer.from_handle.
template <typename Made>
[[nodiscard]] nb::object wrap_memory(nb::handle ptr, nb::handle size, nb::handle resource,
                                     nb::handle owner, nb::handle stream) {
    const CUdeviceptr pointer = address_argument(ptr, "ptr");
    const std::size_t bytes = size_argument(size, "size");
    if (resource.is_none()) {
        if (!stream.is_none()) {
            raise_error(PyExc_ValueError, "stream requires a memory resource: only mr frees, in a "
                                          "stream's order");
        }
        const nb::object holder = owner.is_none() ? nb::object() : nb::borrow(owner);
        nb::object made = make<Made>(Buffer::from_handle(pointer, bytes), nb::object(), holder);
        if (holder.is_valid()) {
            keep_also(made, holder);
        }
        return made;
    }
    if (!owner.is_none()) {
        raise_error(PyExc_ValueError, "mr and owner cannot be both specified together: either mr "
                                      "frees the memory or its owner does");
    }
    const nb::object order = stream.is_none() ? default_stream() : nb::borrow(stream);
    nb::object made = make<Made>(
        Buffer::from_handle(pointer, bytes, core_resource(resource), stream_argument(order)),
        nb::borrow(resource), nb::object());
    if (is_python_resource(resource)) {
        keep_also(made, resource);
    }
    keep_foreign_stream(made, order);
    return made;
}

} // namespace cuprum::python
