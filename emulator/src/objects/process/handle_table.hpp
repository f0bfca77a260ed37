// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The table of live handles.
//
// A handle is not an address: it names a slot, how often the slot has been used, and the kind of
// object. One short lock detects a handle that was destroyed, is of another kind or was never made,
// and no handle is ever followed as a pointer.
//
//   bits  0..3   0
//   bits  4..27  slot
//   bits 28..43  generation of the slot
//   bits 44..51  kind

#pragma once

#include "objects/process/origin.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace cuprum::emulator {

/// The kinds of objects that have handles.
enum class HandleKind : std::uint8_t {
    None,
    Context,
    Stream,
    Event,
    Pool,
    Module,
    Library,
    Function,
    Kernel,
    Physical, // memory made by cuMemCreate
    GreenContext,
    GreenContextView, // a green context as a CUcontext
    ResourceDescription,
    Linker,
    Graph,
    GraphNode,
    Count,
};

/// What everything behind a handle derives from.
class Object {
public:
    virtual ~Object() = default;
    Object() = default;
    Object(const Object&) = delete;
    Object& operator=(const Object&) = delete;

    /// Returns the handle as a number; 0 before it was inserted.
    [[nodiscard]] std::uint64_t handle_value() const noexcept { return handle_; }

    /// Returns the handle as the driver type asked for.
    template <typename Handle>
    [[nodiscard]] Handle handle() const noexcept {
        return reinterpret_cast<Handle>(handle_);
    }

    /// Returns the call that made the object.
    [[nodiscard]] const Origin& origin() const noexcept { return origin_; }

private:
    friend class HandleTable;
    std::uint64_t handle_ = 0;
    Origin origin_;
};

/// Maps handles to objects, for the whole process.
class HandleTable {
public:
    /// Returns the process's table; never destroyed.
    [[nodiscard]] static HandleTable& instance();

    /// Gives an object a handle; the table keeps a share of it until erase().
    std::uint64_t insert(HandleKind kind, std::shared_ptr<Object> object);

    /// Returns the live object of a handle, or nullptr for any other value.
    [[nodiscard]] std::shared_ptr<Object> find(HandleKind kind, std::uint64_t handle) noexcept;

    /// Ends a handle's life and returns what it named, or nullptr if it was not alive.
    std::shared_ptr<Object> erase(HandleKind kind, std::uint64_t handle) noexcept;

    /// Returns how many objects of a kind are alive.
    [[nodiscard]] std::size_t count(HandleKind kind) const noexcept;

    /// Returns the live objects of a kind.
    [[nodiscard]] std::vector<std::shared_ptr<Object>> all(HandleKind kind);

private:
    struct Slot {
        std::atomic_flag lock;
        std::uint16_t generation = 0;
        std::uint64_t handle = 0; // 0: free
        std::shared_ptr<Object> object;
    };

    static constexpr std::size_t CHUNK_SLOTS = 1024;
    static constexpr std::size_t MAX_CHUNKS = 16384; // 24 bits of slots

    [[nodiscard]] Slot* slot_of(std::uint64_t handle) noexcept;

    // Chunks are made on demand and never move or go away, so that find() takes no table lock.
    std::array<std::atomic<Slot*>, MAX_CHUNKS> chunks_{};
    std::mutex mutex_; // of what follows
    std::size_t slot_count_ = 0;
    std::deque<std::uint32_t> free_; // first freed, first used: a stale handle stays stale longer
    std::array<std::atomic<std::size_t>, static_cast<std::size_t>(HandleKind::Count)> counts_{};
};

} // namespace cuprum::emulator
