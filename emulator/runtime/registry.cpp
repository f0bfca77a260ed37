// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "registry.hpp"

#include <cstdint>
#include <cstring>
#include <utility>

namespace cuprum::runtime {

namespace {

/// The structure that nvcc puts around a fat binary in host code.
struct Wrapper {
    int magic;
    int version;
    const void* data;
    void* const* parts; // version 2: list of fat binaries; version 1: a file name, unused
};

constexpr int VERSION_WITH_PARTS = 2;

std::vector<const void*> images_with_ptx(void* const* list);
CUresult link(const std::vector<const void*>& images, CUlibrary* library);

} // namespace

// ---- FatBinary ---------------------------------------------------------------------------------

FatBinary::~FatBinary() {
    unload();
}

void FatBinary::unload() {
    const std::lock_guard lock(mutex_);
    if (library_ != nullptr) {
        cuLibraryUnload(library_); // may fail: the driver may already be gone
        library_ = nullptr;
    }
    is_loaded_ = true;
    status_ = cudaErrorCudartUnloading;
}

cudaError_t FatBinary::library(CUlibrary* result) {
    const std::lock_guard lock(mutex_);
    if (!is_loaded_) {
        status_ = load();
        is_loaded_ = true;
    }
    *result = library_;
    return status_;
}

void FatBinary::add_managed(void** host, std::string name) {
    managed_.push_back({host, std::move(name)});
}

cudaError_t FatBinary::publish_managed() {
    CUlibrary loaded = nullptr;
    return managed_.empty() ? cudaSuccess : library(&loaded);
}

cudaError_t FatBinary::load() {
    const auto* wrapper = static_cast<const Wrapper*>(wrapper_);
    // With -rdc=true, nvcc links machine code but not PTX. Fat binaries with PTX come as a list
    // that ends with NULL and are linked when they are loaded.
    std::vector<const void*> parts;
    if (wrapper->version == VERSION_WITH_PARTS) {
        parts = images_with_ptx(wrapper->parts);
    }
    CUresult status = !parts.empty() ? link(parts, &library_)
                                     : cuLibraryLoadData(&library_, wrapper->data, nullptr, nullptr,
                                                         0, nullptr, nullptr, 0);
    for (const Managed& each : managed_) {
        if (status != CUDA_SUCCESS) {
            break;
        }
        CUdeviceptr where = 0;
        std::size_t size = 0;
        status = cuLibraryGetManaged(&where, &size, library_, each.name.c_str());
        *each.host = pointer(where);
    }
    return as_error(status);
}

// ---- Registry ----------------------------------------------------------------------------------

Registry& Registry::instance() {
    static auto* const registry = new Registry;
    return *registry;
}

void Registry::unload_all() {
    const std::lock_guard lock(mutex_);
    for (auto& [host, kernel] : kernels_) {
        kernel.handle = nullptr;
    }
    for (const auto& binary : binaries_) {
        binary->unload();
    }
}

FatBinary* Registry::add(const void* wrapper) {
    const std::lock_guard lock(mutex_);
    return binaries_.emplace_back(std::make_unique<FatBinary>(wrapper)).get();
}

void Registry::remove(FatBinary* binary) {
    const std::lock_guard lock(mutex_);
    const auto is_of_it = [&](const auto& entry) { return entry.second.binary == binary; };
    std::erase_if(kernels_, is_of_it);
    std::erase_if(variables_, is_of_it);
    std::erase_if(binaries_, [&](const auto& each) { return each.get() == binary; });
}

void Registry::add_kernel(FatBinary* binary, const void* host, std::string name) {
    const std::lock_guard lock(mutex_);
    kernels_.insert_or_assign(host, Kernel{binary, std::move(name)});
}

void Registry::add_variable(FatBinary* binary, const void* host, std::string name, std::size_t size,
                            bool is_managed) {
    const std::lock_guard lock(mutex_);
    variables_.insert_or_assign(host, Variable{binary, std::move(name), size, is_managed});
}

cudaError_t Registry::kernel(const void* host, CUkernel* result) {
    const std::lock_guard lock(mutex_);
    const auto found = kernels_.find(host);
    if (found == kernels_.end()) {
        return cudaErrorInvalidDeviceFunction;
    }
    Kernel& kernel = found->second;
    if (kernel.handle == nullptr) {
        CUlibrary library = nullptr;
        if (const cudaError_t status = kernel.binary->library(&library); status != cudaSuccess) {
            return status;
        }
        if (cuLibraryGetKernel(&kernel.handle, library, kernel.name.c_str()) != CUDA_SUCCESS) {
            return cudaErrorInvalidDeviceFunction;
        }
    }
    *result = kernel.handle;
    return cudaSuccess;
}

const void* Registry::host_of(CUfunction function) {
    const std::lock_guard lock(mutex_);
    for (const auto& [host, kernel] : kernels_) {
        CUfunction each = nullptr;
        if (kernel.handle != nullptr && cuKernelGetFunction(&each, kernel.handle) == CUDA_SUCCESS &&
            each == function) {
            return host;
        }
    }
    return function;
}

cudaError_t Registry::variable(const void* host, CUdeviceptr* result, std::size_t* size) {
    const std::lock_guard lock(mutex_);
    const auto found = variables_.find(host);
    if (found == variables_.end()) {
        return cudaErrorInvalidSymbol;
    }
    const Variable& variable = found->second;
    CUlibrary library = nullptr;
    if (const cudaError_t status = variable.binary->library(&library); status != cudaSuccess) {
        return status;
    }
    const auto get = variable.is_managed ? &cuLibraryGetManaged : &cuLibraryGetGlobal;
    const CUresult status = get(result, size, library, variable.name.c_str());
    return status == CUDA_ERROR_NOT_FOUND ? cudaErrorInvalidSymbol : as_error(status);
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

/// The beginning of a fat binary's header, up to its size.
struct Header {
    std::uint32_t magic;
    std::uint16_t version;
    std::uint16_t header_bytes;
    std::uint64_t payload_bytes;
};

/// The beginning of the header of each entry in a fat binary.
struct EntryHeader {
    std::uint16_t kind;
    std::uint16_t version;
    std::uint32_t header_bytes;
    std::uint64_t payload_bytes;
    std::uint32_t compressed_bytes;
    std::uint32_t reserved;
    std::uint32_t ptx_version;
    std::uint32_t architecture; // 90 for compute_90
};

constexpr std::uint32_t FAT_BINARY_MAGIC = 0xBA55ED50;
constexpr std::uint16_t PTX_KIND = 1;

template <typename Type>
Type read_at(const void* image, std::size_t offset) {
    Type value{};
    std::memcpy(&value, static_cast<const char*>(image) + offset, sizeof value);
    return value;
}

std::size_t fat_binary_bytes(const void* image) {
    const auto header = read_at<Header>(image, 0);
    return header.header_bytes + header.payload_bytes;
}

std::uint32_t architecture_of_device() {
    int device = 0;
    int major = 0;
    int minor = 0;
    if (current_device(&device) == cudaSuccess) {
        cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
        cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
    }
    return static_cast<std::uint32_t>(major * 10 + minor);
}

/// Returns whether a fat binary contains PTX that the current device can run.
bool has_ptx(const void* image, std::uint32_t architecture) {
    const auto header = read_at<Header>(image, 0);
    if (header.magic != FAT_BINARY_MAGIC) {
        return false;
    }
    const std::size_t end = fat_binary_bytes(image);
    for (std::size_t offset = header.header_bytes; offset + sizeof(EntryHeader) <= end;) {
        const auto entry = read_at<EntryHeader>(image, offset);
        if (entry.kind == PTX_KIND && entry.architecture <= architecture) {
            return true;
        }
        if (entry.header_bytes < sizeof(EntryHeader)) {
            return false;
        }
        offset += entry.header_bytes + entry.payload_bytes;
    }
    return false;
}

/// Returns the fat binaries of a list that contain PTX. nvcc always lists libcudadevrt, which is
/// machine code. If a program needs it, the linker will name what is missing.
std::vector<const void*> images_with_ptx(void* const* list) {
    const std::uint32_t architecture = architecture_of_device();
    std::vector<const void*> result;
    for (; list != nullptr && *list != nullptr; ++list) {
        if (has_ptx(*list, architecture)) {
            result.push_back(*list);
        }
    }
    return result;
}

CUresult link(const std::vector<const void*>& images, CUlibrary* library) {
    CUlinkState state = nullptr;
    CUresult status = cuLinkCreate(0, nullptr, nullptr, &state);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    for (const void* image : images) {
        status = cuLinkAddData(state, CU_JIT_INPUT_FATBINARY, const_cast<void*>(image),
                               fat_binary_bytes(image), nullptr, 0, nullptr, nullptr);
        if (status != CUDA_SUCCESS) {
            break;
        }
    }
    void* linked = nullptr;
    std::size_t size = 0;
    if (status == CUDA_SUCCESS) {
        status = cuLinkComplete(state, &linked, &size);
    }
    if (status == CUDA_SUCCESS) {
        status = cuLibraryLoadData(library, linked, nullptr, nullptr, 0, nullptr, nullptr, 0);
    }
    cuLinkDestroy(state);
    return status;
}

} // namespace

} // namespace cuprum::runtime
