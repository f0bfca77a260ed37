// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "launch/packed_arguments.hpp"
#include "support/expect_error.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

namespace cuprum::detail {

namespace {

using cuprum::testing::expect_error;
using enum ParameterKind;

/// Provides a kernel of which only the parameter plan matters.
class PackedArgumentsTest : public ::testing::Test {
protected:
    const KernelState& kernel(std::vector<ParameterInfo> plan) {
        state_.own_plan = std::move(plan);
        state_.plan = &state_.own_plan;
        state_.name = "kernel";
        return state_;
    }

    /// Packs one argument for one parameter and returns the value that the kernel would read.
    template <typename Read, typename T>
    Read packed(ParameterKind kind, T value) {
        const std::array<ArgumentType, 1> types{ARGUMENT_TYPE<T>};
        const void* address = &value;
        const PackedArguments packed(kernel({{0, sizeof(Read), kind}}), &address, types);
        Read read{};
        std::memcpy(&read, packed.addresses()[0], sizeof(read));
        return read;
    }

    template <typename Read, typename T>
    void expect_refusal(ParameterKind kind, T value,
                        std::initializer_list<std::string_view> parts) {
        expect_error<std::invalid_argument>([&] { static_cast<void>(packed<Read>(kind, value)); },
                                            parts);
    }

private:
    KernelState state_;
};

TEST_F(PackedArgumentsTest, an_integer_becomes_the_floating_point_number_of_the_parameter) {
    EXPECT_EQ(packed<float>(Float, 2), 2.0F);
    EXPECT_EQ(packed<float>(Float, -2), -2.0F);
    EXPECT_EQ(packed<float>(Float, 2U), 2.0F);
    EXPECT_EQ(packed<float>(Float, std::int64_t{1} << 40), 0x1p40F);
    EXPECT_EQ(packed<float>(Float, 'A'), 65.0F);
    EXPECT_EQ(packed<float>(Float, true), 1.0F);
    EXPECT_EQ(packed<double>(Float, 2), 2.0);
    EXPECT_EQ(packed<double>(Float, std::numeric_limits<int>::min()), -0x1p31);
    EXPECT_EQ(packed<double>(Float, std::numeric_limits<std::int64_t>::min()), -0x1p63);
    EXPECT_EQ(packed<double>(Float, std::uint64_t{1} << 63), 0x1p63);
}

TEST_F(PackedArgumentsTest, an_integer_that_would_be_rounded_is_refused) {
    expect_refusal<float>(Float, 16'777'217,
                          {"argument 0", "\"kernel\"", "16777217", "float", "static_cast"});
    expect_refusal<float>(Float, -16'777'217, {"-16777217"});
    expect_refusal<double>(Float, (std::int64_t{1} << 53) + 1, {"9007199254740993", "double"});
    EXPECT_EQ(packed<float>(Float, 16'777'216), 16'777'216.0F);
}

TEST_F(PackedArgumentsTest, a_floating_point_number_for_an_integer_or_pointer_is_refused) {
    expect_refusal<int>(Integer, 2.5F, {"argument 0", "2.5", "integer of 4 bytes"});
    expect_refusal<std::int64_t>(Integer, 2.5, {"2.5", "integer of 8 bytes"});
    expect_refusal<std::int64_t>(Pointer, 2.5, {"a pointer"});
    expect_refusal<int>(Integer, 2.5, {"2.5", "integer of 4 bytes"});
}

TEST_F(PackedArgumentsTest, what_has_the_right_kind_or_none_is_passed_as_it_is) {
    EXPECT_EQ(packed<float>(Float, 2.5F), 2.5F);
    EXPECT_EQ(packed<int>(Integer, 7), 7);
    EXPECT_EQ(packed<float>(Unknown, 2.5F), 2.5F);
    EXPECT_EQ(packed<int>(Unknown, 2.5F), 0x40200000);
    EXPECT_EQ(packed<std::uint64_t>(Pointer, std::uint64_t{7}), 7U);
    int target = 0;
    EXPECT_EQ(packed<int*>(Integer, &target), &target);
}

TEST_F(PackedArgumentsTest, sizes_are_compared) {
    expect_refusal<float>(Float, 2.5, {"has 8 bytes", "expected 4, a float"});
    expect_refusal<int>(Unknown, std::int64_t{1}, {"has 8 bytes; expected 4"});
}

TEST_F(PackedArgumentsTest, only_what_must_be_is_converted) {
    const int number = 3;
    const float factor = 0.5F;
    const std::array<ArgumentType, 3> types{ARGUMENT_TYPE<float>, ARGUMENT_TYPE<int>,
                                            ARGUMENT_TYPE<int>};
    const std::array<const void*, 3> addresses{&factor, &number, &number};
    const PackedArguments packed(kernel({{0, 4, Float}, {8, 8, Float}, {16, 4, Integer}}),
                                 addresses.data(), types);
    EXPECT_EQ(packed.addresses()[0], &factor);
    EXPECT_EQ(*static_cast<double*>(packed.addresses()[1]), 3.0);
    EXPECT_EQ(packed.addresses()[2], &number);
}

TEST_F(PackedArgumentsTest, owned_arguments_outlive_their_values) {
    int first = 1;
    double second = 2.5;
    const std::vector<ParameterInfo> plan{{0, 4, Integer}, {8, 8, Float}};
    void* const addresses[]{&first, &second};
    OwnedArguments owned(plan, addresses);
    first = 0;
    second = 0;
    OwnedArguments copy(owned);
    EXPECT_NE(copy.addresses()[0], owned.addresses()[0]);
    for (OwnedArguments* each : {&owned, &copy}) {
        EXPECT_EQ(*static_cast<int*>(each->addresses()[0]), 1);
        EXPECT_EQ(*static_cast<double*>(each->addresses()[1]), 2.5);
    }
    void* const before = owned.addresses()[0];
    const OwnedArguments moved = std::move(owned);
    copy = moved;
    EXPECT_EQ(*static_cast<double*>(copy.addresses()[1]), 2.5);
    EXPECT_NE(copy.addresses()[0], before);
}

} // namespace

} // namespace cuprum::detail
