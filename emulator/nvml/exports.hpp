// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Declares every exported function with the type that abi/nvml gives it. A definition with other
// parameters does not compile.

#pragma once

#include <nvml/nvml.hpp>

extern "C" {

#define CUPRUM_NVML_FUNCTION(name)                                                                 \
    __attribute__((visibility("default"))) nvml_abi::functions::name name;
#include "implemented.def"
#undef CUPRUM_NVML_FUNCTION

} // extern "C"
