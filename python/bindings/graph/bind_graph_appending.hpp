// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The methods that add nodes. GraphDefinition and GraphNode have them both.

#pragma once

#include "graph/graph_objects.hpp"
#include "stream/stream_objects.hpp"
#include "support/class.hpp"

#include <cuprum/graph/graph_appender.hpp>

#include <nanobind/nanobind.h>

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace cuprum::python {

/// Adds the methods to a class. The nodes that they add depend on the object if it is a node.
void add_appending(Class<PyGraphDefinition>& type);
void add_appending(Class<PyGraphNode>& type);

/// Returns the memory of a `dst` or `src` argument, and what keeps it alive.
/// @throws ValueError if a Buffer is closed, or comes with an owner.
[[nodiscard]] NodeMemory memory_argument(nb::handle operand, nb::handle owner, const char* name,
                                         bool is_written);

/// Returns an `event` argument.
[[nodiscard]] const PyEvent& event_argument(nb::handle event);

/// Returns what must live as long as a kernel may run with these arguments: all that are no plain
/// numbers nor parts of a graph. Null if there are none.
[[nodiscard]] std::shared_ptr<void> keep_arguments(std::span<PyObject* const> values);

/// Lets the graph that a stream is captured into keep the arguments of a launch. Leaves out memory
/// of that graph: a node of the graph frees it when its last Buffer goes.
[[gnu::cold]] void keep_captured(const Stream& stream, std::span<PyObject* const> values);

/// The Buffers among the arguments of a kernel whose memory the core can keep by itself. The memory
/// then outlives the closing of a Buffer.
class BufferList {
public:
    [[nodiscard]] explicit BufferList(std::span<PyObject* const> values);

    [[nodiscard]] std::span<const Buffer* const> all() const noexcept {
        return several_.empty() ? std::span<const Buffer* const>(few_.data(), count_) : several_;
    }

private:
    std::array<const Buffer*, 8> few_;
    std::size_t count_ = 0;
    std::vector<const Buffer*> several_;
};

} // namespace cuprum::python
