// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/memory_resource.hpp>

#include "driver/handle.hpp"
#include "memory/buffer_state.hpp"
#include "memory/out_of_memory.hpp"
#include "stream/stream_state.hpp"
#include "support/recycled.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/stream.hpp>

#include <stdexcept>
#include <string>
#include <utility>

namespace cuprum {

std::shared_ptr<MemoryResource> detail::share_of(MemoryResource& resource) {
    auto shared = resource.weak_from_this().lock();
    if (shared == nullptr) {
        throw std::logic_error("no std::shared_ptr holds this memory resource, and its buffers "
                               "have to; make it with std::make_shared");
    }
    return shared;
}

Buffer MemoryResource::allocate(std::size_t bytes, const Stream& stream) {
    return make_buffer(bytes, stream);
}

Buffer MemoryResource::make_buffer(std::size_t bytes, const Stream& stream) {
    [[maybe_unused]] const auto& checked = detail::open(stream);
    detail::check_size(bytes);
    auto state = detail::make_recycled<detail::BufferState>();
    state->resource = detail::share_of(*this);
    state->size = bytes;
    if (bytes != 0) {
        state->make_on(stream);
        state->pointer = allocate_bytes(bytes, stream);
        if (state->pointer == 0) {
            throw std::logic_error(
                "allocate_bytes of the memory resource gave a null pointer for " +
                std::to_string(bytes) + " bytes, expected memory or an exception");
        }
    }
    return detail::Access::make<Buffer>(std::move(state));
}

} // namespace cuprum
