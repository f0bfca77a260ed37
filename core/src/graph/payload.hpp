// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What a node of a graph keeps alive.
//
// Each set of a node's parameters has one Payload: shares of the kernel, of the memory of buffers,
// of an event, of a callback, of whatever a binding hands over. A CUDA user object owns the
// Payload, and the graph retains the user object. Clones, executables and launches in flight take
// references of their own, by the driver's rules. So the Payload lives until the last of them is
// done, also if the program uses the graph's handle with the driver's own functions.
//
// New parameters bring a new Payload. It is retained before the driver changes the node, and the
// old one is released from the graph after that. If the driver refuses the change, the new one is
// released and the old one stays.
//
// The driver calls destroy_payload() when the last reference goes, on a thread of its own choice
// and possibly inside another call. So that function releases nothing: it puts the Payload onto the
// list of deferred releases.

#pragma once

#include "driver/call.hpp"
#include "stream/deferred_release.hpp"

#include <cuda.h>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>

namespace cuprum::detail {

/// The objects that one set of a node's parameters keeps alive, in one allocation.
///
/// A kernel node has its kernel first, then what belongs to its arguments, then the events of its
/// configuration. A callback has its owners. A copy has destination and source, which can be null.
/// A fill has its destination, an event node its event.
class Payload final : public DeferredRelease {
public:
    /// Makes one with room for so many owners, all null.
    [[nodiscard]] static std::unique_ptr<Payload> make(std::size_t count);
    [[nodiscard]] static std::unique_ptr<Payload> of(std::shared_ptr<void> first,
                                                     std::shared_ptr<void> second = {});

    ~Payload() override;
    Payload(const Payload&) = delete;
    Payload& operator=(const Payload&) = delete;

    [[nodiscard]] std::span<std::shared_ptr<void>> owners() noexcept { return {begin(), count_}; }

    /// Returns how many live Payloads there are, for tests.
    [[nodiscard]] static std::size_t live_count() noexcept;

    static void operator delete(void* memory) { ::operator delete(memory); }

    static void operator delete(void* memory, std::size_t /*count*/) { ::operator delete(memory); }

    CUuserObject object = nullptr; // that owns this
    unsigned argument_count = 0;   // of a kernel node: owners that belong to arguments

private:
    explicit Payload(std::size_t count) noexcept;

    static void* operator new(std::size_t size, std::size_t count) {
        return ::operator new(size + count * sizeof(std::shared_ptr<void>));
    }

    [[nodiscard]] std::shared_ptr<void>* begin() noexcept {
        return reinterpret_cast<std::shared_ptr<void>*>(this + 1);
    }

    unsigned count_;
};

/// Makes a user object that owns something which is released later, with `references` references.
/// @throws CUDAError if the driver cannot.
[[nodiscard]] CUuserObject make_user_object(DeferredRelease* owned, unsigned references);

/// A Payload that a graph retains. Unless `commit` is called, the graph releases it again.
class RetainedPayload {
public:
    /// Retains nothing.
    RetainedPayload() = default;
    /// Retains a Payload, which may be null.
    /// @throws CUDAError if the driver cannot; nothing is retained then.
    [[nodiscard]] RetainedPayload(CUgraph graph, std::unique_ptr<Payload> payload);

    ~RetainedPayload();
    RetainedPayload(const RetainedPayload&) = delete;
    RetainedPayload& operator=(const RetainedPayload&) = delete;

    [[nodiscard]] Payload* get() const noexcept { return payload_; }

    /// Leaves it to the graph and returns it.
    Payload* commit() noexcept { return std::exchange(payload_, nullptr); }

private:
    CUgraph graph_ = nullptr;
    Payload* payload_ = nullptr;
};

/// Gives up a graph's reference to a Payload, which may be null. Reports a failure.
void release_payload(CUgraph graph, Payload* payload) noexcept;

/// What the driver calls once nothing needs a user object any more.
void destroy_payload(void* owned) noexcept;

} // namespace cuprum::detail
