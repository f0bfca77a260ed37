// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Checks that launches allocate nothing. Counts by replacing the allocator of this test program.

#include "support/fake_libraries.hpp"

#include <cuprum/detail/launch_packed.hpp>
#include <cuprum/launch.hpp>
#include <cuprum/object_code.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

namespace {

std::atomic<int> allocations{0};

} // namespace

void* operator new(std::size_t bytes) {
    ++allocations;
    if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) {
        return memory;
    }
    throw std::bad_alloc();
}

// Replace this too. Memory from a sanitizer's version would go to our operator delete.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    ++allocations;
    return std::malloc(bytes == 0 ? 1 : bytes);
}

void operator delete(void* memory) noexcept {
    std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

namespace cuprum {
namespace {

class CountedLaunch : public testing::FakeLibrariesTest {
protected:
    CountedLaunch() {
        // Do not use the fake's own functions here: they allocate memory to record calls.
        context = fake->make_context(0);
        stream = Stream::from_handle(fake->make_stream(context));
        start_with(context);
        table.cuCtxGetCurrent = [](CUcontext* current) {
            *current = context;
            return CUDA_SUCCESS;
        };
        table.cuLaunchKernelEx = [](const CUlaunchConfig*, CUfunction, void**, void**) {
            return CUDA_SUCCESS;
        };
        libraries->kernel_attributes[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES] = 48000;
    }

    /// Returns the number of allocations in many calls, after a first call that may allocate.
    template <typename Call>
    static int count(const Call& call) {
        call();
        const int before = allocations;
        for (int i = 0; i < 100; ++i) {
            call();
        }
        return allocations - before;
    }

    driver::Table& table = driver::table();
    static inline CUcontext context = nullptr;
    Stream stream = Stream::legacy_default();
    ObjectCode code = ObjectCode::from_bytes(CodeType::Ptx, std::vector<std::byte>(1));
};

TEST_F(CountedLaunch, counting_works) {
    // Call the functions by name, because the compiler may remove a new-expression.
    EXPECT_EQ(count([] { ::operator delete(::operator new(sizeof(int))); }), 100);
}

TEST_F(CountedLaunch, a_launch_allocates_nothing) {
    const Kernel nothing = code.get_kernel("nothing");
    const Kernel saxpy = code.get_kernel("saxpy");
    const Buffer buffer = Buffer::from_handle(0x1000, 16);
    EXPECT_EQ(count([&] { launch(stream, {.grid = 4}, nothing); }), 0);
    EXPECT_EQ(count([&] { launch(stream, {}, saxpy, 1.0F, buffer, buffer, 7ULL); }), 0);
}

TEST_F(CountedLaunch, attributes_and_shared_memory_allocate_nothing) {
    const Kernel nothing = code.get_kernel("nothing");
    const LaunchConfig config{.shmem_size = 60000,
                              .cluster = Dim3{2},
                              .is_cooperative = true,
                              .priority = -1,
                              .shared_memory_carveout = 50};
    EXPECT_EQ(count([&] { launch(stream, config, nothing); }), 0);
    CUlaunchConfig encoded{};
    std::vector<CUlaunchAttribute> attributes;
    detail::encode(config, encoded, attributes);
    EXPECT_EQ(count([&] { detail::launch_packed(stream, config, encoded, nothing, nullptr); }), 0);
}

} // namespace
} // namespace cuprum
