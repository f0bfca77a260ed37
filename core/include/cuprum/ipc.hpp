// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Memory shared between processes: a pool travels as a file descriptor, a buffer as 64 bytes that
// name it to a process that imported the pool.

#pragma once

#include <cuprum/detail/export.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <span>

namespace cuprum {

namespace detail {
class FileDescriptor;
}

/// The right to import a pool: shares a file descriptor, which is closed with the last share.
///
/// Send the descriptor to another process (SCM_RIGHTS, inheritance, pidfd_getfd), which makes this
/// again with `from_descriptor` and imports the pool.
///
/// @code
/// const auto pool = cuprum::DeviceMemoryResource::create(device, {.ipc_enabled = true});
/// const cuprum::IPCAllocationHandle handle = pool->allocation_handle();
/// std::printf("send descriptor %d over a socket\n", handle.descriptor());
/// @endcode
class CUPRUM_API IPCAllocationHandle {
public:
    /// Takes over a file descriptor: it is closed with the last share.
    /// @throws std::invalid_argument if it is negative.
    [[nodiscard]] static IPCAllocationHandle from_descriptor(int descriptor);
    /// Duplicates a file descriptor, which stays the caller's.
    /// @throws std::invalid_argument if it is negative or not open.
    [[nodiscard]] static IPCAllocationHandle duplicate(int descriptor);

    /// Returns the file descriptor, which this object still owns.
    [[nodiscard]] int descriptor() const;

    /// Returns whether `close()` was called.
    [[nodiscard]] bool is_closed() const noexcept { return state_ == nullptr; }

    /// Gives up this share. Calling it again does nothing.
    void close() noexcept { state_.reset(); }

private:
    explicit IPCAllocationHandle(std::shared_ptr<detail::FileDescriptor> state) noexcept
        : state_(std::move(state)) {}

    std::shared_ptr<detail::FileDescriptor> state_;
};

/// Names a buffer to processes that imported its pool. Plain bytes: send it as you like.
///
/// Descriptors are untrusted input: the size is validated against the mapping, and the payload
/// against its checksum, since drivers crash on a damaged one. A checksum is no signature: import
/// only from processes that you trust.
struct IPCBufferDescriptor {
    static constexpr std::size_t PAYLOAD_BYTES = 72; // the driver's 64 and their checksum

    std::array<std::byte, PAYLOAD_BYTES> payload{}; // the driver's name of the memory
    std::size_t size = 0;                           // bytes of the buffer

    /// Makes a descriptor from what arrived.
    /// @throws std::invalid_argument if there are fewer bytes than a descriptor has, or other ones.
    [[nodiscard]] CUPRUM_API static IPCBufferDescriptor from_bytes(std::span<const std::byte> bytes,
                                                                   std::size_t size);

    friend bool operator==(const IPCBufferDescriptor&, const IPCBufferDescriptor&) = default;
};

} // namespace cuprum
