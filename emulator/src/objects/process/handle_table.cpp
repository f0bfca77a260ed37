// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/process/handle_table.hpp"

#include "objects/process/error.hpp"

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
        // Count here, under the lock: all() must never find more objects than are counted.
        counts_[static_cast<std::size_t>(kind)].fetch_add(1, std::memory_order_relaxed);
    }
    Slot& slot = chunks_[index / CHUNK_SLOTS].load(std::memory_order_acquire)[index % CHUNK_SLOTS];
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
    const std::lock_guard lock(mutex_);
    free_.push_back(static_cast<std::uint32_t>(handle >> SLOT_SHIFT & SLOT_MASK));
    return object;
}

std::size_t HandleTable::count(HandleKind kind) const noexcept {
    return counts_[static_cast<std::size_t>(kind)].load(std::memory_order_relaxed);
}

std::vector<std::shared_ptr<Object>> HandleTable::all(HandleKind kind) {
    std::vector<std::shared_ptr<Object>> found;
    const std::lock_guard table_lock(mutex_);
    // Stop when all objects of this kind are found. Every free asks for the contexts, which are few
    // and have low slots.
    const std::size_t most = count(kind);
    for (std::size_t index = 0; index < slot_count_ && found.size() < most; ++index) {
        Slot& slot =
            chunks_[index / CHUNK_SLOTS].load(std::memory_order_acquire)[index % CHUNK_SLOTS];
        const SlotLock lock(slot.lock);
        if (slot.handle != 0 && slot.handle >> KIND_SHIFT == static_cast<std::uint64_t>(kind)) {
            found.push_back(slot.object);
        }
    }
    return found;
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
