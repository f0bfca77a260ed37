// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The table of all memory that the driver knows, by address.

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

class GraphMemory;
class Operation;
class Pool;
class SharedFile;

/// Where memory came from.
enum class MemoryKind : std::uint8_t {
    Device,     // cuMemAlloc, module variables
    Pinned,     // cuMemHostAlloc
    Managed,    // cuMemAllocManaged
    Registered, // cuMemHostRegister: the program's own, outside the window
    Pooled,     // cuMemAllocAsync
    Mapped,     // cuMemMap
    Imported,   // cuIpcOpenMemHandle: memory of another process
    Heap,       // for malloc in kernels
    Graph,      // allocation nodes of graphs
    Array,      // arrays, which kernels reach by textures and surfaces only
    Graphics,   // a buffer of OpenGL while it is mapped
    External,   // a buffer of imported memory
};

/// What reports show about an allocation, live or freed.
struct AllocationNote {
    std::uint64_t base = 0;
    std::uint64_t bytes = 0;
    MemoryKind kind = MemoryKind::Device;
    std::uint64_t id = 0; // CU_POINTER_ATTRIBUTE_BUFFER_ID
    Origin made_by;
    std::string name; // the use of memory that the driver made for itself: a variable, a heap

    /// Returns whether the allocation contains an address.
    [[nodiscard]] bool contains(std::uint64_t address) const noexcept {
        return address - base < bytes;
    }

    /// Describes the allocation in one line: kind, number, size, address and the call that made it.
    /// The place of that call follows in further lines.
    [[nodiscard]] std::string to_text() const;
};

/// One allocation. Immutable once it is in the table, except for members that say so.
struct Allocation : AllocationNote {
    int device = 0;
    std::shared_ptr<Context> context; // nullptr for memory of no context (pools, VMM)
    unsigned flags = 0;               // of cuMemHostAlloc, cuMemHostRegister, cuMemAllocManaged
    std::shared_ptr<Pool> pool;       // Pooled
    std::weak_ptr<GraphMemory> graph; // Graph
    bool is_on_host = false;          // Pooled, Mapped, Graph: host memory
    bool migrates = false;            // Graph: managed memory
    std::atomic<bool> sync_memops{false};
    std::atomic<bool> is_being_freed{false}; // Device, Managed: a stream will free it
    std::shared_ptr<SharedFile> file; // Device: once it is shared; Imported. Set under the gate.

    /// Returns whether only the driver and kernels of this process can write the memory.
    [[nodiscard]] bool is_private() const noexcept;

    /// Returns whether the memory migrates between host and devices.
    [[nodiscard]] bool is_managed() const noexcept;

    /// Returns whether the memory was registered as read-only for all devices.
    [[nodiscard]] bool is_read_only() const noexcept {
        return kind == MemoryKind::Registered && (flags & CU_MEMHOSTREGISTER_READ_ONLY) != 0;
    }

    /// Returns whether CUDA lets the CPU access the memory.
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

    /// Allocates memory that belongs to a context: Device, Pinned, Managed, Heap or Array.
    ///
    /// @throws DriverError OUT_OF_MEMORY if the device does not have that much memory left.
    std::shared_ptr<Allocation> allocate(MemoryKind kind, const std::shared_ptr<Context>& context,
                                         std::uint64_t bytes, unsigned flags,
                                         std::string name = {});

    /// Lets kernels access an allocation, on the devices that have access to it. Not for Mapped
    /// memory, whose access is set separately.
    static void open(const Allocation& allocation);

    /// Sets what a device may do with allocations of other devices.
    void set_access(int device, Permission permission,
                    const std::function<bool(const Allocation&)>& which);

    /// Adds memory that the caller manages (Registered, Pooled, Mapped, Graph).
    ///
    /// @throws DriverError HOST_MEMORY_ALREADY_REGISTERED if it overlaps registered memory.
    void add(const std::shared_ptr<Allocation>& allocation);

    /// Removes the allocation of one of these `kinds` that starts at `base`, and frees Device,
    /// Pinned, Managed and Array memory. Returns nullptr if there is none.
    std::shared_ptr<Allocation> remove(std::uint64_t base, std::initializer_list<MemoryKind> kinds);

    /// Removes this allocation in the same way. Returns false if it is no longer in the table.
    bool remove(const std::shared_ptr<Allocation>& allocation);

    /// Forgets a Pooled allocation completely. Until then covers() still finds it, because work
    /// that was enqueued before the free may use it.
    void forget(const Allocation& allocation);

    /// Returns the allocation that contains an address, or nullptr.
    [[nodiscard]] std::shared_ptr<Allocation> find(std::uint64_t address) const;

    /// Returns how many bytes from an address on are allocated without a gap. The count continues
    /// through mappings that follow directly. Returns 0 if the address is in no allocation.
    [[nodiscard]] std::uint64_t bytes_from(std::uint64_t address) const;

    /// Frees all memory of a context that is being destroyed.
    void free_all_of(const Context& context);

    /// Returns the number of live allocations of a kind.
    [[nodiscard]] std::size_t count(MemoryKind kind) const;

    /// Returns all live allocations, by address.
    [[nodiscard]] std::vector<std::shared_ptr<Allocation>> all() const;

    /// Describes which memory an address belongs to, in separate lines: the allocation that
    /// contains it, a freed one that did, or the nearest one. Empty if there is none.
    [[nodiscard]] std::string describe(std::uint64_t address) const;

    /// Finds the allocation that contains an address, for kernels. A freed one counts until its
    /// stream reaches the free.
    [[nodiscard]] bool find_for_kernels(std::uint64_t address, MemoryRange& range) const;

    /// Returns a count that changes whenever the answers of find_for_kernels() may change.
    [[nodiscard]] const std::atomic<std::uint64_t>& changes() const noexcept { return changes_; }

    /// Finds the registered memory that contains an address. Returns false if there is none.
    [[nodiscard]] bool find_registered(std::uint64_t address, MemoryRange& range,
                                       bool& is_read_only) const;

    /// Returns whether one allocation contains a whole range and may be read (or written), apart
    /// from the access rights of devices. For kernels.
    [[nodiscard]] bool covers(std::uint64_t address, std::uint64_t bytes, bool is_write) const;

private:
    using Map = std::map<std::uint64_t, std::shared_ptr<Allocation>>;

    /// A freed allocation.
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
    // Freed, but their streams have not reached the free. By base; the next user of a block may
    // have the same base.
    std::multimap<std::uint64_t, std::shared_ptr<Allocation>> draining_;
    std::atomic<std::uint64_t> changes_{1};
    std::deque<Freed> freed_; // the last ones, oldest first
};

} // namespace cuprum::emulator
