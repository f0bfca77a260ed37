// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/memory/allocations.hpp"

#include "check/written.hpp"
#include "exec/engine.hpp"
#include "exec/watchdog.hpp"
#include "objects/devices/device.hpp"
#include "objects/devices/peer_access.hpp"
#include "objects/graphics/external_memory.hpp"
#include "objects/memory/address_space.hpp"
#include "objects/memory/host_pages.hpp"
#include "objects/memory/ipc_memory.hpp"
#include "objects/memory/managed.hpp"
#include "objects/memory/pool.hpp"
#include "objects/memory/reach.hpp"
#include "objects/process/driver.hpp"
#include "objects/process/error.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <sstream>
#include <string_view>

namespace cuprum::emulator {

namespace {

std::atomic<std::uint64_t> next_allocation_id{1};

/// How many freed allocations are remembered.
constexpr std::size_t MAX_FREED = 1024;
/// Up to this distance, a report relates an address to an allocation.
constexpr std::uint64_t NEAR_BYTES = std::uint64_t{64} << 10;

std::string_view name_of(MemoryKind kind) {
    switch (kind) {
    case MemoryKind::Device:
        return "device memory";
    case MemoryKind::Pinned:
        return "pinned host memory";
    case MemoryKind::Managed:
        return "managed memory";
    case MemoryKind::Registered:
        return "registered host memory";
    case MemoryKind::Pooled:
        return "stream-ordered memory";
    case MemoryKind::Mapped:
        return "mapped memory";
    case MemoryKind::Imported:
        return "memory of another process";
    case MemoryKind::Heap:
        return "heap of kernels";
    case MemoryKind::Graph:
        return "memory of a graph";
    case MemoryKind::Array:
        return "memory of an array";
    case MemoryKind::Graphics:
        return "mapped graphics memory";
    case MemoryKind::External:
        return "imported external memory";
    }
    return "memory"; // not reached: compilers warn of a kind that is missing above
}

/// Returns what a device may do with memory that the program did not map itself.
Permission permission_for(int device, const Allocation& allocation) {
    if (allocation.kind == MemoryKind::Array) {
        return Permission::None; // loads and stores cannot reach it
    }
    const bool is_own = device == allocation.device || allocation.is_host_accessible();
    if (!is_own && allocation.kind == MemoryKind::Pooled) { // pools have their own access rights
        return permission_of(allocation.pool->access({CU_MEM_LOCATION_TYPE_DEVICE, device}));
    }
    return is_own || PeerAccess::instance().is_enabled(device, allocation.device)
               ? Permission::ReadWrite
               : Permission::None;
}

/// Tells the watchdog whether there is memory that the host or another process can write without a
/// call of the driver.
void count_for_watchdog(const Allocation& allocation, int change) {
    if (allocation.is_host_accessible() || allocation.kind == MemoryKind::External) {
        exec::Engine::instance().watchdog().add_host_memory(change);
    }
}

} // namespace

bool Allocation::is_managed() const noexcept {
    return kind == MemoryKind::Managed || migrates ||
           (pool != nullptr && pool->properties().allocType == CU_MEM_ALLOCATION_TYPE_MANAGED);
}

bool Allocation::is_private() const noexcept {
    return kind == MemoryKind::Device || (kind == MemoryKind::Graph && !is_on_host) ||
           (kind == MemoryKind::Pooled && !is_on_host &&
            pool->properties().handleTypes == CU_MEM_HANDLE_TYPE_NONE);
}

Allocations& Allocations::instance() {
    static auto* table = new Allocations;
    return *table;
}

std::shared_ptr<Allocation> Allocations::allocate(MemoryKind kind,
                                                  const std::shared_ptr<Context>& context,
                                                  std::uint64_t bytes, unsigned flags,
                                                  std::string name) {
    require(bytes != 0, "the size must not be zero");
    auto allocation = std::make_shared<Allocation>();
    allocation->bytes = bytes;
    allocation->kind = kind;
    allocation->device = context->device().ordinal();
    allocation->context = context;
    allocation->flags = flags;
    allocation->name = std::move(name);
    const bool is_charged = kind == MemoryKind::Device || kind == MemoryKind::Array;
    if (is_charged) {
        context->device().charge(bytes);
    } else if (kind == MemoryKind::Pinned) {
        check_host_holds(bytes);
    } else if (kind == MemoryKind::Managed) { // parts of it may be on the device
        check_host_holds(bytes, context->device().total_bytes());
    }
    try {
        allocation->base = AddressSpace::instance().take(bytes);
    } catch (...) {
        if (is_charged) {
            context->device().refund(bytes);
        }
        throw;
    }
    add(allocation);
    open(*allocation); // after add(), so that concurrent changes of access find it
    return allocation;
}

void Allocations::open(const Allocation& allocation) {
    auto& space = AddressSpace::instance();
    for (int device = 0; device < space.device_count(); ++device) {
        // Even if there is no access: the device may have had access to an earlier use of a pool's
        // block.
        space.set_permission(device, allocation.base, allocation.bytes,
                             permission_for(device, allocation));
    }
}

void Allocations::set_access(int device, Permission permission,
                             const std::function<bool(const Allocation&)>& which) {
    const std::shared_lock lock(mutex_); // keeps the allocations alive
    for (const auto& [base, allocation] : by_base_) {
        if (allocation->device != device && !allocation->is_host_accessible() &&
            allocation->kind != MemoryKind::Array && which(*allocation)) {
            AddressSpace::instance().set_permission(device, base, allocation->bytes, permission);
        }
    }
}

void Allocations::add(const std::shared_ptr<Allocation>& allocation) {
    allocation->id = next_allocation_id.fetch_add(1, std::memory_order_relaxed);
    allocation->made_by = Origin::here(places::OF_MEMORY);
    const std::unique_lock lock(mutex_);
    const auto after = by_base_.upper_bound(allocation->base);
    const bool overlaps_next =
        after != by_base_.end() && after->first < allocation->base + allocation->bytes;
    const bool overlaps_previous =
        after != by_base_.begin() &&
        std::prev(after)->first + std::prev(after)->second->bytes > allocation->base;
    if (overlaps_next || overlaps_previous) {
        fail(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
             "the range overlaps memory that the driver knows already");
    }
    by_base_.emplace_hint(after, allocation->base, allocation);
    count_for_watchdog(*allocation, 1);
    changes_.fetch_add(1, std::memory_order_release);
    check::forget_written(AddressSpace::instance().map(), allocation->base, allocation->bytes);
}

std::shared_ptr<Allocation> Allocations::remove(std::uint64_t base,
                                                std::initializer_list<MemoryKind> kinds) {
    std::shared_ptr<Allocation> allocation;
    const Origin freed_by = Origin::here(places::OF_MEMORY);
    {
        const std::unique_lock lock(mutex_);
        const auto found = by_base_.find(base);
        if (found == by_base_.end() ||
            std::ranges::find(kinds, found->second->kind) == kinds.end()) {
            return nullptr;
        }
        allocation = take_out(found, freed_by);
    }
    release(*allocation);
    return allocation;
}

bool Allocations::remove(const std::shared_ptr<Allocation>& allocation) {
    const Origin freed_by = Origin::here(places::OF_MEMORY);
    {
        const std::unique_lock lock(mutex_);
        const auto found = by_base_.find(allocation->base);
        if (found == by_base_.end() || found->second != allocation) {
            return false;
        }
        take_out(found, freed_by);
    }
    release(*allocation);
    return true;
}

/// Removes an allocation from the table. The mutex must be held.
std::shared_ptr<Allocation> Allocations::take_out(Map::iterator which, const Origin& freed_by) {
    auto allocation = std::move(which->second);
    count_for_watchdog(*allocation, -1);
    by_base_.erase(which);
    changes_.fetch_add(1, std::memory_order_release);
    remember(*allocation, freed_by);
    if (allocation->kind == MemoryKind::Pooled) {
        draining_.emplace(allocation->base, allocation);
    }
    return allocation;
}

void Allocations::forget(const Allocation& allocation) {
    const std::unique_lock lock(mutex_);
    changes_.fetch_add(1, std::memory_order_release);
    const auto [first, last] = draining_.equal_range(allocation.base);
    const auto found = std::find_if(
        first, last, [&](const auto& each) { return each.second.get() == &allocation; });
    if (found != last) {
        draining_.erase(found);
    }
}

std::shared_ptr<Allocation> Allocations::find(std::uint64_t address) const {
    const std::shared_lock lock(mutex_);
    const auto after = by_base_.upper_bound(address);
    if (after == by_base_.begin()) {
        return nullptr;
    }
    const auto& candidate = std::prev(after)->second;
    return address - candidate->base < candidate->bytes ? candidate : nullptr;
}

std::uint64_t Allocations::bytes_from(std::uint64_t address) const {
    const std::shared_lock lock(mutex_);
    auto each = by_base_.upper_bound(address);
    if (each == by_base_.begin()) {
        return 0;
    }
    each = std::prev(each);
    if (address - each->first >= each->second->bytes) {
        return 0;
    }
    std::uint64_t end = each->first + each->second->bytes;
    for (++each;
         each != by_base_.end() && each->first == end && each->second->kind == MemoryKind::Mapped;
         ++each) {
        end += each->second->bytes;
    }
    return end - address;
}

void Allocations::free_all_of(const Context& context) {
    std::vector<std::shared_ptr<Allocation>> doomed;
    const Origin freed_by = Origin::here(places::OF_MEMORY);
    {
        const std::unique_lock lock(mutex_);
        changes_.fetch_add(1, std::memory_order_release);
        for (auto each = by_base_.begin(); each != by_base_.end();) {
            if (each->second->context.get() == &context) {
                count_for_watchdog(*each->second, -1);
                remember(*each->second, freed_by);
                doomed.push_back(std::move(each->second));
                each = by_base_.erase(each);
            } else {
                ++each;
            }
        }
    }
    for (const auto& allocation : doomed) {
        release(*allocation);
    }
}

std::size_t Allocations::count(MemoryKind kind) const {
    const std::shared_lock lock(mutex_);
    return static_cast<std::size_t>(std::ranges::count_if(
        by_base_, [&](const auto& entry) { return entry.second->kind == kind; }));
}

std::vector<std::shared_ptr<Allocation>> Allocations::all() const {
    const std::shared_lock lock(mutex_);
    std::vector<std::shared_ptr<Allocation>> found;
    found.reserve(by_base_.size());
    for (const auto& [base, allocation] : by_base_) {
        found.push_back(allocation);
    }
    return found;
}

bool Allocations::find_for_kernels(std::uint64_t address, MemoryRange& range) const {
    const std::shared_lock lock(mutex_);
    const auto after = by_base_.upper_bound(address);
    const Allocation* found = nullptr;
    if (after != by_base_.begin() && std::prev(after)->second->contains(address)) {
        found = std::prev(after)->second.get();
    } else {
        found = find_draining(address, 1);
    }
    if (found != nullptr) {
        range = {found->base, found->bytes, found->is_private(), found->kind == MemoryKind::Heap};
    }
    return found != nullptr;
}

bool Allocations::find_registered(std::uint64_t address, MemoryRange& range,
                                  bool& is_read_only) const {
    const std::shared_lock lock(mutex_);
    const auto after = by_base_.upper_bound(address);
    if (after == by_base_.begin()) {
        return false;
    }
    const Allocation& found = *std::prev(after)->second;
    range = {found.base, found.bytes};
    is_read_only = found.is_read_only();
    return found.kind == MemoryKind::Registered && found.contains(address);
}

bool Allocations::covers(std::uint64_t address, std::uint64_t bytes, bool is_write) const {
    const std::shared_lock lock(mutex_);
    const auto after = by_base_.upper_bound(address);
    if (after != by_base_.begin() && covers(*std::prev(after)->second, address, bytes)) {
        return !is_write || !std::prev(after)->second->is_read_only();
    }
    return find_draining(address, bytes) != nullptr;
}

/// Returns an allocation that is being freed and contains a whole range. The mutex must be held.
const Allocation* Allocations::find_draining(std::uint64_t address,
                                             std::uint64_t bytes) const noexcept {
    const auto after = draining_.upper_bound(address);
    if (after == draining_.begin()) {
        return nullptr;
    }
    // Blocks of pools do not overlap, so only those with the nearest base can contain the range.
    const auto [first, last] = draining_.equal_range(std::prev(after)->first);
    const auto found = std::find_if(
        first, last, [&](const auto& each) { return covers(*each.second, address, bytes); });
    return found == last ? nullptr : found->second.get();
}

bool Allocations::covers(const Allocation& allocation, std::uint64_t address,
                         std::uint64_t bytes) noexcept {
    const std::uint64_t offset = address - allocation.base;
    return offset < allocation.bytes && bytes <= allocation.bytes - offset;
}

std::string AllocationNote::to_text() const {
    std::ostringstream out;
    out << name_of(kind) << " #" << id << " of " << bytes << " bytes at 0x" << std::hex << base
        << std::dec;
    if (!name.empty()) {
        out << " (" << name << ")";
    }
    out << ", made by " << made_by.to_text("    ");
    return out.str();
}

std::string Allocations::describe(std::uint64_t address) const {
    const auto place = [&](std::uint64_t bytes, const char* relation) {
        return "\n  " + std::to_string(bytes) + (bytes == 1 ? " byte " : " bytes ") + relation;
    };
    const std::shared_lock lock(mutex_);
    const auto after = by_base_.upper_bound(address);
    const Allocation* const below =
        after == by_base_.begin() ? nullptr : std::prev(after)->second.get();
    if (below != nullptr && below->contains(address)) {
        return place(address - below->base, "into ") + below->to_text();
    }
    // Of several allocations that held the address, report the one that was freed last.
    const auto freed = std::find_if(freed_.rbegin(), freed_.rend(),
                                    [&](const Freed& each) { return each.note.contains(address); });
    if (freed != freed_.rend()) {
        return place(address - freed->note.base, "into ") + freed->note.to_text() +
               "\n    freed by " + freed->freed_by.to_text("      ");
    }
    if (below != nullptr && address - below->base - below->bytes < NEAR_BYTES) {
        return place(address - below->base - below->bytes, "behind ") + below->to_text();
    }
    if (after != by_base_.end() && after->first - address < NEAR_BYTES) {
        return place(after->first - address, "before ") + after->second->to_text();
    }
    return {};
}

/// Keeps what reports need about an allocation that is being removed. The mutex must be held.
void Allocations::remember(const AllocationNote& allocation, const Origin& freed_by) {
    freed_.push_back({allocation, freed_by});
    if (freed_.size() > MAX_FREED) {
        freed_.pop_front();
    }
}

void Allocations::release(const Allocation& allocation) noexcept {
    if (allocation.is_managed()) {
        ManagedAdvice::instance().forget(allocation.id);
    }
    switch (allocation.kind) {
    case MemoryKind::Imported:
        close_imported(allocation);
        break;
    case MemoryKind::External:
        unmap_external(allocation);
        break;
    case MemoryKind::Device:
        if (allocation.file != nullptr) {
            AddressSpace::unmap_file(allocation.base, shared_bytes(allocation.bytes));
        }
        AddressSpace::instance().give_back(allocation.base, allocation.bytes);
        allocation.context->device().refund(allocation.bytes);
        break;
    case MemoryKind::Array:
        AddressSpace::instance().give_back(allocation.base, allocation.bytes);
        allocation.context->device().refund(allocation.bytes);
        break;
    case MemoryKind::Pinned:
    case MemoryKind::Managed:
    case MemoryKind::Heap:
    case MemoryKind::Graphics:
        AddressSpace::instance().give_back(allocation.base, allocation.bytes);
        break;
    case MemoryKind::Registered:
    case MemoryKind::Pooled:
    case MemoryKind::Mapped:
    case MemoryKind::Graph:
        break;
    }
}

} // namespace cuprum::emulator
