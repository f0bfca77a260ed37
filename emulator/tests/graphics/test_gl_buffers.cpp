// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Buffers of the real OpenGL that kernels write.

#include "api/kernels.hpp"
#include "graphics/gl_test.hpp"

#include <atomic>
#include <bit>
#include <chrono>
#include <numeric>
#include <thread>

using namespace cuprum::emulator::test;
namespace gl = cuprum::gl;

namespace {

constexpr unsigned COUNT = 1000;

std::vector<float> numbers() {
    std::vector<float> values(COUNT);
    std::iota(values.begin(), values.end(), 0.0F);
    return values;
}

} // namespace

TEST_F(GLTest, a_kernel_reads_and_writes_a_buffer_of_opengl) {
    const unsigned buffer = gl_->make_buffer(numbers());
    const CUgraphicsResource resource = registered(buffer);
    CUmodule module = nullptr;
    CUfunction saxpy = nullptr;
    ASSERT_TRUE(succeeds(CU(cuModuleLoadData)(&module, SAXPY_PTX)));
    ASSERT_TRUE(succeeds(CU(cuModuleGetFunction)(&saxpy, module, "saxpy")));

    ASSERT_TRUE(succeeds(map(resource)));
    std::size_t bytes = 0;
    CUdeviceptr data = pointer(resource, &bytes);
    EXPECT_EQ(bytes, COUNT * sizeof(float));
    unsigned count = COUNT;
    float factor = 2.0F;
    void* arguments[] = {&count, &factor, &data, &data}; // y = 2 * y + y
    ASSERT_TRUE(
        succeeds(CU(cuLaunchKernel)(saxpy, 8, 1, 1, 128, 1, 1, 0, stream_, arguments, nullptr)));
    ASSERT_TRUE(succeeds(unmap(resource)));

    std::vector<float> expected = numbers();
    for (float& value : expected) {
        value *= 3;
    }
    EXPECT_EQ(gl_->read_buffer<float>(buffer, COUNT), expected);
    EXPECT_TRUE(succeeds(CU(cuGraphicsUnregisterResource)(resource)));
    EXPECT_TRUE(succeeds(CU(cuModuleUnload)(module)));
    gl_->delete_buffer(buffer);
}

TEST_F(GLTest, what_opengl_writes_between_two_mappings_is_seen) {
    const unsigned buffer = gl_->make_buffer(numbers());
    const CUgraphicsResource resource = registered(buffer);
    ASSERT_TRUE(succeeds(map(resource)));
    ASSERT_TRUE(succeeds(unmap(resource)));
    const float changed = 42.0F;
    gl_->call<void(unsigned, unsigned)>("glBindBuffer", gl::ARRAY_BUFFER, buffer);
    gl_->call<void(unsigned, std::ptrdiff_t, std::ptrdiff_t, const void*)>(
        "glBufferSubData", gl::ARRAY_BUFFER, 4, sizeof changed, &changed);
    ASSERT_TRUE(succeeds(map(resource)));
    std::size_t bytes = 0;
    float seen[2] = {};
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoH)(seen, pointer(resource, &bytes), sizeof seen)));
    EXPECT_EQ(seen[0], 0.0F);
    EXPECT_EQ(seen[1], changed);
    ASSERT_TRUE(succeeds(unmap(resource)));
    EXPECT_TRUE(succeeds(CU(cuGraphicsUnregisterResource)(resource)));
    gl_->delete_buffer(buffer);
}

TEST_F(GLTest, a_read_only_buffer_is_not_written_back) {
    const unsigned buffer = gl_->make_buffer(numbers());
    const CUgraphicsResource resource = registered(buffer, CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY);
    std::size_t bytes = 0;
    ASSERT_TRUE(succeeds(map(resource)));
    ASSERT_TRUE(succeeds(CU(cuMemsetD8)(pointer(resource, &bytes), 0xFF, 16)));
    ASSERT_TRUE(succeeds(unmap(resource)));
    EXPECT_EQ(gl_->read_buffer<float>(buffer, COUNT), numbers());
    // The flags can change while it is not mapped.
    ASSERT_TRUE(succeeds(CU(cuGraphicsResourceSetMapFlags)(resource, 0)));
    ASSERT_TRUE(succeeds(map(resource)));
    EXPECT_TRUE(returns(CUDA_ERROR_ALREADY_MAPPED, CU(cuGraphicsResourceSetMapFlags)(resource, 1)));
    ASSERT_TRUE(succeeds(CU(cuMemsetD8)(pointer(resource, &bytes), 0, 16)));
    ASSERT_TRUE(succeeds(unmap(resource)));
    EXPECT_EQ(gl_->read_buffer<float>(buffer, 5), (std::vector<float>{0, 0, 0, 0, 4}));
    EXPECT_TRUE(succeeds(CU(cuGraphicsUnregisterResource)(resource)));
    gl_->delete_buffer(buffer);
}

TEST_F(GLTest, the_state_of_opengl_is_kept) {
    constexpr unsigned copy_read_binding = 0x8F36;
    constexpr unsigned copy_write_binding = 0x8F37;
    const unsigned buffer = gl_->make_buffer(numbers());
    const unsigned other = gl_->make_buffer(numbers());
    gl_->call<void(unsigned, unsigned)>("glBindBuffer", gl::ARRAY_BUFFER, other);
    gl_->call<void(unsigned, unsigned)>("glBindBuffer", copy_read_binding, other);
    gl_->call<void(unsigned, unsigned)>("glBindBuffer", copy_write_binding, buffer);
    const CUgraphicsResource resource = registered(buffer);
    ASSERT_TRUE(succeeds(map(resource)));
    ASSERT_TRUE(succeeds(unmap(resource)));
    EXPECT_TRUE(succeeds(CU(cuGraphicsUnregisterResource)(resource)));
    EXPECT_EQ(gl_->integer(0x8894), static_cast<int>(other)); // GL_ARRAY_BUFFER_BINDING
    EXPECT_EQ(gl_->integer(copy_read_binding), static_cast<int>(other));
    EXPECT_EQ(gl_->integer(copy_write_binding), static_cast<int>(buffer));
    gl_->delete_buffer(buffer);
    gl_->delete_buffer(other);
}

TEST_F(GLTest, mapping_in_the_wrong_order_is_refused) {
    const unsigned buffer = gl_->make_buffer(numbers());
    CUgraphicsResource resource = registered(buffer);
    CUdeviceptr address = 0;
    std::size_t bytes = 0;
    CUarray array = nullptr;
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_MAPPED,
                        CU(cuGraphicsResourceGetMappedPointer)(&address, &bytes, resource)));
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_MAPPED, unmap(resource)));
    CUgraphicsResource twice[] = {resource, resource};
    EXPECT_TRUE(returns(CUDA_ERROR_ALREADY_MAPPED, CU(cuGraphicsMapResources)(2, twice, stream_)));
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_MAPPED, unmap(resource))) << "all or nothing";
    ASSERT_TRUE(succeeds(map(resource)));
    EXPECT_TRUE(returns(CUDA_ERROR_ALREADY_MAPPED, map(resource)));
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_MAPPED_AS_ARRAY,
                        CU(cuGraphicsSubResourceGetMappedArray)(&array, resource, 0, 0)));
    const CUdeviceptr data = pointer(resource, &bytes);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemFree)(data)))
        << "the memory belongs to the resource";
    ASSERT_TRUE(succeeds(unmap(resource)));
    float value = 0;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyDtoH)(&value, data, sizeof value)))
        << "the memory is gone";
    EXPECT_TRUE(succeeds(CU(cuGraphicsUnregisterResource)(resource)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, CU(cuGraphicsUnregisterResource)(resource)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, map(resource)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuGraphicsMapResources)(0, twice, stream_)));
    gl_->delete_buffer(buffer);
}

TEST_F(GLTest, buffers_that_do_not_exist_or_changed_are_refused) {
    CUgraphicsResource resource = nullptr;
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_HANDLE, CU(cuGraphicsGLRegisterBuffer)(&resource, 9999, 0)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuGraphicsGLRegisterBuffer)(&resource, 0, 0)));
    unsigned empty = 0;
    gl_->call<void(int, unsigned*)>("glGenBuffers", 1, &empty);
    gl_->call<void(unsigned, unsigned)>("glBindBuffer", gl::ARRAY_BUFFER, empty);
    EXPECT_TRUE(
        returns(CUDA_ERROR_OUT_OF_MEMORY, CU(cuGraphicsGLRegisterBuffer)(&resource, empty, 0)));
    const unsigned buffer = gl_->make_buffer(numbers());
    for (const unsigned flags : {3U, 4U, 8U, 16U}) {
        EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                            CU(cuGraphicsGLRegisterBuffer)(&resource, buffer, flags)))
            << flags;
    }
    resource = registered(buffer);
    gl_->call<void(unsigned, unsigned)>("glBindBuffer", gl::ARRAY_BUFFER, buffer);
    gl_->call<void(unsigned, std::ptrdiff_t, const void*, unsigned)>(
        "glBufferData", gl::ARRAY_BUFFER, 8, nullptr, gl::DYNAMIC_DRAW);
    EXPECT_TRUE(returns(CUDA_ERROR_MAP_FAILED, map(resource))) << "it has another size now";
    gl_->delete_buffer(buffer);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, map(resource))) << "it is deleted";
    EXPECT_TRUE(succeeds(CU(cuGraphicsUnregisterResource)(resource)));
    gl_->delete_buffer(empty);
}

TEST_F(GLTest, a_buffer_that_opengl_has_mapped_is_refused) {
    const unsigned buffer = gl_->make_buffer(numbers());
    const CUgraphicsResource resource = registered(buffer);
    gl_->call<void(unsigned, unsigned)>("glBindBuffer", gl::ARRAY_BUFFER, buffer);
    ASSERT_NE((gl_->call<void*(unsigned, std::ptrdiff_t, std::ptrdiff_t, unsigned)>(
                  "glMapBufferRange", gl::ARRAY_BUFFER, 0, 16, 1U)),
              nullptr);
    EXPECT_TRUE(returns(CUDA_ERROR_MAP_FAILED, map(resource)));
    gl_->call<unsigned char(unsigned)>("glUnmapBuffer", gl::ARRAY_BUFFER);
    EXPECT_TRUE(succeeds(map(resource)));
    EXPECT_TRUE(succeeds(unmap(resource)));
    EXPECT_TRUE(succeeds(CU(cuGraphicsUnregisterResource)(resource)));
    gl_->delete_buffer(buffer);
}

TEST_F(GLTest, without_a_context_nothing_is_registered_or_mapped) {
    const unsigned buffer = gl_->make_buffer(numbers());
    const CUgraphicsResource resource = registered(buffer);
    gl_->release();
    CUgraphicsResource other = nullptr;
    unsigned count = 0;
    CUdevice devices[4] = {};
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_GRAPHICS_CONTEXT,
                        CU(cuGraphicsGLRegisterBuffer)(&other, buffer, 0)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_GRAPHICS_CONTEXT, map(resource)));
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_GRAPHICS_CONTEXT, CU(cuGLGetDevices_v2)(&count, devices, 4, 1)));
    ASSERT_TRUE(gl_->make_current());
    ASSERT_TRUE(succeeds(map(resource)));
    gl_->release();
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_GRAPHICS_CONTEXT, unmap(resource)));
    ASSERT_TRUE(gl_->make_current());
    EXPECT_TRUE(succeeds(unmap(resource))) << "it stayed mapped";
    EXPECT_TRUE(succeeds(CU(cuGLGetDevices_v2)(&count, devices, 4, 1)));
    EXPECT_EQ(count, 1U);
    EXPECT_EQ(devices[0], 0);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuGLGetDevices_v2)(&count, devices, 4, 4)));
    EXPECT_TRUE(succeeds(CU(cuGraphicsUnregisterResource)(resource)));
    gl_->delete_buffer(buffer);
}

TEST_F(GLTest, unmapping_waits_for_the_work_of_other_streams) {
    struct Work {
        std::atomic<bool> may_end = false;
        std::atomic<bool> is_over = false;
    } work;

    CUstream other = nullptr;
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&other, CU_STREAM_NON_BLOCKING)));
    const unsigned buffer = gl_->make_buffer(numbers());
    const CUgraphicsResource resource = registered(buffer);
    ASSERT_TRUE(succeeds(map(resource)));
    std::size_t bytes = 0;
    const CUdeviceptr memory = pointer(resource, &bytes);
    const auto run = [](void* data) {
        auto& own = *static_cast<Work*>(data);
        while (!own.may_end) {
            std::this_thread::yield();
        }
        own.is_over = true;
    };
    ASSERT_TRUE(succeeds(CU(cuLaunchHostFunc)(other, run, &work)));
    constexpr float NINE = 9;
    ASSERT_TRUE(
        succeeds(CU(cuMemsetD32Async)(memory, std::bit_cast<unsigned>(NINE), COUNT, other)));
    std::thread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        work.may_end = true;
    });
    EXPECT_TRUE(succeeds(unmap(resource)));
    EXPECT_TRUE(work.is_over);
    later.join();
    EXPECT_TRUE(succeeds(CU(cuStreamSynchronize)(other))) << "the fill found its memory unmapped";
    EXPECT_EQ(gl_->read_buffer<float>(buffer, COUNT), std::vector<float>(COUNT, NINE));
    EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(other)));
    EXPECT_TRUE(succeeds(CU(cuGraphicsUnregisterResource)(resource)));
    gl_->delete_buffer(buffer);
}

TEST_F(GLTest, a_mapped_buffer_stays_registered) {
    const unsigned buffer = gl_->make_buffer(numbers());
    const CUgraphicsResource resource = registered(buffer);
    ASSERT_TRUE(succeeds(map(resource)));
    EXPECT_TRUE(returns(CUDA_ERROR_ALREADY_MAPPED, CU(cuGraphicsUnregisterResource)(resource)));
    EXPECT_TRUE(succeeds(unmap(resource)));
    EXPECT_TRUE(succeeds(CU(cuGraphicsUnregisterResource)(resource)));
    gl_->delete_buffer(buffer);
}

TEST_F(GLTest, a_buffer_that_was_deleted_while_it_was_mapped_can_be_unregistered) {
    const unsigned buffer = gl_->make_buffer(numbers());
    const CUgraphicsResource resource = registered(buffer);
    ASSERT_TRUE(succeeds(map(resource)));
    gl_->delete_buffer(buffer);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, unmap(resource))) << "nothing is copied back";
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_MAPPED, unmap(resource))) << "but it is not mapped any more";
    EXPECT_TRUE(succeeds(CU(cuGraphicsUnregisterResource)(resource)));
}

TEST_F(GLTest, a_capturing_stream_maps_nothing) {
    const unsigned buffer = gl_->make_buffer(numbers());
    const CUgraphicsResource resource = registered(buffer);
    CUgraph graph = nullptr;
    ASSERT_TRUE(succeeds(CU(cuStreamBeginCapture)(stream_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)));
    EXPECT_TRUE(returns(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, map(resource)));
    EXPECT_TRUE(
        returns(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, CU(cuStreamEndCapture)(stream_, &graph)));
    EXPECT_TRUE(succeeds(CU(cuGraphicsUnregisterResource)(resource)));
    gl_->delete_buffer(buffer);
}
