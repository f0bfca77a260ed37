// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "objects.hpp"

#include <cuprum/program.hpp>

namespace cuprum::python {

/// Returns the core's options for a Python ProgramOptions.
/// @throws TypeError or ValueError naming the option.
[[nodiscard]] ProgramOptions program_options(nb::handle options);

} // namespace cuprum::python
