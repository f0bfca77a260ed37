// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "stream/host_function.hpp"

#include "driver/call.hpp"
#include "driver/handle.hpp"
#include "stream/stream_state.hpp"
#include "support/warn.hpp"

#include <cuprum/detail/host_function.hpp>
#include <cuprum/error.hpp>
#include <cuprum/stream.hpp>

#include <atomic>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace cuprum {

namespace {

thread_local bool is_running = false; // a host function, on this thread

void report(const char* what) noexcept;

} // namespace

void Stream::launch_host(std::function<void()> function) const {
    if (!function) {
        throw std::invalid_argument("function is empty, expected something to call");
    }
    detail::release_finished_host_functions();
    const CUstream stream = detail::handle_of(*this);
    // A captured function would be called by every launch of the graph, and here it is called once.
    CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
    driver::call(driver::table().cuStreamIsCapturing, stream, &capture);
    const auto& entry = driver::table().cuLaunchHostFunc;
    if (capture != CU_STREAM_CAPTURE_STATUS_NONE) {
        throw CUDAError(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, entry.name,
                        "the stream is being captured; add the function to the graph itself, as a "
                        "callback");
    }
    auto held = std::make_unique<detail::HostFunction>();
    held->function = std::move(function);
    driver::call(entry, stream, &detail::call_host_function, static_cast<void*>(held.get()));
    // NOTE: the stream's from here on. Should earlier work of the context fail, the driver never
    // calls it and it stays: nothing tells.
    static_cast<void>(held.release()); // NOLINT(bugprone-unused-return-value)
}

namespace detail {

constinit std::atomic<HostFunction*> finished_host_functions{nullptr};

void call_host_function(void* function) noexcept {
    std::unique_ptr<HostFunction> held(static_cast<HostFunction*>(function));
    driver::detail::process_flags.host_functions.fetch_add(1, std::memory_order_relaxed);
    is_running = true;
    try {
        held->function();
    } catch (const std::exception& error) {
        report(error.what());
    } catch (...) {
        report("something that is not a std::exception");
    }
    is_running = false;
    driver::detail::process_flags.host_functions.fetch_sub(1, std::memory_order_relaxed);
    put_on_list(std::move(held));
}

void put_on_list(std::unique_ptr<HostFunction> held) noexcept {
    HostFunction* const last = held.release();
    last->next = finished_host_functions.load(std::memory_order_relaxed);
    while (!finished_host_functions.compare_exchange_weak(
        last->next, last, std::memory_order_release, std::memory_order_relaxed)) {
    }
}

void release_all_finished_host_functions() noexcept {
    if (driver::is_in_host_function()) {
        return;
    }
    HostFunction* last = finished_host_functions.exchange(nullptr, std::memory_order_acquire);
    HostFunction* first = nullptr; // an object may need what was given up after it
    while (last != nullptr) {
        HostFunction* const held = std::exchange(last, last->next);
        held->next = std::exchange(first, held);
    }
    while (first != nullptr) {
        delete std::exchange(first, first->next);
    }
}

bool is_in_host_function() noexcept {
    return driver::is_in_host_function();
}

void keep_for_later(std::shared_ptr<void> object) {
    driver::keep_for_later(std::move(object));
}

} // namespace detail

bool driver::detail::runs_host_function() noexcept {
    return is_running;
}

void driver::keep_for_later(std::shared_ptr<void> object) {
    auto held = std::make_unique<cuprum::detail::HostFunction>();
    held->kept = std::move(object);
    cuprum::detail::put_on_list(std::move(held));
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

void report(const char* what) noexcept {
    try {
        detail::warn(WarningKind::HostFunction,
                     std::string("a host function that a stream called threw: ") + what);
    } catch (...) {
        detail::warn(WarningKind::HostFunction, "a host function that a stream called threw");
    }
}

} // namespace

} // namespace cuprum
