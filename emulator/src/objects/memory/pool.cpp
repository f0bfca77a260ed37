// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/memory/pool.hpp"

#include "objects/devices/device.hpp"
#include "objects/memory/address_space.hpp"
#include "objects/memory/host_pages.hpp"
#include "objects/memory/shared_location.hpp"
#include "objects/process/driver.hpp"
#include "objects/process/error.hpp"
#include "objects/streams/stream.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <sys/mman.h>

namespace cuprum::emulator {

namespace {

constexpr std::uint64_t SMALLEST_BLOCK_BYTES = 512;
constexpr std::uint64_t LARGEST_BYTES = std::uint64_t{1} << 46;
/// While a program is checked, up to this many idle blocks of each size are not used again.
constexpr std::size_t RESTING_BLOCKS = 16;
constexpr std::uint64_t RESTING_BYTES = std::uint64_t{1} << 20;

/// Returns the block size for a request. There are few sizes, so that blocks can be used again.
std::uint64_t capacity_for(std::uint64_t bytes, bool is_shared) {
    constexpr std::uint64_t granule = AddressSpace::GRANULE_BYTES;
    if (bytes < granule && !is_shared) { // files are mapped in whole pages
        return std::bit_ceil(std::max(bytes, SMALLEST_BLOCK_BYTES));
    }
    return (bytes + granule - 1) / granule * granule;
}

void check_properties(const CUmemPoolProps& properties) {
    require(properties.allocType == CU_MEM_ALLOCATION_TYPE_PINNED ||
                properties.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED,
            "a pool must have pinned or managed memory");
    check_handle_types(properties.handleTypes);
    require(properties.handleTypes == CU_MEM_HANDLE_TYPE_NONE ||
                properties.allocType == CU_MEM_ALLOCATION_TYPE_PINNED,
            "a pool of managed memory cannot be shared");
    require(properties.maxSize == 0 || properties.allocType == CU_MEM_ALLOCATION_TYPE_PINNED,
            "maxSize must be 0 for a pool of managed memory");
    require_zero(properties.reserved);
    switch (properties.location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        require(properties.location.id >= 0 &&
                    properties.location.id < Driver::instance().device_count(),
                "the pool's device does not exist");
        break;
    case CU_MEM_LOCATION_TYPE_HOST:
        require(properties.handleTypes == CU_MEM_HANDLE_TYPE_NONE,
                "a pool of host memory can be shared only if it names a NUMA node");
        break;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        require(is_host_node(properties.location.id), "the host has no NUMA node of this number");
        break;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
        fail(CUDA_ERROR_INVALID_VALUE, "a pool must name its NUMA node by number");
    case CU_MEM_LOCATION_TYPE_NONE:
        require(properties.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED,
                "only a pool of managed memory may have no location");
        break;
    default:
        fail(CUDA_ERROR_INVALID_VALUE, "unknown type of location");
    }
}

} // namespace

std::shared_ptr<Pool> Pool::create(const CUmemPoolProps& properties) {
    check_properties(properties);
    auto pool = std::shared_ptr<Pool>(new Pool(properties, false));
    HandleTable::instance().insert(HandleKind::Pool, pool);
    if (pool->device() >= 0) {
        device_at(pool->device()).track_pool(pool);
    }
    return pool;
}

std::shared_ptr<Pool> Pool::create_default(Device& device) {
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device.ordinal()};
    auto pool = std::shared_ptr<Pool>(new Pool(properties, true));
    HandleTable::instance().insert(HandleKind::Pool, pool);
    return pool;
}

std::shared_ptr<Pool> Pool::create_default(CUmemAllocationType type, CUmemLocation location) {
    CUmemPoolProps properties{};
    properties.allocType = type;
    properties.location = location;
    check_properties(properties);
    auto pool = std::shared_ptr<Pool>(new Pool(properties, true));
    HandleTable::instance().insert(HandleKind::Pool, pool);
    return pool;
}

std::shared_ptr<Pool> Pool::import(int descriptor) {
    auto file = SharedFile::adopt(descriptor, SharedKind::Pool);
    const SharedHeader& about = file->header();
    CUmemPoolProps properties{};
    properties.allocType = static_cast<CUmemAllocationType>(about.allocation_type);
    properties.handleTypes = static_cast<CUmemAllocationHandleType>(about.handle_types);
    properties.location = location_of(about);
    properties.maxSize = about.max_bytes;
    require(properties.handleTypes == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
            "the pool was not made to be shared");
    check_properties(properties);
    auto pool = std::shared_ptr<Pool>(new Pool(properties, false, std::move(file)));
    HandleTable::instance().insert(HandleKind::Pool, pool);
    return pool;
}

Pool::Pool(const CUmemPoolProps& properties, bool is_default, std::shared_ptr<SharedFile> imported)
    : properties_(properties), is_default_(is_default), is_imported_(imported != nullptr),
      file_(std::move(imported)) {
    if (device() >= 0) {
        access_[device()] = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    }
    if (properties.handleTypes != CU_MEM_HANDLE_TYPE_NONE && !is_imported_) {
        SharedHeader about;
        about.kind = SharedKind::Pool;
        about.max_bytes = properties.maxSize;
        put_location(about, properties.location);
        about.allocation_type = properties.allocType;
        about.handle_types = properties.handleTypes;
        file_ = SharedFile::create(about);
    }
}

Pool::~Pool() {
    for (const auto& [base, block] : blocks_) {
        release(*block);
    }
}

std::shared_ptr<Allocation> Pool::allocate(std::uint64_t bytes, const Stream& stream) {
    require(bytes != 0, "the size must not be zero");
    require(!is_imported_, "an imported pool cannot allocate; only the process that made it can");
    if (bytes > LARGEST_BYTES) { // rounding up could overflow
        fail(CUDA_ERROR_OUT_OF_MEMORY, "no emulated device has that much memory");
    }
    const std::uint64_t capacity = capacity_for(bytes, file_ != nullptr);
    auto block = take_idle(capacity, stream.id());
    if (block == nullptr) {
        block = make_block(capacity);
    }
    auto allocation = std::make_shared<Allocation>();
    allocation->base = block->base;
    allocation->bytes = bytes;
    allocation->kind = MemoryKind::Pooled;
    allocation->device = device() >= 0 ? device() : stream.context().device().ordinal();
    allocation->pool = shared_from_this();
    allocation->is_on_host =
        device() < 0 || properties_.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED;
    {
        const std::lock_guard lock(mutex_);
        ++block->use;
        used_bytes_ += capacity;
        used_high_bytes_ = std::max(used_high_bytes_, used_bytes_);
    }
    Allocations::instance().add(allocation);
    Allocations::open(*allocation);
    return allocation;
}

void Pool::free(const std::shared_ptr<Allocation>& allocation, Stream& stream) {
    if (is_imported_) {
        stream.enqueue(std::make_shared<Task>(
            stream.context().errors(),
            [pool = shared_from_this(), allocation] { pool->unmap_import(*allocation); },
            Task::Size::Bookkeeping));
        return;
    }
    const std::uint64_t use = use_of(*allocation);
    auto operation = std::make_shared<Task>(
        stream.context().errors(),
        [pool = shared_from_this(), allocation, use] { pool->close_if_idle(*allocation, use); },
        Task::Size::Bookkeeping);
    put_back(*allocation, stream.id());
    stream.enqueue(operation);
}

void Pool::free_now(const std::shared_ptr<Allocation>& allocation) {
    if (is_imported_) {
        unmap_import(*allocation);
        return;
    }
    const std::uint64_t use = use_of(*allocation); // before others can get the block
    put_back(*allocation, 0);
    close_if_idle(*allocation, use);
}

std::uint64_t Pool::use_of(const Allocation& allocation) const {
    const std::lock_guard lock(mutex_);
    return blocks_.at(allocation.base)->use;
}

void Pool::trim_to(std::uint64_t keep_bytes) {
    std::vector<std::shared_ptr<Block>> doomed;
    {
        const std::lock_guard lock(mutex_);
        for (auto each = idle_.begin(); each != idle_.end();) {
            auto& [capacity, idle] = *each;
            while (idle.for_all.first != nullptr && reserved_bytes_.load() > keep_bytes) {
                Block& block = *idle.for_all.first;
                remove_idle(idle, block);
                reserved_bytes_ -= capacity;
                idle_bytes_ -= capacity;
                const auto found = blocks_.find(block.base);
                doomed.push_back(std::move(found->second));
                blocks_.erase(found);
            }
            each = idle.count == 0 ? idle_.erase(each) : std::next(each);
        }
    }
    for (const auto& block : doomed) {
        release(*block);
    }
}

void Pool::trim_to_threshold() {
    trim_to(release_threshold_.load());
}

bool Pool::has_excess() const noexcept {
    return idle_bytes_.load(std::memory_order_relaxed) != 0 &&
           reserved_bytes_.load(std::memory_order_relaxed) >
               release_threshold_.load(std::memory_order_relaxed);
}

int Pool::device() const noexcept {
    return properties_.location.type == CU_MEM_LOCATION_TYPE_DEVICE ? properties_.location.id : -1;
}

std::shared_ptr<Pool::Block> Pool::take_idle(std::uint64_t capacity, std::uint64_t stream_id) {
    const std::lock_guard lock(mutex_);
    const auto found = idle_.find(capacity);
    if (found == idle_.end()) {
        return nullptr;
    }
    Idle& idle = found->second;
    const bool may_take_from_others = reuse_[CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC] != 0;
    const bool is_checked =
        (AddressSpace::instance().map().checks & (CHECK_MEMORY | CHECK_INITIALIZED)) != 0;
    Block* const block = is_checked
                             ? find_rested(idle, capacity, may_take_from_others ? 0 : stream_id)
                             : find_idle(idle, stream_id, may_take_from_others);
    if (block == nullptr) {
        return nullptr;
    }
    remove_idle(idle, *block);
    idle_bytes_ -= capacity;
    return blocks_.at(block->base);
}

/// Picks the block that the stream freed last, or one whose free has been reached, wherever it was
/// freed. The mutex must be held.
Pool::Block* Pool::find_idle(Idle& idle, std::uint64_t stream_id, bool may_take_from_others) {
    const auto own = idle.by_stream.find(stream_id);
    if (own != idle.by_stream.end()) {
        return own->second.last;
    }
    return may_take_from_others ? idle.for_all.last : nullptr;
}

/// Picks an idle block for a program that is checked: the one that has been idle longest, so that a
/// use after free does not hit a new owner. No work may use the block any more, so that the record
/// of the old owner can be dropped. `stream_id`, unless 0, is the stream that must have freed it.
/// The mutex must be held.
Pool::Block* Pool::find_rested(Idle& idle, std::uint64_t capacity, std::uint64_t stream_id) {
    if (capacity <= RESTING_BYTES && idle.count <= RESTING_BLOCKS) {
        return nullptr;
    }
    if (stream_id == 0) {
        return idle.for_all.first;
    }
    // A stream reaches its frees one after the other.
    const auto own = idle.by_stream.find(stream_id);
    return own != idle.by_stream.end() && own->second.first->is_free_for_all ? own->second.first
                                                                             : nullptr;
}

/// Removes a block from the idle ones. The mutex must be held.
void Pool::remove_idle(Idle& idle, Block& block) {
    const auto of_stream = idle.by_stream.find(block.freed_on_stream);
    of_stream->second.remove(block, &Block::of_stream);
    if (of_stream->second.first == nullptr) {
        idle.by_stream.erase(of_stream);
    }
    if (block.is_free_for_all) {
        idle.for_all.remove(block, &Block::of_all);
    }
    block.is_idle = false;
    block.is_free_for_all = false;
    --idle.count;
}

void Pool::List::add(Block& block, Links Block::* links) noexcept {
    block.*links = {last, nullptr};
    (last == nullptr ? first : (last->*links).next) = &block;
    last = &block;
}

void Pool::List::remove(Block& block, Links Block::* links) noexcept {
    const auto [previous, next] = block.*links;
    (previous == nullptr ? first : (previous->*links).next) = next;
    (next == nullptr ? last : (next->*links).previous) = previous;
}

std::shared_ptr<Pool::Block> Pool::make_block(std::uint64_t capacity) {
    reserve(capacity); // before anything is allocated: other threads may do the same
    try {
        auto block = take_block(capacity);
        const std::lock_guard lock(mutex_);
        blocks_.emplace(block->base, block);
        reserved_high_bytes_ = std::max(reserved_high_bytes_, reserved_bytes_.load());
        return block;
    } catch (...) {
        reserved_bytes_ -= capacity;
        throw;
    }
}

/// Counts memory as reserved. Throws if the pool would exceed its limit.
void Pool::reserve(std::uint64_t capacity) {
    std::uint64_t reserved = reserved_bytes_.load();
    do {
        if (properties_.maxSize != 0 && reserved + capacity > properties_.maxSize) {
            fail(CUDA_ERROR_OUT_OF_MEMORY, "the pool has reached its maximum size");
        }
    } while (!reserved_bytes_.compare_exchange_weak(reserved, reserved + capacity));
}

std::shared_ptr<Pool::Block> Pool::take_block(std::uint64_t capacity) {
    if (device() >= 0) {
        device_at(device()).charge(capacity);
    } else {
        check_host_holds(capacity);
    }
    auto block = std::make_shared<Block>();
    try {
        block->base = AddressSpace::instance().take(capacity);
    } catch (...) {
        if (device() >= 0) {
            device_at(device()).refund(capacity);
        }
        throw;
    }
    block->capacity = capacity;
    if (file_ != nullptr) {
        try {
            const std::lock_guard lock(mutex_);
            file_->grow_to(file_end_ + capacity);
            block->file_offset = file_end_;
            AddressSpace::map_file(block->base, capacity, file_->descriptor(),
                                   SharedFile::DATA_OFFSET + file_end_);
            file_end_ += capacity;
        } catch (...) {
            release(*block);
            throw;
        }
    }
    return block;
}

void Pool::discard_idle() noexcept {
    if (file_ != nullptr || is_imported_) {
        return;
    }
    const std::lock_guard lock(mutex_);
    for (const auto& [base, block] : blocks_) {
        if (block->is_idle) {
            ::madvise(reinterpret_cast<void*>(base), block->capacity, MADV_DONTNEED);
        }
    }
}

/// Makes a block idle: at first for the stream that freed it.
void Pool::put_back(const Allocation& allocation, std::uint64_t stream_id) {
    const std::lock_guard lock(mutex_);
    Block& block = *blocks_.at(allocation.base);
    withdraw(block);
    Idle& idle = idle_[block.capacity];
    block.freed_on_stream = stream_id;
    block.is_idle = true;
    idle.by_stream[stream_id].add(block, &Block::of_stream);
    ++idle.count;
    used_bytes_ -= block.capacity;
    idle_bytes_ += block.capacity;
}

/// Removes kernels' access to a block and lets all streams use it, unless it was allocated again in
/// the meantime.
void Pool::close_if_idle(const Allocation& allocation, std::uint64_t use) {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(allocation.base);
    if (found != blocks_.end() && found->second->use == use && found->second->is_idle) {
        Block& block = *found->second;
        AddressSpace::instance().close(allocation.base, allocation.bytes);
        block.is_free_for_all = true;
        idle_.at(block.capacity).for_all.add(block, &Block::of_all);
    }
    Allocations::instance().forget(allocation);
}

void Pool::release(const Block& block) noexcept {
    if (file_ != nullptr) {
        AddressSpace::unmap_file(block.base, block.capacity);
        file_->discard(block.file_offset, block.capacity);
    }
    AddressSpace::instance().give_back(block.base, block.capacity);
    if (device() >= 0) {
        device_at(device()).refund(block.capacity);
    }
}

} // namespace cuprum::emulator
