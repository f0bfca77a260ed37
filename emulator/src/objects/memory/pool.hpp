// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Stream-ordered memory pools.
//
// A pool allocates blocks, each with its own addresses. A freed block stays in the pool until a
// synchronisation finds more idle memory than the release threshold. The stream that freed it can
// use it again at once, because stream order makes that safe. Other streams can use it when the
// work before the free is done. For API calls a block is freed when the free is called; for kernels
// when the stream reaches the free.
//
// The blocks of a shareable pool are in a shared file. An exported pointer gets an entry in the
// file's table. Another process that holds the same file finds the pointer there and sees that it
// has not been freed. An imported pool allocates no blocks; it maps those of the exporter.

#pragma once

#include "objects/memory/allocations.hpp"
#include "objects/process/handle_table.hpp"
#include "objects/process/shared_file.hpp"

#include <cuda.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

namespace cuprum::emulator {

class Device;
class Stream;

/// A pool of stream-ordered memory on a device or on the host.
class Pool final : public Object, public std::enable_shared_from_this<Pool> {
public:
    /// Creates a pool. Throws INVALID_VALUE or NOT_SUPPORTED for invalid properties.
    [[nodiscard]] static std::shared_ptr<Pool> create(const CUmemPoolProps& properties);

    /// Creates a device's default pool, which cannot be destroyed.
    [[nodiscard]] static std::shared_ptr<Pool> create_default(Device& device);

    /// Creates the host's default pool for `type` memory.
    [[nodiscard]] static std::shared_ptr<Pool> create_default(CUmemAllocationType type,
                                                              CUmemLocation location);

    /// Imports a pool that another process has exported. Throws INVALID_VALUE for other
    /// descriptors.
    [[nodiscard]] static std::shared_ptr<Pool> import(int descriptor);

    ~Pool() override;

    /// Allocates memory. Work that is enqueued on `stream` from now on may use it.
    [[nodiscard]] std::shared_ptr<Allocation> allocate(std::uint64_t bytes, const Stream& stream);

    /// Frees an allocation of this pool when `stream` reaches this point. The table of allocations
    /// has removed it already.
    void free(const std::shared_ptr<Allocation>& allocation, Stream& stream);

    /// Frees an allocation at once. The caller guarantees that no work uses it.
    void free_now(const std::shared_ptr<Allocation>& allocation);

    /// Returns a descriptor that lets other processes import the pool. The caller closes it. Throws
    /// INVALID_VALUE if the pool cannot be shared.
    [[nodiscard]] int export_descriptor() const;

    /// Describes an allocation of this pool to other processes.
    [[nodiscard]] CUmemPoolPtrExportData export_pointer(const Allocation& allocation);

    /// Maps an allocation of the process that exported this pool.
    [[nodiscard]] std::shared_ptr<Allocation> import_pointer(const CUmemPoolPtrExportData& data);

    [[nodiscard]] bool is_imported() const noexcept { return is_imported_; }

    /// Releases idle blocks until at most `keep_bytes` are reserved.
    void trim_to(std::uint64_t keep_bytes);

    /// Releases idle memory above the release threshold.
    void trim_to_threshold();

    /// Gives the pages of idle blocks back to the system; the blocks stay. Not of a shared pool.
    void discard_idle() noexcept;

    /// Returns whether trim_to_threshold() could release something. Cheap.
    [[nodiscard]] bool has_excess() const noexcept;

    void get_attribute(CUmemPool_attribute attribute, void* value) const;
    void set_attribute(CUmemPool_attribute attribute, const void* value);

    [[nodiscard]] CUmemAccess_flags access(const CUmemLocation& location) const;
    /// Throws if set_access() would refuse these arguments.
    void check_access(const CUmemAccessDesc& description) const;
    void set_access(const CUmemAccessDesc& description);

    [[nodiscard]] bool is_default() const noexcept { return is_default_; }

    [[nodiscard]] const CUmemPoolProps& properties() const noexcept { return properties_; }

    /// Returns the device whose memory this is, or -1 for host memory.
    [[nodiscard]] int device() const noexcept;

private:
    struct Block;

    /// The neighbours of a block in a list.
    struct Links {
        Block* previous = nullptr;
        Block* next = nullptr;
    };

    struct Block {
        std::uint64_t base = 0;
        std::uint64_t capacity = 0;
        std::uint64_t use = 0;        // counts allocations, so that a late free is detected
        bool is_idle = false;         // freed, at least by a call
        bool is_free_for_all = false; // idle, and the stream has reached the free
        std::uint64_t freed_on_stream = 0;
        Links of_stream;
        Links of_all;
        std::uint64_t file_offset = 0;         // in a shared pool
        std::optional<std::uint32_t> exported; // its entry in the table of the shared file
    };

    /// Blocks in the order in which they were added, by one of their links.
    struct List {
        Block* first = nullptr;
        Block* last = nullptr;

        void add(Block& block, Links Block::* links) noexcept;
        void remove(Block& block, Links Block::* links) noexcept;
    };

    /// The idle blocks of one size.
    struct Idle {
        std::unordered_map<std::uint64_t, List> by_stream; // which stream freed them
        List for_all;
        std::size_t count = 0;
    };

    /// An entry of the table in the shared file. All zero while it is unused.
    struct ExportRecord {
        std::uint64_t serial = 0;
        std::uint64_t offset = 0;
        std::uint64_t bytes = 0;
        std::uint64_t unused = 0;

        bool operator==(const ExportRecord&) const = default;
    };

    struct ExportedPointer;

    explicit Pool(const CUmemPoolProps& properties, bool is_default,
                  std::shared_ptr<SharedFile> imported = nullptr);

    [[nodiscard]] std::shared_ptr<Block> take_idle(std::uint64_t capacity, std::uint64_t stream_id);
    [[nodiscard]] static Block* find_idle(Idle& idle, std::uint64_t stream_id,
                                          bool may_take_from_others);
    [[nodiscard]] static Block* find_rested(Idle& idle, std::uint64_t capacity,
                                            std::uint64_t stream_id);
    static void remove_idle(Idle& idle, Block& block);
    [[nodiscard]] std::shared_ptr<Block> make_block(std::uint64_t capacity);
    void reserve(std::uint64_t capacity);
    [[nodiscard]] std::shared_ptr<Block> take_block(std::uint64_t capacity);
    void put_back(const Allocation& allocation, std::uint64_t stream_id);
    [[nodiscard]] std::uint64_t use_of(const Allocation& allocation) const;
    void close_if_idle(const Allocation& allocation, std::uint64_t use);
    void release(const Block& block) noexcept;
    void withdraw(Block& block);
    void unmap_import(const Allocation& allocation) noexcept;

    CUmemPoolProps properties_;
    bool is_default_;
    bool is_imported_ = false;
    std::shared_ptr<SharedFile> file_; // of a pool that can be shared

    mutable std::mutex mutex_;                               // guards the members below
    std::map<std::uint64_t, Idle> idle_;                     // by capacity
    std::map<std::uint64_t, std::shared_ptr<Block>> blocks_; // all, by base
    std::map<int, CUmemAccess_flags> access_;                // by device
    std::array<int, 4> reuse_{0, 1, 1, 1};                   // by attribute
    std::atomic<std::uint64_t> release_threshold_{0};
    std::atomic<std::uint64_t> reserved_bytes_{0};
    std::atomic<std::uint64_t> idle_bytes_{0};
    std::uint64_t reserved_high_bytes_ = 0;
    std::uint64_t used_bytes_ = 0;
    std::uint64_t used_high_bytes_ = 0;
    std::uint64_t file_end_ = 0;     // where the next block of the shared file goes
    std::uint64_t next_serial_ = 1;  // of exports
    std::uint32_t record_count_ = 0; // entries of the table that were ever used
    std::vector<std::uint32_t> free_records_;
};

} // namespace cuprum::emulator
