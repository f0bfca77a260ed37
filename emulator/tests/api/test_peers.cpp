// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What kernels of one device may do with the memory of another device.

#include "api/driver.hpp"
#include "api/kernels.hpp"
#include "api/peer.hpp"

#include <cstdlib>
#include <cstring>
#include <string>

using namespace cuprum::emulator::test;

namespace {

const bool is_set_up = ::setenv("CUPRUM_EMULATOR_DEVICES", "2", 1) == 0 &&
                       ::setenv("CUPRUM_EMULATOR_LOG", "off", 1) == 0;

constexpr CUmemLocation FIRST{CU_MEM_LOCATION_TYPE_DEVICE, 0};
constexpr CUmemLocation SECOND{CU_MEM_LOCATION_TYPE_DEVICE, 1};

} // namespace

/// The memory belongs to device 0's primary context. The kernels run on device 1.
class Peers : public DriverTest {
protected:
    void SetUp() override {
        ASSERT_TRUE(is_set_up);
        DriverTest::SetUp();
    }

    /// Writes through a pointer in a kernel of device 1, in a separate context. Returns the result
    /// of that context. `prepare` is called with the context current.
    template <typename Prepare>
    CUresult write_on_second(CUdeviceptr address, Prepare prepare) {
        CUcontext context = nullptr;
        CUmodule module = nullptr;
        CUfunction touch = nullptr;
        EXPECT_TRUE(succeeds(CU(cuCtxCreate)(&context, nullptr, 0, 1)));
        prepare();
        EXPECT_TRUE(succeeds(CU(cuModuleLoadData)(&module, COUNTER_PTX)));
        EXPECT_TRUE(succeeds(CU(cuModuleGetFunction)(&touch, module, "touch")));
        void* arguments[] = {&address};
        EXPECT_TRUE(
            succeeds(CU(cuLaunchKernel)(touch, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr)));
        const CUresult result = CU(cuCtxSynchronize)();
        EXPECT_TRUE(succeeds(CU(cuCtxDestroy)(context)));
        EXPECT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
        return result;
    }

    CUresult write_on_second(CUdeviceptr address) {
        return write_on_second(address, [] {});
    }
};

TEST_F(Peers, memory_of_another_device_is_out_of_reach_until_access_is_enabled) {
    const CUdeviceptr memory = allocate(64);
    const auto enable = [&] {
        EXPECT_TRUE(succeeds(CU(cuCtxEnablePeerAccess)(context_, 0)));
        EXPECT_TRUE(returns(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED,
                            CU(cuCtxEnablePeerAccess)(context_, 0)));
    };
    EXPECT_TRUE(returns(CUDA_ERROR_ILLEGAL_ADDRESS, write_on_second(memory)));
    EXPECT_TRUE(succeeds(write_on_second(memory, enable)));
    EXPECT_TRUE(returns(CUDA_ERROR_ILLEGAL_ADDRESS, write_on_second(memory)))
        << "the context that had access is gone";
    EXPECT_TRUE(returns(CUDA_ERROR_ILLEGAL_ADDRESS, write_on_second(memory, [&] {
                            enable();
                            EXPECT_TRUE(succeeds(CU(cuCtxDisablePeerAccess)(context_)));
                        })));
    unsigned word = 0;
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoH)(&word, memory, sizeof word)));
    EXPECT_EQ(word, 1U);
    EXPECT_TRUE(succeeds(CU(cuMemFree)(memory)));
}

TEST_F(Peers, a_fault_says_whose_memory_it_is) {
    const CUdeviceptr memory = allocate(64);
    std::string text;
    CUlogsCallbackHandle handle = nullptr;
    ASSERT_TRUE(succeeds(CU(cuLogsRegisterCallback)(
        [](void* kept, CUlogLevel, char* message, std::size_t length) {
            *static_cast<std::string*>(kept) += std::string(message, length) + "\n";
        },
        &text, &handle)));
    EXPECT_TRUE(returns(CUDA_ERROR_ILLEGAL_ADDRESS, write_on_second(memory)));
    EXPECT_TRUE(succeeds(CU(cuLogsUnregisterCallback)(handle)));
    EXPECT_NE(text.find("memory of device 0, to which device 1 has no access: "
                        "cuCtxEnablePeerAccess was not called"),
              std::string::npos)
        << text;
    EXPECT_TRUE(succeeds(CU(cuMemFree)(memory)));
}

TEST_F(Peers, time_between_events_of_two_devices_is_not_known) {
    CUcontext other = nullptr;
    CUevent first = nullptr;
    CUevent second = nullptr;
    float milliseconds = 0;
    ASSERT_TRUE(succeeds(CU(cuEventCreate)(&first, CU_EVENT_DEFAULT)));
    ASSERT_TRUE(succeeds(CU(cuEventRecord)(first, nullptr)));
    ASSERT_TRUE(succeeds(CU(cuEventSynchronize)(first)));
    ASSERT_TRUE(succeeds(CU(cuCtxCreate)(&other, nullptr, 0, 1)));
    ASSERT_TRUE(succeeds(CU(cuEventCreate)(&second, CU_EVENT_DEFAULT)));
    ASSERT_TRUE(succeeds(CU(cuEventRecord)(second, nullptr)));
    ASSERT_TRUE(succeeds(CU(cuEventSynchronize)(second)));
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_HANDLE, CU(cuEventElapsedTime)(&milliseconds, first, second)));
    EXPECT_TRUE(succeeds(CU(cuEventElapsedTime)(&milliseconds, second, second)));
    EXPECT_TRUE(succeeds(CU(cuCtxDestroy)(other)));
    EXPECT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
    EXPECT_TRUE(succeeds(CU(cuEventDestroy)(first)));
}

TEST_F(Peers, memory_made_after_access_was_enabled_is_in_reach) {
    CUdeviceptr later = 0;
    CUdeviceptr place = 0;
    const CUdeviceptr earlier = allocate(64);
    EXPECT_TRUE(succeeds(write_on_second(earlier, [&] {
        EXPECT_TRUE(succeeds(CU(cuCtxEnablePeerAccess)(context_, 0)));
        CUcontext own = nullptr;
        EXPECT_TRUE(succeeds(CU(cuCtxGetCurrent)(&own)));
        EXPECT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
        later = allocate(64);
        EXPECT_TRUE(succeeds(CU(cuCtxSetCurrent)(own)));
        CUmodule module = nullptr;
        CUfunction touch = nullptr;
        EXPECT_TRUE(succeeds(CU(cuModuleLoadData)(&module, COUNTER_PTX)));
        EXPECT_TRUE(succeeds(CU(cuModuleGetFunction)(&touch, module, "touch")));
        place = later;
        void* arguments[] = {&place};
        EXPECT_TRUE(
            succeeds(CU(cuLaunchKernel)(touch, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr)));
        EXPECT_TRUE(succeeds(CU(cuCtxSynchronize)()));
    })));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(earlier)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(later)));
}

TEST_F(Peers, host_and_managed_memory_are_in_reach_of_all) {
    void* pinned = nullptr;
    CUdeviceptr managed = 0;
    ASSERT_TRUE(succeeds(CU(cuMemAllocHost)(&pinned, 64)));
    ASSERT_TRUE(succeeds(CU(cuMemAllocManaged)(&managed, 64, CU_MEM_ATTACH_GLOBAL)));
    EXPECT_TRUE(succeeds(write_on_second(reinterpret_cast<CUdeviceptr>(pinned))));
    EXPECT_TRUE(succeeds(write_on_second(managed)));
    EXPECT_TRUE(succeeds(CU(cuMemFreeHost)(pinned)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(managed)));
}

TEST_F(Peers, a_pool_grants_access_itself) {
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = FIRST;
    CUmemoryPool pool = nullptr;
    CUdeviceptr memory = 0;
    CUdeviceptr later = 0;
    ASSERT_TRUE(succeeds(CU(cuMemPoolCreate)(&pool, &properties)));
    ASSERT_TRUE(succeeds(CU(cuMemAllocFromPoolAsync)(&memory, 64, pool, nullptr)));
    EXPECT_TRUE(returns(
        CUDA_ERROR_ILLEGAL_ADDRESS,
        write_on_second(memory,
                        [&] { EXPECT_TRUE(succeeds(CU(cuCtxEnablePeerAccess)(context_, 0))); })))
        << "enabling peers does not concern pools";
    CUmemAccessDesc access{SECOND, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    ASSERT_TRUE(succeeds(CU(cuMemPoolSetAccess)(pool, &access, 1)));
    ASSERT_TRUE(succeeds(CU(cuMemAllocFromPoolAsync)(&later, 64, pool, nullptr)));
    EXPECT_TRUE(succeeds(write_on_second(memory)));
    EXPECT_TRUE(succeeds(write_on_second(later)));
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    ASSERT_TRUE(succeeds(CU(cuMemPoolSetAccess)(pool, &access, 1)));
    EXPECT_TRUE(returns(CUDA_ERROR_ILLEGAL_ADDRESS, write_on_second(memory)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(memory)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(later)));
    EXPECT_TRUE(succeeds(CU(cuMemPoolDestroy)(pool)));
}

TEST_F(Peers, copies_reach_a_pool_that_grants_access) {
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = FIRST;
    CUmemoryPool pool = nullptr;
    CUdeviceptr memory = 0;
    CUdeviceptr other = 0;
    CUcontext context = nullptr;
    ASSERT_TRUE(succeeds(CU(cuMemPoolCreate)(&pool, &properties)));
    ASSERT_TRUE(succeeds(CU(cuMemAllocFromPoolAsync)(&memory, 64, pool, nullptr)));
    ASSERT_TRUE(succeeds(CU(cuMemsetD8)(memory, 7, 64)));
    ASSERT_TRUE(succeeds(CU(cuCtxSynchronize)()));
    ASSERT_TRUE(succeeds(CU(cuCtxCreate)(&context, nullptr, 0, 1)));
    ASSERT_TRUE(succeeds(CU(cuMemAlloc)(&other, 64)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpy)(other, memory, 64)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpy)(memory, other, 64)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemsetD8)(memory, 1, 64)));
    EXPECT_TRUE(succeeds(CU(cuMemcpyPeer)(other, context, memory, context_, 64)))
        << "needs no access: it names both contexts";
    const CUmemAccessDesc access{SECOND, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    ASSERT_TRUE(succeeds(CU(cuMemPoolSetAccess)(pool, &access, 1)));
    EXPECT_TRUE(succeeds(CU(cuMemcpy)(other, memory, 64)));
    unsigned char first = 0;
    EXPECT_TRUE(succeeds(CU(cuMemcpyDtoH)(&first, other, 1)));
    EXPECT_EQ(first, 7);
    EXPECT_TRUE(succeeds(CU(cuCtxDestroy)(context)));
    EXPECT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(memory)));
    EXPECT_TRUE(succeeds(CU(cuMemPoolDestroy)(pool)));
}

TEST_F(Peers, a_copy_may_use_what_the_current_device_has_access_to) {
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = FIRST;
    CUmemoryPool pool = nullptr;
    CUdeviceptr from = 0;
    CUdeviceptr to = 0;
    CUstream stream = nullptr;
    CUcontext second = nullptr;
    ASSERT_TRUE(succeeds(CU(cuMemPoolCreate)(&pool, &properties)));
    ASSERT_TRUE(succeeds(CU(cuMemAllocFromPoolAsync)(&from, 64, pool, nullptr)));
    ASSERT_TRUE(succeeds(CU(cuMemsetD8)(from, 7, 64)));
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING)));
    ASSERT_TRUE(succeeds(CU(cuCtxSynchronize)()));
    ASSERT_TRUE(succeeds(CU(cuCtxCreate)(&second, nullptr, 0, 1)));
    ASSERT_TRUE(succeeds(CU(cuMemAllocAsync)(&to, 64, nullptr)));
    // The stream belongs to the first device, which has no access to the second device's pool.
    const auto copy = [&] { return CU(cuMemcpyAsync)(to, from, 64, stream); };
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, copy()));
    CUmemAccessDesc access{SECOND, CU_MEM_ACCESS_FLAGS_PROT_READ};
    ASSERT_TRUE(succeeds(CU(cuMemPoolSetAccess)(pool, &access, 1)));
    EXPECT_TRUE(succeeds(copy()));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyAsync)(from, to, 64, nullptr)))
        << "the second device may only read";
    ASSERT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, copy()));
    ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(stream)));
    ASSERT_TRUE(succeeds(CU(cuCtxSetCurrent)(second)));
    unsigned char first = 0;
    EXPECT_TRUE(succeeds(CU(cuMemcpyDtoH)(&first, to, 1)));
    EXPECT_EQ(first, 7);
    EXPECT_TRUE(succeeds(CU(cuMemFree)(to)));
    EXPECT_TRUE(succeeds(CU(cuCtxDestroy)(second)));
    EXPECT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(from)));
    EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream)));
    EXPECT_TRUE(succeeds(CU(cuMemPoolDestroy)(pool)));
}

TEST_F(Peers, mapped_memory_is_in_reach_of_those_it_was_opened_to) {
    constexpr std::size_t bytes = 2 << 20;
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = FIRST;
    CUmemGenericAllocationHandle handle = 0;
    CUdeviceptr address = 0;
    ASSERT_TRUE(succeeds(CU(cuMemCreate)(&handle, bytes, &properties, 0)));
    ASSERT_TRUE(succeeds(CU(cuMemAddressReserve)(&address, bytes, 0, 0, 0)));
    ASSERT_TRUE(succeeds(CU(cuMemMap)(address, bytes, 0, handle, 0)));
    EXPECT_TRUE(returns(CUDA_ERROR_ILLEGAL_ADDRESS, write_on_second(address)));
    CUmemAccessDesc access{FIRST, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    ASSERT_TRUE(succeeds(CU(cuMemSetAccess)(address, bytes, &access, 1)));
    EXPECT_TRUE(returns(CUDA_ERROR_ILLEGAL_ADDRESS, write_on_second(address)));
    access.location = SECOND;
    ASSERT_TRUE(succeeds(CU(cuMemSetAccess)(address, bytes, &access, 1)));
    EXPECT_TRUE(succeeds(write_on_second(address)));
    EXPECT_TRUE(succeeds(CU(cuMemUnmap)(address, bytes)));
    EXPECT_TRUE(succeeds(CU(cuMemRelease)(handle)));
    EXPECT_TRUE(succeeds(CU(cuMemAddressFree)(address, bytes)));
}

TEST_F(Peers, copies_between_devices_need_no_access) {
    const CUdeviceptr here = allocate(64);
    ASSERT_TRUE(succeeds(CU(cuMemsetD32)(here, 9, 16)));
    CUcontext context = nullptr;
    CUdeviceptr there = 0;
    ASSERT_TRUE(succeeds(CU(cuCtxCreate)(&context, nullptr, 0, 1)));
    ASSERT_TRUE(succeeds(CU(cuMemAlloc)(&there, 64)));
    ASSERT_TRUE(succeeds(CU(cuMemcpyPeer)(there, context, here, context_, 64)));
    unsigned word = 0;
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoH)(&word, there, sizeof word)));
    EXPECT_EQ(word, 9U);
    EXPECT_TRUE(succeeds(CU(cuCtxDestroy)(context)));
    ASSERT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(here)));
}

TEST_F(Peers, a_context_is_no_peer_of_itself_nor_of_others_on_its_device) {
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_CONTEXT, CU(cuCtxEnablePeerAccess)(context_, 0)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_CONTEXT, CU(cuCtxEnablePeerAccess)(nullptr, 0)));
    CUcontext other = nullptr;
    ASSERT_TRUE(succeeds(CU(cuCtxCreate)(&other, nullptr, 0, 0)));
    EXPECT_TRUE(
        returns(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, CU(cuCtxEnablePeerAccess)(context_, 0)));
    EXPECT_TRUE(succeeds(CU(cuCtxDestroy)(other)));
    EXPECT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
}

TEST_F(Peers, access_ends_with_the_context_whose_memory_it_was) {
    CUcontext user = nullptr;
    CUcontext owner = nullptr;
    ASSERT_TRUE(succeeds(CU(cuCtxCreate)(&owner, nullptr, 0, 0)));
    ASSERT_TRUE(succeeds(CU(cuCtxCreate)(&user, nullptr, 0, 1)));
    EXPECT_TRUE(succeeds(CU(cuCtxEnablePeerAccess)(owner, 0)));
    EXPECT_TRUE(succeeds(CU(cuCtxDestroy)(owner)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_CONTEXT, CU(cuCtxDisablePeerAccess)(owner)));
    EXPECT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
    const CUdeviceptr memory = allocate(64);
    EXPECT_TRUE(returns(CUDA_ERROR_ILLEGAL_ADDRESS, write_on_second(memory)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(memory)));
    EXPECT_TRUE(succeeds(CU(cuCtxDestroy)(user)));
    EXPECT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
}

TEST_F(Peers, a_pointer_tells_what_the_current_device_may_do_with_it) {
    const auto flags_of = [](CUdeviceptr address) {
        int flags = -1;
        EXPECT_TRUE(succeeds(
            CU(cuPointerGetAttribute)(&flags, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, address)));
        return flags;
    };
    const CUdeviceptr plain = allocate(64);
    CUdeviceptr pooled = 0;
    CUcontext second = nullptr;
    ASSERT_TRUE(succeeds(CU(cuMemAllocAsync)(&pooled, 64, nullptr)));
    EXPECT_EQ(flags_of(plain), CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
    EXPECT_EQ(flags_of(pooled), CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
    ASSERT_TRUE(succeeds(CU(cuCtxCreate)(&second, nullptr, 0, 1)));
    EXPECT_EQ(flags_of(plain), CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE);
    EXPECT_EQ(flags_of(pooled), CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE);
    EXPECT_TRUE(succeeds(CU(cuCtxEnablePeerAccess)(context_, 0)));
    EXPECT_EQ(flags_of(plain), CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
    EXPECT_EQ(flags_of(pooled), CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE);
    CUmemoryPool pool = nullptr;
    CUmemAccessDesc grant{SECOND, CU_MEM_ACCESS_FLAGS_PROT_READ};
    ASSERT_TRUE(succeeds(CU(cuDeviceGetDefaultMemPool)(&pool, 0)));
    EXPECT_TRUE(succeeds(CU(cuMemPoolSetAccess)(pool, &grant, 1)));
    EXPECT_EQ(flags_of(pooled), CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READ);
    grant.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    EXPECT_TRUE(succeeds(CU(cuMemPoolSetAccess)(pool, &grant, 1)));
    EXPECT_TRUE(succeeds(CU(cuCtxDestroy)(second)));
    EXPECT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
    EXPECT_TRUE(succeeds(CU(cuMemFreeAsync)(pooled, nullptr)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(plain)));
    int partial = -1;
    EXPECT_TRUE(succeeds(CU(cuDeviceGetP2PAttribute)(
        &partial, CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED, 0, 1)));
    EXPECT_EQ(partial, 0);
}

TEST_F(Peers, a_pool_can_be_given_to_another_device_for_reading_only) {
    CUmemoryPool pool = nullptr;
    CUmemAccessDesc grant{SECOND, CU_MEM_ACCESS_FLAGS_PROT_READ};
    CUdeviceptr before = 0;
    CUdeviceptr after = 0;
    CUcontext second = nullptr;
    unsigned word = 0;
    ASSERT_TRUE(succeeds(CU(cuDeviceGetDefaultMemPool)(&pool, 0)));
    ASSERT_TRUE(succeeds(CU(cuMemAllocAsync)(&before, 64, nullptr)));
    ASSERT_TRUE(succeeds(CU(cuMemsetD32)(before, 9, 16)));
    ASSERT_TRUE(succeeds(CU(cuMemPoolSetAccess)(pool, &grant, 1)));
    ASSERT_TRUE(succeeds(CU(cuMemAllocAsync)(&after, 64, nullptr)));
    ASSERT_TRUE(succeeds(CU(cuCtxSynchronize)()));
    EXPECT_TRUE(returns(CUDA_ERROR_ILLEGAL_ADDRESS, write_on_second(before)));
    EXPECT_TRUE(returns(CUDA_ERROR_ILLEGAL_ADDRESS, write_on_second(after)));

    ASSERT_TRUE(succeeds(CU(cuCtxCreate)(&second, nullptr, 0, 1)));
    EXPECT_TRUE(succeeds(CU(cuMemcpyDtoH)(&word, before, sizeof word)));
    EXPECT_EQ(word, 9U);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyHtoD)(before, &word, sizeof word)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemsetD32)(after, 1, 16)));
    EXPECT_TRUE(succeeds(CU(cuMemcpyPeer)(before, context_, after, context_, 16)))
        << "the contexts named do it";
    EXPECT_TRUE(succeeds(CU(cuCtxSynchronize)()));
    EXPECT_TRUE(succeeds(CU(cuCtxDestroy)(second)));
    EXPECT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
    EXPECT_TRUE(succeeds(CU(cuMemsetD32)(before, 1, 16))) << "its own device still writes";

    grant.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    ASSERT_TRUE(succeeds(CU(cuMemPoolSetAccess)(pool, &grant, 1)));
    EXPECT_TRUE(succeeds(write_on_second(before)));
    EXPECT_TRUE(succeeds(CU(cuMemFreeAsync)(before, nullptr)));
    EXPECT_TRUE(succeeds(CU(cuMemFreeAsync)(after, nullptr)));
    grant.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    ASSERT_TRUE(succeeds(CU(cuMemPoolSetAccess)(pool, &grant, 1)));
}

TEST_F(Peers, a_block_that_is_used_again_is_open_to_those_who_have_access_now) {
    CUmemoryPool pool = nullptr;
    CUmemAccessDesc grant{SECOND, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUdeviceptr first = 0;
    CUdeviceptr again = 0;
    CUstream stream = nullptr;
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING)));
    ASSERT_TRUE(succeeds(CU(cuDeviceGetDefaultMemPool)(&pool, 0)));
    ASSERT_TRUE(succeeds(CU(cuMemPoolSetAccess)(pool, &grant, 1)));
    ASSERT_TRUE(succeeds(CU(cuMemAllocAsync)(&first, 64, stream)));
    {
        Gate gate;
        gate.block(stream);
        ASSERT_TRUE(succeeds(CU(cuMemFreeAsync)(first, stream)));
        grant.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
        ASSERT_TRUE(succeeds(CU(cuMemPoolSetAccess)(pool, &grant, 1)));
        ASSERT_TRUE(succeeds(CU(cuMemAllocAsync)(&again, 64, stream)));
    }
    ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(stream)));
    EXPECT_EQ(again, first) << "else the test shows nothing";
    EXPECT_TRUE(returns(CUDA_ERROR_ILLEGAL_ADDRESS, write_on_second(again)));
    EXPECT_TRUE(succeeds(CU(cuMemFreeAsync)(again, stream)));
    EXPECT_TRUE(succeeds(CU(cuStreamSynchronize)(stream)));
    EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream)));
}

TEST_F(Peers, memory_of_another_process_is_in_reach_of_every_device_that_opens_it) {
    Peer peer;
    const Message made = peer.ask(Request::MakeMemory);
    ASSERT_TRUE(succeeds(made.result));
    CUipcMemHandle handle{};
    std::memcpy(&handle, made.data.data(), sizeof handle);
    CUdeviceptr memory = 0;
    const auto open = [&] {
        EXPECT_TRUE(
            succeeds(CU(cuIpcOpenMemHandle)(&memory, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)));
    };
    open();
    EXPECT_TRUE(returns(CUDA_ERROR_ILLEGAL_ADDRESS, write_on_second(memory)));
    EXPECT_TRUE(succeeds(write_on_second(memory, open)));
    EXPECT_EQ(peer.ask(Request::Read).value, 1U);
    EXPECT_TRUE(succeeds(CU(cuIpcCloseMemHandle)(memory)));
    EXPECT_TRUE(succeeds(CU(cuIpcCloseMemHandle)(memory)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuIpcCloseMemHandle)(memory)));
}

TEST_F(Peers, an_imported_pool_can_be_given_to_another_device_for_reading_only) {
    constexpr auto by_descriptor = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    Peer peer;
    const Message made = peer.ask(Request::MakePool, 33);
    ASSERT_TRUE(succeeds(made.result));
    CUmemoryPool pool = nullptr;
    const auto descriptor = static_cast<std::intptr_t>(made.descriptor);
    ASSERT_TRUE(succeeds(CU(cuMemPoolImportFromShareableHandle)(
        &pool, reinterpret_cast<void*>(descriptor), by_descriptor, 0)));
    ::close(made.descriptor);
    const Message exported = peer.ask(Request::ExportPointer);
    ASSERT_TRUE(succeeds(exported.result));
    CUmemPoolPtrExportData data{};
    std::memcpy(&data, exported.data.data(), sizeof data);
    CUmemAccessDesc grant{SECOND, CU_MEM_ACCESS_FLAGS_PROT_READ};
    ASSERT_TRUE(succeeds(CU(cuMemPoolSetAccess)(pool, &grant, 1)));
    CUdeviceptr memory = 0;
    ASSERT_TRUE(succeeds(CU(cuMemPoolImportPointer)(&memory, pool, &data)));
    EXPECT_TRUE(returns(CUDA_ERROR_ILLEGAL_ADDRESS, write_on_second(memory)));
    EXPECT_EQ(peer.ask(Request::Read).value, 33U) << "nothing was written";
    grant.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    ASSERT_TRUE(succeeds(CU(cuMemPoolSetAccess)(pool, &grant, 1)));
    EXPECT_TRUE(succeeds(write_on_second(memory)));
    EXPECT_EQ(peer.ask(Request::Read).value, 1U);
    EXPECT_TRUE(succeeds(CU(cuMemFree)(memory)));
    EXPECT_TRUE(succeeds(CU(cuMemPoolDestroy)(pool)));
}
