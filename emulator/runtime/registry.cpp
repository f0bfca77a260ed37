// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "registry.hpp"

#include <pthread.h>

#include <cstdint>
#include <cstring>
#include <new>
#include <optional>
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

cudaError_t load(const void* wrapped, const std::vector<FatBinary::Managed>& managed,
                 CUlibrary* library) {
    const auto* wrapper = static_cast<const Wrapper*>(wrapped);
    // With -rdc=true, nvcc links machine code but not PTX. Fat binaries with PTX come as a list
    // that ends with NULL and are linked when they are loaded.
    std::vector<const void*> parts;
    if (wrapper->version == VERSION_WITH_PARTS) {
        parts = images_with_ptx(wrapper->parts);
    }
    CUresult status = !parts.empty() ? link(parts, library)
                                     : cuLibraryLoadData(library, wrapper->data, nullptr, nullptr,
                                                         0, nullptr, nullptr, 0);
    for (const FatBinary::Managed& each : managed) {
        if (status != CUDA_SUCCESS) {
            break;
        }
        CUdeviceptr where = 0;
        std::size_t size = 0;
        status = cuLibraryGetManaged(&where, &size, *library, each.name.c_str());
        *each.host = pointer(where);
    }
    return as_error(status);
}

/// Removes the entry of a host address, unless another binary has replaced it.
template <typename Table, typename Binary>
void erase_of(Table& table, const void* host, const Binary& binary) {
    if (const auto found = table.find(host);
        found != table.end() && found->second.binary == binary) {
        table.erase(found);
    }
}

/// Unloads a library, if there is one. May fail: the driver may already be gone.
void unload(CUlibrary library) {
    if (library != nullptr) {
        (void)cuLibraryUnload(library);
    }
}

} // namespace

Registry& Registry::instance() {
    static auto* const registry = new Registry;
    return *registry;
}

Registry::Registry() {
    (void)::pthread_atfork([] { instance().mutex_.lock(); }, [] { instance().mutex_.unlock(); },
                           [] { instance().begin_anew_in_child(); });
}

/// Only the thread that forks lives on in a child: those that load, or wait for that, do not.
void Registry::begin_anew_in_child() noexcept {
    ::new (&loaded_) std::condition_variable;
    for (const auto& [handle, binary] : binaries_) {
        if (binary->state == FatBinary::State::Loading) {
            binary->state = FatBinary::State::Fresh;
        }
    }
    mutex_.unlock();
}

void Registry::unload_all() {
    std::vector<CUlibrary> doomed;
    {
        const std::lock_guard lock(mutex_);
        for (auto& [host, kernel] : kernels_) {
            kernel.handle = nullptr;
        }
        for (const auto& [handle, binary] : binaries_) {
            doomed.push_back(close(*binary));
        }
    }
    for (const CUlibrary each : doomed) {
        unload(each);
    }
}

CUlibrary Registry::close(FatBinary& binary) {
    binary.state = FatBinary::State::Loaded;
    binary.status = cudaErrorCudartUnloading;
    loaded_.notify_all();
    return std::exchange(binary.library, nullptr);
}

FatBinary* Registry::add(const void* wrapper) {
    auto binary = std::make_shared<FatBinary>();
    binary->wrapper = wrapper;
    FatBinary* const handle = binary.get();
    const std::lock_guard lock(mutex_);
    binaries_.emplace(handle, std::move(binary));
    return handle;
}

Registry::Binary Registry::share_of(const FatBinary* binary) const {
    const auto found = binaries_.find(binary);
    return found != binaries_.end() ? found->second : nullptr;
}

void Registry::remove(FatBinary* binary) {
    CUlibrary doomed = nullptr;
    {
        const std::lock_guard lock(mutex_);
        const Binary share = share_of(binary);
        if (share == nullptr) {
            return;
        }
        for (const void* host : share->hosts) {
            erase_of(kernels_, host, share);
            erase_of(variables_, host, share);
        }
        binaries_.erase(binary);
        doomed = close(*share);
    }
    unload(doomed);
}

void Registry::add_kernel(FatBinary* binary, const void* host, std::string name) {
    const std::lock_guard lock(mutex_);
    binary->hosts.push_back(host);
    kernels_.insert_or_assign(host, Kernel{share_of(binary), std::move(name)});
}

void Registry::add_variable(FatBinary* binary, const void* host, std::string name,
                            std::size_t size) {
    const std::lock_guard lock(mutex_);
    binary->hosts.push_back(host);
    variables_.insert_or_assign(host, Variable{share_of(binary), std::move(name), size, false});
}

void Registry::add_managed(FatBinary* binary, void** host, const std::string& name,
                           std::size_t size) {
    const std::lock_guard lock(mutex_);
    binary->managed.push_back({host, name});
    binary->hosts.push_back(host);
    variables_.insert_or_assign(host, Variable{share_of(binary), name, size, true});
}

cudaError_t Registry::publish_managed(FatBinary* binary) {
    Binary share;
    {
        const std::lock_guard lock(mutex_);
        share = share_of(binary);
    }
    CUlibrary loaded = nullptr;
    return share == nullptr || share->managed.empty() ? cudaSuccess : library(share, &loaded);
}

cudaError_t Registry::library(const Binary& binary, CUlibrary* result) {
    using State = FatBinary::State;
    std::unique_lock lock(mutex_);
    if (binary->state == State::Loading && binary->loader == std::this_thread::get_id()) {
        return cudaErrorNotPermitted; // a log callback uses the code whose loading it was told of
    }
    loaded_.wait(lock, [&] { return binary->state != State::Loading; });
    if (binary->state == State::Fresh) {
        binary->state = State::Loading;
        binary->loader = std::this_thread::get_id();
        const std::vector<FatBinary::Managed> managed = binary->managed;
        lock.unlock();
        CUlibrary loaded = nullptr;
        const cudaError_t status = load(binary->wrapper, managed, &loaded);
        lock.lock();
        if (binary->state != State::Loading) { // it was closed in the meantime
            lock.unlock();
            unload(loaded);
            return cudaErrorCudartUnloading;
        }
        binary->state = State::Loaded;
        binary->library = loaded;
        binary->status = status;
        loaded_.notify_all();
    }
    *result = binary->library;
    return binary->status;
}

cudaError_t Registry::kernel(const void* host, CUkernel* result) {
    Binary binary;
    std::string name;
    {
        const std::lock_guard lock(mutex_);
        const auto found = kernels_.find(host);
        if (found == kernels_.end()) {
            return cudaErrorInvalidDeviceFunction;
        }
        const Kernel& kernel = found->second;
        if (kernel.handle != nullptr) {
            *result = kernel.handle;
            return cudaSuccess;
        }
        binary = kernel.binary;
        name = kernel.name;
    }
    CUlibrary code = nullptr;
    if (const cudaError_t status = library(binary, &code); status != cudaSuccess) {
        return status;
    }
    if (cuLibraryGetKernel(result, code, name.c_str()) != CUDA_SUCCESS) {
        return cudaErrorInvalidDeviceFunction;
    }
    const std::lock_guard lock(mutex_);
    const auto found = kernels_.find(host);
    if (found != kernels_.end() && found->second.binary == binary && binary->library == code) {
        found->second.handle = *result;
    }
    return cudaSuccess;
}

const void* Registry::host_of(CUfunction function) {
    std::vector<std::pair<const void*, CUkernel>> known;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [host, kernel] : kernels_) {
            if (kernel.handle != nullptr) {
                known.emplace_back(host, kernel.handle);
            }
        }
    }
    for (const auto& [host, kernel] : known) {
        CUfunction each = nullptr;
        if (cuKernelGetFunction(&each, kernel) == CUDA_SUCCESS && each == function) {
            return host;
        }
    }
    return function;
}

cudaError_t Registry::variable(const void* host, CUdeviceptr* result, std::size_t* size) {
    std::optional<Variable> variable;
    {
        const std::lock_guard lock(mutex_);
        const auto found = variables_.find(host);
        if (found == variables_.end()) {
            return cudaErrorInvalidSymbol;
        }
        variable = found->second;
    }
    CUlibrary code = nullptr;
    if (const cudaError_t status = library(variable->binary, &code); status != cudaSuccess) {
        return status;
    }
    const auto get = variable->is_managed ? &cuLibraryGetManaged : &cuLibraryGetGlobal;
    const CUresult status = get(result, size, code, variable->name.c_str());
    return status == CUDA_ERROR_NOT_FOUND ? cudaErrorInvalidSymbol : as_error(status);
}

} // namespace cuprum::runtime
