// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Deferred release: what is freed later, when, and why.
//
// A destructor usually releases its driver object at once. In two situations it must not:
//
// 1. On a thread that runs a host function of a stream. The driver forbids every call there. This
//    covers all objects: streams, events, buffers, pools, libraries, and the host function with
//    what it captured.
// 2. While the stream that a buffer is freed on is capturing. The free would become part of the
//    graph, or end the capture. This covers buffers only, except graph memory, which belongs to
//    the graph, and resources that say may_free_later() == false.
//
// Such an object goes onto one process-wide list. The list is a lock-free stack, because the
// driver's threads push to it and must not wait. Nobody runs in the background: the list is emptied
// by the next call that may block anyway. These are the synchronisations of a stream, an event, a
// context or a device, Stream::launch_host, the end of a stream, an allocation that finds no
// memory, and an import of shared memory. Stream::is_done and Event::is_done leave the list alone,
// since some releases wait for a stream.
//
// What nodes of graphs kept alive (see graph/payload.hpp) has a list of its own, since its last
// share may go on any thread and inside any call of the driver. Its release never waits for a
// stream. Bindings set a hook to hear of it, and release it soon with release_payloads(); the calls
// above empty this list as well.
//
// A third list holds what launches may still use, such as the Payloads of an executable graph that
// was closed while it runs. Nothing tells when they end, so everything that releases Payloads asks.
//
// Objects are released in the order in which they were deferred. An object that still cannot be
// released (its stream captures still) goes back onto the list. At process exit nothing is
// released: the driver does that.

#pragma once

#include "driver/call.hpp"
#include "driver/capture.hpp"

#include <cuprum/detail/deferred_release.hpp>

#include <atomic>
#include <memory>
#include <utility>

namespace cuprum::detail {

/// Something whose destructor waits on the list. Derive from it to hold the object.
struct DeferredRelease {
    DeferredRelease() = default;
    virtual ~DeferredRelease() = default;
    DeferredRelease(const DeferredRelease&) = delete;
    DeferredRelease& operator=(const DeferredRelease&) = delete;

    DeferredRelease* next = nullptr; // in the list
};

/// Something that is released once work of the device has ended. What its destructor releases must
/// go onto one of the other lists.
struct AwaitedRelease : DeferredRelease {
    /// Returns whether the work has ended. Called by one thread at a time, in relaxed capture mode.
    [[nodiscard]] virtual bool is_due() noexcept = 0;
};

/// Puts an object onto the list. Safe on every thread; does not call the driver.
void push_deferred(std::unique_ptr<DeferredRelease> object) noexcept;

// defer_release(std::shared_ptr<void>), which bindings use too, does the same with a share. It may
// throw std::bad_alloc.

/// Puts what a graph gave up onto a list of its own and calls the hook of set_payload_hook(),
/// unless the thread is in a PayloadScope. Safe on every thread; does not call the driver.
void push_payload(std::unique_ptr<DeferredRelease> object) noexcept;

/// Releases at its end what graphs gave up, as release_payloads() does. What the thread itself
/// gives up meanwhile needs no hook then, which costs a binding more than the release.
class PayloadScope {
public:
    PayloadScope() noexcept;
    ~PayloadScope();
    PayloadScope(const PayloadScope&) = delete;
    PayloadScope& operator=(const PayloadScope&) = delete;
};

/// Puts what launches may still use onto the third list. Safe on every thread; does not call the
/// driver.
void push_awaited(std::unique_ptr<AwaitedRelease> object) noexcept;

/// The lists, newest first.
extern std::atomic<DeferredRelease*> deferred_releases;
extern std::atomic<DeferredRelease*> deferred_payloads;
extern std::atomic<DeferredRelease*> awaited_releases;

/// Releases everything on the lists; see release_deferred().
void release_all_deferred() noexcept;

/// Releases everything on the lists, but nothing that launches still use. Returns whether there was
/// anything. Costs three loads if they are empty. Does nothing in a host function. May wait for
/// streams.
inline bool release_deferred() noexcept {
    if (deferred_releases.load(std::memory_order_relaxed) == nullptr &&
        deferred_payloads.load(std::memory_order_relaxed) == nullptr &&
        awaited_releases.load(std::memory_order_relaxed) == nullptr) [[likely]] {
        return false;
    }
    release_all_deferred();
    return true;
}

/// Returns whether the calling thread is inside a HostFunctionScope.
[[nodiscard]] bool is_marked_as_host_function() noexcept;

/// Returns whether the calling thread runs a host function of a stream: it must not call the
/// driver. Costs one load while no thread does.
[[nodiscard]] inline bool runs_host_function() noexcept {
    return driver::detail::process_flags.host_functions.load(std::memory_order_relaxed) != 0 &&
           is_marked_as_host_function();
}

/// Releases a driver object in a destructor: calls `entry` now, or later if the calling thread runs
/// a host function. Never ends a stream capture. Reports a failure as a warning; `what` names the
/// object there, as in "stream".
template <typename... Params, typename... Args>
inline void release_or_defer(const char* what, const driver::Entry<CUresult(Params...)>& entry,
                             Args... args) noexcept {
    const auto release = [=, &entry](void*) noexcept {
        const driver::RelaxedCapture relaxed;
        driver::release_now(what, entry, args...);
    };
    if (!runs_host_function()) [[likely]] {
        release(nullptr);
        return;
    }
    try {
        defer_release(std::shared_ptr<void>(nullptr, release));
    } catch (...) {
        driver::report_release_failure(what);
    }
}

} // namespace cuprum::detail
