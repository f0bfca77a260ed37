// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/closed.hpp>
#include <cuprum/detail/driver_types.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/text.hpp>
#include <cuprum/ipc.hpp>
#include <cuprum/memory_resource.hpp>
#include <cuprum/stream.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>

namespace cuprum {

class MemoryPool;

namespace detail {

struct Access;

/// A number of bytes that one thread may change while others read it. Reading costs a plain load.
// NOLINTNEXTLINE(*-special-member-functions): a move is a copy
class ByteCount {
public:
    ByteCount() = default;

    ByteCount(const ByteCount& other) noexcept : value_(std::size_t{other}) {}

    ~ByteCount() = default;

    ByteCount& operator=(const ByteCount& other) noexcept { return *this = std::size_t{other}; }

    ByteCount& operator=(std::size_t bytes) noexcept {
        value_.store(bytes, std::memory_order_relaxed);
        return *this;
    }

    // NOLINTNEXTLINE(google-explicit-constructor): it stands for the number
    operator std::size_t() const noexcept { return value_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::size_t> value_{0};
};

/// Where a buffer's memory is. The state of a buffer begins with it, so that reading it is a plain
/// load.
struct MemoryRange {
    CUdeviceptr pointer = 0;
    ByteCount size;
};

} // namespace detail

/// A piece of memory that devices can reach.
///
/// It holds its resource, its context and the stream that it will be freed on. Copies and slices
/// share the memory; the last of them frees it in that stream's order. Threads may use, close and
/// drop different copies and slices at the same time, but not one and the same object.
///
/// @code
/// const cuprum::Buffer memory = device.allocate(128, stream);
/// memory.copy_from_host(std::vector<int>(32, 1), stream);
/// cuprum::launch(stream, {.block = 32}, kernel, memory);
/// std::vector<int> results(32);
/// memory.copy_to_host(results, stream);
/// stream.sync();
/// assert(results[0] == 2);
/// @endcode
class CUPRUM_API Buffer {
public:
    /// Wraps memory owned by someone else; `owner` is kept alive with it.
    [[nodiscard]] static Buffer from_handle(CUdeviceptr pointer, std::size_t bytes,
                                            std::shared_ptr<void> owner = {});
    /// Takes over memory that `resource` allocated: it is freed through it, ordered on `stream`.
    [[nodiscard]] static Buffer from_handle(CUdeviceptr pointer, std::size_t bytes,
                                            std::shared_ptr<MemoryResource> resource,
                                            const Stream& stream);

    /// Maps a buffer of another process, named by a descriptor, into this one; `pool` is the
    /// exporter's pool, imported. The same descriptor gives the same memory, mapped once.
    /// @throws std::logic_error if the pool is not IPC-enabled; std::invalid_argument if the
    /// descriptor claims more than is mapped; CUDAError if it is not one of this pool's.
    [[nodiscard]] static Buffer from_ipc_descriptor(MemoryPool& pool,
                                                    const IPCBufferDescriptor& descriptor,
                                                    const Stream& stream);

    /// Returns the address of the memory.
    [[nodiscard]] CUdeviceptr handle() const { return range().pointer; }

    /// Returns the size in bytes.
    [[nodiscard]] std::size_t size() const { return range().size; }

    /// Returns the memory as a typed pointer, for kernels and, if the host can reach it, for the
    /// host.
    template <typename T>
    [[nodiscard]] T* data() const {
        return reinterpret_cast<T*>(static_cast<std::uintptr_t>(handle()));
    }

    /// Returns the memory as a range of T, for the host.
    /// @throws std::invalid_argument if the host cannot reach it, it is not aligned for T, or its
    /// size is not a multiple of T's.
    template <typename T>
    [[nodiscard]] std::span<T> as_span() const {
        static_assert(std::is_trivially_copyable_v<T>, "memory holds plain values only");
        check_span(sizeof(T), alignof(T));
        return {data<T>(), size() / sizeof(T)};
    }

    /// Returns a part of the memory as a buffer that shares it. The last of the slices and copies
    /// frees the memory.
    /// @throws std::invalid_argument if the part does not lie in the buffer.
    [[nodiscard]] Buffer slice(std::size_t offset, std::size_t bytes) const;

    /// Returns the buffer that this one is a slice of, or a copy of itself.
    [[nodiscard]] Buffer whole() const;

    /// Returns the ordinal of the device it lies on (of pinned memory, the one that registered
    /// it), -1 for other host memory.
    [[nodiscard]] int device_id() const;
    /// Returns whether kernels and copies on a device can use the memory.
    [[nodiscard]] bool is_device_accessible() const;
    /// Returns whether the host can read and write the memory directly.
    [[nodiscard]] bool is_host_accessible() const;
    /// Returns whether the memory migrates between host and devices by itself.
    [[nodiscard]] bool is_managed() const;
    /// Returns whether the memory belongs to another process.
    [[nodiscard]] bool is_mapped() const;
    /// Returns what names this buffer to processes that import its pool.
    /// @throws std::logic_error if it did not come from an IPC-enabled pool.
    [[nodiscard]] IPCBufferDescriptor ipc_descriptor() const;
    /// Returns where it came from; null for wrapped memory.
    [[nodiscard]] std::shared_ptr<MemoryResource> memory_resource() const;

    /// Copies all bytes to another buffer of the same size, ordered on `stream`. Returns at once.
    /// The buffers may be on different devices. For parts, copy slices; see also region.hpp.
    /// @throws std::invalid_argument if the sizes differ or the buffers overlap in part.
    void copy_to(const Buffer& destination, const Stream& stream) const;
    /// Copies all bytes from another buffer of the same size, ordered on `stream`. Returns at once.
    void copy_from(const Buffer& source, const Stream& stream) const;

    /// Copies from a contiguous range on the host (a vector, an array, a span), which must be as
    /// large as the buffer.
    ///
    /// Returns when the host memory may be reused if it is pageable, which the driver stages;
    /// pinned memory must stay untouched until the stream gets there.
    template <std::ranges::contiguous_range Range>
    void copy_from_host(const Range& source, const Stream& stream) const {
        static_assert(std::is_trivially_copyable_v<std::ranges::range_value_t<Range>>,
                      "memory holds plain values only");
        copy_from_host_bytes(std::ranges::data(source),
                             std::ranges::size(source) * sizeof(std::ranges::range_value_t<Range>),
                             stream);
    }

    /// Copies a list of values that is as large as the buffer: `copy_from_host({1.0F, 2.0F}, s)`.
    /// @throws std::logic_error if the stream is capturing: the list is gone when the graph runs.
    template <typename T>
    void copy_from_host(std::initializer_list<T> source, const Stream& stream) const {
        static_assert(std::is_trivially_copyable_v<T>, "memory holds plain values only");
        copy_from_list(source.begin(), source.size() * sizeof(T), stream);
    }

    /// Copies to a contiguous range on the host as large as the buffer. It holds the data once the
    /// stream has got there and must stay alive until then.
    template <std::ranges::contiguous_range Range>
    void copy_to_host(Range&& destination, const Stream& stream) const {
        static_assert(std::is_trivially_copyable_v<std::ranges::range_value_t<Range>>,
                      "memory holds plain values only");
        static_assert(std::ranges::borrowed_range<Range>,
                      "a temporary is gone before the copy arrives in it");
        copy_to_host_bytes(
            std::ranges::data(destination),
            std::ranges::size(destination) * sizeof(std::ranges::range_value_t<Range>), stream);
    }

    /// Copies `bytes` bytes, the size of the buffer, from host memory; see copy_from_host.
    void copy_from_host_bytes(const void* source, std::size_t bytes, const Stream& stream) const;
    /// Copies `bytes` bytes, the size of the buffer, to host memory; see copy_to_host.
    void copy_to_host_bytes(void* destination, std::size_t bytes, const Stream& stream) const;
    /// Fills with a repeated 1-, 2- or 4-byte value, ordered on `stream`.
    void fill(std::uint8_t value, const Stream& stream) const;
    /// Fills the buffer with a 2-byte value, ordered on `stream`. The size must be a multiple of 2.
    void fill(std::uint16_t value, const Stream& stream) const;
    /// Fills the buffer with a 4-byte value, ordered on `stream`. The size must be a multiple of 4.
    void fill(std::uint32_t value, const Stream& stream) const;

    /// Sets the stream that the memory will be freed on, for all shares. The caller orders this
    /// stream after the work of all shares.
    void set_deallocation_stream(const Stream& stream) const;
    /// Returns the stream that the memory will be freed on: the one of the allocation, or the one
    /// that set_deallocation_stream() named. Nothing for wrapped memory.
    [[nodiscard]] std::optional<Stream> deallocation_stream() const;

    /// Returns whether `close()` was called.
    [[nodiscard]] bool is_closed() const noexcept { return state_ == nullptr; }

    /// Gives up this share. The last share frees the memory, ordered on deallocation_stream().
    /// Calling it again does nothing.
    void close() noexcept { state_.reset(); }

    /// Gives up this share, whose work is on `stream`.
    ///
    /// If this is the last share, the memory is freed on `stream` instead of deallocation_stream().
    /// If not, the other shares keep their stream, and the free also waits for the work that
    /// `stream` holds now, except work that is being captured.
    /// @throws CUDAError if no event can be recorded on `stream`; the share is then still open.
    void close(const Stream& stream);

    /// Compares address and size.
    friend CUPRUM_API bool operator==(const Buffer& left, const Buffer& right) noexcept;

private:
    friend struct detail::Access;

    explicit Buffer(std::shared_ptr<detail::MemoryRange> state) noexcept
        : state_(std::move(state)) {}

    [[nodiscard]] const detail::MemoryRange& range() const {
        if (state_ == nullptr) [[unlikely]] {
            detail::raise_closed("Buffer");
        }
        return *state_;
    }

    void check_span(std::size_t bytes, std::size_t alignment) const;
    void copy_from_list(const void* source, std::size_t bytes, const Stream& stream) const;

    std::shared_ptr<detail::MemoryRange> state_; // a BufferState
};

/// Returns address and size for messages and logs. Makes no driver call.
[[nodiscard]] CUPRUM_API std::string to_string(const Buffer& buffer);

} // namespace cuprum

/// Hashes what operator== compares.
template <>
struct std::hash<cuprum::Buffer> {
    [[nodiscard]] CUPRUM_API std::size_t operator()(const cuprum::Buffer& buffer) const noexcept;
};
