// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "api/handles.hpp"

#include "objects/process/error.hpp"
#include "objects/process/thread_state.hpp"

namespace cuprum::emulator {

std::shared_ptr<Context> object_of(CUcontext handle) {
    return context_from_any(handle).context;
}

CurrentContext context_from_any(CUcontext handle) {
    auto& table = HandleTable::instance();
    const auto number = reinterpret_cast<std::uint64_t>(handle);
    if (const auto view = table.find(HandleKind::GreenContextView, number)) {
        auto green = static_cast<const GreenContextView&>(*view).green();
        if (green == nullptr) {
            fail(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the green context has been destroyed");
        }
        return {green->shared_primary(), green};
    }
    if (table.find(HandleKind::GreenContext, number) != nullptr) {
        fail(CUDA_ERROR_INVALID_CONTEXT,
             "a green context must be converted by cuCtxFromGreenCtx first");
    }
    return {object_of<CUcontext>(handle), nullptr};
}

CurrentContext usable_context(CUcontext handle) {
    if (handle == nullptr) {
        (void)current_context();
        return thread_state().contexts.back();
    }
    auto found = context_from_any(handle);
    if (found.green != nullptr) {
        found.green->check_usable();
    } else {
        found.context->check_usable();
    }
    return found;
}

std::shared_ptr<Context> context_or_current(CUcontext handle) {
    if (handle == nullptr) {
        return current_context();
    }
    auto context = object_of(handle);
    context->check_usable();
    return context;
}

std::shared_ptr<Stream> object_of(CUstream handle) {
    if (handle == nullptr || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD) {
        const auto& context = current_context();
        const bool is_per_thread = handle == CU_STREAM_PER_THREAD ||
                                   (handle == nullptr && thread_state().null_is_per_thread);
        if (const auto green = current_green(); green != nullptr) [[unlikely]] {
            if (is_per_thread) {
                fail(CUDA_ERROR_INVALID_HANDLE, "a green context has no per-thread default stream");
            }
            return green->default_stream();
        }
        return is_per_thread ? per_thread_stream(*context) : context->legacy_stream();
    }
    auto stream = object_of<CUstream>(handle);
    if (stream->green() != nullptr) [[unlikely]] {
        stream->green()->check_usable();
    } else {
        stream->context().check_usable();
    }
    return stream;
}

std::shared_ptr<Stream> stream_of_batch(CUstream handle) {
    auto stream = object_of(handle);
    require(stream->kind() != Stream::Kind::Legacy, "a batch cannot use the legacy default stream");
    return stream;
}

std::shared_ptr<Function> object_of(CUfunction handle) {
    return function_in(nullptr, handle);
}

std::shared_ptr<Function> function_in(const std::shared_ptr<Context>& context, CUfunction handle) {
    const auto kernel = object_or_null(reinterpret_cast<CUkernel>(handle));
    if (kernel == nullptr) {
        return object_of<CUfunction>(handle);
    }
    return kernel->function(context != nullptr ? context : current_context());
}

CUkernel kernel_or_null(CUfunction handle) {
    auto* const kernel = reinterpret_cast<CUkernel>(handle);
    return object_or_null(kernel) != nullptr ? kernel : nullptr;
}

} // namespace cuprum::emulator
