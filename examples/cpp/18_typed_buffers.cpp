// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Multiplies a matrix by a vector with typed buffers: sizes count elements, and the compiler checks
// that each kernel parameter gets a buffer of its type.

#include <cuprum/cuprum.hpp>

#include <cstdio>
#include <numeric>
#include <vector>

int main() {
    constexpr int ROWS = 48;
    constexpr int COLUMNS = 32;
    const cuprum::Device device;
    const auto stream = device.create_stream();
    const auto multiply = cuprum::Program(R"(
        extern "C" __global__ void multiply(const float* matrix, const float* vector, float* result,
                                            int rows, int columns) {
            const int row = blockIdx.x * blockDim.x + threadIdx.x;
            if (row < rows) {
                float sum = 0;
                for (int i = 0; i < columns; ++i) sum += matrix[row * columns + i] * vector[i];
                result[row] = sum;
            }
        })")
                              .compile(cuprum::CodeType::Ptx)
                              .get_kernel("multiply")
                              .as<void(const float*, const float*, float*, int, int)>();

    std::vector<float> numbers(ROWS * COLUMNS);
    std::iota(numbers.begin(), numbers.end(), 0.0F);
    const auto matrix = device.allocate<float>(ROWS * COLUMNS, stream);
    const auto vector = device.allocate<float>(COLUMNS, stream);
    const auto result = device.allocate<float>(ROWS, stream);
    matrix.copy_from(numbers, stream);
    vector.fill(0.5F, stream);

    multiply(stream, {.grid = 2, .block = 32}, matrix, vector, result, ROWS, COLUMNS);
    const std::vector<float> sums = result.to_vector(stream);

    for (int row = 0; row < ROWS; ++row) {
        const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(row) * COLUMNS;
        if (sums[row] != std::accumulate(first, first + COLUMNS, 0.0F) / 2) {
            std::printf("wrong in row %d: %g\n", row, sums[row]);
            return 1;
        }
    }
    std::printf("multiplied %d rows on %s\n", ROWS, device.name().c_str());
}
