// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Checks how much host memory a buffer allocates. Counts by replacing the allocator of this test
// program.

#include "driver/table.hpp"
#include "support/fake_driver.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/device.hpp>
#include <cuprum/memory_pool.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <thread>
#include <utility>
#include <vector>

namespace {

std::atomic<int> allocations{0};
std::atomic<int> live{0};

} // namespace

void* operator new(std::size_t bytes) {
    ++allocations;
    ++live;
    if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) {
        return memory;
    }
    throw std::bad_alloc();
}

// Sanitizers replace this version too, so define it here.
void* operator new(std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
    try {
        return operator new(bytes);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

void operator delete(void* memory) noexcept {
    live -= memory != nullptr ? 1 : 0;
    std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept {
    ::operator delete(memory);
}

namespace cuprum {
namespace {

class CountedBuffer : public testing::FakeDriverTest {
protected:
    CountedBuffer() {
        // Replace the fake's own functions: they allocate memory to record calls.
        driver::Table& table = driver::table();
        table.cuMemAllocFromPoolAsync = [](CUdeviceptr* pointer, std::size_t, CUmemoryPool,
                                           CUstream) {
            *pointer = 0x1000;
            return CUDA_SUCCESS;
        };
        table.cuMemFreeAsync = [](CUdeviceptr, CUstream) { return CUDA_SUCCESS; };
        table.cuThreadExchangeStreamCaptureMode = [](CUstreamCaptureMode*) { return CUDA_SUCCESS; };
    }

    const Stream stream = Device(0).create_stream();
    const std::shared_ptr<DeviceMemoryResource> pool = DeviceMemoryResource::create(Device(0));
};

TEST_F(CountedBuffer, takes_one_piece_of_the_hosts_memory) {
    (void)pool->allocate(16, stream);
    const int before = allocations;
    for (int i = 0; i < 100; ++i) {
        Buffer buffer = pool->allocate(16, stream);
        const Buffer other = pool->allocate(16, stream);
        buffer.close(stream);
    }
    EXPECT_LE(allocations - before, 201);
}

TEST_F(CountedBuffer, threads_leave_nothing_behind) {
    const auto use = [this] {
        std::vector<Buffer> many;
        many.reserve(20);
        for (int i = 0; i < 20; ++i) {
            many.push_back(pool->allocate(16, stream));
        }
        std::thread([moved = std::move(many)]() mutable { moved.clear(); }).join();
    };
    std::thread(use).join();
    const int before = live;
    for (int i = 0; i < 3; ++i) {
        std::thread(use).join();
    }
    EXPECT_EQ(live, before);
}

} // namespace
} // namespace cuprum
