// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Which mutexes a thread holds. Test programs replace the functions of the C library that lock
// them, so that std::mutex is counted wherever it is used.

#pragma once

namespace cuprum::testing {

/// Returns how many mutexes the calling thread holds.
[[nodiscard]] int held_mutexes() noexcept;

/// Leaves one mutex of the calling thread out of the count for a scope.
class UncountedMutex {
public:
    UncountedMutex() noexcept;
    ~UncountedMutex();
    UncountedMutex(const UncountedMutex&) = delete;
    UncountedMutex& operator=(const UncountedMutex&) = delete;
};

/// Expects that the library may call the driver now: a thread that holds a mutex meanwhile holds
/// back its warnings, since their handler can run code of the program.
void expect_driver_may_be_called(const char* function);

/// Expects that the calling thread holds no mutex: code of the program runs now.
void expect_no_lock(const char* what);

} // namespace cuprum::testing
