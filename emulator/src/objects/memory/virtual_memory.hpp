// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Virtual memory: addresses and physical memory are created separately and joined by mapping.
//
// Physical memory is an anonymous file, so that one piece can be mapped at several places.

#pragma once

#include "objects/memory/allocations.hpp"
#include "objects/process/handle_table.hpp"
#include "objects/process/shared_file.hpp"

#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>

namespace cuprum::emulator {

/// Physical memory without addresses, made by cuMemCreate.
class PhysicalMemory final : public Object {
public:
    /// Allocates memory of a device or the host. Throws OUT_OF_MEMORY.
    PhysicalMemory(std::uint64_t bytes, const CUmemAllocationProp& properties);

    /// Imports memory of another process. It is charged to that process.
    PhysicalMemory(std::shared_ptr<SharedFile> file, const CUmemAllocationProp& properties);

    ~PhysicalMemory() override;

    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

    [[nodiscard]] const CUmemAllocationProp& properties() const noexcept { return properties_; }

    [[nodiscard]] const SharedFile& file() const noexcept { return *file_; }

    /// Returns the device whose memory this is, or -1 for host memory.
    [[nodiscard]] int device() const noexcept;

    [[nodiscard]] bool is_imported() const noexcept { return is_imported_; }

    /// How often the handle must be released until it is invalid. VirtualMemory changes it.
    std::atomic<std::uint32_t> shares{1};
    /// At how many places it is mapped. While it is mapped, its handle can be retained again.
    /// VirtualMemory changes it.
    std::uint32_t mappings = 0;

private:
    std::uint64_t bytes_;
    CUmemAllocationProp properties_;
    std::shared_ptr<SharedFile> file_;
    bool is_imported_ = false;
};

/// The reservations of addresses and what is mapped into them.
class VirtualMemory {
public:
    static constexpr std::uint64_t GRANULARITY_BYTES = 2 << 20;

    /// Returns the process's reservations; never destroyed.
    [[nodiscard]] static VirtualMemory& instance();

    /// Reserves a range of addresses without memory. Uses `hint` if another reservation ends there
    /// and the addresses are free, so that memory can grow in place.
    [[nodiscard]] std::uint64_t reserve(std::uint64_t bytes, std::uint64_t alignment,
                                        std::uint64_t hint);

    /// Frees a whole reservation. Throws INVALID_VALUE while memory is mapped in it.
    void free(std::uint64_t base, std::uint64_t bytes);

    /// Maps memory into a part of a reservation. Nothing may access it before set_access().
    void map(std::uint64_t base, std::uint64_t bytes, std::uint64_t offset,
             const std::shared_ptr<PhysicalMemory>& memory);

    /// Unmaps a range, which must consist of whole mappings.
    void unmap(std::uint64_t base, std::uint64_t bytes);

    /// Sets what devices, or the host, may do with mapped memory. Changes nothing if it throws.
    void set_access(std::uint64_t base, std::uint64_t bytes,
                    std::span<const CUmemAccessDesc> descriptions);

    /// Returns what a location may do at an address. Throws INVALID_VALUE if nothing is mapped
    /// there.
    [[nodiscard]] CUmemAccess_flags access(std::uint64_t address,
                                           const CUmemLocation& location) const;

    /// Returns what a copy for a device may do with all of a range. Where the device has no access,
    /// the access of another location counts, because the driver copies through that location.
    [[nodiscard]] Permission permission_to_copy(std::uint64_t address, std::uint64_t bytes,
                                                int device) const;

    /// Returns the memory mapped at an address. Throws INVALID_VALUE if there is none.
    [[nodiscard]] std::shared_ptr<PhysicalMemory> memory_at(std::uint64_t address) const;

    /// Retains the handle of the memory mapped at an address, even if it was released before, and
    /// returns it. Throws INVALID_VALUE if nothing is mapped there.
    [[nodiscard]] std::uint64_t retain(std::uint64_t address);

    /// Releases a handle once. Throws INVALID_VALUE if it was released already.
    void release(PhysicalMemory& memory);

private:
    struct Mapping {
        std::uint64_t bytes = 0;
        std::shared_ptr<PhysicalMemory> memory;
        std::shared_ptr<Allocation> allocation;
        std::map<int, CUmemAccess_flags> access; // by device, -1 for the host
    };

    using Mappings = std::map<std::uint64_t, Mapping>;

    struct Reservation {
        std::uint64_t bytes = 0;
        std::uint64_t taken = 0; // the start of the addresses in `taken_` that it is a part of
    };

    /// Addresses allocated in one piece, for reservations that follow each other.
    struct Taken {
        std::uint64_t bytes = 0;
        std::size_t reservations = 0;
    };

    static void forget_if_unused(PhysicalMemory& memory);
    [[nodiscard]] bool reserve_behind(std::uint64_t address, std::uint64_t bytes);
    [[nodiscard]] Mappings::const_iterator find(std::uint64_t address) const;

    mutable std::mutex mutex_;
    std::map<std::uint64_t, Reservation> reservations_; // by base
    std::map<std::uint64_t, Taken> taken_;              // by base
    Mappings mappings_;
};

} // namespace cuprum::emulator
