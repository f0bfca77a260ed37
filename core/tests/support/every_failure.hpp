// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>

namespace cuprum::testing {

/// Runs `scenario` on the driver that the tests run on again and again, each time with another one
/// of its driver calls failing, and checks: the error or a warning names the call and has its code,
/// as many driver objects are alive as before (the emulated device counts), the current context is
/// unchanged, and the scenario works afterwards. The scenario must keep nothing.
///
/// A program prints what came of all its scenarios at its end.
void check_every_failure_on_driver(const std::function<void()>& scenario);

/// Adds to what the program prints at its end.
void note_failures(int scenarios, int calls, int leaks);

} // namespace cuprum::testing
