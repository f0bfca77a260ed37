// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "separate_part.hpp"

__constant__ int offset;

__device__ int twice(int value) {
    return 2 * value;
}

__global__ void add_offset(int* value) {
    *value += offset;
}

void run_in_other_file(int* value) {
    add_offset<<<1, 1>>>(value);
}
