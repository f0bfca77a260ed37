// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Makes every driver call of the library fail once, on the real or emulated driver. The tests of
// the objects do the same on a fake driver, which can also produce other failures.

#include "support/device_test.hpp"
#include "support/every_failure.hpp"

#include <array>
#include <vector>

namespace cuprum {
namespace {

constexpr const char* SOURCE = R"(
__device__ int counter;
extern "C" __global__ void add(int* values, int amount) {
    extern __shared__ int scratch[];
    scratch[threadIdx.x] = amount;
    values[threadIdx.x] += scratch[threadIdx.x];
})";

constexpr std::size_t MEBIBYTE = 1 << 20;
constexpr std::uint64_t POOL_BYTES = 32 * MEBIBYTE;

class EveryFailure : public testing::DeviceTest {
protected:
    static void check(const std::function<void()>& scenario) {
        testing::check_every_failure_on_driver(scenario);
    }
};

TEST_F(EveryFailure, of_devices) {
    check([] {
        const Device device(0);
        (void)device.memory_info();
        (void)device.total_memory();
        (void)device.properties().get("clock_rate");
        (void)device.primary_context_state();
        (void)Device();
        device.sync();
    });
}

TEST_F(EveryFailure, of_contexts) {
    check([] {
        const Context made = Context::create(Device(0), {});
        const CurrentContext guard(made);
        made.set_limit(Limit::MallocHeapSize, MEBIBYTE);
        (void)made.limit(Limit::MallocHeapSize);
        made.set_cache_config(CacheConfig::PreferEqual);
        (void)made.cache_config();
        (void)made.flags();
        (void)made.id();
        const Stream stream = Stream::create(made);
        const Event event = stream.record();
        made.sync();
        (void)Context::current()->device();
    });
}

TEST_F(EveryFailure, of_green_contexts) {
    try {
        (void)device().resources().sm();
    } catch (const CUDAError& error) {
        GTEST_SKIP() << error.what();
    }
    check([] {
        const SMSplit split = Device(0).resources().sm().split({{.count = 8}});
        const Context context = Device(0).create_context({.resources = {split.groups[0]}});
        (void)context.resources().sm();
        const Stream stream = Stream::create(context);
        const Event event = stream.record();
        stream.sync();
    });
}

TEST_F(EveryFailure, of_streams_and_events) {
    check([] {
        const Stream stream = Device(0).create_stream({.priority = 0});
        const Stream other = Device(0).create_stream();
        const Event start = stream.record({.timing_enabled = true});
        other.wait(start);
        other.wait(stream);
        stream.launch_host([] {});
        (void)stream.is_nonblocking();
        (void)stream.priority();
        (void)stream.id();
        stream.set_synchronization_policy(SynchronizationPolicy::Yield);
        (void)stream.synchronization_policy();
        other.copy_attributes_from(stream);
        const Event end = stream.record({.timing_enabled = true});
        end.sync();
        (void)end.is_done();
        (void)end.milliseconds_since(start);
        (void)Stream::from_handle(stream.handle()).device();
        other.sync();
    });
}

TEST_F(EveryFailure, of_shared_events) {
    if (device().properties().get("ipc_event_supported") == 0) {
        GTEST_SKIP() << "the device has no events between processes";
    }
    check([] {
        const Event event = Device(0).create_event({.ipc_enabled = true});
        (void)event.ipc_descriptor();
    });
}

TEST_F(EveryFailure, of_stream_memory_operations) {
    check([] {
        // Not of a pool: GPUs cannot wait there.
        const auto memory = SynchronousMemoryResource::create(Device(0));
        const Buffer word = memory->allocate(sizeof(std::uint64_t));
        const Stream stream = Device(0).create_stream();
        stream.write_value(word.handle(), std::uint32_t{7});
        stream.wait_value(word.handle(), std::uint32_t{7});
        stream.sync();
    });
}

TEST_F(EveryFailure, of_buffers) {
    check([] {
        const Stream stream = Device(0).create_stream();
        const Buffer first = Device(0).allocate(1024, stream);
        Buffer second = Device(0).allocate(1024, stream);
        std::vector<std::uint8_t> host(1024);
        first.fill(std::uint8_t{1}, stream);
        first.fill(std::uint32_t{2}, stream);
        first.copy_to(second, stream);
        first.copy_from_host(std::span<const std::uint8_t>(host), stream);
        first.copy_to_host(std::span<std::uint8_t>(host), stream);
        copy_region(first, {.pitch = 20}, second, {}, {.width = 10, .height = 10}, stream);
        fill_region(first, {.pitch = 20}, {.width = 10, .height = 10}, std::uint8_t{1}, stream);
        copy_batch(stream, std::vector{first}, std::vector{second});
        second.close(stream);
        (void)Buffer::from_handle(first.handle(), 16).device_id();
        stream.sync();
    });
}

TEST_F(EveryFailure, of_memory_resources) {
    check([] {
        static std::array<int, 16> host{};
        const Stream stream = Device(0).create_stream();
        const auto pool = DeviceMemoryResource::create(Device(0), {.max_size = POOL_BYTES});
        pool->set_attribute(PoolAttribute::ReleaseThreshold, 1);
        (void)pool->attributes();
        const Buffer buffer = pool->allocate(64, stream);
        pool->trim(0);
        const auto pinned = LegacyPinnedMemoryResource::create();
        const Buffer locked = pinned->allocate(64);
        const Buffer registered = register_host_memory(host.data(), sizeof(host));
    });
}

TEST_F(EveryFailure, of_memory_that_is_shared) {
    if (device().properties().get("handle_type_posix_file_descriptor_supported") == 0) {
        GTEST_SKIP() << "the device shares no pools";
    }
    check([] {
        const Stream stream = Device(0).create_stream();
        const auto pool =
            DeviceMemoryResource::create(Device(0), {.max_size = POOL_BYTES, .ipc_enabled = true});
        const Buffer buffer = pool->allocate(64, stream);
        (void)pool->allocation_handle();
        (void)buffer.ipc_descriptor();
    });
}

TEST_F(EveryFailure, of_virtual_memory) {
    check([] {
        const Stream stream = Device(0).create_stream();
        const auto resource =
            VirtualMemoryResource::create(Device(0), VirtualMemoryResourceOptions{});
        const Buffer buffer = resource->allocate(1, stream);
        const Buffer grown = resource->modify_allocation(buffer, 3 * MEBIBYTE);
    });
}

TEST_F(EveryFailure, of_object_code_and_launches) {
    const ObjectCode ptx = compile(SOURCE);
    const std::vector<std::byte> bytes(ptx.code().begin(), ptx.code().end());
    check([&bytes] {
        const Stream stream = Device(0).create_stream();
        const ObjectCode code = ObjectCode::from_bytes(CodeType::Ptx, bytes);
        const Kernel kernel = code.get_kernel("add");
        (void)kernel.occupancy().max_active_blocks_per_multiprocessor(32, 0);
        (void)kernel.attributes(Device(0)).num_regs;
        const Buffer values = Device(0).allocate(32 * sizeof(int), stream);
        values.fill(std::uint8_t{0}, stream);
        LaunchConfig config(1, 32);
        config.shmem_size = 128;
        launch(stream, config, kernel, values, 1);
        stream.sync();
    });
}

TEST_F(EveryFailure, of_linking_by_the_driver) {
    const ObjectCode ptx = compile(SOURCE);
    check([&ptx] {
        (void)Linker(std::array{ptx}, {.backend = CompilerBackend::Driver}).link(CodeType::Cubin);
    });
}

} // namespace
} // namespace cuprum
