// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Polling for language bindings, which must not block in the driver while a signal waits.
//
// Logs, traces and injected faults do not see these calls: how often they are made depends on time.

#pragma once

#include <cuprum/detail/driver_types.hpp>
#include <cuprum/detail/export.hpp>

#include <memory>

namespace cuprum {

class Context;
class Event;
class Stream;

namespace detail {

struct ContextState;

/// Returns whether work is still running or waiting to run. If it failed, or if the driver cannot
/// be asked, the answer is false: `sync()` then returns at once or throws the error.
[[nodiscard]] CUPRUM_API bool is_pending(const Stream& stream) noexcept;
[[nodiscard]] CUPRUM_API bool is_pending(const Event& event) noexcept;

/// Asks the driver as `is_done()` does, but returns the code of a failure instead of reporting it:
/// the call that throws it is then the first that reports it, in full.
[[nodiscard]] CUPRUM_API int query(const Stream& stream);
[[nodiscard]] CUPRUM_API int query(const Event& event);

/// Marks the end of the work that a stream or a context holds now, with an event of its own.
class CUPRUM_API WorkMark {
public:
    [[nodiscard]] explicit WorkMark(const Stream& stream) noexcept;
    [[nodiscard]] explicit WorkMark(const Context& context) noexcept;
    ~WorkMark();
    WorkMark(const WorkMark&) = delete;
    WorkMark& operator=(const WorkMark&) = delete;

    /// Returns whether that work is still pending. False if the driver could not set the mark, as
    /// during a stream capture.
    [[nodiscard]] bool is_pending() const noexcept;

private:
    template <typename Record>
    void set(CUcontext context, const Record& record);

    std::shared_ptr<ContextState> home_; // null for a stream of others
    unsigned made_at_ = 0;               // the context's count of resets when the mark was set
    CUevent event_ = nullptr;
};

} // namespace detail

} // namespace cuprum
