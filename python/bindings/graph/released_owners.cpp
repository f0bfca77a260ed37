// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/released_owners.hpp"

#include "support/leaving.hpp"

#include <cuprum/detail/deferred_release.hpp>

#include <atomic>
#include <new>
#include <utility>

namespace cuprum::python {

namespace {

/// A Python object that no graph uses any more.
struct Released {
    PyObject* object;
    Released* next;
};

constinit std::atomic<Released*> released{nullptr};

// newest first
constinit std::atomic<bool> is_scheduled{false};

/// Puts an object onto the list. Runs on any thread.
void give_back(PyObject* object) noexcept {
    auto* const newest = new (std::nothrow) Released{object, nullptr};
    if (newest == nullptr) {
        return; // out of memory: it is freed with the process
    }
    newest->next = released.load(std::memory_order_relaxed);
    while (!released.compare_exchange_weak(newest->next, newest, std::memory_order_release,
                                           std::memory_order_relaxed)) {
    }
    schedule_releases();
}

void release_objects() noexcept {
    Released* newest = released.exchange(nullptr, std::memory_order_acquire);
    Released* oldest = nullptr;
    while (newest != nullptr) {
        Released* const each = std::exchange(newest, newest->next);
        each->next = std::exchange(oldest, each);
    }
    while (oldest != nullptr) {
        Released* const each = std::exchange(oldest, oldest->next);
        Py_DECREF(each->object);
        delete each;
    }
}

/// Runs on the main thread, between two instructions of Python.
int release_everything(void* /*nothing*/) noexcept {
    is_scheduled.store(false); // before the lists are read, so that nothing is missed
    if (is_python_gone()) {
        return 0;
    }
    const nb::error_scope pending;
    {
        const nb::gil_scoped_release unlocked; // freeing memory and code may take long
        cuprum::detail::release_payloads();
    }
    release_objects();
    return 0;
}

} // namespace

std::shared_ptr<void> keep_for_graph(nb::object object) {
    return {object.release().ptr(), give_back};
}

void schedule_releases() noexcept {
    if (released.load(std::memory_order_relaxed) == nullptr &&
        !cuprum::detail::has_released_payloads()) [[likely]] {
        return;
    }
    if (is_scheduled.exchange(true)) {
        return;
    }
    const PythonGate python;
    if (!python || Py_AddPendingCall(release_everything, nullptr) != 0) {
        is_scheduled.store(false); // the next use of a graph tries again
    }
}

void watch_for_releases() noexcept {
    cuprum::detail::set_payload_hook(schedule_releases);
}

} // namespace cuprum::python
