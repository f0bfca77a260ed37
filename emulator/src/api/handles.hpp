// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Converts handles to objects. Every handle that a caller passes is checked here.

#pragma once

#include "api/cuda_abi.hpp"
#include "objects/code/function.hpp"
#include "objects/code/library.hpp"
#include "objects/code/module.hpp"
#include "objects/devices/context.hpp"
#include "objects/memory/pool.hpp"
#include "objects/process/error.hpp"
#include "objects/process/object_of.hpp"
#include "objects/process/thread_state.hpp"
#include "objects/streams/event.hpp"
#include "objects/streams/stream.hpp"

#include <memory>

namespace cuprum::emulator {

/// Returns the context of a handle, active or not. For a green context this is its primary context.
/// Throws INVALID_CONTEXT.
[[nodiscard]] std::shared_ptr<Context> object_of(CUcontext handle);

/// Returns the context of a handle, active or not, and its green context if it has one.
[[nodiscard]] CurrentContext context_from_any(CUcontext handle);

/// Returns the context of a handle, or the current one for NULL, ready for use.
[[nodiscard]] CurrentContext usable_context(CUcontext handle);

/// Returns the context of a handle, or the current one for NULL, ready for use.
[[nodiscard]] std::shared_ptr<Context> context_or_current(CUcontext handle);

/// Returns the stream of a handle and checks that it can be used. NULL and the two special handles
/// are default streams of the current context. Throws INVALID_HANDLE.
[[nodiscard]] std::shared_ptr<Stream> object_of(CUstream handle);

/// Returns the default stream that a synchronous call uses.
[[nodiscard]] inline std::shared_ptr<Stream> default_stream() {
    return object_of(CUstream{});
}

/// Returns the stream of a batched operation. Throws INVALID_VALUE for the legacy default stream.
[[nodiscard]] std::shared_ptr<Stream> stream_of_batch(CUstream handle);

/// Returns the function of a handle. For a CUkernel, returns its function in the current context.
/// Throws INVALID_HANDLE.
[[nodiscard]] std::shared_ptr<Function> object_of(CUfunction handle);

/// The same, but for a CUkernel its function in `context`, or in the current one for nullptr.
[[nodiscard]] std::shared_ptr<Function> function_in(const std::shared_ptr<Context>& context,
                                                    CUfunction handle);

/// Returns a handle as that of a kernel of a library, nullptr if it is none.
[[nodiscard]] CUkernel kernel_or_null(CUfunction handle);

/// Writes an output. Throws INVALID_VALUE if the caller passed NULL for it.
template <typename T, typename U>
void put(T* where, U&& value, const char* complaint = "an output argument is NULL") {
    require(where != nullptr, complaint);
    *where = static_cast<T>(std::forward<U>(value));
}

/// Writes an output that the caller may leave out.
template <typename T, typename U>
void put_optional(T* where, U&& value) {
    if (where != nullptr) {
        *where = static_cast<T>(std::forward<U>(value));
    }
}

} // namespace cuprum::emulator
