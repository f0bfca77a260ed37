// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Calls every memory function with bad input that compiles: closed objects, huge sizes, foreign
// memory. None of it may reach the driver.

#include "support/expect_error.hpp"
#include "support/fake_driver.hpp"

#include <cuprum/cuprum.hpp>

#include <cuda.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace cuprum {

namespace {

using testing::expect_error;

constexpr std::size_t BYTES = 64;
constexpr std::size_t HUGE_BYTES = std::numeric_limits<std::size_t>::max();

class BadInputOnFake : public testing::FakeDriverTest {
protected:
    BadInputOnFake()
        : stream(Device(0).create_stream()), closed_stream(Device(0).create_stream()),
          buffer(Device(0).allocate(BYTES, stream)), other(Device(0).allocate(BYTES, stream)),
          closed(Device(0).allocate(BYTES, stream)), managed(buffer), closed_managed(closed),
          pool(DeviceMemoryResource::create(Device(0), {.max_size = 1U << 20U})) {
        closed_stream.close();
        closed_managed.close();
        closed.close();
    }

    /// Checks that an action throws ClosedError without any driver call.
    void expect_closed(const std::string& name, const std::function<void()>& action) {
        fake->forget_calls();
        try {
            action();
            ADD_FAILURE() << name << " took it";
        } catch (const ClosedError& error) {
            EXPECT_NE(std::string(error.what()).find("closed"), std::string::npos) << name;
        }
        for (const std::string& call : fake->calls()) {
            EXPECT_TRUE(call.starts_with("cuCtx") || call == "cuStreamIsCapturing" ||
                        call == "cuPointerGetAttributes" || call == "cuDriverGetVersion")
                << name << " called " << call;
        }
    }

    Stream stream;
    Stream closed_stream;
    Buffer buffer;
    Buffer other;
    Buffer closed;
    ManagedBuffer managed;
    ManagedBuffer closed_managed;
    std::shared_ptr<DeviceMemoryResource> pool;
};

} // namespace

TEST_F(BadInputOnFake, closed_streams_are_refused_by_everything_that_takes_one) {
    std::array<std::uint8_t, BYTES> host{};
    const auto pinned = LegacyPinnedMemoryResource::create();
    const auto synchronous = SynchronousMemoryResource::create(Device(0));
    const auto virtual_memory = VirtualMemoryResource::create(Device(0));
    const auto graph = GraphMemoryResource::of(Device(0));
    const std::array locations{Location::host()};
    const Stream& bad = closed_stream;
    const std::map<std::string, std::function<void()>> uses{
        {"Device::allocate", [&] { (void)Device(0).allocate(16, bad); }},
        {"pool", [&] { (void)pool->allocate(16, bad); }},
        {"pool, freeing", [&] { pool->deallocate_bytes(1, 16, bad); }},
        {"pinned", [&] { (void)pinned->allocate(16, bad); }},
        {"synchronous", [&] { (void)synchronous->allocate(16, bad); }},
        {"virtual memory", [&] { (void)virtual_memory->allocate(16, bad); }},
        {"graph memory", [&] { (void)graph->allocate(16, bad); }},
        {"from_handle", [&] { (void)Buffer::from_handle(1, 16, pool, bad); }},
        {"copy_to", [&] { buffer.copy_to(other, bad); }},
        {"copy_from", [&] { buffer.copy_from(other, bad); }},
        {"copy_to_host", [&] { buffer.copy_to_host(host, bad); }},
        {"copy_from_host", [&] { buffer.copy_from_host(host, bad); }},
        {"fill 8", [&] { buffer.fill(std::uint8_t{1}, bad); }},
        {"fill 16", [&] { buffer.fill(std::uint16_t{1}, bad); }},
        {"fill 32", [&] { buffer.fill(std::uint32_t{1}, bad); }},
        {"set_deallocation_stream", [&] { buffer.set_deallocation_stream(bad); }},
        {"close", [&] { buffer.close(bad); }},
        {"copy_region", [&] { copy_region(buffer, {}, other, {}, {.width = 4}, bad); }},
        {"fill_region", [&] { fill_region(buffer, {}, {.width = 4}, std::uint8_t{1}, bad); }},
        {"copy_batch", [&] { copy_batch(bad, std::span(&buffer, 1), std::span(&other, 1)); }},
        {"copy_with_options", [&] { copy_with_options(bad, buffer, other, {}); }},
        {"prefetch", [&] { managed.prefetch(Location::host(), bad); }},
        {"discard", [&] { managed.discard(bad); }},
        {"discard_prefetch", [&] { managed.discard_prefetch(Location::host(), bad); }},
        {"prefetch_batch", [&] { prefetch_batch(bad, std::span(&managed, 1), locations); }},
        {"discard_batch", [&] { discard_batch(bad, std::span(&managed, 1)); }},
        {"copy_strided",
         [&] {
             const StridedLayout layout({4}, 4);
             copy_strided(buffer.handle(), layout, other.handle(), layout, bad);
         }},
    };
    fake->is_pointer_managed = true;
    for (const auto& [name, use] : uses) {
        expect_closed(name, use);
    }
    EXPECT_EQ(buffer.size(), BYTES) << "refused on a closed stream, it stays open";
}

TEST_F(BadInputOnFake, closed_buffers_are_refused_by_everything_that_takes_one) {
    std::array<std::uint8_t, BYTES> host{};
    const std::array locations{Location::host()};
    const auto virtual_memory = VirtualMemoryResource::create(Device(0));
    const Buffer& bad = closed;
    const std::map<std::string, std::function<void()>> uses{
        {"handle", [&] { (void)bad.handle(); }},
        {"size", [&] { (void)bad.size(); }},
        {"data", [&] { (void)bad.data<int>(); }},
        {"as_span", [&] { (void)bad.as_span<int>(); }},
        {"slice", [&] { (void)bad.slice(0, 1); }},
        {"whole", [&] { (void)bad.whole(); }},
        {"device_id", [&] { (void)bad.device_id(); }},
        {"is_device_accessible", [&] { (void)bad.is_device_accessible(); }},
        {"is_host_accessible", [&] { (void)bad.is_host_accessible(); }},
        {"is_managed", [&] { (void)bad.is_managed(); }},
        {"is_mapped", [&] { (void)bad.is_mapped(); }},
        {"ipc_descriptor", [&] { (void)bad.ipc_descriptor(); }},
        {"memory_resource", [&] { (void)bad.memory_resource(); }},
        {"deallocation_stream", [&] { (void)bad.deallocation_stream(); }},
        {"set_deallocation_stream", [&] { bad.set_deallocation_stream(stream); }},
        {"copy_to", [&] { bad.copy_to(other, stream); }},
        {"copied to", [&] { other.copy_to(bad, stream); }},
        {"copy_from", [&] { bad.copy_from(other, stream); }},
        {"copied from", [&] { other.copy_from(bad, stream); }},
        {"copy_to_host", [&] { bad.copy_to_host(host, stream); }},
        {"copy_from_host", [&] { bad.copy_from_host(host, stream); }},
        {"fill", [&] { bad.fill(std::uint8_t{1}, stream); }},
        {"copy_region to", [&] { copy_region(bad, {}, other, {}, {.width = 4}, stream); }},
        {"copy_region from", [&] { copy_region(other, {}, bad, {}, {.width = 4}, stream); }},
        {"fill_region", [&] { fill_region(bad, {}, {.width = 4}, std::uint8_t{1}, stream); }},
        {"copy_batch to", [&] { copy_batch(stream, std::span(&other, 1), std::span(&bad, 1)); }},
        {"copy_batch from", [&] { copy_batch(stream, std::span(&bad, 1), std::span(&other, 1)); }},
        {"modify_allocation", [&] { (void)virtual_memory->modify_allocation(bad, 1); }},
        {"view", [&] { (void)StridedMemoryView::of<int>(bad, {}); }},
        {"read_mostly", [&] { (void)closed_managed.read_mostly(); }},
        {"set_read_mostly", [&] { closed_managed.set_read_mostly(true); }},
        {"preferred_location", [&] { (void)closed_managed.preferred_location(); }},
        {"accessed_by", [&] { (void)closed_managed.accessed_by(); }},
        {"prefetch", [&] { closed_managed.prefetch(Location::host(), stream); }},
        {"discard", [&] { closed_managed.discard(stream); }},
        {"prefetch_batch",
         [&] { prefetch_batch(stream, std::span(&closed_managed, 1), locations); }},
        {"discard_batch", [&] { discard_batch(stream, std::span(&closed_managed, 1)); }},
    };
    for (const auto& [name, use] : uses) {
        expect_closed(name, use);
    }
    closed.close();
    closed.close(stream);
    EXPECT_NE(closed, buffer);
}

TEST_F(BadInputOnFake, sizes_beyond_everything_are_refused_with_the_numbers) {
    const auto pinned = LegacyPinnedMemoryResource::create();
    const auto synchronous = SynchronousMemoryResource::create(Device(0));
    const auto virtual_memory = VirtualMemoryResource::create(Device(0));
    const Buffer grown = virtual_memory->allocate(BYTES, stream);
    const std::string asked = std::to_string(HUGE_BYTES);
    const std::vector<std::function<void(std::size_t)>> allocations{
        [&](std::size_t bytes) { (void)Device(0).allocate(bytes, stream); },
        [&](std::size_t bytes) { (void)pool->allocate(bytes, stream); },
        [&](std::size_t bytes) { (void)pool->allocate_bytes(bytes, stream); },
        [&](std::size_t bytes) { (void)pinned->allocate(bytes, stream); },
        [&](std::size_t bytes) { (void)pinned->allocate(bytes); },
        [&](std::size_t bytes) { (void)synchronous->allocate(bytes, stream); },
        [&](std::size_t bytes) { (void)synchronous->allocate(bytes); },
        [&](std::size_t bytes) { (void)virtual_memory->allocate(bytes, stream); },
        [&](std::size_t bytes) { (void)virtual_memory->modify_allocation(grown, bytes); },
    };
    constexpr std::size_t largest = HUGE_BYTES / 2;
    for (std::size_t i = 0; i < allocations.size(); ++i) {
        fake->forget_calls();
        for (const int negative : {-1, -4}) { // converted without a warning of most compilers
            expect_error<std::invalid_argument>(
                [&] { allocations[i](static_cast<std::size_t>(negative)); },
                {"size is " + std::to_string(negative) + " bytes", "expected at least 0"});
        }
        for (const std::string& call : fake->calls()) {
            EXPECT_TRUE(call.find("Alloc") == std::string::npos ||
                        call == "cuMemGetAllocationGranularity")
                << call << " by allocation " << i;
        }
        if (i < 7) {
            expect_error<OutOfMemoryError>(
                [&] { allocations[i](largest); },
                {std::to_string(largest), "were requested", "are free of"});
        }
    }
    expect_error<std::invalid_argument>(
        [&] { (void)Device(0).allocate<double>(static_cast<std::size_t>(-4), stream); },
        {"the count is -4", "at least 0"});
    expect_error<std::invalid_argument>([&] { (void)buffer.slice(HUGE_BYTES, 1); }, {asked, "64"});
    expect_error<std::invalid_argument>([&] { (void)buffer.slice(1, HUGE_BYTES); }, {asked, "64"});
    expect_error<std::invalid_argument>(
        [&] { copy_region(buffer, {.offset = HUGE_BYTES}, other, {}, {.width = 4}, stream); },
        {"destination", asked, "64"});
    expect_error<std::invalid_argument>(
        [&] { copy_region(buffer, {}, other, {}, {.width = 4, .height = HUGE_BYTES}, stream); },
        {"beyond any memory"});
    expect_error<std::invalid_argument>(
        [&] { fill_region(buffer, {}, {.width = HUGE_BYTES}, std::uint8_t{1}, stream); },
        {asked, "beyond any memory"});
}

/// A resource that must not be asked for memory.
class UnusedResource final : public MemoryResource {
public:
    CUdeviceptr allocate_bytes(std::size_t /*bytes*/, const Stream& /*stream*/) override {
        ADD_FAILURE() << "memory was allocated";
        return 4096;
    }

    void deallocate_bytes(CUdeviceptr /*pointer*/, std::size_t /*bytes*/,
                          const Stream& /*stream*/) override {}

    [[nodiscard]] bool is_device_accessible() const noexcept override { return true; }

    [[nodiscard]] bool is_host_accessible() const noexcept override { return false; }

    [[nodiscard]] int device_id() const noexcept override { return 0; }
};

TEST_F(BadInputOnFake, resource_that_no_pointer_shares_allocates_nothing) {
    UnusedResource resource;
    expect_error<std::logic_error>(
        [&] { (void)resource.allocate(BYTES, stream); },
        {"no std::shared_ptr holds this memory resource", "make it with std::make_shared"});
}

// The library's own resources cannot be made without a pointer.
static_assert(!std::is_default_constructible_v<LegacyPinnedMemoryResource>);
static_assert(!std::is_constructible_v<SynchronousMemoryResource, Device>);
static_assert(!std::is_constructible_v<VirtualMemoryResource, Device>);
static_assert(!std::is_constructible_v<DeviceMemoryResource, Device>);

TEST_F(BadInputOnFake, wrapped_memory_ends_at_the_last_address) {
    constexpr CUdeviceptr high = ~CUdeviceptr{16};
    const auto resource = LegacyPinnedMemoryResource::create();
    expect_error<std::invalid_argument>([] { (void)Buffer::from_handle(high, 17); },
                                        {"size is 17", "exceeds the address space"});
    expect_error<std::invalid_argument>(
        [&] { (void)Buffer::from_handle(high, 17, resource, stream); },
        {"size is 17", "exceeds the address space"});
    EXPECT_EQ(Buffer::from_handle(high, 16).size(), 16U);
}

TEST_F(BadInputOnFake, host_memory_that_overlaps_its_own_buffer_is_refused) {
    const auto pinned = LegacyPinnedMemoryResource::create();
    const Buffer host = pinned->allocate(BYTES);
    const auto at = [&](std::size_t offset) { return host.data<std::byte>() + offset; };
    const Buffer part = host.slice(0, 40);
    expect_error<std::invalid_argument>([&] { part.copy_from_host_bytes(at(8), 40, stream); },
                                        {"overlap: 40 bytes each, 8 bytes apart"});
    expect_error<std::invalid_argument>([&] { part.copy_to_host_bytes(at(8), 40, stream); },
                                        {"overlap: 40 bytes each, 8 bytes apart"});
}

TEST_F(BadInputOnFake, what_was_never_given_is_not_taken_back) {
    const auto pinned = LegacyPinnedMemoryResource::create();
    const auto synchronous = SynchronousMemoryResource::create(Device(0));
    const auto virtual_memory = VirtualMemoryResource::create(Device(0));
    const std::vector<std::function<void()>> frees{
        [&] { pool->deallocate_bytes(4660, 16, stream); },
        [&] { pinned->deallocate_bytes(4660, 16, stream); },
        [&] { synchronous->deallocate_bytes(4660, 16, stream); },
        [&] { GraphMemoryResource::of(Device(0))->deallocate_bytes(4660, 16, stream); },
    };
    for (const auto& free : frees) {
        expect_error<CUDAError>(free, {"CUDA_ERROR_INVALID_VALUE", "pointer 4660 is not",
                                       "freed already, or comes from elsewhere"});
    }
    expect_error<std::invalid_argument>([&] { virtual_memory->deallocate_bytes(4660, 16, stream); },
                                        {"pointer 4660 is not"});
    pool->deallocate_bytes(0, 0, stream); // the memory of an empty buffer
}

} // namespace cuprum
