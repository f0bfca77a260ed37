// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What the Python objects of buffers and pools hold.

#pragma once

#include "stream/stream_objects.hpp"
#include "support/gil.hpp"
#include "support/held.hpp"
#include "support/hot_data.hpp"
#include "support/instances.hpp"
#include "support/lent_owner.hpp"
#include "support/python_objects.hpp"
#include "support/recycling.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/detail/active_captures.hpp>
#include <cuprum/detail/closed.hpp>
#include <cuprum/detail/deferred_release.hpp>
#include <cuprum/memory_pool.hpp>
#include <cuprum/memory_resource.hpp>

#include <nanobind/nanobind.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace cuprum::python {

/// A buffer, with the Python objects that it came from.
struct PyBuffer : Buffer {
    PyBuffer(Buffer buffer, nb::object from, nb::object kept) noexcept
        : Buffer(std::move(buffer)), resource(std::move(from)), owner(std::move(kept)),
          is_release_brief_(is_device_pool(resource)) {}

    ~PyBuffer() { release(); }

    PyBuffer(const PyBuffer&) = delete;
    PyBuffer& operator=(const PyBuffer&) = delete;

    /// Returns whether freeing the memory only enqueues: it came from a pool.
    [[nodiscard]] bool is_release_brief() const noexcept { return is_release_brief_; }

    /// Gives up the share, and the Python objects with it. Call it with the GIL held.
    void drop() noexcept {
        release();
        // NOTE: all are released at the end, because a finaliser may call this function again.
        const nb::object from = std::move(resource);
        const nb::object whose = std::move(owner);
        const nb::object queue = std::move(freed_on);
        const nb::object last = exports == 0 ? std::move(kept) : nb::object();
    }

    nb::object resource; // a MemoryResource, or null for wrapped memory
    nb::object owner;    // of wrapped memory, or null
    // What must outlive the memory although the core does not hold it: a resource written in
    // Python, the owner, a pool or stream of another library, a tuple of these, or null. All
    // objects that share the memory keep it; see collection.hpp.
    nb::object kept;
    // The last stream of another library that set_deallocation_stream() was given, or null. The
    // core has its owner on loan; only the garbage collector needs this reference.
    nb::object freed_on;
    std::uint32_t exports = 0; // through the buffer protocol; they rely on `kept` here
    bool is_readonly = false;  // registered so: a write by a device faults or changes a constant

private:
    void release() noexcept {
        if (!is_closed()) {
            if (kept.is_valid() && cuprum::detail::is_in_host_function()) [[unlikely]] {
                leave_share();
            }
            const Brief unlocked(!is_release_brief());
            close();
        }
    }

    /// Passes a share, and what must outlive it, to a thread that may call the driver.
    void leave_share() const noexcept;

    [[nodiscard]] static bool is_device_pool(nb::handle resource) noexcept {
        return resource.is_valid() && Py_TYPE(resource.ptr()) == hot_data.device_pool_type;
    }

    bool is_release_brief_; // known without a look at the resource
};

/// A pool of the core has no references to buffers; any other resource may have some.
template <>
[[nodiscard]] inline bool may_refer_back(const PyBuffer& buffer) noexcept {
    return buffer.owner.is_valid() || (buffer.resource.is_valid() && !buffer.is_release_brief());
}

/// A buffer of managed memory.
struct PyManagedBuffer : PyBuffer {
    using PyBuffer::PyBuffer;
};

/// The base class of all resources; Python classes derive from it.
struct PyMemoryResource {};

/// A share of a pool as a Python object holds it. Using it after drop() raises ClosedError.
class PoolShare {
public:
    explicit PoolShare(std::shared_ptr<MemoryPool> pool) noexcept
        : pool_(std::move(pool)),
          class_name_(pool_->is_managed()           ? "ManagedMemoryResource"
                      : pool_->is_host_accessible() ? "PinnedMemoryResource"
                                                    : "DeviceMemoryResource") {}

    [[nodiscard]] MemoryPool& operator*() const {
        if (pool_ == nullptr) [[unlikely]] {
            cuprum::detail::raise_closed(class_name_);
        }
        return *pool_;
    }

    [[nodiscard]] MemoryPool* operator->() const { return &**this; }

    [[nodiscard]] bool is_closed() const noexcept { return pool_ == nullptr; }

    /// Returns the pointer, null after drop().
    [[nodiscard]] const std::shared_ptr<MemoryPool>& pointer() const noexcept { return pool_; }

    /// Gives up the share. Call it with the GIL held.
    void drop() noexcept {
        if (pool_ != nullptr) {
            const Brief unlocked(true);
            pool_.reset();
        }
    }

private:
    std::shared_ptr<MemoryPool> pool_;
    const char* class_name_;
};

/// A pool of memory; the base of the three kinds.
struct PyMemoryPool : PyMemoryResource {
    explicit PyMemoryPool(std::shared_ptr<MemoryPool> pool) : core(std::move(pool)) {}

    PyMemoryPool(std::shared_ptr<MemoryPool> pool, LentOwner owner)
        : core(std::move(pool)), lent(std::move(owner)) {}

    PyMemoryPool(const PyMemoryPool&) = delete;
    PyMemoryPool& operator=(const PyMemoryPool&) = delete;

    ~PyMemoryPool() { drop(); }

    /// Gives up the share, and the owner with it. Call it with the GIL held.
    void drop() noexcept {
        core.drop();
        lent.settle();
    }

    PoolShare core;
    nb::object uuid; // the name for other processes; null until the first use
    LentOwner lent;  // of a pool made elsewhere
};

/// A device pool.
struct PyDeviceMemoryResource : PyMemoryPool {
    using PyMemoryPool::PyMemoryPool;
};

/// A pool of pinned host memory.
struct PyPinnedMemoryResource : PyMemoryPool {
    using PyMemoryPool::PyMemoryPool;
};

/// A pool of managed memory.
struct PyManagedMemoryResource : PyMemoryPool {
    using PyMemoryPool::PyMemoryPool;
};

template <>
inline constexpr bool IS_RECYCLED<PyBuffer> = true;
template <>
inline PyTypeObject*& TYPE<PyBuffer> = hot_data.buffer_type;
template <>
inline PyTypeObject*& TYPE<PyDeviceMemoryResource> = hot_data.device_pool_type;

/// Returns the core resource of a Python MemoryResource. A Python class gets an adapter that calls
/// its methods.
[[nodiscard]] std::shared_ptr<MemoryResource> core_resource(nb::handle resource);

/// Returns whether freeing through a MemoryResource calls Python code.
[[nodiscard]] bool is_python_resource(nb::handle resource) noexcept;

/// Allocates through a Python MemoryResource, or straight from the pool if it is one.
[[nodiscard]] nb::object allocate_from(nb::handle resource, std::size_t bytes, nb::handle stream);

/// Makes a new Buffer keep one more object, and lets the garbage collector track the Buffer.
void keep_also(nb::handle buffer, nb::handle object);

/// Makes a new Buffer keep the stream that it is freed on, if another library made it.
inline void keep_foreign_stream(nb::handle buffer, nb::handle stream) {
    const nb::handle queue = stream_object(stream);
    if (payload<PyStream>(queue)->lent.owner().is_valid()) [[unlikely]] {
        keep_also(buffer, queue);
    }
}

/// Shows the garbage collector the stream that a Buffer is freed on, if another library made it.
void show_foreign_stream(nb::handle buffer, nb::handle stream);

/// Returns a share of a buffer's memory that needs no Python object, for C++ code that may hold the
/// last one.
[[nodiscard]] Buffer lasting_share(const PyBuffer& buffer);

[[gnu::cold]] void retain_lasting_share(const PyBuffer& buffer, const Stream& stream);

/// Lets the graph that a stream is captured into keep a buffer's memory, if the core cannot do that
/// alone. Call it with the GIL held, after the work was enqueued.
inline void retain_if_captured(const PyBuffer& buffer, const Stream& stream) {
    if (cuprum::detail::active_captures.load(std::memory_order_relaxed) != 0 &&
        buffer.kept.is_valid()) [[unlikely]] {
        retain_lasting_share(buffer, stream);
    }
}

} // namespace cuprum::python
