// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Objects whose last share is released in a host function, which must not call the driver.

#include "driver/deferred_release.hpp"
#include "stream/stream_state.hpp"
#include "support/device_test.hpp"
#include "support/fake_driver.hpp"

#include <cuprum/cuprum.hpp>
#include <cuprum/detail/deferred_release.hpp>

#include <cuda.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace cuprum {

namespace {

using Kept = std::vector<std::shared_ptr<void>>;

template <typename T>
std::shared_ptr<void> boxed(T object) {
    return std::make_shared<T>(std::move(object));
}

/// Returns one of each object whose destruction calls the driver.
Kept one_of_each(const Device& device, const Stream& stream) {
    const auto pool = DeviceMemoryResource::create(device, DeviceMemoryResourceOptions{});
    const auto pinned = LegacyPinnedMemoryResource::create();
    const auto at_once = SynchronousMemoryResource::create(device);
    const auto memory = std::make_shared<std::vector<char>>(64);
    const Buffer whole = pool->allocate(64, stream);
    return {boxed(pool->allocate(16, stream)),
            boxed(whole.slice(8, 8)),
            boxed(pinned->allocate(16, stream)),
            boxed(pinned->allocate(16)),
            boxed(at_once->allocate(16, stream)),
            boxed(register_host_memory(memory->data(), memory->size(), {}, memory)),
            boxed(device.create_stream()),
            boxed(device.create_event()),
            DeviceMemoryResource::create(device, {})};
}

/// Calls a function in the way that the driver calls host functions.
void call_as_stream(std::function<void()> function) {
    auto held = std::make_unique<detail::HostFunction>(std::move(function));
    detail::call_host_function(held.release());
}

class ReleaseInHostFunctionOnFake : public testing::FakeDriverTest {};

class ReleaseInHostFunctionOnDevice : public testing::DeviceTest {};

} // namespace

TEST_F(ReleaseInHostFunctionOnFake, a_scope_inside_another_leaves_the_outer_one_on) {
    EXPECT_FALSE(detail::is_in_host_function());
    {
        const detail::HostFunctionScope outer;
        {
            const detail::HostFunctionScope inner;
            EXPECT_TRUE(detail::is_in_host_function());
        }
        EXPECT_TRUE(detail::is_in_host_function());
    }
    EXPECT_FALSE(detail::is_in_host_function());
}

TEST_F(ReleaseInHostFunctionOnFake, is_deferred_until_the_function_is_done) {
    const Stream stream = Device(0).create_stream();
    const int streams = fake->live().streams;
    const int pools = fake->live().pools;
    Kept kept = one_of_each(Device(0), stream);
    std::size_t calls = 0;
    call_as_stream([&] {
        calls = fake->calls().size();
        kept.clear();
        calls = fake->calls().size() - calls;
    });
    stream.sync();
    EXPECT_EQ(calls, 0U) << "the driver was called in a host function";
    EXPECT_EQ(fake->live().allocations, 0);
    EXPECT_TRUE(fake->host_allocations.empty());
    EXPECT_EQ(fake->live().streams, streams);
    EXPECT_EQ(fake->live().pools, pools);
    EXPECT_EQ(fake->live().events, 0);
    EXPECT_TRUE(warnings.take(WarningKind::Release).empty());
}

TEST_F(ReleaseInHostFunctionOnFake, is_left_to_calls_that_may_wait) {
    const Stream stream = Device(0).create_stream();
    const auto pinned = LegacyPinnedMemoryResource::create();
    Buffer buffer = pinned->allocate(16, stream);
    const Event event = stream.record();
    call_as_stream([&] { buffer.close(); });
    fake->forget_calls();
    EXPECT_TRUE(stream.is_done());
    EXPECT_TRUE(event.is_done());
    EXPECT_EQ(fake->count("cuStreamSynchronize"), 0) << "is_done must not wait";
    EXPECT_EQ(fake->live().host_allocations, 1);
    event.sync();
    EXPECT_EQ(fake->live().host_allocations, 0);
}

TEST_F(ReleaseInHostFunctionOnFake, goes_to_the_recorded_stream_all_the_same) {
    const Stream stream = Device(0).create_stream();
    const Stream other = Device(0).create_stream();
    Buffer buffer = Device(0).allocate(16, stream);
    call_as_stream([&] { buffer.close(other); });
    stream.sync();
    EXPECT_EQ(fake->last_free.stream, other.handle());
    EXPECT_EQ(fake->live().allocations, 0);
}

TEST_F(ReleaseInHostFunctionOnFake, keeps_the_order_of_release) {
    const Stream stream = Device(0).create_stream();
    Buffer first = Device(0).allocate(16, stream);
    Buffer second = Device(0).allocate(16, stream);
    const CUdeviceptr last = second.handle();
    call_as_stream([&] {
        first.close();
        second.close();
    });
    stream.sync();
    EXPECT_EQ(fake->last_free.pointer, last);
}

TEST_F(ReleaseInHostFunctionOnFake, is_left_out_if_a_reset_came_first) {
    Event event = Device(0).create_event();
    Stream stream = Device(0).create_stream();
    const auto pinned = LegacyPinnedMemoryResource::create();
    Buffer bound = pinned->allocate(16);
    Buffer pooled = Device(0).allocate(16, stream);
    call_as_stream([&] {
        event.close();
        stream.close();
        bound.close();
        pooled.close();
    });
    Device(0).reset_primary_context();
    fake->forget_calls();
    Device(0).sync();
    EXPECT_EQ(fake->count("cuEventDestroy"), 0);
    EXPECT_EQ(fake->count("cuStreamDestroy"), 0);
    EXPECT_EQ(fake->count("cuMemFreeHost"), 0);
    EXPECT_EQ(fake->count("cuMemFreeAsync"), 1) << "pools outlive a reset";
    EXPECT_EQ(fake->live().allocations, 0);
}

TEST_F(ReleaseInHostFunctionOnFake, of_registered_memory_is_immediate) {
    const Stream stream = Device(0).create_stream();
    std::vector<char> memory(64);
    Buffer buffer = register_host_memory(memory.data(), memory.size());
    bool is_known = true;
    call_as_stream([&] {
        buffer.close();
        is_known = !fake->host_allocations.empty();
    });
    stream.sync();
    EXPECT_FALSE(is_known);
}

TEST_F(ReleaseInHostFunctionOnFake, of_an_import_allows_another_import) {
    const Stream stream = Device(0).create_stream();
    const auto pool = DeviceMemoryResource::create(Device(0), {.ipc_enabled = true});
    const auto imported = DeviceMemoryResource::from_allocation_handle(
        Device(0), IPCAllocationHandle::duplicate(pool->allocation_handle().descriptor()));
    const Buffer buffer = pool->allocate(64, stream);
    const IPCBufferDescriptor descriptor = buffer.ipc_descriptor();
    Buffer mapped = Buffer::from_ipc_descriptor(*imported, descriptor, stream);
    int mappings = 0;
    call_as_stream([&] {
        mapped.close();
        mappings = fake->live().allocations;
        // This thread must not call the driver, but another thread may.
        std::thread([&] {
            mapped = Buffer::from_ipc_descriptor(*imported, descriptor, stream);
        }).join();
    });
    stream.sync();
    EXPECT_EQ(mappings, 2) << "the buffer and what is mapped of it";
    EXPECT_EQ(fake->count("cuMemPoolImportPointer"), 2) << "it was unmapped in between";
    mapped.close();
    EXPECT_EQ(fake->live().allocations, 1);
}

// ---- on a driver -------------------------------------------------------------------------------

TEST_F(ReleaseInHostFunctionOnDevice, leaves_nothing_behind_and_warns_of_nothing) {
    Kept kept = one_of_each(device(), stream());
    if (device().properties().get("virtual_memory_management_supported", 0) != 0) {
        const auto memory = VirtualMemoryResource::create(device());
        kept.push_back(boxed(memory->allocate(1, stream())));
        kept.push_back(boxed(memory->allocate(1)));
    }
    stream().launch_host([&] { kept.clear(); });
    stream().sync();
    EXPECT_TRUE(kept.empty());
    EXPECT_TRUE(warnings.take(WarningKind::Release).empty());
}

} // namespace cuprum
