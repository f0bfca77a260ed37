// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Contexts and the calling thread's stack of them.

#include "api/entry.hpp"
#include "api/handles.hpp"
#include "objects/devices/device.hpp"
#include "objects/graphs/capture.hpp"
#include "objects/process/error.hpp"
#include "objects/process/thread_state.hpp"

#include <algorithm>

using namespace cuprum::emulator;

namespace {

constexpr unsigned API_VERSION = 3020; // of contexts made by cuCtxCreate_v2 and newer

void create_context(CUcontext* out, unsigned flags, CUdevice ordinal) {
    require(out != nullptr, "pctx must not be NULL");
    check_context_flags(flags);
    auto context = std::make_shared<Context>(device_at(ordinal), flags, false);
    HandleTable::instance().insert(HandleKind::Context, context);
    context->activate();
    *out = context->handle<CUcontext>();
    thread_state().contexts.push_back({std::move(context), nullptr});
}

void destroy_context(CUcontext handle) {
    require(handle != nullptr, "ctx must not be NULL");
    const auto [context, green] = context_from_any(handle);
    if (context->is_primary()) {
        fail(CUDA_ERROR_INVALID_CONTEXT, "a primary context is released, not destroyed");
    }
    if (HandleTable::instance().erase(HandleKind::Context, context->handle_value()) == nullptr) {
        fail(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the context was destroyed by another thread");
    }
    auto& contexts = thread_state().contexts;
    if (!contexts.empty() && contexts.back().context == context) {
        contexts.pop_back();
    }
    context->tear_down();
}

/// Returns the current context, or throws.
Context& current_context_or_fail() {
    const auto& contexts = thread_state().contexts;
    if (contexts.empty() || contexts.back().context == nullptr) {
        fail(CUDA_ERROR_INVALID_CONTEXT, "no context is current");
    }
    return *contexts.back().context;
}

/// Ends one use of the current context; the last one destroys it.
void detach_context(CUcontext handle) {
    require(handle != nullptr, "ctx must not be NULL");
    Context& context = current_context_or_fail();
    if (context_from_any(handle).context.get() != &context) {
        fail(CUDA_ERROR_INVALID_CONTEXT, "ctx is not the current context");
    }
    std::uint32_t count = context.attachment_count.load();
    while (count != 0 && !context.attachment_count.compare_exchange_weak(count, count - 1)) {
    }
    if (count == 0) {
        destroy_context(handle);
    }
}

/// Returns a context for pushing or setting. It must be known, but need not be usable.
CurrentContext context_to_set(CUcontext handle) {
    require(handle != nullptr, "ctx must not be NULL");
    auto found = context_from_any(handle);
    if (!found.context->is_active() && !found.context->is_primary()) {
        fail(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the context has been destroyed");
    }
    return found;
}

} // namespace

extern "C" {

CUresult CUDAAPI cuCtxCreate_v4(CUcontext* pctx, CUctxCreateParams* ctxCreateParams,
                                unsigned int flags, CUdevice dev) {
    return entry("cuCtxCreate", [&] {
        if (ctxCreateParams != nullptr && (ctxCreateParams->numExecAffinityParams != 0 ||
                                           ctxCreateParams->cigParams != nullptr)) {
            fail(CUDA_ERROR_NOT_SUPPORTED, "execution affinity and graphics sharing are not "
                                           "supported by the emulated device");
        }
        create_context(pctx, flags, dev);
    });
}

CUresult CUDAAPI cuCtxCreate_v3(CUcontext* pctx, CUexecAffinityParam* /*paramsArray*/,
                                int numParams, unsigned int flags, CUdevice dev) {
    return entry("cuCtxCreate_v3", [&] {
        if (numParams != 0) {
            fail(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY,
                 "execution affinity is not supported by the emulated device");
        }
        create_context(pctx, flags, dev);
    });
}

CUresult CUDAAPI cuCtxCreate_v2(CUcontext* pctx, unsigned int flags, CUdevice dev) {
    return entry("cuCtxCreate_v2", [&] { create_context(pctx, flags, dev); });
}

CUresult CUDAAPI cuCtxDestroy_v2(CUcontext ctx) {
    return entry("cuCtxDestroy", [&] { destroy_context(ctx); });
}

CUresult CUDAAPI cuCtxAttach(CUcontext* pctx, unsigned int flags) {
    return entry("cuCtxAttach", [&] {
        require(pctx != nullptr, "pctx must not be NULL");
        require(flags == 0, "flags must be 0");
        Context& context = current_context_or_fail();
        ++context.attachment_count;
        *pctx = context.handle<CUcontext>();
    });
}

CUresult CUDAAPI cuCtxDetach(CUcontext ctx) {
    return entry("cuCtxDetach", [&] { detach_context(ctx); });
}

CUresult CUDAAPI cuCtxPushCurrent_v2(CUcontext ctx) {
    return entry("cuCtxPushCurrent",
                 [&] { thread_state().contexts.push_back(context_to_set(ctx)); });
}

CUresult CUDAAPI cuCtxPopCurrent_v2(CUcontext* pctx) {
    return entry("cuCtxPopCurrent", [&] {
        auto& contexts = thread_state().contexts;
        if (contexts.empty()) {
            fail(CUDA_ERROR_INVALID_CONTEXT, "the thread's stack of contexts is empty");
        }
        if (pctx != nullptr) {
            *pctx = contexts.back().handle();
        }
        contexts.pop_back();
    });
}

CUresult CUDAAPI cuCtxSetCurrent(CUcontext ctx) {
    return entry("cuCtxSetCurrent", [&] {
        set_current_context(ctx == nullptr ? CurrentContext{} : context_to_set(ctx));
    });
}

CUresult CUDAAPI cuCtxGetCurrent(CUcontext* pctx) {
    return entry("cuCtxGetCurrent", [&] {
        require(pctx != nullptr, "pctx must not be NULL");
        const auto& contexts = thread_state().contexts;
        *pctx = contexts.empty() ? nullptr : contexts.back().handle();
    });
}

CUresult CUDAAPI cuCtxGetDevice_v2(CUdevice* device, CUcontext ctx) {
    return entry("cuCtxGetDevice", [&] {
        // NOTE: this also answers for a context that has failed or was torn down.
        const auto context = ctx != nullptr ? context_from(ctx) : current_context_or_null();
        if (context == nullptr) {
            fail(CUDA_ERROR_INVALID_CONTEXT, "the thread has no current context");
        }
        put(device, context->device().ordinal());
    });
}

CUresult CUDAAPI cuCtxGetDevice(CUdevice* device) {
    return cuCtxGetDevice_v2(device, nullptr);
}

CUresult CUDAAPI cuCtxGetFlags(unsigned int* flags) {
    return entry("cuCtxGetFlags", [&] { put(flags, current_context()->flags()); });
}

CUresult CUDAAPI cuCtxSetFlags(unsigned int flags) {
    return entry("cuCtxSetFlags", [&] {
        check_context_flags(flags);
        current_context()->set_flags(flags);
    });
}

CUresult CUDAAPI cuCtxGetId(CUcontext ctx, unsigned long long* ctxId) {
    return entry("cuCtxGetId", [&] {
        const auto [context, green] = usable_context(ctx);
        put(ctxId, green != nullptr ? green->id() : context->id());
    });
}

CUresult CUDAAPI cuCtxSynchronize_v2(CUcontext ctx) {
    return entry("cuCtxSynchronize", [&] {
        const auto [context, green] = usable_context(ctx);
        if (green != nullptr) {
            green->synchronize();
        } else {
            context->synchronize();
        }
    });
}

CUresult CUDAAPI cuCtxSynchronize() {
    return cuCtxSynchronize_v2(nullptr);
}

CUresult CUDAAPI cuCtxSetLimit(CUlimit limit, size_t value) {
    return entry("cuCtxSetLimit", [&] {
        const auto& context = current_context();
        Capture::refuse_unsafe_call();
        context->set_limit(limit, value);
    });
}

CUresult CUDAAPI cuCtxGetLimit(size_t* pvalue, CUlimit limit) {
    return entry("cuCtxGetLimit", [&] { put(pvalue, current_context()->limit(limit)); });
}

CUresult CUDAAPI cuCtxGetCacheConfig(CUfunc_cache* pconfig) {
    return entry("cuCtxGetCacheConfig", [&] { put(pconfig, current_context()->cache_config); });
}

CUresult CUDAAPI cuCtxSetCacheConfig(CUfunc_cache config) {
    return entry("cuCtxSetCacheConfig", [&] {
        check_cache_config(config);
        current_context()->cache_config = config;
    });
}

CUresult CUDAAPI cuCtxGetSharedMemConfig(CUsharedconfig* pConfig) {
    return entry("cuCtxGetSharedMemConfig", [&] {
        (void)current_context();
        put(pConfig, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE);
    });
}

CUresult CUDAAPI cuCtxSetSharedMemConfig(CUsharedconfig config) {
    return entry("cuCtxSetSharedMemConfig", [&] {
        (void)current_context();
        check_shared_memory_config(config);
    });
}

CUresult CUDAAPI cuCtxGetApiVersion(CUcontext ctx, unsigned int* version) {
    return entry("cuCtxGetApiVersion", [&] {
        (void)context_or_current(ctx);
        put(version, API_VERSION);
    });
}

CUresult CUDAAPI cuCtxGetStreamPriorityRange(int* leastPriority, int* greatestPriority) {
    return entry("cuCtxGetStreamPriorityRange", [&] {
        (void)current_context();
        if (leastPriority != nullptr) {
            *leastPriority = Stream::LEAST_PRIORITY;
        }
        if (greatestPriority != nullptr) {
            *greatestPriority = Stream::GREATEST_PRIORITY;
        }
    });
}

CUresult CUDAAPI cuCtxResetPersistingL2Cache() {
    return entry("cuCtxResetPersistingL2Cache", [] { (void)current_context(); });
}

CUresult CUDAAPI cuCtxGetExecAffinity(CUexecAffinityParam* /*pExecAffinity*/,
                                      CUexecAffinityType /*type*/) {
    return entry("cuCtxGetExecAffinity", [] {
        (void)current_context();
        fail(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY,
             "execution affinity is not supported by the emulated device");
    });
}

// ---- peers -------------------------------------------------------------------------------------

CUresult CUDAAPI cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags) {
    return entry("cuCtxEnablePeerAccess", [&] {
        require(Flags == 0, "the flags must be 0");
        const auto& context = current_context();
        const auto peer = context_from(peerContext);
        if (peer == context || !peer->is_active()) {
            fail(CUDA_ERROR_INVALID_CONTEXT,
                 "the peer is the current context itself, or has been destroyed");
        }
        if (&peer->device() == &context->device()) {
            fail(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, "a device is not a peer of itself");
        }
        if (!context->enable_peer(*peer)) {
            fail(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "access to the peer is enabled already");
        }
    });
}

CUresult CUDAAPI cuCtxDisablePeerAccess(CUcontext peerContext) {
    return entry("cuCtxDisablePeerAccess", [&] {
        if (!current_context()->disable_peer(*context_from(peerContext))) {
            fail(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "access to the peer is not enabled");
        }
    });
}

} // extern "C"
