// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/linker.hpp>
#include <cuprum/object_code.hpp>
#include <cuprum/program.hpp>

#include <nanobind/nanobind.h>

namespace cuprum::python {

namespace nb = nanobind;

/// Returns the core's options for a Python ProgramOptions.
/// @throws TypeError or ValueError naming the option.
[[nodiscard]] ProgramOptions program_options(nb::handle options);

/// Returns the core's options for a Python LinkerOptions.
/// @throws TypeError or ValueError naming the option.
[[nodiscard]] LinkerOptions linker_options(nb::handle options);

/// Returns the core's options for a Python JITOptions.
/// @throws TypeError or ValueError naming the option.
[[nodiscard]] JITOptions jit_options(nb::handle options);

/// Calls `visit(name, option)` for each of the options.
template <typename Options, typename Visit>
void for_each_jit_option(Options& options, const Visit& visit) {
#define CUPRUM_OPTION(option) visit(#option, options.option)
    CUPRUM_OPTION(max_register_count);
    CUPRUM_OPTION(optimization_level);
    CUPRUM_OPTION(debug);
    CUPRUM_OPTION(lineinfo);
    CUPRUM_OPTION(l1_cache);
    CUPRUM_OPTION(threads_per_block);
    CUPRUM_OPTION(max_threads_per_block);
    CUPRUM_OPTION(min_blocks_per_multiprocessor);
    CUPRUM_OPTION(override_directives);
    CUPRUM_OPTION(position_independent_code);
    CUPRUM_OPTION(split_compile);
    CUPRUM_OPTION(prefer_binary);
#undef CUPRUM_OPTION
}

/// Gives the core, once, the folders of Python packages, which may hold CUDA's compilers.
void note_search_paths();

} // namespace cuprum::python
