// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What the Python objects of graphics resources, external memory and semaphores hold.

#pragma once

#include "support/arguments.hpp"
#include "support/choices.hpp"
#include "support/held.hpp"

#include <cuprum/context.hpp>
#include <cuprum/graphics/external_memory.hpp>
#include <cuprum/graphics/external_semaphore.hpp>
#include <cuprum/graphics/graphics_resource.hpp>

#include <nanobind/nanobind.h>

#include <utility>

namespace cuprum::python {

using PyExternalMemory = Held<ExternalMemory>;
using PyExternalSemaphore = Held<ExternalSemaphore>;

/// A graphics resource, with the stream that `with` maps it on and what is mapped.
struct PyGraphicsResource : Held<GraphicsResource> {
    PyGraphicsResource(GraphicsResource resource, nb::object order) noexcept
        : Held<GraphicsResource>(std::move(resource)), stream(std::move(order)) {}

    nb::object stream; // of the `with` statement, or null
    nb::object mapped; // the Buffer or OpaqueArray of the last mapping, or null; may be closed
};

inline constexpr Choices<ExternalMemoryType, 2> EXTERNAL_MEMORY_TYPES{
    "ExternalMemoryHandleType",
    {{{"opaque_fd", ExternalMemoryType::OpaqueFd}, {"dma_buf_fd", ExternalMemoryType::DmaBufFd}}}};

inline constexpr Choices<ExternalSemaphoreType, 2> EXTERNAL_SEMAPHORE_TYPES{
    "ExternalSemaphoreHandleType",
    {{{"opaque_fd", ExternalSemaphoreType::OpaqueFd},
      {"timeline_fd", ExternalSemaphoreType::TimelineFd}}}};

inline constexpr Choices<GraphicsMapUse, 3> GRAPHICS_MAP_USES{
    "GraphicsMapUseType",
    {{{"read_write", GraphicsMapUse::ReadWrite},
      {"read_only", GraphicsMapUse::ReadOnly},
      {"write_discard", GraphicsMapUse::WriteDiscard}}}};

/// Returns the context that is current on the calling thread.
/// @throws NoContextError, saying that `what` needs one, if there is none.
[[nodiscard]] Context current_context_for(const char* what);

/// Returns a file descriptor, from an int or an object with `fileno`.
[[nodiscard]] int descriptor_argument(nb::handle value, const char* name);

} // namespace cuprum::python
