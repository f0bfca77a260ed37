// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Memory that is shared with a newly started process.

#include "api/driver.hpp"
#include "api/peer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/mman.h>
#include <vector>

using namespace cuprum::emulator::test;

namespace {

constexpr std::size_t BYTES = 4096;
constexpr auto BY_DESCRIPTOR = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

void* as_pointer(int descriptor) {
    return reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor));
}

/// Returns the files that a process could leave behind: files with a name that it has opened for
/// writing or mapped as shared. Files without a name vanish with the last process that uses them.
std::vector<std::string> named_files(pid_t process) {
    const std::string folder = "/proc/" + std::to_string(process);
    std::vector<std::string> found;
    const auto note = [&](const std::string& path) {
        if (path.starts_with('/') && !path.starts_with("/memfd:") && !path.starts_with("/dev/")) {
            found.push_back(path);
        }
    };
    for (const auto& entry : std::filesystem::directory_iterator(folder + "/fd")) {
        const int number = std::stoi(entry.path().filename().string());
        const std::string flags_of = folder + "/fdinfo/" + std::to_string(number);
        std::string word;
        unsigned flags = 0;
        for (std::ifstream file(flags_of); file >> word;) {
            if (word == "flags:") {
                file >> std::oct >> flags;
            }
        }
        if (number > STDERR_FILENO && (flags & O_ACCMODE) != O_RDONLY) {
            note(std::filesystem::read_symlink(entry.path()).string());
        }
    }
    std::ifstream maps(folder + "/maps");
    for (std::string line; std::getline(maps, line);) {
        const std::size_t path = line.find('/');
        if (path != std::string::npos && line.find("rw-s") < path) {
            note(line.substr(path));
        }
    }
    return found;
}

/// Counts the System V shared memory segments that a process has created.
std::size_t numbered_segments(pid_t process) {
    std::size_t count = 0;
    std::ifstream list("/proc/sysvipc/shm");
    std::string line;
    std::getline(list, line);
    while (std::getline(list, line)) {
        std::istringstream words(line);
        long key = 0;
        long id = 0;
        long mode = 0;
        long bytes = 0;
        long maker = 0;
        words >> key >> id >> mode >> bytes >> maker;
        count += maker == process ? 1 : 0;
    }
    return count;
}

} // namespace

class InterprocessMemory : public DriverTest {
protected:
    void SetUp() override {
        DriverTest::SetUp();
        ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&stream_, CU_STREAM_NON_BLOCKING)));
        CUmemPoolProps properties{};
        properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
        properties.handleTypes = BY_DESCRIPTOR;
        ASSERT_TRUE(succeeds(CU(cuMemPoolCreate)(&pool_, &properties)));
        ASSERT_TRUE(succeeds(CU(cuMemAllocFromPoolAsync)(&memory_, BYTES, pool_, stream_)));
        ASSERT_TRUE(succeeds(CU(cuMemsetD32Async)(memory_, 7, BYTES / 4, stream_)));
        ASSERT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_)));
        ASSERT_TRUE(
            succeeds(CU(cuMemPoolExportToShareableHandle)(&descriptor_, pool_, BY_DESCRIPTOR, 0)));
        ASSERT_TRUE(succeeds(CU(cuMemPoolExportPointer)(&exported_, memory_)));
    }

    void TearDown() override {
        ::close(descriptor_);
        if (memory_ != 0) {
            EXPECT_TRUE(succeeds(CU(cuMemFreeAsync)(memory_, stream_)));
        }
        EXPECT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_)));
        if (pool_ != nullptr) {
            EXPECT_TRUE(succeeds(CU(cuMemPoolDestroy)(pool_)));
        }
        EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(stream_)));
        DriverTest::TearDown();
    }

    unsigned word(CUdeviceptr address) {
        unsigned value = 0;
        EXPECT_TRUE(succeeds(CU(cuMemcpyDtoH)(&value, address, sizeof value)));
        return value;
    }

    /// Expects that a descriptor is refused as a pool.
    void expect_refused(int descriptor) {
        CUmemoryPool pool = nullptr;
        EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                            CU(cuMemPoolImportFromShareableHandle)(&pool, as_pointer(descriptor),
                                                                   BY_DESCRIPTOR, 0)));
    }

    CUstream stream_ = nullptr;
    CUmemoryPool pool_ = nullptr;
    CUdeviceptr memory_ = 0;
    int descriptor_ = -1;
    CUmemPoolPtrExportData exported_{};
};

TEST_F(InterprocessMemory, a_pool_s_memory_is_the_same_in_both_processes) {
    Peer peer;
    ASSERT_TRUE(succeeds(peer.ask(Request::ImportPool, 0, nullptr, descriptor_).result));
    ASSERT_TRUE(succeeds(peer.ask(Request::ImportPointer, 0, &exported_).result));
    EXPECT_EQ(peer.ask(Request::Read).value, 7U);
    ASSERT_TRUE(succeeds(peer.ask(Request::Fill, 8).result));
    EXPECT_EQ(word(memory_), 8U);
    ASSERT_TRUE(succeeds(CU(cuMemsetD32)(memory_, 9, BYTES / 4)));
    ASSERT_TRUE(succeeds(CU(cuCtxSynchronize)()));
    EXPECT_EQ(peer.ask(Request::Read).value, 9U);
    ASSERT_TRUE(succeeds(peer.ask(Request::Free).result));
    EXPECT_EQ(word(memory_), 9U);
    EXPECT_TRUE(succeeds(peer.ask(Request::Leave).result));
    EXPECT_EQ(peer.wait(), 0);
}

TEST_F(InterprocessMemory, a_descriptor_and_a_pointer_serve_several_times) {
    CUmemPoolPtrExportData again{};
    ASSERT_TRUE(succeeds(CU(cuMemPoolExportPointer)(&again, memory_)));
    EXPECT_EQ(std::memcmp(&again, &exported_, sizeof again), 0);
    CUmemoryPool imported = nullptr;
    ASSERT_TRUE(succeeds(CU(cuMemPoolImportFromShareableHandle)(&imported, as_pointer(descriptor_),
                                                                BY_DESCRIPTOR, 0)));
    CUdeviceptr first = 0;
    CUdeviceptr second = 0;
    ASSERT_TRUE(succeeds(CU(cuMemPoolImportPointer)(&first, imported, &exported_)));
    ASSERT_TRUE(succeeds(CU(cuMemPoolImportPointer)(&second, imported, &exported_)));
    EXPECT_EQ(word(first), 7U);
    ASSERT_TRUE(succeeds(CU(cuMemFree)(first)));
    EXPECT_EQ(word(second), 7U);
    EXPECT_TRUE(succeeds(CU(cuMemFreeAsync)(second, stream_)));
    EXPECT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_)));
    EXPECT_TRUE(succeeds(CU(cuMemPoolDestroy)(imported)));
}

TEST_F(InterprocessMemory, an_imported_pool_does_not_allocate_nor_become_current_nor_export) {
    Peer peer;
    ASSERT_TRUE(succeeds(peer.ask(Request::ImportPool, 0, nullptr, descriptor_).result));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, peer.ask(Request::AllocateFromPool).result));
    ASSERT_TRUE(succeeds(peer.ask(Request::ImportPointer, 0, &exported_).result));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, peer.ask(Request::ExportPointer).result));
    CUmemoryPool imported = nullptr;
    ASSERT_TRUE(succeeds(CU(cuMemPoolImportFromShareableHandle)(&imported, as_pointer(descriptor_),
                                                                BY_DESCRIPTOR, 0)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuDeviceSetMemPool)(0, imported)));
    int descriptor = -1;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemPoolExportToShareableHandle)(
                                                      &descriptor, imported, BY_DESCRIPTOR, 0)));
    EXPECT_TRUE(succeeds(CU(cuMemPoolDestroy)(imported)));
}

TEST_F(InterprocessMemory, an_ordinary_pool_cannot_be_shared) {
    CUmemoryPool ordinary = nullptr;
    ASSERT_TRUE(succeeds(CU(cuDeviceGetDefaultMemPool)(&ordinary, 0)));
    int descriptor = -1;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemPoolExportToShareableHandle)(
                                                      &descriptor, ordinary, BY_DESCRIPTOR, 0)));
    CUdeviceptr memory = 0;
    CUmemPoolPtrExportData data{};
    ASSERT_TRUE(succeeds(CU(cuMemAllocAsync)(&memory, 64, stream_)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemPoolExportPointer)(&data, memory)));
    EXPECT_TRUE(succeeds(CU(cuMemFreeAsync)(memory, stream_)));
}

TEST_F(InterprocessMemory, memory_outlives_the_process_that_made_it) {
    Peer peer;
    const Message made = peer.ask(Request::MakePool, 31);
    ASSERT_TRUE(succeeds(made.result));
    const Message pointer = peer.ask(Request::ExportPointer);
    CUmemoryPool pool = nullptr;
    CUdeviceptr memory = 0;
    CUmemPoolPtrExportData data{};
    std::memcpy(&data, pointer.data.data(), sizeof data);
    ASSERT_TRUE(succeeds(CU(cuMemPoolImportFromShareableHandle)(&pool, as_pointer(made.descriptor),
                                                                BY_DESCRIPTOR, 0)));
    ::close(made.descriptor);
    ASSERT_TRUE(succeeds(CU(cuMemPoolImportPointer)(&memory, pool, &data)));
    peer.kill();
    EXPECT_EQ(word(memory), 31U);
    ASSERT_TRUE(succeeds(CU(cuMemsetD32)(memory, 32, BYTES / 4)));
    EXPECT_EQ(word(memory), 32U);
    EXPECT_TRUE(succeeds(CU(cuMemFree)(memory)));
    EXPECT_TRUE(succeeds(CU(cuMemPoolDestroy)(pool)));
}

TEST_F(InterprocessMemory, killing_the_importer_leaves_nothing_and_harms_nobody) {
    Peer peer;
    ASSERT_TRUE(succeeds(peer.ask(Request::ImportPool, 0, nullptr, descriptor_).result));
    ASSERT_TRUE(succeeds(peer.ask(Request::ImportPointer, 0, &exported_).result));
    ASSERT_TRUE(succeeds(peer.ask(Request::Fill, 5).result));
    const pid_t process = peer.process();
    EXPECT_EQ(named_files(process), std::vector<std::string>{});
    peer.kill();
    EXPECT_EQ(numbered_segments(process), 0U);
    EXPECT_EQ(word(memory_), 5U);
}

TEST_F(InterprocessMemory, killing_the_exporter_leaves_nothing) {
    Peer peer;
    const Message made = peer.ask(Request::MakePool, 31);
    ASSERT_TRUE(succeeds(made.result));
    ::close(made.descriptor);
    ASSERT_TRUE(succeeds(peer.ask(Request::ExportPointer).result));
    ASSERT_TRUE(succeeds(peer.ask(Request::MakeEvent).result));
    const pid_t process = peer.process();
    EXPECT_EQ(named_files(process), std::vector<std::string>{});
    peer.kill();
    EXPECT_EQ(numbered_segments(process), 0U);
}

TEST_F(InterprocessMemory, a_file_that_would_be_left_behind_is_seen) {
    // The test runner may have left other files open.
    const auto count = [](const std::vector<std::string>& files, const std::string& file) {
        return std::count(files.begin(), files.end(), file);
    };
    const std::string path = ::testing::TempDir() + "cuprum-named-" + std::to_string(::getpid());
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_GE(file, 0);
    ASSERT_EQ(::ftruncate(file, BYTES), 0);
    EXPECT_EQ(count(named_files(::getpid()), path), 1);
    void* const mapped = ::mmap(nullptr, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ASSERT_NE(mapped, MAP_FAILED);
    ::close(file);
    EXPECT_EQ(count(named_files(::getpid()), path), 1);
    ::munmap(mapped, BYTES);
    ::unlink(path.c_str());
}

TEST_F(InterprocessMemory, an_allocation_that_was_freed_cannot_be_imported) {
    CUmemoryPool imported = nullptr;
    ASSERT_TRUE(succeeds(CU(cuMemPoolImportFromShareableHandle)(&imported, as_pointer(descriptor_),
                                                                BY_DESCRIPTOR, 0)));
    ASSERT_TRUE(succeeds(CU(cuMemFree)(memory_)));
    memory_ = 0;
    CUdeviceptr mapped = 0;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuMemPoolImportPointer)(&mapped, imported, &exported_)));
    EXPECT_TRUE(succeeds(CU(cuMemPoolDestroy)(imported)));
}

TEST_F(InterprocessMemory, forged_pointers_are_refused) {
    CUmemoryPool imported = nullptr;
    ASSERT_TRUE(succeeds(CU(cuMemPoolImportFromShareableHandle)(&imported, as_pointer(descriptor_),
                                                                BY_DESCRIPTOR, 0)));
    CUdeviceptr mapped = 0;
    for (std::size_t byte = 0; byte < 52; ++byte) { // the other bytes are not used
        CUmemPoolPtrExportData forged = exported_;
        reinterpret_cast<unsigned char*>(&forged)[byte] ^= 0x5A;
        EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                            CU(cuMemPoolImportPointer)(&mapped, imported, &forged)))
            << "byte " << byte;
    }
    CUmemPoolPtrExportData nothing{};
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemPoolImportPointer)(&mapped, imported, &nothing)));
    EXPECT_TRUE(succeeds(CU(cuMemPoolDestroy)(imported)));
    // The exporter's own pool cannot import its own pointers.
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemPoolImportPointer)(&mapped, pool_, &exported_)));
}

TEST_F(InterprocessMemory, a_pointer_of_another_pool_is_refused) {
    Peer peer;
    const Message other = peer.ask(Request::MakePool, 1);
    CUmemoryPool imported = nullptr;
    ASSERT_TRUE(succeeds(CU(cuMemPoolImportFromShareableHandle)(
        &imported, as_pointer(other.descriptor), BY_DESCRIPTOR, 0)));
    ::close(other.descriptor);
    CUdeviceptr mapped = 0;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuMemPoolImportPointer)(&mapped, imported, &exported_)));
    EXPECT_TRUE(succeeds(CU(cuMemPoolDestroy)(imported)));
}

TEST_F(InterprocessMemory, descriptors_that_are_no_pools_are_refused) {
    expect_refused(-1);
    expect_refused(100000);
    const int null_device = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    expect_refused(null_device);
    ::close(null_device);
    // A file that could shrink while it is mapped, and a file that is too short.
    for (const std::size_t bytes : {std::size_t{8} << 20, std::size_t{100}}) {
        const int file = ::memfd_create("forged", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        ASSERT_EQ(::ftruncate(file, static_cast<off_t>(bytes)), 0);
        std::vector<char> header(4096);
        ASSERT_EQ(::pread(descriptor_, header.data(), header.size(), 0), 4096);
        ASSERT_EQ(::pwrite(file, header.data(), std::min<std::size_t>(bytes, 4096), 0),
                  static_cast<ssize_t>(std::min<std::size_t>(bytes, 4096)));
        expect_refused(file);
        if (bytes == 100) {
            ASSERT_EQ(::fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK), 0);
            expect_refused(file);
        }
        ::close(file);
    }
}

TEST_F(InterprocessMemory, a_forged_pool_maps_nothing_beyond_its_end) {
    // A sealed copy of the header whose table promises more bytes than the file has.
    const int file = ::memfd_create("forged", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    constexpr std::size_t head = 2 << 20;
    ASSERT_EQ(::ftruncate(file, head), 0);
    std::vector<char> header(4096);
    ASSERT_EQ(::pread(descriptor_, header.data(), header.size(), 0), 4096);
    ASSERT_EQ(::pwrite(file, header.data(), header.size(), 0), 4096);
    ASSERT_EQ(::fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    CUmemoryPool imported = nullptr;
    ASSERT_TRUE(succeeds(
        CU(cuMemPoolImportFromShareableHandle)(&imported, as_pointer(file), BY_DESCRIPTOR, 0)));
    CUdeviceptr mapped = 0;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuMemPoolImportPointer)(&mapped, imported, &exported_)));
    EXPECT_TRUE(succeeds(CU(cuMemPoolDestroy)(imported)));
    ::close(file);
}

TEST_F(InterprocessMemory, pools_of_host_memory_are_shared_too) {
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_HOST_NUMA, 0};
    properties.handleTypes = BY_DESCRIPTOR;
    CUmemoryPool pool = nullptr;
    CUdeviceptr memory = 0;
    int descriptor = -1;
    CUmemPoolPtrExportData data{};
    ASSERT_TRUE(succeeds(CU(cuMemPoolCreate)(&pool, &properties)));
    ASSERT_TRUE(succeeds(CU(cuMemAllocFromPoolAsync)(&memory, BYTES, pool, stream_)));
    *reinterpret_cast<unsigned*>(memory) = 55; // the host may write it
    ASSERT_TRUE(
        succeeds(CU(cuMemPoolExportToShareableHandle)(&descriptor, pool, BY_DESCRIPTOR, 0)));
    ASSERT_TRUE(succeeds(CU(cuMemPoolExportPointer)(&data, memory)));
    Peer peer;
    ASSERT_TRUE(succeeds(peer.ask(Request::ImportPool, 0, nullptr, descriptor).result));
    ASSERT_TRUE(succeeds(peer.ask(Request::ImportPointer, 0, &data).result));
    EXPECT_EQ(peer.ask(Request::Read).value, 55U);
    ASSERT_TRUE(succeeds(peer.ask(Request::Fill, 56).result));
    EXPECT_EQ(*reinterpret_cast<unsigned*>(memory), 56U);
    ::close(descriptor);
    EXPECT_TRUE(succeeds(CU(cuMemFreeAsync)(memory, stream_)));
    EXPECT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_)));
    EXPECT_TRUE(succeeds(CU(cuMemPoolDestroy)(pool)));
    properties.allocType = CU_MEM_ALLOCATION_TYPE_MANAGED;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuMemPoolCreate)(&pool, &properties)));
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.handleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_SUPPORTED, CU(cuMemPoolCreate)(&pool, &properties)));
}

TEST_F(InterprocessMemory, attributes_say_what_can_be_shared) {
    int value = 0;
    ASSERT_TRUE(succeeds(
        CU(cuDeviceGetAttribute)(&value, CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES, 0)));
    EXPECT_EQ(value, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    ASSERT_TRUE(
        succeeds(CU(cuDeviceGetAttribute)(&value, CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED, 0)));
    EXPECT_EQ(value, 1);
    std::uint64_t types = 0;
    ASSERT_TRUE(succeeds(
        CU(cuPointerGetAttribute)(&types, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, memory_)));
    EXPECT_EQ(types, std::uint64_t{CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR});
}

TEST_F(InterprocessMemory, memory_of_cumemcreate_is_the_same_in_both_processes) {
    constexpr std::size_t bytes = 2 << 20;
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    properties.requestedHandleTypes = BY_DESCRIPTOR;
    CUmemGenericAllocationHandle handle = 0;
    CUdeviceptr address = 0;
    CUmemAccessDesc access{};
    access.location = properties.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    ASSERT_TRUE(succeeds(CU(cuMemCreate)(&handle, bytes, &properties, 0)));
    ASSERT_TRUE(succeeds(CU(cuMemAddressReserve)(&address, bytes, 0, 0, 0)));
    ASSERT_TRUE(succeeds(CU(cuMemMap)(address, bytes, 0, handle, 0)));
    ASSERT_TRUE(succeeds(CU(cuMemSetAccess)(address, bytes, &access, 1)));
    int descriptor = -1;
    ASSERT_TRUE(succeeds(CU(cuMemExportToShareableHandle)(&descriptor, handle, BY_DESCRIPTOR, 0)));
    ASSERT_TRUE(succeeds(CU(cuMemsetD32)(address, 3, bytes / 4)));
    ASSERT_TRUE(succeeds(CU(cuCtxSynchronize)()));
    expect_refused(descriptor); // it is not a pool
    Peer peer;
    ASSERT_TRUE(succeeds(peer.ask(Request::ImportPhysical, bytes, nullptr, descriptor).result));
    EXPECT_EQ(peer.ask(Request::Read).value, 3U);
    ASSERT_TRUE(succeeds(peer.ask(Request::Fill, 4).result));
    EXPECT_EQ(word(address), 4U);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        peer.ask(Request::ImportPhysical, bytes, nullptr, descriptor_).result));
    ::close(descriptor);
    EXPECT_TRUE(succeeds(CU(cuMemUnmap)(address, bytes)));
    EXPECT_TRUE(succeeds(CU(cuMemRelease)(handle)));
    EXPECT_TRUE(succeeds(CU(cuMemAddressFree)(address, bytes)));
}

TEST_F(InterprocessMemory, memory_of_cumemalloc_is_the_same_in_both_processes) {
    const CUdeviceptr memory = allocate(BYTES);
    ASSERT_TRUE(succeeds(CU(cuMemsetD32)(memory, 21, BYTES / 4)));
    CUipcMemHandle handle{};
    ASSERT_TRUE(succeeds(CU(cuIpcGetMemHandle)(&handle, memory)));
    EXPECT_EQ(word(memory), 21U) << "sharing must keep what is there";
    Peer peer;
    ASSERT_TRUE(succeeds(peer.ask(Request::OpenMemory, 0, &handle).result));
    EXPECT_EQ(peer.ask(Request::Read).value, 21U);
    ASSERT_TRUE(succeeds(peer.ask(Request::OpenMemory, 0, &handle).result));
    ASSERT_TRUE(succeeds(peer.ask(Request::CloseMemory).result));
    ASSERT_TRUE(succeeds(peer.ask(Request::Fill, 22).result)) << "it was opened twice";
    EXPECT_EQ(word(memory), 22U);
    ASSERT_TRUE(succeeds(peer.ask(Request::CloseMemory).result));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, peer.ask(Request::CloseMemory).result));
    CUdeviceptr own = 0;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_CONTEXT,
                        CU(cuIpcOpenMemHandle)(&own, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(memory)));
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_HANDLE, peer.ask(Request::OpenMemory, 0, &handle).result))
        << "it has been freed";
}

TEST_F(InterprocessMemory, forged_handles_of_memory_are_refused) {
    const CUdeviceptr memory = allocate(BYTES);
    CUipcMemHandle handle{};
    ASSERT_TRUE(succeeds(CU(cuIpcGetMemHandle)(&handle, memory)));
    Peer peer;
    for (const std::size_t byte : {0, 8, 12, 16, 24, 39, 50}) {
        CUipcMemHandle forged = handle;
        reinterpret_cast<unsigned char*>(&forged)[byte] ^= 0x5A;
        EXPECT_TRUE(
            returns(CUDA_ERROR_INVALID_HANDLE, peer.ask(Request::OpenMemory, 0, &forged).result))
            << "byte " << byte;
    }
    EXPECT_TRUE(succeeds(CU(cuMemFree)(memory)));
}

TEST_F(InterprocessMemory, sharing_memory_while_kernels_and_copies_run_loses_nothing) {
    constexpr int rounds = 200;
    const CUdeviceptr memory = allocate(BYTES);
    const CUdeviceptr other = allocate(BYTES);
    ASSERT_TRUE(succeeds(CU(cuMemsetD32)(memory, 0, BYTES / 4)));
    std::atomic<bool> is_done{false};
    std::thread writer([&] {
        CU(cuCtxSetCurrent)(context_);
        for (int round = 1; round <= rounds; ++round) {
            CU(cuMemsetD32Async)(other, static_cast<unsigned>(round), BYTES / 4, stream_);
            CU(cuMemcpyDtoDAsync)(memory, other, BYTES, stream_);
        }
        CU(cuStreamSynchronize)(stream_);
        is_done = true;
    });
    CUipcMemHandle handle{};
    EXPECT_TRUE(succeeds(CU(cuIpcGetMemHandle)(&handle, memory)));
    EXPECT_TRUE(succeeds(CU(cuIpcGetMemHandle)(&handle, other)));
    writer.join();
    EXPECT_TRUE(is_done);
    EXPECT_EQ(word(memory), static_cast<unsigned>(rounds));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(memory)));
    EXPECT_TRUE(succeeds(CU(cuMemFree)(other)));
}

namespace {

/// spin(p): p[1] = 1; waits until p[0] is not 0; p[2] = p[0].
constexpr const char* SPIN_PTX = R"(
.version 7.0
.target sm_70
.address_size 64

.visible .entry spin(.param .u64 spin_p)
{
    .reg .pred %q<2>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [spin_p];
    mov.u32 %r1, 1;
    st.volatile.global.u32 [%rd1+4], %r1;
AGAIN:
    ld.volatile.global.u32 %r2, [%rd1];
    setp.eq.u32 %q1, %r2, 0;
    @%q1 bra AGAIN;
    st.global.u32 [%rd1+8], %r2;
    ret;
}
)";

} // namespace

TEST_F(InterprocessMemory, memory_can_be_shared_first_while_a_kernel_uses_it) {
    CUmodule module = nullptr;
    CUfunction spin = nullptr;
    CUstream other = nullptr;
    ASSERT_TRUE(succeeds(CU(cuModuleLoadData)(&module, SPIN_PTX)));
    ASSERT_TRUE(succeeds(CU(cuModuleGetFunction)(&spin, module, "spin")));
    ASSERT_TRUE(succeeds(CU(cuStreamCreate)(&other, CU_STREAM_NON_BLOCKING)));
    CUdeviceptr words = allocate(BYTES);
    ASSERT_TRUE(succeeds(CU(cuMemsetD32)(words, 0, 2)));
    ASSERT_TRUE(succeeds(CU(cuMemsetD32)(words + 12, 9, 1)));
    ASSERT_TRUE(succeeds(CU(cuCtxSynchronize)()));
    void* arguments[] = {&words};
    ASSERT_TRUE(
        succeeds(CU(cuLaunchKernel)(spin, 1, 1, 1, 32, 1, 1, 0, stream_, arguments, nullptr)));
    const auto word = [&](std::size_t index) {
        std::uint32_t value = 0;
        EXPECT_TRUE(succeeds(CU(cuMemcpyDtoHAsync)(&value, words + 4 * index, 4, other)));
        EXPECT_TRUE(succeeds(CU(cuStreamSynchronize)(other)));
        return value;
    };
    while (word(1) == 0 && !HasFailure()) {
    }
    CUipcMemHandle handle{};
    EXPECT_TRUE(succeeds(CU(cuIpcGetMemHandle)(&handle, words)));
    EXPECT_EQ(word(3), 9U) << "what was there is still there";
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(stream_)));
    ASSERT_TRUE(succeeds(CU(cuStreamWriteValue32)(other, words, 5, 0)));
    EXPECT_TRUE(succeeds(CU(cuStreamSynchronize)(stream_)));
    EXPECT_EQ(word(2), 5U) << "the kernel uses the shared memory from then on";
    EXPECT_TRUE(succeeds(CU(cuMemFree)(words)));
    EXPECT_TRUE(succeeds(CU(cuStreamDestroy)(other)));
    EXPECT_TRUE(succeeds(CU(cuModuleUnload)(module)));
}
