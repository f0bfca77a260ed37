// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/memory_resource.hpp>

#include "state/buffer_state.hpp"
#include "state/handle.hpp"
#include "state/recycled.hpp"
#include "state/stream_state.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/stream.hpp>

#include <utility>

namespace cuprum {

Buffer MemoryResource::allocate(std::size_t bytes, const Stream& stream) {
    [[maybe_unused]] const auto& checked = detail::open(stream.state(), "Stream");
    auto state = detail::make_recycled<detail::BufferState>();
    state->resource = shared_from_this();
    state->size = bytes;
    if (bytes != 0) {
        state->free_on(stream);
        state->pointer = allocate_bytes(bytes, stream);
    }
    return Buffer(std::move(state));
}

} // namespace cuprum
