// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The state behind Graph, an executable.
//
// An executable keeps alive what the nodes of its definition used when it was made, and what later
// updates of single nodes brought. Launches in flight use that as well, and the driver does not
// say when they end. So when the executable is destroyed, or an update replaces something, what a
// launch may use is *retired*: it is released once an event behind the last launch is done, the
// *mark*. A launch on a stream of our own keeps a share of the stream, and the mark is recorded
// there when it is needed. On any other stream every launch is followed by the mark. A retired
// Payload shares the mark, and later launches take a new event, so that it does not have to wait
// for them.
//
// docs/design/0012_executables_without_user_objects.md says why the driver's user objects do not do
// this, and what else was weighed. Two kinds of executables need more than the mark:
//
// - Kernels launch executables that were made with device_launch. These have one user object that
//   holds everything, and nothing is retired: the driver knows best.
// - Other code can launch an executable whose handle it knows. Its mark follows an upload, since
//   the driver orders that behind all launches.
//
// One lock covers launches, uploads and updates: the driver does not allow two of them at once for
// one executable, and the mark is always behind the last launch. So several threads may launch one
// executable. Nothing is released under the lock, and warnings wait for its end (QuietLock): both
// can run code of the program.

#pragma once

#include "driver/call.hpp"
#include "graph/graph_state.hpp"
#include "graph/payload.hpp"
#include "stream/event_state.hpp"
#include "stream/stream_state.hpp"

#include <cuprum/graph/graph.hpp>
#include <cuprum/stream.hpp>

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace cuprum::detail {

/// What an executable keeps alive. Times are counted in launches.
class ExecutableOwners {
public:
    ExecutableOwners() = default;

    /// Starts with what the nodes of a definition use.
    explicit ExecutableOwners(std::vector<PayloadShare> definition) noexcept
        : definition_(std::move(definition)) {}

    /// Returns what the last update of a node brought, or null.
    [[nodiscard]] Payload* find(CUgraphNode node) const noexcept;
    /// Makes room for one more update, so that keep() does not fail.
    void reserve(CUgraphNode node);

    /// What an update of a node replaced.
    struct Replaced {
        PayloadShare payload;
        bool is_used = false; // by a launch
    };

    /// Keeps what an update of a node brought, and returns what an earlier one brought.
    [[nodiscard]] Replaced keep(CUgraphNode node, PayloadShare payload, std::uint64_t now) noexcept;

    /// Makes room for keep_replaced().
    void reserve_replaced();

    /// Keeps something that was replaced, as long as the rest.
    void keep_replaced(PayloadShare payload) noexcept { replaced_.push_back(std::move(payload)); }

private:
    struct Update {
        PayloadShare payload;
        std::uint64_t kept_at = 0;
    };

    std::vector<PayloadShare> definition_;
    std::unordered_map<CUgraphNode, Update> updates_;
    std::vector<PayloadShare> replaced_; // if nothing is retired, or that failed
};

/// A share of an ExecutableOwners, in a Payload.
class OwnersShare {
public:
    OwnersShare() = default;

    [[nodiscard]] explicit OwnersShare(std::shared_ptr<ExecutableOwners> owners)
        : owners_(owners.get()), payload_(Payload::of(std::move(owners))) {}

    ExecutableOwners* operator->() const noexcept { return owners_; }

    [[nodiscard]] const PayloadShare& payload() const noexcept { return payload_; }

private:
    ExecutableOwners* owners_ = nullptr;
    PayloadShare payload_;
};

/// Makes the owners of an executable from what a definition uses.
[[nodiscard]] OwnersShare owners_from(GraphState& definition);

/// What says when the launches of an executable end.
struct EndOfLaunches {
    std::shared_ptr<EventState> mark;    // behind it; null if there was none
    std::shared_ptr<StreamState> stream; // of our own: where the mark is to be recorded
    bool is_unmarked = false;            // there is no mark that stands for all launches
};

/// The driver's object.
struct ExecutableHandle : OfContext {
    CUgraphExec handle = nullptr;
    bool has_user_object = false; // that holds what it uses: see above
};

/// An executable. Destroying the state destroys it; launches in flight complete.
struct ExecutableState : ExecutableHandle {
    std::mutex mutex; // held for launches and updates; guards what follows
    OwnersShare owners;
    std::uint64_t owned_at = 0; // the launches when `owners` came
    EndOfLaunches last;
    std::uint64_t launches = 0;          // so far
    std::atomic<bool> is_shared = false; // others know the handle and may launch it

    ExecutableState() = default;
    ~ExecutableState();
    ExecutableState(const ExecutableState&) = delete;
    ExecutableState& operator=(const ExecutableState&) = delete;
};

/// What an executable gave up while its lock was held. Retire it without the lock.
struct RetiredShare {
    PayloadShare payload;
    EndOfLaunches last; // of the executable; empty if no launch can use the payload
};

/// Keeps what an update of a node brought to an executable, whose lock is held. Room was reserved.
/// Returns what the update replaced.
[[nodiscard]] RetiredShare keep_update(ExecutableState& executable, CUgraphNode node,
                                       PayloadShare payload) noexcept;

/// Keeps what a definition uses that an executable was updated from. The lock is held. Returns what
/// the update replaced.
[[nodiscard]] RetiredShare replace_owners(ExecutableState& executable, OwnersShare owners) noexcept;

/// Releases what an executable gave up once no launch uses it, or with the executable if the driver
/// does not say when that is. The lock is not held.
void retire_from(ExecutableState& executable, RetiredShare retired) noexcept;

/// Returns the state of an executable, to use it.
/// @throws ClosedError if it is closed.
[[nodiscard]] inline ExecutableState& open(const Graph& graph) {
    return open(Access::state(graph), "Graph");
}

// Which definition an executable graph came from, so that a trace can say what its launches run.
//
// The driver cannot list the nodes of an executable. While driver calls are observed, the nodes are
// described when the executable is made or updated. Else the description is made when it is first
// asked for, from the definition, if that still exists.

/// Notes that an executable was made from a definition, or updated from one. Never throws.
void note_executable(CUgraphExec executable, const GraphShare& source) noexcept;

/// Notes that an executable is gone.
void forget_executable(CUgraphExec executable) noexcept;

/// Describes the nodes of an executable, one line each. Empty if they are not known. Asks the
/// driver below the observers.
[[nodiscard]] std::vector<std::string> nodes_of_executable(CUgraphExec executable);

} // namespace cuprum::detail
