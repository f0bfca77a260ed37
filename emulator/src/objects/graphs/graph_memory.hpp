// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The memory of allocation nodes.
//
// An allocation node gets its addresses when it is made and keeps them. Memory lies behind them
// from the first launch or upload on, until it is free and the program asks for a trim. Two states
// tell whether the memory is in use: to the calls of the API it is allocated from the launch of its
// graph to the call that frees it; to kernels from the allocation node to the free, as work runs.

#pragma once

#include "objects/memory/allocations.hpp"

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace cuprum::emulator {

/// A range of addresses that belongs to one allocation node, or to several that follow each other.
class GraphMemory final : public std::enable_shared_from_this<GraphMemory> {
public:
    /// Takes addresses for a node of a graph.
    ///
    /// @throws DriverError INVALID_VALUE, NOT_SUPPORTED for properties that it cannot have.
    [[nodiscard]] static std::shared_ptr<GraphMemory>
    create(const CUDA_MEM_ALLOC_NODE_PARAMS& request);

    ~GraphMemory();
    GraphMemory(const GraphMemory&) = delete;
    GraphMemory& operator=(const GraphMemory&) = delete;

    [[nodiscard]] std::uint64_t address() const noexcept { return allocation_->base; }

    [[nodiscard]] std::uint64_t bytes() const noexcept { return allocation_->bytes; }

    [[nodiscard]] int device() const noexcept { return allocation_->device; }

    /// Returns whether other devices were given access.
    [[nodiscard]] bool is_shared_by_devices() const noexcept { return !access_.empty(); }

    /// Returns whether the memory is of the kind that a request wants, and where it wants it.
    [[nodiscard]] bool suits(const CUmemPoolProps& wanted) const noexcept {
        return wanted.allocType == properties_.allocType &&
               wanted.location.type == properties_.location.type &&
               wanted.location.id == properties_.location.id;
    }

    /// Returns the memory that starts at an address; nullptr if no allocation node has it.
    [[nodiscard]] static std::shared_ptr<GraphMemory> find(std::uint64_t address);

    /// Puts memory behind the addresses, unless there is some; throws OUT_OF_MEMORY.
    void back();

    // ---- as the program calls -------------------------------------------------------------------

    /// Returns whether a launch has allocated the memory, and nothing has freed it since.
    [[nodiscard]] bool is_allocated() const noexcept;

    /// Says that a launch allocates the memory, and whether the same launch frees it.
    void note_launch(bool frees_it);

    /// Says that a call frees the memory; throws INVALID_VALUE if it is not allocated.
    void note_free();

    // ---- as work runs ---------------------------------------------------------------------------

    /// Keeps memory behind the addresses until as many calls of end_use().
    void begin_use() noexcept;
    void end_use() noexcept;

    /// Lets kernels touch the memory.
    void open();

    /// Keeps kernels from touching the memory.
    void close();

    /// Returns whether kernels may touch the memory.
    [[nodiscard]] bool is_open() const noexcept { return is_open_.load(std::memory_order_acquire); }

    // ---- nodes ----------------------------------------------------------------------------------

    /// Returns the handle of the graph whose node frees the memory last; 0: no node does.
    [[nodiscard]] std::uint64_t freed_in() const noexcept { return freed_in_; }

    /// Returns the number of that node.
    [[nodiscard]] std::uint64_t freed_by() const noexcept { return freed_by_; }

    /// Records the node that frees the memory.
    void set_freed(std::uint64_t graph, std::uint64_t node) noexcept {
        freed_in_ = graph;
        freed_by_ = node;
    }

    /// Returns the handle of the graph whose nodes allocate the memory.
    [[nodiscard]] std::uint64_t allocated_in() const noexcept { return allocated_in_; }

    void set_allocated_in(std::uint64_t graph) noexcept { allocated_in_ = graph; }

    // ---- all memory of a device -----------------------------------------------------------------

    /// Returns an attribute of the memory of all graphs on a device; throws INVALID_VALUE.
    [[nodiscard]] static std::uint64_t attribute(int device, CUgraphMem_attribute attribute);

    /// Sets a high-water mark to 0; throws INVALID_VALUE for anything else.
    static void set_attribute(int device, CUgraphMem_attribute attribute, std::uint64_t value);

    /// Gives back the memory behind addresses that are not in use.
    static void trim(int device);

private:
    GraphMemory() = default;

    std::shared_ptr<Allocation> allocation_;
    std::uint64_t capacity_ = 0;
    CUmemPoolProps properties_{};
    std::vector<CUmemAccessDesc> access_;
    std::atomic<bool> is_open_{false};
    std::uint64_t freed_in_ = 0; // under GraphLock, as what follows
    std::uint64_t freed_by_ = 0;
    std::uint64_t allocated_in_ = 0;
    bool is_backed_ = false;    // under the lock of all graph memory, as what follows
    bool is_allocated_ = false; // to the calls of the API
    std::uint64_t users_ = 0;   // pieces of work, given to streams, that may touch the memory
};

} // namespace cuprum::emulator
