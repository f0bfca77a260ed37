// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/device_test.hpp"
#include "support/expect_error.hpp"

#include <cuprum/strided_memory_view.hpp>

#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace cuprum {

namespace {

using dlpack::DeviceType;
using dlpack::TypeCode;
using testing::expect_error;
using Index = StridedLayout::Index;
using Slice = StridedLayout::Slice;

/// A tensor of another library. Counts how often it is deleted.
struct Foreign {
    std::vector<float> values = std::vector<float>(24);
    std::array<Index, 2> shape{4, 3};
    std::array<Index, 2> strides{6, 2};
    int deletions = 0;
    dlpack::ManagedTensorVersioned versioned{};
    dlpack::ManagedTensor unversioned{};

    Foreign() {
        std::iota(values.begin(), values.end(), 0.0F);
        versioned.version = {1, 0};
        versioned.owner = this;
        versioned.deleter = [](dlpack::ManagedTensorVersioned* self) {
            ++static_cast<Foreign*>(self->owner)->deletions;
        };
        versioned.tensor = {.data = values.data(),
                            .device = {DeviceType::Cpu, 0},
                            .ndim = 2,
                            .dtype = dlpack::type_of<float>(),
                            .shape = shape.data(),
                            .strides = strides.data(),
                            .byte_offset = 4};
        unversioned.tensor = versioned.tensor;
        unversioned.owner = this;
        unversioned.deleter = [](dlpack::ManagedTensor* self) {
            ++static_cast<Foreign*>(self->owner)->deletions;
        };
    }
};

class ViewOnDriver : public testing::DeviceTest {};

static_assert(dlpack::type_of<const std::uint16_t>() == dlpack::DataType{TypeCode::UInt, 16, 1});
static_assert(dlpack::type_of<std::complex<float>>() == dlpack::DataType{TypeCode::Complex, 64, 1});
static_assert(dlpack::type_of<bool>() == dlpack::DataType{TypeCode::Bool, 8, 1});
static_assert(dlpack::type_of<std::byte>().bits == 0);

} // namespace

TEST_F(ViewOnDriver, takes_over_a_tensor_with_its_strides_and_offset) {
    Foreign foreign;
    {
        const auto view = StridedMemoryView::from_dlpack(&foreign.versioned);
        const auto copy = view;
        EXPECT_EQ(copy.handle(), reinterpret_cast<std::uintptr_t>(foreign.values.data() + 1));
        EXPECT_EQ(copy.layout(), StridedLayout({4, 3}, {6, 2}, 4));
        EXPECT_FALSE(copy.is_device_accessible());
        EXPECT_FALSE(copy.is_readonly());
        const auto elements = copy.typed<float, 2>();
        EXPECT_EQ(elements(2, 1), 15.0F);
        EXPECT_EQ(foreign.deletions, 0);
    }
    EXPECT_EQ(foreign.deletions, 1);
    static_cast<void>(StridedMemoryView::from_dlpack(&foreign.unversioned));
    EXPECT_EQ(foreign.deletions, 2);
    foreign.versioned.deleter = nullptr;
    static_cast<void>(StridedMemoryView::from_dlpack(&foreign.versioned));
}

TEST_F(ViewOnDriver, gives_back_what_it_refuses) {
    const auto refuse = [](auto change, const char* words) {
        Foreign foreign;
        change(foreign.versioned);
        expect_error<std::invalid_argument>(
            [&] { static_cast<void>(StridedMemoryView::from_dlpack(&foreign.versioned)); },
            {words});
        EXPECT_EQ(foreign.deletions, 1);
    };
    refuse([](auto& tensor) { tensor.version.major = 2; }, "version 2.0, expected 1");
    refuse([](auto& tensor) { tensor.tensor.device.type = static_cast<DeviceType>(7); },
           "device type 7");
    refuse([](auto& tensor) { tensor.tensor.dtype.bits = 4; }, "4 bits");
    refuse([](auto& tensor) { tensor.tensor.ndim = -1; }, "ndim -1, expected 0 or more");
    refuse([](auto& tensor) { tensor.tensor.shape = nullptr; }, "no shape");
    refuse([](auto& tensor) { tensor.tensor.strides[0] = std::int64_t{1} << 61; },
           "further than 64 bits can count bytes");
    expect_error<std::invalid_argument>(
        [] {
            static_cast<void>(
                StridedMemoryView::from_dlpack(static_cast<dlpack::ManagedTensor*>(nullptr)));
        },
        {"tensor is null"});
}

TEST_F(ViewOnDriver, hands_out_tensors_that_share_the_memory) {
    dlpack::ManagedTensorVersioned* tensor = nullptr;
    {
        const Buffer buffer = device().allocate(48, stream());
        const std::array<Index, 2> shape{4, 3};
        const auto view = StridedMemoryView::of<float>(buffer, shape);
        tensor = view.view(view.layout().sliced({Slice::range(1, {})})).to_dlpack();
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor->tensor.data), buffer.handle() + 12);
    }
    EXPECT_EQ(tensor->tensor.device.type, DeviceType::Cuda);
    EXPECT_EQ(tensor->tensor.ndim, 2);
    EXPECT_EQ(tensor->tensor.shape[0], 3);
    EXPECT_EQ(tensor->tensor.strides[0], 3);
    EXPECT_EQ(tensor->tensor.dtype, dlpack::type_of<float>());
    const auto back = StridedMemoryView::from_dlpack(tensor); // takes ownership of the tensor
    EXPECT_TRUE(back.is_device_accessible());
    EXPECT_EQ(back.layout(), StridedLayout({3, 3}, 4));
}

TEST_F(ViewOnDriver, copies_with_strides_and_types) {
    Foreign foreign;
    const auto columns = StridedMemoryView::from_dlpack(&foreign.versioned);
    const Buffer buffer = device().allocate(48, stream());
    const auto there = StridedMemoryView::of<float>(buffer, columns.layout().shape());
    there.copy_from(columns, stream());
    EXPECT_EQ(download<float>(buffer),
              (std::vector<float>{1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23}));
    const auto integers = StridedMemoryView::of<int>(buffer, columns.layout().shape());
    expect_error<std::invalid_argument>([&] { integers.copy_from(columns, stream()); },
                                        {"nothing is converted"});
    foreign.versioned.flags = dlpack::FLAG_READ_ONLY;
    const auto fixed = StridedMemoryView::from_dlpack(&foreign.versioned);
    expect_error<std::invalid_argument>([&] { there.copy_to(fixed, stream()); }, {"read-only"});
    expect_error<std::invalid_argument>([&] { static_cast<void>(fixed.typed<float, 2>()); },
                                        {"read-only"});
    EXPECT_EQ((fixed.typed<const float, 2>()(0, 1)), 3.0F);
}

TEST_F(ViewOnDriver, refuses_memory_outside_and_other_element_sizes) {
    const Buffer buffer = device().allocate(48, stream());
    const StridedLayout layout({4, 3}, 4);
    const StridedMemoryView view(buffer, layout, dlpack::type_of<float>());
    expect_error<std::invalid_argument>(
        [&] { static_cast<void>(StridedMemoryView(buffer, StridedLayout({5, 3}, 4))); },
        {"48 bytes, expected at least 60"});
    expect_error<std::invalid_argument>(
        [&] { static_cast<void>(StridedMemoryView(buffer, layout, dlpack::type_of<double>())); },
        {"type is float64, expected 4 bytes"});
    expect_error<std::invalid_argument>(
        [&] { static_cast<void>(view.view(StridedLayout({13}, 4))); },
        {"to 52, the memory from 0 to 48"});
    expect_error<std::invalid_argument>(
        [&] { static_cast<void>(view.view(StridedLayout({2}, {-1}, 4))); }, {"from byte -4"});
    expect_error<std::invalid_argument>(
        [&] { static_cast<void>(view.view(StridedLayout({2}, 8))); }, {"4-byte elements"});
    expect_error<std::invalid_argument>([&] { static_cast<void>(view.typed<int, 2>()); },
                                        {"not 2 of"});
    expect_error<std::invalid_argument>([&] { static_cast<void>(view.typed<float, 1>()); },
                                        {"2 dimensions"});
    expect_error<std::invalid_argument>(
        [&] { static_cast<void>(StridedMemoryView(buffer, layout).to_dlpack()); }, {"no type"});
}

TEST_F(ViewOnDriver, elements_that_are_not_aligned_are_not_seen_as_typed) {
    const Buffer buffer = device().allocate(48, stream());
    const std::array<StridedLayout::Index, 1> shape{4};
    const auto view = StridedMemoryView::of<float>(buffer.slice(2, 16), shape);
    expect_error<std::invalid_argument>([&] { static_cast<void>(view.typed<float, 1>()); },
                                        {"begin at address", "expected a multiple of 4"});
    const std::array<StridedLayout::Index, 1> none{0};
    EXPECT_EQ((StridedMemoryView::of<float>(buffer.slice(2, 16), none).typed<float, 1>().size()),
              0);
}

} // namespace cuprum
