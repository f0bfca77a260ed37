// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/cuprum.hpp>

int main() {
    const auto stream = cuprum::Device().create_stream();
    const cuprum::Program program(R"(extern "C" __global__ void times(float by) {
        printf("%d * %g = %g\n", threadIdx.x, by, threadIdx.x * by);
    })");
    const auto times = program.compile(cuprum::CodeType::Cubin).get_kernel("times");
    cuprum::launch(stream, {.grid = 1, .block = 4}, times, 2.5F);
    stream.sync();
}
