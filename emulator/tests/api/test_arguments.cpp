// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Invalid arguments: sizes that wrap around, outputs that are NULL, lists with one bad entry. Each
// call must return an error and change nothing.

#include "api/driver.hpp"
#include "api/kernels.hpp"

#include <array>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <vector>

using namespace cuprum::emulator::test;

namespace {

const bool is_quiet = ::setenv("CUPRUM_EMULATOR_LOG", "off", 1) == 0;

/// A kernel with some static shared memory.
constexpr const char* SHARED_PTX = R"(
.version 8.0
.target sm_70
.address_size 64

.visible .entry uses_shared()
{
    .reg .b32 %r<2>;
    .shared .align 4 .b8 tile[64];
    mov.u32 %r1, %tid.x;
    st.shared.u32 [tile], %r1;
    ret;
}
)";

} // namespace

class Arguments : public DriverTest {
protected:
    void SetUp() override {
        ASSERT_TRUE(is_quiet);
        DriverTest::SetUp();
    }

    void load(const char* ptx, const char* name) {
        ASSERT_TRUE(succeeds(CU(cuModuleLoadData)(&module_, ptx)));
        ASSERT_TRUE(succeeds(CU(cuModuleGetFunction)(&function_, module_, name)));
    }

    void TearDown() override {
        if (module_ != nullptr) {
            EXPECT_TRUE(succeeds(CU(cuModuleUnload)(module_)));
        }
        DriverTest::TearDown();
    }

    CUmodule module_ = nullptr;
    CUfunction function_ = nullptr;
};

TEST_F(Arguments, an_output_stays_as_it_was_when_another_one_is_missing) {
    load(SHARED_PTX, "uses_shared");
    unsigned flags = 77;
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuDevicePrimaryCtxGetState)(0, &flags, nullptr)));
    EXPECT_EQ(flags, 77U);
    int blocks = -7;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuOccupancyMaxPotentialBlockSize)(
                                                      &blocks, nullptr, function_, nullptr, 0, 0)));
    EXPECT_EQ(blocks, -7);
}

TEST_F(Arguments, occupancy_of_absurd_sizes_is_none) {
    load(SHARED_PTX, "uses_shared");
    int blocks = -1;
    ASSERT_TRUE(succeeds(CU(cuOccupancyMaxActiveBlocksPerMultiprocessor)(
        &blocks, function_, 32, std::numeric_limits<std::size_t>::max())));
    EXPECT_EQ(blocks, 0);
    std::size_t bytes = 0;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuOccupancyAvailableDynamicSMemPerBlock)(
                                                      &bytes, function_, 1, INT_MAX)));
}

TEST_F(Arguments, clusters_whose_size_wraps_are_too_large) {
    load(SHARED_PTX, "uses_shared");
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim = {1U << 16, 1U << 16, 1};
    CUlaunchConfig config{};
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = 32;
    config.blockDimY = config.blockDimZ = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    int clusters = -1;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_CLUSTER_SIZE,
                        CU(cuOccupancyMaxActiveClusters)(&clusters, function_, &config)));
    config.attrs = nullptr;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuOccupancyMaxActiveClusters)(&clusters, function_, &config)));
    config.numAttrs = 0;
    config.blockDimX = config.blockDimY = 1U << 16;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuOccupancyMaxActiveClusters)(&clusters, function_, &config)));
}

TEST_F(Arguments, a_launch_whose_event_is_bad_does_not_happen) {
    load(COUNTER_PTX, "touch");
    CUdeviceptr word = allocate(4);
    ASSERT_TRUE(succeeds(CU(cuMemsetD32)(word, 0, 1)));
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT;
    attribute.value.launchCompletionEvent.event = reinterpret_cast<CUevent>(0x1230);
    CUlaunchConfig config{};
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    void* arguments[] = {&word};
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE,
                        CU(cuLaunchKernelEx)(&config, function_, arguments, nullptr)));
    unsigned value = 9;
    EXPECT_TRUE(succeeds(CU(cuMemcpyDtoH)(&value, word, sizeof value)));
    EXPECT_EQ(value, 0U);
    EXPECT_TRUE(succeeds(CU(cuMemFree)(word)));
}

TEST_F(Arguments, packed_parameters_need_the_address_of_their_size) {
    load(COUNTER_PTX, "touch");
    CUdeviceptr word = 0;
    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &word, CU_LAUNCH_PARAM_BUFFER_SIZE, nullptr,
                     CU_LAUNCH_PARAM_END};
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuLaunchKernel)(function_, 1, 1, 1, 1, 1, 1, 0,
                                                                     nullptr, nullptr, extra)));
}

TEST_F(Arguments, a_batch_of_words_with_a_bad_one_does_nothing) {
    const CUdeviceptr word = allocate(4);
    ASSERT_TRUE(succeeds(CU(cuMemsetD32)(word, 0, 1)));
    std::array<CUstreamBatchMemOpParams, 2> batch{};
    batch[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    batch[0].writeValue.address = word;
    batch[0].writeValue.value = 5;
    batch[1].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    batch[1].writeValue.address = word + 2;
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuStreamBatchMemOp)(nullptr, 2, batch.data(), 0)));
    batch[1].operation = static_cast<CUstreamBatchMemOpType>(99);
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuStreamBatchMemOp)(nullptr, 2, batch.data(), 0)));
    const std::vector<CUstreamBatchMemOpParams> many(256, batch[0]);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuStreamBatchMemOp)(
                            nullptr, 256, const_cast<CUstreamBatchMemOpParams*>(many.data()), 0)));
    unsigned value = 9;
    EXPECT_TRUE(succeeds(CU(cuMemcpyDtoH)(&value, word, sizeof value)));
    EXPECT_EQ(value, 0U);
    EXPECT_TRUE(succeeds(CU(cuStreamBatchMemOp)(nullptr, 1, batch.data(), 0)));
    EXPECT_TRUE(succeeds(CU(cuMemcpyDtoH)(&value, word, sizeof value)));
    EXPECT_EQ(value, 5U);
    EXPECT_TRUE(succeeds(CU(cuMemFree)(word)));
}

TEST_F(Arguments, slices_of_a_box_do_not_overlap) {
    const CUdeviceptr memory = allocate(4096);
    std::array<unsigned char, 4096> host{};
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = host.data();
    copy.srcPitch = 16;
    copy.srcHeight = 4;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = memory;
    copy.dstPitch = 16;
    copy.dstHeight = 4;
    copy.WidthInBytes = 16;
    copy.Height = 4;
    copy.Depth = 2;
    EXPECT_TRUE(succeeds(CU(cuMemcpy3D)(&copy)));
    copy.srcHeight = 3;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpy3D)(&copy)));
    copy.srcHeight = 4;
    copy.dstY = 1;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpy3D)(&copy)));
    copy.dstHeight = 5;
    EXPECT_TRUE(succeeds(CU(cuMemcpy3D)(&copy)));
    copy.Depth = 1;
    copy.srcHeight = copy.dstHeight = 0;
    EXPECT_TRUE(succeeds(CU(cuMemcpy3D)(&copy)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(memory)));
}

TEST_F(Arguments, every_pointer_attribute_writes_no_more_than_its_type) {
    const CUdeviceptr memory = allocate(4096);
    for (const CUdeviceptr address : {memory + 16, CUdeviceptr{0x1000}}) {
        std::array<unsigned, 2> boolean{0xAAAAAAAA, 0xAAAAAAAA};
        CUpointer_attribute attribute = CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE;
        void* data = boolean.data();
        ASSERT_TRUE(succeeds(CU(cuPointerGetAttributes)(1, &attribute, &data, address)));
        EXPECT_EQ(boolean[0], 0U);
        EXPECT_EQ(boolean[1], 0xAAAAAAAA);
    }
    unsigned is_capable = 9;
    EXPECT_TRUE(succeeds(CU(cuPointerGetAttribute)(
        &is_capable, CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE, memory)));
    EXPECT_EQ(is_capable, 0U);
    std::size_t bytes = 0;
    EXPECT_TRUE(succeeds(
        CU(cuPointerGetAttribute)(&bytes, CU_POINTER_ATTRIBUTE_MAPPING_SIZE, memory + 16)));
    EXPECT_GE(bytes, 4096U);
    CUdeviceptr base = 0;
    EXPECT_TRUE(succeeds(
        CU(cuPointerGetAttribute)(&base, CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, memory + 16)));
    EXPECT_EQ(base, memory);
    unsigned long long first = 0;
    unsigned long long second = 0;
    const CUdeviceptr other = allocate(4096);
    EXPECT_TRUE(
        succeeds(CU(cuPointerGetAttribute)(&first, CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID, memory)));
    EXPECT_TRUE(
        succeeds(CU(cuPointerGetAttribute)(&second, CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID, other)));
    EXPECT_NE(first, second);
    EXPECT_TRUE(succeeds(CU(cuMemFree)(other)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(memory)));
}

TEST_F(Arguments, memory_is_not_mapped_where_addresses_wrap) {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    std::size_t step = 0;
    ASSERT_TRUE(succeeds(
        CU(cuMemGetAllocationGranularity)(&step, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM)));
    CUdeviceptr place = 0;
    CUmemGenericAllocationHandle memory = 0;
    ASSERT_TRUE(succeeds(CU(cuMemAddressReserve)(&place, step, 0, 0, 0)));
    ASSERT_TRUE(succeeds(CU(cuMemCreate)(&memory, step, &properties, 0)));
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemMap)(CUdeviceptr{0} - step, step, 0, memory, 0)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemMap)(place + step, step, 0, memory, 0)));
    CUdeviceptr absurd = 0;
    EXPECT_FALSE(succeeds(CU(cuMemAddressReserve)(&absurd, step, std::uint64_t{1} << 63, 0, 0)));
    EXPECT_FALSE(succeeds(CU(cuMemAddressReserve)(&absurd, CUdeviceptr{0} - step, 0, 0, 0)));
    CUmemGenericAllocationHandle none = 0;
    EXPECT_TRUE(returns(CUDA_ERROR_OUT_OF_MEMORY,
                        CU(cuMemCreate)(&none, CUdeviceptr{0} - step, &properties, 0)));
    EXPECT_TRUE(succeeds(CU(cuMemRelease)(memory)));
    EXPECT_TRUE(succeeds(CU(cuMemAddressFree)(place, step)));
}

TEST_F(Arguments, memory_is_attached_to_one_stream_only_where_it_is_one) {
    CUdeviceptr memory = 0;
    CUstream stream = nullptr;
    ASSERT_TRUE(succeeds(CU(cuMemAllocManaged)(&memory, 64, CU_MEM_ATTACH_GLOBAL)));
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream, CU_STREAM_DEFAULT)));
    EXPECT_TRUE(succeeds(CU(cuStreamAttachMemAsync)(stream, memory, 0, CU_MEM_ATTACH_SINGLE)));
    EXPECT_TRUE(succeeds(CU(cuStreamAttachMemAsync)(nullptr, memory, 0, CU_MEM_ATTACH_HOST)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuStreamAttachMemAsync)(nullptr, memory, 0, CU_MEM_ATTACH_SINGLE)));
    EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(memory)));
}

TEST_F(Arguments, memory_that_is_being_freed_is_not_freed_again) {
    Gate gate;
    const CUdeviceptr memory = allocate(64);
    CUstream stream = nullptr;
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING)));
    gate.block(stream);
    EXPECT_TRUE(succeeds(CU(cuMemFreeAsync)(memory, stream)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemFreeAsync)(memory, stream)));
    gate.open();
    EXPECT_TRUE(succeeds(CU(cuStreamSynchronize)(stream)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemFreeAsync)(memory, stream)));
    EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream)));
}

TEST_F(Arguments, a_free_that_a_capture_forbids_frees_nothing) {
    CUstream stream = nullptr;
    CUdeviceptr pooled = 0;
    CUdeviceptr plain = allocate(64);
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream, CU_STREAM_DEFAULT)));
    ASSERT_TRUE(succeeds(CU(cuMemAllocAsync)(&pooled, 64, nullptr)));
    CUevent event = nullptr;
    ASSERT_TRUE(
        succeeds(CU(cuEventCreate)(&event, CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS)));
    for (const CUdeviceptr memory : {pooled, plain}) {
        ASSERT_TRUE(succeeds(CU(cuStreamBeginCapture)(stream, CU_STREAM_CAPTURE_MODE_RELAXED)));
        EXPECT_TRUE(
            returns(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, CU(cuMemFreeAsync)(memory, nullptr)));
        CUgraph graph = nullptr;
        EXPECT_TRUE(
            returns(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, CU(cuStreamEndCapture)(stream, &graph)));
        EXPECT_TRUE(succeeds(CU(cuMemsetD8)(memory, 1, 64))) << "it was not freed";
    }
    ASSERT_TRUE(succeeds(CU(cuStreamBeginCapture)(stream, CU_STREAM_CAPTURE_MODE_RELAXED)));
    CUdeviceptr none = 0;
    EXPECT_TRUE(
        returns(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, CU(cuMemAllocAsync)(&none, 64, nullptr)));
    EXPECT_EQ(none, 0U);
    CUgraph graph = nullptr;
    EXPECT_TRUE(
        returns(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, CU(cuStreamEndCapture)(stream, &graph)));
    ASSERT_TRUE(succeeds(CU(cuStreamBeginCapture)(stream, CU_STREAM_CAPTURE_MODE_RELAXED)));
    EXPECT_TRUE(returns(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, CU(cuEventRecord)(event, nullptr)));
    EXPECT_TRUE(
        returns(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, CU(cuStreamEndCapture)(stream, &graph)));
    EXPECT_TRUE(succeeds(CU(cuEventQuery)(event))) << "it was not recorded";
    EXPECT_TRUE(succeeds(CU(cuMemFreeAsync)(pooled, nullptr)));
    EXPECT_TRUE(succeeds(CU(cuMemFreeAsync)(plain, nullptr)));
    EXPECT_TRUE(succeeds(CU(cuStreamSynchronize)(nullptr)));
    EXPECT_TRUE(succeeds(CU(cuEventDestroy)(event)));
    EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream)));
}
