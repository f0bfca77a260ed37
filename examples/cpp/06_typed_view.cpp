// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Copies the middle of a matrix to the device, doubles it there and copies it back. It uses typed
// views on the host and strided copies.

#include <cuprum/cuprum.hpp>

#include <cstdint>
#include <cstdio>
#include <numeric>
#include <vector>

int main() {
    const cuprum::Device device;
    const auto stream = device.create_stream();
    const auto kernel = cuprum::Program(R"(
        extern "C" __global__ void twice(int* data) { data[threadIdx.x] *= 2; })")
                            .compile(cuprum::CodeType::Ptx)
                            .get_kernel("twice");

    std::vector<int> numbers(6 * 8);
    std::iota(numbers.begin(), numbers.end(), 0);
    const auto host = cuprum::Buffer::from_handle(reinterpret_cast<std::uintptr_t>(numbers.data()),
                                                  numbers.size() * sizeof(int));
    const auto matrix = cuprum::TypedView<int, 2>::on_host(host, {6, 8});

    using Slice = cuprum::StridedLayout::Slice;
    const auto middle = matrix.layout().sliced({Slice::range(1, -1), Slice::range(2, -2)});
    const auto dense = middle.to_dense();
    const auto buffer = device.allocate(dense.required_size_in_bytes(), stream);
    cuprum::copy_strided(buffer.handle(), dense, host.handle(), middle, stream);
    const auto count = static_cast<unsigned>(dense.volume());
    cuprum::launch(stream, {.grid = 1, .block = count}, kernel, buffer);
    cuprum::copy_strided(host.handle(), middle, buffer.handle(), dense, stream);
    stream.sync();

    for (int row = 0; row < 6; ++row) {
        for (int column = 0; column < 8; ++column) {
            const bool is_inside = row >= 1 && row < 5 && column >= 2 && column < 6;
            if (matrix(row, column) != (row * 8 + column) * (is_inside ? 2 : 1)) {
                std::printf("wrong at %d, %d: %d\n", row, column, matrix(row, column));
                return 1;
            }
        }
    }
    std::printf("doubled %u of %zu numbers, on %s\n", count, numbers.size(), device.name().c_str());
}
