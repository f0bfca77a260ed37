// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/process/host_threads.hpp"

#include <thread>

namespace cuprum::emulator {

HostThreads& HostThreads::instance() {
    static auto* threads = new HostThreads;
    return *threads;
}

void HostThreads::run(std::function<void()> function) {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(function));
    if (idle_ < queue_.size()) {
        std::thread([this] { serve(); }).detach();
    } else {
        wake_.notify_one();
    }
}

void HostThreads::serve() {
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

} // namespace cuprum::emulator
