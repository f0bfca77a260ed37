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

ROW(cuCtxCreate_v4, 12050, CUcontext* pctx, CUctxCreateParams* ctxCreateParams, unsigned int flags,
    CUdevice dev) {
    if (ctxCreateParams != nullptr &&
        (ctxCreateParams->numExecAffinityParams != 0 || ctxCreateParams->cigParams != nullptr)) {
        fail(CUDA_ERROR_NOT_SUPPORTED, "execution affinity and graphics sharing are not "
                                       "supported by the emulated device");
    }
    create_context(pctx, flags, dev);
}

ROW(cuCtxCreate_v3, 11040, CUcontext* pctx, CUexecAffinityParam* /*paramsArray*/, int numParams,
    unsigned int flags, CUdevice dev) {
    if (numParams != 0) {
        fail(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY,
             "execution affinity is not supported by the emulated device");
    }
    create_context(pctx, flags, dev);
}

ROW(cuCtxCreate_v2, 3020, CUcontext* pctx, unsigned int flags, CUdevice dev) {
    create_context(pctx, flags, dev);
}

ALIAS(cuCtxCreate, 2000, cuCtxCreate_v2);

ROW(cuCtxDestroy_v2, 4000, CUcontext ctx) {
    destroy_context(ctx);
}

ALIAS(cuCtxDestroy, 2000, cuCtxDestroy_v2);

ROW(cuCtxAttach, 2000, CUcontext& pctx, Flags<> /*flags*/) {
    Context& context = current_context_or_fail();
    ++context.attachment_count;
    pctx = context.handle<CUcontext>();
}

ROW(cuCtxDetach, 2000, CUcontext ctx) {
    detach_context(ctx);
}

ROW(cuCtxPushCurrent_v2, 4000, CUcontext ctx) {
    thread_state().contexts.push_back(context_to_set(ctx));
}

ALIAS(cuCtxPushCurrent, 2000, cuCtxPushCurrent_v2);

ROW(cuCtxPopCurrent_v2, 4000, CUcontext* pctx) {
    auto& contexts = thread_state().contexts;
    if (contexts.empty()) {
        fail(CUDA_ERROR_INVALID_CONTEXT, "the thread's stack of contexts is empty");
    }
    put_optional(pctx, contexts.back().handle());
    contexts.pop_back();
}

ALIAS(cuCtxPopCurrent, 2000, cuCtxPopCurrent_v2);

ROW(cuCtxSetCurrent, 4000, CUcontext ctx) {
    set_current_context(ctx == nullptr ? CurrentContext{} : context_to_set(ctx));
}

ROW(cuCtxGetCurrent, 4000, CUcontext& pctx) {
    const auto& contexts = thread_state().contexts;
    pctx = contexts.empty() ? nullptr : contexts.back().handle();
}

ROW(cuCtxGetDevice_v2, 13000, CUdevice* device, CUcontext ctx) {
    // NOTE: this also answers for a context that has failed or was torn down.
    const auto context = ctx != nullptr ? object_of(ctx) : current_context_or_null();
    if (context == nullptr) {
        fail(CUDA_ERROR_INVALID_CONTEXT, "the thread has no current context");
    }
    put(device, context->device().ordinal());
}

FORWARD(cuCtxGetDevice, 2000, CUdevice* device) {
    return cuCtxGetDevice_v2(device, nullptr);
}

ROW(cuCtxGetFlags, 7000, unsigned int* flags) {
    put(flags, current_context()->flags());
}

ROW(cuCtxSetFlags, 12010, unsigned int flags) {
    check_context_flags(flags);
    current_context()->set_flags(flags);
}

ROW(cuCtxGetId, 12000, CUcontext ctx, unsigned long long* ctxId) {
    const auto [context, green] = usable_context(ctx);
    put(ctxId, green != nullptr ? green->id() : context->id());
}

ROW(cuCtxSynchronize_v2, 13000, CUcontext ctx) {
    const auto [context, green] = usable_context(ctx);
    if (green != nullptr) {
        green->synchronize();
    } else {
        context->synchronize();
    }
}

FORWARD(cuCtxSynchronize, 2000) {
    return cuCtxSynchronize_v2(nullptr);
}

ROW(cuCtxSetLimit, 3010, CUlimit limit, size_t value) {
    const auto& context = current_context();
    Capture::refuse_unsafe_call();
    context->set_limit(limit, value);
}

ROW(cuCtxGetLimit, 3010, size_t* pvalue, CUlimit limit) {
    put(pvalue, current_context()->limit(limit));
}

ROW(cuCtxGetCacheConfig, 3020, CUfunc_cache* pconfig) {
    put(pconfig, current_context()->cache_config);
}

ROW(cuCtxSetCacheConfig, 3020, CUfunc_cache config) {
    check_cache_config(config);
    current_context()->cache_config = config;
}

ROW(cuCtxGetSharedMemConfig, 4020, InContext, CUsharedconfig* pConfig) {
    put(pConfig, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE);
}

ROW(cuCtxSetSharedMemConfig, 4020, InContext, CUsharedconfig config) {
    check_shared_memory_config(config);
}

ROW(cuCtxGetApiVersion, 3020, CUcontext ctx, unsigned int* version) {
    (void)context_or_current(ctx);
    put(version, API_VERSION);
}

ROW(cuCtxGetStreamPriorityRange, 5050, InContext, int* leastPriority, int* greatestPriority) {
    put_optional(leastPriority, Stream::LEAST_PRIORITY);
    put_optional(greatestPriority, Stream::GREATEST_PRIORITY);
}

ROW(cuCtxResetPersistingL2Cache, 11000, InContext) {}

ROW(cuCtxGetExecAffinity, 11040, InContext, CUexecAffinityParam* /*pExecAffinity*/,
    CUexecAffinityType /*type*/) {
    fail(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY,
         "execution affinity is not supported by the emulated device");
}

// ---- peers -------------------------------------------------------------------------------------

ROW(cuCtxEnablePeerAccess, 4000, CUcontext peerContext, Flags<> /*flags*/) {
    const auto& context = current_context();
    const auto peer = object_of(peerContext);
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
}

ROW(cuCtxDisablePeerAccess, 4000, CUcontext peerContext) {
    if (!current_context()->disable_peer(*object_of(peerContext))) {
        fail(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "access to the peer is not enabled");
    }
}
