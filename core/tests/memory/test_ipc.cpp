// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/device_test.hpp"
#include "support/expect_error.hpp"
#include "support/fake_driver.hpp"

#include <cuprum/cuprum.hpp>

#include <cuda.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

namespace cuprum {

namespace {

using testing::expect_error;

constexpr DeviceMemoryResourceOptions SHARED{.max_size = std::size_t{4} << 20U,
                                             .ipc_enabled = true};

/// Counts the process's open file descriptors.
std::ptrdiff_t open_descriptors() {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
}

class IpcOnFake : public testing::FakeDriverTest {
protected:
    IpcOnFake() : descriptors_(open_descriptors()) {}

    ~IpcOnFake() override {
        EXPECT_EQ(open_descriptors(), descriptors_) << "a file descriptor leaked";
    }

    /// Imports a pool as another process would.
    static std::shared_ptr<DeviceMemoryResource>
    import(const std::shared_ptr<DeviceMemoryResource>& pool) {
        return DeviceMemoryResource::from_allocation_handle(
            Device(0), IPCAllocationHandle::duplicate(pool->allocation_handle().descriptor()));
    }

private:
    std::ptrdiff_t descriptors_;
};

} // namespace

TEST_F(IpcOnFake, pool_is_exported_once_and_its_descriptor_closed_with_the_last_share) {
    std::optional<IPCAllocationHandle> kept;
    {
        const auto pool = DeviceMemoryResource::create(Device(0), SHARED);
        EXPECT_TRUE(pool->is_ipc_enabled());
        EXPECT_FALSE(pool->is_mapped());
        kept = pool->allocation_handle();
        EXPECT_EQ(kept->descriptor(), pool->allocation_handle().descriptor());
        EXPECT_EQ(fake->count("cuMemPoolExportToShareableHandle"), 1);
    }
    EXPECT_GE(::fcntl(kept->descriptor(), F_GETFD), 0) << "the handle outlives the pool";
    kept->close();
    kept->close();
    EXPECT_THROW((void)kept->descriptor(), ClosedError);
}

TEST_F(IpcOnFake, pool_that_is_not_shared_says_so) {
    const auto pool = DeviceMemoryResource::create(Device(0), {});
    const Stream stream = Device(0).create_stream();
    const Buffer buffer = pool->allocate(16, stream);
    const auto not_enabled = {std::string_view("Memory resource is not IPC-enabled")};
    expect_error<std::logic_error>([&] { (void)pool->allocation_handle(); }, not_enabled);
    expect_error<std::logic_error>([&] { (void)buffer.ipc_descriptor(); }, not_enabled);
    expect_error<std::logic_error>([&] { (void)Buffer::from_ipc_descriptor(*pool, {}, stream); },
                                   not_enabled);
    const Buffer wrapped = Buffer::from_handle(16, 16);
    expect_error<std::logic_error>([&] { (void)wrapped.ipc_descriptor(); }, not_enabled);
}

TEST_F(IpcOnFake, descriptors_that_are_none_are_refused) {
    expect_error<std::invalid_argument>([] { (void)IPCAllocationHandle::from_descriptor(-1); },
                                        {"Invalid allocation handle (fd) -1", "non-negative"});
    expect_error<std::invalid_argument>([] { (void)IPCAllocationHandle::duplicate(100000); },
                                        {"100000"});
    const std::vector<std::byte> few(8);
    expect_error<std::invalid_argument>([&] { (void)IPCBufferDescriptor::from_bytes(few, 64); },
                                        {"payload is 8 bytes; expected at least 64"});
}

TEST_F(IpcOnFake, imported_pool_does_not_allocate_and_has_no_peers) {
    const auto pool = DeviceMemoryResource::create(Device(0), SHARED);
    const auto imported = import(pool);
    EXPECT_TRUE(imported->is_mapped());
    EXPECT_TRUE(imported->is_ipc_enabled());
    EXPECT_TRUE(imported->peer_accessible_by().empty());
    const Stream stream = Device(0).create_stream();
    expect_error<std::invalid_argument>([&] { (void)imported->allocate(16, stream); },
                                        {"cannot allocate from a mapped"});
}

TEST_F(IpcOnFake, importing_twice_maps_once) {
    const auto pool = DeviceMemoryResource::create(Device(0), SHARED);
    const auto imported = import(pool);
    const Stream stream = Device(0).create_stream();
    const Buffer buffer = pool->allocate(64, stream);
    const IPCBufferDescriptor descriptor = buffer.ipc_descriptor();
    EXPECT_EQ(descriptor.size, 64U);
    {
        const Buffer first = Buffer::from_ipc_descriptor(*imported, descriptor, stream);
        Buffer second = Buffer::from_ipc_descriptor(*imported, descriptor, stream);
        EXPECT_TRUE(first.is_mapped());
        EXPECT_FALSE(buffer.is_mapped());
        EXPECT_EQ(first.handle(), second.handle());
        EXPECT_EQ(fake->count("cuMemPoolImportPointer"), 1);
        second.close();
        EXPECT_EQ(fake->live().allocations, 2) << "the first still maps it";
    }
    EXPECT_EQ(fake->live().allocations, 1);
    const Buffer again = Buffer::from_ipc_descriptor(*imported, descriptor, stream);
    EXPECT_EQ(fake->count("cuMemPoolImportPointer"), 2) << "it was unmapped in between";
}

TEST_F(IpcOnFake, memory_dropped_in_a_capture_is_unmapped_before_it_is_mapped_again) {
    const auto pool = DeviceMemoryResource::create(Device(0), SHARED);
    const auto imported = import(pool);
    const Stream captured = Device(0).create_stream();
    const Stream stream = Device(0).create_stream();
    const Buffer buffer = pool->allocate(64, stream);
    const IPCBufferDescriptor descriptor = buffer.ipc_descriptor();
    Buffer mapped = Buffer::from_ipc_descriptor(*imported, descriptor, captured);
    fake->set_capturing(captured.handle());
    mapped.close();
    EXPECT_EQ(fake->live().allocations, 2) << "the capture defers the unmapping";
    expect_error<std::logic_error>(
        [&] { (void)Buffer::from_ipc_descriptor(*imported, descriptor, stream); },
        {"was being captured", "end the capture"});
    EXPECT_EQ(fake->count("cuMemPoolImportPointer"), 1) << "drivers do not count mappings";
    fake->streams.at(captured.handle()).is_capturing = false;
    mapped = Buffer::from_ipc_descriptor(*imported, descriptor, stream);
    EXPECT_EQ(fake->count("cuMemPoolImportPointer"), 2);
    EXPECT_EQ(fake->live().allocations, 2);
    mapped.close();
    EXPECT_EQ(fake->live().allocations, 1);
}

TEST_F(IpcOnFake, what_was_imported_is_sent_on_as_what_it_came) {
    const auto pool = DeviceMemoryResource::create(Device(0), SHARED);
    const auto imported = import(pool);
    const Stream stream = Device(0).create_stream();
    const Buffer buffer = pool->allocate(64, stream);
    const IPCBufferDescriptor descriptor = buffer.ipc_descriptor();
    const Buffer mapped = Buffer::from_ipc_descriptor(*imported, descriptor, stream);
    fake->forget_calls();
    EXPECT_EQ(mapped.ipc_descriptor(), descriptor);
    EXPECT_EQ(fake->count("cuMemPoolExportPointer"), 0) << "only the maker can export";
    const Buffer part = mapped.slice(16, 8);
    EXPECT_TRUE(part.is_mapped());
    EXPECT_THROW((void)part.ipc_descriptor(), std::logic_error);
    EXPECT_EQ(part.whole(), mapped);
    EXPECT_EQ(part.whole().ipc_descriptor(), descriptor);
    EXPECT_EQ(mapped.whole(), mapped);
}

TEST_F(IpcOnFake, a_descriptor_that_the_pool_does_not_know_is_explained) {
    const auto pool = DeviceMemoryResource::create(Device(0), SHARED);
    const auto imported = import(pool);
    const Stream stream = Device(0).create_stream();
    const IPCBufferDescriptor descriptor = pool->allocate(64, stream).ipc_descriptor();
    const auto expect_text = [&](const std::shared_ptr<DeviceMemoryResource>& from,
                                 const char* text) {
        fake->fail("cuMemPoolImportPointer", CUDA_ERROR_INVALID_VALUE);
        expect_error<CUDAError>(
            [&] { (void)Buffer::from_ipc_descriptor(*from, descriptor, stream); },
            {"cuMemPoolImportPointer", text});
    };
    expect_text(imported, "not of a buffer of this pool");
    expect_text(pool, "this process's own");
    fake->fail("cuMemPoolImportPointer", CUDA_ERROR_UNKNOWN);
    EXPECT_THROW((void)Buffer::from_ipc_descriptor(*imported, descriptor, stream), CUDAError);
}

TEST_F(IpcOnFake, what_is_mapped_already_is_refused_through_another_pool_as_at_first) {
    const auto pool = DeviceMemoryResource::create(Device(0), SHARED);
    const auto imported = import(pool);
    const auto other = import(DeviceMemoryResource::create(Device(0), SHARED));
    const Stream stream = Device(0).create_stream();
    const Buffer buffer = pool->allocate(64, stream);
    const IPCBufferDescriptor descriptor = buffer.ipc_descriptor();
    const Buffer mapped = Buffer::from_ipc_descriptor(*imported, descriptor, stream);
    const auto expect_text = [&](const std::shared_ptr<DeviceMemoryResource>& from,
                                 const char* text) {
        expect_error<CUDAError>(
            [&] { (void)Buffer::from_ipc_descriptor(*from, descriptor, stream); },
            {"cuMemPoolImportPointer failed: CUDA_ERROR_INVALID_VALUE (1)", text});
    };
    expect_text(other, "not of a buffer of this pool, but of one that");
    expect_text(pool, "this process's own");
    EXPECT_EQ(Buffer::from_ipc_descriptor(*imported, descriptor, stream), mapped);
}

TEST_F(IpcOnFake, threads_that_import_at_once_share_one_mapping) {
    const auto pool = DeviceMemoryResource::create(Device(0), SHARED);
    const auto imported = import(pool);
    const Stream stream = Device(0).create_stream();
    const Buffer buffer = pool->allocate(64, stream);
    const IPCBufferDescriptor descriptor = buffer.ipc_descriptor();
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int round = 0; round < 50; ++round) {
                const Buffer mapped = Buffer::from_ipc_descriptor(*imported, descriptor, stream);
                EXPECT_LE(fake->live().allocations, 2);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(fake->live().allocations, 1);
}

TEST_F(IpcOnFake, forged_descriptors_are_refused_and_leave_nothing) {
    const auto pool = DeviceMemoryResource::create(Device(0), SHARED);
    const auto imported = import(pool);
    const Stream stream = Device(0).create_stream();
    const Buffer buffer = pool->allocate(64, stream);
    IPCBufferDescriptor large = buffer.ipc_descriptor();
    large.size = 6400;
    expect_error<std::invalid_argument>(
        [&] { (void)Buffer::from_ipc_descriptor(*imported, large, stream); },
        {"6400", "exceeds", "mapped allocation extent"});
    EXPECT_EQ(fake->live().allocations, 1) << "what was mapped is unmapped again";
    IPCBufferDescriptor changed = buffer.ipc_descriptor();
    for (std::byte& each : changed.payload) {
        each ^= std::byte{1};
        expect_error<std::invalid_argument>(
            [&] { (void)Buffer::from_ipc_descriptor(*imported, changed, stream); },
            {"does not match its checksum", "changed on its way"});
        each ^= std::byte{1};
    }
    const Buffer good = Buffer::from_ipc_descriptor(*imported, buffer.ipc_descriptor(), stream);
    large.size = 32;
    EXPECT_THROW((void)Buffer::from_ipc_descriptor(*imported, large, stream),
                 std::invalid_argument);
}

TEST_F(IpcOnFake, a_pool_imported_as_what_it_is_not_maps_nothing) {
    const auto pool = DeviceMemoryResource::create(Device(0), SHARED);
    const auto handle = [&] {
        return IPCAllocationHandle::duplicate(pool->allocation_handle().descriptor());
    };
    const Stream stream = Device(0).create_stream();
    const Buffer buffer = pool->allocate(64, stream);
    const auto other = DeviceMemoryResource::from_allocation_handle(Device(1), handle());
    expect_error<std::invalid_argument>(
        [&] { (void)Buffer::from_ipc_descriptor(*other, buffer.ipc_descriptor(), stream); },
        {"imported as one of device 1", "that of device 0"});
    const auto pinned = PinnedMemoryResource::from_allocation_handle(handle());
    expect_error<std::invalid_argument>(
        [&] { (void)Buffer::from_ipc_descriptor(*pinned, buffer.ipc_descriptor(), stream); },
        {"imported as one of pinned host memory", "that of device 0"});
    EXPECT_EQ(fake->live().allocations, 1) << "what was mapped is unmapped again";
    IPCBufferDescriptor nothing = buffer.ipc_descriptor();
    nothing.size = 0;
    expect_error<std::invalid_argument>(
        [&] { (void)Buffer::from_ipc_descriptor(*import(pool), nothing, stream); }, {"size is 0"});
}

TEST_F(IpcOnFake, closed_things_are_errors) {
    auto pool = DeviceMemoryResource::create(Device(0), SHARED);
    Stream stream = Device(0).create_stream();
    Buffer buffer = pool->allocate(16, stream);
    const IPCBufferDescriptor descriptor = buffer.ipc_descriptor();
    buffer.close();
    EXPECT_THROW((void)buffer.ipc_descriptor(), ClosedError);
    const auto imported = import(pool);
    stream.close();
    EXPECT_THROW((void)Buffer::from_ipc_descriptor(*imported, descriptor, stream), ClosedError);
}

TEST(IpcFailures, every_call) {
    testing::check_every_failure([](testing::FakeDriver&) {
        const Stream stream = Device(0).create_stream();
        const auto pool = DeviceMemoryResource::create(Device(0), SHARED);
        const Buffer buffer = pool->allocate(64, stream);
        const IPCBufferDescriptor descriptor = buffer.ipc_descriptor();
        const auto imported =
            DeviceMemoryResource::from_allocation_handle(Device(0), pool->allocation_handle());
        const Buffer mapped = Buffer::from_ipc_descriptor(*imported, descriptor, stream);
    });
}

} // namespace cuprum
