// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>

namespace cuprum::testing {

/// Runs `scenario` many times on the driver of the tests, each time with another one of its driver
/// calls failing.
///
/// Checks that the error or a warning names the call and has its code, that as many driver objects
/// are alive as before (only the emulated device counts them), that the current context is
/// unchanged, and that the scenario works afterwards. The scenario must keep nothing alive.
///
/// The program prints a summary of all its scenarios when it ends.
void check_every_failure_on_driver(const std::function<void()>& scenario);

/// Adds to the summary that the program prints when it ends.
void note_failures(int scenarios, int calls, int leaks);

} // namespace cuprum::testing
