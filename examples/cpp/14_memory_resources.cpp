// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Allocates from different memory resources, copies between them in one batch, and grows a buffer.

#include <cuprum/cuprum.hpp>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

int main() {
    constexpr std::size_t BYTES = std::size_t{1} << 16U;
    const cuprum::Device device;
    const cuprum::CurrentContext current(device.primary_context());
    const cuprum::Stream stream = device.create_stream();

    // A private pool, page-locked host memory, and an existing vector.
    const auto pool = cuprum::DeviceMemoryResource::create(device, {.max_size = 16U << 20U});
    const auto pinned = cuprum::LegacyPinnedMemoryResource::create();
    std::vector<std::uint8_t> vector(BYTES, 9);
    const std::vector<cuprum::Buffer> sources{
        pinned->allocate(BYTES), cuprum::register_host_memory(vector.data(), vector.size())};
    const std::vector<cuprum::Buffer> targets{pool->allocate(BYTES, stream),
                                              pool->allocate(BYTES, stream)};
    sources[0].fill(std::uint8_t{7}, stream);
    cuprum::copy_batch(stream, sources, targets);
    std::vector<std::uint8_t> back(BYTES);
    bool is_right = true;
    for (std::size_t i = 0; i < targets.size(); ++i) {
        targets[i].copy_to_host(back, stream);
        stream.sync();
        is_right = is_right && back.front() == (i == 0 ? 7 : 9) && back.back() == back.front();
    }
    std::printf("the pool holds %llu bytes\n",
                static_cast<unsigned long long>(pool->attributes().used_mem_current));

    if (device.properties().get("virtual_memory_management_supported", 0) != 0) {
        const auto virtual_memory = cuprum::VirtualMemoryResource::create(device);
        const cuprum::Buffer small = virtual_memory->allocate(BYTES, stream);
        small.fill(std::uint8_t{1}, stream);
        const std::size_t before = small.size();
        const cuprum::Buffer large = virtual_memory->modify_allocation(small, 4 * before);
        std::vector<std::uint8_t> check(large.size());
        large.copy_to_host(check, stream);
        stream.sync();
        is_right = is_right && check.front() == 1 && check[before - 1] == 1;
        std::printf("a buffer grew from %zu to %zu bytes\n", before, large.size());
    }
    return is_right ? 0 : 1;
}
