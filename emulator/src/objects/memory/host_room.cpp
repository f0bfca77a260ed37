// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/memory/host_room.hpp"

#include "objects/memory/allocations.hpp"
#include "objects/memory/host_pages.hpp"
#include "objects/process/host_limits.hpp"
#include "usage/publisher.hpp"
#include "usage/reader.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <sstream>
#include <sys/mman.h>
#include <vector>

namespace cuprum::emulator::host_room {

namespace {

/// The part of the available memory that may be allocated before the next look.
constexpr std::uint64_t PART = 8;

/// What may still be allocated without a look.
std::atomic<std::int64_t> unchecked_bytes{0};

std::string text_of_file(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// Returns how much of a range of memory has pages.
std::uint64_t resident_bytes(std::uint64_t address, std::uint64_t bytes) {
    constexpr std::uint64_t step_pages = 1 << 16;
    std::vector<unsigned char> pages(step_pages);
    const std::uint64_t end = (address + bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    std::uint64_t count = 0;
    for (std::uint64_t at = address / PAGE_BYTES * PAGE_BYTES; at < end;) {
        const std::uint64_t step = std::min(end - at, step_pages * PAGE_BYTES);
        if (::mincore(reinterpret_cast<void*>(at), step, pages.data()) == 0) {
            count += static_cast<std::uint64_t>(std::count_if(
                pages.begin(), pages.begin() + static_cast<std::ptrdiff_t>(step / PAGE_BYTES),
                [](unsigned char page) { return (page & 1) != 0; }));
        }
        at += step;
    }
    return std::min(count * PAGE_BYTES, bytes);
}

/// Returns whether memory of a kind takes host memory that it does not have from the beginning.
bool is_promised(const Allocation& allocation) {
    return allocation.kind != MemoryKind::Registered && allocation.kind != MemoryKind::Imported &&
           allocation.kind != MemoryKind::Graphics && allocation.kind != MemoryKind::External;
}

/// Returns what this process has allocated, without looking at pages.
std::uint64_t allocated_bytes(const std::vector<std::shared_ptr<Allocation>>& allocations) {
    std::uint64_t sum = 0;
    for (const usage::DeviceRecord& device :
         usage::detail::record.load(std::memory_order_relaxed)->devices) {
        sum += device.used_bytes.load(std::memory_order_relaxed);
    }
    for (const auto& allocation : allocations) { // host memory is not charged to a device
        sum += allocation->is_host_accessible() && is_promised(*allocation) ? allocation->bytes : 0;
    }
    return sum;
}

/// Returns what other processes of the same control groups have allocated and not touched. Their
/// own memory hides a part of it, which the reserve covers.
std::uint64_t promised_by_others() {
    static const usage::Folder folder;
    if (folder.descriptor() < 0) {
        return 0;
    }
    const std::string groups = text_of_file("/proc/self/cgroup");
    std::uint64_t sum = 0;
    for (const usage::ProcessUse& process : usage::read_processes(folder, now_ns())) {
        const std::string path = "/proc/" + std::to_string(process.pid);
        if (process.pid == ::getpid() || text_of_file(path + "/cgroup") != groups) {
            continue;
        }
        std::uint64_t used = 0;
        for (const usage::DeviceUse& device : process.devices) {
            used += device.used_bytes;
        }
        std::uint64_t pages = 0;
        std::uint64_t resident_pages = 0;
        std::istringstream(text_of_file(path + "/statm")) >> pages >> resident_pages;
        sum += used - std::min(used, resident_pages * PAGE_BYTES);
    }
    return sum;
}

/// Returns what can still be allocated if `more_bytes` are promised too; negative if too much is.
std::int64_t slack(const MemoryRoom& room, std::uint64_t more_bytes) {
    const auto allocations = Allocations::instance().all();
    const std::uint64_t allocated = allocated_bytes(allocations);
    const std::uint64_t others = promised_by_others();
    const auto left = static_cast<std::int64_t>(room.left_bytes) -
                      static_cast<std::int64_t>(reserve_of(room.limit_bytes) + others + more_bytes);
    if (left >= static_cast<std::int64_t>(allocated) * 2) {
        return left - static_cast<std::int64_t>(allocated); // far from the limit
    }
    std::uint64_t touched = 0;
    for (const auto& allocation : allocations) {
        touched +=
            is_promised(*allocation) ? resident_bytes(allocation->base, allocation->bytes) : 0;
    }
    return left - static_cast<std::int64_t>(allocated - std::min(allocated, touched));
}

} // namespace

std::optional<std::uint64_t> available_bytes() {
    const auto room = memory_room();
    return room ? std::optional(
                      static_cast<std::uint64_t>(std::max<std::int64_t>(slack(*room, 0), 0)))
                : std::nullopt;
}

std::string find_problem(std::uint64_t bytes, std::uint64_t more_bytes) {
    static const bool has_limit = memory_room().has_value();
    const auto taken = static_cast<std::int64_t>(bytes + more_bytes);
    if (!has_limit || unchecked_bytes.fetch_sub(taken, std::memory_order_relaxed) >= taken) {
        return {};
    }
    const auto room = memory_room();
    const std::int64_t rest = room ? slack(*room, more_bytes) : 0;
    unchecked_bytes.store(std::max<std::int64_t>(rest, 0) / static_cast<std::int64_t>(PART),
                          std::memory_order_relaxed);
    if (!room || rest >= 0) {
        return {};
    }
    return std::to_string(bytes + more_bytes) +
           " bytes requested, but the control group of this process (its container) has " +
           std::to_string(room->left_bytes) + " of " + std::to_string(room->limit_bytes) +
           " bytes left, some of them promised to earlier allocations or kept for the program";
}

} // namespace cuprum::emulator::host_room
