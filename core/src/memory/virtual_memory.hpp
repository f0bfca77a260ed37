// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Addresses and the physical memory behind them. The last holder of each releases it.

#pragma once

#include "driver/call.hpp"

#include <cuprum/virtual_memory_resource.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace cuprum::detail {

/// Physical memory; released with the last mapping.
class PhysicalChunk {
public:
    PhysicalChunk(CUmemGenericAllocationHandle handle, std::size_t bytes) noexcept
        : handle_(handle), bytes_(bytes) {}

    ~PhysicalChunk();
    PhysicalChunk(const PhysicalChunk&) = delete;
    PhysicalChunk& operator=(const PhysicalChunk&) = delete;

    [[nodiscard]] CUmemGenericAllocationHandle handle() const noexcept { return handle_; }

    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

private:
    CUmemGenericAllocationHandle handle_;
    std::size_t bytes_;
};

/// Reserved addresses.
class Reservation {
public:
    Reservation(CUdeviceptr base, std::size_t bytes) noexcept : base_(base), bytes_(bytes) {}

    ~Reservation();
    Reservation(const Reservation&) = delete;
    Reservation& operator=(const Reservation&) = delete;

    [[nodiscard]] CUdeviceptr base() const noexcept { return base_; }

    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

private:
    CUdeviceptr base_;
    std::size_t bytes_;
};

/// A chunk as it appears at an address.
class Mapping {
public:
    Mapping(CUdeviceptr base, std::shared_ptr<PhysicalChunk> chunk);
    ~Mapping();
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;

    [[nodiscard]] CUdeviceptr base() const noexcept { return base_; }

    [[nodiscard]] const std::shared_ptr<PhysicalChunk>& chunk() const noexcept { return chunk_; }

private:
    CUdeviceptr base_;
    std::shared_ptr<PhysicalChunk> chunk_;
};

/// One run of addresses with memory behind all of it. Members are destroyed last first: mappings,
/// then reservations. All methods need the device's context to be current.
class VirtualAllocation {
public:
    [[nodiscard]] CUdeviceptr base() const noexcept { return reservations_.front()->base(); }

    [[nodiscard]] std::size_t size() const noexcept;

    /// Sets the access of all locations; a location that is not listed any more has none. On
    /// failure everything stays as it was.
    void set_access(const Device& device, const VirtualMemoryResourceOptions& options);
    /// Grows to at least `bytes` behind its end; false if the addresses there are not free.
    [[nodiscard]] bool extend(const Device& device, std::size_t bytes,
                              const VirtualMemoryResourceOptions& options);
    /// Returns a larger allocation at another address whose beginning is the same memory.
    [[nodiscard]] std::shared_ptr<VirtualAllocation>
    relocate(const Device& device, std::size_t bytes,
             const VirtualMemoryResourceOptions& options) const;

private:
    friend std::shared_ptr<VirtualAllocation>
    allocate_virtual(const Device& device, std::size_t bytes,
                     const VirtualMemoryResourceOptions& options);

    std::vector<std::unique_ptr<Reservation>> reservations_; // one behind the other
    std::vector<std::unique_ptr<Mapping>> mappings_;         // one behind the other
    std::vector<CUmemAccessDesc> access_;                    // as it was set last
};

/// Reserves, creates, maps and opens memory; all of it or, on failure, nothing.
[[nodiscard]] std::shared_ptr<VirtualAllocation>
allocate_virtual(const Device& device, std::size_t bytes,
                 const VirtualMemoryResourceOptions& options);

/// Returns what sizes are rounded up to.
[[nodiscard]] std::size_t virtual_granularity(const Device& device,
                                              const VirtualMemoryResourceOptions& options);

} // namespace cuprum::detail
