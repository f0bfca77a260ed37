// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The memory of the fake driver apart from plain pools: shared pools, host memory, graph memory,
// addresses, managed memory.

#include "support/fake_functions.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

namespace cuprum::testing {

namespace {

FakeDriver& fake() {
    return *active_fake();
}

bool has_context() {
    return FakeDriver::current() != nullptr;
}

std::string place(const CUmemLocation& location) {
    static constexpr std::array NAMES{"nowhere", "device", "host", "node", "current node"};
    const bool has_id = location.type == CU_MEM_LOCATION_TYPE_DEVICE ||
                        location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
    return std::string(NAMES.at(location.type)) + (has_id ? " " + std::to_string(location.id) : "");
}

} // namespace

void add_pool_sharing(driver::Table& table) {
    table.cuMemGetMemPool = [](CUmemoryPool* pool, CUmemLocation*, CUmemAllocationType) {
        *pool = fake().default_pools[0];
        return CUDA_SUCCESS;
    };
    table.cuMemPoolSetAccess = [](CUmemoryPool pool, const CUmemAccessDesc* changes,
                                  std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            fake().pools.at(pool).access[changes[i].location.id] = changes[i].flags;
        }
        return CUDA_SUCCESS;
    };
    table.cuMemPoolGetAccess = [](CUmemAccess_flags* flags, CUmemoryPool pool,
                                  CUmemLocation* location) {
        *flags = location->id == fake().pools.at(pool).device
                     ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                     : fake().pools.at(pool).access[location->id];
        return CUDA_SUCCESS;
    };
    table.cuMemPoolExportToShareableHandle = [](void* handle, CUmemoryPool pool,
                                                CUmemAllocationHandleType, unsigned long long) {
        if (fake().pools.at(pool).handle_types == 0) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        *static_cast<int*>(handle) = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
        return CUDA_SUCCESS;
    };
    table.cuMemPoolImportFromShareableHandle = [](CUmemoryPool* pool, void* handle,
                                                  CUmemAllocationHandleType, unsigned long long) {
        if (::fcntl(static_cast<int>(reinterpret_cast<std::intptr_t>(handle)), F_GETFD) < 0) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        *pool = fake().next_handle<CUmemoryPool>();
        fake().pools[*pool] = {.is_imported = true,
                               .access = {{1, CU_MEM_ACCESS_FLAGS_PROT_READWRITE}}};
        return CUDA_SUCCESS;
    };
    // The exported data is a mark, followed by the address itself.
    table.cuMemPoolExportPointer = [](CUmemPoolPtrExportData* data, CUdeviceptr pointer) {
        std::memset(data, 0x5a, sizeof(*data));
        std::memcpy(data, &pointer, sizeof(pointer));
        return CUDA_SUCCESS;
    };
    table.cuMemPoolImportPointer = [](CUdeviceptr* pointer, CUmemoryPool pool,
                                      CUmemPoolPtrExportData* data) {
        unsigned char mark = 0;
        std::memcpy(&mark, reinterpret_cast<const char*>(data) + sizeof(*pointer), 1);
        if (mark != 0x5a || !fake().pools.at(pool).is_imported || !has_context()) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        *pointer = reinterpret_cast<std::uintptr_t>(fake().next_handle<void*>());
        fake().allocations[*pointer] = 512;
        return CUDA_SUCCESS;
    };
    table.cuPointerGetAttribute = [](void* value, CUpointer_attribute attribute,
                                     CUdeviceptr pointer) {
        const auto found = fake().allocations.find(pointer);
        if (attribute != CU_POINTER_ATTRIBUTE_RANGE_SIZE || found == fake().allocations.end()) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        *static_cast<std::size_t*>(value) = found->second;
        return CUDA_SUCCESS;
    };
}

void add_host_memory(driver::Table& table) {
    table.cuMemAllocHost = [](void** memory, std::size_t bytes) {
        if (!has_context() || bytes > fake().free_bytes) {
            return has_context() ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_CONTEXT;
        }
        *memory = fake().next_handle<void*>();
        fake().host_allocations[reinterpret_cast<std::uintptr_t>(*memory)] = bytes;
        fake().bound[reinterpret_cast<std::uintptr_t>(*memory)] = FakeDriver::current();
        return CUDA_SUCCESS;
    };
    table.cuMemFreeHost = [](void* memory) {
        fake().last_free = {reinterpret_cast<std::uintptr_t>(memory), nullptr,
                            FakeDriver::current()};
        const bool is_known =
            fake().host_allocations.erase(reinterpret_cast<std::uintptr_t>(memory)) != 0;
        return is_known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    };
    table.cuMemHostRegister = [](void* memory, std::size_t bytes, unsigned flags) {
        fake().notes.push_back("register " + std::to_string(flags));
        fake().host_allocations[reinterpret_cast<std::uintptr_t>(memory)] = bytes;
        fake().bound[reinterpret_cast<std::uintptr_t>(memory)] = FakeDriver::current();
        return has_context() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
    };
    table.cuMemHostUnregister = table.cuMemFreeHost.address.load();
    table.cuMemAlloc = [](CUdeviceptr* pointer, std::size_t bytes) {
        if (!has_context() || bytes > fake().free_bytes) {
            return has_context() ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_CONTEXT;
        }
        *pointer = reinterpret_cast<std::uintptr_t>(fake().next_handle<void*>());
        fake().allocations[*pointer] = bytes;
        fake().bound[*pointer] = FakeDriver::current();
        return CUDA_SUCCESS;
    };
    table.cuMemFree = [](CUdeviceptr pointer) {
        fake().last_free = {pointer, nullptr, FakeDriver::current()};
        return fake().allocations.erase(pointer) == 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    };
    table.cuMemAllocAsync = [](CUdeviceptr* pointer, std::size_t bytes, CUstream stream) {
        if (bytes > fake().free_bytes) {
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        *pointer = reinterpret_cast<std::uintptr_t>(fake().next_handle<void*>());
        fake().allocations[*pointer] = bytes;
        return check_stream(stream);
    };
    table.cuDeviceGetGraphMemAttribute = [](CUdevice device, CUgraphMem_attribute name,
                                            void* value) {
        *static_cast<cuuint64_t*>(value) = static_cast<cuuint64_t>(100 * device + name);
        return CUDA_SUCCESS;
    };
    table.cuDeviceSetGraphMemAttribute = [](CUdevice, CUgraphMem_attribute name, void* value) {
        fake().notes.push_back("graph memory " + std::to_string(name) + " = " +
                               std::to_string(*static_cast<cuuint64_t*>(value)));
        return CUDA_SUCCESS;
    };
    table.cuDeviceGraphMemTrim = [](CUdevice) { return CUDA_SUCCESS; };
}

void add_virtual_memory(driver::Table& table) {
    table.cuMemGetAllocationGranularity = [](std::size_t* granularity, const CUmemAllocationProp*,
                                             CUmemAllocationGranularity_flags which) {
        *granularity = which == CU_MEM_ALLOC_GRANULARITY_MINIMUM
                           ? FakeDriver::GRANULARITY_BYTES / 32
                           : FakeDriver::GRANULARITY_BYTES;
        return CUDA_SUCCESS;
    };
    table.cuMemAddressReserve = [](CUdeviceptr* base, std::size_t bytes, std::size_t alignment,
                                   CUdeviceptr hint, unsigned long long) {
        const bool is_free = std::ranges::none_of(fake().reservations, [&](const auto& taken) {
            return taken.first < hint + bytes && hint < taken.first + taken.second;
        });
        if (hint != 0 && is_free && fake().is_hint_honoured) {
            *base = hint;
        } else {
            CUdeviceptr next = 0x100000000;
            for (const auto& [start, size] : fake().reservations) {
                next = std::max(next, start + size + FakeDriver::GRANULARITY_BYTES);
            }
            *base = (next + alignment - 1) / alignment * alignment;
        }
        fake().reservations[*base] = bytes;
        return CUDA_SUCCESS;
    };
    table.cuMemAddressFree = [](CUdeviceptr base, std::size_t bytes) {
        const auto found = fake().reservations.find(base);
        const auto mapped = fake().mappings.lower_bound(base);
        if (found == fake().reservations.end() || found->second != bytes ||
            (mapped != fake().mappings.end() && mapped->first < base + bytes)) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        fake().reservations.erase(found);
        return CUDA_SUCCESS;
    };
    table.cuMemCreate = [](CUmemGenericAllocationHandle* handle, std::size_t bytes,
                           const CUmemAllocationProp* properties, unsigned long long) {
        if (bytes > fake().free_bytes) {
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        *handle = reinterpret_cast<std::uintptr_t>(fake().next_handle<void*>());
        fake().chunks[*handle] = {.size = bytes, .properties = *properties};
        return CUDA_SUCCESS;
    };
    table.cuMemRelease = [](CUmemGenericAllocationHandle handle) {
        auto& chunk = fake().chunks.at(handle);
        chunk.is_released = true;
        if (chunk.mappings == 0) {
            fake().chunks.erase(handle);
        }
        return CUDA_SUCCESS;
    };
    table.cuMemMap = [](CUdeviceptr base, std::size_t bytes, std::size_t,
                        CUmemGenericAllocationHandle handle, unsigned long long) {
        auto& chunk = fake().chunks.at(handle);
        if (chunk.size != bytes || fake().mappings.contains(base)) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        ++chunk.mappings;
        fake().mappings[base] = {.size = bytes, .chunk = handle};
        return CUDA_SUCCESS;
    };
    table.cuMemUnmap = [](CUdeviceptr base, std::size_t bytes) {
        const auto found = fake().mappings.find(base);
        if (found == fake().mappings.end() || found->second.size != bytes) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        auto& chunk = fake().chunks.at(found->second.chunk);
        if (--chunk.mappings == 0 && chunk.is_released) {
            fake().chunks.erase(found->second.chunk);
        }
        fake().mappings.erase(found);
        return CUDA_SUCCESS;
    };
    table.cuMemSetAccess = [](CUdeviceptr base, std::size_t bytes, const CUmemAccessDesc* access,
                              std::size_t count) {
        const auto found = fake().mappings.find(base);
        if (found == fake().mappings.end() || found->second.size != bytes) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        found->second.access.assign(access, access + count);
        return CUDA_SUCCESS;
    };
}

void add_managed_memory(driver::Table& table) {
    table.cuMemAdvise = [](CUdeviceptr pointer, std::size_t, CUmem_advise advice,
                           CUmemLocation location) {
        if (!has_context()) {
            return CUDA_ERROR_INVALID_CONTEXT;
        }
        auto& known = fake().range_attributes[pointer];
        fake().notes.push_back("advise " + std::to_string(advice) + " " + place(location));
        switch (advice) {
        case CU_MEM_ADVISE_SET_READ_MOSTLY:
        case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
            known[CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY] = advice == CU_MEM_ADVISE_SET_READ_MOSTLY;
            break;
        case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
            known[CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE] = location.type;
            known[CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID] = location.id;
            known[CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION] =
                location.type == CU_MEM_LOCATION_TYPE_HOST ? -1 : location.id;
            break;
        case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
            known[CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE] = CU_MEM_LOCATION_TYPE_INVALID;
            known[CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION] = -2;
            break;
        case CU_MEM_ADVISE_SET_ACCESSED_BY:
        case CU_MEM_ADVISE_UNSET_ACCESSED_BY:
            known[1000 + (location.type == CU_MEM_LOCATION_TYPE_HOST ? -1 : location.id)] =
                advice == CU_MEM_ADVISE_SET_ACCESSED_BY;
            break;
        default:
            return CUDA_ERROR_INVALID_VALUE;
        }
        return CUDA_SUCCESS;
    };
    table.cuMemRangeGetAttribute = [](void* value, std::size_t bytes, CUmem_range_attribute name,
                                      CUdeviceptr pointer, std::size_t) {
        auto& known = fake().range_attributes[pointer];
        auto* numbers = static_cast<int*>(value);
        if (fake().version < 13000 && name >= CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE) {
            return CUDA_ERROR_INVALID_VALUE; // older drivers do not know these attributes
        }
        if (name != CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY) {
            *numbers = known[name];
            return CUDA_SUCCESS;
        }
        std::fill_n(numbers, bytes / sizeof(int), -2);
        for (const auto& [key, is_set] : known) {
            if (key >= 999 && is_set != 0) {
                *numbers++ = key - 1000;
            }
        }
        return CUDA_SUCCESS;
    };
    table.cuMemPrefetchAsync = [](CUdeviceptr, std::size_t, CUmemLocation location, unsigned,
                                  CUstream stream) {
        fake().notes.push_back("prefetch " + place(location));
        return check_stream(stream);
    };
    table.cuMemPrefetchBatchAsync = [](CUdeviceptr*, std::size_t*, std::size_t count,
                                       CUmemLocation* locations, std::size_t*, std::size_t places,
                                       unsigned long long, CUstream stream) {
        fake().notes.push_back("prefetch " + std::to_string(count) + " to " +
                               std::to_string(places) + ", first " + place(locations[0]));
        return check_stream(stream);
    };
    table.cuMemDiscardBatchAsync = [](CUdeviceptr*, std::size_t*, std::size_t count,
                                      unsigned long long, CUstream stream) {
        fake().notes.push_back("discard " + std::to_string(count));
        return check_stream(stream);
    };
    table.cuMemDiscardAndPrefetchBatchAsync = [](CUdeviceptr*, std::size_t*, std::size_t count,
                                                 CUmemLocation* locations, std::size_t*,
                                                 std::size_t, unsigned long long, CUstream stream) {
        fake().notes.push_back("discard " + std::to_string(count) + " and prefetch " +
                               place(locations[0]));
        return check_stream(stream);
    };
    table.cuMemcpyBatchAsync = [](CUdeviceptr* to, CUdeviceptr* from, std::size_t*,
                                  std::size_t count, CUmemcpyAttributes* attributes,
                                  std::size_t* starts, std::size_t runs, CUstream stream) {
        for (std::size_t i = 0; i < count; ++i) {
            if (fake().denies_copy(to[i], from[i])) {
                return CUDA_ERROR_INVALID_VALUE;
            }
        }
        std::string note = "copy " + std::to_string(count);
        for (std::size_t i = 0; i < runs; ++i) {
            note += "; from " + std::to_string(starts[i]) + ": order " +
                    std::to_string(attributes[i].srcAccessOrder) + " " +
                    place(attributes[i].srcLocHint) + " to " + place(attributes[i].dstLocHint) +
                    " flags " + std::to_string(attributes[i].flags);
        }
        fake().notes.push_back(note);
        return check_stream(stream);
    };
}

} // namespace cuprum::testing
