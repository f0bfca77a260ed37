// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Stream-ordered memory pools.
//
// A pool hands out blocks, each with addresses of its own. A freed block stays with the pool until
// a synchronisation finds more than the release threshold lying idle. It is used again at once on
// the stream that freed it, since that order makes it safe, and on any other stream as soon as the
// work up to the free is done. To the calls of the API a block is gone when the free is called; to
// kernels when the stream gets there.
//
// The blocks of a pool that can be shared lie in a shared file. A pointer that is exported gets an
// entry in the file's table, which is how another process, holding the same file, finds it and
// knows that it has not been freed. An imported pool makes no blocks; it maps those of the other.

#pragma once

#include "objects/memory/allocations.hpp"
#include "objects/process/handle_table.hpp"
#include "objects/process/shared_file.hpp"
#include "objects/streams/operation.hpp"

#include <cuda.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace cuprum::emulator {

class Device;
class Stream;

/// A pool of stream-ordered memory on a device or on the host.
class Pool final : public Object, public std::enable_shared_from_this<Pool> {
public:
    /// Makes a pool; throws INVALID_VALUE or NOT_SUPPORTED for properties that no pool can have.
    [[nodiscard]] static std::shared_ptr<Pool> create(const CUmemPoolProps& properties);

    /// Makes a device's own pool, which cannot be destroyed.
    [[nodiscard]] static std::shared_ptr<Pool> create_default(Device& device);

    /// Makes the host's own pool for `type` memory.
    [[nodiscard]] static std::shared_ptr<Pool> create_default(CUmemAllocationType type,
                                                              CUmemLocation location);

    /// Takes a pool that another process has exported; throws INVALID_VALUE for anything else.
    [[nodiscard]] static std::shared_ptr<Pool> import(int descriptor);

    ~Pool() override;

    /// Allocates; the address may be used by work given to `stream` from now on.
    [[nodiscard]] std::shared_ptr<Allocation> allocate(std::uint64_t bytes, const Stream& stream);

    /// Takes back an allocation of this pool, which the table of allocations has dropped already,
    /// once `stream` gets there.
    void free(const std::shared_ptr<Allocation>& allocation, Stream& stream);

    /// Takes back an allocation at once; the caller knows that no work uses it.
    void free_now(const std::shared_ptr<Allocation>& allocation);

    /// Returns a descriptor by which other processes get at the pool, for the caller to close;
    /// throws INVALID_VALUE if the pool was not made for that.
    [[nodiscard]] int export_descriptor() const;

    /// Describes an allocation of this pool to other processes.
    [[nodiscard]] CUmemPoolPtrExportData export_pointer(const Allocation& allocation);

    /// Maps an allocation of the process that made this imported pool.
    [[nodiscard]] std::shared_ptr<Allocation> import_pointer(const CUmemPoolPtrExportData& data);

    [[nodiscard]] bool is_imported() const noexcept { return is_imported_; }

    /// Gives idle blocks back until at most `keep_bytes` are reserved.
    void trim_to(std::uint64_t keep_bytes);

    /// Gives back what lies idle above the release threshold.
    void trim_to_threshold();

    /// Tells, cheaply, whether trim_to_threshold() could do anything.
    [[nodiscard]] bool has_excess() const noexcept;

    void get_attribute(CUmemPool_attribute attribute, void* value) const;
    void set_attribute(CUmemPool_attribute attribute, const void* value);

    [[nodiscard]] CUmemAccess_flags access(const CUmemLocation& location) const;
    /// Throws if set_access() must not be called so.
    void check_access(const CUmemAccessDesc& description) const;
    void set_access(const CUmemAccessDesc& description);

    [[nodiscard]] bool is_default() const noexcept { return is_default_; }

    [[nodiscard]] const CUmemPoolProps& properties() const noexcept { return properties_; }

    /// Returns the device whose memory this is, -1 for the host's.
    [[nodiscard]] int device() const noexcept;

private:
    struct Block {
        std::uint64_t base = 0;
        std::uint64_t capacity = 0;
        std::uint64_t use = 0; // counts allocations, so that a late free is told apart
        std::shared_ptr<Operation> freed_by; // nullptr: at once
        std::uint64_t freed_on_stream = 0;
        std::uint64_t file_offset = 0;         // in a shared pool
        std::optional<std::uint32_t> exported; // its place in the table of the shared file
    };

    /// Entry of the table in the shared file; all zero while it is not in use.
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
    [[nodiscard]] std::shared_ptr<Block> take_rested(std::vector<std::shared_ptr<Block>>& blocks,
                                                     std::uint64_t capacity,
                                                     std::uint64_t stream_id);
    [[nodiscard]] std::shared_ptr<Block> make_block(std::uint64_t capacity);
    void reserve(std::uint64_t capacity);
    [[nodiscard]] std::shared_ptr<Block> take_block(std::uint64_t capacity);
    void put_back(const Allocation& allocation, std::shared_ptr<Operation> freed_by,
                  std::uint64_t stream_id);
    [[nodiscard]] std::uint64_t use_of(const Allocation& allocation) const;
    void close_if_idle(const Allocation& allocation, std::uint64_t use);
    void release(const Block& block) noexcept;
    void withdraw(Block& block);
    void unmap_import(const Allocation& allocation) noexcept;

    CUmemPoolProps properties_;
    bool is_default_;
    bool is_imported_ = false;
    std::shared_ptr<SharedFile> file_; // of a pool that can be shared

    mutable std::mutex mutex_;                                          // of what follows
    std::map<std::uint64_t, std::vector<std::shared_ptr<Block>>> idle_; // by capacity
    std::map<std::uint64_t, std::shared_ptr<Block>> blocks_;            // all, by base
    std::map<int, CUmemAccess_flags> access_;                           // by device
    std::array<int, 4> reuse_{0, 1, 1, 1};                              // by attribute
    std::atomic<std::uint64_t> release_threshold_{0};
    std::atomic<std::uint64_t> reserved_bytes_{0};
    std::atomic<std::uint64_t> idle_bytes_{0};
    std::uint64_t reserved_high_bytes_ = 0;
    std::uint64_t used_bytes_ = 0;
    std::uint64_t used_high_bytes_ = 0;
    std::uint64_t file_end_ = 0;     // where the next block of the shared file goes
    std::uint64_t next_serial_ = 1;  // of exports
    std::uint32_t record_count_ = 0; // places of the table that were ever used
    std::vector<std::uint32_t> free_records_;
};

} // namespace cuprum::emulator
