// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "check/block_shadow.hpp"

#include "check/written.hpp"
#include "interp/lanes.hpp"
#include "interp/mbarrier.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <new>

namespace cuprum::emulator::check {

using bytecode::WARP_SIZE;

namespace {

/// The time at which the clock of a reused block must be reset.
constexpr std::uint32_t LATEST = std::numeric_limits<std::uint32_t>::max() / 2;
/// How many groups of bulk copies are remembered for a thread.
constexpr std::size_t MOST_GROUPS = 64;

} // namespace

void BlockShadow::start(BlockContext& block, GridShadow& grid) {
    block_ = &block;
    grid_ = &grid;
    block.observer = this;
    const std::uint8_t checks = block.memory->checks;
    if ((checks & CHECK_INITIALIZED) != 0) {
        shared_written_.assign(block.shared_bytes, 0);
        const bytecode::Kernel& kernel = *block.kernel;
        std::fill_n(shared_written_.begin() + kernel.parameter_copy_offset,
                    kernel.parameter_copy_bytes, std::uint8_t{1});
        std::fill_n(shared_written_.begin() + kernel.reserved_shared_offset,
                    kernel.reserved_shared_bytes, std::uint8_t{1});
        forget_local();
    }
    if ((checks & CHECK_RACES) == 0) {
        return;
    }
    if (own_clock_.now > LATEST) {
        own_clock_ = {.rewinds = own_clock_.rewinds + 1};
    }
    clock_ = &of_rank(0).own_clock_;
    if (seen_rewinds_ != clock_->rewinds) {
        seen_rewinds_ = clock_->rewinds;
        cells_ = Cells<Stamp>(0);
        threads_.clear();
        known_.clear();
    }
    products_.start(block);
    cells_.grow(block.shared_bytes);
    if (threads_.size() < block.thread_count) {
        threads_.resize(block.thread_count);
        known_.resize(std::size_t{block.warp_count} * WARP_SIZE * WARP_SIZE);
    }
    // This orders everything that is remembered about the previous block.
    clock_->met = ++clock_->now;
    met_ = released_together_ = acquired_together_ = last_acquired_ = clock_->now;
    started_ = clock_->now;
    barriers_.clear();
    groups_.clear();
}

void BlockShadow::forget_local() {
    const std::size_t stride = block_->local_stride_bytes;
    const std::size_t bytes = stride * block_->thread_count;
    if (stride != local_stride_ || bytes > local_bytes_) {
        // calloc'ed pages cost nothing until they are touched, and most of a stack is never used.
        local_written_.reset(
            static_cast<std::uint8_t*>(std::calloc(std::max<std::size_t>(bytes, 1), 1)));
        if (local_written_ == nullptr) {
            throw std::bad_alloc();
        }
        local_bytes_ = bytes;
        local_stride_ = stride;
    } else {
        // Clear all threads that there is room for: the previous block may have had more threads.
        for (std::size_t at = 0; local_used_ != 0 && at < local_bytes_; at += stride) {
            std::fill_n(local_written_.get() + at, local_used_, std::uint8_t{0});
        }
    }
    local_used_ = 0;
}

void BlockShadow::mark_local(std::uint32_t thread, std::size_t offset, std::size_t bytes) {
    std::fill_n(local_written_.get() + thread * local_stride_ + offset, bytes, std::uint8_t{1});
    local_used_ = std::max(local_used_, offset + bytes);
}

void BlockShadow::arrived(const WarpContext& warp, std::uint32_t mask) {
    release(warp, mask);
}

void BlockShadow::passed(const WarpContext& warp, std::uint32_t mask) {
    acquire(warp, mask);
}

void BlockShadow::met() {
    if (clock_ != nullptr) {
        met_ = ++clock_->now;
        acquired_together_ = last_acquired_;
    }
}

void BlockShadow::cluster_met() {
    if (clock_ != nullptr) {
        clock_->met = ++clock_->now;
    }
}

void BlockShadow::allocated(std::uint64_t address, std::uint64_t bytes) {
    const MemoryMap& map = *block_->memory;
    if (map.initialized != nullptr) {
        forget_written(map, address, bytes);
    }
    if (map.races != nullptr) {
        map.races->forget(address, bytes);
    }
}

void BlockShadow::warp_met(const WarpContext& warp, std::uint32_t mask,
                           const std::uint32_t* members) {
    const std::uint32_t first = warp.index * WARP_SIZE;
    const std::uint32_t time = ++clock_->now;
    while (mask != 0) {
        const std::uint32_t all = members[std::countr_zero(mask)] & warp.present;
        std::uint32_t same = 0;
        for_each_lane(mask, [&](std::uint32_t lane) {
            same |= static_cast<std::uint32_t>((members[lane] & warp.present) == all) << lane;
        });
        mask &= ~same;
        std::array<std::uint32_t, WARP_SIZE> joined{};
        std::uint32_t acquired = 0;
        for_each_lane(all, [&](std::uint32_t lane) {
            for (std::uint32_t other = 0; other < WARP_SIZE; ++other) {
                joined[other] = std::max(joined[other], known(first + lane, other));
            }
            acquired = std::max(acquired, threads_[first + lane].acquired);
        });
        for_each_lane(all, [&](std::uint32_t lane) { joined[lane] = time; });
        for_each_lane(same, [&](std::uint32_t lane) {
            std::ranges::copy(joined, &known(first + lane, 0));
            threads_[first + lane].acquired = acquired;
        });
    }
}

void BlockShadow::release(const WarpContext& warp, std::uint32_t mask) {
    if (clock_ == nullptr) {
        return;
    }
    const std::uint32_t first = warp.index * WARP_SIZE;
    const std::uint32_t time = ++clock_->now;
    released_together_ = std::max(released_together_, met_);
    const auto lane_count = std::min(WARP_SIZE, block_->thread_count - first);
    for_each_lane(mask, [&](std::uint32_t lane) {
        // A lane releases its own work, and everything it knows about the work of other lanes.
        for (std::uint32_t other = 0; other < lane_count; ++other) {
            std::uint32_t& released = threads_[first + other].released;
            released = std::max(released, known(first + lane, other));
        }
        threads_[first + lane].released = time;
    });
}

void BlockShadow::acquire(const WarpContext& warp, std::uint32_t mask) {
    if (clock_ == nullptr) {
        return;
    }
    last_acquired_ = ++clock_->now;
    for_each_lane(
        mask, [&](std::uint32_t lane) { threads_[warp.thread(lane)].acquired = last_acquired_; });
}

void BlockShadow::fence_proxy(const WarpContext& warp, std::uint32_t mask) {
    const std::uint32_t time = ++clock_->now;
    for_each_lane(mask, [&](std::uint32_t lane) { threads_[warp.thread(lane)].fenced = time; });
}

void BlockShadow::commit_group(const WarpContext& warp, std::uint32_t mask) {
    const std::uint32_t time = ++clock_->now;
    for_each_lane(mask, [&](std::uint32_t lane) {
        std::vector<std::uint32_t>& ends = groups_[warp.thread(lane)];
        if (ends.size() == MOST_GROUPS) {
            ends.erase(ends.begin());
        }
        ends.push_back(time);
    });
}

void BlockShadow::wait_group(const WarpContext& warp, std::uint32_t mask, std::uint32_t kept) {
    ++clock_->now;
    for_each_lane(mask, [&](std::uint32_t lane) {
        const std::uint32_t thread = warp.thread(lane);
        const auto found = groups_.find(thread);
        if (found != groups_.end() && found->second.size() > kept) {
            threads_[thread].ended = *(found->second.end() - 1 - kept);
        }
    });
}

void BlockShadow::waited(std::uint32_t barrier, bool parity) {
    for (Barrier& each : barriers_) {
        if (each.offset == barrier) {
            each.waited[parity ? 1 : 0] = ++clock_->now;
        }
    }
}

std::uint16_t BlockShadow::ending_with(std::uint32_t barrier) {
    constexpr std::size_t most_barriers = 1024;
    if (barrier % sizeof(std::uint64_t) != 0 || block_->shared_bytes < sizeof(std::uint64_t) ||
        barrier > block_->shared_bytes - sizeof(std::uint64_t)) {
        return AT_ONCE; // the copy will fail
    }
    auto found = std::ranges::find(barriers_, barrier, &Barrier::offset);
    if (found == barriers_.end()) {
        if (barriers_.size() == most_barriers) {
            return AT_ONCE;
        }
        found = barriers_.insert(barriers_.end(), Barrier{.offset = barrier});
    }
    const bool parity = mbarrier::parity_at(block_->shared + barrier);
    return static_cast<std::uint16_t>(FIRST_BARRIER + 2 * (found - barriers_.begin()) +
                                      (parity ? 1 : 0));
}

std::optional<Conflict<BlockShadow::Stamp>>
BlockShadow::access_shared(const WarpContext& who, std::uint32_t lane, std::uint32_t instruction,
                           std::uint32_t offset, std::uint32_t bytes, bool is_write,
                           const std::uint8_t* data, std::uint16_t ending) {
    if (is_reserved(offset)) {
        return std::nullopt;
    }
    const auto& by = static_cast<const BlockShadow&>(*who.block->observer);
    const std::uint32_t thread = who.thread(lane);
    Stamp now;
    now.time = clock_->now;
    now.thread = static_cast<std::uint16_t>(who.block->cluster_rank * Stamp::THREADS + thread);
    now.instruction = instruction;
    now.ending = ending;
    return cells_.access(offset, bytes, is_write, data, now, [&](const Stamp& earlier) {
        return (earlier.thread == now.thread || is_ordered(earlier, by, thread)) &&
               has_ended(earlier);
    });
}

std::optional<BlockShadow::Stamp> BlockShadow::find_unfenced(const WarpContext& who,
                                                             std::uint32_t lane,
                                                             std::uint32_t offset,
                                                             std::uint32_t bytes) const {
    const auto& by = static_cast<const BlockShadow&>(*who.block->observer);
    const std::uint32_t thread = who.thread(lane);
    return cells_.find_write(offset, bytes, [&](const Stamp& write) {
        return write.time >= started_ && write.ending == AT_ONCE && !is_fenced(write, by, thread);
    });
}

bool BlockShadow::access_shared_lanes(const WarpContext& who, std::uint32_t lane,
                                      std::uint32_t lanes, std::uint32_t instruction,
                                      std::uint32_t offset, std::uint32_t bytes, bool is_uniform,
                                      bool is_write, const std::uint8_t* data) {
    if (is_reserved(offset)) {
        return true;
    }
    if (offset % WORD_BYTES != 0 || bytes % WORD_BYTES != 0) {
        return false;
    }
    const std::uint32_t rank = who.block->cluster_rank;
    const auto is_ordered = [&](const Stamp& earlier) {
        return (earlier.time < clock_->met ||
                (earlier.time < met_ && earlier.thread / Stamp::THREADS == rank)) &&
               has_ended(earlier);
    };
    if (!cells_.is_free(offset, is_uniform ? bytes : bytes * lanes, is_write, is_ordered)) {
        return false;
    }
    Stamp now;
    now.time = clock_->now;
    now.instruction = instruction;
    for (std::uint32_t i = 0; i < lanes; ++i) {
        if (is_uniform && i != 0 && i + 2 < lanes) {
            continue; // only the first and the last two of many readers are remembered
        }
        now.thread = static_cast<std::uint16_t>(rank * Stamp::THREADS + who.thread(lane + i));
        cells_.record_words(is_uniform ? offset : offset + i * bytes, bytes, is_write,
                            data == nullptr ? nullptr : data + std::size_t{i} * bytes, now);
    }
    return true;
}

bool BlockShadow::find(const MemoryMap& map, std::uint64_t address, MemoryRange& range) {
    if (map.find == nullptr) {
        range = {map.memory_base, map.memory_bytes, map.initialized != nullptr, false};
        return address - range.base < range.bytes;
    }
    const std::uint64_t changes = map.changes->load(std::memory_order_acquire);
    if (changes != seen_changes_) {
        seen_changes_ = changes;
        ranges_ = {};
    }
    for (const MemoryRange& known : ranges_) {
        if (address - known.base < known.bytes) {
            range = known;
            return true;
        }
    }
    if (!map.find(map, address, range)) {
        return false;
    }
    ranges_[next_range_++ % ranges_.size()] = range;
    return true;
}

/// Returns whether an earlier access to shared memory of the cluster is ordered before the current
/// access by `thread` of the block `by`.
bool BlockShadow::is_ordered(const Stamp& earlier, const BlockShadow& by,
                             std::uint32_t thread) const {
    const std::uint32_t time = earlier.time;
    if (time < clock_->met) {
        return true;
    }
    const BlockShadow& other = of_rank(earlier.thread / Stamp::THREADS);
    const std::uint32_t other_thread = earlier.thread % Stamp::THREADS;
    if (&other == &by) {
        if (time < by.met_) {
            return true;
        }
        if (other_thread / WARP_SIZE == thread / WARP_SIZE &&
            by.known(thread, other_thread % WARP_SIZE) > time) {
            return true;
        }
    }
    const std::uint32_t released =
        std::max(other.threads_[other_thread].released, other.released_together_);
    const std::uint32_t acquired = std::max(by.threads_[thread].acquired, by.acquired_together_);
    return released > time && acquired > time;
}

/// Returns whether an access to this block's shared memory has ended.
bool BlockShadow::has_ended(const Stamp& earlier) const {
    if (earlier.ending == AT_ONCE || earlier.time < started_) {
        return true;
    }
    if (earlier.ending == WITH_GROUP) {
        const BlockShadow& other = of_rank(earlier.thread / Stamp::THREADS);
        return other.threads_[earlier.thread % Stamp::THREADS].ended > earlier.time;
    }
    const std::uint32_t index = earlier.ending - FIRST_BARRIER;
    return barriers_[index / 2].waited[index % 2] > earlier.time;
}

/// Returns whether a proxy fence stands between a write and a copy that `thread` of the block `by`
/// starts now.
bool BlockShadow::is_fenced(const Stamp& write, const BlockShadow& by, std::uint32_t thread) const {
    if (of_rank(write.thread / Stamp::THREADS).threads_[write.thread % Stamp::THREADS].fenced >
            write.time ||
        by.threads_[thread].fenced > write.time) {
        return true;
    }
    for (std::uint32_t rank = 0; rank < block_->cluster->size; ++rank) {
        const BlockShadow& other = of_rank(rank);
        for (std::uint32_t i = 0; i < other.block_->thread_count; ++i) {
            Stamp fence;
            fence.time = other.threads_[i].fenced;
            fence.thread = static_cast<std::uint16_t>(rank * Stamp::THREADS + i);
            if (fence.time > write.time && is_ordered(fence, by, thread)) {
                return true;
            }
        }
    }
    return false;
}

/// Returns whether an offset lies in the shared memory that the system reserves. Libraries that use
/// it rely on more than CUDA guarantees, for example on shuffles that order memory.
bool BlockShadow::is_reserved(std::uint32_t offset) const {
    const bytecode::Kernel& kernel = *block_->kernel;
    return offset - kernel.reserved_shared_offset < kernel.reserved_shared_bytes;
}

std::uint32_t& BlockShadow::known(std::uint32_t thread, std::uint32_t other_lane) {
    return known_[std::size_t{thread} * WARP_SIZE + other_lane];
}

std::uint32_t BlockShadow::known(std::uint32_t thread, std::uint32_t other_lane) const {
    return known_[std::size_t{thread} * WARP_SIZE + other_lane];
}

BlockShadow& BlockShadow::of_rank(std::uint32_t rank) const {
    return static_cast<BlockShadow&>(*block_->cluster->blocks[rank]->observer);
}

} // namespace cuprum::emulator::check
