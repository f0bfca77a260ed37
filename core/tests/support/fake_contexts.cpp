// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/fake_functions.hpp"

#include <algorithm>
#include <cstring>

namespace cuprum::testing {

namespace {

constexpr unsigned ALIGNMENT = 8; // multiprocessors are split in groups of this size

FakeDriver& fake() {
    return *active_fake();
}

CUdevResource multiprocessors(unsigned count) {
    CUdevResource resource{};
    resource.type = CU_DEV_RESOURCE_TYPE_SM;
    const driver::SmResource sm{count, ALIGNMENT, ALIGNMENT, 0};
    std::memcpy(static_cast<void*>(resource._oversize), &sm, sizeof(sm));
    return resource;
}

CUresult describe(CUdevResource* resource, CUdevResourceType type, int device, unsigned count) {
    if (type == CU_DEV_RESOURCE_TYPE_SM) {
        *resource = multiprocessors(count);
        return CUDA_SUCCESS;
    }
    if (type != driver::WORKQUEUE_CONFIG) {
        return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    }
    *resource = {};
    resource->type = type;
    const driver::WorkqueueConfig config{device, 4, 0};
    std::memcpy(static_cast<void*>(resource->_oversize), &config, sizeof(config));
    return CUDA_SUCCESS;
}

unsigned rounded(unsigned count) {
    return (std::max(count, ALIGNMENT) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

CUresult with_current(CUresult (*act)(CUcontext)) {
    const CUcontext current = FakeDriver::current();
    return current == nullptr ? CUDA_ERROR_INVALID_CONTEXT : act(current);
}

void add_settings(driver::Table& table) {
    table.cuCtxGetId = [](CUcontext context, unsigned long long* id) {
        *id = reinterpret_cast<std::uintptr_t>(context);
        return CUDA_SUCCESS;
    };
    table.cuCtxGetFlags = [](unsigned* flags) {
        *flags = fake().context_flags[FakeDriver::current()];
        return with_current([](CUcontext) { return CUDA_SUCCESS; });
    };
    table.cuCtxSetFlags = [](unsigned flags) {
        fake().context_flags[FakeDriver::current()] = flags;
        return with_current([](CUcontext) { return CUDA_SUCCESS; });
    };
    table.cuCtxGetLimit = [](std::size_t* value, CUlimit limit) {
        *value = fake().limits[{FakeDriver::current(), limit}];
        return with_current([](CUcontext) { return CUDA_SUCCESS; });
    };
    table.cuCtxSetLimit = [](CUlimit limit, std::size_t value) {
        fake().limits[{FakeDriver::current(), limit}] = value;
        return with_current([](CUcontext) { return CUDA_SUCCESS; });
    };
    table.cuCtxGetCacheConfig = [](CUfunc_cache* config) {
        *config = fake().cache_configs[FakeDriver::current()];
        return with_current([](CUcontext) { return CUDA_SUCCESS; });
    };
    table.cuCtxSetCacheConfig = [](CUfunc_cache config) {
        fake().cache_configs[FakeDriver::current()] = config;
        return with_current([](CUcontext) { return CUDA_SUCCESS; });
    };
    table.cuCtxResetPersistingL2Cache = []() {
        return with_current([](CUcontext) { return CUDA_SUCCESS; });
    };
    table.cuCtxRecordEvent = [](CUcontext context, CUevent event) {
        const auto place = fake().events.find(event);
        if (place == fake().events.end() || place->second.context != context) {
            return CUDA_ERROR_INVALID_HANDLE;
        }
        place->second.is_recorded = true;
        return CUDA_SUCCESS;
    };
    table.cuCtxWaitEvent = [](CUcontext, CUevent event) {
        return fake().events.count(event) == 0 ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
    };
}

void add_peers(driver::Table& table) {
    table.cuDeviceGetP2PAttribute = [](int* value, CUdevice_P2PAttribute attribute, CUdevice from,
                                       CUdevice to) {
        *value = static_cast<int>(attribute) * 100 + from * 10 + to;
        return CUDA_SUCCESS;
    };
    table.cuDeviceTotalMem = [](std::size_t* bytes, CUdevice) {
        *bytes = std::size_t{2} << 30U;
        return CUDA_SUCCESS;
    };
    table.cuCtxEnablePeerAccess = [](CUcontext peer, unsigned) {
        const std::pair pair(FakeDriver::current(), peer);
        auto& peers = fake().peers;
        if (std::find(peers.begin(), peers.end(), pair) != peers.end()) {
            return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
        }
        peers.push_back(pair);
        return CUDA_SUCCESS;
    };
    table.cuCtxDisablePeerAccess = [](CUcontext peer) {
        const std::size_t count = std::erase(fake().peers, std::pair(FakeDriver::current(), peer));
        return count == 0 ? CUDA_ERROR_PEER_ACCESS_NOT_ENABLED : CUDA_SUCCESS;
    };
    table.cuDevicePrimaryCtxSetFlags = [](CUdevice device, unsigned flags) {
        fake().primary_flags[static_cast<std::size_t>(device)] = flags;
        return CUDA_SUCCESS;
    };
    table.cuDevicePrimaryCtxReset = [](CUdevice device) {
        const CUcontext primary = fake().primaries[static_cast<std::size_t>(device)];
        std::erase_if(fake().streams,
                      [&](const auto& item) { return item.second.context == primary; });
        std::erase_if(fake().events,
                      [&](const auto& item) { return item.second.context == primary; });
        for (const auto& [address, context] : fake().bound) {
            if (context == primary) {
                fake().allocations.erase(address);
                fake().host_allocations.erase(address);
            }
        }
        return CUDA_SUCCESS;
    };
}

void add_splitting(driver::Table& table) {
    table.cuDeviceGetDevResource = [](CUdevice device, CUdevResource* resource,
                                      CUdevResourceType type) {
        return describe(resource, type, device, fake().sm_count);
    };
    table.cuCtxGetDevResource = [](CUcontext context, CUdevResource* resource,
                                   CUdevResourceType type) {
        return describe(resource, type, fake().contexts.at(context), fake().sm_count);
    };
    table.cuGreenCtxGetDevResource = [](CUgreenCtx green, CUdevResource* resource,
                                        CUdevResourceType type) {
        const auto place = fake().green_resources.find(green);
        if (place == fake().green_resources.end()) {
            return CUDA_ERROR_INVALID_HANDLE;
        }
        return describe(resource, type, fake().contexts.at(fake().green_contexts.at(green)),
                        place->second.sm.smCount);
    };
    table.cuDevSmResourceSplitByCount = [](CUdevResource* result, unsigned* groups,
                                           const CUdevResource* input, CUdevResource* remainder,
                                           unsigned flags, unsigned count) {
        const bool is_loose = (flags & CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING) != 0;
        const unsigned size = is_loose ? std::max(count, 2U) : rounded(count);
        *groups = std::min(*groups, input->sm.smCount / size);
        for (unsigned i = 0; i < *groups; ++i) {
            result[i] = multiprocessors(size);
        }
        *remainder = multiprocessors(input->sm.smCount - *groups * size);
        return CUDA_SUCCESS;
    };
    table.cuDevSmResourceSplit = [](CUdevResource* result, unsigned groups,
                                    const CUdevResource* input, CUdevResource* remainder, unsigned,
                                    CU_DEV_SM_RESOURCE_GROUP_PARAMS* params) {
        unsigned left = input->sm.smCount;
        for (unsigned i = 0; i < groups; ++i) {
            const bool is_loose = (params[i].flags & driver::BACKFILL) != 0;
            const unsigned size = is_loose ? params[i].smCount : rounded(params[i].smCount);
            if (size > left) {
                return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
            }
            left -= size;
            params[i].smCount = size;
            if (result != nullptr) {
                result[i] = multiprocessors(size);
            }
        }
        *remainder = multiprocessors(left);
        return CUDA_SUCCESS;
    };
}

void add_greens(driver::Table& table) {
    table.cuDevResourceGenerateDesc = [](CUdevResourceDesc* description, CUdevResource* resources,
                                         unsigned count) {
        // The description is the first resource's address. It is used before the caller returns.
        *description = reinterpret_cast<CUdevResourceDesc>(resources);
        return count == 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    };
    table.cuGreenCtxCreate = [](CUgreenCtx* green, CUdevResourceDesc description, CUdevice device,
                                unsigned flags) {
        if (flags != CU_GREEN_CTX_DEFAULT_STREAM) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        *green = fake().next_handle<CUgreenCtx>();
        const CUcontext context = fake().make_context(device);
        fake().green_contexts[*green] = context;
        fake().green_resources[*green] = *reinterpret_cast<CUdevResource*>(description);
        fake().made_contexts.push_back(context);
        return CUDA_SUCCESS;
    };
    table.cuGreenCtxDestroy = [](CUgreenCtx green) {
        const auto place = fake().green_contexts.find(green);
        if (place == fake().green_contexts.end()) {
            return CUDA_ERROR_INVALID_HANDLE;
        }
        std::erase(fake().made_contexts, place->second);
        fake().contexts.erase(place->second);
        fake().green_contexts.erase(place);
        fake().green_resources.erase(green);
        return CUDA_SUCCESS;
    };
    table.cuCtxFromGreenCtx = [](CUcontext* context, CUgreenCtx green) {
        *context = fake().green_contexts.at(green);
        return CUDA_SUCCESS;
    };
    table.cuStreamGetGreenCtx = [](CUstream stream, CUgreenCtx* green) {
        const auto found = fake().streams.find(stream);
        *green = nullptr;
        for (const auto& [handle, context] : fake().green_contexts) {
            if (found != fake().streams.end() && found->second.context == context) {
                *green = handle;
            }
        }
        return CUDA_SUCCESS;
    };
    table.cuGreenCtxStreamCreate = [](CUstream* stream, CUgreenCtx green, unsigned flags,
                                      int priority) {
        if (flags != CU_STREAM_NON_BLOCKING) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        *stream = fake().next_handle<CUstream>();
        fake().streams[*stream] = {fake().green_contexts.at(green), flags, priority};
        return CUDA_SUCCESS;
    };
    table.cuGreenCtxRecordEvent = [](CUgreenCtx green, CUevent event) {
        return fake_functions().cuCtxRecordEvent(fake().green_contexts.at(green), event);
    };
    table.cuGreenCtxWaitEvent = [](CUgreenCtx green, CUevent event) {
        return fake_functions().cuCtxWaitEvent(fake().green_contexts.at(green), event);
    };
}

} // namespace

void add_made_contexts(driver::Table& table) {
    table.cuCtxCreate = [](CUcontext* context, CUctxCreateParams*, unsigned flags,
                           CUdevice device) {
        *context = fake().make_context(device);
        fake().made_contexts.push_back(*context);
        fake().context_flags[*context] = flags;
        context_stack().push_back(*context);
        return CUDA_SUCCESS;
    };
    table.cuCtxDestroy = [](CUcontext context) {
        if (std::erase(fake().made_contexts, context) == 0) {
            return CUDA_ERROR_INVALID_CONTEXT;
        }
        fake().contexts.erase(context);
        if (FakeDriver::current() == context) {
            context_stack().pop_back();
        }
        return CUDA_SUCCESS;
    };
    add_settings(table);
    add_peers(table);
    add_splitting(table);
    add_greens(table);
}

} // namespace cuprum::testing
