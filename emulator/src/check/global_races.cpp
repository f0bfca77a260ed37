// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "check/global_races.hpp"

#include <algorithm>
#include <atomic>

namespace cuprum::emulator::check {

namespace {

std::atomic<std::uint64_t> next_number{1};

} // namespace

GridShadow::GridShadow() : number_(next_number.fetch_add(1, std::memory_order_relaxed)) {}

bool GridShadow::is_news(std::uint32_t instruction) {
    const std::lock_guard lock(mutex_);
    return reported_.insert(instruction).second;
}

bool GridShadow::is_ordered(std::uint32_t earlier, std::uint32_t time, std::uint32_t later) const {
    const auto reader = orders_.find(later);
    const auto writer = orders_.find(earlier);
    if (reader == orders_.end() || writer == orders_.end() || reader->second.acquired <= time) {
        return false;
    }
    const auto& releases = writer->second.releases;
    const bool is_published =
        std::any_of(releases.begin(), releases.end(), [&](std::uint32_t release) {
            return release > time && release < reader->second.acquired;
        });
    // Releases that are no longer remembered may have been in time.
    return is_published || releases.back() > time;
}

std::optional<Conflict<GlobalRaces::Stamp>> GlobalRaces::access(GridShadow& grid, Stamp who,
                                                                std::uint64_t address,
                                                                std::uint32_t bytes, bool is_write,
                                                                const std::uint8_t* data) {
    const std::lock_guard lock(mutex_);
    who.grid = grid.number_;
    who.time = grid.now_;
    const auto is_ordered = [&](const Stamp& earlier) {
        return earlier.grid != who.grid || earlier.block == who.block ||
               grid.is_ordered(earlier.block, earlier.time, who.block);
    };
    std::optional<Conflict<Stamp>> found;
    while (bytes != 0) {
        const std::uint64_t offset = address % PAGE_BYTES;
        const auto here =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, PAGE_BYTES - offset));
        if (pages_.size() >= MAX_PAGES && !pages_.contains(address / PAGE_BYTES)) {
            pages_.clear();
        }
        std::unique_ptr<Page>& page = pages_[address / PAGE_BYTES];
        if (page == nullptr) {
            page = std::make_unique<Page>(PAGE_BYTES);
        }
        const auto conflict = page->access(offset, here, is_write, data, who, is_ordered);
        if (!found) {
            found = conflict;
        }
        address += here;
        bytes -= here;
        data = data == nullptr ? nullptr : data + here;
    }
    return found;
}

void GlobalRaces::release(GridShadow& grid, std::uint32_t block) {
    const std::lock_guard lock(mutex_);
    auto& releases = grid.orders_[block].releases;
    std::shift_right(releases.begin(), releases.end(), 1);
    releases.front() = ++grid.now_;
    ++grid.now_; // what comes after has a later time
}

void GlobalRaces::acquire(GridShadow& grid, std::uint32_t block) {
    const std::lock_guard lock(mutex_);
    grid.orders_[block].acquired = ++grid.now_;
}

void GlobalRaces::forget(std::uint64_t address, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    while (bytes != 0) {
        const std::uint64_t offset = address % PAGE_BYTES;
        const std::uint64_t here = std::min(bytes, PAGE_BYTES - offset);
        const auto page = pages_.find(address / PAGE_BYTES);
        if (page != pages_.end()) {
            page->second->forget(offset, here);
        }
        address += here;
        bytes -= here;
    }
}

} // namespace cuprum::emulator::check
