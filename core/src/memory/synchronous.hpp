// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What resources share that allocate and free at once, not in a stream's order.

#pragma once

#include "driver/current.hpp"
#include "driver/relaxed_capture.hpp"
#include "device/context_state.hpp"
#include "memory/out_of_memory.hpp"

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

/// Makes a buffer that goes back to `resource` without a stream, in `context`.
[[nodiscard]] Buffer adopt(CUdeviceptr pointer, std::size_t bytes,
                           std::shared_ptr<MemoryResource> resource,
                           std::shared_ptr<ContextState> context);

/// Returns the current context, or device 0's primary one if none is current.
[[nodiscard]] std::shared_ptr<ContextState> current_or_first_context();

/// Waits for a stream, unless it is closed: then there is nothing to wait for.
/// @throws std::logic_error if it is capturing: waiting would end the capture.
void wait_for(const Stream& stream);

/// Frees something once a stream has got there. If waiting fails, its work is as dead as it will
/// get: the thing is freed all the same, and the failure raised after that.
template <typename Free>
void free_after(const Stream& stream, const Free& free) {
    const driver::RelaxedCapture relaxed;
    std::exception_ptr failure;
    try {
        wait_for(stream);
    } catch (const CUDAError&) {
        failure = std::current_exception();
    }
    free();
    if (failure != nullptr) {
        std::rethrow_exception(failure);
    }
}

/// Calls a function that frees `memory`, an address or a pointer, and needs some context; one is
/// made current only if none is.
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
        const driver::Current current(current_or_first_context()->handle);
        status = entry(memory);
    }
    if (status != CUDA_SUCCESS) {
        raise_free_failure(status, entry.name, pointer);
    }
}

} // namespace cuprum::detail
