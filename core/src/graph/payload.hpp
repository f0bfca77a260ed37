// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What a node of a graph keeps alive.
//
// Each set of a node's parameters has one Payload: shares of the kernel, of the memory of buffers,
// of an event, of a callback, of whatever a binding hands over. The node holds a share of it. So do
// the nodes of clones and of parents that embed the graph. An executable holds one share of
// everything that it can use; see executable_state.hpp for how long.
//
// Other code may clone, embed or instantiate a graph whose handle it knows. Only such a graph is
// *exposed*: all graphs of its hierarchy then retain a CUDA user object that holds shares of
// everything that any of them uses, or used since then, and the driver hands it on to whatever is
// made of the graph. A launch of an executable with user objects costs several microseconds more
// (docs/design/0012_executables_without_user_objects.md), so that graphs of our own have none.
//
// The last share can go on any thread, inside a call of the driver, under a lock or in a host
// function. So nothing is released there: the Payload goes onto the list of deferred releases.

#pragma once

#include "driver/call.hpp"
#include "driver/deferred_release.hpp"
#include "stream/event_state.hpp"
#include "stream/stream_state.hpp"

#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace cuprum::detail {

class PayloadShare;

/// The objects that one set of a node's parameters keeps alive, in one allocation.
///
/// A kernel node has its kernel first, then what belongs to its arguments, then the events of its
/// configuration. A callback has its owners. A copy has destination and source, which can be null.
/// A fill has its destination, an event node its event.
class Payload final : public DeferredRelease {
public:
    /// Makes one with room for so many owners, all null.
    [[nodiscard]] static PayloadShare make(std::size_t count);
    /// Makes one for two owners. Returns null if there are none.
    [[nodiscard]] static PayloadShare of(std::shared_ptr<void> first,
                                         std::shared_ptr<void> second = {});

    ~Payload() override;
    Payload(const Payload&) = delete;
    Payload& operator=(const Payload&) = delete;

    [[nodiscard]] std::span<std::shared_ptr<void>> owners() noexcept { return {begin(), count_}; }

    /// Returns how many live Payloads there are, for tests.
    [[nodiscard]] static std::size_t live_count() noexcept;

    static void operator delete(void* memory) { ::operator delete(memory); }

private:
    friend class PayloadShare;

    /// The number of owners that an allocation has room for.
    /// NOTE: a plain number would make the matching `operator delete` the sized one, which the
    /// language forbids.
    struct Owners {
        std::size_t count;
    };

    explicit Payload(std::size_t count) noexcept;

    static void* operator new(std::size_t size, Owners owners) {
        return ::operator new(size + owners.count * sizeof(std::shared_ptr<void>));
    }

    static void operator delete(void* memory, Owners /*owners*/) { ::operator delete(memory); }

    [[nodiscard]] std::shared_ptr<void>* begin() noexcept {
        return reinterpret_cast<std::shared_ptr<void>*>(this + 1);
    }

    std::atomic<unsigned> shares_ = 1;
    unsigned count_;
};

/// A share of a Payload, or null.
class PayloadShare {
public:
    PayloadShare() = default;

    PayloadShare(std::nullptr_t) noexcept {} // NOLINT(google-explicit-constructor)

    /// Takes over a share that release() gave out.
    [[nodiscard]] explicit PayloadShare(Payload* taken) noexcept : payload_(taken) {}

    PayloadShare(const PayloadShare& other) noexcept : payload_(other.payload_) {
        if (payload_ != nullptr) {
            payload_->shares_.fetch_add(1, std::memory_order_relaxed);
        }
    }

    PayloadShare(PayloadShare&& other) noexcept : payload_(other.release()) {}

    PayloadShare& operator=(PayloadShare other) noexcept {
        std::swap(payload_, other.payload_);
        return *this;
    }

    ~PayloadShare() {
        if (payload_ != nullptr && payload_->shares_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            push_payload(std::unique_ptr<DeferredRelease>(payload_));
        }
    }

    [[nodiscard]] Payload* get() const noexcept { return payload_; }

    Payload* operator->() const noexcept { return payload_; }

    explicit operator bool() const noexcept { return payload_ != nullptr; }

    friend bool operator==(const PayloadShare& share, std::nullptr_t) noexcept {
        return share.payload_ == nullptr;
    }

    /// Gives the share out as a pointer.
    [[nodiscard]] Payload* release() noexcept { return std::exchange(payload_, nullptr); }

private:
    Payload* payload_ = nullptr;
};

/// What an exposed hierarchy of graphs keeps alive for others. It only grows, since nobody knows
/// what they made of the graphs. Thread-safe.
class KeptForOthers {
public:
    explicit KeptForOthers(std::vector<PayloadShare> payloads) noexcept
        : all_(std::move(payloads)) {}

    void add(PayloadShare payload);

private:
    std::mutex mutex_;
    std::vector<PayloadShare> all_; // guarded by the mutex
};

/// Lets a graph retain a user object that holds a share of a Payload.
/// @throws CUDAError if the driver cannot; nothing is retained then.
CUuserObject retain_payload(CUgraph graph, PayloadShare payload);

/// A user object that a graph retains for a scope.
class RetainedPayload {
public:
    [[nodiscard]] RetainedPayload(CUgraph graph, PayloadShare payload)
        : graph_(graph), object_(retain_payload(graph, std::move(payload))) {}

    ~RetainedPayload();
    RetainedPayload(const RetainedPayload&) = delete;
    RetainedPayload& operator=(const RetainedPayload&) = delete;

private:
    CUgraph graph_;
    CUuserObject object_;
};

// What an executable graph gave up while launches may still use it.
//
// The driver never lets two launches of one executable overlap: each is ordered behind the one
// before, on whatever stream. So an event behind the last launch is done when all launches are.
// Retired Payloads wait for that event on the list of awaited releases; see
// driver/deferred_release.hpp for who asks, and when.

/// What is known about the end of a stream's work.
struct EndOfWork {
    enum class Answer : std::uint8_t {
        Event, // `event` is behind everything that was enqueued so far
        Over,  // the work has ended: its context failed, or is gone
        Later, // ask again: the stream is being captured, or the driver failed
    };

    Answer answer = Answer::Over;
    std::shared_ptr<EventState> event = {};
    std::exception_ptr failure = {}; // why the driver failed
};

/// Records an event behind everything that was enqueued on a stream of our own. Call it without a
/// lock.
[[nodiscard]] EndOfWork end_of_work(const StreamState& stream) noexcept;

/// Returns whether the answer to a call about work means that the work has ended: it is done, or
/// its context has failed or is gone. Any other answer may be one to a call that the driver does
/// not allow, as in a host function of others.
[[nodiscard]] bool is_over(int status) noexcept;

/// Warns that nobody knows yet when a launch of a graph ends, and why.
void warn_unmarked(const std::exception_ptr& failure) noexcept;
void warn_unmarked(const char* reason) noexcept;

/// Releases a Payload once an event is done. If there is none, asks a stream of our own for one
/// later; without a stream, releases it now. Does not call the driver.
void retire(PayloadShare payload, const std::shared_ptr<EventState>& mark,
            std::shared_ptr<StreamState> stream = nullptr) noexcept;

} // namespace cuprum::detail
