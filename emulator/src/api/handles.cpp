// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "api/handles.hpp"

#include "objects/process/error.hpp"
#include "objects/process/thread_state.hpp"

namespace cuprum::emulator {

namespace {

template <typename T, typename Handle>
std::shared_ptr<T> find(HandleKind kind, Handle handle, CUresult code, const char* complaint) {
    auto object = HandleTable::instance().find(kind, reinterpret_cast<std::uint64_t>(handle));
    if (object == nullptr) {
        fail(code, complaint);
    }
    return std::static_pointer_cast<T>(std::move(object));
}

} // namespace

std::shared_ptr<Context> context_from(CUcontext handle) {
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
    return {find<Context>(HandleKind::Context, handle, CUDA_ERROR_INVALID_CONTEXT,
                          "not a context, or it has been destroyed"),
            nullptr};
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

std::shared_ptr<GreenContext> green_context_from(CUgreenCtx handle) {
    return find<GreenContext>(HandleKind::GreenContext, handle, CUDA_ERROR_INVALID_CONTEXT,
                              "not a green context, or it has been destroyed");
}

std::shared_ptr<Context> context_or_current(CUcontext handle) {
    if (handle == nullptr) {
        return current_context();
    }
    auto context = context_from(handle);
    context->check_usable();
    return context;
}

std::shared_ptr<Stream> stream_from(CUstream handle) {
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
    auto stream = find<Stream>(HandleKind::Stream, handle, CUDA_ERROR_INVALID_HANDLE,
                               "not a stream, or it has been destroyed");
    if (stream->green() != nullptr) [[unlikely]] {
        stream->green()->check_usable();
    } else {
        stream->context().check_usable();
    }
    return stream;
}

std::shared_ptr<Stream> stream_of_batch(CUstream handle) {
    auto stream = stream_from(handle);
    require(stream->kind() != Stream::Kind::Legacy, "a batch cannot use the legacy default stream");
    return stream;
}

std::shared_ptr<Event> event_from(CUevent handle) {
    return find<Event>(HandleKind::Event, handle, CUDA_ERROR_INVALID_HANDLE,
                       "not an event, or it has been destroyed");
}

std::shared_ptr<Pool> pool_from(CUmemoryPool handle) {
    return find<Pool>(HandleKind::Pool, handle, CUDA_ERROR_INVALID_VALUE,
                      "not a memory pool, or it has been destroyed");
}

std::shared_ptr<Module> module_from(CUmodule handle) {
    return find<Module>(HandleKind::Module, handle, CUDA_ERROR_INVALID_HANDLE,
                        "not a module, or it has been unloaded");
}

std::shared_ptr<Library> library_from(CUlibrary handle) {
    return find<Library>(HandleKind::Library, handle, CUDA_ERROR_INVALID_HANDLE,
                         "not a library, or it has been unloaded");
}

std::shared_ptr<LibraryKernel> kernel_from(CUkernel handle) {
    return find<LibraryKernel>(HandleKind::Kernel, handle, CUDA_ERROR_INVALID_HANDLE,
                               "not a kernel, or its library has been unloaded");
}

std::shared_ptr<Function> function_from(CUfunction handle,
                                        const std::shared_ptr<Context>& context) {
    auto& table = HandleTable::instance();
    if (auto object = table.find(HandleKind::Function, reinterpret_cast<std::uint64_t>(handle))) {
        return std::static_pointer_cast<Function>(std::move(object));
    }
    const auto kernel = find<LibraryKernel>(HandleKind::Kernel, handle, CUDA_ERROR_INVALID_HANDLE,
                                            "not a function, or its module has been unloaded");
    return kernel->function(context != nullptr ? context : current_context());
}

CUkernel kernel_or_null(CUfunction handle) {
    const auto number = reinterpret_cast<std::uint64_t>(handle);
    return HandleTable::instance().find(HandleKind::Kernel, number) != nullptr
               ? reinterpret_cast<CUkernel>(handle)
               : nullptr;
}

} // namespace cuprum::emulator
