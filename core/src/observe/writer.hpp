// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>

namespace cuprum::trace {

/// Returns the time in nanoseconds since some point in the past, the same for all threads.
[[nodiscard]] std::int64_t now_ns() noexcept;

/// Returns the number by which the system knows the calling thread.
[[nodiscard]] int thread_number() noexcept;

/// A line of a trace: a thread of the host, or a stream of a device.
struct Track {
    int process = 0;
    long long thread = 0;
};

/// Appends events in Chrome's trace format, one a line. Safe for several threads.
class Writer {
public:
    Writer() = default;
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;
    ~Writer();

    /// Opens the file, refusing to follow a symbolic link, or to write where another process does.
    /// `%p` stands for the process's number.
    /// @throws std::invalid_argument with the reason.
    void open(const std::string& pattern);

    /// Ends the list and closes the file.
    /// @throws std::runtime_error if something could not be written.
    void close();

    /// Empties what is buffered and keeps everybody out until after_fork().
    void before_fork() noexcept;
    /// Lets everybody in again; in a child, which must not write, after closing the file.
    void after_fork(bool is_child) noexcept;

    /// Writes a stretch of time. `details` are JSON members.
    void write(const Track& track, const char* category, const std::string& name,
               std::int64_t begin_ns, std::int64_t end_ns, const std::string& details);

    /// Names a process of the trace, and a thread of it, unless they have been named.
    void name_process(int process, const std::string& name);
    void name_track(const Track& track, const std::string& name);

private:
    void append(const std::string& line);
    void append_name(const Track& track, const char* kind, const std::string& name);

    std::mutex mutex_;
    std::FILE* file_ = nullptr;
    bool has_failed_ = false;
    std::string path_;
    std::map<std::pair<int, long long>, bool> named_;
};

} // namespace cuprum::trace
