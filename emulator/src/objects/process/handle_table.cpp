// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/process/handle_table.hpp"

#include "objects/process/error.hpp"

#include <algorithm>

namespace cuprum::emulator {

namespace {

constexpr unsigned SLOT_SHIFT = 4;
constexpr unsigned GENERATION_SHIFT = 28;
constexpr unsigned KIND_SHIFT = 44;
constexpr std::uint64_t SLOT_MASK = (std::uint64_t{1} << (GENERATION_SHIFT - SLOT_SHIFT)) - 1;

/// Holds a slot's spin lock for a few instructions.
class SlotLock {
public:
    [[nodiscard]] explicit SlotLock(std::atomic_flag& flag) : flag_(flag) {
        while (flag_.test_and_set(std::memory_order_acquire)) {
        }
    }

    ~SlotLock() { flag_.clear(std::memory_order_release); }

    SlotLock(const SlotLock&) = delete;
    SlotLock& operator=(const SlotLock&) = delete;

private:
    std::atomic_flag& flag_;
};

} // namespace

HandleTable& HandleTable::instance() {
    // Never destroyed: handles are looked up from destructors that run at exit.
    static auto* table = new HandleTable;
    return *table;
}

std::uint64_t HandleTable::insert(HandleKind kind, std::shared_ptr<Object> object) {
    object->origin_ = Origin::here(places::OF_HANDLES);
    const void* const owner = object->belongs_to();
    std::uint32_t index = 0;
    {
        const std::lock_guard lock(mutex_);
        // Freed slots are not used again at once.
        constexpr std::size_t resting_slots = 64;
        if (free_.size() > resting_slots) {
            index = free_.front();
            free_.pop_front();
        } else {
            if (slot_count_ == CHUNK_SLOTS * MAX_CHUNKS) {
                fail(CUDA_ERROR_OUT_OF_MEMORY, "no handle is left: too many live objects");
            }
            index = static_cast<std::uint32_t>(slot_count_);
            if (index % CHUNK_SLOTS == 0) {
                chunks_[index / CHUNK_SLOTS].store(new Slot[CHUNK_SLOTS],
                                                   std::memory_order_release);
            }
            ++slot_count_;
        }
        link(kind, index, owner);
        counts_[static_cast<std::size_t>(kind)].fetch_add(1, std::memory_order_relaxed);
    }
    Slot& slot = slot_at(index);
    const SlotLock lock(slot.lock);
    ++slot.generation;
    slot.handle = static_cast<std::uint64_t>(kind) << KIND_SHIFT |
                  static_cast<std::uint64_t>(slot.generation) << GENERATION_SHIFT |
                  static_cast<std::uint64_t>(index) << SLOT_SHIFT;
    object->handle_ = slot.handle;
    slot.object = std::move(object);
    return slot.handle;
}

std::shared_ptr<Object> HandleTable::find(HandleKind kind, std::uint64_t handle) noexcept {
    if (handle >> KIND_SHIFT != static_cast<std::uint64_t>(kind)) {
        return nullptr;
    }
    Slot* slot = slot_of(handle);
    if (slot == nullptr) {
        return nullptr;
    }
    const SlotLock lock(slot->lock);
    return slot->handle == handle ? slot->object : nullptr;
}

std::shared_ptr<Object> HandleTable::erase(HandleKind kind, std::uint64_t handle) noexcept {
    if (handle >> KIND_SHIFT != static_cast<std::uint64_t>(kind)) {
        return nullptr;
    }
    Slot* slot = slot_of(handle);
    if (slot == nullptr) {
        return nullptr;
    }
    std::shared_ptr<Object> object;
    {
        const SlotLock lock(slot->lock);
        if (slot->handle != handle) {
            return nullptr;
        }
        slot->handle = 0;
        object = std::move(slot->object);
    }
    counts_[static_cast<std::size_t>(kind)].fetch_sub(1, std::memory_order_relaxed);
    const auto index = static_cast<std::uint32_t>(handle >> SLOT_SHIFT & SLOT_MASK);
    const std::lock_guard lock(mutex_);
    unlink(kind, index);
    free_.push_back(index);
    return object;
}

std::size_t HandleTable::count(HandleKind kind) const noexcept {
    return counts_[static_cast<std::size_t>(kind)].load(std::memory_order_relaxed);
}

std::vector<std::shared_ptr<Object>> HandleTable::all(HandleKind kind) {
    Found found;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [owner, group] : groups_[static_cast<std::size_t>(kind)]) {
            collect(group, found);
        }
    }
    std::ranges::sort(found, {}, &Found::value_type::first);
    std::vector<std::shared_ptr<Object>> objects;
    objects.reserve(found.size());
    for (auto& [serial, object] : found) {
        objects.push_back(std::move(object));
    }
    return objects;
}

std::vector<std::shared_ptr<Object>> HandleTable::all_of(HandleKind kind, const void* owner) {
    Found found;
    {
        const std::lock_guard lock(mutex_);
        const Groups& groups = groups_[static_cast<std::size_t>(kind)];
        if (const auto group = groups.find(owner); group != groups.end()) {
            collect(group->second, found);
        }
    }
    std::vector<std::shared_ptr<Object>> objects;
    objects.reserve(found.size());
    for (auto& [serial, object] : found) {
        objects.push_back(std::move(object));
    }
    return objects;
}

/// Adds the objects of a group that are live. The mutex must be held.
void HandleTable::collect(const Group& group, Found& found) {
    for (std::uint32_t index = group.first; index != NONE;) {
        Slot& slot = slot_at(index);
        index = slot.next;
        const SlotLock lock(slot.lock);
        if (slot.handle != 0) { // not one that is being inserted or erased
            found.emplace_back(slot.serial, slot.object);
        }
    }
}

/// Appends a slot to its group. The mutex must be held.
void HandleTable::link(HandleKind kind, std::uint32_t index, const void* owner) {
    Group& group = groups_[static_cast<std::size_t>(kind)][owner];
    Slot& slot = slot_at(index);
    slot.owner = owner;
    slot.serial = next_serial_++;
    slot.previous = group.last;
    slot.next = NONE;
    (group.last == NONE ? group.first : slot_at(group.last).next) = index;
    group.last = index;
}

/// Removes a slot from its group. The mutex must be held.
void HandleTable::unlink(HandleKind kind, std::uint32_t index) noexcept {
    Groups& groups = groups_[static_cast<std::size_t>(kind)];
    const Slot& slot = slot_at(index);
    const auto group = groups.find(slot.owner);
    (slot.previous == NONE ? group->second.first : slot_at(slot.previous).next) = slot.next;
    (slot.next == NONE ? group->second.last : slot_at(slot.next).previous) = slot.previous;
    if (group->second.first == NONE) {
        groups.erase(group);
    }
}

HandleTable::Slot& HandleTable::slot_at(std::uint32_t index) noexcept {
    return chunks_[index / CHUNK_SLOTS].load(std::memory_order_acquire)[index % CHUNK_SLOTS];
}

HandleTable::Slot* HandleTable::slot_of(std::uint64_t handle) noexcept {
    if ((handle & ((std::uint64_t{1} << SLOT_SHIFT) - 1)) != 0) {
        return nullptr;
    }
    const std::uint64_t index = handle >> SLOT_SHIFT & SLOT_MASK;
    Slot* chunk = chunks_[index / CHUNK_SLOTS].load(std::memory_order_acquire);
    return chunk == nullptr ? nullptr : chunk + index % CHUNK_SLOTS;
}

} // namespace cuprum::emulator
