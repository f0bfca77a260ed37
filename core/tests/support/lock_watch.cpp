// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/lock_watch.hpp"

#include "support/warn.hpp"

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>

namespace {

using Function = int (*)(pthread_mutex_t*);

thread_local constinit int held = 0;

/// Returns a function of the C library, or of a sanitizer in front of it.
Function next(std::atomic<Function>& known, const char* name) {
    Function function = known.load(std::memory_order_relaxed);
    if (function == nullptr) {
        function = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
        known.store(function, std::memory_order_relaxed);
    }
    return function;
}

constinit std::atomic<Function> next_lock{nullptr};
constinit std::atomic<Function> next_trylock{nullptr};
constinit std::atomic<Function> next_unlock{nullptr};

} // namespace

extern "C" {

int pthread_mutex_lock(pthread_mutex_t* mutex) {
    const int status = next(next_lock, "pthread_mutex_lock")(mutex);
    held += status == 0 ? 1 : 0;
    return status;
}

int pthread_mutex_trylock(pthread_mutex_t* mutex) {
    const int status = next(next_trylock, "pthread_mutex_trylock")(mutex);
    held += status == 0 ? 1 : 0;
    return status;
}

int pthread_mutex_unlock(pthread_mutex_t* mutex) {
    const int status = next(next_unlock, "pthread_mutex_unlock")(mutex);
    held -= status == 0 ? 1 : 0;
    return status;
}

} // extern "C"

namespace cuprum::testing {

int held_mutexes() noexcept {
    return held;
}

UncountedMutex::UncountedMutex() noexcept {
    --held;
}

UncountedMutex::~UncountedMutex() {
    ++held;
}

void expect_driver_may_be_called(const char* function) {
    EXPECT_TRUE(held == 0 || detail::LateWarnings::is_active())
        << function << " is called while the thread holds " << held
        << " mutexes; take a QuietLock, or call it without the lock";
}

void expect_no_lock(const char* what) {
    EXPECT_EQ(held, 0) << what << " runs while the thread holds mutexes";
}

} // namespace cuprum::testing
