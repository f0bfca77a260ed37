// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "api/driver.hpp"
#include "api/kernels.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

using namespace cuprum::emulator::test;

namespace {

constexpr unsigned SM_COUNT = 132; // as on an H200
constexpr unsigned GROUP = 8;      // for compute capability 9.0

// cuInit reads these variables later.
const bool is_set_up = ::setenv("CUPRUM_EMULATOR_COMPUTE_CAPABILITY", "9.0", 1) == 0 &&
                       ::setenv("CUPRUM_EMULATOR_MULTIPROCESSORS", "132", 1) == 0;

} // namespace

class GreenContexts : public DriverTest {
protected:
    void SetUp() override {
        ASSERT_TRUE(is_set_up);
        DriverTest::SetUp();
        ASSERT_TRUE(succeeds(CU(cuDeviceGetDevResource)(0, &whole_, CU_DEV_RESOURCE_TYPE_SM)));
    }

    CUgreenCtx make(CUdevResource resource) {
        CUdevResourceDesc description = nullptr;
        CUgreenCtx green = nullptr;
        EXPECT_TRUE(succeeds(CU(cuDevResourceGenerateDesc)(&description, &resource, 1)));
        EXPECT_TRUE(
            succeeds(CU(cuGreenCtxCreate)(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM)));
        return green;
    }

    /// Returns the first group of at least `least` multiprocessors.
    CUdevResource group(unsigned least) {
        CUdevResource result{};
        unsigned count = 1;
        EXPECT_TRUE(
            succeeds(CU(cuDevSmResourceSplitByCount)(&result, &count, &whole_, nullptr, 0, least)));
        return result;
    }

    CUdevResource whole_{};
};

TEST_F(GreenContexts, the_device_says_what_it_has_and_how_it_divides) {
    EXPECT_EQ(whole_.type, CU_DEV_RESOURCE_TYPE_SM);
    EXPECT_EQ(whole_.sm.smCount, SM_COUNT);
    EXPECT_EQ(whole_.sm.minSmPartitionSize, GROUP);
    EXPECT_EQ(whole_.sm.smCoscheduledAlignment, GROUP);
    CUdevResource other{};
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_RESOURCE_TYPE,
                        CU(cuDeviceGetDevResource)(0, &other, CU_DEV_RESOURCE_TYPE_INVALID)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_DEVICE,
                        CU(cuDeviceGetDevResource)(7, &other, CU_DEV_RESOURCE_TYPE_SM)));
    ASSERT_TRUE(succeeds(CU(cuCtxGetDevResource)(context_, &other, CU_DEV_RESOURCE_TYPE_SM)));
    EXPECT_EQ(other.sm.smCount, SM_COUNT);
}

TEST_F(GreenContexts, a_split_gives_equal_groups_and_what_remains) {
    unsigned count = 0;
    ASSERT_TRUE(succeeds(CU(cuDevSmResourceSplitByCount)(nullptr, &count, &whole_, nullptr, 0, 1)));
    EXPECT_EQ(count, SM_COUNT / GROUP);
    std::array<CUdevResource, 32> groups{};
    CUdevResource remaining{};
    count = groups.size();
    ASSERT_TRUE(succeeds(
        CU(cuDevSmResourceSplitByCount)(groups.data(), &count, &whole_, &remaining, 0, 17)));
    EXPECT_EQ(count, SM_COUNT / 24) << "17 is rounded up to 24";
    EXPECT_EQ(groups[0].sm.smCount, 24U);
    EXPECT_EQ(groups[count - 1].sm.smCount, 24U);
    EXPECT_EQ(remaining.sm.smCount, SM_COUNT - count * 24);
    count = 2;
    ASSERT_TRUE(succeeds(
        CU(cuDevSmResourceSplitByCount)(groups.data(), &count, &whole_, &remaining, 0, 64)));
    EXPECT_EQ(count, 2U);
    EXPECT_EQ(remaining.sm.smCount, 4U);
    count = 1;
    ASSERT_TRUE(succeeds(
        CU(cuDevSmResourceSplitByCount)(groups.data(), &count, &whole_, nullptr,
                                        CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING, 3)));
    EXPECT_EQ(groups[0].sm.smCount, 4U);
}

TEST_F(GreenContexts, impossible_splits_are_refused) {
    CUdevResource groups[2]{};
    unsigned count = 2;
    const auto split = [&](const CUdevResource& input, unsigned flags, unsigned least) {
        return CU(cuDevSmResourceSplitByCount)(groups, &count, &input, nullptr, flags, least);
    };
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION, split(whole_, 0, SM_COUNT + 1)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        split(whole_,
                              CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING |
                                  CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE,
                              8)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, split(whole_, 0x80, 8)));
    ASSERT_TRUE(succeeds(split(whole_, 0, SM_COUNT - 1)));
    EXPECT_EQ(count, 1U);
    EXPECT_EQ(groups[0].sm.smCount, SM_COUNT) << "all there are, as on an H200";
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION, split(group(8), 0, 8)))
        << "a result of a split";
    CUdevResource forged = whole_;
    forged._internal_padding[0] ^= 1;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, split(forged, 0, 8)));
    forged = whole_;
    forged.type = CU_DEV_RESOURCE_TYPE_INVALID;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_RESOURCE_TYPE, split(forged, 0, 8)));
}

TEST_F(GreenContexts, a_description_takes_groups_of_one_split) {
    CUdevResource groups[2]{};
    unsigned count = 2;
    ASSERT_TRUE(succeeds(CU(cuDevSmResourceSplitByCount)(groups, &count, &whole_, nullptr, 0, 8)));
    CUdevResourceDesc both = nullptr;
    ASSERT_TRUE(succeeds(CU(cuDevResourceGenerateDesc)(&both, groups, 2)));
    CUgreenCtx green = nullptr;
    CUdevResource owned{};
    ASSERT_TRUE(succeeds(CU(cuGreenCtxCreate)(&green, both, 0, CU_GREEN_CTX_DEFAULT_STREAM)));
    ASSERT_TRUE(succeeds(CU(cuGreenCtxGetDevResource)(green, &owned, CU_DEV_RESOURCE_TYPE_SM)));
    EXPECT_EQ(owned.sm.smCount, 16U);
    count = 2;
    EXPECT_TRUE(succeeds(CU(cuDevSmResourceSplitByCount)(groups, &count, &owned, nullptr, 0, 8)))
        << "what a green context has can be split";
    EXPECT_TRUE(succeeds(CU(cuGreenCtxDestroy)(green)));
    CUdevResource mixed[2] = {groups[0], group(8)};
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
                        CU(cuDevResourceGenerateDesc)(&both, mixed, 2)));
    mixed[1] = mixed[0];
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
                        CU(cuDevResourceGenerateDesc)(&both, mixed, 2)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuDevResourceGenerateDesc)(&both, groups, 0)));
}

TEST_F(GreenContexts, a_green_context_holds_the_primary_one) {
    unsigned flags = 0;
    int is_active = 0;
    const CUgreenCtx green = make(group(8));
    ASSERT_TRUE(succeeds(CU(cuDevicePrimaryCtxRelease)(0)));
    ASSERT_TRUE(succeeds(CU(cuDevicePrimaryCtxGetState)(0, &flags, &is_active)));
    EXPECT_EQ(is_active, 1);
    ASSERT_TRUE(succeeds(CU(cuGreenCtxDestroy)(green)));
    ASSERT_TRUE(succeeds(CU(cuDevicePrimaryCtxGetState)(0, &flags, &is_active)));
    EXPECT_EQ(is_active, 0);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_CONTEXT, CU(cuGreenCtxDestroy)(green)));
    ASSERT_TRUE(succeeds(CU(cuDevicePrimaryCtxRetain)(&context_, 0)));
}

TEST_F(GreenContexts, flags_and_descriptions_are_checked) {
    CUgreenCtx green = nullptr;
    CUdevResourceDesc description = nullptr;
    CUdevResource resource = group(8);
    ASSERT_TRUE(succeeds(CU(cuDevResourceGenerateDesc)(&description, &resource, 1)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuGreenCtxCreate)(&green, description, 0, 0)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuGreenCtxCreate)(&green, nullptr, 0, CU_GREEN_CTX_DEFAULT_STREAM)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_DEVICE,
                        CU(cuGreenCtxCreate)(&green, description, 5, CU_GREEN_CTX_DEFAULT_STREAM)));
    // A green context must be converted before it can be used as a CUcontext.
    green = make(resource);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_CONTEXT,
                        CU(cuCtxSetCurrent)(reinterpret_cast<CUcontext>(green))));
    EXPECT_TRUE(succeeds(CU(cuGreenCtxDestroy)(green)));
}

TEST_F(GreenContexts, made_current_it_answers_for_itself) {
    const CUgreenCtx green = make(group(16));
    CUcontext converted = nullptr;
    CUcontext again = nullptr;
    CUcontext current = nullptr;
    ASSERT_TRUE(succeeds(CU(cuCtxFromGreenCtx)(&converted, green)));
    ASSERT_TRUE(succeeds(CU(cuCtxFromGreenCtx)(&again, green)));
    EXPECT_EQ(converted, again);
    EXPECT_NE(converted, context_);
    ASSERT_TRUE(succeeds(CU(cuCtxPushCurrent)(converted)));
    ASSERT_TRUE(succeeds(CU(cuCtxGetCurrent)(&current)));
    EXPECT_EQ(current, converted);
    CUdevice device = -1;
    ASSERT_TRUE(succeeds(CU(cuCtxGetDevice)(&device)));
    EXPECT_EQ(device, 0);
    CUdevResource resource{};
    ASSERT_TRUE(succeeds(CU(cuCtxGetDevResource)(converted, &resource, CU_DEV_RESOURCE_TYPE_SM)));
    EXPECT_EQ(resource.sm.smCount, 16U);
    unsigned long long green_id = 0;
    unsigned long long current_id = 0;
    unsigned long long primary_id = 0;
    ASSERT_TRUE(succeeds(CU(cuGreenCtxGetId)(green, &green_id)));
    ASSERT_TRUE(succeeds(CU(cuGreenCtxGetId)(nullptr, &current_id)));
    ASSERT_TRUE(succeeds(CU(cuCtxGetId)(context_, &primary_id)));
    EXPECT_EQ(green_id, current_id);
    EXPECT_NE(green_id, primary_id);
    // Memory belongs to the primary context.
    const CUdeviceptr memory = allocate(64);
    CUcontext owner = nullptr;
    ASSERT_TRUE(succeeds(CU(cuPointerGetAttribute)(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, memory)));
    EXPECT_EQ(owner, context_);
    EXPECT_TRUE(succeeds(CU(cuMemFree)(memory)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_CONTEXT, CU(cuCtxDestroy)(converted)));
    ASSERT_TRUE(succeeds(CU(cuCtxPopCurrent)(&current)));
    EXPECT_EQ(current, converted);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_CONTEXT, CU(cuGreenCtxGetId)(nullptr, &current_id)));
    EXPECT_TRUE(succeeds(CU(cuGreenCtxDestroy)(green)));
    EXPECT_TRUE(returns(CUDA_ERROR_CONTEXT_IS_DESTROYED, CU(cuCtxSetCurrent)(converted)));
}

TEST_F(GreenContexts, streams_know_where_they_belong) {
    const CUgreenCtx green = make(group(8));
    CUstream stream = nullptr;
    CUstream plain = nullptr;
    CUcontext converted = nullptr;
    CUcontext context = nullptr;
    CUgreenCtx of_stream = nullptr;
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuGreenCtxStreamCreate)(&stream, green, 0, 0)));
    ASSERT_TRUE(succeeds(CU(cuGreenCtxStreamCreate)(&stream, green, CU_STREAM_NON_BLOCKING, -1)));
    ASSERT_TRUE(succeeds(CU(cuCtxFromGreenCtx)(&converted, green)));
    ASSERT_TRUE(succeeds(CU(cuStreamGetGreenCtx)(stream, &of_stream)));
    EXPECT_EQ(of_stream, green);
    using GetContext = CUresult(CUstream, CUcontext*);
    ASSERT_TRUE(succeeds(symbol<GetContext>("cuStreamGetCtx")(stream, &context)));
    EXPECT_EQ(context, converted);
    ASSERT_TRUE(succeeds(CU(cuStreamGetCtx_v2)(stream, &context, &of_stream)));
    EXPECT_EQ(context, context_);
    EXPECT_EQ(of_stream, green);
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&plain, CU_STREAM_NON_BLOCKING)));
    ASSERT_TRUE(succeeds(CU(cuStreamGetGreenCtx)(plain, &of_stream)));
    EXPECT_EQ(of_stream, nullptr);
    EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(plain)));

    ASSERT_TRUE(succeeds(CU(cuCtxPushCurrent)(converted)));
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&plain, CU_STREAM_DEFAULT)));
    ASSERT_TRUE(succeeds(CU(cuStreamGetGreenCtx)(plain, &of_stream)));
    EXPECT_EQ(of_stream, green) << "made while it was current";
    ASSERT_TRUE(succeeds(CU(cuStreamGetGreenCtx)(nullptr, &of_stream)));
    EXPECT_EQ(of_stream, green);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, CU(cuStreamSynchronize)(CU_STREAM_PER_THREAD)));
    EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(plain)));
    ASSERT_TRUE(succeeds(CU(cuCtxPopCurrent)(nullptr)));
    EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream)));
    EXPECT_TRUE(succeeds(CU(cuGreenCtxDestroy)(green)));
}

TEST_F(GreenContexts, kernels_of_the_primary_context_run_in_it) {
    const CUgreenCtx green = make(group(8));
    CUstream stream = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGreenCtxStreamCreate)(&stream, green, CU_STREAM_NON_BLOCKING, 0)));
    CUmodule module = nullptr;
    CUfunction touch = nullptr;
    ASSERT_TRUE(succeeds(CU(cuModuleLoadData)(&module, COUNTER_PTX)));
    ASSERT_TRUE(succeeds(CU(cuModuleGetFunction)(&touch, module, "touch")));
    CUdeviceptr memory = allocate(4);
    ASSERT_TRUE(succeeds(CU(cuMemsetD32)(memory, 0, 1)));
    void* arguments[] = {&memory};
    ASSERT_TRUE(
        succeeds(CU(cuLaunchKernel)(touch, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr)));
    ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(stream)));
    unsigned word = 0;
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoH)(&word, memory, sizeof word)));
    EXPECT_EQ(word, 1U);
    // A cooperative grid must fit into the multiprocessors of the green context.
    int blocks = 0;
    ASSERT_TRUE(succeeds(CU(cuOccupancyMaxActiveBlocksPerMultiprocessor)(&blocks, touch, 1024, 0)));
    EXPECT_TRUE(
        returns(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
                CU(cuLaunchCooperativeKernel)(touch, static_cast<unsigned>(blocks) * GROUP + 1, 1,
                                              1, 1024, 1, 1, 0, stream, arguments)));
    EXPECT_TRUE(succeeds(CU(cuModuleUnload)(module)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(memory)));
    EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream)));
    EXPECT_TRUE(succeeds(CU(cuGreenCtxDestroy)(green)));
}

TEST_F(GreenContexts, an_event_stands_for_all_its_work) {
    const CUgreenCtx first = make(group(8));
    const CUgreenCtx second = make(group(8));
    CUstream one = nullptr;
    CUstream other = nullptr;
    CUevent event = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGreenCtxStreamCreate)(&one, first, CU_STREAM_NON_BLOCKING, 0)));
    ASSERT_TRUE(succeeds(CU(cuGreenCtxStreamCreate)(&other, second, CU_STREAM_NON_BLOCKING, 0)));
    ASSERT_TRUE(succeeds(CU(cuEventCreate)(&event, CU_EVENT_DEFAULT)));
    {
        Gate gate;
        gate.block(one);
        ASSERT_TRUE(succeeds(CU(cuGreenCtxRecordEvent)(first, event)));
        EXPECT_TRUE(returns(CUDA_ERROR_NOT_READY, CU(cuEventQuery)(event)));
        ASSERT_TRUE(succeeds(CU(cuGreenCtxWaitEvent)(second, event)));
        EXPECT_TRUE(returns(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(other)));
        CUcontext converted = nullptr;
        ASSERT_TRUE(succeeds(CU(cuCtxFromGreenCtx)(&converted, second)));
        ASSERT_TRUE(succeeds(CU(cuCtxRecordEvent)(converted, event)));
    }
    EXPECT_TRUE(succeeds(CU(cuEventSynchronize)(event)));
    EXPECT_TRUE(succeeds(CU(cuStreamSynchronize)(other)));
    EXPECT_TRUE(succeeds(CU(cuEventDestroy)(event)));
    EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(one)));
    EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(other)));
    EXPECT_TRUE(succeeds(CU(cuGreenCtxDestroy)(first)));
    EXPECT_TRUE(succeeds(CU(cuGreenCtxDestroy)(second)));
}

TEST_F(GreenContexts, synchronising_one_does_not_wait_for_the_other_but_the_primary_waits_for_all) {
    const CUgreenCtx first = make(group(8));
    const CUgreenCtx second = make(group(8));
    CUstream one = nullptr;
    CUcontext converted = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGreenCtxStreamCreate)(&one, first, CU_STREAM_NON_BLOCKING, 0)));
    ASSERT_TRUE(succeeds(CU(cuCtxFromGreenCtx)(&converted, second)));
    std::atomic<bool> is_through{false};
    {
        Gate gate;
        gate.block(one);
        ASSERT_TRUE(succeeds(CU(cuCtxPushCurrent)(converted)));
        EXPECT_TRUE(succeeds(CU(cuCtxSynchronize)()));
        ASSERT_TRUE(succeeds(CU(cuCtxPopCurrent)(nullptr)));
        ASSERT_TRUE(succeeds(CU(cuLaunchHostFunc)(
            one, [](void* flag) { *static_cast<std::atomic<bool>*>(flag) = true; }, &is_through)));
        EXPECT_FALSE(is_through);
    }
    EXPECT_TRUE(succeeds(CU(cuCtxSynchronize)()));
    EXPECT_TRUE(is_through);
    EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(one)));
    EXPECT_TRUE(succeeds(CU(cuGreenCtxDestroy)(first)));
    EXPECT_TRUE(succeeds(CU(cuGreenCtxDestroy)(second)));
}

TEST_F(GreenContexts, what_is_left_of_a_destroyed_one_says_so) {
    const CUgreenCtx green = make(group(8));
    CUstream stream = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGreenCtxStreamCreate)(&stream, green, CU_STREAM_NON_BLOCKING, 0)));
    ASSERT_TRUE(succeeds(CU(cuGreenCtxDestroy)(green)));
    EXPECT_TRUE(returns(CUDA_ERROR_CONTEXT_IS_DESTROYED, CU(cuStreamSynchronize)(stream)));
    EXPECT_TRUE(returns(CUDA_ERROR_CONTEXT_IS_DESTROYED, CU(cuStreamDestroy)(stream)));
    EXPECT_TRUE(succeeds(CU(cuDevicePrimaryCtxReset)(0))); // also destroys the stream
}

TEST_F(GreenContexts, the_primary_context_waits_for_default_streams_too) {
    const CUgreenCtx green = make(group(GROUP));
    CUcontext view = nullptr;
    CUevent event = nullptr;
    CUstream stream = nullptr;
    ASSERT_TRUE(succeeds(CU(cuCtxFromGreenCtx)(&view, green)));
    ASSERT_TRUE(succeeds(CU(cuEventCreate)(&event, CU_EVENT_DISABLE_TIMING)));
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING)));
    {
        Gate gate;
        ASSERT_TRUE(succeeds(CU(cuCtxSetCurrent)(view)));
        gate.block(nullptr); // in the green context's own default stream
        ASSERT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
        EXPECT_TRUE(succeeds(CU(cuCtxRecordEvent)(context_, event)));
        EXPECT_TRUE(returns(CUDA_ERROR_NOT_READY, CU(cuEventQuery)(event)));
        EXPECT_TRUE(succeeds(CU(cuStreamQuery)(stream))) << "others go on";
    }
    EXPECT_TRUE(succeeds(CU(cuEventSynchronize)(event)));
    std::atomic<bool> is_done{false};
    ASSERT_TRUE(succeeds(CU(cuCtxSetCurrent)(view)));
    EXPECT_TRUE(succeeds(CU(cuLaunchHostFunc)(
        nullptr,
        [](void* done) {
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            static_cast<std::atomic<bool>*>(done)->store(true);
        },
        &is_done)));
    ASSERT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
    EXPECT_TRUE(succeeds(CU(cuCtxSynchronize)()));
    EXPECT_TRUE(is_done.load());
    {
        Gate gate;
        gate.block(stream);
        EXPECT_TRUE(succeeds(CU(cuEventRecord)(event, stream)));
        EXPECT_TRUE(succeeds(CU(cuCtxWaitEvent)(context_, event)));
        ASSERT_TRUE(succeeds(CU(cuCtxSetCurrent)(view)));
        EXPECT_TRUE(returns(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(nullptr)));
        ASSERT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
    }
    EXPECT_TRUE(succeeds(CU(cuCtxSynchronize)()));
    EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream)));
    EXPECT_TRUE(succeeds(CU(cuEventDestroy)(event)));
    EXPECT_TRUE(succeeds(CU(cuGreenCtxDestroy)(green)));
}
