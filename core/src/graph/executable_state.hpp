// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The state behind Graph, an executable.
//
// The driver copies the definition's references to user objects into the executable, so that it
// keeps alive what its nodes used when it was made. An update of a single node brings new objects,
// and the driver has no call to let an executable retain them. So every executable has one object
// of its own for them, ExecutableOwners: the definition retains it for the time of the
// instantiation, and the executable takes a reference over. A launch in flight has one, too. So
// what an update brought lives as long as anything that can use it, also if the Graph is gone
// before its last launch ends.
//
// A program may update one node again and again. What such updates replaced is released before the
// executable goes, as long as this library makes all its launches. The driver never lets two
// launches of one executable overlap, so that an event behind the last one is enough.
//
// An update of the whole executable does the same again with a new ExecutableOwners: the driver
// gives up the old reference, and what earlier updates of single nodes brought goes once the last
// launch that uses it has ended.

#pragma once

#include "driver/call.hpp"
#include "graph/graph_state.hpp"
#include "graph/payload.hpp"

#include <cuprum/event.hpp>
#include <cuprum/graph/graph.hpp>
#include <cuprum/stream.hpp>

#include <cuda.h>

#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

namespace cuprum::detail {

/// What updates of single nodes brought to an executable. A user object owns it.
///
/// An update replaces what the last update of the same node brought, but a launch in flight may
/// still use that. Now and then, release_replaced() asks an event behind the last launch.
class ExecutableOwners final : public DeferredRelease {
public:
    /// Returns what the last update of a node brought, or null.
    [[nodiscard]] Payload* find(CUgraphNode node) const noexcept;
    /// Makes room for one more update, so that keep() does not fail.
    void reserve(CUgraphNode node);
    /// Keeps what an update brought.
    void keep(CUgraphNode node, std::unique_ptr<Payload> payload) noexcept;

    /// Returns whether it is time for release_replaced().
    [[nodiscard]] bool is_crowded() const noexcept { return replaced_.size() >= crowd_; }

    /// Releases what updates have replaced and no launch uses any more. `last` is the stream of the
    /// last launch; nothing if the executable was never launched.
    void release_replaced(const std::optional<Stream>& last) noexcept;

private:
    static constexpr std::size_t FIRST_CROWD = 64;

    std::unordered_map<CUgraphNode, std::unique_ptr<Payload>> current_;
    std::vector<std::unique_ptr<Payload>> replaced_;
    std::vector<std::unique_ptr<Payload>> waiting_; // replaced before `mark_` was recorded
    std::optional<Event> mark_;                     // behind the launches that may use `waiting_`
    std::size_t crowd_ = FIRST_CROWD;
};

/// A user object with an ExecutableOwners, of which the holder has one reference.
class SharedOwners {
public:
    SharedOwners() = default;
    /// Makes one with two references: one for the holder, and one that lend_to() moves to a graph.
    [[nodiscard]] static SharedOwners make();

    ~SharedOwners();

    SharedOwners(SharedOwners&& other) noexcept
        : object_(std::exchange(other.object_, nullptr)),
          owners_(std::exchange(other.owners_, nullptr)) {}

    SharedOwners& operator=(SharedOwners&& other) noexcept {
        std::swap(object_, other.object_);
        std::swap(owners_, other.owners_);
        return *this;
    }

    SharedOwners(const SharedOwners&) = delete;
    SharedOwners& operator=(const SharedOwners&) = delete;

    [[nodiscard]] CUuserObject object() const noexcept { return object_; }

    ExecutableOwners* operator->() const noexcept { return owners_; }

private:
    CUuserObject object_ = nullptr;
    ExecutableOwners* owners_ = nullptr;
};

/// Lets a graph retain a user object for a scope, so that an executable takes it over.
class LentOwners {
public:
    [[nodiscard]] LentOwners(CUgraph graph, const SharedOwners& owners);
    ~LentOwners();
    LentOwners(const LentOwners&) = delete;
    LentOwners& operator=(const LentOwners&) = delete;

private:
    CUgraph graph_;
    CUuserObject object_;
};

/// An executable. Destroying the state destroys it; launches in flight complete.
struct ExecutableState {
    CUgraphExec handle = nullptr;
    SharedOwners owners;
    std::optional<Stream> last_stream; // of the last launch here
    // Others may launch it: they know the handle, or a captured graph contains it.
    bool is_shared = false;

    ExecutableState() = default;
    ~ExecutableState();
    ExecutableState(const ExecutableState&) = delete;
    ExecutableState& operator=(const ExecutableState&) = delete;
};

/// Releases what updates of single nodes have replaced, if there is much of it and nobody else can
/// use it.
inline void tidy(ExecutableState& executable) noexcept {
    if (executable.owners->is_crowded() && !executable.is_shared) [[unlikely]] {
        executable.owners->release_replaced(executable.last_stream);
    }
}

/// Returns the state of an executable, to use it.
/// @throws ClosedError if it is closed.
[[nodiscard]] inline ExecutableState& open(const Graph& graph) {
    return open(Access::state(graph), "Graph");
}

} // namespace cuprum::detail
