// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What observers of driver calls see.

#include "driver/observe.hpp"
#include "support/fake_driver.hpp"

#include <cuprum/device.hpp>
#include <cuprum/error.hpp>
#include <cuprum/stream.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace cuprum {
namespace {

/// Notes the beginnings and the ends of calls.
class Notes final : public driver::Observer {
public:
    CUresult before(const driver::Call& call) override {
        lines.push_back(std::string("begin ") + call.name);
        return CUDA_SUCCESS;
    }

    CUresult after(const driver::Call& call, CUresult status) override {
        lines.push_back(std::string("end ") + call.name + " " +
                        std::to_string(static_cast<int>(status)));
        return status;
    }

    std::vector<std::string> lines;
} notes; // NOTE: observers must live as long as the process

class Observers : public testing::FakeDriverTest {
protected:
    Observers() { notes.lines.clear(); }

    ~Observers() override { driver::remove_observer(notes); }
};

TEST_F(Observers, see_the_end_of_a_call_that_the_driver_lacks) {
    const Stream stream = Device(0).create_stream();
    fake->on_call = [](std::string_view function) {
        if (function == "cuStreamGetPriority") { // as the table does for a missing function
            static_cast<void>(driver::lack("cuStreamGetPriority", 12000, 11000));
        }
    };
    fake->fail("cuStreamGetPriority", CUDA_ERROR_NOT_SUPPORTED);
    driver::add_observer(notes);
    EXPECT_THROW(static_cast<void>(stream.priority()), NotSupportedError);
    fake->on_call = nullptr;
    static_cast<void>(stream.is_nonblocking());
    EXPECT_EQ(notes.lines,
              (std::vector<std::string>{"begin cuStreamGetPriority", "end cuStreamGetPriority 801",
                                        "begin cuStreamGetFlags", "end cuStreamGetFlags 0"}));
}

} // namespace
} // namespace cuprum
