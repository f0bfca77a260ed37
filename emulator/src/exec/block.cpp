// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "exec/block.hpp"

#include "exec/block_setup.hpp"
#include "exec/team.hpp"
#include "interp/broadcast.hpp"
#include "interp/random.hpp"
#include "jit/tiers.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

namespace cuprum::emulator::exec {

using bytecode::FULL_MASK;
using bytecode::Special;
using bytecode::WARP_SIZE;

namespace {

/// How many back edges a warp may take before it yields: about 0.1 ms of an ordinary loop, or
/// sixteen rounds of spinning. Waiting at a barrier does not refill the quantum.
constexpr std::uint32_t QUANTUM = 4096;
/// How many quanta each warp may use before the block yields to other blocks. The number is above 1
/// because loops with atomics look like spinning.
constexpr std::uint32_t MAX_TURNS = 4;
constexpr std::uint32_t LOCAL_ALIGNMENT = 16;
/// GPUs allot shared memory in units of this size. Compilers know it: they read whole vectors of
/// which they need only the first elements.
constexpr std::uint32_t SHARED_UNIT_BYTES = 128;
/// The unit if accesses are checked to the byte: the largest vector that compilers read.
constexpr std::uint32_t SHARED_UNIT_BYTES_CHECKED = 16;
constexpr std::size_t MAX_KEPT_BYTES = std::size_t{16} << 20;

/// Returns the first warp of a mask, or a random one if the schedule is random.
std::uint32_t next_warp(std::uint32_t mask, std::uint64_t& random) {
    if (random != 0) {
        for (std::uint32_t skip =
                 random_below(random, static_cast<std::uint32_t>(std::popcount(mask)));
             skip != 0; --skip) {
            mask &= mask - 1;
        }
    }
    return static_cast<std::uint32_t>(std::countr_zero(mask));
}

} // namespace

void Block::start(const std::shared_ptr<Grid>& grid, std::uint64_t cluster, std::uint32_t sm,
                  PendingReductions& reductions) {
    end_probe();
    if (configured_for_ != grid.get()) {
        configure_cluster(grid, sm, reductions);
    }
    move_to(cluster);
    cluster_.parity = false;
    cluster_.waiting = 0;
    cluster_.mbarrier_waiters = 0;
    if (cluster_.size == 1) [[likely]] {
        context_.random = grid_->random_start(cluster);
        context_.index[0] = first_[0];
        context_.index[1] = first_[1];
        context_.index[2] = first_[2];
        start_one();
        return;
    }
    const std::uint32_t* const size = grid_->launch().cluster;
    for (std::uint32_t rank = 0; rank < cluster_.size; ++rank) {
        Block& block = of_rank(rank);
        block.context_.random = grid_->random_start(cluster * cluster_.size + rank);
        block.context_.index[0] = first_[0] + rank % size[0];
        block.context_.index[1] = first_[1] + rank / size[0] % size[1];
        block.context_.index[2] = first_[2] + rank / size[0] / size[1];
        block.start_one();
    }
}

Block::Outcome Block::run() {
    if (cluster_.size != 1) [[unlikely]] {
        return run_cluster();
    }
    switch (run_one()) {
    case Progress::Finished:
        return Outcome::Finished;
    case Progress::Yielded:
        wake_at_ = 0;
        return Outcome::Yielded;
    case Progress::Asleep:
        return Outcome::Asleep;
    case Progress::Faulted:
        return Outcome::Faulted;
    case Progress::Stuck:
        break;
    }
    return fail_with_deadlock(); // nothing outside the block resumes it
}

Block::Outcome Block::run_cluster() {
    for (;;) {
        bool is_finished = true;
        bool has_yielded = false;
        std::uint32_t asleep = 0; // mask of ranks
        std::uint64_t wake_at = ~std::uint64_t{0};
        for (std::uint32_t rank = 0; rank < cluster_.size; ++rank) {
            Block& block = of_rank(rank);
            if (block.is_finished_) {
                continue;
            }
            switch (block.run_one()) {
            case Progress::Finished:
                block.is_finished_ = true;
                continue;
            case Progress::Yielded:
                has_yielded = true;
                break;
            case Progress::Asleep:
                asleep |= 1u << rank;
                wake_at = std::min(wake_at, block.wake_at_);
                break;
            case Progress::Stuck:
                break;
            case Progress::Faulted:
                if (rank != 0) {
                    context_.fault = std::move(block.context_.fault);
                    block.context_.fault = Fault{};
                }
                return Outcome::Faulted;
            }
            is_finished = false;
        }
        if (is_finished) {
            return Outcome::Finished;
        }
        wake_at_ = 0;
        if (has_yielded) {
            return Outcome::Yielded;
        }
        // No block has yielded. A block that can run now was stuck until a later block resumed it.
        bool can_go_on = false;
        for (std::uint32_t rank = 0; rank < cluster_.size; ++rank) {
            can_go_on |= (asleep >> rank & 1) == 0 && of_rank(rank).context_.runnable != 0;
        }
        if (!can_go_on && asleep != 0) {
            wake_at_ = wake_at;
            return Outcome::Asleep;
        }
        if (!can_go_on) {
            return fail_with_deadlock();
        }
    }
}

/// Starts the block with the index in `context_`.
void Block::start_one() {
    const bytecode::Kernel& kernel = *context_.kernel;
    is_finished_ = false;
    wake_at_ = 0;
    context_.reductions = collected_;
    fill_block_bank();
    if (kernel.parameter_copy_bytes != 0) {
        std::memcpy(context_.shared + kernel.parameter_copy_offset, context_.parameters,
                    kernel.parameter_bytes);
    }
    if (kernel.reserved_shared_bytes != 0) {
        std::memset(context_.shared + kernel.reserved_shared_offset, 0,
                    kernel.reserved_shared_bytes);
    }
    context_.live_threads = context_.thread_count;
    context_.runnable =
        context_.warp_count == WARP_SIZE ? FULL_MASK : (1u << context_.warp_count) - 1;
    if (context_.pending != 0) { // left behind by a block that exited or faulted
        context_.pending = 0;
        context_.barriers = {};
    }
    context_.fault.kind = FaultKind::None;
    if (check::GridShadow* const grid_shadow = grid_->shadow()) {
        if (shadow_ == nullptr) {
            shadow_ = std::make_unique<check::BlockShadow>();
        }
        shadow_->start(context_, *grid_shadow);
    } else {
        context_.observer = nullptr;
    }
    find_compiled();
    is_compiled_together_ = context_.compiled != nullptr;
    if (is_compiled_together_ && context_.reductions != nullptr) {
        // Compiled code loads without looking at what was collected.
        apply_reductions(*context_.reductions);
        context_.reductions = nullptr;
    }
    is_in_lockstep_ = !is_compiled_together_ && lockstep::can_start(lockstep_);
    if (is_in_lockstep_) {
        lockstep::start(lockstep_);
    } else {
        start_warps();
    }
}

void Block::start_warps() {
    lockstep_.are_warps_ready = false; // the next block in lockstep must start them again
    for (std::uint32_t w = 0; w < context_.warp_count; ++w) {
        WarpContext& warp = warps_[w];
        const std::uint32_t left = context_.thread_count - w * WARP_SIZE;
        start_warp(warp, left >= WARP_SIZE ? FULL_MASK : (1u << left) - 1);
        warp.budget = QUANTUM;
    }
}

void Block::adopt(const Team& team, std::uint32_t number) {
    is_in_lockstep_ = false;
    start_warps();
    for (std::uint32_t w = 0; w < context_.warp_count; ++w) {
        warps_[w].groups[0].pc = team.place();
        std::memcpy(warps_[w].frames, team.frame(number, w), context_.kernel->frame_bytes);
    }
}

/// Runs the warps together as far as possible. Returns whether the block stops there.
bool Block::run_lockstep(Progress& progress) {
    if (context_.probe != nullptr) [[unlikely]] { // it wants to see every instruction of a warp
        lockstep::leave(lockstep_);
        leave_lockstep();
        return false;
    }
    // As many rounds of a loop as the warps could take alone before the block yields.
    switch (lockstep::run(lockstep_, QUANTUM * MAX_TURNS)) {
    case Lockstep::End::Yielded:
        progress = Progress::Yielded;
        return true;
    case Lockstep::End::Finished:
        is_in_lockstep_ = false;
        context_.runnable = 0;
        context_.live_threads = 0;
        progress = Progress::Finished;
        return true;
    case Lockstep::End::Faulted:
        is_in_lockstep_ = false;
        progress = Progress::Faulted;
        return true;
    default:
        leave_lockstep();
        return false;
    }
}

void Block::leave_lockstep() {
    is_in_lockstep_ = false;
    for (std::uint32_t w = 0; w < context_.warp_count; ++w) {
        warps_[w].budget = QUANTUM;
    }
}

/// Looks for compiled code, and forgets what it knew of memory that has changed.
void Block::find_compiled() {
    context_.compiled = compiled_ == nullptr ? nullptr : compiled_->find(shape_);
    context_.compiled_code =
        context_.compiled == nullptr ? nullptr : context_.compiled->instructions.data();
    if (context_.compiled == nullptr) {
        return;
    }
    const std::atomic<std::uint64_t>* const changes = context_.memory->permission_changes;
    const std::uint64_t now = changes == nullptr ? 0 : changes->load(std::memory_order_acquire);
    if (sites_of_ != context_.compiled->number || sites_since_ != now || changes == nullptr) {
        sites_.assign(context_.compiled->site_count, {});
        sites_of_ = context_.compiled->number;
        sites_since_ = now;
    }
    context_.sites = sites_.data();
}

/// Runs the whole block by compiled code as far as possible. Returns whether the block stops there.
bool Block::run_compiled(Progress& progress) {
    is_compiled_together_ = false;
    if (context_.probe != nullptr) {
        return false;
    }
    switch (jit::run_block(context_, QUANTUM * MAX_TURNS)) {
    case jit::BlockEnd::Finished:
        context_.runnable = 0;
        context_.live_threads = 0;
        progress = Progress::Finished;
        return true;
    case jit::BlockEnd::Faulted:
        progress = Progress::Faulted;
        return true;
    case jit::BlockEnd::Alone:
        break;
    }
    return false;
}

Block::Progress Block::run_one() {
    if (Progress progress{}; is_compiled_together_ && run_compiled(progress)) {
        return progress;
    }
    if (Progress progress{}; is_in_lockstep_ && run_lockstep(progress)) {
        return progress;
    }
    find_compiled();
    for (std::uint32_t turn = 1;; ++turn) {
        if (context_.runnable == 0) {
            return context_.live_threads == 0 ? Progress::Finished : Progress::Stuck;
        }
        bool has_yielded = false;
        std::uint32_t asleep = 0; // mask of warps
        wake_at_ = ~std::uint64_t{0};
        for (std::uint32_t left = context_.runnable; left != 0;) {
            const std::uint32_t w = next_warp(left, context_.random);
            left &= ~(1u << w);
            switch (run_warp(warps_[w])) {
            case Stop::Yield:
                has_yielded = true;
                warps_[w].budget = QUANTUM;
                break;
            case Stop::Sleep:
                asleep |= 1u << w;
                wake_at_ = std::min(wake_at_, next_wake(warps_[w]));
                break;
            case Stop::Fault:
                return Progress::Faulted;
            default:
                context_.runnable &= ~(1u << w);
                break;
            }
        }
        if (has_yielded && turn >= MAX_TURNS) {
            return Progress::Yielded;
        }
        if (asleep != 0 && (context_.runnable & ~asleep) == 0) {
            return Progress::Asleep;
        }
    }
}

Block& Block::of_rank(std::uint32_t rank) {
    return rank == 0 ? *this : *companions_[rank - 1];
}

Block::Outcome Block::fail_with_deadlock() {
    context_.fault.kind = FaultKind::Deadlock;
    context_.fault.report =
        "deadlock: every remaining thread waits for another thread\n" + describe();
    return Outcome::Faulted;
}

void Block::fail_with_timeout(std::string_view reason, std::string_view others) {
    context_.fault.kind = FaultKind::Timeout;
    context_.fault.report = std::string(reason) + "\n" + describe() + std::string(others);
}

Probe& Block::begin_probe() {
    if (probe_ == nullptr) {
        probe_ = std::make_unique<Probe>();
        for (std::uint32_t rank = 0; rank < cluster_.size; ++rank) {
            of_rank(rank).context_.probe = probe_.get();
        }
    }
    return *probe_;
}

void Block::end_probe() noexcept {
    if (probe_ != nullptr) {
        for (std::uint32_t rank = 0; rank < cluster_.size; ++rank) {
            of_rank(rank).context_.probe = nullptr;
        }
        probe_.reset();
    }
}

void Block::observe() {
    probe_->observe(context_);
}

std::string Block::describe() const {
    std::string text = describe_block(context_);
    for (const std::unique_ptr<Block>& companion : companions_) {
        text += "\n" + describe_block(companion->context_);
    }
    return text;
}

void Block::stop_collecting() {
    for (std::uint32_t rank = 0; rank < cluster_.size; ++rank) {
        BlockContext& context = of_rank(rank).context_;
        if (context.reductions != nullptr) {
            apply_reductions(*context.reductions);
            context.reductions = nullptr;
        }
    }
}

void Block::release() noexcept {
    end_probe();
    configured_for_ = nullptr;
    grid_.reset();
    for (const std::unique_ptr<Block>& companion : companions_) {
        if (companion) {
            companion->release();
        }
    }
    for (AlignedBuffer* buffer : {&frames_, &shared_, &local_, &block_bank_}) {
        if (buffer->capacity() > MAX_KEPT_BYTES) {
            *buffer = AlignedBuffer{};
        }
    }
}

/// Sets up the blocks of a cluster for a grid.
void Block::configure_cluster(const std::shared_ptr<Grid>& grid, std::uint32_t sm,
                              PendingReductions& reductions) {
    configured_for_ = nullptr; // in case the memory does not suffice
    cluster_.size = grid->cluster_blocks();
    companions_.resize(cluster_.size - 1);
    for (std::unique_ptr<Block>& companion : companions_) {
        if (!companion) {
            companion = std::make_unique<Block>();
        }
    }
    for (std::uint32_t rank = 0; rank < cluster_.size; ++rank) {
        Block& block = of_rank(rank);
        block.configure(grid, sm, reductions);
        cluster_.blocks[rank] = &block.context_;
        block.context_.cluster = &cluster_;
        block.context_.cluster_rank = rank;
    }
    cluster_number_ = ~std::uint64_t{0}; // so that cluster 0 is the next one
    for (std::size_t axis = 0; axis < 3; ++axis) {
        first_[axis] = grid->launch().grid[axis] - grid->launch().cluster[axis];
    }
    configured_for_ = grid.get();
}

/// Sets up everything that is the same for all blocks of the grid.
void Block::configure(const std::shared_ptr<Grid>& grid, std::uint32_t sm,
                      PendingReductions& reductions) {
    grid_ = grid;
    const GridLaunch& launch = grid_->launch();
    const bytecode::Kernel& kernel = grid_->kernel();
    const std::uint32_t threads = grid_->thread_count();
    const std::uint32_t warp_count = (threads + WARP_SIZE - 1) / WARP_SIZE;
    if (warp_count > warp_capacity_) {
        warps_ = std::make_unique<WarpContext[]>(warp_count);
        warp_capacity_ = warp_count;
    }
    set_up_context(context_, *grid_, sm);
    // Checks and random schedules want every access at its time.
    const bool may_collect = launch.memory->checks == 0 && !grid_->is_random();
    collected_ = may_collect ? &reductions : nullptr;
    reductions.patience = PendingReductions::PATIENCE;
    const std::uint32_t unit =
        (launch.memory->checks & CHECK_MEMORY) != 0 ? SHARED_UNIT_BYTES_CHECKED : SHARED_UNIT_BYTES;
    context_.shared_bytes = (kernel.static_shared_bytes + kernel.hidden_shared_bytes +
                             launch.dynamic_shared_bytes + unit - 1) /
                            unit * unit;
    context_.shared = shared_.reserve(context_.shared_bytes);
    context_.local_stride_bytes = (kernel.local_bytes * context_.max_frames + LOCAL_ALIGNMENT - 1) /
                                  LOCAL_ALIGNMENT * LOCAL_ALIGNMENT;
    context_.local = local_.reserve(std::size_t{context_.local_stride_bytes} * threads);
    context_.block_bank = block_bank_.reserve(kernel.block_bytes);
    context_.owner = this;
    context_.warps = warps_.get();
    constexpr std::uint64_t none = ~std::uint64_t{0}; // no special value is this large
    block_values_.assign(kernel.block_specials.size(), none);
    configure_warps();
    lockstep_.is_configured = false;
    compiled_ = launch.memory->checks == 0 && !grid_->is_random()
                    ? kernel.code_source->compiled_code()
                    : nullptr;
    shape_ = compiled_ == nullptr ? 0 : compiled_->shape_for(launch.grid, launch.block);
    if (launch.memory->checks == 0 && !grid_->is_random() && grid_->cluster_blocks() == 1) {
        const auto strides = static_cast<std::size_t>(warp_count) * context_.max_frames;
        lockstep::configure(lockstep_, context_,
                            warps_[0].frames + strides * warps_[0].frame_stride_bytes);
    }
}

void Block::configure_warps() {
    const std::size_t stride = std::size_t{frame_stride(*context_.kernel)} * context_.max_frames;
    // One more frame holds the heads of the block in lockstep.
    std::byte* const frames = frames_.reserve(stride * (context_.warp_count + 1));
    for (std::uint32_t w = 0; w < context_.warp_count; ++w) {
        set_up_warp(warps_[w], *grid_, context_, frames + stride * w, w);
    }
}

/// Finds the index of a cluster's first block.
void Block::move_to(std::uint64_t cluster) {
    const GridLaunch& launch = grid_->launch();
    if (cluster == cluster_number_ + 1) [[likely]] {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            first_[axis] += launch.cluster[axis];
            if (first_[axis] != launch.grid[axis]) {
                break;
            }
            first_[axis] = 0;
        }
    } else {
        std::uint64_t left = cluster;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const std::uint32_t count = launch.grid[axis] / launch.cluster[axis];
            first_[axis] = static_cast<std::uint32_t>(left % count) * launch.cluster[axis];
            left /= count;
        }
    }
    cluster_number_ = cluster;
}

/// Writes the special values that differ between blocks, if they have changed.
void Block::fill_block_bank() {
    const std::uint32_t(&size)[3] = grid_->launch().cluster;
    std::uint64_t* known = block_values_.data();
    for (const bytecode::SpecialSlot& slot : context_.kernel->block_specials) {
        const std::uint64_t value = block_value(slot.special, context_.index, context_.sm, size);
        if (*known != value) {
            *known = value;
            broadcast(context_.block_bank + slot.offset, slot.width, value);
        }
        ++known;
    }
}

} // namespace cuprum::emulator::exec
