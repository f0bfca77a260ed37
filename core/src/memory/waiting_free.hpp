// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Memory that the driver frees at once, not in a stream's order: the free waits for the stream
// first.

#pragma once

#include "device/context_state.hpp"
#include "driver/capture.hpp"
#include "driver/current.hpp"
#include "memory/allocation.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/error.hpp>
#include <cuprum/memory_resource.hpp>
#include <cuprum/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <type_traits>

namespace cuprum::detail {

/// Makes a buffer over memory that `resource` frees without a stream, in `context`.
[[nodiscard]] Buffer adopt(CUdeviceptr pointer, std::size_t bytes,
                           std::shared_ptr<MemoryResource> resource,
                           std::shared_ptr<ContextState> context);

/// Waits for a stream before its memory is freed. A closed stream needs no wait.
/// @throws std::logic_error if it is capturing: waiting would end the capture.
void wait_before_free(const Stream& stream);

/// Waits for a stream and frees. If the wait fails, the stream's work is dead: this frees all the
/// same and throws the failure afterwards. Never ends a capture of another stream.
template <typename Free>
void free_after(const Stream& stream, const Free& free) {
    const driver::RelaxedCapture relaxed;
    std::exception_ptr failure;
    try {
        wait_before_free(stream);
    } catch (const CUDAError&) {
        failure = std::current_exception();
    }
    free();
    if (failure != nullptr) {
        std::rethrow_exception(failure);
    }
}

/// Calls a function that frees an address or a pointer and needs any context. Makes one current
/// only if there is none.
template <typename Memory>
void free_in_any_context(const driver::Entry<CUresult(Memory)>& entry, CUdeviceptr pointer) {
    Memory memory{};
    if constexpr (std::is_pointer_v<Memory>) {
        memory = reinterpret_cast<Memory>(static_cast<std::uintptr_t>(pointer));
    } else {
        memory = pointer;
    }
    CUresult status = entry(memory);
    if (status == CUDA_ERROR_INVALID_CONTEXT) {
        const AnyContext context;
        status = entry(memory);
    }
    if (status != CUDA_SUCCESS) {
        raise_free_failure(status, entry.name, pointer);
    }
}

} // namespace cuprum::detail
