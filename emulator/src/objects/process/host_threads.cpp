// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/process/host_threads.hpp"

#include "objects/process/error.hpp"
#include "objects/process/log.hpp"
#include "objects/process/origin.hpp"

#include <exception>
#include <system_error>
#include <thread>

namespace cuprum::emulator {

HostThreads& HostThreads::instance() {
    static auto* threads = new HostThreads;
    return *threads;
}

void HostThreads::start_thread() {
    const std::lock_guard lock(mutex_);
    if (threads_ != 0) {
        return;
    }
    try {
        add_thread();
    } catch (const std::system_error& error) {
        fail(CUDA_ERROR_OPERATING_SYSTEM,
             std::string("the system refused a thread for host functions: ") + error.what());
    }
}

void HostThreads::run(std::function<void()> function) {
    std::string problem;
    {
        const std::lock_guard lock(mutex_);
        queue_.push_back(std::move(function));
        if (idle_ < queue_.size()) {
            try {
                add_thread();
            } catch (const std::system_error& error) {
                problem = error.what();
            }
        }
        wake_.notify_one();
    }
    if (!problem.empty()) { // not under the lock: a log callback may call the driver
        log(LogLevel::Warn,
            "a host function waits for another one, because the system refused a thread: " +
                problem);
    }
}

/// Adds a thread. The mutex must be held.
void HostThreads::add_thread() {
    std::thread([this] { serve(); }).detach();
    ++threads_;
}

void HostThreads::serve() noexcept {
    std::unique_lock lock(mutex_);
    for (;;) {
        while (queue_.empty()) {
            ++idle_;
            wake_.wait(lock);
            --idle_;
        }
        const std::function<void()> function = std::move(queue_.front());
        queue_.pop_front();
        lock.unlock();
        function();
        lock.lock();
    }
}

std::string call_host_function(const std::function<void()>& function) noexcept {
    constexpr const char* advice =
        "; streams and graphs call it like a C function: catch exceptions inside it";
    const HostCallScope scope;
    try {
        function();
        return {};
    } catch (const std::exception& error) {
        return std::string("an exception left a host function: ") + error.what() + advice;
    } catch (...) {
        return std::string("an exception left a host function") + advice;
    }
}

} // namespace cuprum::emulator
