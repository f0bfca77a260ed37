// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Works on parts of a buffer: slices, rectangles, and memory that host and device share.

#include <cuprum/cuprum.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>

int main() {
    constexpr std::size_t ROWS = 8;
    constexpr std::size_t COLUMNS = 16;
    const cuprum::Device device;
    const cuprum::CurrentContext current(device.primary_context());
    const cuprum::Stream stream = device.create_stream();

    // A picture of bytes: a frame of ones around zeros.
    const cuprum::Buffer picture = device.allocate(ROWS * COLUMNS, stream);
    picture.fill(std::uint8_t{1}, stream);
    cuprum::fill_region(picture, {.offset = COLUMNS + 1, .pitch = COLUMNS},
                        {.width = COLUMNS - 2, .height = ROWS - 2}, std::uint8_t{0}, stream);
    // Copy the first row to the last but one. Slices share the memory.
    picture.slice(0, COLUMNS).copy_to(picture.slice((ROWS - 2) * COLUMNS, COLUMNS), stream);

    // Copy the right half to page-locked memory, which the host reads directly.
    const auto pinned = cuprum::LegacyPinnedMemoryResource::create();
    const cuprum::Buffer half = pinned->allocate(ROWS * COLUMNS / 2);
    cuprum::copy_region(half, {}, picture, {.offset = COLUMNS / 2, .pitch = COLUMNS},
                        {.width = COLUMNS / 2, .height = ROWS}, stream);
    stream.sync();
    const std::span<const std::uint8_t> seen = half.as_span<const std::uint8_t>();
    for (std::size_t row = 0; row < ROWS; ++row) {
        for (const std::uint8_t value : seen.subspan(row * COLUMNS / 2, COLUMNS / 2)) {
            std::putchar(value != 0 ? '#' : '.');
        }
        std::putchar('\n');
    }
    const auto ones = static_cast<std::size_t>(std::ranges::count(seen, std::uint8_t{1}));
    bool is_right = ones == 3 * COLUMNS / 2 + (ROWS - 3);

    // Managed memory moves between host and device automatically; prefetching moves it early.
    if (device.properties().get("concurrent_managed_access", 0) != 0) {
        const auto pool = cuprum::ManagedMemoryResource::create(
            {.preferred_location = cuprum::Location::device(device)});
        const cuprum::ManagedBuffer shared = pool->allocate(std::size_t{1} << 16U, stream);
        shared.prefetch(cuprum::Location::device(device), stream);
        shared.fill(std::uint8_t{3}, stream);
        shared.prefetch(cuprum::Location::host(), stream);
        stream.sync();
        is_right = is_right && shared.as_span<std::uint8_t>().back() == 3;
        std::printf("managed memory came back to the host\n");
    }
    return is_right ? 0 : 1;
}
