// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// From handles to objects: every handle that a caller passes goes through here.

#pragma once

#include "api/cuda_abi.hpp"
#include "objects/code/function.hpp"
#include "objects/code/library.hpp"
#include "objects/code/module.hpp"
#include "objects/devices/context.hpp"
#include "objects/memory/pool.hpp"
#include "objects/process/error.hpp"
#include "objects/process/thread_state.hpp"
#include "objects/streams/event.hpp"
#include "objects/streams/stream.hpp"

#include <memory>

namespace cuprum::emulator {

/// Returns the context of a handle, active or not; throws INVALID_CONTEXT. The handle of a green
/// context means the primary context that it is part of.
[[nodiscard]] std::shared_ptr<Context> context_from(CUcontext handle);

/// Returns the context of a handle, active or not, with the green context if it is one's.
[[nodiscard]] CurrentContext context_from_any(CUcontext handle);

/// Returns the context of a handle, or the current one for NULL, ready for use.
[[nodiscard]] CurrentContext usable_context(CUcontext handle);

/// Returns the green context of a handle; throws INVALID_CONTEXT.
[[nodiscard]] std::shared_ptr<GreenContext> green_context_from(CUgreenCtx handle);

/// Returns the context of a handle, or the current one for NULL, ready for use.
[[nodiscard]] std::shared_ptr<Context> context_or_current(CUcontext handle);

/// Returns the stream of a handle, ready for use. NULL and the two special handles mean default
/// streams of the current context. Throws INVALID_HANDLE.
[[nodiscard]] std::shared_ptr<Stream> stream_from(CUstream handle);

/// Returns the default stream that a synchronous call works on.
[[nodiscard]] inline std::shared_ptr<Stream> default_stream() {
    return stream_from(nullptr);
}

/// Returns the stream of a batched operation; throws INVALID_VALUE for the legacy default stream.
[[nodiscard]] std::shared_ptr<Stream> stream_of_batch(CUstream handle);

/// Returns the event of a handle; throws INVALID_HANDLE.
[[nodiscard]] std::shared_ptr<Event> event_from(CUevent handle);

/// Returns the pool of a handle; throws INVALID_VALUE, as the driver documents.
[[nodiscard]] std::shared_ptr<Pool> pool_from(CUmemoryPool handle);

/// Returns the module of a handle; throws INVALID_HANDLE.
[[nodiscard]] std::shared_ptr<Module> module_from(CUmodule handle);

/// Returns the library of a handle; throws INVALID_HANDLE.
[[nodiscard]] std::shared_ptr<Library> library_from(CUlibrary handle);

/// Returns the kernel of a handle; throws INVALID_HANDLE.
[[nodiscard]] std::shared_ptr<LibraryKernel> kernel_from(CUkernel handle);

/// Returns the function of a handle. A CUkernel is taken too and means its function in `context`,
/// or in the current context where that is nullptr. Throws INVALID_HANDLE.
[[nodiscard]] std::shared_ptr<Function>
function_from(CUfunction handle, const std::shared_ptr<Context>& context = nullptr);

/// Returns a handle as that of a kernel of a library, nullptr if it is none.
[[nodiscard]] CUkernel kernel_or_null(CUfunction handle);

/// Writes an output; throws INVALID_VALUE if the caller passed NULL for it.
template <typename T, typename U>
void put(T* where, U&& value, const char* complaint = "an output argument is NULL") {
    require(where != nullptr, complaint);
    *where = static_cast<T>(std::forward<U>(value));
}

} // namespace cuprum::emulator
