// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What all classes with a handle have in common: equality, a hash and a text.

#include "support/device_test.hpp"

#include <cuprum/cuprum.hpp>

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <sstream>
#include <string>
#include <type_traits>
#include <unordered_set>

namespace cuprum {
namespace {

constexpr const char* EMPTY_KERNELS = "extern \"C\" __global__ void first() {}\n"
                                      "extern \"C\" __global__ void second() {}";

template <typename T>
std::string written(const T& object) {
    std::ostringstream out;
    out << object;
    return out.str();
}

/// Checks one class. `first` and `other` are two different objects of it.
template <typename T>
void check_class(const char* name, T first, T other) {
    SCOPED_TRACE(name);
    T copy = first;
    const std::hash<T> hash{};
    EXPECT_EQ(copy, first);
    EXPECT_NE(first, other);
    EXPECT_EQ(hash(copy), hash(first));
    EXPECT_EQ((std::unordered_set<T>{first, copy, other}.size()), 2U);

    EXPECT_EQ(to_string(first).find(std::string("<") + name + " "), 0U) << to_string(first);
    EXPECT_EQ(to_string(first), to_string(copy));
    EXPECT_EQ(written(first), to_string(first));

    copy.close();
    other.close();
    EXPECT_EQ(copy, other) << "closed objects are equal";
    EXPECT_NE(copy, first);
    EXPECT_EQ(hash(copy), hash(other));
    EXPECT_EQ(to_string(copy), std::string("<") + name + " closed>");
}

using Handles = testing::DeviceTest;

TEST_F(Handles, of_contexts_compare_hash_and_print) {
    check_class("Context", device().primary_context(), Context::create(device()));
}

TEST_F(Handles, of_streams_compare_hash_and_print) {
    check_class("Stream", device().create_stream(), device().create_stream());
    EXPECT_EQ(to_string(Stream::legacy_default()), "<Stream legacy default>");
    EXPECT_EQ(to_string(Stream::per_thread_default()), "<Stream per-thread default>");
    EXPECT_NE(to_string(stream()).find(" device=" + std::to_string(device().ordinal())),
              std::string::npos);
    EXPECT_NE(to_string(stream()), to_string(device().create_stream()));
}

TEST_F(Handles, of_events_compare_hash_and_print) {
    check_class("Event", device().create_event(), device().create_event());
    const TimedEvent timed = device().create_timed_event();
    EXPECT_EQ(std::hash<TimedEvent>()(timed), std::hash<Event>()(timed));
}

TEST_F(Handles, of_buffers_compare_hash_and_print) {
    const Buffer buffer = device().allocate(64, stream());
    check_class("Buffer", buffer, device().allocate(64, stream()));
    EXPECT_NE(buffer, buffer.slice(0, 32)) << "the size counts";
    EXPECT_NE(to_string(buffer).find(" size=64>"), std::string::npos);
}

TEST_F(Handles, of_code_and_kernels_compare_hash_and_print) {
    const ObjectCode code = compile(EMPTY_KERNELS);
    check_class("ObjectCode", code, compile(EMPTY_KERNELS));
    EXPECT_EQ(to_string(code), "<ObjectCode ptx name=\"default_program\">");
    const Kernel kernel = code.get_kernel("first");
    check_class("Kernel", kernel, code.get_kernel("second"));
    EXPECT_EQ(to_string(kernel).find("<Kernel first handle=0x"), 0U);
}

TEST_F(Handles, of_programs_and_linkers_compare_hash_and_print) {
    check_class("Program", Program(EMPTY_KERNELS), Program(EMPTY_KERNELS));
    EXPECT_EQ(to_string(Program("", {.name = "mine"})), "<Program c++ name=\"mine\">");
    const std::array codes{compile(EMPTY_KERNELS)};
    check_class("Linker", Linker(codes), Linker(codes));
}

TEST_F(Handles, of_devices_compare_hash_and_print) {
    EXPECT_EQ(std::hash<Device>()(Device(0)), std::hash<Device>()(Device(0)));
    EXPECT_EQ(written(Device(0)), "<Device 0>");
    EXPECT_EQ(written(ComputeCapability{9, 0}), "9.0");
}

TEST(HasText, is_for_what_this_library_can_write) {
    EXPECT_TRUE(HasText<Stream>);
    EXPECT_TRUE(HasText<CodeType>);
    EXPECT_FALSE(HasText<int>);
    EXPECT_FALSE(HasText<std::string>);
    EXPECT_FALSE((HasText<std::integral_constant<int, 3>>));
    EXPECT_EQ(written(CodeType::LtoIr), "ltoir");
}

// A handle has the type that the C API uses.
static_assert(std::is_same_v<decltype(std::declval<Device>().handle()), CUdevice>);
static_assert(std::is_same_v<decltype(std::declval<Context>().handle()), CUcontext>);
static_assert(std::is_same_v<decltype(std::declval<Stream>().handle()), CUstream>);
static_assert(std::is_same_v<decltype(std::declval<Event>().handle()), CUevent>);
static_assert(std::is_same_v<decltype(std::declval<Buffer>().handle()), CUdeviceptr>);
static_assert(std::is_same_v<decltype(std::declval<MemoryPool>().handle()), CUmemoryPool>);
static_assert(std::is_same_v<decltype(std::declval<Kernel>().handle()), CUkernel>);
static_assert(std::is_same_v<decltype(std::declval<ObjectCode>().handle()), CUlibrary>);
static_assert(
    std::is_same_v<decltype(std::declval<SMResource>().handle()), const CUdevResource_st*>);
static_assert(std::is_same_v<decltype(std::declval<Program>().handle()), void*>);
static_assert(std::is_same_v<decltype(std::declval<Linker>().handle()), void*>);

} // namespace
} // namespace cuprum
