// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Built only if CCCL's headers are found.

#define LIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE // CCCL before 3.1 hides cuda::mr without it

#include "support/device_test.hpp"
#include "support/expect_error.hpp"

#include <cuprum/cuprum.hpp>
#include <cuprum/interop/cccl.hpp>

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <vector>

namespace cuprum {

namespace {

using testing::expect_error;

using CCCL = testing::DeviceTest;

/// Returns a memory resource of the library.
std::shared_ptr<MemoryResource> pool_of(const Device& device) {
    return device.memory_resource();
}

} // namespace

TEST_F(CCCL, streams_convert_both_ways) {
    const cuda::stream_ref ref = interop::to_stream_ref(stream());
    EXPECT_EQ(ref.get(), stream().handle());
    const Stream back = interop::from_stream_ref(ref);
    EXPECT_EQ(back, stream());
    EXPECT_EQ(back.device(), device());
    Stream closed = device().create_stream();
    closed.close();
    EXPECT_THROW(static_cast<void>(interop::to_stream_ref(closed)), ClosedError);
}

TEST_F(CCCL, views_convert_both_ways) {
    const auto buffer = device().allocate<float>(12, stream());
    const TypedView<float, 2> view = buffer.view(3, 4);
    const auto span = interop::to_mdspan(view);
    EXPECT_EQ(span.extent(0), 3);
    EXPECT_EQ(span.extent(1), 4);
    EXPECT_EQ(span.stride(0), 4);
    EXPECT_EQ(span.stride(1), 1);
    EXPECT_EQ(span.data_handle(), buffer.data());
    const TypedView<float, 2> back = interop::from_mdspan(span);
    EXPECT_EQ(back.data(), view.data());
    EXPECT_EQ(back.shape(), view.shape());
    EXPECT_EQ(back.strides(), view.strides());
}

TEST_F(CCCL, views_that_go_backwards_are_refused) {
    std::array<int, 4> values{};
    const TypedView<int, 1> reversed(values.data() + 3, {4}, {-1});
    expect_error<std::invalid_argument>([&] { static_cast<void>(interop::to_mdspan(reversed)); },
                                        {"axis 0 has the stride -1"});
}

#if CUPRUM_HAS_CUDA_MR

using DeviceAdapter = interop::MemoryResourceAdapter<cuda::mr::device_accessible>;

static_assert(cuda::has_property<DeviceAdapter, cuda::mr::device_accessible>);
static_assert(!cuda::has_property<DeviceAdapter, cuda::mr::host_accessible>);
#if CCCL_VERSION < 3001000
static_assert(cuda::mr::async_resource_with<DeviceAdapter, cuda::mr::device_accessible>);
#else
static_assert(cuda::mr::resource_with<DeviceAdapter, cuda::mr::device_accessible>);
#endif

TEST_F(CCCL, a_pool_allocates_for_cuda_mr) {
    DeviceAdapter adapter = interop::to_device_resource(pool_of(device()));
    const cuda::stream_ref ref = interop::to_stream_ref(stream());
    void* const pointer = adapter.allocate(ref, 256, 64);
    ASSERT_NE(pointer, nullptr);
    const Buffer memory = Buffer::from_handle(reinterpret_cast<std::uintptr_t>(pointer), 256);
    memory.fill(std::uint8_t{7}, stream());
    EXPECT_EQ(download<std::uint8_t>(memory), std::vector<std::uint8_t>(256, 7));
    adapter.deallocate(ref, pointer, 256, 64);
    stream().sync();
    EXPECT_EQ(adapter.allocate(ref, 0), nullptr);
    adapter.deallocate(ref, nullptr, 0);
}

TEST_F(CCCL, a_pool_allocates_without_a_stream) {
    DeviceAdapter adapter = interop::to_device_resource(pool_of(device()));
    void* const pointer = adapter.allocate_sync(64);
    const Buffer memory = Buffer::from_handle(reinterpret_cast<std::uintptr_t>(pointer), 64);
    EXPECT_EQ(download<std::uint8_t>(memory).size(), 64U);
    adapter.deallocate_sync(pointer, 64);
}

TEST_F(CCCL, adapters_of_one_resource_are_equal) {
    const auto resource = pool_of(device());
    const DeviceAdapter first(resource);
    const DeviceAdapter second = first;
    EXPECT_TRUE(first == second);
    EXPECT_TRUE(first != DeviceAdapter(SynchronousMemoryResource::create(device())));
}

TEST_F(CCCL, adapters_refuse_what_the_memory_lacks) {
    expect_error<std::invalid_argument>(
        [&] { static_cast<void>(interop::to_shared_resource(pool_of(device()))); },
        {"the host cannot reach"});
    EXPECT_NO_THROW(
        static_cast<void>(interop::to_shared_resource(LegacyPinnedMemoryResource::create())));
    expect_error<std::invalid_argument>([] { static_cast<void>(DeviceAdapter(nullptr)); },
                                        {"resource is null"});
    DeviceAdapter adapter(pool_of(device()));
    expect_error<std::invalid_argument>(
        [&] { static_cast<void>(adapter.allocate(interop::to_stream_ref(stream()), 8, 512)); },
        {"alignment is 512, expected at most 256"});
}

TEST_F(CCCL, resource_refs_reach_the_pool) {
    DeviceAdapter adapter = interop::to_device_resource(pool_of(device()));
#if CCCL_VERSION < 3001000
    cuda::mr::async_resource_ref<cuda::mr::device_accessible> ref = adapter;
    void* const pointer = ref.allocate_async(128, interop::to_stream_ref(stream()));
    ref.deallocate_async(pointer, 128, interop::to_stream_ref(stream()));
#else
    cuda::mr::resource_ref<cuda::mr::device_accessible> ref = adapter;
    void* const pointer = ref.allocate(interop::to_stream_ref(stream()), 128);
    ref.deallocate(interop::to_stream_ref(stream()), pointer, 128);
#endif
    EXPECT_NE(pointer, nullptr);
    stream().sync();
}

#endif

} // namespace cuprum
