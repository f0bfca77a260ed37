// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "objects.hpp"

#include <cuprum/linker.hpp>
#include <cuprum/program.hpp>

namespace cuprum::python {

/// Returns the core's options for a Python ProgramOptions.
/// @throws TypeError or ValueError naming the option.
[[nodiscard]] ProgramOptions program_options(nb::handle options);

/// Returns the core's options for a Python LinkerOptions.
/// @throws TypeError or ValueError naming the option.
[[nodiscard]] LinkerOptions linker_options(nb::handle options);

/// Returns the core's options for a Python JITOptions.
/// @throws TypeError or ValueError naming the option.
[[nodiscard]] JITOptions jit_options(nb::handle options);

/// Tells the core, once, where Python keeps packages: CUDA's compilers may be among them.
void note_search_paths();

} // namespace cuprum::python
