// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "interp/image.hpp"

#include <new>
#include <utility>

namespace cuprum::emulator {

ImageTable& ImageTable::instance() {
    static auto* const table = new ImageTable;
    return *table;
}

std::uint64_t ImageTable::insert(ImageUse use, Image image) {
    const std::scoped_lock lock(mutex_);
    std::uint32_t index = 0;
    // Erased slots are used again only if there are many, so that stale handles stay invalid.
    if (free_.size() > CHUNK_SLOTS || slot_count_ > SLOT_MASK) {
        if (free_.empty()) {
            throw std::bad_alloc();
        }
        index = free_.front();
        free_.erase(free_.begin());
    } else {
        if (slot_count_ % CHUNK_SLOTS == 0) {
            chunks_[slot_count_ / CHUNK_SLOTS].store(new Slot[CHUNK_SLOTS],
                                                     std::memory_order_release);
        }
        index = static_cast<std::uint32_t>(slot_count_++);
    }
    Slot& slot = chunks_[index / CHUNK_SLOTS].load()[index % CHUNK_SLOTS];
    ++slot.generation;
    slot.handle =
        tag_of(use) << TAG_SHIFT | std::uint64_t{slot.generation} << GENERATION_SHIFT | index;
    slot.reason.clear();
    slot.image = std::move(image);
    ++counts_[static_cast<std::size_t>(use)];
    slot.live.store(slot.handle, std::memory_order_release);
    return slot.handle;
}

void ImageTable::replace(std::uint64_t handle, Image image) {
    const std::scoped_lock lock(mutex_);
    if (Slot* const slot = slot_of(handle); slot != nullptr) {
        slot->live.store(0, std::memory_order_release);
        slot->reason.clear();
        slot->image = std::move(image);
        slot->live.store(handle, std::memory_order_release);
    }
}

void ImageTable::retire(std::uint64_t handle, std::string reason) {
    const std::scoped_lock lock(mutex_);
    if (Slot* const slot = slot_of(handle); slot != nullptr) {
        slot->live.store(0, std::memory_order_release);
        slot->reason = std::move(reason);
    }
}

void ImageTable::erase(std::uint64_t handle) {
    const std::scoped_lock lock(mutex_);
    if (Slot* const slot = slot_of(handle); slot != nullptr) {
        slot->live.store(0, std::memory_order_release);
        slot->handle = 0;
        slot->reason.clear();
        const bool is_texture = handle >> TAG_SHIFT == tag_of(ImageUse::Texture);
        --counts_[static_cast<std::size_t>(is_texture ? ImageUse::Texture : ImageUse::Surface)];
        free_.push_back(static_cast<std::uint32_t>(handle & SLOT_MASK));
    }
}

std::string ImageTable::explain(ImageUse use, std::uint64_t handle) const {
    const std::string name = use == ImageUse::Texture ? "texture" : "surface";
    const std::uint64_t tag = handle >> TAG_SHIFT;
    if (handle == 0) {
        return "is 0: no " + name + " is bound";
    }
    if (tag == tag_of(use == ImageUse::Texture ? ImageUse::Surface : ImageUse::Texture)) {
        return std::string("belongs to a ") + (use == ImageUse::Texture ? "surface" : "texture") +
               " object, not to a " + name + " object";
    }
    if (tag != tag_of(use)) {
        return "is not the handle of a " + name + " object";
    }
    const std::scoped_lock lock(mutex_);
    if (const Slot* const slot = slot_of(handle); slot != nullptr) {
        return "belongs to a " + name + " that cannot be used: " + slot->reason;
    }
    return "belongs to a " + name + " object that was destroyed";
}

std::size_t ImageTable::count(ImageUse use) const {
    const std::scoped_lock lock(mutex_);
    return counts_[static_cast<std::size_t>(use)];
}

ImageTable::Slot* ImageTable::slot_of(std::uint64_t handle) const {
    const std::uint64_t index = handle & SLOT_MASK;
    if (index >= slot_count_) {
        return nullptr;
    }
    Slot& slot = chunks_[index / CHUNK_SLOTS].load()[index % CHUNK_SLOTS];
    return handle != 0 && slot.handle == handle ? &slot : nullptr;
}

} // namespace cuprum::emulator
