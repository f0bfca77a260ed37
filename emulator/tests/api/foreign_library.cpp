// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A library that calls the driver. The tests build it under names of real ones.

#include <cuda.h>

extern "C" __attribute__((visibility("default"))) CUresult foreign_load(
    decltype(cuModuleLoadData)* load, CUmodule* module, const void* image, volatile int* calls) {
    const CUresult result = load(module, image);
    *calls = *calls + 1; // so that the call is no jump, which would leave no frame
    return result;
}

extern "C" __attribute__((visibility("default"))) CUresult foreign_tables(
    decltype(cuGetExportTable)* get, const void** table, const CUuuid* id, volatile int* calls) {
    const CUresult result = get(table, id);
    *calls = *calls + 1;
    return result;
}
