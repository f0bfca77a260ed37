// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace cuprum::emulator {

/// The latest error messages, at every log level, for programs that read them with cuLogs*.
class DriverLog {
public:
    /// Returns the process's log; never destroyed.
    [[nodiscard]] static DriverLog& instance();

    /// Stores a message, drops the oldest if there are too many, and calls the subscribers.
    void add(CUlogLevel level, std::string text) noexcept;

    /// Calls a function for each message from now on, on the thread whose call failed.
    [[nodiscard]] CUlogsCallbackHandle subscribe(CUlogsCallback callback, void* data);

    /// Ends a subscription. Throws INVALID_VALUE if there is none.
    void unsubscribe(CUlogsCallbackHandle handle);

    /// Returns the number that the next message will have.
    [[nodiscard]] CUlogIterator next() const;

    /// Returns the lines from message `from` on, or all lines for nullptr, and advances `from`.
    /// With a `limit` in bytes, returns the latest lines that fit, after a line that says that
    /// others were left out.
    [[nodiscard]] std::string read(CUlogIterator* from, std::size_t limit) const;

private:
    struct Subscription {
        CUlogsCallback callback;
        void* data;
    };

    mutable std::mutex mutex_;
    std::deque<std::string> lines_; // without line ends
    CUlogIterator first_ = 0;       // the number of the first line
    std::size_t bytes_ = 0;
    std::vector<std::shared_ptr<Subscription>> subscriptions_;
};

} // namespace cuprum::emulator
