// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Registered resources of graphics APIs and their mappings.
//
// A mapping has a state of its own, which the buffer or the arrays of it hold. It ends once: when
// the program unmaps the resource, or with the last of its holders. It holds the resource, so that
// a resource is unregistered after it is unmapped.

#pragma once

#include "device/context_state.hpp"
#include "driver/handle.hpp"

#include <cuprum/graphics/graphics_resource.hpp>
#include <cuprum/stream.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

namespace cuprum::detail {

struct GraphicsMapping;

/// A registered resource. Destroying the state unregisters it.
struct GraphicsState : OfContext {
    CUgraphicsResource handle = nullptr;
    bool is_image = false;
    // A destructor failed to unmap it, and reported that. It is unmapped before the next mapping.
    std::atomic<bool> is_stuck = false;
    std::mutex mutex;
    std::weak_ptr<GraphicsMapping> mapping; // guarded by `mutex`

    using OfContext::OfContext;
    ~GraphicsState();
    GraphicsState(const GraphicsState&) = delete;
    GraphicsState& operator=(const GraphicsState&) = delete;

    /// Returns the mapping that has not ended, or null.
    [[nodiscard]] std::shared_ptr<GraphicsMapping> live_mapping();
};

/// Unmaps a resource, if it is mapped.
/// @throws CUDAError.
void unmap_now(CUgraphicsResource resource, CUstream stream);

/// A resource from being mapped to being unmapped. Destroying the state unmaps it.
struct GraphicsMapping {
    std::shared_ptr<GraphicsState> resource;
    Stream stream;                     // that it was mapped on
    std::atomic<bool> is_over = false; // its arrays end with it

    GraphicsMapping(std::shared_ptr<GraphicsState> mapped, const Stream& first) noexcept
        : resource(std::move(mapped)), stream(first) {}

    ~GraphicsMapping();
    GraphicsMapping(const GraphicsMapping&) = delete;
    GraphicsMapping& operator=(const GraphicsMapping&) = delete;

    /// Unmaps in the order of a stream, unless that happened before.
    /// @throws CUDAError; the mapping then goes on.
    void end(const Stream& last);

    /// Does the same for a destructor: if it throws, the mapping is over for the program.
    void end_for_good(const Stream& last);
};

} // namespace cuprum::detail
