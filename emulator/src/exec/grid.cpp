// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "exec/grid.hpp"

#include "builtins/output.hpp"
#include "builtins/status_line.hpp"
#include "interp/broadcast.hpp"
#include "interp/random.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <numeric>
#include <string>

namespace cuprum::emulator::exec {

using bytecode::Special;
using bytecode::WARP_SIZE;

namespace {

/// How many blocks of one grid may be suspended at least.
constexpr std::uint64_t MIN_SUSPENDED_BLOCKS = 256;
/// What a multiprocessor holds at most. No GPU holds more.
constexpr std::uint64_t BLOCKS_PER_SM = 32;
constexpr std::uint64_t THREADS_PER_SM = 2048;
/// Into how many ranges per worker the remaining blocks are divided at least.
constexpr std::uint64_t RANGES_PER_WORKER = 2;
/// The size of a linear register's head and one value per lane.
constexpr std::uint32_t WARP_SPECIAL_BYTES =
    sizeof(bytecode::LinearHead) + WARP_SIZE * sizeof(std::uint32_t);

/// Fills in the head of a linear register from the 32 values that follow it.
void fill_head(std::byte* head) {
    std::uint32_t values[WARP_SIZE];
    std::memcpy(values, head + sizeof(bytecode::LinearHead), sizeof values);
    bytecode::LinearHead linear;
    linear.base = values[0];
    linear.has_lanes = 1;
    for (std::uint32_t bit = 0; bit < bytecode::LinearHead::STEP_COUNT; ++bit) {
        linear.steps[bit] = values[1u << bit] - values[0];
    }
    for (std::uint32_t lane = 0; lane < WARP_SIZE; ++lane) {
        auto value = static_cast<std::uint32_t>(linear.base);
        for (std::uint32_t bit = 0; bit < bytecode::LinearHead::STEP_COUNT; ++bit) {
            value += (lane >> bit & 1) != 0 ? static_cast<std::uint32_t>(linear.steps[bit]) : 0;
        }
        linear.is_varied |= value != values[lane] ? 1 : 0;
    }
    std::memcpy(head, &linear, sizeof linear);
}

} // namespace

Grid::Grid(GridLaunch launch, std::function<void(const Fault*)> done, bool is_reusable)
    : launch_(std::move(launch)), done_(std::move(done)), is_reusable_(is_reusable),
      priority_(launch_.priority) {
    block_count_ = std::uint64_t{launch_.grid[0]} * launch_.grid[1] * launch_.grid[2];
    for (std::uint32_t& size : launch_.cluster) {
        size = std::max(1u, size);
    }
    cluster_blocks_ = launch_.cluster[0] * launch_.cluster[1] * launch_.cluster[2];
    cluster_count_ = block_count_ / cluster_blocks_;
    thread_count_ = launch_.block[0] * launch_.block[1] * launch_.block[2];
    const std::uint64_t held_by_sm = std::min(BLOCKS_PER_SM, THREADS_PER_SM / thread_count_);
    most_suspended_ = static_cast<int>(
        std::max(MIN_SUSPENDED_BLOCKS, held_by_sm * launch_.sm_count / cluster_blocks_));
    launch_.parameters.resize(
        std::max<std::size_t>(launch_.parameters.size(), kernel().parameter_bytes));
    start_shadow();
    fill_launch_bank();
    fill_warp_specials();
    if (is_reusable_) {
        next_ = cluster_count_; // nothing to take before rearm()
    }
}

void Grid::rearm(std::int32_t priority) {
    priority_.store(priority, std::memory_order_relaxed);
    finished_.store(0, std::memory_order_relaxed);
    begin_ns_.store(0, std::memory_order_relaxed);
    if (has_failed_.load(std::memory_order_relaxed)) {
        has_failed_ = false;
        fault_ = {};
    }
    start_shadow();
    if (launch_.grid_workspace != 0) {
        constexpr std::size_t workspace_bytes = 64;
        std::memset(reinterpret_cast<void*>(launch_.grid_workspace), 0, workspace_bytes);
    }
    // Last: workers that still hold the grid from its previous run may take blocks from now on.
    next_.store(0, std::memory_order_release);
}

void Grid::start_shadow() {
    constexpr unsigned checks = CHECK_MEMORY | CHECK_INITIALIZED | CHECK_RACES | CHECK_GRAPHS;
    if ((launch_.memory->checks & checks) != 0) {
        shadow_ = std::make_unique<check::GridShadow>(launch_.describe_launch, launch_.accesses);
    }
}

const std::byte* Grid::warp_special(std::uint32_t warp, std::size_t slot) const {
    const std::size_t count = kernel().warp_specials.size();
    return warp_specials_.data() + (warp * count + slot) * WARP_SPECIAL_BYTES;
}

ClusterRange Grid::take(std::uint64_t most, std::uint32_t workers) {
    const auto share = [&](std::uint64_t left) {
        const std::uint64_t fair = left / (RANGES_PER_WORKER * workers);
        return std::max<std::uint64_t>(1, std::min(most, fair));
    };
    if (has_returned_.load(std::memory_order_relaxed)) [[unlikely]] {
        const std::lock_guard lock(returned_mutex_);
        if (!returned_.empty()) {
            // The earliest first: blocks that have started may wait for it.
            const auto from = std::min_element(
                returned_.begin(), returned_.end(),
                [](const ClusterRange& a, const ClusterRange& b) { return a.next < b.next; });
            const std::uint64_t size = has_room() ? share(from->size()) : 1;
            const ClusterRange range{from->next, from->next + size};
            from->next = range.end;
            if (from->is_empty()) {
                returned_.erase(from);
                has_returned_.store(!returned_.empty(), std::memory_order_relaxed);
            }
            return range;
        }
    }
    const std::uint64_t started = next_.load(std::memory_order_relaxed);
    if (started >= cluster_count_) {
        return {};
    }
    const std::uint64_t size = share(cluster_count_ - started);
    const std::uint64_t first = next_.fetch_add(size, std::memory_order_acquire);
    if (first >= cluster_count_) {
        return {};
    }
    return {first, std::min(first + size, cluster_count_)};
}

bool Grid::give_back(ClusterRange range) {
    const std::lock_guard lock(returned_mutex_);
    if (has_failed()) { // fail() sets this under the same mutex
        return false;
    }
    returned_.push_back(range);
    has_returned_.store(true, std::memory_order_relaxed);
    return true;
}

std::uint64_t Grid::cluster_at(std::uint64_t position) const noexcept {
    if (random_ == 0) [[likely]] {
        return position;
    }
    // Shuffles only what the device holds at a time. A GPU starts blocks in their order, and
    // kernels such as scans rely on it: a block waits for blocks before it.
    const auto most = static_cast<std::uint64_t>(most_suspended_);
    const std::uint64_t start = position - position % most;
    const std::uint64_t size = std::min(most, cluster_count_ - start);
    const std::uint64_t random = mix(random_ ^ mix(start));
    std::uint64_t stride = mix(random) % size;
    while (std::gcd(stride, size) != 1) {
        ++stride;
    }
    return start + ((position - start) * stride + random) % size;
}

void Grid::shuffle(std::uint64_t seed, std::uint64_t number) {
    seed_ = seed;
    constexpr unsigned above_all_numbers = 40;
    random_ = mix(seed ^ mix(number ^ run_count_++ << above_all_numbers));
}

std::uint64_t Grid::random_start(std::uint64_t cluster) const noexcept {
    return random_ == 0 ? 0 : mix(random_ + cluster) | 1;
}

bool Grid::has_fresh_blocks() const noexcept {
    return next_.load(std::memory_order_relaxed) < cluster_count_ ||
           has_returned_.load(std::memory_order_relaxed);
}

bool Grid::has_room() const noexcept {
    return launch_.is_cooperative || suspended_.load(std::memory_order_relaxed) < most_suspended_;
}

bool Grid::may_start_more() const noexcept {
    return has_room() || has_returned_.load(std::memory_order_relaxed);
}

void Grid::finish(std::uint64_t blocks) {
    if (finished_.fetch_add(blocks, std::memory_order_acq_rel) + blocks == block_count_) {
        builtins::StatusLine::instance().make_room(); // what follows may print
        builtins::flush_output();
        // All blocks are done, so no other thread touches the fault.
        const Fault* const fault = fault_.kind == FaultKind::None ? nullptr : &fault_;
        if (is_reusable_) {
            done_(fault); // the grid may run again, on another thread, before this returns
            return;
        }
        const auto done = std::move(done_); // releases what it refers to after the call
        done(fault);
    }
}

void Grid::fail(Fault fault) {
    {
        const std::lock_guard lock(fault_mutex_);
        if (fault_.kind == FaultKind::None) {
            fault_ = std::move(fault);
            try {
                add_circumstances();
            } catch (const std::bad_alloc&) { // the grid must end, with a shorter report
            }
        }
    }
    std::uint64_t abandoned = 0; // clusters
    {
        const std::lock_guard lock(returned_mutex_);
        has_failed_ = true;
        for (const ClusterRange& range : returned_) {
            abandoned += range.size();
        }
        returned_.clear();
        has_returned_.store(false, std::memory_order_relaxed);
    }
    const std::uint64_t started = next_.exchange(cluster_count_);
    if (started < cluster_count_) {
        abandoned += cluster_count_ - started;
    }
    if (abandoned != 0) {
        finish(abandoned * cluster_blocks_);
    }
}

/// Adds to the report of the fault what the whole grid has in common.
void Grid::add_circumstances() {
    if (launch_.describe_launch) {
        fault_.report += launch_.describe_launch();
    }
    if (random_ != 0) {
        fault_.report +=
            "\n  the schedule was CUPRUM_EMULATOR_SCHEDULE=random:" + std::to_string(seed_);
    }
}

void Grid::fill_launch_bank() {
    const bytecode::Kernel& code = kernel();
    if (code.launch_bytes == 0) {
        return; // allocating nothing would take a tenth of an empty launch
    }
    std::byte* bank = launch_bank_.reserve(code.launch_bytes);
    for (const bytecode::SpecialSlot& slot : code.launch_specials) {
        broadcast(bank + slot.offset, slot.width, launch_value(slot.special));
    }
    for (const bytecode::ParameterSlot& slot : code.parameter_slots) {
        std::uint64_t value = 0;
        std::memcpy(&value, launch_.parameters.data() + slot.parameter_offset, slot.size_bytes);
        if (slot.is_signed && slot.size_bytes < sizeof value) {
            const std::uint32_t unused = 64 - slot.size_bytes * 8;
            value =
                static_cast<std::uint64_t>(static_cast<std::int64_t>(value << unused) >> unused);
        }
        broadcast(bank + slot.offset, slot.width, value);
    }
}

void Grid::fill_warp_specials() {
    const auto& specials = kernel().warp_specials;
    if (specials.empty()) {
        return;
    }
    const std::uint32_t warp_count = (thread_count_ + WARP_SIZE - 1) / WARP_SIZE;
    std::byte* out = warp_specials_.reserve(warp_count * specials.size() * WARP_SPECIAL_BYTES);
    std::uint32_t x = 0;
    std::uint32_t y = 0;
    std::uint32_t z = 0;
    for (std::uint32_t warp = 0; warp < warp_count; ++warp) {
        for (std::uint32_t lane = 0; lane < WARP_SIZE; ++lane) {
            for (std::size_t s = 0; s < specials.size(); ++s) {
                const Special special = specials[s].special;
                const std::uint32_t value = special == Special::TidX   ? x
                                            : special == Special::TidY ? y
                                            : special == Special::TidZ ? z
                                                                       : warp;
                std::memcpy(out + (warp * specials.size() + s) * WARP_SPECIAL_BYTES +
                                sizeof(bytecode::LinearHead) + lane * sizeof value,
                            &value, sizeof value);
            }
            if (++x == launch_.block[0]) {
                x = 0;
                if (++y == launch_.block[1]) {
                    y = 0;
                    ++z;
                }
            }
        }
    }
    for (std::size_t i = 0; i < warp_count * specials.size(); ++i) {
        fill_head(out + i * WARP_SPECIAL_BYTES);
    }
}

std::uint64_t Grid::launch_value(Special special) const {
    const auto* cluster = launch_.cluster;
    switch (special) {
    case Special::NtidX:
        return launch_.block[0];
    case Special::NtidY:
        return launch_.block[1];
    case Special::NtidZ:
        return launch_.block[2];
    case Special::NctaidX:
        return launch_.grid[0];
    case Special::NctaidY:
        return launch_.grid[1];
    case Special::NctaidZ:
        return launch_.grid[2];
    case Special::GridId:
        return launch_.grid_id;
    case Special::DynamicSharedSize:
        return launch_.dynamic_shared_bytes;
    case Special::TotalSharedSize:
        return std::uint64_t{kernel().static_shared_bytes} + launch_.dynamic_shared_bytes;
    case Special::NSmId:
        return launch_.sm_count;
    case Special::NWarpId:
        return WARP_SIZE;
    case Special::NclusterIdX:
        return launch_.grid[0] / cluster[0];
    case Special::NclusterIdY:
        return launch_.grid[1] / cluster[1];
    case Special::NclusterIdZ:
        return launch_.grid[2] / cluster[2];
    case Special::ClusterNctaidX:
        return cluster[0];
    case Special::ClusterNctaidY:
        return cluster[1];
    case Special::ClusterNctaidZ:
        return cluster[2];
    case Special::ClusterNctarank:
        return std::uint64_t{cluster[0]} * cluster[1] * cluster[2];
    case Special::EnvReg1: // EnvReg1 is the upper half of the workspace's address
        return launch_.grid_workspace >> 32;
    case Special::EnvReg2:
        return launch_.grid_workspace & 0xffffffffu;
    default:
        return 0;
    }
}

} // namespace cuprum::emulator::exec
