// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What the tests of graphics share: a context of the real OpenGL, and functions that need
// OpenGL's headers to be declared.

#pragma once

#include "api/driver.hpp"
#include "gl/headless.hpp"

#include <cstring>
#include <optional>
#include <stdexcept>
#include <vector>

extern "C" {
CUresult cuGraphicsGLRegisterBuffer(CUgraphicsResource*, unsigned buffer, unsigned flags);
CUresult cuGraphicsGLRegisterImage(CUgraphicsResource*, unsigned image, unsigned target,
                                   unsigned flags);
CUresult cuGLGetDevices_v2(unsigned* count, CUdevice* devices, unsigned capacity, unsigned list);
CUresult cuGraphicsEGLRegisterImage(CUgraphicsResource*, void* image, unsigned flags);
}

namespace cuprum::emulator::test {

/// Has a context of OpenGL current, or skips.
class GLTest : public DriverTest {
protected:
    void SetUp() override {
        DriverTest::SetUp();
        try {
            gl_.emplace();
        } catch (const std::runtime_error& error) {
            GTEST_SKIP() << error.what();
        }
        ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream_, CU_STREAM_NON_BLOCKING)));
    }

    void TearDown() override {
        if (stream_ != nullptr) {
            EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream_)));
        }
        if (gl_) {
            EXPECT_EQ(gl_->error(), 0U) << "an error of OpenGL is pending";
        }
        gl_.reset();
        DriverTest::TearDown();
    }

    [[nodiscard]] CUgraphicsResource registered(unsigned buffer, unsigned flags = 0) const {
        CUgraphicsResource resource = nullptr;
        EXPECT_TRUE(succeeds(CU(cuGraphicsGLRegisterBuffer)(&resource, buffer, flags)));
        return resource;
    }

    [[nodiscard]] CUresult map(CUgraphicsResource resource) const {
        return CU(cuGraphicsMapResources)(1, &resource, stream_);
    }

    [[nodiscard]] CUresult unmap(CUgraphicsResource resource) const {
        return CU(cuGraphicsUnmapResources)(1, &resource, stream_);
    }

    [[nodiscard]] CUdeviceptr pointer(CUgraphicsResource resource, std::size_t* bytes) const {
        CUdeviceptr address = 0;
        EXPECT_TRUE(succeeds(CU(cuGraphicsResourceGetMappedPointer)(&address, bytes, resource)));
        return address;
    }

    std::optional<gl::Headless> gl_;
    CUstream stream_ = nullptr;
};

} // namespace cuprum::emulator::test
