// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/memory/ipc_memory.hpp"

#include "check/written.hpp"
#include "objects/devices/device.hpp"
#include "objects/memory/address_space.hpp"
#include "objects/memory/host_pages.hpp"
#include "objects/memory/memory_gate.hpp"
#include "objects/memory/shared_location.hpp"
#include "objects/process/error.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <sys/mman.h>

namespace cuprum::emulator {

namespace {

constexpr auto LONGEST_WAIT = std::chrono::milliseconds(10'000);

struct Import {
    std::uint64_t base = 0;
    std::uint32_t uses = 0;
};

std::mutex imports_mutex;

std::map<SharedToken, Import>& imports() {
    static auto* all = new std::map<SharedToken, Import>;
    return *all;
}

/// Moves the contents of an allocation into a shared file and maps the file there. Nothing else may
/// run meanwhile.
void move_to_file(Allocation& allocation) {
    SharedHeader about;
    about.kind = SharedKind::Memory;
    about.bytes = shared_bytes(allocation.bytes);
    put_location(about, {CU_MEM_LOCATION_TYPE_DEVICE, allocation.device});
    about.allocation_type = CU_MEM_ALLOCATION_TYPE_PINNED;
    auto file = SharedFile::create(about);
    void* copy = ::mmap(nullptr, about.bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                        file->descriptor(), static_cast<off_t>(SharedFile::DATA_OFFSET));
    if (copy == MAP_FAILED) {
        fail(CUDA_ERROR_MAP_FAILED, "the system refused to map the memory");
    }
    std::memcpy(copy, reinterpret_cast<const void*>(allocation.base), allocation.bytes);
    ::munmap(copy, about.bytes);
    AddressSpace::map_file(allocation.base, about.bytes, file->descriptor(),
                           SharedFile::DATA_OFFSET);
    // From now on other processes may write it.
    check::mark_written(AddressSpace::instance().map(), allocation.base, allocation.bytes);
    allocation.file = std::move(file);
}

/// Returns the memory of an import, or nullptr if it has been freed.
std::shared_ptr<Allocation> find_import(const SharedToken& token, const Import& import) {
    auto allocation = Allocations::instance().find(import.base);
    const bool is_it = allocation != nullptr && allocation->kind == MemoryKind::Imported &&
                       allocation->file->header().token == token;
    return is_it ? allocation : nullptr;
}

} // namespace

std::uint64_t shared_bytes(std::uint64_t bytes) noexcept {
    return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

SharedAddress export_memory(const std::shared_ptr<Allocation>& allocation) {
    MemoryGate::instance().run_alone(
        [&] {
            if (allocation->file == nullptr) {
                move_to_file(*allocation);
            }
        },
        LONGEST_WAIT);
    SharedAddress address = allocation->file->address();
    address.bytes = allocation->bytes;
    return address;
}

std::shared_ptr<Allocation> open_memory(const SharedAddress& address,
                                        const std::shared_ptr<Context>& context) {
    if (address.process == ::getpid()) {
        fail(CUDA_ERROR_INVALID_CONTEXT, "the handle was made by this very process");
    }
    const std::lock_guard lock(imports_mutex);
    // Contexts that opened the memory may have been destroyed, and the memory with them.
    static std::size_t next_sweep = 16;
    if (imports().size() >= next_sweep) {
        std::erase_if(imports(), [](const auto& entry) {
            return find_import(entry.first, entry.second) == nullptr;
        });
        next_sweep = std::max<std::size_t>(16, imports().size() * 2);
    }
    if (const auto found = imports().find(address.token); found != imports().end()) {
        if (auto allocation = find_import(address.token, found->second)) {
            // The context may belong to a device that has not opened the memory yet.
            AddressSpace::instance().set_permission(context->device().ordinal(), allocation->base,
                                                    allocation->bytes, Permission::ReadWrite);
            ++found->second.uses;
            return allocation;
        }
    }
    auto file = SharedFile::open(address);
    const SharedHeader& about = file->header();
    if (about.kind != SharedKind::Memory || address.bytes == 0 || address.bytes > about.bytes ||
        about.location_type != CU_MEM_LOCATION_TYPE_DEVICE) {
        fail(CUDA_ERROR_INVALID_HANDLE, "not the handle of memory, or its size is wrong");
    }
    auto allocation = std::make_shared<Allocation>();
    allocation->device = location_of(about).id; // may throw
    allocation->base = AddressSpace::instance().take(address.bytes);
    allocation->bytes = address.bytes;
    allocation->kind = MemoryKind::Imported;
    allocation->context = context;
    allocation->file = std::move(file);
    try {
        AddressSpace::map_file(allocation->base, shared_bytes(address.bytes),
                               allocation->file->descriptor(), SharedFile::DATA_OFFSET);
        Allocations::instance().add(allocation);
    } catch (...) {
        AddressSpace::unmap_file(allocation->base, shared_bytes(address.bytes));
        AddressSpace::instance().give_back(allocation->base, allocation->bytes);
        throw;
    }
    Allocations::open(*allocation);
    // Opening the memory also gives the context's device access to it.
    AddressSpace::instance().set_permission(context->device().ordinal(), allocation->base,
                                            allocation->bytes, Permission::ReadWrite);
    imports()[address.token] = {allocation->base, 1};
    return allocation;
}

void close_memory(std::uint64_t base) {
    const std::lock_guard lock(imports_mutex);
    const auto allocation = Allocations::instance().find(base);
    require(allocation != nullptr && allocation->base == base &&
                allocation->kind == MemoryKind::Imported,
            "not the start of memory that cuIpcOpenMemHandle returned, or it was closed before");
    const auto found = imports().find(allocation->file->header().token);
    if (found != imports().end() && --found->second.uses != 0) {
        return;
    }
    if (found != imports().end()) {
        imports().erase(found);
    }
    Allocations::instance().remove(base, {MemoryKind::Imported});
}

void close_imported(const Allocation& allocation) noexcept {
    AddressSpace::unmap_file(allocation.base, shared_bytes(allocation.bytes));
    AddressSpace::instance().give_back(allocation.base, allocation.bytes);
}

} // namespace cuprum::emulator
