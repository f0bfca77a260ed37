// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Observers of driver calls: tracing, logging, ranges for profilers, injected faults.
//
// Without observers, calls go through the driver's own table and cost nothing more. The first
// observer installs a table whose entries report each call to the observers.

#pragma once

#include "driver/table.hpp"

#include <optional>
#include <string>

namespace cuprum::driver {

/// One call of the driver, as observers see it.
struct Call {
    const char* name;
    const char* parameters; // their names, separated by commas
    /// Writes the arguments as `"name": value` pairs; results behind pointers too if `has_results`.
    void (*describe)(const Call& call, bool has_results, std::string& text);
    const void* arguments;          // a std::tuple, known to `describe`
    std::optional<CUstream> stream; // where the call enqueues, if it takes a stream
    CUfunction kernel = nullptr;    // what it launches, if it does
};

/// An object that sees every driver call. Observers must live as long as the process: a call on
/// another thread may still reach one that was just removed.
class Observer {
public:
    Observer(const Observer&) = delete;
    Observer& operator=(const Observer&) = delete;

    /// Runs before a call. Any code but success is returned to the caller instead of the call.
    virtual CUresult before(const Call& call);

    /// Runs after a call, in reverse order of the observers, and returns the status for the caller.
    /// Only injected faults return another status.
    virtual CUresult after(const Call& call, CUresult status);

protected:
    Observer() = default;
    ~Observer() = default;
};

/// Adds an observer; does nothing if it is there already.
void add_observer(Observer& observer);

/// Removes an observer; does nothing if it is not there.
void remove_observer(Observer& observer);

/// Appends text as a JSON string.
void append_quoted(std::string& text, const char* words);

/// Calls the driver below the observers and reports the call to them.
template <auto Member>
struct Observed;

namespace detail {

CUresult observe(const Call& call, CUresult (*invoke)(const void* arguments));

/// Returns the names of a function's parameters, separated by commas.
[[nodiscard]] const char* parameter_names(const char* function) noexcept;

/// Appends the next name out of a comma-separated list, with a colon, and moves on.
void append_name(std::string& text, const char*& names);

void append_value(std::string& text, unsigned long long value, bool is_hexadecimal);
void append_value(std::string& text, long long value);
void append_value(std::string& text, double value);

template <typename T>
void append_argument(std::string& text, T value, bool has_results);

} // namespace detail
} // namespace cuprum::driver
