// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Settings of the environment. Each case runs in its own process, because cuInit reads them only
// once.

#include "api/driver.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <vector>

using namespace cuprum::emulator::test;

namespace {

/// Ends the process with 0 if `check` holds after cuInit under a setting.
template <typename Check>
void exit_if(const char* variable, const char* value, Check check) {
    ::setenv(variable, value, 1);
    const CUresult result = CU(cuInit)(0);
    std::_Exit(check(result) ? 0 : 1);
}

int attribute(CUdevice_attribute attribute) {
    int value = -1;
    CU(cuDeviceGetAttribute)(&value, attribute, 0);
    return value;
}

/// Ends the process with 0 if CUDA_VISIBLE_DEVICES shows these of four devices, in this order.
void exit_if_visible(const char* list, const std::vector<int>& devices) {
    ::setenv("CUPRUM_EMULATOR_DEVICES", "4", 1);
    exit_if("CUDA_VISIBLE_DEVICES", list, [&](CUresult result) {
        if (devices.empty()) {
            return result == CUDA_ERROR_NO_DEVICE && CU(cuInit)(0) == CUDA_ERROR_NO_DEVICE;
        }
        std::vector<int> found;
        int count = 0;
        CU(cuDeviceGetCount)(&count);
        for (int ordinal = 0; ordinal < count; ++ordinal) {
            int bus = 0;
            CU(cuDeviceGetAttribute)(&bus, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, ordinal);
            found.push_back(bus - 1); // device n of the machine is on bus n + 1
        }
        return result == CUDA_SUCCESS && found == devices;
    });
}

#define EXPECT_VISIBLE(list, ...)                                                                  \
    EXPECT_EXIT(exit_if_visible(list, {__VA_ARGS__}), testing::ExitedWithCode(0), "") << (list)

} // namespace

TEST(Settings, visible_devices_are_listed_by_number) {
    EXPECT_VISIBLE("0,1,2,3", 0, 1, 2, 3);
    EXPECT_VISIBLE("2,0", 2, 0);
    EXPECT_VISIBLE("3", 3);
    EXPECT_VISIBLE(" 1, +2", 1, 2);
    EXPECT_VISIBLE("1gpu,2-3", 1, 2);
}

TEST(Settings, the_first_entry_that_names_no_device_ends_the_list) {
    EXPECT_VISIBLE("1,4,2", 1);
    EXPECT_VISIBLE("0,2,-1,1", 0, 2);
    EXPECT_VISIBLE("1,,2", 1);
    EXPECT_VISIBLE("1,none,2", 1);
    EXPECT_VISIBLE("2,99999999999999999999", 2);
}

TEST(Settings, all_devices_can_be_hidden) {
    EXPECT_VISIBLE("");
    EXPECT_VISIBLE("-1");
    EXPECT_VISIBLE("4");
    EXPECT_VISIBLE("NoDevFiles");
    EXPECT_VISIBLE("MIG-1234");
    EXPECT_VISIBLE("1,1");
    EXPECT_VISIBLE("1,2,1");
}

TEST(Settings, visible_devices_are_listed_by_uuid) {
    const std::string uuid = "GPU-43757072-756d-456d-756c-61746f72090"; // less the last digit
    EXPECT_VISIBLE((uuid + "2").c_str(), 2);
    EXPECT_VISIBLE((uuid + "3," + uuid + "0").c_str(), 3, 0);
    EXPECT_VISIBLE((uuid + "3," + uuid + "3").c_str());
    EXPECT_VISIBLE((uuid + "1,0," + uuid + "2").c_str(), 1);
    EXPECT_VISIBLE(uuid.c_str()); // the beginning of four
    EXPECT_VISIBLE("GPU-0");
    EXPECT_VISIBLE(("0," + uuid + "1").c_str(), 0);
    const auto has_one = [](CUresult result) {
        int count = 0;
        return result == CUDA_SUCCESS && CU(cuDeviceGetCount)(&count) == CUDA_SUCCESS && count == 1;
    };
    EXPECT_EXIT(exit_if("CUDA_VISIBLE_DEVICES", "GPU-4375", has_one), testing::ExitedWithCode(0),
                "");
}

TEST(Settings, a_uuid_goes_with_its_device) {
    ::setenv("CUPRUM_EMULATOR_DEVICES", "4", 1);
    EXPECT_EXIT(exit_if("CUDA_VISIBLE_DEVICES", "2,1",
                        [](CUresult result) {
                            CUuuid first{};
                            CUuuid second{};
                            CUdevice device = -1;
                            return result == CUDA_SUCCESS &&
                                   CU(cuDeviceGetUuid)(&first, 0) == CUDA_SUCCESS &&
                                   CU(cuDeviceGetUuid)(&second, 1) == CUDA_SUCCESS &&
                                   first.bytes[15] == 2 && second.bytes[15] == 1 &&
                                   CU(cuDeviceGetByPCIBusId)(&device, "0000:02:00.0") ==
                                       CUDA_SUCCESS &&
                                   device == 1 &&
                                   CU(cuDeviceGetByPCIBusId)(&device, "0000:01:00.0") ==
                                       CUDA_ERROR_INVALID_DEVICE;
                        }),
                testing::ExitedWithCode(0), "");
    ::unsetenv("CUPRUM_EMULATOR_DEVICES");
}

TEST(Settings, the_log_says_what_hides_the_devices) {
    EXPECT_EXIT(
        {
            ::setenv("CUPRUM_EMULATOR_DEVICES", "2", 1);
            ::setenv("CUPRUM_EMULATOR_LOG", "debug", 1);
            exit_if("CUDA_VISIBLE_DEVICES", "7",
                    [](CUresult result) { return result == CUDA_ERROR_NO_DEVICE; });
        },
        testing::ExitedWithCode(0),
        "CUDA_VISIBLE_DEVICES='7' hides all of 2 emulated device\\(s\\); unset it, or list the "
        "devices to use: CUDA_VISIBLE_DEVICES=0");
}

TEST(Settings, the_number_of_devices_can_be_set) {
    EXPECT_EXIT(exit_if("CUPRUM_EMULATOR_DEVICES", "3",
                        [](CUresult result) {
                            int count = 0;
                            return result == CUDA_SUCCESS &&
                                   CU(cuDeviceGetCount)(&count) == CUDA_SUCCESS && count == 3;
                        }),
                testing::ExitedWithCode(0), "");
}

TEST(Settings, the_number_of_multiprocessors_can_be_set) {
    EXPECT_EXIT(exit_if("CUPRUM_EMULATOR_MULTIPROCESSORS", "132",
                        [](CUresult result) {
                            return result == CUDA_SUCCESS &&
                                   attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) == 132;
                        }),
                testing::ExitedWithCode(0), "");
}

TEST(Settings, the_compute_capability_can_be_set) {
    EXPECT_EXIT(exit_if("CUPRUM_EMULATOR_COMPUTE_CAPABILITY", "8.6",
                        [](CUresult result) {
                            return result == CUDA_SUCCESS &&
                                   attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) == 8 &&
                                   attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR) == 6 &&
                                   attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH) == 0;
                        }),
                testing::ExitedWithCode(0), "");
}

TEST(Settings, the_compute_capability_is_9_0_unless_set) {
    // An empty variable counts as unset.
    EXPECT_EXIT(exit_if("CUPRUM_EMULATOR_COMPUTE_CAPABILITY", "",
                        [](CUresult result) {
                            return result == CUDA_SUCCESS &&
                                   attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) == 9 &&
                                   attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR) == 0 &&
                                   attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH) == 1;
                        }),
                testing::ExitedWithCode(0), "");
}

TEST(Settings, the_memory_can_be_set_and_runs_out) {
    EXPECT_EXIT(exit_if("CUPRUM_EMULATOR_MEMORY", "64M",
                        [](CUresult result) {
                            std::size_t total = 0;
                            CUcontext context = nullptr;
                            CUdeviceptr small = 0;
                            CUdeviceptr large = 0;
                            return result == CUDA_SUCCESS &&
                                   CU(cuDeviceTotalMem)(&total, 0) == CUDA_SUCCESS &&
                                   total == 64U << 20 &&
                                   CU(cuDevicePrimaryCtxRetain)(&context, 0) == CUDA_SUCCESS &&
                                   CU(cuCtxSetCurrent)(context) == CUDA_SUCCESS &&
                                   CU(cuMemAlloc)(&small, 40U << 20) == CUDA_SUCCESS &&
                                   CU(cuMemAlloc)(&large, 40U << 20) == CUDA_ERROR_OUT_OF_MEMORY &&
                                   CU(cuMemFree)(small) == CUDA_SUCCESS &&
                                   CU(cuMemAlloc)(&large, 40U << 20) == CUDA_SUCCESS;
                        }),
                testing::ExitedWithCode(0), "");
}

TEST(Settings, a_wrong_value_fails_cuinit_and_is_named) {
    const auto refused = [](CUresult result) { return result == CUDA_ERROR_INVALID_VALUE; };
    EXPECT_EXIT(exit_if("CUPRUM_EMULATOR_DEVICES", "none", refused), testing::ExitedWithCode(0),
                "CUPRUM_EMULATOR_DEVICES='none' is not valid");
    EXPECT_EXIT(exit_if("CUPRUM_EMULATOR_COMPUTE_CAPABILITY", "8.1", refused),
                testing::ExitedWithCode(0), "CUPRUM_EMULATOR_COMPUTE_CAPABILITY='8.1'");
    EXPECT_EXIT(exit_if("CUPRUM_EMULATOR_MEMORY", "4 elephants", refused),
                testing::ExitedWithCode(0), "CUPRUM_EMULATOR_MEMORY='4 elephants'");
    EXPECT_EXIT(exit_if("CUPRUM_EMULATOR_WORKERS", "0", refused), testing::ExitedWithCode(0),
                "CUPRUM_EMULATOR_WORKERS='0'");
}

TEST(Settings, each_refusal_says_what_is_allowed) {
    struct Case {
        const char* variable;
        const char* value;
        const char* expected;
    };

    for (const auto& [variable, value, expected] : {
             Case{"CUPRUM_EMULATOR_CHECK", "memory,magic",
                  "'memory', 'initialized', 'races' or 'graphs'"},
             Case{"CUPRUM_EMULATOR_CHECK", "memory,",
                  "'memory', 'initialized', 'races' or 'graphs'"},
             Case{"CUPRUM_EMULATOR_CHECK_ACTION", "shout", "'stop' or 'report'"},
             Case{"CUPRUM_EMULATOR_SCHEDULE", "chaotic", "'deterministic', 'random'"},
             Case{"CUPRUM_EMULATOR_SCHEDULE", "random:x", "'deterministic', 'random'"},
             Case{"CUPRUM_EMULATOR_SCHEDULE", "random:", "'deterministic', 'random'"},
             Case{"CUPRUM_EMULATOR_WATCHDOG", "soon", "seconds from 0 to 86400"},
             Case{"CUPRUM_EMULATOR_WATCHDOG", "-1", "seconds from 0 to 86400"},
             Case{"CUPRUM_EMULATOR_WATCHDOG", "86401", "seconds from 0 to 86400"},
             Case{"CUPRUM_EMULATOR_WATCHDOG", "5:lax", "seconds from 0 to 86400"},
             Case{"CUPRUM_EMULATOR_WATCHDOG", ":strict", "seconds from 0 to 86400"},
             Case{"CUPRUM_EMULATOR_LEAKS", "yes", "'0' or '1'"},
             Case{"CUPRUM_EMULATOR_ISA", "v9", "'v2', 'v3' or 'v4'"},
             Case{"CUPRUM_EMULATOR_LOG", "loud", "'off', 'error', 'warn', 'info' or 'debug'"},
             Case{"CUPRUM_EMULATOR_WORKERS", "many", "a number from 1 to 1024"},
             Case{"CUPRUM_EMULATOR_DEVICES", "65", "a number from 1 to 64"},
         }) {
        EXPECT_EXIT(exit_if(variable, value,
                            [](CUresult result) { return result == CUDA_ERROR_INVALID_VALUE; }),
                    testing::ExitedWithCode(0),
                    std::string(variable) + "='" + value + "' is not valid: expected .*" +
                        expected);
    }
}

TEST(Settings, known_values_are_accepted) {
    const auto accepted = [](CUresult result) { return result == CUDA_SUCCESS; };
    for (const char* value : {"window", "exact", "memory", "initialized", "races", "graphs",
                              "memory,initialized,races", "all"}) {
        EXPECT_EXIT(exit_if("CUPRUM_EMULATOR_CHECK", value, accepted), testing::ExitedWithCode(0),
                    "^$")
            << value;
    }
    EXPECT_EXIT(exit_if("CUPRUM_EMULATOR_CHECK_ACTION", "report", accepted),
                testing::ExitedWithCode(0), "^$");
    for (const char* value : {"0", "60", "10:strict"}) {
        EXPECT_EXIT(exit_if("CUPRUM_EMULATOR_WATCHDOG", value, accepted),
                    testing::ExitedWithCode(0), "^$");
    }
    EXPECT_EXIT(exit_if("CUPRUM_EMULATOR_WORKERS", "3", accepted), testing::ExitedWithCode(0),
                "^$");
    EXPECT_EXIT(exit_if("CUPRUM_EMULATOR_SCHEDULE", "deterministic", accepted),
                testing::ExitedWithCode(0), "^$");
    EXPECT_EXIT(exit_if("CUPRUM_EMULATOR_SCHEDULE", "random:12", accepted),
                testing::ExitedWithCode(0), "^$");
}

TEST(Settings, a_seed_that_nobody_gave_is_told) {
    const auto accepted = [](CUresult result) { return result == CUDA_SUCCESS; };
    EXPECT_EXIT(exit_if("CUPRUM_EMULATOR_SCHEDULE", "random", accepted), testing::ExitedWithCode(0),
                "note: the schedule is CUPRUM_EMULATOR_SCHEDULE=random:[0-9]+; set it to repeat");
}

TEST(Settings, the_log_level_decides_what_is_said) {
    const auto use_badly = [](CUresult) {
        int value = 0;
        return CU(cuDeviceGetAttribute)(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 7) ==
               CUDA_ERROR_INVALID_DEVICE;
    };
    EXPECT_EXIT(exit_if("CUPRUM_EMULATOR_LOG", "error", use_badly), testing::ExitedWithCode(0),
                "^$");
    EXPECT_EXIT(exit_if("CUPRUM_EMULATOR_LOG", "info", use_badly), testing::ExitedWithCode(0),
                "info: cuDeviceGetAttribute: device 7 does not exist");
    EXPECT_EXIT(exit_if("CUPRUM_EMULATOR_LOG", "debug", use_badly), testing::ExitedWithCode(0),
                "debug: cuDeviceGetAttribute");
}

TEST(Settings, leaks_are_listed_when_the_process_leaves) {
    const auto leave_with_leaks = [](const char* setting, bool leaks) {
        ::setenv("CUPRUM_EMULATOR_LEAKS", setting, 1);
        CUcontext context = nullptr;
        CUstream stream = nullptr;
        CUevent event = nullptr;
        CUdeviceptr memory = 0;
        CUdeviceptr pooled = 0;
        void* pinned = nullptr;
        CU(cuInit)(0);
        CU(cuDevicePrimaryCtxRetain)(&context, 0);
        CU(cuCtxSetCurrent)(context);
        CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING);
        CU(cuEventCreate)(&event, 0);
        CU(cuMemAlloc)(&memory, 1000);
        CU(cuMemAllocAsync)(&pooled, 2000, stream);
        CU(cuMemHostAlloc)(&pinned, 3000, 0);
        if (!leaks) {
            CU(cuMemFreeHost)(pinned);
            CU(cuMemFreeAsync)(pooled, stream);
            CU(cuMemFree)(memory);
            CU(cuEventDestroy)(event);
            CU(cuStreamDestroy)(stream);
        }
        std::exit(0);
    };
    for (const char* part :
         {"note: 5 objects were not given back:",
          "stream 0x[0-9a-f]+, made by cuStreamCreate, host thread [0-9]+",
          "event 0x[0-9a-f]+, made by cuEventCreate",
          "device memory #[0-9]+ of 1000 bytes at 0x[0-9a-f]+, made by cuMemAlloc",
          "stream-ordered memory #[0-9]+ of 2000 bytes",
          "pinned host memory #[0-9]+ of 3000 bytes"}) {
        EXPECT_EXIT(leave_with_leaks("1", true), testing::ExitedWithCode(0), part);
    }
    EXPECT_EXIT(leave_with_leaks("1", false), testing::ExitedWithCode(0), "^$");
    EXPECT_EXIT(leave_with_leaks("0", true), testing::ExitedWithCode(0), "^$");
}

TEST(Settings, nothing_works_before_cuinit) {
    EXPECT_EXIT(
        {
            int count = 0;
            std::_Exit(CU(cuDeviceGetCount)(&count) == CUDA_ERROR_NOT_INITIALIZED ? 0 : 1);
        },
        testing::ExitedWithCode(0), "");
}

TEST(Settings, a_process_that_leaves_with_work_in_a_stream_does_not_hang) {
    EXPECT_EXIT(
        {
            CUcontext context = nullptr;
            CUstream stream = nullptr;
            CUdeviceptr memory = 0;
            CU(cuInit)(0);
            CU(cuDevicePrimaryCtxRetain)(&context, 0);
            CU(cuCtxSetCurrent)(context);
            CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING);
            CU(cuMemAlloc)(&memory, 1U << 20);
            CU(cuLaunchHostFunc)(
                stream, [](void*) { std::atomic<bool>(false).wait(false); }, nullptr);
            CU(cuMemsetD8Async)(memory, 1, 1U << 20, stream);
            std::exit(0);
        },
        testing::ExitedWithCode(0), "");
}

TEST(Settings, a_forked_child_is_refused_whatever_other_threads_were_doing) {
    EXPECT_EXIT(
        {
            CU(cuInit)(0);
            // These calls fail, and therefore write to the driver's log.
            auto* const initialize = &CU(cuInit);
            auto* const synchronize = &CU(cuStreamSynchronize);
            const auto fail = [synchronize] {
                return synchronize(reinterpret_cast<CUstream>(0x1230)); // not a stream
            };
            for (int i = 0; i < 3; ++i) {
                std::thread([fail] {
                    for (;;) {
                        (void)fail();
                    }
                }).detach();
            }
            constexpr int forks = 100;
            constexpr unsigned most_seconds = 20;
            for (int i = 0; i < forks; ++i) {
                const pid_t child = ::fork();
                if (child == 0) {
                    ::alarm(most_seconds);
                    std::_Exit(fail() == CUDA_ERROR_NOT_INITIALIZED &&
                                       initialize(0) == CUDA_ERROR_NOT_INITIALIZED
                                   ? 0
                                   : 1);
                }
                int status = 1;
                ::waitpid(child, &status, 0);
                if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
                    std::_Exit(1);
                }
            }
            std::_Exit(0);
        },
        testing::ExitedWithCode(0), "");
}

TEST(Settings, a_forked_child_cannot_use_the_parents_driver) {
    EXPECT_EXIT(
        {
            CU(cuInit)(0);
            const pid_t child = ::fork();
            if (child == 0) {
                int count = 0;
                std::_Exit(CU(cuDeviceGetCount)(&count) == CUDA_ERROR_NOT_INITIALIZED ? 0 : 1);
            }
            int status = 1;
            ::waitpid(child, &status, 0);
            std::_Exit(WIFEXITED(status) ? WEXITSTATUS(status) : 2);
        },
        testing::ExitedWithCode(0), "");
}
