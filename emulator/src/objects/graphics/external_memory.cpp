// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/graphics/external_memory.hpp"

#include "check/written.hpp"
#include "objects/devices/device.hpp"
#include "objects/memory/address_space.hpp"
#include "objects/memory/host_pages.hpp"
#include "objects/process/error.hpp"
#include "objects/process/shared_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>

namespace cuprum::emulator {

namespace {

const char* name_of(CUexternalMemoryHandleType type) {
    switch (type) {
    case CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32:
        return "OPAQUE_WIN32";
    case CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_WIN32_KMT:
        return "OPAQUE_WIN32_KMT";
    case CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_HEAP:
        return "D3D12_HEAP";
    case CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_RESOURCE:
        return "D3D12_RESOURCE";
    case CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D11_RESOURCE:
        return "D3D11_RESOURCE";
    case CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D11_RESOURCE_KMT:
        return "D3D11_RESOURCE_KMT";
    case CU_EXTERNAL_MEMORY_HANDLE_TYPE_NVSCIBUF:
        return "NVSCIBUF";
    default:
        return nullptr;
    }
}

void check_description(const CUDA_EXTERNAL_MEMORY_HANDLE_DESC& description) {
    if (description.type != CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD &&
        description.type != CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD) {
        const char* const name = name_of(description.type);
        require(name != nullptr, "unknown type of handle");
        const bool is_resource =
            description.type >= CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_RESOURCE &&
            description.type <= CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D11_RESOURCE_KMT;
        require(!is_resource || (description.flags & CUDA_EXTERNAL_MEMORY_DEDICATED) != 0,
                "resources of Direct3D need the flag CUDA_EXTERNAL_MEMORY_DEDICATED");
        fail(CUDA_ERROR_NOT_SUPPORTED, std::string("memory of type ") + name +
                                           " cannot be imported: the emulated device imports "
                                           "OPAQUE_FD and DMABUF_FD");
    }
    const bool is_opaque = description.type == CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
    const unsigned known = is_opaque ? CUDA_EXTERNAL_MEMORY_DEDICATED : 0;
    require((description.flags & ~known) == 0, "unknown flags");
    require_zero(description.reserved);
    require(description.size != 0, "the size must not be 0");
}

/// Returns whether a descriptor is memory of an emulated device, made by cuMemCreate.
std::optional<std::uint64_t> bytes_of_emulated(int descriptor) {
    try {
        return SharedFile::adopt(descriptor, SharedKind::Physical)->header().bytes;
    } catch (const DriverError&) {
        return std::nullopt;
    }
}

/// Where the data of Mesa's Vulkan for the CPU, lavapipe, lie in the file that it exports. The file
/// begins with its own length and with the offset of the data.
///
/// Returns nothing if the file is not one of those.
std::optional<std::uint64_t> begin_of_lavapipe(int descriptor) {
    const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
    char target[128] = {};
    const ssize_t length = ::readlink(link.c_str(), target, sizeof target - 1);
    if (length <= 0 || !std::string_view(target).starts_with("/memfd:llvmpipe memory fd")) {
        return std::nullopt;
    }
    std::uint64_t header[2] = {};
    struct stat status{};
    const bool is_known =
        ::pread(descriptor, header, sizeof header, 0) == static_cast<ssize_t>(sizeof header) &&
        ::fstat(descriptor, &status) == 0 &&
        header[0] == static_cast<std::uint64_t>(status.st_size) && header[1] < header[0];
    if (!is_known) {
        fail(CUDA_ERROR_NOT_SUPPORTED,
             "the memory is that of Mesa's lavapipe, in a layout that the emulated device does not "
             "know");
    }
    return header[1];
}

/// Returns the length of the file behind a descriptor; 0 if it has none.
std::uint64_t length_of(int descriptor) {
    struct stat status{};
    if (::fstat(descriptor, &status) != 0) {
        return 0;
    }
    if (status.st_size > 0) {
        return static_cast<std::uint64_t>(status.st_size);
    }
    // The length of a DMA-BUF is known by seeking only.
    const off_t before = ::lseek(descriptor, 0, SEEK_CUR);
    const off_t end = ::lseek(descriptor, 0, SEEK_END);
    if (before >= 0) {
        ::lseek(descriptor, before, SEEK_SET);
    }
    return end > 0 ? static_cast<std::uint64_t>(end) : 0;
}

/// Throws unless the process can map a file for reading and writing.
void check_mappable(int descriptor) {
    void* const page =
        ::mmap(nullptr, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (page == MAP_FAILED) {
        fail(CUDA_ERROR_NOT_SUPPORTED,
             "the memory cannot be mapped into this process; the emulated device can import only "
             "memory that a CPU can map: of emulated devices, of memfd_create, and of DMA-BUFs "
             "that allow it");
    }
    ::munmap(page, PAGE_BYTES);
}

} // namespace

ExternalMemory::ExternalMemory(std::shared_ptr<Context> context,
                               const CUDA_EXTERNAL_MEMORY_HANDLE_DESC& description)
    : context_(std::move(context)), bytes_(description.size) {
    check_description(description);
    const int descriptor = description.handle.fd;
    if (descriptor < 0 || ::fcntl(descriptor, F_GETFD) < 0) {
        fail(CUDA_ERROR_INVALID_VALUE,
             "descriptor " + std::to_string(descriptor) + " is not open in this process");
    }
    std::uint64_t available = 0;
    if (const auto emulated = bytes_of_emulated(descriptor)) {
        available = *emulated;
        begin_ = SharedFile::DATA_OFFSET;
    } else {
        check_mappable(descriptor);
        available = length_of(descriptor);
        if (const auto begin = begin_of_lavapipe(descriptor)) {
            begin_ = *begin;
            available -= begin_;
        }
        // An access past the end of a file that became shorter would end the process. Files that
        // allow it are sealed against that; of others the exporter must take care.
        (void)::fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK);
    }
    if (bytes_ > available) {
        fail(CUDA_ERROR_INVALID_VALUE, "the size is " + std::to_string(bytes_) +
                                           ", but the memory has " + std::to_string(available) +
                                           " bytes");
    }
    descriptor_ = descriptor; // last: from here on it is ours
}

ExternalMemory::~ExternalMemory() {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
}

std::shared_ptr<Allocation> ExternalMemory::map(std::uint64_t offset, std::uint64_t bytes) const {
    if (bytes == 0 || offset > bytes_ || bytes > bytes_ - offset) {
        fail(CUDA_ERROR_INVALID_VALUE, "the buffer has " + std::to_string(bytes) +
                                           " bytes from offset " + std::to_string(offset) +
                                           ", but the memory has " + std::to_string(bytes_));
    }
    const std::uint64_t place = begin_ + offset;
    const std::uint64_t first = place / PAGE_BYTES * PAGE_BYTES;
    const std::uint64_t mapped = (place + bytes - first + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    const std::uint64_t base = AddressSpace::instance().take(mapped);
    auto allocation = std::make_shared<Allocation>();
    allocation->base = base + (place - first);
    allocation->bytes = bytes;
    allocation->kind = MemoryKind::External;
    allocation->device = context_->device().ordinal();
    allocation->context = context_;
    try {
        AddressSpace::map_file(base, mapped, descriptor_, first);
        Allocations::instance().add(allocation);
    } catch (...) {
        unmap_external(*allocation);
        throw;
    }
    Allocations::open(*allocation);
    // Others write it, and its contents are theirs.
    check::mark_written(AddressSpace::instance().map(), allocation->base, bytes);
    return allocation;
}

void unmap_external(const Allocation& allocation) noexcept {
    const std::uint64_t base = allocation.base / PAGE_BYTES * PAGE_BYTES;
    const std::uint64_t end = allocation.base + allocation.bytes;
    const std::uint64_t mapped = (end - base + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    AddressSpace::unmap_file(base, mapped);
    AddressSpace::instance().give_back(base, mapped);
}

} // namespace cuprum::emulator
