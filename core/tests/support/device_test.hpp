// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "support/driver_test.hpp"

#include <cuprum/cuprum.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::testing {

/// Gives a test a stream, and short functions to compile, copy and launch.
class DeviceTest : public DriverTest {
protected:
    void SetUp() override {
        DriverTest::SetUp();
        if (!IsSkipped()) {
            stream_ = device().create_stream();
        }
    }

    void TearDown() override {
        stream_.reset();
        DriverTest::TearDown();
    }

    [[nodiscard]] const Stream& stream() const { return *stream_; }

    /// Compiles for the device. `names` are the C++ names of kernels, which the compiler mangles.
    static ObjectCode compile(std::string_view source, const std::vector<std::string>& names = {},
                              CodeType target = CodeType::Ptx) {
        return Program(source).compile(target, names);
    }

    template <typename T>
    Buffer upload(const std::vector<T>& values) {
        Buffer buffer = device().allocate(values.size() * sizeof(T), stream());
        buffer.copy_from_host(std::span<const T>(values), stream());
        return buffer;
    }

    /// Waits for the stream and returns the content of the buffer.
    template <typename T>
    std::vector<T> download(const Buffer& buffer) {
        std::vector<T> values(buffer.size() / sizeof(T));
        buffer.copy_to_host(std::span<T>(values), stream());
        stream().sync();
        return values;
    }

private:
    std::optional<Stream> stream_;
};

} // namespace cuprum::testing
