// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "check/global_races.hpp"

#include <algorithm>
#include <atomic>

namespace cuprum::emulator::check {

namespace {

std::atomic<std::uint32_t> next_number{1};

} // namespace

GridShadow::GridShadow(std::function<std::string()> describe_launch, NodeAccesses* accesses)
    : describe_launch_(std::move(describe_launch)), accesses_(accesses),
      number_(next_number.fetch_add(1, std::memory_order_relaxed)) {}

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
    // A release that is no longer remembered may have come in time.
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
        return is_ordered_before(grid, earlier, who);
    };
    std::optional<Conflict<Stamp>> found;
    while (bytes != 0) {
        const std::uint64_t offset = address % PAGE_BYTES;
        const auto here =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, PAGE_BYTES - offset));
        const auto conflict =
            page_of(address).access(offset, here, is_write, data, who, is_ordered);
        if (!found) {
            found = conflict;
        }
        address += here;
        bytes -= here;
        data = data == nullptr ? nullptr : data + here;
    }
    return found;
}

bool GlobalRaces::access_lanes(GridShadow& grid, Stamp who, std::uint64_t address,
                               std::uint32_t bytes, std::uint32_t lanes, bool is_write,
                               const std::uint8_t* data) {
    const std::uint64_t offset = address % PAGE_BYTES;
    const std::uint32_t total = bytes * lanes;
    if (offset + total > PAGE_BYTES || offset % WORD_BYTES != 0 || bytes % WORD_BYTES != 0) {
        return false;
    }
    const std::lock_guard lock(mutex_);
    who.grid = grid.number_;
    who.time = grid.now_;
    const auto is_ordered = [&](const Stamp& earlier) {
        return is_ordered_before(grid, earlier, who);
    };
    Page& page = page_of(address);
    if (!page.is_free(offset, total, is_write, is_ordered)) {
        return false;
    }
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        page.record_words(offset + std::uint64_t{lane} * bytes, bytes, is_write,
                          data == nullptr ? nullptr : data + std::size_t{lane} * bytes, who);
        ++who.thread;
    }
    return true;
}

/// Returns whether one access is ordered before another. The caller holds the mutex.
bool GlobalRaces::is_ordered_before(const GridShadow& grid, const Stamp& earlier,
                                    const Stamp& later) {
    return earlier.grid != later.grid || earlier.block == later.block ||
           grid.is_ordered(earlier.block, earlier.time, later.block);
}

/// Returns the page of an address. The caller holds the mutex.
GlobalRaces::Page& GlobalRaces::page_of(std::uint64_t address) {
    const auto found = pages_.find(address / PAGE_BYTES);
    if (found != pages_.end()) {
        return *found->second;
    }
    if (pages_.size() >= MAX_PAGES) {
        for (auto& [unused, page] : pages_) {
            spare_.push_back(std::move(page));
        }
        pages_.clear();
    }
    std::unique_ptr<Page>& page = pages_[address / PAGE_BYTES];
    if (spare_.empty()) {
        page = std::make_unique<Page>(PAGE_BYTES);
    } else {
        page = std::move(spare_.back());
        spare_.pop_back();
        page->clear();
    }
    return *page;
}

void GlobalRaces::release(GridShadow& grid, std::uint32_t block) {
    const std::lock_guard lock(mutex_);
    auto& releases = grid.orders_[block].releases;
    std::shift_right(releases.begin(), releases.end(), 1);
    releases.front() = ++grid.now_;
    ++grid.now_; // later accesses get a later time
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
