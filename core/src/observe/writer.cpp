// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "observe/writer.hpp"

#include "driver/observe.hpp"
#include "support/text.hpp"

#include <cuprum/version.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <sys/file.h>
#include <sys/syscall.h>

namespace cuprum::trace {

namespace {

constexpr long long PROCESS_ITSELF = -1; // in the list of what has been named

std::string reason() {
    return std::strerror(errno); // NOLINT(concurrency-mt-unsafe)
}

/// Puts the process's number in the place of %p.
std::string with_process(std::string path) {
    static constexpr std::string_view MARK = "%p";
    const std::string number = std::to_string(::getpid());
    for (std::size_t at = path.find(MARK); at != std::string::npos; at = path.find(MARK, at)) {
        path.replace(at, MARK.size(), number);
    }
    return path;
}

} // namespace

std::int64_t now_ns() noexcept {
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

int thread_number() noexcept {
    static thread_local constinit int number = 0;
    if (number == 0) {
        number = static_cast<int>(::syscall(SYS_gettid));
    }
    return number;
}

Writer::~Writer() {
    if (file_ != nullptr) {
        std::fclose(file_);
    }
}

void Writer::open(const std::string& pattern) {
    cuprum::detail::check_has_no_nul("path", pattern);
    const std::string path = with_process(pattern);
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (descriptor < 0) {
        throw std::invalid_argument("trace file '" + path + "' cannot be written: " + reason() +
                                    "; name a file in a folder that exists and is writable");
    }
    // Processes that this one starts inherit CUPRUM_TRACE, and must not write over it. Where there
    // are no locks, they do.
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        ::close(descriptor);
        throw std::invalid_argument("trace file '" + path +
                                    "' is being written by another process; put %p, which stands "
                                    "for the process's number, into its name");
    }
    // What cannot be cut, as a pipe, need not be.
    if (::ftruncate(descriptor, 0) != 0 && errno != EINVAL) {
        const std::string why = reason();
        ::close(descriptor);
        throw std::invalid_argument("trace file '" + path + "' cannot be emptied: " + why +
                                    "; name another file");
    }
    const std::lock_guard lock(mutex_);
    file_ = ::fdopen(descriptor, "w");
    path_ = path;
    has_failed_ = false;
    named_.clear();
    std::fputs("[\n", file_);
}

void Writer::close() {
    const std::lock_guard lock(mutex_);
    if (file_ == nullptr) {
        return;
    }
    // The last event has a comma behind it, so another one has to follow: who wrote the trace.
    std::fprintf(file_,
                 "{\"name\": \"process_labels\", \"ph\": \"M\", \"pid\": %d, \"args\": "
                 "{\"labels\": \"Cuprum %s\"}}\n]\n",
                 static_cast<int>(::getpid()), version());
    const bool is_closed = std::fclose(file_) == 0;
    file_ = nullptr;
    if (!is_closed || has_failed_) {
        throw std::runtime_error("trace file '" + path_ + "' is incomplete: " + reason());
    }
}

void Writer::before_fork() noexcept {
    mutex_.lock();
    if (file_ != nullptr && std::fflush(file_) != 0) {
        has_failed_ = true;
    }
}

void Writer::after_fork(bool is_child) noexcept {
    if (is_child && file_ != nullptr) {
        std::fclose(file_);
        file_ = nullptr;
    }
    mutex_.unlock();
}

void Writer::write(const Track& track, const char* category, const std::string& name,
                   std::int64_t begin_ns, std::int64_t end_ns, const std::string& details) {
    char numbers[160];
    std::snprintf(numbers, sizeof numbers,
                  ", \"ph\": \"X\", \"pid\": %d, \"tid\": %lld, \"ts\": %.3f, \"dur\": %.3f",
                  track.process, track.thread, static_cast<double>(begin_ns) / 1e3,
                  static_cast<double>(end_ns - begin_ns) / 1e3);
    std::string line = "{\"name\": ";
    driver::append_quoted(line, name.c_str());
    line += ", \"cat\": \"";
    line += category;
    line += '"';
    line += numbers;
    line += ", \"args\": {";
    line += details;
    line += "}},\n";
    append(line);
}

void Writer::name_process(int process, const std::string& name) {
    append_name({process, PROCESS_ITSELF}, "process_name", name);
}

void Writer::name_track(const Track& track, const std::string& name) {
    append_name(track, "thread_name", name);
}

void Writer::append(const std::string& line) {
    const std::lock_guard lock(mutex_);
    if (file_ != nullptr && std::fwrite(line.data(), 1, line.size(), file_) != line.size()) {
        has_failed_ = true;
    }
}

void Writer::append_name(const Track& track, const char* kind, const std::string& name) {
    {
        const std::lock_guard lock(mutex_);
        if (!named_.try_emplace({track.process, track.thread}, true).second) {
            return;
        }
    }
    std::string line = "{\"name\": \"";
    line += kind;
    line += "\", \"ph\": \"M\", \"pid\": " + std::to_string(track.process);
    if (track.thread != PROCESS_ITSELF) {
        line += ", \"tid\": " + std::to_string(track.thread);
    }
    line += ", \"args\": {\"name\": ";
    driver::append_quoted(line, name.c_str());
    line += "}},\n";
    append(line);
}

} // namespace cuprum::trace
