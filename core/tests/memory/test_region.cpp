// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "memory/copies.hpp"
#include "support/device_test.hpp"
#include "support/expect_error.hpp"
#include "support/fake_driver.hpp"

#include <cuprum/detail/peer_copies.hpp>
#include <cuprum/region.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace cuprum {

namespace {

using testing::expect_error;
using Bytes = std::vector<std::uint8_t>;
using Index = StridedLayout::Index;
using Slice = StridedLayout::Slice;

/// Returns the last call that accessed memory, or "nothing".
[[nodiscard]] std::string last_memory_call(const testing::FakeDriver& fake) {
    std::string last = "nothing";
    for (const std::string& name : fake.calls()) {
        last = name.starts_with("cuMem") ? name : last;
    }
    return last;
}

class RegionOnFake : public testing::FakeDriverTest {};

class RegionOnDriver : public testing::DeviceTest {
protected:
    [[nodiscard]] static Bytes counted(std::size_t size) {
        Bytes values(size);
        std::iota(values.begin(), values.end(), std::uint8_t{0});
        return values;
    }

    /// Makes the same copy on the device and on the host, and compares the results.
    void check_strided(const StridedLayout& to, const StridedLayout& from) {
        SCOPED_TRACE("from " + from.to_string() + " to " + to.to_string());
        constexpr std::size_t size = 4096;
        ASSERT_LE(from.required_size_in_bytes(), size);
        ASSERT_LE(to.required_size_in_bytes(), size);
        const Bytes values = counted(size);
        const Buffer source = upload(values);
        const Buffer target = device().allocate(size, stream());
        target.fill(std::uint8_t{0xee}, stream());
        copy_strided(target.handle(), to, source.handle(), from, stream());
        Bytes expected(size, 0xee);
        std::vector<Index> at(to.ndim(), 0);
        for (Index count = 0; count < to.volume(); ++count) {
            Index into = to.slice_offset();
            Index out_of = from.slice_offset();
            for (std::size_t i = 0; i < at.size(); ++i) {
                into += at[i] * to.strides()[i];
                out_of += at[i] * from.strides()[i];
            }
            for (std::size_t byte = 0; byte < to.itemsize(); ++byte) {
                expected[static_cast<std::size_t>(into) * to.itemsize() + byte] =
                    values[static_cast<std::size_t>(out_of) * from.itemsize() + byte];
            }
            for (std::size_t i = at.size(); i-- > 0;) {
                if (++at[i] < to.shape()[i]) {
                    break;
                }
                at[i] = 0;
            }
        }
        EXPECT_EQ(download<std::uint8_t>(target), expected);
    }
};

} // namespace

// ---- on the fake driver ------------------------------------------------------------------------

TEST_F(RegionOnFake, each_shape_takes_the_simplest_driver_call) {
    const Stream stream = Device(0).create_stream();
    const Buffer source = Device(0).allocate(1024, stream);
    const Buffer target = Device(0).allocate(1024, stream);
    const auto calls = [&](const RegionPlace& to, const RegionPlace& from,
                           const RegionExtent& extent) {
        fake->forget_calls();
        copy_region(target, to, source, from, extent, stream);
        return last_memory_call(*fake);
    };
    EXPECT_EQ(calls({}, {}, {.width = 100}), "cuMemcpyAsync");
    EXPECT_EQ(calls({}, {}, {.width = 10, .height = 10}), "cuMemcpyAsync");
    EXPECT_EQ(calls({}, {}, {.width = 10, .height = 5, .depth = 2}), "cuMemcpyAsync");
    EXPECT_EQ(calls({.pitch = 20}, {}, {.width = 10, .height = 10}), "cuMemcpy2DAsync");
    EXPECT_EQ(calls({.pitch = 20}, {.pitch = 20}, {.width = 10, .height = 5, .depth = 2}),
              "cuMemcpy2DAsync");
    EXPECT_EQ(calls({.pitch = 20, .rows_per_slice = 6}, {.pitch = 20},
                    {.width = 10, .height = 5, .depth = 2}),
              "cuMemcpy3DAsync");
    EXPECT_EQ(calls({}, {}, {.width = 0, .height = 5}), "nothing");
}

TEST_F(RegionOnFake, what_does_not_fit_is_refused_with_the_numbers) {
    const Stream stream = Device(0).create_stream();
    const Buffer source = Device(0).allocate(100, stream);
    const Buffer target = Device(0).allocate(64, stream);
    const auto refuse = [&](const RegionPlace& to, const RegionPlace& from,
                            const RegionExtent& extent, const char* words) {
        expect_error<std::invalid_argument>(
            [&] { copy_region(target, to, source, from, extent, stream); }, {words});
    };
    constexpr std::size_t huge = std::numeric_limits<std::size_t>::max();
    refuse({}, {}, {.width = 65}, "the destination takes 65 bytes from offset 0");
    refuse({.offset = 60}, {}, {.width = 5}, "from offset 60, but the buffer has 64");
    refuse({}, {.offset = 101}, {.width = 0}, "the source takes 0 bytes from offset 101");
    refuse({.pitch = 9}, {}, {.width = 10, .height = 2}, "a pitch of 9 bytes");
    refuse({.pitch = huge}, {}, {.width = 1, .height = 2}, "beyond any memory");
    refuse({.rows_per_slice = 1}, {}, {.width = 1, .height = 2, .depth = 2}, "1 rows per slice");
    refuse({.pitch = 40}, {}, {.width = 10, .height = 3}, "takes 90 bytes");
    refuse({}, {}, {.width = 1, .height = huge}, "beyond any memory");
    EXPECT_EQ(fake->count("cuMemcpyAsync"), 0);
}

TEST_F(RegionOnFake, rows_further_apart_than_the_driver_takes_are_refused) {
    constexpr std::size_t far = std::size_t{1} << 32U;
    const Stream stream = Device(0).create_stream();
    const Buffer large = Buffer::from_handle(far, 16 * far);
    const Buffer other = Buffer::from_handle(32 * far, 16 * far);
    const auto refuse = [&](const RegionExtent& extent, const char* words) {
        expect_error<std::invalid_argument>(
            [&] { copy_region(large, {.pitch = far}, other, {}, extent, stream); }, {words});
        EXPECT_EQ(last_memory_call(*fake), "nothing");
    };
    refuse({.width = 1, .height = 2}, "the destination has a pitch of 4294967296 bytes");
    refuse({.width = 1, .height = 1, .depth = 2}, "expected at most 2147483647");
    expect_error<std::invalid_argument>(
        [&] {
            fill_region(large, {.pitch = far}, {.width = 1, .height = 2}, std::uint8_t{0}, stream);
        },
        {"the region has a pitch of 4294967296 bytes", "at most 2147483647"});
    // Contiguous rows are copied as one row, and one row may have any length.
    copy_region(large, {}, other, {}, {.width = far, .height = 2, .depth = 2}, stream);
    EXPECT_EQ(last_memory_call(*fake), "cuMemcpyAsync");
    fill_region(large, {}, {.width = far, .height = 2}, std::uint8_t{0}, stream);
    EXPECT_EQ(last_memory_call(*fake), "cuMemsetD8Async");
}

TEST_F(RegionOnFake, overlap_of_slices_is_found_however_many_there_are) {
    constexpr std::size_t many = std::size_t{1} << 36U;
    const Stream stream = Device(0).create_stream();
    const Buffer whole = Buffer::from_handle(std::size_t{1} << 40U, 8 * many);
    const auto copy = [&](std::size_t to, std::size_t from) {
        copy_region(whole, {.offset = to, .pitch = 2, .rows_per_slice = 2}, whole,
                    {.offset = from, .pitch = 2, .rows_per_slice = 2},
                    {.width = 1, .height = 1, .depth = many}, stream);
    };
    for (const std::size_t apart : {1U, 2U, 3U, 5U}) { // between the slices of the other region
        copy(apart, 0);
        copy(0, apart);
    }
    for (const std::size_t apart : {std::size_t{4}, 2 * many}) {
        expect_error<std::invalid_argument>([&] { copy(apart, 0); }, {"overlap"});
        expect_error<std::invalid_argument>([&] { copy(0, apart); }, {"overlap"});
    }
}

TEST_F(RegionOnFake, overlap_is_found_where_rows_interleave) {
    const Stream stream = Device(0).create_stream();
    const Buffer matrix = Device(0).allocate(400, stream); // 20 rows of 20 bytes
    const auto copy = [&](std::size_t to, std::size_t from, const RegionExtent& extent) {
        copy_region(matrix, {.offset = to, .pitch = 20}, matrix, {.offset = from, .pitch = 20},
                    extent, stream);
    };
    copy(10, 0, {.width = 10, .height = 20}); // the right half from the left
    copy(0, 10, {.width = 10, .height = 20});
    copy(200, 0, {.width = 20, .height = 10}); // the lower half from the upper
    for (const auto& [to, from] :
         {std::pair<std::size_t, std::size_t>{9, 0}, {20, 0}, {0, 29}, {175, 0}}) {
        expect_error<std::invalid_argument>(
            [&, to = to, from = from] { copy(to, from, {.width = 10, .height = 10}); },
            {"overlap"});
    }
    expect_error<std::invalid_argument>(
        [&] {
            copy_region(matrix, {.offset = 5}, matrix, {.pitch = 20}, {.width = 5, .height = 5},
                        stream);
        },
        {"overlap"});
}

TEST_F(RegionOnFake, fills_refuse_what_the_driver_cannot) {
    const Stream stream = Device(0).create_stream();
    const Buffer buffer = Device(0).allocate(64, stream);
    const auto refuse = [&](const RegionPlace& place, const RegionExtent& extent,
                            const char* words) {
        expect_error<std::invalid_argument>(
            [&] { fill_region(buffer, place, extent, std::uint32_t{1}, stream); }, {words});
    };
    refuse({.offset = 2}, {.width = 4}, "the region's address");
    refuse({}, {.width = 6}, "width is 6");
    refuse({.pitch = 10}, {.width = 8, .height = 2}, "pitch is 10");
    refuse({}, {.width = 8, .height = 2, .depth = 2}, "depth is 2");
    refuse({.pitch = 32}, {.width = 8, .height = 3}, "takes 72 bytes");
    fill_region(buffer, {}, {.width = 8, .height = 8}, std::uint8_t{1}, stream);
    EXPECT_EQ(last_memory_call(*fake), "cuMemsetD8Async");
    fill_region(buffer, {.pitch = 16}, {.width = 8, .height = 4}, std::uint16_t{1}, stream);
    EXPECT_EQ(last_memory_call(*fake), "cuMemsetD2D16Async");
}

TEST_F(RegionOnFake, fills_of_inaccessible_memory_are_explained) {
    const Stream stream = Device(0).create_stream();
    const Stream other = Device(1).create_stream();
    const Buffer near = Device(0).allocate(64, stream);
    const Buffer far = Device(1).allocate(64, other);
    const Buffer host = Buffer::from_handle(0x1000, 64);
    start_with(fake->primaries[0]); // so that Cuprum does not retry in the context
    const auto refuse = [&](const Buffer& buffer, const char* reason, const char* way_out) {
        fake->fail("cuMemsetD8Async", CUDA_ERROR_INVALID_VALUE);
        expect_error<CUDAError>([&] { buffer.fill(std::uint8_t{1}, stream); },
                                {"cuMemsetD8Async failed", reason, way_out});
        fake->fail("cuMemsetD2D8Async", CUDA_ERROR_INVALID_VALUE);
        expect_error<CUDAError>(
            [&] {
                fill_region(buffer, {.pitch = 8}, {.width = 4, .height = 2}, std::uint8_t{1},
                            stream);
            },
            {"cuMemsetD2D8Async failed", reason, way_out});
    };
    refuse(far, "the memory is on device 1 and the stream on device 0", "peer_accessible_by");
    refuse(host, "host memory that devices cannot reach", "register_host_memory");
    refuse(near, "out of the range that the driver accepts", "INVALID_VALUE");
}

TEST_F(RegionOnFake, strided_copies_refuse_bad_layouts) {
    const Stream stream = Device(0).create_stream();
    const StridedLayout square({4, 4}, 4);
    const auto refuse = [&](const StridedLayout& to, const StridedLayout& from, CUdeviceptr source,
                            const char* words) {
        expect_error<std::invalid_argument>(
            [&] { copy_strided(0x10000, to, source, from, stream); }, {words});
    };
    refuse(square, StridedLayout({4, 5}, 4), 0x20000, "expected the same shape");
    refuse(square, StridedLayout({4, 4}, 8), 0x20000, "element size");
    refuse(StridedLayout({4, 4}, {0, 1}, 4), square, 0x20000, "share memory");
    refuse(square, square, 0x10020, "overlap");
    const std::vector<Index> wide{400, 400, 400};
    refuse(StridedLayout::dense(wide, 1, StrideOrder::F), StridedLayout(wide, 1U), 0x10000000,
           "more than 65536 pieces");
    EXPECT_EQ(fake->count("cuMemcpyAsync"), 0);
    copy_strided(0x10000, StridedLayout({0, 4}, 4), 0x10000, StridedLayout({0, 4}, 4), stream);
    EXPECT_EQ(fake->count("cuMemcpyAsync"), 0);
}

TEST_F(RegionOnFake, strided_copies_may_interleave_if_they_share_nothing) {
    const Stream stream = Device(0).create_stream();
    constexpr CUdeviceptr base = 0x10000;
    const StridedLayout matrix({4, 6, 8}, 2);
    const auto part = [&](Index row, Index column) {
        return matrix.sliced(
            {Slice::range({}, {}), Slice::range(row, row + 3), Slice::range(column, column + 4)});
    };
    copy_strided(base, part(0, 0), base, part(0, 4), stream);
    copy_strided(base, part(3, 0), base, part(0, 0), stream);
    copy_strided(base, part(3, 1), base, part(0, 4), stream);
    for (const auto& [row, column] : {std::pair<Index, Index>{0, 0}, {1, 1}, {2, 3}, {0, 3}}) {
        expect_error<std::invalid_argument>(
            [&, row = row, column = column] {
                copy_strided(base, part(row, column), base, part(0, 0), stream);
            },
            {"source and destination overlap: bytes"});
    }
    const auto columns = matrix.sliced({Slice::at(0), Slice::range({}, {}), Slice::at(1)});
    const auto row = matrix.sliced({Slice::at(0), Slice::at(0), Slice::range(2, {})});
    expect_error<std::invalid_argument>([&] { copy_strided(base, columns, base, row, stream); },
                                        {"interleave so that they might"});
}

TEST_F(RegionOnFake, strides_of_one_element_do_not_matter_to_strided_copies) {
    const Stream stream = Device(0).create_stream();
    constexpr Index huge = std::numeric_limits<Index>::max();
    copy_strided(0x10000, StridedLayout({1, 4}, {huge, 1}, 4), 0x20000,
                 StridedLayout({1, 4}, {std::numeric_limits<Index>::min(), 1}, 4), stream);
    EXPECT_EQ(last_memory_call(*fake), "cuMemcpyAsync");
}

TEST_F(RegionOnFake, strided_copies_take_few_calls) {
    const Stream stream = Device(0).create_stream();
    const auto count = [&](const StridedLayout& to, const StridedLayout& from) {
        fake->forget_calls();
        copy_strided(0x10000, to, 0x20000, from, stream);
        return std::array{fake->count("cuMemcpyAsync"), fake->count("cuMemcpy2DAsync"),
                          fake->count("cuMemcpy3DAsync")};
    };
    const StridedLayout dense({6, 5, 4}, 2);
    const StridedLayout f = StridedLayout::dense(dense.shape(), 2, StrideOrder::F);
    EXPECT_EQ(count(dense, dense), (std::array{1, 0, 0}));
    EXPECT_EQ(count(f, f), (std::array{1, 0, 0}));
    const StridedLayout rows = StridedLayout({12, 5, 4}, 2).sliced({Slice::range({}, {}, 2)});
    EXPECT_EQ(count(dense, rows), (std::array{0, 1, 0}));
    const StridedLayout box =
        StridedLayout({6, 8, 8}, 2)
            .sliced({Slice::range({}, {}), Slice::range(1, 6), Slice::range(2, 6)});
    EXPECT_EQ(count(dense, box), (std::array{0, 0, 1}));
    const StridedLayout backwards = dense.sliced(
        {Slice::range({}, {}, -1), Slice::range({}, {}, -1), Slice::range({}, {}, -1)});
    EXPECT_EQ(count(backwards, backwards), (std::array{1, 0, 0}));
    const StridedLayout repeated =
        StridedLayout({5, 4}, 2).broadcast_to(std::vector<Index>{6, 5, 4});
    EXPECT_EQ(count(dense, repeated), (std::array{6, 0, 0}));
}

TEST_F(RegionOnFake, copies_work_between_devices_whose_pools_deny_access) {
    Device(0).set_current(); // so that Cuprum does not retry in the context
    const Stream here = Device(0).create_stream();
    const Stream there = Device(1).create_stream();
    const Buffer near = Device(0).allocate(64, here);
    const Buffer far = Device(1).allocate(64, there);
    fake->fail("cuMemcpyAsync", CUDA_ERROR_INVALID_VALUE);
    near.copy_to(far, here);
    fake->fail("cuMemcpy2DAsync", CUDA_ERROR_INVALID_VALUE);
    copy_region(near, {.pitch = 16}, far, {}, {.width = 8, .height = 4}, here);
    EXPECT_EQ(fake->notes, (std::vector<std::string>{"peer copy of 64 from device 0 to 1",
                                                     "peer copy of 8 by 4 from device 1 to 0"}));
    // On one device the failure has another reason and is reported.
    const Buffer other = Device(0).allocate(64, here);
    fake->fail("cuMemcpyAsync", CUDA_ERROR_INVALID_VALUE);
    EXPECT_THROW(near.copy_to(other, here), CUDAError);
    detail::set_peer_copies(false);
    fake->fail("cuMemcpyAsync", CUDA_ERROR_INVALID_VALUE);
    EXPECT_THROW(near.copy_to(far, here), CUDAError);
    detail::set_peer_copies(true);
}

TEST(RegionFailures, leave_nothing_behind) {
    testing::check_every_failure([](testing::FakeDriver&) {
        const Stream stream = Device(0).create_stream();
        const Buffer buffer = Device(0).allocate(400, stream);
        const Buffer other = Device(0).allocate(400, stream);
        copy_region(buffer, {.pitch = 20}, other, {}, {.width = 10, .height = 10}, stream);
        fill_region(buffer, {.pitch = 20}, {.width = 10, .height = 10}, std::uint8_t{1}, stream);
        copy_strided(buffer.handle(), StridedLayout({4, 5}, {10, 1}, 1), other.handle(),
                     StridedLayout({4, 5}, 1), stream);
    });
}

// ---- on a driver -------------------------------------------------------------------------------

TEST_F(RegionOnDriver, parts_rectangles_and_boxes_are_copied) {
    const Buffer source = upload(counted(100));
    const Buffer target = device().allocate(100, stream());
    target.fill(std::uint8_t{0}, stream());
    copy_region(target, {.offset = 50}, source, {.offset = 10}, {.width = 3}, stream());
    // Two rows of three bytes out of rows of ten, into rows of four.
    copy_region(target, {.offset = 0, .pitch = 4}, source, {.offset = 11, .pitch = 10},
                {.width = 3, .height = 2}, stream());
    // Two slices of two rows of two bytes, from a box of 5 x 4 x 5, into contiguous memory.
    copy_region(target, {.offset = 60}, source, {.offset = 0, .pitch = 5, .rows_per_slice = 4},
                {.width = 2, .height = 2, .depth = 2}, stream());
    const Bytes result = download<std::uint8_t>(target);
    EXPECT_EQ(Bytes(result.begin(), result.begin() + 8), (Bytes{11, 12, 13, 0, 21, 22, 23, 0}));
    EXPECT_EQ(Bytes(result.begin() + 50, result.begin() + 53), (Bytes{10, 11, 12}));
    EXPECT_EQ(Bytes(result.begin() + 60, result.begin() + 68), (Bytes{0, 1, 5, 6, 20, 21, 25, 26}));
}

TEST_F(RegionOnDriver, host_and_device_exchange_rectangles) {
    Bytes memory = counted(40);
    const Buffer host = Buffer::from_handle(reinterpret_cast<std::uintptr_t>(memory.data()), 40);
    const Buffer buffer = device().allocate(12, stream());
    copy_region(buffer, {}, host, {.offset = 2, .pitch = 10}, {.width = 3, .height = 4}, stream());
    EXPECT_EQ(download<std::uint8_t>(buffer), (Bytes{2, 3, 4, 12, 13, 14, 22, 23, 24, 32, 33, 34}));
    copy_region(host, {.offset = 6, .pitch = 10}, buffer, {}, {.width = 3, .height = 4}, stream());
    stream().sync();
    EXPECT_EQ(Bytes(memory.begin() + 6, memory.begin() + 10), (Bytes{2, 3, 4, 9}));
    EXPECT_EQ(Bytes(memory.begin() + 36, memory.end()), (Bytes{32, 33, 34, 39}));
}

TEST_F(RegionOnDriver, rectangles_are_filled) {
    const Buffer buffer = device().allocate(32, stream());
    buffer.fill(std::uint8_t{0}, stream());
    fill_region(buffer, {.offset = 1, .pitch = 8}, {.width = 2, .height = 2}, std::uint8_t{7},
                stream());
    fill_region(buffer, {.offset = 16, .pitch = 8}, {.width = 4, .height = 2},
                std::uint16_t{0x0201}, stream());
    fill_region(buffer, {.offset = 4, .pitch = 8}, {.width = 4, .height = 2},
                std::uint32_t{0x0a0b0c0d}, stream());
    EXPECT_EQ(download<std::uint8_t>(buffer),
              (Bytes{0, 7, 7, 0, 13, 12, 11, 10, 0, 7, 7, 0, 13, 12, 11, 10,
                     1, 2, 1, 2, 0,  0,  0,  0,  1, 2, 1, 2, 0,  0,  0,  0}));
}

TEST_F(RegionOnDriver, sides_of_a_copy_may_be_host_memory) {
    const Buffer buffer = device().allocate(4 * 4 * 4, stream());
    buffer.fill(std::uint8_t{0}, stream());
    Bytes host(2 * 3 * 5); // two slices of three rows of five bytes
    std::iota(host.begin(), host.end(), std::uint8_t{1});
    const RegionExtent extent{.width = 2, .height = 2, .depth = 2};
    const detail::LinearMemory box{buffer.handle() + 5, 4, 16}; // behind one row and one byte
    const detail::HostMemory outside{host.data(), 5, 15};
    const CurrentContext current(stream().context());
    detail::copy_box(box, outside, extent, stream().handle());
    Bytes expected(4 * 4 * 4);
    for (const std::size_t slice : {0U, 1U}) {
        for (const std::size_t row : {0U, 1U}) {
            for (const std::size_t byte : {0U, 1U}) {
                expected[5 + 16 * slice + 4 * row + byte] = host[15 * slice + 5 * row + byte];
            }
        }
    }
    EXPECT_EQ(download<std::uint8_t>(buffer), expected);
    Bytes back(host.size());
    detail::copy_box(detail::HostMemory{back.data(), 5, 15}, box, extent, stream().handle());
    stream().sync();
    EXPECT_EQ(back[0], 1);
    EXPECT_EQ(back[15 + 5 + 1], 22);
    EXPECT_EQ(back[2], 0) << "beyond the width";
}

TEST_F(RegionOnDriver, strided_arrays_are_copied) {
    const StridedLayout dense({3, 4, 5}, 4);
    const StridedLayout f = StridedLayout::dense(dense.shape(), 4, StrideOrder::F);
    const StridedLayout wide({6, 8, 10}, 4);
    const StridedLayout part =
        wide.sliced({Slice::range({}, {}, 2), Slice::range(2, 6), Slice::range({}, {}, 2)});
    const StridedLayout backwards =
        wide.sliced({Slice::range(2, {}, -1), Slice::range(1, 5), Slice::range({}, 4, -1)});
    const StridedLayout repeated =
        StridedLayout({4, 1}, 4).broadcast_to(std::vector<Index>{3, 4, 5});
    const std::array order{1, 0, 2};
    const StridedLayout permuted = StridedLayout({4, 3, 5}, 4).permuted(order);
    for (const StridedLayout* to : {&dense, &f, &part, &backwards, &permuted}) {
        for (const StridedLayout* from : {&dense, &f, &part, &backwards, &permuted, &repeated}) {
            check_strided(*to, *from);
        }
    }
    check_strided(StridedLayout(std::vector<Index>{}, 4U), StridedLayout(std::vector<Index>{}, 4U));
    check_strided(StridedLayout({1, 7, 1}, 3), StridedLayout({1, 7, 1}, {70, 5, 3}, 3));
}

} // namespace cuprum
