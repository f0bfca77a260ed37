// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "driver/deferred_release.hpp"

#include "driver/call.hpp"
#include "driver/capture.hpp"

#include <memory>
#include <utility>

namespace cuprum::detail {

constinit std::atomic<DeferredRelease*> deferred_releases{nullptr};
constinit std::atomic<DeferredRelease*> deferred_payloads{nullptr};
constinit std::atomic<DeferredRelease*> awaited_releases{nullptr};

namespace {

/// So many awaited objects are asked each time. If there are more, they are asked whenever their
/// number has doubled, so that a program which runs far ahead of the device does not ask in vain.
constexpr std::size_t ALWAYS_ASKED = 16;

constinit std::atomic<std::size_t> awaited_count{0};
constinit std::atomic<std::size_t> next_asked{ALWAYS_ASKED}; // the number to ask them all again at

constinit std::atomic<void (*)() noexcept> payload_hook{nullptr};

// Scopes of this thread, one inside another.
thread_local constinit unsigned host_functions = 0;
thread_local constinit unsigned payload_scopes = 0;

void call_payload_hook() noexcept {
    if (const auto hook = payload_hook.load(std::memory_order_acquire); hook != nullptr) {
        hook();
    }
}

/// A share of an object that is released later.
struct DeferredShare final : DeferredRelease {
    explicit DeferredShare(std::shared_ptr<void> held) noexcept : object(std::move(held)) {}

    std::shared_ptr<void> object;
};

void push(std::atomic<DeferredRelease*>& list, std::unique_ptr<DeferredRelease> object) noexcept {
    DeferredRelease* const newest = object.release();
    newest->next = list.load(std::memory_order_relaxed);
    while (!list.compare_exchange_weak(newest->next, newest, std::memory_order_release,
                                       std::memory_order_relaxed)) {
    }
}

/// Empties a list and returns its objects, oldest first: one may need another that came later.
DeferredRelease* take_all(std::atomic<DeferredRelease*>& list) noexcept {
    DeferredRelease* newest = list.exchange(nullptr, std::memory_order_acquire);
    DeferredRelease* oldest = nullptr;
    while (newest != nullptr) {
        DeferredRelease* const each = std::exchange(newest, newest->next);
        each->next = std::exchange(oldest, each);
    }
    return oldest;
}

void release_all(std::atomic<DeferredRelease*>& list) noexcept {
    DeferredRelease* oldest = take_all(list);
    while (oldest != nullptr) {
        delete std::exchange(oldest, oldest->next);
    }
}

/// Releases Payloads, and those that only other Payloads held.
void release_all_payloads() noexcept {
    while (deferred_payloads.load(std::memory_order_relaxed) != nullptr) {
        release_all(deferred_payloads);
    }
}

/// Releases what no launch uses any more.
void release_due() noexcept {
    if (awaited_releases.load(std::memory_order_relaxed) == nullptr) {
        return;
    }
    const driver::RelaxedCapture relaxed; // asking an event ends captures
    DeferredRelease* oldest = take_all(awaited_releases);
    while (oldest != nullptr) {
        std::unique_ptr<DeferredRelease> each(std::exchange(oldest, oldest->next));
        if (!static_cast<AwaitedRelease&>(*each).is_due()) {
            push(awaited_releases, std::move(each));
            continue;
        }
        awaited_count.fetch_sub(1, std::memory_order_relaxed);
    }
    next_asked.store(2 * awaited_count.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

} // namespace

void push_deferred(std::unique_ptr<DeferredRelease> object) noexcept {
    push(deferred_releases, std::move(object));
}

void push_payload(std::unique_ptr<DeferredRelease> object) noexcept {
    push(deferred_payloads, std::move(object));
    if (payload_scopes == 0) {
        call_payload_hook();
    }
}

PayloadScope::PayloadScope() noexcept {
    ++payload_scopes;
}

PayloadScope::~PayloadScope() {
    release_payloads();
    // A host function releases nothing, and another thread may have pushed since.
    if (--payload_scopes == 0 && deferred_payloads.load(std::memory_order_relaxed) != nullptr) {
        call_payload_hook();
    }
}

void push_awaited(std::unique_ptr<AwaitedRelease> object) noexcept {
    awaited_count.fetch_add(1, std::memory_order_relaxed);
    push(awaited_releases, std::move(object));
}

void set_payload_hook(void (*hook)() noexcept) noexcept {
    payload_hook.store(hook, std::memory_order_release);
}

bool has_released_payloads() noexcept {
    return deferred_payloads.load(std::memory_order_relaxed) != nullptr ||
           awaited_releases.load(std::memory_order_relaxed) != nullptr;
}

void release_payloads() noexcept {
    if (!has_released_payloads() || runs_host_function()) [[likely]] {
        return;
    }
    if (const std::size_t count = awaited_count.load(std::memory_order_relaxed);
        count <= ALWAYS_ASKED || count >= next_asked.load(std::memory_order_relaxed)) {
        release_due();
    }
    release_all_payloads();
}

void defer_release(std::shared_ptr<void> object) {
    push_deferred(std::make_unique<DeferredShare>(std::move(object)));
}

void release_all_deferred() noexcept {
    if (runs_host_function()) {
        return;
    }
    release_all(deferred_releases);
    release_due();
    release_all_payloads();
}

HostFunctionScope::HostFunctionScope() noexcept {
    driver::detail::process_flags.host_functions.fetch_add(1, std::memory_order_relaxed);
    ++host_functions;
}

HostFunctionScope::~HostFunctionScope() {
    --host_functions;
    driver::detail::process_flags.host_functions.fetch_sub(1, std::memory_order_relaxed);
}

bool is_marked_as_host_function() noexcept {
    return host_functions != 0;
}

bool has_deferred_releases() noexcept {
    return deferred_releases.load(std::memory_order_relaxed) != nullptr || has_released_payloads();
}

bool is_in_host_function() noexcept {
    return runs_host_function();
}

} // namespace cuprum::detail
