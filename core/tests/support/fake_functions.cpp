// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/fake_functions.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

namespace cuprum::testing {

namespace {

template <auto Member>
struct Unknown;

template <typename... Params, driver::Entry<CUresult(Params...)> driver::Table::* Member>
struct Unknown<Member> {
    static CUresult call(Params...) { return CUDA_ERROR_NOT_SUPPORTED; }
};

FakeDriver& fake() {
    return *active_fake();
}

bool is_token(CUstream stream) {
    return stream == nullptr || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
}

/// Returns the calling thread's stream capture mode.
CUstreamCaptureMode& capture_mode() {
    thread_local CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    return mode;
}

/// Makes the checks of every call with a stream.
CUresult check(CUstream stream) {
    if (is_token(stream)) {
        return context_stack().empty() ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
    }
    const auto place = fake().streams.find(stream);
    if (place == fake().streams.end()) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    const bool is_refused = fake().wants_current && place->second.context != FakeDriver::current();
    return is_refused ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
}

template <typename Map, typename Key, typename Use>
CUresult with(Map& map, const Key& key, Use use) {
    const auto place = map.find(key);
    return place == map.end() ? CUDA_ERROR_INVALID_HANDLE : use(place->second);
}

/// Calls the enqueued host functions of a stream.
void run_host_calls(CUstream stream) {
    std::erase_if(fake().host_calls, [&](const FakeDriver::HostCall& host_call) {
        if (host_call.stream == stream) {
            host_call.function(host_call.data);
        }
        return host_call.stream == stream;
    });
}

void add_devices(driver::Table& table) {
    table.cuInit = [](unsigned) { return CUDA_SUCCESS; };
    table.cuDriverGetVersion = [](int* version) {
        *version = fake().version;
        return CUDA_SUCCESS;
    };
    table.cuDeviceGetCount = [](int* count) {
        *count = FakeDriver::DEVICE_COUNT;
        return CUDA_SUCCESS;
    };
    table.cuDeviceGet = [](CUdevice* device, int ordinal) {
        *device = ordinal;
        return CUDA_SUCCESS;
    };
    table.cuDeviceGetName = [](char* name, int size, CUdevice device) {
        std::snprintf(name, static_cast<std::size_t>(size), "Fake %d", device);
        return CUDA_SUCCESS;
    };
    table.cuDeviceGetUuid = [](CUuuid* uuid, CUdevice device) {
        for (int i = 0; i < 16; ++i) {
            uuid->bytes[i] = static_cast<char>(0xa0 + i + device);
        }
        return CUDA_SUCCESS;
    };
    table.cuDeviceGetPCIBusId = [](char* text, int size, CUdevice device) {
        std::snprintf(text, static_cast<std::size_t>(size), "0000:%02x:00.0", device + 1);
        return CUDA_SUCCESS;
    };
    table.cuDeviceGetAttribute = [](int* value, CUdevice_attribute attribute, CUdevice) {
        if (attribute == CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED) {
            return CUDA_ERROR_INVALID_VALUE; // pretend that the attribute is newer than the driver
        }
        if (const auto known = fake().device_attributes.find(attribute);
            known != fake().device_attributes.end()) {
            *value = known->second;
            return CUDA_SUCCESS;
        }
        *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR
                     ? 0
                     : static_cast<int>(attribute);
        return CUDA_SUCCESS;
    };
    table.cuDeviceCanAccessPeer = [](int* is_possible, CUdevice, CUdevice) {
        *is_possible = 1;
        return CUDA_SUCCESS;
    };
}

void add_contexts(driver::Table& table) {
    table.cuDevicePrimaryCtxRetain = [](CUcontext* context, CUdevice device) {
        const auto index = static_cast<std::size_t>(device);
        ++fake().primary_shares[index];
        *context = fake().primaries[index];
        return CUDA_SUCCESS;
    };
    table.cuDevicePrimaryCtxRelease = [](CUdevice device) {
        --fake().primary_shares[static_cast<std::size_t>(device)];
        return CUDA_SUCCESS;
    };
    table.cuDevicePrimaryCtxGetState = [](CUdevice device, unsigned* flags, int* is_active) {
        *flags = fake().primary_flags[static_cast<std::size_t>(device)];
        *is_active = fake().primary_shares[static_cast<std::size_t>(device)] > 0 ? 1 : 0;
        return CUDA_SUCCESS;
    };
    table.cuCtxGetCurrent = [](CUcontext* context) {
        *context = FakeDriver::current();
        return CUDA_SUCCESS;
    };
    table.cuCtxSetCurrent = [](CUcontext context) {
        if (!context_stack().empty()) {
            context_stack().pop_back();
        }
        context_stack().push_back(context);
        return CUDA_SUCCESS;
    };
    table.cuCtxPushCurrent = [](CUcontext context) {
        if (fake().contexts.count(context) == 0) {
            return CUDA_ERROR_INVALID_CONTEXT;
        }
        context_stack().push_back(context);
        return CUDA_SUCCESS;
    };
    table.cuCtxPopCurrent = [](CUcontext* context) {
        if (context_stack().empty()) {
            return CUDA_ERROR_INVALID_CONTEXT;
        }
        *context = context_stack().back();
        context_stack().pop_back();
        return CUDA_SUCCESS;
    };
    table.cuCtxGetDevice = [](CUdevice* device) {
        if (context_stack().empty()) {
            return CUDA_ERROR_INVALID_CONTEXT;
        }
        *device = fake().contexts.at(FakeDriver::current());
        return CUDA_SUCCESS;
    };
    table.cuCtxSynchronize = []() {
        return context_stack().empty() ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
    };
    table.cuCtxGetStreamPriorityRange = [](int* lowest, int* highest) {
        *lowest = FakeDriver::LOWEST_PRIORITY;
        *highest = FakeDriver::HIGHEST_PRIORITY;
        return context_stack().empty() ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
    };
    table.cuMemGetInfo = [](std::size_t* free_bytes, std::size_t* total_bytes) {
        *free_bytes = fake().free_bytes;
        *total_bytes = std::size_t{2} << 30U;
        return context_stack().empty() ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
    };
}

void add_streams(driver::Table& table) {
    table.cuStreamCreateWithPriority = [](CUstream* stream, unsigned flags, int priority) {
        if (context_stack().empty()) {
            return CUDA_ERROR_INVALID_CONTEXT;
        }
        *stream = fake().next_handle<CUstream>();
        fake().streams[*stream] = {FakeDriver::current(), flags, priority};
        return CUDA_SUCCESS;
    };
    table.cuStreamDestroy = [](CUstream stream) {
        run_host_calls(stream);
        return fake().streams.erase(stream) == 0 ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
    };
    table.cuStreamGetCtx = [](CUstream stream, CUcontext* context) {
        return with(fake().streams, stream, [&](const auto& found) {
            *context = found.context;
            return CUDA_SUCCESS;
        });
    };
    table.cuStreamGetFlags = [](CUstream stream, unsigned* flags) {
        return with(fake().streams, stream, [&](const auto& found) {
            *flags = found.flags;
            return CUDA_SUCCESS;
        });
    };
    table.cuStreamGetPriority = [](CUstream stream, int* priority) {
        return with(fake().streams, stream, [&](const auto& found) {
            *priority = found.priority;
            return CUDA_SUCCESS;
        });
    };
    table.cuStreamSynchronize = [](CUstream stream) {
        run_host_calls(stream);
        return check(stream);
    };
    table.cuStreamQuery = [](CUstream stream) {
        return with(fake().streams, stream, [](const auto& found) {
            return found.is_pending ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
        });
    };
    table.cuStreamWaitEvent = [](CUstream stream, CUevent event, unsigned) {
        return with(fake().events, event, [&](const auto& found) {
            const CUresult status = check(stream);
            if (status == CUDA_SUCCESS && found.capture != 0) {
                join_capture(stream, found.capture);
            }
            return status;
        });
    };
    table.cuThreadExchangeStreamCaptureMode = [](CUstreamCaptureMode* mode) {
        std::swap(*mode, capture_mode());
        return CUDA_SUCCESS;
    };
    table.cuStreamIsCapturing = [](CUstream stream, CUstreamCaptureStatus* status) {
        const auto place = fake().streams.find(stream);
        *status = place != fake().streams.end() && place->second.is_capturing
                      ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                      : CU_STREAM_CAPTURE_STATUS_NONE;
        return check(stream);
    };
}

void add_events(driver::Table& table) {
    table.cuEventCreate = [](CUevent* event, unsigned flags) {
        if (context_stack().empty()) {
            return CUDA_ERROR_INVALID_CONTEXT;
        }
        *event = fake().next_handle<CUevent>();
        fake().last_event_flags = flags;
        fake().events[*event] = {.context = FakeDriver::current(),
                                 .is_timed = (flags & CU_EVENT_DISABLE_TIMING) == 0};
        return CUDA_SUCCESS;
    };
    table.cuEventDestroy = [](CUevent event) {
        return fake().events.erase(event) == 0 ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
    };
    table.cuEventRecord = [](CUevent event, CUstream stream) {
        return with(fake().events, event, [&](auto& found) {
            // As on a GPU, event and stream must belong to the same context.
            const auto place = fake().streams.find(stream);
            const CUcontext context =
                place == fake().streams.end() ? FakeDriver::current() : place->second.context;
            if (context != found.context) {
                return CUDA_ERROR_INVALID_HANDLE;
            }
            found.is_recorded = true;
            found.capture = place == fake().streams.end() ? 0 : place->second.capture;
            fake().last_record = {stream, FakeDriver::current()};
            return check(stream);
        });
    };
    table.cuEventQuery = [](CUevent event) {
        return with(fake().events, event, [](const auto& found) {
            return found.is_pending ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
        });
    };
    table.cuEventSynchronize = [](CUevent event) {
        return with(fake().events, event, [](const auto&) { return CUDA_SUCCESS; });
    };
    table.cuEventElapsedTime = [](float* milliseconds, CUevent start, CUevent end) {
        const auto& first = fake().events.at(start);
        const auto& second = fake().events.at(end);
        if (!first.is_timed || !second.is_timed || !first.is_recorded || !second.is_recorded) {
            return CUDA_ERROR_INVALID_HANDLE;
        }
        *milliseconds = 1.5F;
        return first.is_pending || second.is_pending ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
    };
}

void add_memory(driver::Table& table) {
    table.cuDeviceGetMemPool = [](CUmemoryPool* pool, CUdevice device) {
        *pool = fake().default_pools[static_cast<std::size_t>(device)];
        return CUDA_SUCCESS;
    };
    table.cuMemPoolCreate = [](CUmemoryPool* pool, const CUmemPoolProps* properties) {
        *pool = fake().next_handle<CUmemoryPool>();
        fake().pools[*pool] = {.device = properties->location.id,
                               .max_size = properties->maxSize,
                               .location = properties->location,
                               .type = properties->allocType,
                               .handle_types = static_cast<unsigned>(properties->handleTypes)};
        return CUDA_SUCCESS;
    };
    table.cuMemPoolDestroy = [](CUmemoryPool pool) {
        return fake().pools.erase(pool) == 0 ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
    };
    table.cuMemPoolGetAttribute = [](CUmemoryPool pool, CUmemPool_attribute attribute,
                                     void* value) {
        return with(fake().pools, pool, [&](const auto& found) {
            switch (attribute) {
            case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
            case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
            case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
                *static_cast<int*>(value) = 1;
                break;
            case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
                *static_cast<cuuint64_t*>(value) = found.release_threshold;
                break;
            default:
                *static_cast<cuuint64_t*>(value) = static_cast<cuuint64_t>(attribute);
            }
            return CUDA_SUCCESS;
        });
    };
    table.cuMemPoolSetAttribute = [](CUmemoryPool pool, CUmemPool_attribute name, void* value) {
        return with(fake().pools, pool, [&](auto& found) {
            if (name == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) {
                found.release_threshold = *static_cast<cuuint64_t*>(value);
                return CUDA_SUCCESS;
            }
            const bool is_flag = name <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
            found.attributes[name] = is_flag ? static_cast<std::uint64_t>(*static_cast<int*>(value))
                                             : *static_cast<cuuint64_t*>(value);
            return CUDA_SUCCESS;
        });
    };
    table.cuMemPoolTrimTo = [](CUmemoryPool pool, std::size_t) {
        return with(fake().pools, pool, [](const auto&) { return CUDA_SUCCESS; });
    };
    table.cuMemAllocFromPoolAsync = [](CUdeviceptr* pointer, std::size_t bytes, CUmemoryPool pool,
                                       CUstream stream) {
        return with(fake().pools, pool, [&](const auto& found) {
            if (bytes > fake().free_bytes || (found.max_size != 0 && bytes > found.max_size)) {
                return CUDA_ERROR_OUT_OF_MEMORY;
            }
            *pointer = reinterpret_cast<std::uintptr_t>(fake().next_handle<void*>());
            fake().allocations[*pointer] = bytes;
            fake().homes[*pointer] = found.device;
            return check(stream);
        });
    };
    table.cuMemFreeAsync = [](CUdeviceptr pointer, CUstream stream) {
        if (const CUresult status = check(stream); status != CUDA_SUCCESS) {
            return status;
        }
        fake().last_free = {pointer, stream, FakeDriver::current()};
        return fake().allocations.erase(pointer) == 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    };
    table.cuMemcpyAsync = [](CUdeviceptr to, CUdeviceptr from, std::size_t, CUstream stream) {
        return fake().denies_copy(to, from) ? CUDA_ERROR_INVALID_VALUE : check(stream);
    };
    table.cuMemcpy2DAsync = [](const CUDA_MEMCPY2D* copy, CUstream stream) {
        return fake().denies_copy(copy->dstDevice, copy->srcDevice) ? CUDA_ERROR_INVALID_VALUE
                                                                    : check(stream);
    };
    table.cuMemcpyPeerAsync = [](CUdeviceptr, CUcontext to, CUdeviceptr, CUcontext from,
                                 std::size_t bytes, CUstream stream) {
        fake().notes.push_back("peer copy of " + std::to_string(bytes) + " from device " +
                               std::to_string(fake().contexts.at(from)) + " to " +
                               std::to_string(fake().contexts.at(to)));
        return check(stream);
    };
    table.cuMemcpy3DPeerAsync = [](const CUDA_MEMCPY3D_PEER* copy, CUstream stream) {
        fake().notes.push_back("peer copy of " + std::to_string(copy->WidthInBytes) + " by " +
                               std::to_string(copy->Height) + " from device " +
                               std::to_string(fake().contexts.at(copy->srcContext)) + " to " +
                               std::to_string(fake().contexts.at(copy->dstContext)));
        return check(stream);
    };
    table.cuMemsetD2D8Async = [](CUdeviceptr, std::size_t, unsigned char, std::size_t, std::size_t,
                                 CUstream stream) { return check(stream); };
    table.cuMemsetD2D16Async = [](CUdeviceptr, std::size_t, unsigned short, std::size_t,
                                  std::size_t, CUstream stream) { return check(stream); };
    table.cuMemsetD2D32Async = [](CUdeviceptr, std::size_t, unsigned, std::size_t, std::size_t,
                                  CUstream stream) { return check(stream); };
    table.cuMemsetD8Async = [](CUdeviceptr, unsigned char, std::size_t, CUstream stream) {
        return check(stream);
    };
    table.cuMemsetD16Async = [](CUdeviceptr, unsigned short, std::size_t, CUstream stream) {
        return check(stream);
    };
    table.cuMemsetD32Async = [](CUdeviceptr, unsigned, std::size_t, CUstream stream) {
        return check(stream);
    };
    table.cuPointerGetAttributes = [](unsigned count, CUpointer_attribute* attributes,
                                      void** values, CUdeviceptr pointer) {
        const bool is_ours = fake().allocations.count(pointer) != 0;
        for (unsigned i = 0; i < count; ++i) {
            switch (attributes[i]) {
            case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
                *static_cast<int*>(values[i]) = is_ours ? CU_MEMORYTYPE_DEVICE : 0;
                break;
            case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
                *static_cast<int*>(values[i]) = is_ours ? fake().homes[pointer] : -2;
                break;
            case CU_POINTER_ATTRIBUTE_IS_MANAGED:
                *static_cast<unsigned*>(values[i]) = fake().is_pointer_managed ? 1 : 0;
                break;
            default:
                break; // leave other values unchanged
            }
        }
        return CUDA_SUCCESS;
    };
}

void add_links(driver::Table& table) {
    table.cuLinkCreate = [](unsigned count, CUjit_option* keys, void** values, CUlinkState* state) {
        if (context_stack().empty()) {
            return CUDA_ERROR_INVALID_CONTEXT;
        }
        *state = fake().next_handle<CUlinkState>();
        FakeDriver::Link& link = fake().links[*state];
        for (unsigned i = 0; i < count; ++i) {
            link.options[keys[i]] = reinterpret_cast<unsigned long>(values[i]);
        }
        return CUDA_SUCCESS;
    };
    table.cuLinkAddData = [](CUlinkState state, CUjitInputType, void*, std::size_t,
                             const char* name, unsigned, CUjit_option*, void**) {
        return with(fake().links, state, [&](FakeDriver::Link& link) {
            link.inputs.emplace_back(name);
            return CUDA_SUCCESS;
        });
    };
    table.cuLinkComplete = [](CUlinkState state, void** image, std::size_t* size) {
        return with(fake().links, state, [&](FakeDriver::Link& link) {
            static char linked[] = "linked";
            *image = linked;
            *size = sizeof(linked) - 1;
            auto* const log = reinterpret_cast<char*>(link.options[CU_JIT_INFO_LOG_BUFFER]);
            std::snprintf(log, link.options[CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES], "linked well");
            fake().last_link = link;
            return CUDA_SUCCESS;
        });
    };
    table.cuLinkDestroy = [](CUlinkState state) {
        return fake().links.erase(state) == 0 ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
    };
}

} // namespace

CUresult check_stream(CUstream stream) {
    return check(stream);
}

FakeDriver*& active_fake() {
    static FakeDriver* active = nullptr;
    return active;
}

std::vector<CUcontext>& context_stack() {
    static thread_local std::vector<CUcontext> stack;
    return stack;
}

const driver::Table& fake_functions() {
    static const driver::Table* only = [] {
        auto* table = new driver::Table;
#define CUPRUM_DRIVER_FUNCTION(function, cuda_version)                                             \
    table->function = &Unknown<&driver::Table::function>::call;
#include "driver/symbols.def"
#undef CUPRUM_DRIVER_FUNCTION
        add_devices(*table);
        add_contexts(*table);
        add_streams(*table);
        add_events(*table);
        add_memory(*table);
        add_made_contexts(*table);
        add_stream_operations(*table);
        add_checkpoints(*table);
        add_links(*table);
        add_pool_sharing(*table);
        add_host_memory(*table);
        add_virtual_memory(*table);
        add_managed_memory(*table);
        add_arrays(*table);
        add_graphs(*table);
        return table;
    }();
    return *only;
}

} // namespace cuprum::testing
