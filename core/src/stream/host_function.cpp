// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "stream/host_function.hpp"

#include "driver/call.hpp"
#include "driver/capture.hpp"
#include "driver/handle.hpp"
#include "stream/active_captures.hpp"
#include "stream/stream_state.hpp"
#include "support/warn.hpp"

#include <cuprum/error.hpp>
#include <cuprum/stream.hpp>

#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace cuprum {

namespace {

void report_exception(const char* what) noexcept;

} // namespace

void Stream::launch_host(std::function<void()> function) const {
    if (!function) {
        throw std::invalid_argument("function is empty, expected something to call");
    }
    detail::release_deferred();
    const CUstream stream = detail::handle_of(*this);
    const auto& entry = driver::table().cuLaunchHostFunc;
    if (detail::has_active_captures()) {
        if (const auto record = detail::find_capture(*state_)) {
            record->capture_callback(*this, std::move(function));
            return;
        }
    }
    // Every launch of a graph would call a captured function, but this one is called once only.
    if (driver::capture_status(stream) != CU_STREAM_CAPTURE_STATUS_NONE) {
        throw CUDAError(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, entry.name,
                        "the stream is being captured by other code than a GraphBuilder, whose "
                        "graph cannot own the function; add it to that graph as a host node");
    }
    auto held = std::make_unique<detail::HostFunction>(std::move(function));
    driver::call(entry, stream, &detail::call_host_function, static_cast<void*>(held.get()));
    // NOTE: the stream owns it now. If earlier work of the context fails, the driver never calls
    // the function and says nothing, so that the function leaks.
    static_cast<void>(held.release()); // NOLINT(bugprone-unused-return-value)
}

void detail::call_host_function(void* function) noexcept {
    std::unique_ptr<HostFunction> held(static_cast<HostFunction*>(function));
    {
        const HostFunctionScope scope;
        try {
            held->function();
        } catch (const std::exception& error) {
            report_exception(error.what());
        } catch (...) {
            report_exception("something that is not a std::exception");
        }
    }
    push_deferred(std::move(held));
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

void report_exception(const char* what) noexcept {
    try {
        detail::warn(WarningKind::HostFunction,
                     std::string("a host function that a stream called threw: ") + what);
    } catch (...) {
        detail::warn(WarningKind::HostFunction, "a host function that a stream called threw");
    }
}

} // namespace

} // namespace cuprum
