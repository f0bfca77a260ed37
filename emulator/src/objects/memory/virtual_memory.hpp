// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Memory whose addresses and whose bytes are made apart and joined by mapping.
//
// Bytes are an anonymous file of the system's, so that one piece can be mapped at several places.

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

/// A piece of memory without addresses, as cuMemCreate makes it.
class PhysicalMemory final : public Object {
public:
    /// Takes memory of a device or the host; throws OUT_OF_MEMORY.
    PhysicalMemory(std::uint64_t bytes, const CUmemAllocationProp& properties);

    /// Takes memory that another process has made; it counts as that process's.
    PhysicalMemory(std::shared_ptr<SharedFile> file, const CUmemAllocationProp& properties);

    ~PhysicalMemory() override;

    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

    [[nodiscard]] const CUmemAllocationProp& properties() const noexcept { return properties_; }

    [[nodiscard]] const SharedFile& file() const noexcept { return *file_; }

    /// Returns the device whose memory this is, -1 for the host's.
    [[nodiscard]] int device() const noexcept;

    /// How often the handle must be released until it is no longer one; changed by VirtualMemory.
    std::atomic<std::uint32_t> shares{1};
    /// At how many places it is mapped: for so long its handle can be had again. VirtualMemory's.
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

    /// Takes a range of addresses with nothing behind them; at `hint` if that is where another
    /// reservation ends and the addresses are free, so that memory can grow where it is.
    [[nodiscard]] std::uint64_t reserve(std::uint64_t bytes, std::uint64_t alignment,
                                        std::uint64_t hint);

    /// Gives a whole reservation back; throws INVALID_VALUE while something is mapped in it.
    void free(std::uint64_t base, std::uint64_t bytes);

    /// Puts memory behind a part of a reservation; nobody may touch it before set_access().
    void map(std::uint64_t base, std::uint64_t bytes, std::uint64_t offset,
             const std::shared_ptr<PhysicalMemory>& memory);

    /// Takes away what was mapped in a range that whole mappings make up.
    void unmap(std::uint64_t base, std::uint64_t bytes);

    /// Says what devices, or the host, may do with mapped memory; changes nothing if it throws.
    void set_access(std::uint64_t base, std::uint64_t bytes,
                    std::span<const CUmemAccessDesc> descriptions);

    /// Returns what a location may do at an address; throws INVALID_VALUE if nothing is mapped.
    [[nodiscard]] CUmemAccess_flags access(std::uint64_t address,
                                           const CUmemLocation& location) const;

    /// Returns what a copy for a device may do with all of a range: what the device may, and where
    /// it may do nothing, what someone else may, for the driver lets them do it.
    [[nodiscard]] Permission permission_to_copy(std::uint64_t address, std::uint64_t bytes,
                                                int device) const;

    /// Returns the memory mapped at an address; throws INVALID_VALUE if there is none.
    [[nodiscard]] std::shared_ptr<PhysicalMemory> memory_at(std::uint64_t address) const;

    /// Takes another share of the handle of the memory mapped at an address, which may have been
    /// released; returns its value. Throws INVALID_VALUE if nothing is mapped there.
    [[nodiscard]] std::uint64_t retain(std::uint64_t address);

    /// Gives up a share of a handle; throws INVALID_VALUE if there is none left.
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
        std::uint64_t taken = 0; // where the addresses begin that it has a part of
    };

    /// Addresses taken in one piece, for reservations that follow each other.
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
