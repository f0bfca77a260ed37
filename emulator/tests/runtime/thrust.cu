// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Thrust and the CUB below it, from the toolkit's own headers.

#include "check.hpp"

#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>

int main() {
    constexpr int count = 100000;
    thrust::device_vector<int> values(count);
    thrust::sequence(values.rbegin(), values.rend());
    EXPECT(values[0] == count - 1);
    const long long sum = thrust::reduce(values.begin(), values.end(), 0LL);
    EXPECT(sum == count * (count - 1LL) / 2);
    thrust::sort(values.begin(), values.end());
    EXPECT(values[0] == 0 && values[1] == 1 && values[count - 1] == count - 1);
    thrust::inclusive_scan(values.begin(), values.end(), values.begin());
    EXPECT(values[99] == 4950);
    OK(cudaGetLastError());
    return EXIT_SUCCESS;
}
