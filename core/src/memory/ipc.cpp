// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/ipc.hpp>

#include "driver/current.hpp"
#include "driver/deferred_release.hpp"
#include "driver/handle.hpp"
#include "memory/buffer_state.hpp"
#include "memory/pool_state.hpp"
#include "program/cache/checksum.hpp"
#include "stream/stream_state.hpp"
#include "support/locks.hpp"
#include "support/once.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/error.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace cuprum {

namespace detail {

/// Owns a file descriptor.
class FileDescriptor {
public:
    explicit FileDescriptor(int number) noexcept : number_(number) {}

    ~FileDescriptor() { ::close(number_); }

    FileDescriptor(const FileDescriptor&) = delete;
    FileDescriptor& operator=(const FileDescriptor&) = delete;

    [[nodiscard]] int number() const noexcept { return number_; }

private:
    int number_;
};

} // namespace detail

namespace {

using driver::call;
using driver::table;

using Payload = std::array<std::byte, IPCBufferDescriptor::PAYLOAD_BYTES>;

constexpr std::chrono::milliseconds LOOK_AGAIN{10};          // for deferred releases
constexpr std::chrono::milliseconds LONGEST_UNMAPPING{1000}; // unless a capture holds it up
constexpr std::size_t EXPORT_BYTES = sizeof(CUmemPoolPtrExportData);
static_assert(EXPORT_BYTES + sizeof(std::uint64_t) == IPCBufferDescriptor::PAYLOAD_BYTES);

/// Returns the checksum of a payload, as it is behind the driver's bytes.
[[nodiscard]] std::array<std::byte, sizeof(std::uint64_t)>
checksum_of(std::span<const std::byte> payload) {
    return std::bit_cast<std::array<std::byte, sizeof(std::uint64_t)>>(
        detail::checksum(payload.first(EXPORT_BYTES), 0));
}

void check_payload(const Payload& payload) {
    if (!std::ranges::equal(checksum_of(payload), std::span(payload).subspan(EXPORT_BYTES))) {
        throw std::invalid_argument("the payload of the IPC buffer descriptor does not match its "
                                    "checksum: it was changed on its way");
    }
}

/// The allocations of other processes that are mapped here, by their export data. An allocation is
/// mapped once, no matter how often it is imported: drivers do not count its mappings.
///
/// An entry without a buffer is still being mapped, one with an expired buffer still being
/// unmapped. Threads that find such an entry wait. The lock is not held during either step, which
/// may warn.
///
/// A deferred release unmaps later than the buffer expires. So the memory itself keeps the entry,
/// through BufferExtras::import_entry.
struct Imports {
    std::mutex mutex;
    std::condition_variable changed;
    std::map<Payload, std::weak_ptr<detail::BufferState>> mapped;

    /// Returns the buffer of what is mapped already. If there is none, adds an entry and returns
    /// null: the caller maps the memory.
    /// @throws std::logic_error if a stream capture keeps an earlier import from being unmapped.
    std::shared_ptr<detail::BufferState> find_or_claim(const Payload& payload);
    void set(const Payload& payload, const std::shared_ptr<detail::BufferState>& buffer);
    void forget(const Payload& payload) noexcept;
};

Imports& imports() {
    static detail::NeverDestroyed<Imports> known; // buffers may outlive static objects
    [[maybe_unused]] static const bool is_kept =
        detail::keep_unlocked_in_children<[]() -> std::mutex& { return imports().mutex; }>();
    return *known;
}

std::shared_ptr<detail::BufferState> Imports::find_or_claim(const Payload& payload) {
    std::unique_lock lock(mutex);
    for (auto waited = LOOK_AGAIN;; waited += LOOK_AGAIN) {
        const auto [entry, is_new] = mapped.try_emplace(payload);
        if (is_new) {
            return nullptr;
        }
        if (auto buffer = entry->second.lock()) {
            return buffer;
        }
        // The buffer may have been dropped in a host function or during a stream capture. That
        // defers the unmapping.
        lock.unlock();
        detail::release_deferred();
        lock.lock();
        const auto found = mapped.find(payload);
        if (found == mapped.end() || !found->second.expired()) {
            continue;
        }
        if (waited >= LONGEST_UNMAPPING && detail::has_deferred_releases()) {
            throw std::logic_error(
                "this process closed the same buffer while its stream was being captured, so the "
                "memory is still mapped; end the capture before you import the buffer again");
        }
        changed.wait_for(lock, LOOK_AGAIN);
    }
}

void Imports::set(const Payload& payload, const std::shared_ptr<detail::BufferState>& buffer) {
    {
        const std::lock_guard lock(mutex);
        mapped[payload] = buffer;
    }
    changed.notify_all();
}

void Imports::forget(const Payload& payload) noexcept {
    {
        const std::lock_guard lock(mutex);
        mapped.erase(payload);
    }
    changed.notify_all();
}

void check_descriptor(int descriptor) {
    if (descriptor < 0) {
        throw std::invalid_argument("Invalid allocation handle (fd) " + std::to_string(descriptor) +
                                    ": must be non-negative");
    }
}

/// Reports a descriptor that is not of the pool it is imported with; `reason` is what else it may
/// be if the pool is another process's.
[[noreturn]] void raise_foreign(const MemoryPool& pool, const char* reason) {
    throw CUDAError(CUDA_ERROR_INVALID_VALUE, table().cuMemPoolImportPointer.name,
                    pool.is_mapped()
                        ? std::string("the descriptor is not of a buffer of this pool, ") + reason
                        : "the pool is this process's own; a descriptor is for processes that "
                          "imported the pool with from_allocation_handle");
}

/// @throws std::invalid_argument if fewer bytes are mapped than the descriptor claims.
void check_size(std::size_t claimed, CUdeviceptr pointer, CUcontext context) {
    std::size_t mapped = 0;
    {
        const driver::Current current(context);
        call(table().cuPointerGetAttribute, static_cast<void*>(&mapped),
             CU_POINTER_ATTRIBUTE_RANGE_SIZE, pointer);
    }
    if (claimed > mapped) {
        throw std::invalid_argument("IPC buffer descriptor size (" + std::to_string(claimed) +
                                    ") exceeds the mapped allocation extent of " +
                                    std::to_string(mapped) +
                                    " bytes: the descriptor is forged, or "
                                    "another buffer's");
    }
}

/// @throws std::invalid_argument if the pool was imported as another kind of memory than it has:
/// another device's, or device memory as host memory. A file descriptor does not show its kind.
/// Pinned memory may be imported as memory of any device.
void check_place(const MemoryPool& pool, detail::BufferState& mapped) {
    const driver::Current current(mapped.free_order().context->handle);
    const detail::PointerInfo& found = detail::pointer_info(mapped);
    const bool is_device_pool = !pool.is_host_accessible();
    if (is_device_pool ? !found.is_device || found.device_id == pool.device_id()
                       : found.is_host_accessible) {
        return;
    }
    throw std::invalid_argument(
        "the pool was imported as one of " +
        (is_device_pool ? "device " + std::to_string(pool.device_id()) : "pinned host memory") +
        ", but its memory is that of device " + std::to_string(found.device_id) +
        "; import it as what it was made as");
}

std::shared_ptr<detail::BufferState> map_allocation(MemoryPool& pool,
                                                    const IPCBufferDescriptor& descriptor,
                                                    const Stream& stream,
                                                    std::shared_ptr<void> entry) {
    auto state = std::make_shared<detail::BufferState>();
    state->make_on(stream);
    detail::BufferExtras& more = state->extras.get();
    more.import_entry = std::move(entry);
    CUmemPoolPtrExportData data{};
    std::memcpy(&data, descriptor.payload.data(), sizeof(data));
    CUdeviceptr pointer = 0;
    {
        const driver::Current current(more.context->handle);
        const auto& import = table().cuMemPoolImportPointer;
        const CUresult status = import(&pointer, pool.handle(), &data);
        if (status == CUDA_ERROR_INVALID_VALUE) {
            raise_foreign(pool, "or the buffer was freed by the process that made it");
        }
        if (status != CUDA_SUCCESS) {
            driver::raise(status, import.name);
        }
    }
    state->resource = detail::share_of(pool);
    state->size = descriptor.size;
    more.imported = std::make_unique<const IPCBufferDescriptor>(descriptor);
    state->pointer = pointer; // from here on it is unmapped with the state
    check_size(descriptor.size, pointer, more.context->handle);
    check_place(pool, *state);
    return state;
}

} // namespace

IPCAllocationHandle IPCAllocationHandle::from_descriptor(int descriptor) {
    check_descriptor(descriptor);
    return IPCAllocationHandle(std::make_shared<detail::FileDescriptor>(descriptor));
}

IPCAllocationHandle IPCAllocationHandle::duplicate(int descriptor) {
    check_descriptor(descriptor);
    const int copy = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (copy < 0) {
        throw std::invalid_argument(
            "descriptor " + std::to_string(descriptor) +
            " cannot be duplicated: " + std::generic_category().message(errno));
    }
    return from_descriptor(copy);
}

int IPCAllocationHandle::descriptor() const {
    return detail::open(state_, "IPCAllocationHandle").number();
}

IPCBufferDescriptor IPCBufferDescriptor::from_bytes(std::span<const std::byte> bytes,
                                                    std::size_t size) {
    if (bytes.size() < PAYLOAD_BYTES) {
        throw std::invalid_argument("IPC buffer descriptor payload is " +
                                    std::to_string(bytes.size()) + " bytes; expected at least " +
                                    std::to_string(EXPORT_BYTES) + " and their checksum of " +
                                    std::to_string(PAYLOAD_BYTES - EXPORT_BYTES) +
                                    ": it was cut short on its way");
    }
    IPCBufferDescriptor descriptor;
    std::ranges::copy(bytes.first(PAYLOAD_BYTES), descriptor.payload.begin());
    check_payload(descriptor.payload);
    descriptor.size = size;
    return descriptor;
}

IPCBufferDescriptor Buffer::ipc_descriptor() const {
    const detail::BufferState& buffer = detail::open(*this);
    const auto* pool = dynamic_cast<const MemoryPool*>(buffer.resource.get());
    if (pool == nullptr || !pool->is_ipc_enabled()) {
        throw std::logic_error("Memory resource is not IPC-enabled: only buffers of a pool made "
                               "with ipc_enabled can be shared with other processes");
    }
    if (buffer.size == 0 || buffer.is_slice()) {
        throw std::logic_error(buffer.size == 0 ? "a buffer of 0 bytes has no memory to share"
                                                : "a slice cannot be shared by itself; share the "
                                                  "whole buffer and slice it over there");
    }
    if (const auto* more = buffer.extras.peek(); more != nullptr && more->imported != nullptr) {
        return *more->imported; // only the process that made the memory can export it
    }
    static_cast<void>(pool->allocation_handle()); // drivers share no pointer before the pool
    CUmemPoolPtrExportData data{};
    call(table().cuMemPoolExportPointer, &data, buffer.pointer);
    IPCBufferDescriptor descriptor;
    std::memcpy(descriptor.payload.data(), &data, sizeof(data));
    std::ranges::copy(checksum_of(descriptor.payload), descriptor.payload.begin() + EXPORT_BYTES);
    descriptor.size = buffer.size;
    return descriptor;
}

Buffer Buffer::from_ipc_descriptor(MemoryPool& pool, const IPCBufferDescriptor& descriptor,
                                   const Stream& stream) {
    [[maybe_unused]] const auto& checked = detail::open(stream);
    if (!pool.is_ipc_enabled()) {
        throw std::logic_error(
            "Memory resource is not IPC-enabled: import the exporter's pool with "
            "from_allocation_handle first");
    }
    check_payload(descriptor.payload);
    if (descriptor.size == 0) {
        throw std::invalid_argument("IPC buffer descriptor size is 0, and a buffer of 0 bytes is "
                                    "not shared: the descriptor is forged");
    }
    if (auto mapped = imports().find_or_claim(descriptor.payload)) {
        if (mapped->resource.get() != &pool) { // as the driver would if it were asked again
            raise_foreign(pool, "but of one that this process has mapped through another pool");
        }
        if (mapped->size != descriptor.size) {
            throw std::invalid_argument(
                "IPC buffer descriptor size (" + std::to_string(descriptor.size) + ") is not the " +
                std::to_string(mapped->size) +
                " bytes that this process imported the same allocation with");
        }
        return Buffer(std::move(mapped));
    }
    // Removes the entry when the memory is unmapped, or here if mapping fails.
    std::shared_ptr<void> entry(
        nullptr, [payload = descriptor.payload](void*) noexcept { imports().forget(payload); });
    auto mapped = map_allocation(pool, descriptor, stream, std::move(entry));
    imports().set(descriptor.payload, mapped);
    return Buffer(std::move(mapped));
}

bool Buffer::is_mapped() const {
    const auto* more = detail::open(*this).whole_state().extras.peek();
    return more != nullptr && more->imported != nullptr;
}

} // namespace cuprum
