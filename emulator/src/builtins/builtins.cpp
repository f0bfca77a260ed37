// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "builtins/builtins.hpp"

#include <algorithm>

namespace cuprum::emulator::builtins {

namespace {

constexpr std::array BUILTINS{
    Builtin{.name = "vprintf",
            .op = FixedOp::Print,
            .result_size = 4,
            .parameter_sizes = {8, 8},
            .parameter_count = 2,
            .used_count = 2},
    Builtin{.name = "__assertfail", // the last parameter is the size of a character
            .op = FixedOp::FailAssert,
            .parameter_sizes = {8, 8, 4, 8, 8},
            .parameter_count = 5,
            .used_count = 4},
    Builtin{.name = "malloc",
            .op = FixedOp::HeapAllocate,
            .result_size = 8,
            .parameter_sizes = {8},
            .parameter_count = 1,
            .used_count = 1,
            .is_heap = true},
    Builtin{.name = "free",
            .op = FixedOp::HeapRelease,
            .parameter_sizes = {8},
            .parameter_count = 1,
            .used_count = 1,
            .is_heap = true},
    Builtin{.name = "cudaGraphSetConditional",
            .op = FixedOp::SetConditional,
            .parameter_sizes = {8, 4},
            .parameter_count = 2,
            .used_count = 2},
    Builtin{.name = "cudaGraphLaunch",
            .op = FixedOp::LaunchGraph,
            .result_size = 4,
            .parameter_sizes = {8, 8},
            .parameter_count = 2,
            .used_count = 2},
    Builtin{.name = "cudaGetCurrentGraphExec", .op = FixedOp::FindCurrentGraph, .result_size = 8},
    // device_runtime.cpp calls the others.
    Builtin{.name = "__cuprum_make_launch",
            .op = FixedOp::MakeLaunch,
            .result_size = 8,
            .parameter_sizes = {8},
            .parameter_count = 1,
            .used_count = 1,
            .is_heap = true},
    Builtin{.name = "__cuprum_launch",
            .op = FixedOp::LaunchKernel,
            .result_size = 4,
            .parameter_sizes = {8, 8},
            .parameter_count = 2,
            .used_count = 2,
            .is_heap = true},
    Builtin{.name = "__cuprum_copy",
            .op = FixedOp::LaunchCopy,
            .result_size = 4,
            .parameter_sizes = {8, 8, 8, 8},
            .parameter_count = 4,
            .used_count = 4,
            .is_heap = true},
    Builtin{.name = "__cuprum_fill",
            .op = FixedOp::LaunchFill,
            .result_size = 4,
            .parameter_sizes = {8, 4, 8, 8},
            .parameter_count = 4,
            .used_count = 4,
            .is_heap = true},
    Builtin{.name = "__cuprum_ask_launcher",
            .op = FixedOp::AskLauncher,
            .result_size = 4,
            .parameter_sizes = {4},
            .parameter_count = 1,
            .used_count = 1,
            .is_heap = true},
};

} // namespace

const Builtin* find(std::string_view name) {
    const auto* const found =
        std::find_if(BUILTINS.begin(), BUILTINS.end(),
                     [&](const Builtin& builtin) { return builtin.name == name; });
    return found == BUILTINS.end() ? nullptr : found;
}

bool is_of_device_runtime(std::string_view name) {
    return name.starts_with("__cudaCDP2") || name.starts_with("cudaLaunchDevice") ||
           name.starts_with("cudaGetParameterBuffer") || name.starts_with("cudaGraphKernelNode");
}

std::span<const Builtin> all() {
    return BUILTINS;
}

} // namespace cuprum::emulator::builtins
