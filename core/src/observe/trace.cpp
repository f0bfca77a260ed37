// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/trace.hpp>

#include "driver/call.hpp"
#include "driver/explanations.hpp"
#include "observe/device_work.hpp"
#include "observe/log.hpp"
#include "observe/writer.hpp"
#include "support/locks.hpp"
#include "support/once.hpp"
#include "support/warn.hpp"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <vector>

namespace cuprum {

namespace {

constexpr std::chrono::seconds MAX_WAIT_AT_EXIT{5}; // without progress of the traced work

/// An observer that writes each call and the work it enqueued.
class Recorder final : public driver::Observer {
public:
    void start(const std::string& path, const TraceOptions& options) {
        const std::lock_guard lock(mutex_);
        if (is_on_.load(std::memory_order_relaxed)) {
            throw std::logic_error("a trace is being recorded already; stop it first");
        }
        writer_.open(path);
        writer_.name_process(::getpid(), "host");
        has_device_work_ = options.has_device_work;
        device_work_.start();
        is_on_.store(true, std::memory_order_release);
        driver::add_observer(*this);
    }

    /// Stops the trace. With a limit, unfinished work is left out when none has finished for so
    /// long.
    void stop(std::optional<trace::DeviceWork::Duration> limit) {
        if (!is_on()) { // before the lock, which another thread may have held when we were forked
            return;
        }
        const cuprum::detail::QuietLock lock(mutex_);
        if (!is_on_.load(std::memory_order_relaxed)) {
            return;
        }
        driver::remove_observer(*this);
        const std::size_t left_out = driver::is_leaving() ? 0 : device_work_.finish(limit);
        is_on_.store(false, std::memory_order_release);
        writer_.close();
        if (left_out != 0) {
            cuprum::detail::warn(WarningKind::Degraded,
                                 "the trace lacks " + std::to_string(left_out) +
                                     " kernels, copies or fills: they failed, did not finish, or "
                                     "could not be timed");
        }
    }

    void before_fork() noexcept { writer_.before_fork(); }

    void after_fork(bool is_child) noexcept {
        writer_.after_fork(is_child);
        if (is_child) {
            is_on_.store(false, std::memory_order_release);
        }
    }

    [[nodiscard]] bool is_on() const noexcept { return is_on_.load(std::memory_order_relaxed); }

    CUresult before(const driver::Call& call) override {
        if (!is_on()) {
            return CUDA_SUCCESS;
        }
        if (has_device_work_ && trace::DeviceWork::is_work(call)) {
            device_work_.begin(call);
        } else if (has_device_work_) {
            device_work_.before_end_of_contexts(call);
        }
        nesting().begins.push_back(trace::now_ns());
        return CUDA_SUCCESS;
    }

    CUresult after(const driver::Call& call, CUresult status) override {
        const std::int64_t end = trace::now_ns();
        auto& begins = nesting().begins;
        if (begins.empty()) {
            return status;
        }
        const std::int64_t begin = begins.back();
        begins.pop_back();
        if (has_device_work_ && trace::DeviceWork::is_work(call)) {
            device_work_.end(call, status); // after the end of the trace too: it frees the events
        }
        if (!is_on()) {
            return status;
        }
        if (has_device_work_ && status == CUDA_SUCCESS) {
            device_work_.after_release_of_context(call);
        }
        std::string details;
        call.describe(call, status == CUDA_SUCCESS, details);
        details += details.empty() ? "\"result\": " : ", \"result\": ";
        driver::append_quoted(details, driver::name_of(status).c_str());
        write("driver", call.name, begin, end, details);
        return status;
    }

    void begin_range(std::string_view name) {
        nesting().ranges.push_back({std::string(name), trace::now_ns()});
    }

    void end_range() {
        auto& ranges = nesting().ranges;
        if (!ranges.empty()) {
            write("range", ranges.back().name, ranges.back().begin, trace::now_ns(), {});
            ranges.pop_back();
        }
    }

private:
    struct Range {
        std::string name;
        std::int64_t begin;
    };

    /// What a thread has begun and not ended.
    struct Nesting {
        std::vector<std::int64_t> begins; // of driver calls
        std::vector<Range> ranges;
    };

    /// Returns the calling thread's.
    static Nesting& nesting() {
        // NOTE: only a pointer: this library's thread-local data must stay small, see
        // support/warn.hpp.
        static thread_local std::unique_ptr<Nesting> own;
        if (own == nullptr) {
            own = std::make_unique<Nesting>();
        }
        return *own;
    }

    void write(const char* category, const std::string& name, std::int64_t begin, std::int64_t end,
               const std::string& details) {
        writer_.write({::getpid(), trace::thread_number()}, category, name, begin, end, details);
    }

    std::mutex mutex_;
    std::atomic<bool> is_on_{false};
    std::atomic<bool> has_device_work_ = true;
    trace::Writer writer_;
    trace::DeviceWork device_work_{writer_};
};

Recorder& recorder() {
    static detail::NeverDestroyed<Recorder> only; // driver calls reach it until the process ends
    return *only;
}

} // namespace

void start_trace(const std::string& path, const TraceOptions& options) {
    driver::initialise(); // so that CUPRUM_TRACE, if set, is the one that is refused
    recorder().start(path, options);
}

void stop_trace() {
    recorder().stop(std::nullopt);
}

bool is_tracing() noexcept {
    return recorder().is_on();
}

TraceRange::TraceRange(std::string_view name) {
    if (is_tracing() || trace::is_nvtx_on()) {
        detail::begin_range(name);
        is_marked_ = true;
    }
}

TraceRange::~TraceRange() {
    if (is_marked_) {
        detail::end_range();
    }
}

namespace detail {

void begin_range(std::string_view name) {
    trace::push_nvtx(name);
    recorder().begin_range(name);
}

void end_range() {
    recorder().end_range();
    trace::pop_nvtx();
}

} // namespace detail

namespace trace {

void start_trace_from_environment(const std::string& path) {
    try {
        recorder().start(path, {});
    } catch (const std::exception& error) {
        cuprum::detail::warn(WarningKind::Degraded,
                             std::string("CUPRUM_TRACE is ignored: ") + error.what());
    }
}

void finish() noexcept {
    try {
        recorder().stop(MAX_WAIT_AT_EXIT);
    } catch (const std::exception& error) {
        cuprum::detail::warn(WarningKind::Degraded, error.what());
    }
}

void before_fork() noexcept {
    recorder().before_fork();
}

void after_fork_in_parent() noexcept {
    recorder().after_fork(false);
}

void after_fork_in_child() noexcept {
    recorder().after_fork(true);
}

void finish_at_exit() {
    [[maybe_unused]] static const int registered = std::atexit([] { finish(); });
}

} // namespace trace
} // namespace cuprum
