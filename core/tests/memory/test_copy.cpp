// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/device_test.hpp"
#include "support/expect_error.hpp"
#include "support/fake_driver.hpp"

#include <cuprum/cuprum.hpp>
#include <cuprum/detail/peer_copies.hpp>

#include <cuda.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

namespace cuprum {

namespace {

using testing::expect_error;

class CopyOnFake : public testing::FakeDriverTest {
protected:
    CopyOnFake() : stream(Device(0).create_stream()) {
        for (int i = 0; i < 3; ++i) {
            sources.push_back(Device(0).allocate(64, *stream));
            targets.push_back(Device(0).allocate(64, *stream));
        }
    }

    ~CopyOnFake() override {
        sources.clear();
        targets.clear();
        stream.reset();
    }

    std::optional<Stream> stream;
    std::vector<Buffer> sources;
    std::vector<Buffer> targets;
};

class CopyOnDriver : public testing::DeviceTest {};

} // namespace

TEST_F(CopyOnFake, batch_is_one_call_and_equal_neighbours_share_their_options) {
    copy_batch(*stream, sources, targets);
    EXPECT_EQ(fake->notes.back(), "copy 3; from 0: order 1 nowhere to nowhere flags 0");
    const CopyOptions any{.src_access_order = SourceAccessOrder::Any};
    const CopyOptions hinted{.src_access_order = SourceAccessOrder::DuringAPICall,
                             .src_location_hint = Location::device(Device(1)),
                             .dst_location_hint = Location::host_numa(2),
                             .overlap_mode = CopyOverlap::PreferOverlapWithCompute};
    const std::vector<CopyOptions> each{any, any, hinted};
    copy_batch(*stream, sources, targets, each);
    EXPECT_EQ(fake->notes.back(), "copy 3; from 0: order 3 nowhere to nowhere flags 0; from 2: "
                                  "order 2 device 1 to node 2 flags 1");
    copy_with_options(*stream, sources[0], targets[0], any);
    EXPECT_EQ(fake->notes.back(), "copy 1; from 0: order 3 nowhere to nowhere flags 0");
    EXPECT_EQ(fake->count("cuMemcpyAsync"), 0);
}

TEST_F(CopyOnFake, older_drivers_copy_one_by_one_and_refuse_what_that_cannot_honour) {
    fake->version = 12090;
    const std::vector<CopyOptions> any{{.src_access_order = SourceAccessOrder::Any}};
    copy_batch(*stream, sources, targets, any);
    EXPECT_EQ(fake->count("cuMemcpyAsync"), 3);
    const auto refuse = [&](const CopyOptions& options, std::string_view name) {
        expect_error<NotSupportedError>(
            [&] { copy_batch(*stream, sources, targets, std::span(&options, 1)); },
            {name, "13.0", "12.9"});
    };
    refuse({.src_access_order = SourceAccessOrder::DuringAPICall}, "DURING_API_CALL");
    refuse({.src_location_hint = Location::host()}, "src_location_hint");
    refuse({.dst_location_hint = Location::host()}, "dst_location_hint");
    refuse({.overlap_mode = CopyOverlap::PreferOverlapWithCompute}, "overlap_mode");
    EXPECT_EQ(fake->count("cuMemcpyAsync"), 3);
}

TEST_F(CopyOnFake, batches_are_checked_before_anything_is_copied) {
    const std::vector<Buffer> none;
    expect_error<std::invalid_argument>([&] { copy_batch(*stream, none, none); },
                                        {"empty buffers sequence"});
    expect_error<std::invalid_argument>(
        [&] { copy_batch(*stream, sources, std::span(targets).first(2)); },
        {"3 sources", "2 destinations"});
    std::vector<Buffer> odd = targets;
    odd[1] = Device(0).allocate(32, *stream);
    expect_error<std::invalid_argument>([&] { copy_batch(*stream, sources, odd); },
                                        {"size mismatch at index 1", "64", "32"});
    expect_error<std::invalid_argument>([&] { copy_batch(*stream, sources, sources); },
                                        {"overlap at index 0"});
    const std::vector<CopyOptions> two(2);
    expect_error<std::invalid_argument>([&] { copy_batch(*stream, sources, targets, two); },
                                        {"options length (2)"});
    EXPECT_TRUE(fake->notes.empty());
}

TEST_F(CopyOnFake, streams_that_take_no_batches_are_refused_with_the_reason) {
    start_with(fake->primaries[0]);
    expect_error<std::invalid_argument>(
        [&] { copy_batch(Stream::legacy_default(), sources, targets); },
        {"the legacy default stream"});
    EXPECT_NO_THROW(copy_batch(Stream::per_thread_default(), sources, targets));
    fake->set_capturing(stream->handle());
    expect_error<std::invalid_argument>([&] { copy_batch(*stream, sources, targets); },
                                        {"graph capture"});
    fake->streams.at(stream->handle()).is_capturing = false;
    Stream closed = Device(0).create_stream();
    closed.close();
    EXPECT_THROW(copy_batch(closed, sources, targets), ClosedError);
}

TEST_F(CopyOnFake, copies_of_nothing_are_left_out) {
    sources[1] = Device(0).allocate(0, *stream);
    targets[1] = Device(0).allocate(0, *stream);
    std::vector<CopyOptions> each(3);
    each[2].src_access_order = SourceAccessOrder::Any;
    copy_batch(*stream, sources, targets, each);
    EXPECT_EQ(fake->notes.back(), "copy 2; from 0: order 1 nowhere to nowhere flags 0; from 1: "
                                  "order 3 nowhere to nowhere flags 0");
}

TEST_F(CopyOnFake, pairs_between_devices_without_access_are_copied_separately) {
    const Stream there = Device(1).create_stream();
    sources[1] = Device(0).allocate(0, *stream); // is skipped without changing the other indices
    targets[1] = Device(0).allocate(0, *stream);
    targets[2] = Device(1).allocate(64, there);
    std::vector<CopyOptions> each(3);
    each[0].src_access_order = SourceAccessOrder::DuringAPICall;
    each[2].src_access_order = SourceAccessOrder::Any;
    fake->denies_peers = true;
    copy_batch(*stream, sources, targets, each);
    ASSERT_GE(fake->notes.size(), 2U);
    EXPECT_EQ(fake->notes.end()[-2], "copy 1; from 0: order 2 nowhere to nowhere flags 0");
    EXPECT_EQ(fake->notes.back(), "peer copy of 64 from device 0 to 1");

    // If the rest of the batch fails too, the failure has another reason.
    fake->notes.clear();
    fake->denies_peers = false;
    fake->fail("cuMemcpyBatchAsync", CUDA_ERROR_INVALID_VALUE);
    fake->fail("cuMemcpyBatchAsync", CUDA_ERROR_INVALID_VALUE, 2);
    EXPECT_THROW(copy_batch(*stream, sources, targets, each), CUDAError);
    EXPECT_TRUE(fake->notes.empty()) << fake->notes.front();
}

TEST_F(CopyOnFake, unsupported_option_of_a_peer_copy_is_named_with_the_devices) {
    const Stream there = Device(1).create_stream();
    targets[2] = Device(1).allocate(64, there);
    std::vector<CopyOptions> each(3);
    each[2].dst_location_hint = Location::host();
    fake->denies_peers = true;
    expect_error<CUDAError>([&] { copy_batch(*stream, sources, targets, each); },
                            {"cuMemcpyBatchAsync", "CUDA_ERROR_INVALID_VALUE", "index 2",
                             "from device 0 to device 1", "peer_accessible_by",
                             "dst_location_hint"});
    EXPECT_TRUE(fake->notes.empty()) << fake->notes.front();
    EXPECT_EQ(fake->count("cuMemcpyAsync"), 0);
}

TEST_F(CopyOnFake, failure_on_one_device_or_without_peer_copies_is_reported) {
    fake->fail("cuMemcpyBatchAsync", CUDA_ERROR_INVALID_VALUE);
    expect_error<CUDAError>([&] { copy_batch(*stream, sources, targets); },
                            {"cuMemcpyBatchAsync", "CUDA_ERROR_INVALID_VALUE"});
    const Stream there = Device(1).create_stream();
    targets[2] = Device(1).allocate(64, there);
    detail::set_peer_copies(false);
    fake->denies_peers = true;
    EXPECT_THROW(copy_batch(*stream, sources, targets), CUDAError);
    detail::set_peer_copies(true);
    EXPECT_EQ(fake->count("cuMemcpyBatchAsync"), 2);
    EXPECT_EQ(fake->count("cuMemcpyAsync"), 0);
}

TEST_F(CopyOnFake, older_drivers_copy_between_devices_that_deny_each_other_too) {
    fake->version = 12090;
    const Stream there = Device(1).create_stream();
    targets[2] = Device(1).allocate(64, there);
    fake->denies_peers = true;
    copy_batch(*stream, sources, targets);
    EXPECT_EQ(fake->count("cuMemcpyAsync"), 3);
    EXPECT_EQ(fake->notes.back(), "peer copy of 64 from device 0 to 1");
}

TEST(CopyFailures, every_call_between_devices) {
    testing::check_every_failure([](testing::FakeDriver& fake) {
        const Stream stream = Device(0).create_stream();
        const Stream there = Device(1).create_stream();
        const std::vector<Buffer> from{Device(0).allocate(64, stream),
                                       Device(0).allocate(64, stream)};
        const std::vector<Buffer> to{Device(1).allocate(64, there), Device(0).allocate(64, stream)};
        fake.denies_peers = true;
        copy_batch(stream, from, to);
    });
}

TEST(CopyFailures, every_call) {
    testing::check_every_failure([](testing::FakeDriver&) {
        const Stream stream = Device(0).create_stream();
        const std::vector<Buffer> from{Device(0).allocate(64, stream)};
        const std::vector<Buffer> to{Device(0).allocate(64, stream)};
        copy_batch(stream, from, to);
    });
}

// ---- on a driver -------------------------------------------------------------------------------

TEST_F(CopyOnDriver, every_copy_of_a_batch_arrives) {
    std::vector<Buffer> sources;
    std::vector<Buffer> targets;
    for (std::uint8_t i = 0; i < 4; ++i) {
        sources.push_back(device().allocate(std::size_t{256} << i, stream()));
        targets.push_back(device().allocate(std::size_t{256} << i, stream()));
        sources.back().fill(i, stream());
    }
    copy_batch(stream(), sources, targets);
    for (std::uint8_t i = 0; i < 4; ++i) {
        EXPECT_EQ(download<std::uint8_t>(targets[i]),
                  std::vector<std::uint8_t>(std::size_t{256} << i, i));
    }
}

TEST_F(CopyOnDriver, source_may_change_after_the_call_if_that_was_asked_for) {
    if (driver_version() < 13000) {
        GTEST_SKIP() << "the driver is too old for copy options";
    }
    const auto pinned = LegacyPinnedMemoryResource::create();
    const Buffer host = pinned->allocate(4096);
    const Buffer target = device().allocate(4096, stream());
    std::fill_n(host.data<std::uint8_t>(), 4096, std::uint8_t{1});
    copy_with_options(stream(), host, target,
                      {.src_access_order = SourceAccessOrder::DuringAPICall});
    std::fill_n(host.data<std::uint8_t>(), 4096, std::uint8_t{2});
    EXPECT_EQ(download<std::uint8_t>(target), std::vector<std::uint8_t>(4096, 1));
}

} // namespace cuprum
