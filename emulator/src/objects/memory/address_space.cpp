// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/memory/address_space.hpp"

#include "check/global_races.hpp"
#include "objects/process/error.hpp"

#include <algorithm>
#include <limits>
#include <sys/mman.h>

namespace cuprum::emulator {

namespace {

constexpr std::uint64_t GIB = std::uint64_t{1} << 30;
constexpr std::uint64_t SHARED_WINDOW_BYTES = 4 * GIB;
constexpr std::uint64_t LOCAL_WINDOW_BYTES = 4 * GIB;
constexpr std::uint64_t LARGEST_WINDOW_BYTES = 2048 * GIB;
constexpr std::uint64_t SMALLEST_WINDOW_BYTES = 16 * GIB;
constexpr std::uint64_t WINDOW_ALIGNMENT = 4 * GIB;

constexpr std::uint64_t COMMIT_STEP_BYTES = std::uint64_t{64} << 20;
constexpr std::uint64_t MAX_RESTING_BYTES = 4 * GIB;
constexpr std::size_t MAX_RESTING_RANGES = 4096;

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t step) {
    return (value + step - 1) / step * step;
}

void* reserve(std::uint64_t bytes, int protection) {
    void* address =
        ::mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return address == MAP_FAILED ? nullptr : address;
}

/// Makes the table of accessible granules. At first none is accessible.
std::atomic<std::uint8_t>* make_granules(const MemoryMap& map) {
    // The system provides zero pages on first access, so the table costs no memory where nothing is
    // allocated.
    auto* granules = static_cast<std::atomic<std::uint8_t>*>(
        reserve(map.memory_bytes / AddressSpace::GRANULE_BYTES, PROT_READ | PROT_WRITE));
    if (granules == nullptr) {
        fail(CUDA_ERROR_OUT_OF_MEMORY, "could not map the table of device memory");
    }
    return granules;
}

} // namespace

AddressSpace& AddressSpace::instance() {
    static auto* space = new AddressSpace;
    return *space;
}

AddressSpace::AddressSpace() {
    // A limit on address space (ulimit -v) may leave less room than this.
    std::uint64_t bytes = LARGEST_WINDOW_BYTES;
    void* address = reserve(bytes + WINDOW_ALIGNMENT, PROT_NONE);
    while (address == nullptr && bytes > SMALLEST_WINDOW_BYTES) {
        bytes /= 2;
        address = reserve(bytes + WINDOW_ALIGNMENT, PROT_NONE);
    }
    if (address == nullptr) {
        fail(CUDA_ERROR_OUT_OF_MEMORY, "could not reserve 16 GiB of address space for the emulated "
                                       "device; is 'ulimit -v' set?");
    }
    // If the program crashes, its core dump must not contain terabytes of empty memory.
    ::madvise(address, bytes + WINDOW_ALIGNMENT, MADV_DONTDUMP);

    map_.window_base = round_up(reinterpret_cast<std::uint64_t>(address), WINDOW_ALIGNMENT);
    map_.window_bytes = bytes;
    map_.shared_base = map_.window_base;
    map_.shared_bytes = SHARED_WINDOW_BYTES;
    map_.local_base = map_.shared_base + map_.shared_bytes;
    map_.local_bytes = LOCAL_WINDOW_BYTES;
    map_.memory_base = map_.local_base + map_.local_bytes;
    map_.memory_bytes = bytes - map_.shared_bytes - map_.local_bytes;

    granules_.push_back(make_granules(map_));
    map_.granules = granules_.front();
    map_.permission_changes = &permission_changes_;
    next_ = map_.memory_base + GRANULE_BYTES;
    committed_ = map_.memory_base;
}

void AddressSpace::enable_checks(std::uint8_t checks) {
    map_.checks = checks;
    if ((checks & CHECK_INITIALIZED) != 0 && map_.initialized == nullptr) {
        map_.initialized = static_cast<std::atomic<std::uint8_t>*>(
            reserve(map_.memory_bytes, PROT_READ | PROT_WRITE));
        if (map_.initialized == nullptr) {
            fail(CUDA_ERROR_OUT_OF_MEMORY, "could not reserve the address space that "
                                           "CUPRUM_EMULATOR_CHECK=initialized needs");
        }
        ::madvise(static_cast<void*>(map_.initialized), map_.memory_bytes, MADV_DONTDUMP);
    }
    if ((checks & CHECK_RACES) != 0 && map_.races == nullptr) {
        map_.races = new check::GlobalRaces; // never destroyed
    }
}

std::uint64_t AddressSpace::take(std::uint64_t bytes, std::uint64_t alignment) {
    if (bytes > map_.memory_bytes / 2) {
        fail(CUDA_ERROR_OUT_OF_MEMORY, "the range is larger than the emulated address space");
    }
    const std::uint64_t needed =
        round_up(std::max<std::uint64_t>(bytes, 1), GRANULE_BYTES) + GRANULE_BYTES; // the guard
    alignment = std::max(alignment, GRANULE_BYTES);
    const std::lock_guard lock(mutex_);
    if (const std::uint64_t base = free_.take(needed, alignment)) {
        return base;
    }
    const std::uint64_t end = map_.memory_base + map_.memory_bytes;
    const std::uint64_t base = round_up(next_, alignment);
    if (base > end || end - base < needed) {
        // No addresses are left, so addresses that rest are used again.
        for (const auto& [resting_base, resting_bytes] : resting_) {
            free_.put(resting_base, resting_bytes);
        }
        resting_.clear();
        resting_bytes_ = 0;
        const std::uint64_t reused = free_.take(needed, alignment, true);
        if (reused == 0) {
            fail(CUDA_ERROR_OUT_OF_MEMORY, "the emulated address space is exhausted");
        }
        return reused;
    }
    grow_committed(base + needed);
    if (base != next_) {
        free_.put(next_, base - next_);
    }
    next_ = base + needed;
    return base;
}

bool AddressSpace::extend(std::uint64_t base, std::uint64_t bytes, std::uint64_t more_bytes) {
    const std::uint64_t end = base + bytes + GRANULE_BYTES; // the guard moves with it
    const std::lock_guard lock(mutex_);
    if (end == next_) {
        if (more_bytes > map_.memory_base + map_.memory_bytes - end) {
            return false;
        }
        grow_committed(end + more_bytes);
        next_ = end + more_bytes;
        return true;
    }
    return free_.take_at(end, more_bytes);
}

void AddressSpace::give_back(std::uint64_t base, std::uint64_t bytes) noexcept {
    const std::uint64_t taken =
        round_up(std::max<std::uint64_t>(bytes, 1), GRANULE_BYTES) + GRANULE_BYTES;
    close(base, bytes);
    ::madvise(reinterpret_cast<void*>(base), taken, MADV_DONTNEED);
    const std::lock_guard lock(mutex_);
    resting_.emplace_back(base, taken);
    resting_bytes_ += taken;
    while (resting_bytes_ > MAX_RESTING_BYTES || resting_.size() > MAX_RESTING_RANGES) {
        const auto [oldest_base, oldest_bytes] = resting_.front();
        resting_.pop_front();
        resting_bytes_ -= oldest_bytes;
        free_.put(oldest_base, oldest_bytes);
    }
}

void AddressSpace::close(std::uint64_t base, std::uint64_t bytes) noexcept {
    for (int device = 0; device < device_count(); ++device) {
        set_permission(device, base, bytes, Permission::None);
    }
}

void AddressSpace::set_device_count(int count) {
    while (device_count() < count) {
        granules_.push_back(make_granules(map_));
        others_.push_back(std::make_unique<MemoryMap>(map_));
        others_.back()->granules = granules_.back();
    }
}

void AddressSpace::set_permission(int device, std::uint64_t base, std::uint64_t bytes,
                                  Permission permission) noexcept {
    if (bytes == 0) {
        return;
    }
    auto* const granules = granules_[static_cast<std::size_t>(device)];
    const std::uint64_t first = (base - map_.memory_base) >> map_.granule_shift;
    const std::uint64_t last = (base + bytes - 1 - map_.memory_base) >> map_.granule_shift;
    for (std::uint64_t index = first; index <= last; ++index) {
        granules[index].store(static_cast<std::uint8_t>(permission), std::memory_order_relaxed);
    }
    permission_changes_.fetch_add(1, std::memory_order_release);
}

void AddressSpace::map_file(std::uint64_t base, std::uint64_t bytes, int file,
                            std::uint64_t offset) {
    void* mapped = ::mmap(reinterpret_cast<void*>(base), bytes, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_FIXED, file, static_cast<off_t>(offset));
    if (mapped == MAP_FAILED) {
        fail(CUDA_ERROR_MAP_FAILED, "the system refused to map the memory");
    }
    ::madvise(mapped, bytes, MADV_DONTDUMP);
}

void AddressSpace::unmap_file(std::uint64_t base, std::uint64_t bytes) noexcept {
    ::mmap(reinterpret_cast<void*>(base), bytes, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

void AddressSpace::grow_committed(std::uint64_t end) {
    if (end <= committed_) {
        return;
    }
    const std::uint64_t limit = map_.memory_base + map_.memory_bytes;
    const std::uint64_t target =
        std::min(limit, map_.memory_base + round_up(end - map_.memory_base, COMMIT_STEP_BYTES));
    if (::mprotect(reinterpret_cast<void*>(committed_), target - committed_,
                   PROT_READ | PROT_WRITE) != 0) {
        fail(CUDA_ERROR_OUT_OF_MEMORY, "the system refused memory for the emulated device");
    }
    committed_ = target;
}

} // namespace cuprum::emulator
