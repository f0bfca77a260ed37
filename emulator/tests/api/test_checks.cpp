// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Checks as a program uses them: the environment enables them, stderr shows the report, and the
// driver returns the error that a GPU would return. Each case runs in its own process.

#include "api/driver.hpp"

#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>

using namespace cuprum::emulator::test;

namespace {

/// Kernels with bugs. read(p, i) writes p[i] + 1 to p[0]. write(p, i) writes 7 to p[i]. spill(n)
/// writes word n of 16 bytes from malloc. In clash(p), every block writes its number to p[0].
constexpr const char* PLANTED_PTX = R"(
.version 7.0
.target sm_70
.address_size 64
.file 1 "planted.cu"

.extern .func (.param .b64 func_retval0) malloc (.param .b64 malloc_param_0);

.visible .entry read(.param .u64 p, .param .u32 i)
{
    .reg .b32 %r<4>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r1, [i];
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    .loc 1 12 0
    ld.global.u32 %r2, [%rd3];
    add.u32 %r3, %r2, 1;
    st.global.u32 [%rd1], %r3;
    ret;
}

.visible .entry write(.param .u64 p, .param .u32 i)
{
    .reg .b32 %r<4>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r1, [i];
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], 7;
    ret;
}

.visible .entry spill(.param .u32 i)
{
    .reg .b32 %r<4>; .reg .b64 %rd<4>;
    ld.param.u32 %r1, [i];
    {
    .param .b64 param0;
    st.param.b64 [param0], 16;
    .param .b64 retval0;
    call.uni (retval0), malloc, (param0);
    ld.param.b64 %rd1, [retval0];
    }
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.u32 [%rd3], 7;
    ret;
}

.visible .entry clash(.param .u64 p)
{
    .reg .b32 %r<2>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %ctaid.x;
    st.global.u32 [%rd1], %r1;
    ret;
}
)";

/// A program under a setting, with a context, a module and a stream.
struct Program {
    CUcontext context = nullptr;
    CUmodule module = nullptr;
    CUstream stream = nullptr;

    explicit Program(const char* checks) {
        ::setenv("CUPRUM_EMULATOR_CHECK", checks, 1);
        CU(cuInit)(0);
        CU(cuDevicePrimaryCtxRetain)(&context, 0);
        CU(cuCtxSetCurrent)(context);
        CU(cuModuleLoadData)(&module, PLANTED_PTX);
        CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING);
    }

    CUdeviceptr allocate(std::size_t bytes) const {
        CUdeviceptr memory = 0;
        CU(cuMemAlloc)(&memory, bytes);
        return memory;
    }

    /// Launches, waits, and returns the result of the wait.
    CUresult run(const char* name, std::initializer_list<const void*> arguments,
                 unsigned blocks = 1) const {
        CUfunction function = nullptr;
        void* list[4] = {};
        std::size_t count = 0;
        for (const void* const each : arguments) {
            list[count++] = const_cast<void*>(each);
        }
        CU(cuModuleGetFunction)(&function, module, name);
        CU(cuLaunchKernel)(function, blocks, 1, 1, 1, 1, 1, 0, stream, list, nullptr);
        return CU(cuStreamSynchronize)(stream);
    }

    CUresult run(const char* name, CUdeviceptr memory, unsigned index) const {
        return run(name, {&memory, &index});
    }
};

/// Ends the process with 0 if `body` returns true in a program under a setting.
void exit_if(const char* checks, const std::function<bool(const Program&)>& body) {
    const Program program(checks);
    std::_Exit(body(program) ? 0 : 1);
}

TEST(Checks, an_access_behind_an_allocation_is_found_exactly) {
    const auto overrun = [](const Program& program) {
        const CUdeviceptr memory = program.allocate(100);
        return program.run("write", memory, 24) == CUDA_SUCCESS &&
               program.run("write", memory, 25) == CUDA_ERROR_ILLEGAL_ADDRESS &&
               CU(cuStreamSynchronize)(program.stream) == CUDA_ERROR_ILLEGAL_ADDRESS;
    };
    for (const char* const part :
         {"illegal address: write of 4 bytes at 0x[0-9a-f]+ is outside every live allocation",
          "0 bytes behind device memory #[0-9]+ of 100 bytes at 0x[0-9a-f]+, made by cuMemAlloc",
          "in kernel write, block \\(0, 0, 0\\), thread \\(0, 0, 0\\)",
          "st.global.u32 \\[%rd3\\], 7;"}) {
        EXPECT_EXIT(exit_if("memory", overrun), testing::ExitedWithCode(0), part);
    }
    EXPECT_EXIT(exit_if("exact", overrun), testing::ExitedWithCode(0), "illegal address");
}

TEST(Checks, use_after_free_names_who_freed) {
    const auto use_freed = [](const Program& program) {
        const CUdeviceptr memory = program.allocate(100);
        CU(cuMemFree)(memory);
        return program.run("write", memory, 3) == CUDA_ERROR_ILLEGAL_ADDRESS;
    };
    // This is always found, because whole granules are unmapped.
    for (const char* const checks : {"memory", "window"}) {
        EXPECT_EXIT(exit_if(checks, use_freed), testing::ExitedWithCode(0),
                    "12 bytes into device memory #[0-9]+ of 100 bytes at 0x[0-9a-f]+, made by "
                    "cuMemAlloc.*\n    freed by cuMemFree.*, host thread [0-9]+");
    }
}

TEST(Checks, stream_ordered_memory_is_not_used_again_at_once) {
    EXPECT_EXIT(exit_if("memory",
                        [](const Program& program) {
                            CUdeviceptr first = 0;
                            CUdeviceptr second = 0;
                            CU(cuMemAllocAsync)(&first, 100, program.stream);
                            CU(cuMemFreeAsync)(first, program.stream);
                            CU(cuMemAllocAsync)(&second, 100, program.stream);
                            return first != second &&
                                   program.run("write", second, 0) == CUDA_SUCCESS &&
                                   program.run("write", first, 0) == CUDA_ERROR_ILLEGAL_ADDRESS;
                        }),
                testing::ExitedWithCode(0),
                "into stream-ordered memory #[0-9]+ of 100 bytes.*\n    freed by cuMemFreeAsync");
}

TEST(Checks, memory_freed_later_in_the_stream_may_be_used_before) {
    EXPECT_EXIT(exit_if("all",
                        [](const Program& program) {
                            bool is_fine = true;
                            for (int i = 0; i < 100; ++i) {
                                CUdeviceptr memory = 0;
                                unsigned index = 0;
                                void* arguments[] = {&memory, &index};
                                CUfunction read = nullptr;
                                CU(cuModuleGetFunction)(&read, program.module, "read");
                                is_fine &= CU(cuMemAllocAsync)(&memory, 64, program.stream) == 0;
                                is_fine &= CU(cuMemsetD8Async)(memory, 1, 64, program.stream) == 0;
                                is_fine &=
                                    CU(cuLaunchKernel)(read, 1, 1, 1, 1, 1, 1, 0, program.stream,
                                                       arguments, nullptr) == 0;
                                is_fine &= CU(cuMemFreeAsync)(memory, program.stream) == 0;
                            }
                            return is_fine && CU(cuStreamSynchronize)(program.stream) == 0;
                        }),
                testing::ExitedWithCode(0), "^$");
}

TEST(Checks, pieces_of_the_heap_of_kernels_have_bounds) {
    const auto spill = [](unsigned index) {
        return [index](const Program& program) {
            return program.run("spill", {&index}) ==
                   (index < 4 ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS);
        };
    };
    EXPECT_EXIT(exit_if("memory", spill(3)), testing::ExitedWithCode(0), "^$");
    EXPECT_EXIT(exit_if("memory", spill(4)), testing::ExitedWithCode(0),
                "outside every live allocation\n  in the heap that malloc");
}

TEST(Checks, device_memory_must_be_written_before_it_is_read) {
    const auto read_fresh = [](const Program& program) {
        return program.run("read", program.allocate(64), 5) == CUDA_ERROR_LAUNCH_FAILED;
    };
    for (const char* const part :
         {"uninitialised read: read of 4 bytes at 0x[0-9a-f]+, which was never written",
          "20 bytes into device memory #[0-9]+ of 64 bytes", "in kernel read, block",
          "at PTX line [0-9]+: ld.global.u32", "from planted.cu:12"}) {
        EXPECT_EXIT(exit_if("initialized", read_fresh), testing::ExitedWithCode(0), part);
    }
}

TEST(Checks, copies_fills_and_kernels_write_device_memory) {
    EXPECT_EXIT(exit_if("initialized",
                        [](const Program& program) {
                            const unsigned values[4] = {1, 2, 3, 4};
                            const CUdeviceptr copied = program.allocate(64);
                            const CUdeviceptr filled = program.allocate(64);
                            const CUdeviceptr stored = program.allocate(64);
                            const CUdeviceptr again = program.allocate(64);
                            CUdeviceptr managed = 0;
                            CU(cuMemAllocManaged)(&managed, 64, CU_MEM_ATTACH_GLOBAL);
                            CU(cuMemcpyHtoD)(copied, values, sizeof values);
                            CU(cuMemsetD32)(filled, 1, 4);
                            CU(cuMemcpyDtoD)(again, copied, 32);
                            CU(cuCtxSynchronize)();
                            return program.run("write", stored, 2) == CUDA_SUCCESS &&
                                   program.run("read", stored, 2) == CUDA_SUCCESS &&
                                   program.run("read", copied, 3) == CUDA_SUCCESS &&
                                   program.run("read", filled, 3) == CUDA_SUCCESS &&
                                   program.run("read", managed, 3) == CUDA_SUCCESS &&
                                   program.run("read", again, 3) == CUDA_SUCCESS &&
                                   program.run("read", again, 4) == CUDA_ERROR_LAUNCH_FAILED;
                        }),
                testing::ExitedWithCode(0), "which was never written");
}

TEST(Checks, the_host_can_say_that_it_has_written_device_memory) {
    EXPECT_EXIT(exit_if("initialized",
                        [](const Program& program) {
                            const CUdeviceptr memory = program.allocate(64);
                            CU(cuprumEmulatorMarkWritten)(reinterpret_cast<const void*>(memory),
                                                          16);
                            CU(cuprumEmulatorMarkWritten)(nullptr, 16); // not device memory
                            return program.run("read", memory, 3) == CUDA_SUCCESS &&
                                   program.run("read", memory, 4) == CUDA_ERROR_LAUNCH_FAILED;
                        }),
                testing::ExitedWithCode(0), "16 bytes into device memory");
}

TEST(Checks, memory_that_is_allocated_again_is_fresh) {
    EXPECT_EXIT(exit_if("initialized",
                        [](const Program& program) {
                            CUdeviceptr memory = 0;
                            for (int i = 0; i < 40; ++i) {
                                CU(cuMemAllocAsync)(&memory, 64, program.stream);
                                CU(cuMemsetD8Async)(memory, 1, 64, program.stream);
                                CU(cuMemFreeAsync)(memory, program.stream);
                                CU(cuStreamSynchronize)(program.stream);
                            }
                            CU(cuMemAllocAsync)(&memory, 64, program.stream);
                            return program.run("read", memory, 1) == CUDA_ERROR_LAUNCH_FAILED;
                        }),
                testing::ExitedWithCode(0), "which was never written");
}

TEST(Checks, a_race_between_blocks_fails_the_launch) {
    const auto clash = [](const Program& program) {
        const CUdeviceptr memory = program.allocate(64);
        return program.run("clash", {&memory}, 4) == CUDA_ERROR_LAUNCH_FAILED;
    };
    EXPECT_EXIT(
        exit_if("races", clash), testing::ExitedWithCode(0),
        "race: write of 4 bytes at 0x[0-9a-f]+, and nothing orders it after the write by "
        "thread \\(0, 0, 0\\) of block \\([0-9], 0, 0\\)\n    at PTX line [0-9]+: st.global");
}

TEST(Checks, reports_need_not_stop_the_program) {
    EXPECT_EXIT(
        {
            ::setenv("CUPRUM_EMULATOR_CHECK_ACTION", "report", 1);
            exit_if("initialized,races", [](const Program& program) {
                const CUdeviceptr memory = program.allocate(64);
                return program.run("clash", {&memory}, 4) == CUDA_SUCCESS &&
                       program.run("read", memory, 5) == CUDA_SUCCESS &&
                       CU(cuCtxSynchronize)() == CUDA_SUCCESS;
            });
        },
        testing::ExitedWithCode(0), "race: write(.|\n)*uninitialised read");
}

TEST(Checks, a_sound_program_passes_all_of_them) {
    EXPECT_EXIT(exit_if("all",
                        [](const Program& program) {
                            const CUdeviceptr memory = program.allocate(64);
                            CU(cuMemsetD8)(memory, 0, 64);
                            CU(cuCtxSynchronize)();
                            return program.run("write", memory, 15) == CUDA_SUCCESS &&
                                   program.run("read", memory, 15) == CUDA_SUCCESS &&
                                   CU(cuMemFree)(memory) == CUDA_SUCCESS;
                        }),
                testing::ExitedWithCode(0), "^$");
}

TEST(Checks, the_watchdog_stops_a_kernel_that_waits_for_ever) {
    EXPECT_EXIT(
        {
            ::setenv("CUPRUM_EMULATOR_WATCHDOG", "1", 1);
            exit_if("window", [](const Program& program) {
                CUmodule module = nullptr;
                CUfunction function = nullptr;
                CU(cuModuleLoadData)(&module, ".version 7.0\n.target sm_70\n.address_size 64\n"
                                              ".visible .entry spin() { HERE: bra HERE; }\n");
                CU(cuModuleGetFunction)(&function, module, "spin");
                CU(cuLaunchKernel)(function, 1, 1, 1, 1, 1, 1, 0, program.stream, nullptr, nullptr);
                return CU(cuStreamSynchronize)(program.stream) == CUDA_ERROR_LAUNCH_TIMEOUT;
            });
        },
        testing::ExitedWithCode(0),
        "deadlock: for 1 seconds the kernel has only repeated(.|\n)*warp 0: lane 0 repeat a loop");
}

/// Waits for *flag to become 1. set(flag) makes it so.
constexpr const char* FLAG_PTX = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry wait(.param .u64 flag) {
    .reg .pred %p; .reg .b32 %r; .reg .b64 %rd;
    ld.param.u64 %rd, [flag];
SPIN:
    ld.volatile.global.u32 %r, [%rd];
    setp.eq.u32 %p, %r, 0;
    @%p bra SPIN;
    ret;
}
.visible .entry set(.param .u64 flag) {
    .reg .b32 %r; .reg .b64 %rd;
    ld.param.u64 %rd, [flag];
    mov.u32 %r, 1;
    st.volatile.global.u32 [%rd], %r;
    ret;
}
)";

struct Flags {
    CUfunction wait = nullptr;
    CUfunction set = nullptr;

    Flags() {
        CUmodule module = nullptr;
        CU(cuModuleLoadData)(&module, FLAG_PTX);
        CU(cuModuleGetFunction)(&wait, module, "wait");
        CU(cuModuleGetFunction)(&set, module, "set");
    }

    static void launch(CUfunction function, CUdeviceptr flag, CUstream stream) {
        void* arguments[] = {&flag};
        CU(cuLaunchKernel)(function, 1, 1, 1, 32, 1, 1, 0, stream, arguments, nullptr);
    }
};

TEST(Checks, the_watchdog_stops_a_kernel_that_waits_for_a_later_one_of_its_stream) {
    EXPECT_EXIT(
        {
            ::setenv("CUPRUM_EMULATOR_WATCHDOG", "1", 1);
            exit_if("window", [](const Program& program) {
                const Flags flags;
                const CUdeviceptr flag = program.allocate(64);
                CU(cuMemsetD8)(flag, 0, 64);
                flags.launch(flags.wait, flag, program.stream);
                flags.launch(flags.set, flag, program.stream);
                return CU(cuCtxSynchronize)() == CUDA_ERROR_LAUNCH_TIMEOUT;
            });
        },
        testing::ExitedWithCode(0),
        "deadlock: for 1 seconds(.|\n)*in kernel wait, block \\(0, 0, 0\\)\n"
        "  warp 0: lanes 0-31 repeat a loop that waits for a value in memory\n"
        "  at PTX line 9: ld.volatile.global.u32");
}

TEST(Checks, the_watchdog_lets_another_stream_or_the_host_set_a_flag_late) {
    EXPECT_EXIT(
        {
            ::setenv("CUPRUM_EMULATOR_WATCHDOG", "1", 1);
            exit_if("window", [](const Program& program) {
                const Flags flags;
                const CUdeviceptr flag = program.allocate(64);
                CU(cuMemsetD8)(flag, 0, 64);
                CUstream other = nullptr;
                CU(cuStreamCreate)(&other, CU_STREAM_NON_BLOCKING);
                // The host does something else for longer than the watchdog's time.
                flags.launch(flags.wait, flag, program.stream);
                ::usleep(2'500'000);
                flags.launch(flags.set, flag, other);
                bool is_fine = CU(cuCtxSynchronize)() == CUDA_SUCCESS;
                CU(cuMemsetD8)(flag, 0, 64);
                CU(cuCtxSynchronize)();
                flags.launch(flags.wait, flag, program.stream);
                ::usleep(2'500'000);
                is_fine &= CU(cuStreamWriteValue32)(other, flag, 1, 0) == CUDA_SUCCESS;
                return is_fine && CU(cuCtxSynchronize)() == CUDA_SUCCESS;
            });
        },
        testing::ExitedWithCode(0), "^$");
}

TEST(Checks, the_stack_has_the_size_that_the_limit_says) {
    const char* const recursion = R"(
.version 7.0
.target sm_70
.address_size 64
.func down(.param .b32 n)
{
    .reg .pred %p<2>; .reg .b32 %r<3>;
    ld.param.u32 %r1, [n];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 ret;
    sub.s32 %r2, %r1, 1;
    {
    .param .b32 param0;
    st.param.b32 [param0], %r2;
    call.uni down, (param0);
    }
    ret;
}
.visible .entry dive(.param .u32 depth)
{
    .reg .b32 %r<2>;
    .param .b32 param0;
    ld.param.u32 %r1, [depth];
    st.param.b32 [param0], %r1;
    call.uni down, (param0);
    ret;
}
)";
    EXPECT_EXIT(exit_if("window",
                        [&](const Program& program) {
                            CUmodule module = nullptr;
                            CUfunction function = nullptr;
                            unsigned depth = 500;
                            void* arguments[] = {&depth};
                            CU(cuModuleLoadData)(&module, recursion);
                            CU(cuModuleGetFunction)(&function, module, "dive");
                            const auto dive = [&] {
                                CU(cuLaunchKernel)(function, 1, 1, 1, 1, 1, 1, 0, program.stream,
                                                   arguments, nullptr);
                                return CU(cuStreamSynchronize)(program.stream);
                            };
                            return CU(cuCtxSetLimit)(CU_LIMIT_STACK_SIZE, 32768) == CUDA_SUCCESS &&
                                   dive() == CUDA_SUCCESS &&
                                   CU(cuCtxSetLimit)(CU_LIMIT_STACK_SIZE, 2048) == CUDA_SUCCESS &&
                                   dive() == CUDA_ERROR_HARDWARE_STACK_ERROR;
                        }),
                testing::ExitedWithCode(0), "stack overflow: .* the stack has 2048 bytes a thread");
}

} // namespace
