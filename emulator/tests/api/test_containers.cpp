// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Real control groups: a container with little memory gets OUT_OF_MEMORY, not the OOM killer. The
// tests need root and a writable /sys/fs/cgroup, and are skipped elsewhere.

#include "api/driver.hpp"
#include "support/sanitized.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/wait.h>
#include <vector>

using namespace cuprum::emulator::test;

namespace {

constexpr std::size_t MIB = std::size_t{1} << 20;
constexpr std::size_t LIMIT = 512 * MIB;

bool write(const std::string& path, const std::string& text) {
    std::ofstream file(path);
    file << text;
    file.close();
    return file.good();
}

/// A control group of either version with a limit on memory, and on processors if possible.
class Group {
public:
    Group() {
        const std::string name = "cuprum-test-" + std::to_string(::getpid());
        for (const char* root : {"/sys/fs/cgroup/memory/", "/sys/fs/cgroup/"}) {
            std::error_code error;
            const std::string folder = root + name;
            if (!std::filesystem::create_directory(folder, error) || error) {
                continue;
            }
            if (write(folder + "/memory.limit_in_bytes", std::to_string(LIMIT)) ||
                write(folder + "/memory.max", std::to_string(LIMIT))) {
                (void)write(folder + "/memory.swap.max", "0");
                folder_ = folder;
                return;
            }
            std::filesystem::remove(folder, error);
        }
    }

    ~Group() {
        // The group of a process that has just ended may be busy for a moment.
        for (int attempt = 0; attempt < 50 && !folder_.empty() && ::rmdir(folder_.c_str()) != 0;
             ++attempt) {
            ::usleep(20'000);
        }
    }

    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;

    [[nodiscard]] bool exists() const { return !folder_.empty(); }

    /// Moves the calling process into the group.
    [[nodiscard]] bool enter() const {
        return write(folder_ + "/cgroup.procs", std::to_string(::getpid()));
    }

private:
    std::string folder_;
};

/// Allocates and fills memory, 16 MiB at a time. Returns how much it got before OUT_OF_MEMORY, or 0
/// if a call failed otherwise.
std::size_t allocate_all(std::size_t most) {
    constexpr std::size_t step = 16 * MIB;
    std::size_t bytes = 0;
    while (bytes < most) {
        CUdeviceptr memory = 0;
        const CUresult result = CU(cuMemAlloc)(&memory, step);
        if (result == CUDA_ERROR_OUT_OF_MEMORY) {
            return bytes;
        }
        if (result != CUDA_SUCCESS || CU(cuMemsetD8)(memory, 1, step) != CUDA_SUCCESS ||
            CU(cuCtxSynchronize)() != CUDA_SUCCESS) {
            return 0;
        }
        bytes += step;
    }
    return bytes;
}

/// Ends a child process with 0 if `body` holds in the group.
template <typename Body>
[[noreturn]] void exit_in(const Group& group, Body body) {
    if (!group.enter()) {
        std::_Exit(2);
    }
    CUcontext context = nullptr;
    if (CU(cuInit)(0) != CUDA_SUCCESS ||
        CU(cuDevicePrimaryCtxRetain)(&context, 0) != CUDA_SUCCESS ||
        CU(cuCtxSetCurrent)(context) != CUDA_SUCCESS) {
        std::_Exit(3);
    }
    std::_Exit(body() ? 0 : 1);
}

class Containers : public testing::Test {
protected:
    void SetUp() override {
        if (!group_.exists()) {
            GTEST_SKIP() << "this test must be able to create control groups with a memory limit";
        }
    }

    Group group_;
};

} // namespace

TEST_F(Containers, the_device_is_as_large_as_the_container_allows) {
    EXPECT_EXIT(exit_in(group_,
                        [] {
                            std::size_t free = 0;
                            std::size_t total = 0;
                            CU(cuMemGetInfo)(&free, &total);
                            return total <= LIMIT / 2 && total >= LIMIT / 8 && free <= total;
                        }),
                testing::ExitedWithCode(0), "");
}

TEST_F(Containers, allocations_fail_before_the_system_ends_the_process) {
    // The program asks for a device that is larger than the container, and uses what it gets.
    EXPECT_EXIT(
        {
            ::setenv("CUPRUM_EMULATOR_MEMORY", "4G", 1);
            exit_in(group_, [] {
                const std::size_t bytes = allocate_all(4 * LIMIT);
                return bytes >= LIMIT / 2 && bytes < LIMIT;
            });
        },
        testing::ExitedWithCode(0), "");
}

TEST_F(Containers, memory_that_is_not_touched_yet_counts) {
    EXPECT_EXIT(
        {
            ::setenv("CUPRUM_EMULATOR_MEMORY", "4G", 1);
            exit_in(group_, [] {
                CUdeviceptr first = 0;
                CUdeviceptr second = 0;
                void* pinned = nullptr;
                const bool is_refused =
                    CU(cuMemAlloc)(&first, 300 * MIB) == CUDA_SUCCESS &&
                    CU(cuMemAlloc)(&second, 300 * MIB) == CUDA_ERROR_OUT_OF_MEMORY &&
                    CU(cuMemHostAlloc)(&pinned, 300 * MIB, 0) == CUDA_ERROR_OUT_OF_MEMORY;
                // What is freed can be allocated again, and what was touched counts once.
                return is_refused && CU(cuMemsetD8)(first, 1, 300 * MIB) == CUDA_SUCCESS &&
                       CU(cuMemAlloc)(&second, 64 * MIB) == CUDA_SUCCESS &&
                       CU(cuMemFree)(first) == CUDA_SUCCESS &&
                       CU(cuMemAlloc)(&first, 300 * MIB) == CUDA_SUCCESS;
            });
        },
        testing::ExitedWithCode(0), "");
}

TEST_F(Containers, memory_of_the_program_itself_counts) {
    if (IS_SANITIZED) {
        GTEST_SKIP() << "sanitizers need more memory than this test leaves";
    }
    EXPECT_EXIT(
        {
            ::setenv("CUPRUM_EMULATOR_MEMORY", "4G", 1);
            exit_in(group_, [] {
                const std::vector<char> own(200 * MIB, 'x');
                CUdeviceptr memory = 0;
                return CU(cuMemAlloc)(&memory, 300 * MIB) == CUDA_ERROR_OUT_OF_MEMORY &&
                       CU(cuMemAlloc)(&memory, 150 * MIB) == CUDA_SUCCESS && own.back() == 'x';
            });
        },
        testing::ExitedWithCode(0), "");
}

TEST_F(Containers, processes_of_one_container_share_its_memory) {
    // Two processes promise memory, then touch it. One of them is refused; none is ended.
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    ::setenv("CUPRUM_EMULATOR_MEMORY", "4G", 1);
    const ::pid_t child = ::fork();
    if (child == 0) {
        exit_in(group_, [&] {
            CUdeviceptr memory = 0;
            const CUresult result = CU(cuMemAlloc)(&memory, 300 * MIB);
            (void)!::write(ready[1], "x", 1);
            ::usleep(1'500'000); // the other process decides meanwhile
            return result == CUDA_SUCCESS && CU(cuMemsetD8)(memory, 1, 300 * MIB) == CUDA_SUCCESS &&
                   CU(cuCtxSynchronize)() == CUDA_SUCCESS;
        });
    }
    EXPECT_EXIT(exit_in(group_,
                        [&] {
                            char byte = 0;
                            (void)!::read(ready[0], &byte, 1);
                            CUdeviceptr memory = 0;
                            return CU(cuMemAlloc)(&memory, 300 * MIB) == CUDA_ERROR_OUT_OF_MEMORY &&
                                   CU(cuMemAlloc)(&memory, 32 * MIB) == CUDA_SUCCESS;
                        }),
                testing::ExitedWithCode(0), "");
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    ::unsetenv("CUPRUM_EMULATOR_MEMORY");
}
