# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Compile templates and find them by their C++ names.

C++ mangles the names of templates. Name expressions find them as the source writes them.
"""

import numpy as np

import cuprum

SOURCE = r"""
#include <cuda/std/type_traits>

namespace blas {
template <typename T, int UNROLL> __global__ void scale(T* x, T factor, int n) {
    static_assert(cuda::std::is_arithmetic_v<T>);
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * UNROLL;
    for (int i = first; i < first + UNROLL && i < n; ++i) x[i] *= factor;
}
}
"""

device = cuprum.Device()
stream = device.create_stream()

names = {
    np.dtype(np.float32): "blas::scale<float, 4>",
    np.dtype(np.int64): "blas::scale<long long, 2>",
}
code = cuprum.Program(SOURCE, "c++", {"std": "c++17"}).compile("cubin", tuple(names.values()))

for dtype, name in names.items():
    values = np.arange(1000, dtype=dtype)
    buffer = device.allocate(values.nbytes, stream=stream)
    buffer.copy_from_host(values, stream=stream)
    config = cuprum.LaunchConfig(grid=4, block=256)
    cuprum.launch(stream, config, code.get_kernel(name), buffer, dtype.type(3), values.size)
    result = np.empty_like(values)
    buffer.copy_to_host(result, stream=stream)
    stream.sync()
    assert (result == values * 3).all()
    print(f"{name} is {code.symbol_mapping[name]}: right")
