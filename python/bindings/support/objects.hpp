// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What a Python object holds, for each class, and how to get from one to the other.

#pragma once

#include "support/gil.hpp"
#include "support/instances.hpp"
#include "support/lent_owner.hpp"
#include "support/recycling.hpp"

#include <cuprum/cuprum.hpp>
#include <cuprum/detail/closed.hpp>
#include <cuprum/detail/deferred_release.hpp>

#include <nanobind/nanobind.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace cuprum::python {

/// Gives up a reference. Unlike with reset(), the member is empty before the object goes, whose
/// finaliser may come back to it.
inline void give_up(nb::object& member) noexcept {
    const nb::object gone = std::move(member);
}

/// Tells whether giving up the last share of a T returns at once.
template <typename T>
inline constexpr bool IS_RELEASE_BRIEF = false;
template <>
inline constexpr bool IS_RELEASE_BRIEF<Stream> = true;
template <>
inline constexpr bool IS_RELEASE_BRIEF<Event> = true;

/// A core object as a Python object holds it.
///
/// Python runs destructors with the GIL held, and giving up the last share reaches the driver: the
/// GIL is dropped for that where it may take long.
template <typename Core>
class Held : public Core {
public:
    // NOLINTNEXTLINE(google-explicit-constructor): a Held is its core object.
    Held(Core core) noexcept : Core(std::move(core)) {}

    Held(Held&&) noexcept = default;
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    Held& operator=(Held&&) = delete;

    ~Held() { drop(); }

    /// Gives up the share. Call it with the GIL held.
    void drop() noexcept {
        if (!this->is_closed()) {
            const Brief unlocked(!IS_RELEASE_BRIEF<Core>);
            this->close();
        }
    }
};

using PyContext = Held<Context>;
using PyEvent = Held<Event>;
using PyObjectCode = Held<ObjectCode>;

/// A stream, with the Python object whose stream it is, if it was made elsewhere.
struct PyStream : Held<Stream> {
    // NOLINTNEXTLINE(google-explicit-constructor): a PyStream is its core object.
    PyStream(Stream stream) noexcept : Held<Stream>(std::move(stream)) {}

    PyStream(Stream stream, LentOwner owner) noexcept
        : Held<Stream>(std::move(stream)), lent(std::move(owner)) {}

    PyStream(const PyStream&) = delete;
    PyStream& operator=(const PyStream&) = delete;

    ~PyStream() { drop(); }

    /// Gives up the share, and the owner with it. Call it with the GIL held.
    void drop() noexcept {
        Held<Stream>::drop();
        lent.settle();
    }

    LentOwner lent;
};

template <>
[[nodiscard]] inline bool may_refer_back(const PyStream& stream) noexcept {
    return stream.lent.owner().is_valid();
}

/// A kernel, and whether it was launched: the first launch may have to load or compile it.
struct PyKernel : Held<Kernel> {
    using Held<Kernel>::Held;

    mutable std::atomic<bool> is_loaded = false;
};

/// A buffer, with the Python objects that it came from.
struct PyBuffer : Buffer {
    PyBuffer(Buffer buffer, nb::object from, nb::object kept) noexcept
        : Buffer(std::move(buffer)), resource(std::move(from)), owner(std::move(kept)),
          is_release_brief_(is_device_pool(resource)) {}

    ~PyBuffer() { release(); }

    PyBuffer(const PyBuffer&) = delete;
    PyBuffer& operator=(const PyBuffer&) = delete;

    /// Tells whether freeing the memory only enqueues: it came from a pool.
    [[nodiscard]] bool is_release_brief() const noexcept { return is_release_brief_; }

    /// Gives up the share, and the Python objects with it. Call it with the GIL held.
    void drop() noexcept {
        release();
        // NOTE: all are given up at the end: the finaliser of one may come back here.
        const nb::object from = std::move(resource);
        const nb::object whose = std::move(owner);
        const nb::object queue = std::move(freed_on);
        const nb::object last = exports == 0 ? std::move(kept) : nb::object();
    }

    nb::object resource; // a MemoryResource, or null for wrapped memory
    nb::object owner;    // of wrapped memory, or null
    // What must outlive the memory although the core does not hold it: a resource written in
    // Python, the owner, a pool or a stream that was made elsewhere, a tuple of such, or null.
    // Whoever else shares the memory keeps it too; see collection.hpp.
    nb::object kept;
    // The stream made elsewhere that set_deallocation_stream() named last, or null. The core has
    // its owner on loan; this is for the collector alone, which else could not see the way to it.
    nb::object freed_on;
    std::uint32_t exports = 0; // through the buffer protocol; they rely on `kept` here
    bool is_readonly = false;  // was registered so: devices would fault, or change a constant

private:
    void release() noexcept {
        if (!is_closed()) {
            if (kept.is_valid() && detail::is_in_host_function()) [[unlikely]] {
                leave_share();
            }
            const Brief unlocked(!is_release_brief());
            close();
        }
    }

    /// Leaves a share, and what must outlive it, to a thread that may call the driver.
    void leave_share() const noexcept;

    [[nodiscard]] static bool is_device_pool(nb::handle resource) noexcept {
        return resource.is_valid() && Py_TYPE(resource.ptr()) == hot_data.device_pool_type;
    }

    bool is_release_brief_; // so that nobody need look at the resource
};

/// A pool of the core knows of no buffers; anything else may.
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
            detail::raise_closed(class_name_);
        }
        return *pool_;
    }

    [[nodiscard]] MemoryPool* operator->() const { return &**this; }

    /// Returns the pool as the kind that it is.
    template <typename Pool>
    [[nodiscard]] Pool& as() const {
        return static_cast<Pool&>(**this);
    }

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
    nb::object uuid; // what other processes know it by; null until it is asked for
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

/// A device; one Python object per ordinal.
struct PyDevice {
    PyDevice(const Device& named, nb::object attributes)
        : core(named), properties(std::move(attributes)) {}

    Device core;
    nb::object properties;
    nb::object memory_resource;        // null until asked for or set
    std::atomic<bool> is_used = false; // its primary context exists: using it again is brief
    nb::ft_mutex mutex;                // guards it where there is no GIL
};

/// A program and the options it was made with.
struct PyProgram : Held<Program> {
    PyProgram(Program program, nb::object given)
        : Held<Program>(std::move(program)), options(std::move(given)) {}

    nb::object options; // a ProgramOptions
};

/// A linker and the options it was made with.
struct PyLinker : Held<Linker> {
    PyLinker(Linker linker, nb::object given)
        : Held<Linker>(std::move(linker)), options(std::move(given)) {}

    nb::object options; // a LinkerOptions
};

/// The Python type that holds a T. Set once, when the type is bound.
template <typename T>
inline PyTypeObject* TYPE = nullptr;
template <>
inline PyTypeObject*& TYPE<PyStream> = hot_data.stream_type;
template <>
inline PyTypeObject*& TYPE<PyBuffer> = hot_data.buffer_type;
template <>
inline PyTypeObject*& TYPE<PyKernel> = hot_data.kernel_type;
template <>
inline PyTypeObject*& TYPE<PyDeviceMemoryResource> = hot_data.device_pool_type;

// The default streams' Python objects, held for the life of the process.
inline PyObject*& LEGACY_DEFAULT = hot_data.legacy_default;
inline PyObject*& PER_THREAD_DEFAULT = hot_data.per_thread_default;

/// Notes the Python type that holds a T.
template <typename T>
void note_type(nb::handle type) {
    TYPE<T> = reinterpret_cast<PyTypeObject*>(type.ptr());
}

template <>
inline constexpr bool IS_RECYCLED<PyEvent> = true;
template <>
inline constexpr bool IS_RECYCLED<PyStream> = true;
template <>
inline constexpr bool IS_RECYCLED<PyKernel> = true;
template <>
inline constexpr bool IS_RECYCLED<PyBuffer> = true;

/// Returns a Python object of the class that holds a T, which is yet to be put there.
template <typename T>
[[nodiscard, gnu::always_inline]] inline nb::object new_object() {
    const nb::handle type(reinterpret_cast<PyObject*>(TYPE<T>));
    if constexpr (IS_RECYCLED<T>) {
        PyObject* const spare = RECYCLER<T>.take();
        return spare != nullptr ? nb::steal(spare) : new_untracked(type);
    } else {
        return nb::inst_alloc(type);
    }
}

/// Tells the collector of an object from new_object() that holds its T now, if it has to know.
template <typename T>
void track_if_needed(nb::handle object, const T& held) noexcept {
    if constexpr (IS_RECYCLED<T>) {
        if (may_refer_back(held)) {
            PyObject_GC_Track(object.ptr());
        }
    }
}

/// Makes a Python object that holds a T built from `arguments`.
template <typename T, typename... Arguments>
[[nodiscard, gnu::always_inline]] inline nb::object make(Arguments&&... arguments) {
    nb::object object = new_object<T>();
    const T* const held = new (inside<void>(object)) T(std::forward<Arguments>(arguments)...);
    mark_ready(object);
    track_if_needed(object, *held);
    return object;
}

/// Makes a Python object of a subclass of the class that holds a T.
template <typename T, typename... Arguments>
[[nodiscard]] nb::object make_as(nb::handle type, Arguments&&... arguments) {
    nb::object object = nb::inst_alloc(type);
    new (payload<void>(object)) T(std::forward<Arguments>(arguments)...);
    mark_ready(object);
    return object;
}

/// Returns the T inside a Python object, or null if it holds none.
template <typename T>
[[nodiscard]] inline T* get_if(nb::handle object) noexcept {
    if (Py_TYPE(object.ptr()) != TYPE<T> && PyType_IsSubtype(Py_TYPE(object.ptr()), TYPE<T>) == 0) {
        return nullptr;
    }
    // An object made with __new__ alone holds nothing yet.
    return is_ready(object) ? payload<T>(object) : nullptr;
}

/// Returns the one Python object of a device.
[[nodiscard]] nb::object device_object(const Device& device);

/// Returns a Python object of a context: the one there is, unless it is a primary context.
[[nodiscard]] nb::object context_object(Context context);

/// Returns what a green context is made of, from a ContextOptions or a dict.
[[nodiscard]] ContextOptions context_options(nb::handle options);

/// Returns the core resource behind a Python MemoryResource; Python classes get an adapter that
/// calls their methods.
[[nodiscard]] std::shared_ptr<MemoryResource> core_resource(nb::handle resource);

/// Tells whether frees through a MemoryResource call Python code.
[[nodiscard]] bool is_python_resource(nb::handle resource) noexcept;

/// Allocates through a Python MemoryResource, or straight from the pool if it is one.
[[nodiscard]] nb::object allocate_from(nb::handle resource, std::size_t bytes, nb::handle stream);

/// Lets a new Buffer keep an object, or one more, and tells the collector of the Buffer.
void keep_also(nb::handle buffer, nb::handle object);

/// Lets a new Buffer keep the stream it will be freed on, if that was made elsewhere.
inline void keep_foreign_stream(nb::handle buffer, nb::handle stream) {
    if (payload<PyStream>(stream)->lent.owner().is_valid()) [[unlikely]] {
        keep_also(buffer, stream);
    }
}

/// Shows the collector the stream that a Buffer will now be freed on, if that was made elsewhere.
void show_foreign_stream(nb::handle buffer, nb::handle stream);

/// Returns a share of a buffer's memory that lasts without any Python object, for C++ code that may
/// be the last to hold it.
[[nodiscard]] Buffer lasting_share(const PyBuffer& buffer);

/// Makes a Stream, or an object of a class derived from it, of a stream that `owner` keeps.
[[nodiscard]] nb::object wrap_stream(nb::handle type, CUstream handle, nb::handle owner);

/// Makes another Stream, or an object of a class derived from it, of the same stream.
[[nodiscard]] nb::object share_stream(nb::handle type, const PyStream& stream);

/// Makes a Stream, or an object of a class derived from it, of what is one already: ours, or
/// anything with `__cuda_stream__`.
/// @throws ValueError if there are options too.
[[nodiscard]] nb::object stream_of(nb::handle type, nb::handle object, nb::handle options);

/// Keeps a Python object alive from C++, hidden from the collector; may be released on any thread.
[[nodiscard]] std::shared_ptr<void> keep_alive(nb::handle object);

/// Tells whether Python can no longer be called.
[[nodiscard]] bool is_python_gone() noexcept;

void bind_error(nb::module_& module);
void bind_device(nb::module_& module);
void bind_device_properties(nb::module_& module);
void bind_context(nb::module_& module);
void bind_device_resources(nb::module_& module);
void bind_stream(nb::module_& module);
void bind_event(nb::module_& module);
void bind_buffer(nb::module_& module);
void bind_memory_resource(nb::module_& module);
void bind_linker(nb::module_& module);
void bind_memory_pool(nb::module_& module);
void bind_host_memory(nb::module_& module);
void bind_graph_memory_resource(nb::module_& module);
void bind_virtual_memory_resource(nb::module_& module);
void bind_ipc(nb::module_& module);
void bind_managed_buffer(nb::module_& module);
void bind_copy(nb::module_& module);
void bind_program(nb::module_& module);
void bind_program_cache(nb::module_& module);
void bind_object_code(nb::module_& module);
void bind_kernel(nb::module_& module);
void bind_launch(nb::module_& module);
void bind_launch_config(nb::module_& module);
void bind_strided_layout(nb::module_& module);
void bind_strided_memory_view(nb::module_& module);
void bind_trace(nb::module_& module);

} // namespace cuprum::python
