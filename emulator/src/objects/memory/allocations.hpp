// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Every piece of memory that the driver has been told of, by address.

#pragma once

#include "interp/memory_map.hpp"
#include "objects/devices/context.hpp"
#include "objects/process/origin.hpp"

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <vector>

namespace cuprum::emulator {

class Operation;
class Pool;
class SharedFile;

/// Where memory came from.
enum class MemoryKind : std::uint8_t {
    Device,     // cuMemAlloc, module variables
    Pinned,     // cuMemHostAlloc
    Managed,    // cuMemAllocManaged
    Registered, // cuMemHostRegister: the user's own, outside the window
    Pooled,     // cuMemAllocAsync
    Mapped,     // cuMemMap
    Imported,   // cuIpcOpenMemHandle: another process's
    Heap,       // what malloc in kernels allocates from
};

/// What reports say of an allocation, alive or not.
struct AllocationNote {
    std::uint64_t base = 0;
    std::uint64_t bytes = 0;
    MemoryKind kind = MemoryKind::Device;
    std::uint64_t id = 0; // CU_POINTER_ATTRIBUTE_BUFFER_ID
    Origin made_by;
    std::string name; // what it is for, when the driver made it for itself: a variable, a heap

    /// Returns whether it holds an address.
    [[nodiscard]] bool contains(std::uint64_t address) const noexcept {
        return address - base < bytes;
    }

    /// Returns what it is in one line: kind, number, size, address and the call that made it; the
    /// place of that call follows in lines of its own.
    [[nodiscard]] std::string to_text() const;
};

/// One allocation. Immutable once it is in the table, except for what is marked.
struct Allocation : AllocationNote {
    int device = 0;
    std::shared_ptr<Context> context; // nullptr where memory belongs to no context (pools, VMM)
    unsigned flags = 0;               // of cuMemHostAlloc, cuMemHostRegister, cuMemAllocManaged
    std::shared_ptr<Pool> pool;       // Pooled
    bool is_on_host = false;          // Pooled, Mapped: host memory
    std::atomic<bool> sync_memops{false};
    std::atomic<bool> is_being_freed{false}; // Device, Managed: a stream will do it
    std::shared_ptr<SharedFile> file; // Device: once it is shared; Imported. Set under the gate.

    /// Returns whether nothing but the driver and kernels of this process can write the memory.
    [[nodiscard]] bool is_private() const noexcept;

    /// Returns whether the memory moves between host and devices by itself.
    [[nodiscard]] bool is_managed() const noexcept;

    /// Returns whether devices may only read the memory, whatever they are: registered like that.
    [[nodiscard]] bool is_read_only() const noexcept {
        return kind == MemoryKind::Registered && (flags & CU_MEMHOSTREGISTER_READ_ONLY) != 0;
    }

    /// Returns whether the CPU may touch the memory, as far as CUDA promises.
    [[nodiscard]] bool is_host_accessible() const noexcept {
        return kind == MemoryKind::Pinned || kind == MemoryKind::Registered ||
               kind == MemoryKind::Managed || is_on_host;
    }
};

/// The live allocations of the process.
class Allocations {
public:
    /// Returns the process's table; never destroyed.
    [[nodiscard]] static Allocations& instance();

    /// Allocates memory that belongs to a context: Device, Pinned, Managed or Heap.
    ///
    /// @throws DriverError OUT_OF_MEMORY if the device does not have that much memory left.
    std::shared_ptr<Allocation> allocate(MemoryKind kind, const std::shared_ptr<Context>& context,
                                         std::uint64_t bytes, unsigned flags,
                                         std::string name = {});

    /// Lets kernels touch an allocation, on the devices that have access to it. Not for Mapped,
    /// whose access is set by itself.
    static void open(const Allocation& allocation);

    /// Says what a device may do with allocations of others.
    void set_access(int device, Permission permission,
                    const std::function<bool(const Allocation&)>& which);

    /// Adds memory that someone else takes care of (Registered, Pooled, Mapped).
    ///
    /// @throws DriverError HOST_MEMORY_ALREADY_REGISTERED if it overlaps registered memory.
    void add(const std::shared_ptr<Allocation>& allocation);

    /// Removes an allocation that starts at `base` and is of one of `kinds`, and gives Device,
    /// Pinned and Managed memory back. Returns nullptr if there is none.
    std::shared_ptr<Allocation> remove(std::uint64_t base, std::initializer_list<MemoryKind> kinds);

    /// Removes this very allocation, as remove() above does; false if it is not there any more.
    bool remove(const std::shared_ptr<Allocation>& allocation);

    /// Drops the last trace of a Pooled allocation: until then covers() still knows it, since
    /// work given to streams before the free may use it.
    void forget(const Allocation& allocation);

    /// Returns the allocation that holds an address, or nullptr.
    [[nodiscard]] std::shared_ptr<Allocation> find(std::uint64_t address) const;

    /// Returns how many bytes from an address on are allocated without a gap: to the end of its
    /// allocation, and on through mappings that follow it directly. 0 if it is in none.
    [[nodiscard]] std::uint64_t bytes_from(std::uint64_t address) const;

    /// Frees whatever belongs to a context that is going away.
    void free_all_of(const Context& context);

    /// Returns how many live allocations are of a kind.
    [[nodiscard]] std::size_t count(MemoryKind kind) const;

    /// Returns all live allocations, by address.
    [[nodiscard]] std::vector<std::shared_ptr<Allocation>> all() const;

    /// Says what an address has to do with memory, in lines of their own: the allocation that holds
    /// it, else the one that did until it was freed, else the one beside it. Empty when there is
    /// nothing to say.
    [[nodiscard]] std::string describe(std::uint64_t address) const;

    /// Finds the allocation that holds an address, for kernels: one that was freed counts until
    /// its stream gets there.
    [[nodiscard]] bool find_for_kernels(std::uint64_t address, MemoryRange& range) const;

    /// Counts the changes of what find_for_kernels() answers.
    [[nodiscard]] const std::atomic<std::uint64_t>& changes() const noexcept { return changes_; }

    /// Returns whether one allocation, or registered memory, holds a whole range, and whether that
    /// may be read (or written) as far as no device is concerned. For kernels.
    [[nodiscard]] bool covers(std::uint64_t address, std::uint64_t bytes, bool is_write) const;

private:
    using Map = std::map<std::uint64_t, std::shared_ptr<Allocation>>;

    /// An allocation that is gone.
    struct Freed {
        AllocationNote note;
        Origin freed_by;
    };

    std::shared_ptr<Allocation> take_out(Map::iterator which, const Origin& freed_by);
    static void release(const Allocation& allocation) noexcept;
    void remember(const AllocationNote& allocation, const Origin& freed_by);
    [[nodiscard]] static bool covers(const Allocation& allocation, std::uint64_t address,
                                     std::uint64_t bytes) noexcept;
    [[nodiscard]] const Allocation* find_draining(std::uint64_t address,
                                                  std::uint64_t bytes) const noexcept;

    mutable std::shared_mutex mutex_;
    Map by_base_;
    // Freed, but streams are not there yet; by base, which the next owner of a block may share.
    std::multimap<std::uint64_t, std::shared_ptr<Allocation>> draining_;
    std::atomic<std::uint64_t> changes_{1};
    std::deque<Freed> freed_; // the last ones, oldest first
};

} // namespace cuprum::emulator
