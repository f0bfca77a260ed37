// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <string_view>

namespace cuprum::testing {

/// Runs `scenario` many times on the driver of the tests, each time with another one of its driver
/// calls failing.
///
/// Checks that the error or a warning names the call and has its code, that as many driver objects
/// are alive as before (only the emulated device counts them), that the current context is
/// unchanged, and that the scenario works afterwards. No lock may be held at a driver call, unless
/// it is a QuietLock, nor while a warning is sent. The scenario must keep nothing alive.
///
/// The program prints a summary of all its scenarios when it ends.
void check_every_failure_on_driver(const std::function<void()>& scenario);

/// Returns whether the library may ignore a failure of the function. The result of a query before a
/// wait does not matter, because the wait decides, and a query of what may be released is repeated.
/// If cuInit fails, compilers and linkers assume that there is no device.
[[nodiscard]] bool is_answer(std::string_view function);

/// Adds to the summary that the program prints when it ends.
void note_failures(int scenarios, int calls, int leaks);

} // namespace cuprum::testing
