// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Which options of a program each compiler supports.

#pragma once

#include <cuprum/program.hpp>

namespace cuprum::detail {

/// Checks that the compiler of a language supports every option that is set.
/// @throws UnsupportedOptionError that lists those it does not.
void check_options(const ProgramOptions& options, SourceType language);

} // namespace cuprum::detail
