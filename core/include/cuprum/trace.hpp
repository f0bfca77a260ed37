// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/export.hpp>

#include <string>
#include <string_view>

namespace cuprum {

/// What a trace records.
struct TraceOptions {
    /// Also record when kernels, copies, fills and graphs ran on their streams, not only when they
    /// were enqueued. Costs two event records each. A graph is one stretch of time that lists its
    /// nodes: the driver does not say when each of them ran.
    bool has_device_work = true;
};

/// Starts to record every driver call with its arguments, result, thread and duration, and the work
/// on the streams, into a file that browsers open (chrome://tracing, ui.perfetto.dev).
///
/// CUPRUM_TRACE=file starts it with the first use of the driver. The file is complete after
/// stop_trace() or at exit, and readable before: events are appended. At exit, unfinished work is
/// waited for only a few seconds, and a warning says how much the trace lacks.
///
/// @throws std::invalid_argument if the file cannot be written, std::logic_error if a trace is
/// being recorded already.
CUPRUM_API void start_trace(const std::string& path, const TraceOptions& options = {});

/// Waits for the traced work to finish and closes the file. Other threads can go on meanwhile. Does
/// nothing without a trace.
CUPRUM_API void stop_trace();

/// Returns whether a trace is being recorded.
[[nodiscard]] CUPRUM_API bool is_tracing() noexcept;

/// Marks a stretch of a thread's time by name, in the trace and, with CUPRUM_NVTX=1, for NVIDIA's
/// profilers. Without either it costs a load and a branch.
///
/// @code
/// cuprum::start_trace("trace.json");
/// {
///     const cuprum::TraceRange range("prepare");
///     buffer.fill(std::uint8_t{0}, stream);
/// }
/// cuprum::stop_trace(); // chrome://tracing and Perfetto show the file
/// @endcode
class CUPRUM_API TraceRange {
public:
    /// Begins a range. The destructor ends it.
    explicit TraceRange(std::string_view name);
    ~TraceRange();

    TraceRange(const TraceRange&) = delete;
    TraceRange& operator=(const TraceRange&) = delete;

private:
    bool is_marked_ = false;
};

namespace detail {

/// Begins and ends a range for bindings, whose ranges are no C++ scopes.
CUPRUM_API void begin_range(std::string_view name);
CUPRUM_API void end_range();

} // namespace detail
} // namespace cuprum
