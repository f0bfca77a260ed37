// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/buffer.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/location.hpp>
#include <cuprum/stream.hpp>

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace cuprum {

/// A buffer of memory that moves between host and devices by itself, with the means to steer that.
///
/// Every method raises std::invalid_argument if the memory is not managed after all; those that
/// move it std::logic_error on a capturing stream, since a graph has no such nodes.
///
/// @code
/// const auto pool = cuprum::ManagedMemoryResource::create();
/// const cuprum::ManagedBuffer memory = pool->allocate(1024, stream);
/// memory.prefetch(cuprum::Location::device(device), stream);
/// cuprum::launch(stream, {.block = 32}, kernel, memory);
/// stream.sync();
/// std::printf("%d\n", memory.as_span<int>()[0]);
/// @endcode
class CUPRUM_API ManagedBuffer : public Buffer {
public:
    /// Takes a buffer for one of managed memory; that is checked when it matters.
    explicit ManagedBuffer(Buffer buffer) noexcept : Buffer(std::move(buffer)) {}

    /// Returns a part of the memory as a buffer that shares it; see Buffer::slice.
    [[nodiscard]] ManagedBuffer slice(std::size_t offset, std::size_t bytes) const {
        return ManagedBuffer(Buffer::slice(offset, bytes));
    }

    /// Returns whether the memory is advised to be read mostly, so that devices keep copies.
    [[nodiscard]] bool read_mostly() const;
    /// Advises that the memory is read mostly, or withdraws the advice.
    void set_read_mostly(bool value) const;

    /// Returns where the memory should rest, nothing if it may rest anywhere.
    [[nodiscard]] std::optional<Location> preferred_location() const;
    /// Advises where the memory should rest; nothing withdraws the advice.
    void set_preferred_location(const std::optional<Location>& location) const;

    /// Returns the places that are advised to keep the memory mapped: devices in order, then host.
    [[nodiscard]] std::vector<Location> accessed_by() const;
    /// Makes these, and no others, keep it mapped. All are checked before any is advised.
    /// @throws std::invalid_argument for a NUMA node: only devices and the host as a whole can be.
    void set_accessed_by(std::span<const Location> locations) const;

    /// Sets a list of places: `set_accessed_by({Location::host()})`.
    void set_accessed_by(std::initializer_list<Location> locations) const {
        set_accessed_by(std::span(locations.begin(), locations.size()));
    }

    /// Advises one more place to keep the memory mapped.
    void add_accessed_by(const Location& location) const;
    /// Withdraws the advice for one place.
    void remove_accessed_by(const Location& location) const;

    /// Returns where the memory was last sent by prefetching, nothing if it was not or not all to
    /// one place.
    [[nodiscard]] std::optional<Location> last_prefetch_location() const;

    /// Moves the memory to a place, in a stream's order. Returns at once.
    void prefetch(const Location& location, const Stream& stream) const;
    /// Gives up what the memory holds, in a stream's order: it need not be moved any more. Needs a
    /// driver for CUDA 13.0.
    void discard(const Stream& stream) const;
    /// Gives up what the memory holds and moves it, in a stream's order. Needs a driver for
    /// CUDA 13.0.
    void discard_prefetch(const Location& location, const Stream& stream) const;
};

/// Moves each buffer to its place, in a stream's order; one location serves for all. One driver
/// call, or one per buffer with a driver before CUDA 13.0.
/// @throws std::invalid_argument if there are no buffers, as many locations as neither 1 nor the
/// buffers, or memory that is not managed.
CUPRUM_API void prefetch_batch(const Stream& stream, std::span<const ManagedBuffer> buffers,
                               std::span<const Location> locations);

/// Gives up what the buffers hold, in a stream's order. Needs a driver for CUDA 13.0.
CUPRUM_API void discard_batch(const Stream& stream, std::span<const ManagedBuffer> buffers);

/// Gives up what the buffers hold and moves each to its place. Needs a driver for CUDA 13.0.
CUPRUM_API void discard_prefetch_batch(const Stream& stream, std::span<const ManagedBuffer> buffers,
                                       std::span<const Location> locations);

} // namespace cuprum

template <>
struct std::hash<cuprum::ManagedBuffer> : std::hash<cuprum::Buffer> {};
