// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Memory and semaphores that are imported by file descriptors.

#include "graphs/graph_test.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <string>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <vector>

using namespace cuprum::emulator::test;

namespace {

constexpr std::size_t BYTES = 2 << 20;

/// A file without a name, mapped by the test as another program would map it.
class AnonymousFile {
public:
    explicit AnonymousFile(std::size_t bytes)
        : descriptor_(::memfd_create("test", MFD_CLOEXEC)), bytes_(bytes) {
        EXPECT_EQ(::ftruncate(descriptor_, static_cast<off_t>(bytes)), 0);
        data_ = static_cast<unsigned char*>(
            ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0));
    }

    ~AnonymousFile() {
        ::munmap(data_, bytes_);
        ::close(descriptor_);
    }

    AnonymousFile(const AnonymousFile&) = delete;
    AnonymousFile& operator=(const AnonymousFile&) = delete;

    [[nodiscard]] int copy() const { return ::dup(descriptor_); }

    [[nodiscard]] unsigned char* data() const { return data_; }

private:
    int descriptor_;
    std::size_t bytes_;
    unsigned char* data_;
};

CUresult import_memory(CUexternalMemory* out, int descriptor, std::size_t bytes,
                       CUexternalMemoryHandleType type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
                       unsigned flags = 0) {
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC description{};
    description.type = type;
    description.handle.fd = descriptor;
    description.size = bytes;
    description.flags = flags;
    return CU(cuImportExternalMemory)(out, &description);
}

CUresult map_buffer(CUdeviceptr* out, CUexternalMemory memory, std::size_t offset,
                    std::size_t bytes, unsigned flags = 0) {
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC description{};
    description.offset = offset;
    description.size = bytes;
    description.flags = flags;
    return CU(cuExternalMemoryGetMappedBuffer)(out, memory, &description);
}

CUresult import_semaphore(CUexternalSemaphore* out, int descriptor,
                          CUexternalSemaphoreHandleType type, unsigned flags = 0) {
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC description{};
    description.type = type;
    description.handle.fd = descriptor;
    description.flags = flags;
    return CU(cuImportExternalSemaphore)(out, &description);
}

constexpr auto BINARY = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD;
constexpr auto TIMELINE = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD;

CUresult signal(CUexternalSemaphore semaphore, unsigned long long value, CUstream stream) {
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS item{};
    item.params.fence.value = value;
    return CU(cuSignalExternalSemaphoresAsync)(&semaphore, &item, 1, stream);
}

CUresult wait(CUexternalSemaphore semaphore, unsigned long long value, CUstream stream) {
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS item{};
    item.params.fence.value = value;
    return CU(cuWaitExternalSemaphoresAsync)(&semaphore, &item, 1, stream);
}

/// Returns how many descriptors the process has open.
std::size_t open_descriptors() {
    std::size_t count = 0;
    for (int number = 0; number < 256; ++number) {
        count += ::fcntl(number, F_GETFD) >= 0 ? 1 : 0;
    }
    return count;
}

class ExternalMemory : public DriverTest {};

class ExternalSemaphores : public DriverTest {
protected:
    void SetUp() override {
        DriverTest::SetUp();
        ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream_, CU_STREAM_NON_BLOCKING)));
        event_ = ::eventfd(0, EFD_CLOEXEC);
        ASSERT_TRUE(succeeds(import_semaphore(&binary_, ::dup(event_), BINARY)));
        ASSERT_TRUE(succeeds(import_semaphore(&timeline_, counter_file_.copy(), TIMELINE)));
    }

    void TearDown() override {
        EXPECT_TRUE(succeeds(CU(cuDestroyExternalSemaphore)(binary_)));
        EXPECT_TRUE(succeeds(CU(cuDestroyExternalSemaphore)(timeline_)));
        EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream_)));
        ::close(event_);
        DriverTest::TearDown();
    }

    [[nodiscard]] std::atomic_ref<std::uint64_t> counter() const {
        return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(counter_file_.data()));
    }

    [[nodiscard]] bool is_signalled() const {
        pollfd request{event_, POLLIN, 0};
        return ::poll(&request, 1, 0) == 1;
    }

    CUstream stream_ = nullptr;
    int event_ = -1;
    AnonymousFile counter_file_{4096};
    CUexternalSemaphore binary_ = nullptr;
    CUexternalSemaphore timeline_ = nullptr;
};

} // namespace

TEST_F(ExternalMemory, of_an_anonymous_file_is_the_same_memory) {
    const std::size_t before = open_descriptors();
    const AnonymousFile file(BYTES);
    CUexternalMemory memory = nullptr;
    ASSERT_TRUE(succeeds(import_memory(&memory, file.copy(), BYTES)));
    CUdeviceptr whole = 0;
    CUdeviceptr part = 0;
    ASSERT_TRUE(succeeds(map_buffer(&whole, memory, 0, BYTES)));
    ASSERT_TRUE(succeeds(map_buffer(&part, memory, 5000, 100)));
    ASSERT_TRUE(succeeds(CU(cuMemsetD8)(part, 7, 100)));
    EXPECT_EQ(file.data()[4999], 0);
    EXPECT_EQ(file.data()[5000], 7);
    EXPECT_EQ(file.data()[5099], 7);
    EXPECT_EQ(file.data()[5100], 0);
    file.data()[0] = 9;
    unsigned char seen[5001] = {};
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoH)(seen, whole, sizeof seen)));
    EXPECT_EQ(seen[0], 9);
    EXPECT_EQ(seen[5000], 7);
    CUdeviceptr base = 0;
    std::size_t bytes = 0;
    ASSERT_TRUE(succeeds(CU(cuMemGetAddressRange)(&base, &bytes, part + 50)));
    EXPECT_EQ(base, part);
    EXPECT_EQ(bytes, 100U);
    // Buffers stay until they are freed.
    EXPECT_TRUE(succeeds(CU(cuDestroyExternalMemory)(memory)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, CU(cuDestroyExternalMemory)(memory)));
    ASSERT_TRUE(succeeds(CU(cuMemsetD8)(part, 8, 1)));
    EXPECT_EQ(file.data()[5000], 8);
    EXPECT_TRUE(succeeds(CU(cuMemFree)(part)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(whole)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemsetD8)(part, 8, 1)));
    EXPECT_EQ(open_descriptors(), before + 1) << "the import closes its descriptor";
}

TEST_F(ExternalMemory, of_an_emulated_device_is_imported_as_opaque_descriptor) {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CUmemGenericAllocationHandle physical = 0;
    ASSERT_TRUE(succeeds(CU(cuMemCreate)(&physical, BYTES, &properties, 0)));
    int descriptor = -1;
    ASSERT_TRUE(succeeds(CU(cuMemExportToShareableHandle)(
        &descriptor, physical, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0)));
    CUexternalMemory memory = nullptr;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, import_memory(&memory, descriptor, BYTES + 1)));
    ASSERT_TRUE(succeeds(import_memory(&memory, descriptor, BYTES)));
    CUdeviceptr external = 0;
    ASSERT_TRUE(succeeds(map_buffer(&external, memory, 0, BYTES)));

    CUdeviceptr mapped = 0;
    ASSERT_TRUE(succeeds(CU(cuMemAddressReserve)(&mapped, BYTES, 0, 0, 0)));
    ASSERT_TRUE(succeeds(CU(cuMemMap)(mapped, BYTES, 0, physical, 0)));
    const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                 CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    ASSERT_TRUE(succeeds(CU(cuMemSetAccess)(mapped, BYTES, &access, 1)));
    ASSERT_TRUE(succeeds(CU(cuMemsetD32)(mapped + 8, 0xC0FFEE, 1)));
    unsigned seen = 0;
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoH)(&seen, external + 8, sizeof seen)));
    EXPECT_EQ(seen, 0xC0FFEEU);
    EXPECT_TRUE(succeeds(CU(cuMemFree)(external)));
    EXPECT_TRUE(succeeds(CU(cuDestroyExternalMemory)(memory)));
    EXPECT_TRUE(succeeds(CU(cuMemUnmap)(mapped, BYTES)));
    EXPECT_TRUE(succeeds(CU(cuMemAddressFree)(mapped, BYTES)));
    EXPECT_TRUE(succeeds(CU(cuMemRelease)(physical)));
}

TEST_F(ExternalMemory, bad_input_is_refused_and_the_descriptor_stays_open) {
    const AnonymousFile file(BYTES);
    const int descriptor = file.copy();
    CUexternalMemory memory = nullptr;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, import_memory(&memory, descriptor, 0)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, import_memory(&memory, descriptor, BYTES + 1)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, import_memory(&memory, -1, BYTES)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, import_memory(&memory, 999, BYTES)));
    EXPECT_TRUE(returns(
        CUDA_ERROR_INVALID_VALUE,
        import_memory(&memory, descriptor, BYTES, CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD, 2)));
    EXPECT_TRUE(returns(
        CUDA_ERROR_NOT_SUPPORTED,
        import_memory(&memory, descriptor, BYTES, CU_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_HEAP)));
    EXPECT_TRUE(returns(
        CUDA_ERROR_INVALID_VALUE,
        import_memory(&memory, descriptor, BYTES, static_cast<CUexternalMemoryHandleType>(77))));
    const int pipe_like = ::eventfd(0, 0);
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_SUPPORTED, import_memory(&memory, pipe_like, BYTES)))
        << "it cannot be mapped";
    ::close(pipe_like);
    EXPECT_GE(::fcntl(descriptor, F_GETFD), 0) << "a failed import leaves the descriptor alone";

    ASSERT_TRUE(succeeds(import_memory(&memory, descriptor, BYTES)));
    CUdeviceptr address = 0;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, map_buffer(&address, memory, 0, 0)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, map_buffer(&address, memory, 0, BYTES + 1)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, map_buffer(&address, memory, BYTES, 1)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, map_buffer(&address, memory, ~0ULL, 2)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, map_buffer(&address, memory, 0, 16, 1)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, map_buffer(&address, nullptr, 0, 16)));
    EXPECT_TRUE(succeeds(CU(cuDestroyExternalMemory)(memory)));
}

TEST_F(ExternalSemaphores, a_signal_is_seen_by_others) {
    EXPECT_FALSE(is_signalled());
    ASSERT_TRUE(succeeds(signal(binary_, 0, stream_)));
    ASSERT_TRUE(succeeds(signal(timeline_, 5, stream_)));
    ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_)));
    EXPECT_TRUE(is_signalled());
    EXPECT_EQ(counter().load(), 5U);
    ASSERT_TRUE(succeeds(signal(timeline_, 3, stream_)));
    ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_)));
    EXPECT_EQ(counter().load(), 5U) << "a timeline never goes back";
}

TEST_F(ExternalSemaphores, a_stream_waits_for_others) {
    const CUdeviceptr word = allocate(4);
    ASSERT_TRUE(succeeds(CU(cuMemsetD32)(word, 1, 1)));
    ASSERT_TRUE(succeeds(wait(timeline_, 7, stream_)));
    ASSERT_TRUE(succeeds(wait(binary_, 0, stream_)));
    ASSERT_TRUE(succeeds(CU(cuMemsetD32Async)(word, 2, 1, stream_)));
    counter().store(6);
    const std::uint64_t one = 1;
    ASSERT_EQ(::write(event_, &one, sizeof one), static_cast<ssize_t>(sizeof one));
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(stream_)));
    unsigned seen = 0;
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoH)(&seen, word, sizeof seen)));
    EXPECT_EQ(seen, 1U) << "the stream must not go on yet";
    counter().store(7);
    ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_)));
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoH)(&seen, word, sizeof seen)));
    EXPECT_EQ(seen, 2U);
    EXPECT_FALSE(is_signalled()) << "the wait takes the semaphore";
    EXPECT_TRUE(succeeds(CU(cuMemFree)(word)));
}

TEST_F(ExternalSemaphores, a_destroyed_semaphore_serves_what_is_enqueued) {
    CUexternalSemaphore other = nullptr;
    ASSERT_TRUE(succeeds(import_semaphore(&other, counter_file_.copy(), TIMELINE)));
    ASSERT_TRUE(succeeds(wait(other, 1, stream_)));
    ASSERT_TRUE(succeeds(signal(other, 2, stream_)));
    EXPECT_TRUE(succeeds(CU(cuDestroyExternalSemaphore)(other)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, CU(cuDestroyExternalSemaphore)(other)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, signal(other, 3, stream_)));
    counter().store(1);
    ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_)));
    EXPECT_EQ(counter().load(), 2U);
}

TEST_F(ExternalSemaphores, bad_input_is_refused) {
    CUexternalSemaphore other = nullptr;
    const AnonymousFile file(4096);
    const int descriptor = file.copy();
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_SUPPORTED, import_semaphore(&other, descriptor, BINARY)))
        << "only an eventfd is a binary semaphore";
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_SUPPORTED, import_semaphore(&other, event_, TIMELINE)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, import_semaphore(&other, -1, BINARY)));
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, import_semaphore(&other, descriptor, TIMELINE, 1)));
    EXPECT_TRUE(
        returns(CUDA_ERROR_NOT_SUPPORTED,
                import_semaphore(&other, descriptor, CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_NVSCISYNC)));
    EXPECT_TRUE(returns(
        CUDA_ERROR_INVALID_VALUE,
        import_semaphore(&other, descriptor, static_cast<CUexternalSemaphoreHandleType>(0))));
    ::close(descriptor);
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS item{};
    item.flags = 1;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuSignalExternalSemaphoresAsync)(&timeline_, &item, 1, stream_)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuSignalExternalSemaphoresAsync)(nullptr, nullptr, 1, stream_)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuSignalExternalSemaphoresAsync)(nullptr, nullptr, 0, stream_)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuWaitExternalSemaphoresAsync)(nullptr, nullptr, 0, stream_)));
}

TEST_F(ExternalSemaphores, graphs_signal_and_wait) {
    CUgraph graph = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphCreate)(&graph, 0)));
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS wait_item{};
    wait_item.params.fence.value = 10;
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signal_item{};
    signal_item.params.fence.value = 20;
    const CUDA_EXT_SEM_WAIT_NODE_PARAMS wait_request{&timeline_, &wait_item, 1};
    const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS signal_request{&timeline_, &signal_item, 1};
    CUgraphNode waits = nullptr;
    CUgraphNode signals = nullptr;
    ASSERT_TRUE(succeeds(
        CU(cuGraphAddExternalSemaphoresWaitNode)(&waits, graph, nullptr, 0, &wait_request)));
    ASSERT_TRUE(succeeds(
        CU(cuGraphAddExternalSemaphoresSignalNode)(&signals, graph, &waits, 1, &signal_request)));

    CUDA_EXT_SEM_WAIT_NODE_PARAMS read_back{};
    ASSERT_TRUE(succeeds(CU(cuGraphExternalSemaphoresWaitNodeGetParams)(waits, &read_back)));
    ASSERT_EQ(read_back.numExtSems, 1U);
    EXPECT_EQ(read_back.extSemArray[0], timeline_);
    EXPECT_EQ(read_back.paramsArray[0].params.fence.value, 10U);
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS wrong{};
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuGraphExternalSemaphoresSignalNodeGetParams)(waits, &wrong)));
    CUgraphNodeType type{};
    ASSERT_TRUE(succeeds(CU(cuGraphNodeGetType)(signals, &type)));
    EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL);

    CUgraphExec executable = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphInstantiate)(&executable, graph, 0)));
    ASSERT_TRUE(succeeds(CU(cuGraphLaunch)(executable, stream_)));
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(stream_)));
    counter().store(10);
    ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_)));
    EXPECT_EQ(counter().load(), 20U);

    // Change the executable graph, then the definition.
    wait_item.params.fence.value = 20;
    signal_item.params.fence.value = 30;
    ASSERT_TRUE(succeeds(
        CU(cuGraphExecExternalSemaphoresWaitNodeSetParams)(executable, waits, &wait_request)));
    ASSERT_TRUE(succeeds(CU(cuGraphExecExternalSemaphoresSignalNodeSetParams)(executable, signals,
                                                                              &signal_request)));
    ASSERT_TRUE(succeeds(CU(cuGraphLaunch)(executable, stream_)));
    ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_)));
    EXPECT_EQ(counter().load(), 30U);
    ASSERT_TRUE(
        succeeds(CU(cuGraphExternalSemaphoresSignalNodeSetParams)(signals, &signal_request)));
    ASSERT_TRUE(succeeds(CU(cuGraphExternalSemaphoresWaitNodeSetParams)(waits, &wait_request)));
    CUexternalSemaphore two[] = {timeline_, timeline_};
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS two_items[2] = {};
    const CUDA_EXT_SEM_WAIT_NODE_PARAMS two_requests{two, two_items, 2};
    EXPECT_NE(CUDA_SUCCESS,
              CU(cuGraphExecExternalSemaphoresWaitNodeSetParams)(executable, waits, &two_requests))
        << "an executable node keeps its number of semaphores";
    CUexternalSemaphore none = nullptr;
    const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS bad{&none, &signal_item, 1};
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuGraphAddExternalSemaphoresSignalNode)(
                                                      &signals, graph, nullptr, 0, &bad)));
    EXPECT_TRUE(succeeds(CU(cuGraphExecDestroy)(executable)));
    EXPECT_TRUE(succeeds(CU(cuGraphDestroy)(graph)));
}

TEST_F(ExternalSemaphores, a_capture_makes_nodes) {
    ASSERT_TRUE(succeeds(CU(cuStreamBeginCapture)(stream_, CU_STREAM_CAPTURE_MODE_GLOBAL)));
    ASSERT_TRUE(succeeds(wait(timeline_, 1, stream_)));
    ASSERT_TRUE(succeeds(signal(binary_, 0, stream_)));
    CUgraph graph = nullptr;
    ASSERT_TRUE(succeeds(CU(cuStreamEndCapture)(stream_, &graph)));
    std::size_t count = 2;
    CUgraphNode nodes[2] = {};
    ASSERT_TRUE(succeeds(CU(cuGraphGetNodes)(graph, nodes, &count)));
    ASSERT_EQ(count, 2U);
    CUgraphExec executable = nullptr;
    ASSERT_TRUE(succeeds(CU(cuGraphInstantiate)(&executable, graph, 0)));
    ASSERT_TRUE(succeeds(CU(cuGraphLaunch)(executable, stream_)));
    EXPECT_FALSE(is_signalled());
    counter().store(1);
    ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_)));
    EXPECT_TRUE(is_signalled());
    EXPECT_TRUE(succeeds(CU(cuGraphExecDestroy)(executable)));
    EXPECT_TRUE(succeeds(CU(cuGraphDestroy)(graph)));
}
