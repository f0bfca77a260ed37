// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What resources share that allocate and free at once, not in a stream's order.

#pragma once

#include "state/context_state.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/memory_resource.hpp>
#include <cuprum/stream.hpp>

#include <cstddef>
#include <memory>

namespace cuprum::detail {

/// Makes a buffer that goes back to `resource` without a stream, in `context`.
[[nodiscard]] Buffer adopt(CUdeviceptr pointer, std::size_t bytes,
                           std::shared_ptr<MemoryResource> resource,
                           std::shared_ptr<ContextState> context);

/// Returns the current context, or device 0's primary one if none is current.
[[nodiscard]] std::shared_ptr<ContextState> current_or_first_context();

/// Waits for a stream, unless it is closed: then there is nothing to wait for.
void wait_for(const Stream& stream);

} // namespace cuprum::detail
