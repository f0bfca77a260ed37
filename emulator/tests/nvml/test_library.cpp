// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Starting and stopping NVML, and what all functions have in common.

#include "nvml_test.hpp"
#include "support/shell.hpp"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <regex>
#include <set>

namespace cuprum::nvml::test {

namespace {

/// A row of the library: see emulator/nvml/row.hpp.
struct Row {
    const char* name;
    bool is_of_device;
    bool is_refused;
};

/// Returns the functions of the library that are refused or not, of a device or not, or of both.
std::set<std::string> rows(bool is_refused, std::optional<bool> is_of_device = std::nullopt) {
    auto* const row =
        reinterpret_cast<const Row* (*)(std::size_t)>(symbol("cuprumEmulatorFunction"));
    std::set<std::string> names;
    for (std::size_t index = 0; const Row* const each = row(index); ++index) {
        if (each->is_refused == is_refused &&
            is_of_device.value_or(each->is_of_device) == each->is_of_device) {
            names.insert(each->name);
        }
    }
    return names;
}

const std::set<std::string> IMPLEMENTED = rows(false);
const std::set<std::string> OF_DEVICE = rows(false, true);
const std::set<std::string> REFUSED_OF_DEVICE = rows(true, true);
const std::set<std::string> REFUSED = rows(true, false);

/// Functions that need no state.
const std::set<std::string> FREE{"nvmlInit", "nvmlInit_v2", "nvmlInitWithFlags", "nvmlErrorString"};

/// Calls any function with its first argument and zeros, which C's calling convention allows.
nvmlReturn_t call(const std::string& name, std::uint64_t first = 0) {
    using Any = nvmlReturn_t(std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                             std::uint64_t, std::uint64_t);
    return (*reinterpret_cast<Any*>(symbol(name.c_str())))(first, 0, 0, 0, 0, 0);
}

} // namespace

using LibraryTest = NVMLTest;

TEST_F(LibraryTest, exports_every_function_of_nvidias_header) {
    const std::string path = CUPRUM_NVIDIA_NVML_HEADER;
    if (path.empty()) {
        GTEST_SKIP() << "nvml.h is not installed";
    }
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    std::set<std::string> declared;
    const std::regex declaration("DECLDIR\\s+(?:char\\s*\\*\\s*)?(nvml[A-Z]\\w*)\\s*\\(");
    for (std::sregex_iterator each(text.begin(), text.end(), declaration), end; each != end;
         ++each) {
        declared.insert((*each)[1]);
    }
    ASSERT_GT(declared.size(), 400U);
    std::set<std::string> exported = IMPLEMENTED;
    exported.insert(REFUSED.begin(), REFUSED.end());
    exported.insert(REFUSED_OF_DEVICE.begin(), REFUSED_OF_DEVICE.end());
    EXPECT_EQ(exported, declared);
}

TEST_F(LibraryTest, a_forked_child_can_call_while_other_threads_of_its_parent_do) {
    constexpr int children = 200;
    constexpr unsigned int longest_s = 20;
    const auto& count_devices = NVML(nvmlDeviceGetCount_v2); // dlsym() may wait in a child
    std::atomic<bool> is_over = false;
    std::thread busy([&] {
        unsigned int count = 0;
        while (!is_over) {
            (void)count_devices(&count);
        }
    });
    int failures = 0;
    for (int child = 0; child < children && failures == 0; ++child) {
        const pid_t pid = ::fork();
        if (pid == 0) {
            ::alarm(longest_s);
            unsigned int count = 0;
            std::_Exit(count_devices(&count) == NVML_SUCCESS && count == 2 ? 0 : 1);
        }
        int status = -1;
        failures += ::waitpid(pid, &status, 0) == pid && status == 0 ? 0 : 1;
    }
    is_over = true;
    busy.join();
    EXPECT_EQ(failures, 0);
}

TEST_F(LibraryTest, every_function_says_that_nvml_is_not_initialised) {
    ASSERT_EQ(NVML(nvmlShutdown)(), NVML_SUCCESS);
    for (const auto* const names : {&IMPLEMENTED, &REFUSED, &REFUSED_OF_DEVICE}) {
        for (const std::string& name : *names) {
            if (!FREE.contains(name)) {
                EXPECT_EQ(call(name), NVML_ERROR_UNINITIALIZED) << name;
            }
        }
    }
    ASSERT_EQ(NVML(nvmlInit_v2)(), NVML_SUCCESS);
}

TEST_F(LibraryTest, null_pointers_are_invalid_arguments) {
    // These take no pointers beyond the device: zeros are good values for some of them.
    const std::set<std::string> without_pointers{
        "nvmlDeviceClearCpuAffinity",        "nvmlDeviceResetGpuLockedClocks",
        "nvmlDeviceResetMemoryLockedClocks", "nvmlDeviceSetCpuAffinity",
        "nvmlDeviceSetComputeMode",          "nvmlDeviceSetDefaultFanSpeed_v2",
        "nvmlDeviceSetFanControlPolicy",     "nvmlDeviceSetFanSpeed_v2",
        "nvmlDeviceSetPersistenceMode",      "nvmlShutdown"};
    for (const std::string& name : IMPLEMENTED) {
        if (!FREE.contains(name) && !without_pointers.contains(name)) {
            EXPECT_EQ(call(name), NVML_ERROR_INVALID_ARGUMENT) << name;
        }
    }
    ASSERT_GT(OF_DEVICE.size(), 90U);
    for (const std::string& name : OF_DEVICE) {
        if (!without_pointers.contains(name)) {
            EXPECT_EQ(call(name, reinterpret_cast<std::uint64_t>(device())),
                      NVML_ERROR_INVALID_ARGUMENT)
                << name << " of a device";
        }
    }
}

TEST_F(LibraryTest, handles_that_are_none_are_refused) {
    int on_the_stack = 0;
    const auto valid = reinterpret_cast<std::uint64_t>(device());
    for (const std::uint64_t wrong :
         {std::uint64_t{0}, std::uint64_t{1}, reinterpret_cast<std::uint64_t>(&on_the_stack),
          valid + 1, valid + 2 * sizeof(unsigned int)}) {
        unsigned int index = 0;
        EXPECT_EQ(NVML(nvmlDeviceGetIndex)(reinterpret_cast<nvmlDevice_t>(wrong), &index),
                  NVML_ERROR_INVALID_ARGUMENT);
        for (const std::string& name : REFUSED_OF_DEVICE) {
            EXPECT_EQ(call(name, wrong), NVML_ERROR_INVALID_ARGUMENT) << name;
        }
    }
}

TEST_F(LibraryTest, what_the_device_does_not_have_is_not_supported) {
    for (const std::string& name : REFUSED_OF_DEVICE) {
        EXPECT_EQ(call(name, reinterpret_cast<std::uint64_t>(device())), NVML_ERROR_NOT_SUPPORTED)
            << name;
    }
    for (const std::string& name : REFUSED) {
        EXPECT_EQ(call(name), NVML_ERROR_NOT_SUPPORTED) << name;
    }
}

TEST_F(LibraryTest, each_init_needs_its_shutdown) {
    unsigned int count = 0;
    ASSERT_EQ(NVML(nvmlInit)(), NVML_SUCCESS);
    ASSERT_EQ(NVML(nvmlInitWithFlags)(NVML_INIT_FLAG_NO_GPUS), NVML_SUCCESS);
    EXPECT_EQ(NVML(nvmlInitWithFlags)(1U << 20U), NVML_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(NVML(nvmlShutdown)(), NVML_SUCCESS);
    EXPECT_EQ(NVML(nvmlShutdown)(), NVML_SUCCESS);
    EXPECT_EQ(NVML(nvmlDeviceGetCount_v2)(&count), NVML_SUCCESS);
    EXPECT_EQ(NVML(nvmlShutdown)(), NVML_SUCCESS);
    EXPECT_EQ(NVML(nvmlShutdown)(), NVML_ERROR_UNINITIALIZED);
    EXPECT_EQ(NVML(nvmlDeviceGetCount_v2)(&count), NVML_ERROR_UNINITIALIZED);
    ASSERT_EQ(NVML(nvmlInit_v2)(), NVML_SUCCESS);
}

TEST_F(LibraryTest, the_first_init_reads_the_settings) {
    unsigned int count = 0;
    ASSERT_EQ(NVML(nvmlDeviceGetCount_v2)(&count), NVML_SUCCESS);
    EXPECT_EQ(count, 2U);
    set("CUPRUM_EMULATOR_DEVICES", "5");
    ASSERT_EQ(NVML(nvmlInit_v2)(), NVML_SUCCESS);
    ASSERT_EQ(NVML(nvmlDeviceGetCount_v2)(&count), NVML_SUCCESS);
    EXPECT_EQ(count, 2U);
    ASSERT_EQ(NVML(nvmlShutdown)(), NVML_SUCCESS);
    ASSERT_EQ(restart(), NVML_SUCCESS);
    ASSERT_EQ(NVML(nvmlDeviceGetCount_v2)(&count), NVML_SUCCESS);
    EXPECT_EQ(count, 5U);
    ASSERT_EQ(NVML(nvmlDeviceGetCount)(&count), NVML_SUCCESS);
    EXPECT_EQ(count, 5U);
}

TEST_F(LibraryTest, init_refuses_wrong_settings_and_names_them) {
    const std::map<std::string, std::string> wrong{
        {"CUPRUM_EMULATOR_DEVICES", "many"},        {"CUPRUM_EMULATOR_TEMPERATURE", "128"},
        {"CUPRUM_EMULATOR_POWER", "1,,2"},          {"CUPRUM_EMULATOR_FANS", "-1"},
        {"CUPRUM_EMULATOR_CLOCK_EVENTS", "hot"},    {"CUPRUM_EMULATOR_ECC_ERRORS", "3"},
        {"CUPRUM_EMULATOR_PERFORMANCE_STATE", "16"}};
    ASSERT_EQ(NVML(nvmlShutdown)(), NVML_SUCCESS);
    set("CUPRUM_EMULATOR_LOG", "error");
    for (const auto& [name, value] : wrong) {
        set(name, value);
        testing::internal::CaptureStderr();
        EXPECT_EQ(NVML(nvmlInit_v2)(), NVML_ERROR_INVALID_ARGUMENT) << name;
        const std::string message = testing::internal::GetCapturedStderr();
        EXPECT_NE(message.find(name + "='" + value + "' is not valid: expected "),
                  std::string::npos)
            << message;
        set_variable(name, name == "CUPRUM_EMULATOR_DEVICES" ? "2" : "");
    }
    unsigned int count = 0;
    EXPECT_EQ(NVML(nvmlDeviceGetCount_v2)(&count), NVML_ERROR_UNINITIALIZED);
    ASSERT_EQ(NVML(nvmlInit_v2)(), NVML_SUCCESS);
}

TEST_F(LibraryTest, the_command_puts_it_in_reach) {
    const std::string command = CUPRUM_EMULATOR_COMMAND;
    const auto run =
        emulator::test::shell("echo nvml | " + command + " run " + CUPRUM_EMULATOR_NVML_WORKER);
    EXPECT_EQ(run.output, "0\n");
    const auto info = emulator::test::shell(command + " info");
    EXPECT_NE(info.output.find("NVML: " + fs::canonical(CUPRUM_EMULATOR_NVML).string() + "\n"),
              std::string::npos)
        << info.output;
}

TEST_F(LibraryTest, every_error_has_a_text_of_its_own) {
    std::set<std::string> texts;
    for (int code = NVML_SUCCESS; code <= NVML_ERROR_RESET_TYPE_NOT_SUPPORTED; ++code) {
        texts.insert(NVML(nvmlErrorString)(static_cast<nvmlReturn_t>(code)));
    }
    EXPECT_EQ(texts.size(), 31U);
    EXPECT_STREQ(NVML(nvmlErrorString)(NVML_ERROR_UNKNOWN), "unknown error");
    EXPECT_STREQ(NVML(nvmlErrorString)(static_cast<nvmlReturn_t>(12345)), "unknown error");
}

TEST_F(LibraryTest, threads_may_start_and_stop_it_at_once) {
    std::vector<std::thread> threads;
    std::atomic<int> failures{0};
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&] {
            for (int turn = 0; turn < 100; ++turn) {
                unsigned int count = 0;
                failures += NVML(nvmlInit_v2)() == NVML_SUCCESS ? 0 : 1;
                failures +=
                    NVML(nvmlDeviceGetCount_v2)(&count) == NVML_SUCCESS && count == 2 ? 0 : 1;
                failures += NVML(nvmlShutdown)() == NVML_SUCCESS ? 0 : 1;
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(failures, 0);
}

} // namespace cuprum::nvml::test
