// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

extern __constant__ int offset;

__device__ int twice(int value);

/// Launches a kernel that adds `offset`.
void run_in_other_file(int* value);
