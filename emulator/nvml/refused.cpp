// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The functions that always return NOT_SUPPORTED: what the emulated device does not have.
//
// NOTE: one signature serves all functions with a device as their first argument, and one all
// others. The caller cleans up its own arguments, and the code is returned in a register.

#include "row.hpp"

using namespace cuprum::nvml;

// NOLINTBEGIN(bugprone-macro-parentheses): a name cannot stand in parentheses
#define CUPRUM_REFUSED_OF_DEVICE(name)                                                             \
    extern "C" [[gnu::visibility("default")]] nvmlReturn_t name(nvmlDevice_t device) {             \
        return device_entry(device,                                                                \
                            [](const State&, unsigned int) { fail(NVML_ERROR_NOT_SUPPORTED); });   \
    }                                                                                              \
    CUPRUM_LIST_ROW(name, true, true);
#define CUPRUM_REFUSED(name)                                                                       \
    extern "C" [[gnu::visibility("default")]] nvmlReturn_t name() {                                \
        return entry([](const State&) { fail(NVML_ERROR_NOT_SUPPORTED); });                        \
    }                                                                                              \
    CUPRUM_LIST_ROW(name, false, true);
#include "refused.def"
#undef CUPRUM_REFUSED
#undef CUPRUM_REFUSED_OF_DEVICE

// NOLINTEND(bugprone-macro-parentheses)

/// A mark by which cuprum-emulator and tests recognise this library.
extern "C" __attribute__((visibility("default"))) const char* cuprumEmulatorVersion() {
    return CUPRUM_VERSION;
}
