// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The functions that always return "not supported".
//
// NOTE: no CUDA header is included, so one signature serves all functions. The caller cleans up its
// own arguments, and the code is returned in a register.

#include "refused.hpp"

namespace {

constexpr int NOT_SUPPORTED = 801; // cudaErrorNotSupported

constexpr const char* GRAPHICS =
    "the emulated device does not share resources with graphics libraries";
constexpr const char* EXTERNAL = "the emulated device does not share resources with other drivers";
constexpr const char* PRIVATE = "it is private to NVIDIA's libraries";
#ifndef CUPRUM_RUNTIME_12
constexpr const char* PLACES = "the emulated device does not track where pages of memory are";
constexpr const char* RECAPTURE =
    "the emulated device does not capture into an existing graph again";
#endif

} // namespace

// NOLINTBEGIN(bugprone-macro-parentheses): a name cannot stand in parentheses
#define CUPRUM_REFUSED(name, reason)                                                               \
    extern "C" int name() {                                                                        \
        return cuprum::runtime::refuse(#name, reason, NOT_SUPPORTED);                              \
    }
#include "refused.def"
#undef CUPRUM_REFUSED
// NOLINTEND(bugprone-macro-parentheses)
