// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The table of live handles.
//
// A handle is not an address. It holds a slot, how often the slot has been used, and the kind of
// object. One lookup detects a handle that was destroyed, has another kind or never existed. No
// handle is ever used as a pointer.
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
#include <map>
#include <memory>
#include <mutex>
#include <utility>
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
    GreenContextView, // the CUcontext of a green context
    ResourceDescription,
    Linker,
    Graph,
    GraphNode,
    GraphExecutable,
    UserObject,
    Array,
    MipmappedArray,
    TextureReference,
    SurfaceReference,
    GraphicsResource,
    ExternalMemory,
    ExternalSemaphore,
    Count,
};

/// The base class of all objects that have handles.
class Object {
public:
    virtual ~Object() = default;
    Object() = default;
    Object(const Object&) = delete;
    Object& operator=(const Object&) = delete;

    /// Returns the handle as a number, or 0 if the object is not in the table.
    [[nodiscard]] std::uint64_t handle_value() const noexcept { return handle_; }

    /// Returns the handle as a driver type.
    template <typename Handle>
    [[nodiscard]] Handle handle() const noexcept {
        return reinterpret_cast<Handle>(handle_);
    }

    /// Returns the call that made the object.
    [[nodiscard]] const Origin& origin() const noexcept { return origin_; }

    /// Returns the context that the object ends with, nullptr if there is none. Never changes.
    [[nodiscard]] virtual const void* belongs_to() const noexcept { return nullptr; }

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

    /// Gives an object a handle. The table keeps a share of the object until erase().
    std::uint64_t insert(HandleKind kind, std::shared_ptr<Object> object);

    /// Returns the object of a live handle, or nullptr for any other value.
    [[nodiscard]] std::shared_ptr<Object> find(HandleKind kind, std::uint64_t handle) noexcept;

    /// Invalidates a handle and returns its object, or nullptr if the handle was not live.
    std::shared_ptr<Object> erase(HandleKind kind, std::uint64_t handle) noexcept;

    /// Returns the number of live objects of a kind.
    [[nodiscard]] std::size_t count(HandleKind kind) const noexcept;

    /// Returns the live objects of a kind, those that were made first come first.
    [[nodiscard]] std::vector<std::shared_ptr<Object>> all(HandleKind kind);

    /// Returns the live objects of a kind with this owner, in the same order.
    [[nodiscard]] std::vector<std::shared_ptr<Object>> all_of(HandleKind kind, const void* owner);

private:
    static constexpr std::uint32_t NONE = ~std::uint32_t{0};

    struct Slot {
        std::atomic_flag lock;
        std::uint16_t generation = 0;
        std::uint64_t handle = 0; // 0: free
        std::shared_ptr<Object> object;
        // Guarded by the mutex of the table: the place in the list of the group.
        const void* owner = nullptr;
        std::uint64_t serial = 0;
        std::uint32_t previous = NONE;
        std::uint32_t next = NONE;
    };

    /// The list of objects of one kind and owner, in the order in which they were made.
    struct Group {
        std::uint32_t first = NONE;
        std::uint32_t last = NONE;
    };

    using Groups = std::map<const void*, Group>;                                  // by owner
    using Found = std::vector<std::pair<std::uint64_t, std::shared_ptr<Object>>>; // by serial

    static constexpr std::size_t CHUNK_SLOTS = 1024;
    static constexpr std::size_t MAX_CHUNKS = 16384; // 24 bits of slots

    [[nodiscard]] Slot* slot_of(std::uint64_t handle) noexcept;
    [[nodiscard]] Slot& slot_at(std::uint32_t index) noexcept;
    void link(HandleKind kind, std::uint32_t index, const void* owner);
    void unlink(HandleKind kind, std::uint32_t index) noexcept;
    void collect(const Group& group, Found& found);

    // Chunks are created on demand. They never move and are never freed, so find() needs no lock of
    // the table.
    std::array<std::atomic<Slot*>, MAX_CHUNKS> chunks_{};
    std::mutex mutex_; // guards the members below
    std::size_t slot_count_ = 0;
    std::deque<std::uint32_t> free_; // first freed, first used: stale handles stay invalid longer
    std::uint64_t next_serial_ = 0;
    std::array<Groups, static_cast<std::size_t>(HandleKind::Count)> groups_;
    std::array<std::atomic<std::size_t>, static_cast<std::size_t>(HandleKind::Count)> counts_{};
};

} // namespace cuprum::emulator
