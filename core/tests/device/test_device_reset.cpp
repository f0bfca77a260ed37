// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What happens to objects when their device is reset. These tests need their own program, because
// on a GPU a reset destroys everything in the process.

#include "driver/table.hpp"
#include "support/device_test.hpp"
#include "support/fake_driver.hpp"

#include <cuprum/cuprum.hpp>
#include <cuprum/detail/closed.hpp>
#include <cuprum/detail/order.hpp>
#include <cuprum/trace.hpp>

#include <cuda.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace cuprum {

namespace {

class ResetOnFake : public testing::FakeDriverTest {};

class ResetOnDriver : public testing::DeviceTest {};

/// One buffer of each kind of memory, on a stream or without.
std::vector<Buffer> buffers_of_every_kind(const Device& device, DeviceMemoryResource& pool,
                                          const Stream& stream, std::span<std::byte> registered) {
    const auto pinned = LegacyPinnedMemoryResource::create();
    const auto synchronous = SynchronousMemoryResource::create(device);
    const auto virtual_memory = VirtualMemoryResource::create(device);
    return {device.allocate(64, stream),
            pool.allocate(64, stream),
            pinned->allocate(64),
            pinned->allocate(64, stream),
            synchronous->allocate(64),
            synchronous->allocate(64, stream),
            virtual_memory->allocate(64),
            virtual_memory->allocate(64, stream),
            register_host_memory(registered.data(), registered.size())};
}

} // namespace

TEST_F(ResetOnFake, pool_memory_survives_a_reset_and_is_freed_on_an_existing_stream) {
    const Stream stream = Device(0).create_stream();
    Buffer buffer = Device(0).allocate(64, stream);
    Device(0).reset_primary_context();
    EXPECT_EQ(fake->count("cuDevicePrimaryCtxRetain"), 2) << "a reset leaves it inactive";
    buffer.close();
    EXPECT_EQ(fake->last_free.stream, CU_STREAM_LEGACY);
    EXPECT_EQ(fake->last_free.current, fake->primaries[0]);
    EXPECT_EQ(fake->live().allocations, 0);
}

TEST_F(ResetOnFake, memory_destroyed_by_a_reset_is_not_freed_again) {
    const Stream stream = Device(0).create_stream();
    const auto synchronous = SynchronousMemoryResource::create(Device(0));
    const auto pinned = LegacyPinnedMemoryResource::create();
    std::array<std::byte, 64> memory{};
    std::vector<Buffer> gone{synchronous->allocate(64), synchronous->allocate(64, stream),
                             pinned->allocate(64), pinned->allocate(64, stream),
                             register_host_memory(memory.data(), memory.size())};
    const CUdeviceptr reused = gone[0].handle();
    Device(0).reset_primary_context();
    EXPECT_EQ(fake->live().allocations + fake->live().host_allocations, 0);
    fake->allocations[reused] = 64; // the address now belongs to another allocation
    gone.clear();
    EXPECT_EQ(fake->count("cuMemFree"), 0);
    EXPECT_EQ(fake->count("cuMemFreeHost"), 0);
    EXPECT_EQ(fake->count("cuMemHostUnregister"), 0);
    EXPECT_EQ(fake->allocations.erase(reused), 1U);
}

TEST_F(ResetOnFake, the_allocating_device_counts_not_the_freeing_stream) {
    const Stream elsewhere = Device(1).create_stream();
    const auto synchronous = SynchronousMemoryResource::create(Device(0));
    Buffer gone = synchronous->allocate(64, elsewhere);
    Buffer kept = SynchronousMemoryResource::create(Device(1))->allocate(64);
    kept.set_deallocation_stream(Device(0).create_stream());
    Device(0).reset_primary_context();
    gone.close();
    EXPECT_EQ(fake->count("cuMemFree"), 0);
    kept.close();
    EXPECT_EQ(fake->count("cuMemFree"), 1);
    EXPECT_EQ(fake->count("cuStreamSynchronize"), 1) << "the default stream: its own is gone";
}

TEST_F(ResetOnFake, freeing_on_a_stream_destroyed_by_a_reset_uses_the_default_stream) {
    const Stream before = Device(0).create_stream();
    Device(0).reset_primary_context();
    const Stream after = Device(0).create_stream();
    Buffer buffer = Device(0).allocate(64, after);
    buffer.close(before);
    EXPECT_EQ(fake->last_free.stream, CU_STREAM_LEGACY);
    Buffer other = Device(0).allocate(64, after);
    const CUstream own = after.handle();
    other.close();
    EXPECT_EQ(fake->last_free.stream, own);
}

TEST_F(ResetOnFake, objects_destroyed_by_a_reset_are_not_passed_to_the_driver) {
    const Stream stream = Device(0).create_stream();
    const Stream elsewhere = Device(1).create_stream();
    Event event = stream.record();
    std::optional<Event> imported;
    {
        const CurrentContext current(Device(0).primary_context());
        imported = Event::from_ipc_descriptor(
            Device(0).create_event({.ipc_enabled = true}).ipc_descriptor());
    }
    const auto pinned = LegacyPinnedMemoryResource::create();
    const Buffer gone = pinned->allocate(64);
    const Buffer part = gone.slice(8, 8);
    const Buffer kept = Device(0).allocate(64, stream);
    Device(0).reset_primary_context();
    const Stream after = Device(0).create_stream();
    const std::size_t calls = fake->calls().size();
    const auto expect_lost = [](const char* what, const auto& use) {
        try {
            use();
            ADD_FAILURE() << what << " could be used";
        } catch (const ClosedError& error) {
            EXPECT_EQ(error.what(),
                      "this " + std::string(what) +
                          " was destroyed by a reset of its device; create a new one");
        }
    };
    expect_lost("Stream", [&] { stream.sync(); });
    expect_lost("Stream", [&] { static_cast<void>(stream.is_done()); });
    expect_lost("Stream", [&] { static_cast<void>(stream.record()); });
    expect_lost("Stream", [&] { static_cast<void>(stream.handle()); });
    expect_lost("Stream", [&] { after.wait(stream); });
    expect_lost("Stream", [&] { kept.fill(std::uint8_t{1}, stream); });
    expect_lost("Stream", [&] { static_cast<void>(Device(0).allocate(64, stream)); });
    expect_lost("Event", [&] { after.wait(event); });
    expect_lost("Event", [&] { after.record(event); });
    expect_lost("Event", [&] { event.sync(); });
    expect_lost("Event", [&] { static_cast<void>(event.is_done()); });
    expect_lost("Event", [&] { static_cast<void>(imported->is_done()); });
    expect_lost("Event", [&] { after.wait(*imported); });
    expect_lost("Buffer", [&] { gone.fill(std::uint8_t{1}, after); });
    expect_lost("Buffer", [&] { part.fill(std::uint8_t{1}, after); });
    expect_lost("Buffer", [&] { gone.copy_to(kept, after); });
    imported.reset();
    EXPECT_EQ(fake->calls().size(), calls) << "the driver was asked about something that is gone";
    kept.fill(std::uint8_t{1}, after);
    elsewhere.sync();
    event.close();
}

TEST_F(ResetOnFake, objects_are_lost_before_the_driver_destroys_them) {
    static const Stream* before = nullptr;
    static bool is_lost = false;
    static std::optional<Stream> during;
    const Stream stream = Device(0).create_stream();
    before = &stream;
    driver::Table slow = driver::table();
    slow.cuDevicePrimaryCtxReset = [](CUdevice) {
        is_lost = detail::is_lost(*before);
        during = Device(0).create_stream(); // as another thread may
        return CUDA_SUCCESS;
    };
    driver::Table* const table = driver::exchange_table(&slow);
    Device(0).reset_primary_context();
    driver::exchange_table(table);
    EXPECT_TRUE(is_lost);
    EXPECT_TRUE(detail::is_lost(*during)) << "the driver may have destroyed it";
    EXPECT_FALSE(detail::is_lost(Device(0).create_stream()));
    during.reset();
    fake->streams.clear(); // as a real reset does
}

TEST_F(ResetOnFake, failed_reset_leaves_objects_usable) {
    const Stream stream = Device(0).create_stream();
    fake->fail("cuDevicePrimaryCtxReset", CUDA_ERROR_INVALID_DEVICE);
    EXPECT_THROW(Device(0).reset_primary_context(), CUDAError);
    EXPECT_FALSE(detail::is_lost(stream));
    stream.sync();
}

TEST_F(ResetOnFake, a_reset_that_the_driver_does_not_have_leaves_objects_usable) {
    const Device device(0);
    const Stream stream = device.create_stream();
    fake->on_call = [](std::string_view function) {
        if (function == "cuDevicePrimaryCtxReset") { // as the table does for a missing function
            static_cast<void>(driver::lack("cuDevicePrimaryCtxReset", 12000, 11000));
        }
    };
    fake->fail("cuDevicePrimaryCtxReset", CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_THROW(device.reset_primary_context(), NotSupportedError);
    fake->on_call = nullptr;
    stream.sync();
    static_cast<void>(stream.record());
}

TEST_F(ResetOnFake, nobody_waits_for_a_stream_that_went_with_the_reset) {
    const Buffer kept = Device(0).allocate(64, Device(0).create_stream());
    Device(0).reset_primary_context();
    const Stream after = Device(0).create_stream();
    const CUstream consumer = after.handle();
    fake->forget_calls();
    EXPECT_TRUE(detail::order_after(consumer, kept));
    EXPECT_TRUE(fake->calls().empty());
}

TEST_F(ResetOnFake, everything_else_is_released_as_ever) {
    testing::check_every_failure([](testing::FakeDriver& driver) {
        const Stream stream = Device(0).create_stream();
        const Stream elsewhere = Device(1).create_stream();
        const auto pool = DeviceMemoryResource::create(Device(0), {.max_size = 1 << 20});
        const Buffer of_the_pool = pool->allocate(64, elsewhere);
        const Buffer virtual_memory =
            VirtualMemoryResource::create(Device(0))->allocate(64, elsewhere);
        Device(0).reset_primary_context();
        EXPECT_EQ(driver.live().pools, 1);
    });
}

TEST_F(ResetOnDriver, all_objects_may_outlive_a_reset_and_the_device_works_on) {
    std::vector<std::byte> memory(4096);
    auto pool = DeviceMemoryResource::create(device(), {.max_size = std::size_t{1} << 20U});
    std::optional<Stream> before = device().create_stream();
    std::optional<Event> event = before->record();
    std::vector<Buffer> buffers = buffers_of_every_kind(device(), *pool, *before, memory);
    before->sync();
    device().reset_primary_context();
    // Close half of the buffers on another thread, which has no current context.
    std::thread([&] {
        for (std::size_t i = 0; i < buffers.size(); i += 2) {
            buffers[i].close();
        }
        event.reset();
    }).join();
    buffers.clear();
    before.reset();
    pool.reset();
    const Stream after = device().create_stream();
    const Buffer buffer = device().allocate(64, after);
    buffer.fill(std::uint8_t{7}, after);
    std::array<std::uint8_t, 64> back{};
    buffer.copy_to_host(back, after);
    after.sync();
    EXPECT_EQ(back[63], 7);
}

TEST_F(ResetOnDriver, a_trace_contains_work_before_and_after_a_reset) {
    const std::string path = (std::filesystem::path(::testing::TempDir()) / "reset.json").string();
    start_trace(path);
    for (int i = 0; i < 2; ++i) {
        const Stream stream = device().create_stream();
        device().allocate(64, stream).fill(std::uint8_t{7}, stream);
        device().reset_primary_context();
    }
    stop_trace();
    std::ifstream file(path);
    std::size_t fills = 0;
    for (std::string line; std::getline(file, line);) {
        fills += line.find("\"cat\": \"copy\"") != std::string::npos ? 1 : 0;
    }
    EXPECT_EQ(fills, 2U);
    std::filesystem::remove(path);
}

} // namespace cuprum
