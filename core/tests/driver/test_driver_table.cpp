// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "driver/call.hpp"
#include "driver/current.hpp"
#include "driver/library.hpp"
#include "driver/table.hpp"
#include "support/driver_test.hpp"
#include "support/fake_driver.hpp"
#include "support/scoped_variable.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/detail/runtime.hpp>
#include <cuprum/error.hpp>
#include <cuprum/stream.hpp>
#include <cuprum/version.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace cuprum {

namespace {

using driver::DriverChoice;
using driver::DriverLibrary;
using testing::ScopedVariable;

constexpr const char* SOME_LIBRARY = "libm.so.6"; // a library that is not a driver

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

CUresult answer(const char* name, void** function, int version) {
    const bool is_found = std::string(name) == "cuInit" && version >= 2000;
    *function = is_found ? reinterpret_cast<void*>(&answer) : nullptr;
    return is_found ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

/// Behaves like drivers since 12.0: returns success, and the reason in `found`.
CUresult get_proc_address_v2(const char* name, void** function, int version, cuuint64_t,
                             CUdriverProcAddressQueryResult* found) {
    *found = answer(name, function, version) == CUDA_SUCCESS ? CU_GET_PROC_ADDRESS_SUCCESS
                                                             : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return CUDA_SUCCESS;
}

/// Behaves like drivers of 11.x.
CUresult get_proc_address_v1(const char* name, void** function, int version, cuuint64_t) {
    return answer(name, function, version);
}

DriverLibrary driver_with(void* get_proc_address, bool is_v2) {
    DriverLibrary driver;
    driver.get_proc_address = get_proc_address;
    driver.is_get_proc_address_v2 = is_v2;
    driver.version = 12020;
    return driver;
}

std::string path_of_some_library() {
    std::vector<std::string> tried;
    return detail::open_library(SOME_LIBRARY, tried)->path;
}

class TableOnFake : public testing::FakeDriverTest {};

class TableOnDevice : public testing::DriverTest {};

} // namespace

// ---- finding functions -------------------------------------------------------------------------

TEST(DriverLibrary, finds_functions_through_either_form_of_get_proc_address) {
    const auto newer = driver_with(reinterpret_cast<void*>(&get_proc_address_v2), true);
    const auto older = driver_with(reinterpret_cast<void*>(&get_proc_address_v1), false);
    EXPECT_NE(driver::find_function(newer, "cuInit", 2000), nullptr);
    EXPECT_NE(driver::find_function(older, "cuInit", 2000), nullptr);
}

TEST(DriverLibrary, missing_function_is_an_error_with_both_versions) {
    for (const auto& driver : {driver_with(reinterpret_cast<void*>(&get_proc_address_v2), true),
                               driver_with(reinterpret_cast<void*>(&get_proc_address_v1), false)}) {
        try {
            (void)driver::find_function(driver, "cuKernelGetParamInfo", 12040);
            FAIL() << "found a function that is not there";
        } catch (const NotSupportedError& error) {
            EXPECT_TRUE(contains(error.what(), "cuKernelGetParamInfo")) << error.what();
            EXPECT_TRUE(contains(error.what(), "12.4")) << error.what();
            EXPECT_TRUE(contains(error.what(), "12.2")) << error.what();
        }
    }
}

TEST(DriverLibrary, driver_without_get_proc_address_is_too_old) {
    try {
        (void)driver::find_function(DriverLibrary{}, "cuInit", 2000);
        FAIL();
    } catch (const NotSupportedError& error) {
        EXPECT_EQ(error.call(), "cuGetProcAddress");
    }
}

// ---- choosing a driver -------------------------------------------------------------------------

TEST(DriverChoice, relative_path_or_unknown_word_is_refused) {
    for (const char* wish : {"emulator", "lib/libcuda.so.1", "./libcuda.so.1", "Native", " "}) {
        try {
            (void)driver::choose_driver(wish);
            FAIL() << wish;
        } catch (const std::invalid_argument& error) {
            EXPECT_TRUE(contains(error.what(), std::string("'") + wish + "'")) << error.what();
            EXPECT_TRUE(contains(error.what(), "native, emulated or the absolute path"))
                << error.what();
        }
    }
}

TEST(DriverChoice, missing_file_is_an_error_that_names_it) {
    try {
        (void)driver::choose_driver("/nowhere/libcuda.so.1");
        FAIL();
    } catch (const LibraryNotFoundError& error) {
        ASSERT_EQ(error.tried().size(), 1U);
        EXPECT_TRUE(contains(error.tried()[0], "/nowhere/libcuda.so.1: ")) << error.tried()[0];
    }
}

TEST(DriverChoice, emulated_is_searched_only_beside_this_library) {
    const ScopedVariable variable("CUPRUM_EMULATOR_LIBRARY", "lib/libcuda.so.1");
    try {
        (void)driver::choose_driver("emulated");
        FAIL() << "there is no emulated device beside a test program";
    } catch (const LibraryNotFoundError& error) {
        const std::string here = detail::own_directory();
        ASSERT_EQ(error.tried().size(), 3U);
        EXPECT_TRUE(contains(error.tried()[0], "not an absolute path")) << error.tried()[0];
        for (std::size_t i = 1; i < 3; ++i) {
            EXPECT_EQ(error.tried()[i].rfind("/", 0), 0U) << error.tried()[i];
        }
        EXPECT_TRUE(contains(error.tried()[1], here + "/cuprum/libcuda.so.1"));
        EXPECT_TRUE(contains(error.tried()[2], "/emulator/lib/libcuda.so.1"));
        EXPECT_TRUE(contains(error.what(), "pip install cuprum-emulator")) << error.what();
        EXPECT_TRUE(contains(error.what(), "CUPRUM_EMULATOR_LIBRARY")) << error.what();
    }
}

TEST(DriverChoice, emulated_takes_the_file_that_the_variable_names) {
    const ScopedVariable variable("CUPRUM_EMULATOR_LIBRARY", path_of_some_library());
    const DriverChoice choice = driver::choose_driver("emulated");
    EXPECT_EQ(choice.driver.library.path, path_of_some_library());
    EXPECT_TRUE(choice.warning.empty());
    EXPECT_FALSE(choice.driver.is_emulated) << "libm has no mark of the emulated device";
}

TEST(DriverChoice, without_a_gpu_falls_back_with_a_warning_that_says_how_to_forbid_it) {
    const ScopedVariable variable("CUPRUM_EMULATOR_LIBRARY", path_of_some_library());
    const DriverChoice choice = driver::choose_driver("");
    if (choice.driver.library.path != path_of_some_library()) {
        EXPECT_TRUE(choice.warning.empty());
        GTEST_SKIP() << "there is a GPU: " << choice.driver.library.path;
    }
    EXPECT_TRUE(contains(choice.warning, "no GPU can be used (")) << choice.warning;
    EXPECT_TRUE(contains(choice.warning, path_of_some_library())) << choice.warning;
    EXPECT_TRUE(contains(choice.warning, "CUPRUM_DRIVER=native")) << choice.warning;
    EXPECT_TRUE(contains(choice.warning, "CUPRUM_DRIVER=emulated")) << choice.warning;
}

// ---- calls -------------------------------------------------------------------------------------

TEST_F(TableOnFake, entry_knows_the_plain_name_of_its_function) {
    EXPECT_STREQ(driver::table().cuStreamDestroy.name, "cuStreamDestroy");
    EXPECT_EQ(driver::table().cuStreamDestroy.version, 4000);
}

TEST_F(TableOnFake, copy_of_the_table_can_replace_one_function) {
    driver::Table copy = driver::table();
    copy.cuDeviceGetCount = [](int*) { return CUDA_ERROR_NO_DEVICE; };
    driver::Table* before = driver::exchange_table(&copy);
    EXPECT_THROW((void)Device::all(), CUDAError);
    driver::exchange_table(before);
    EXPECT_EQ(Device::all().size(), 2U);
}

TEST_F(TableOnFake, failed_initialisation_is_tried_again) {
    fake->fail("cuInit", CUDA_ERROR_SYSTEM_NOT_READY);
    try {
        (void)Device(0);
        FAIL();
    } catch (const CUDAError& error) {
        EXPECT_EQ(error.call(), "cuInit");
    }
    EXPECT_EQ(Device(0).ordinal(), 0);
    EXPECT_EQ(Device(1).ordinal(), 1);
    EXPECT_EQ(fake->count("cuInit"), 2);
}

TEST_F(TableOnFake, threads_that_start_together_initialise_once) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([] { (void)Device(0).primary_context(); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(fake->count("cuInit"), 1);
    EXPECT_EQ(fake->count("cuDeviceGetCount"), 1);
    EXPECT_EQ(fake->count("cuDevicePrimaryCtxRetain"), 1);
}

TEST_F(TableOnFake, current_pushes_only_what_is_not_current) {
    const CUcontext context = fake->make_context(0);
    {
        const driver::Current current(context);
        EXPECT_EQ(fake->current(), context);
        const driver::Current again(context);
        EXPECT_EQ(fake->count("cuCtxPushCurrent"), 1);
    }
    EXPECT_EQ(fake->count("cuCtxPopCurrent"), 1);
    EXPECT_EQ(fake->current(), nullptr);
}

TEST_F(TableOnFake, release_reports_a_failure_and_does_not_throw) {
    fake->fail("cuStreamDestroy", CUDA_ERROR_ILLEGAL_ADDRESS);
    Device(0).create_stream().close();
    const auto messages = warnings.take(WarningKind::Release);
    ASSERT_EQ(messages.size(), 1U);
    EXPECT_TRUE(contains(messages[0], "could not release a stream: cuStreamDestroy failed: "
                                      "CUDA_ERROR_ILLEGAL_ADDRESS (700): "))
        << messages[0];
}

TEST_F(TableOnFake, release_after_the_driver_shut_down_is_silent) {
    fake->fail("cuStreamDestroy", CUDA_ERROR_DEINITIALIZED);
    Device(0).create_stream().close();
    EXPECT_TRUE(warnings.take(WarningKind::Release).empty());
}

TEST_F(TableOnFake, a_function_that_the_driver_lacks_gives_a_code_and_then_its_error) {
    EXPECT_EQ(driver::lack("cuNew", 14000, 13000), CUDA_ERROR_NOT_SUPPORTED);
    try {
        driver::raise(CUDA_ERROR_NOT_SUPPORTED, "cuOld", "a reason");
    } catch (const CUDAError& error) {
        EXPECT_EQ(dynamic_cast<const NotSupportedError*>(&error), nullptr) << "the driver has it";
        EXPECT_TRUE(contains(error.what(), "a reason")) << error.what();
    }
    try {
        driver::raise(CUDA_ERROR_NOT_SUPPORTED, "cuNew", "a reason");
    } catch (const NotSupportedError& error) {
        EXPECT_TRUE(contains(error.what(), "needs CUDA 14.0")) << error.what();
    }
    EXPECT_FALSE(driver::call_if_supported(
        driver::Entry<CUresult(int)>([](int) { return driver::lack("cuNew", 14000, 13000); },
                                     "cuNew", 14000),
        1));
    EXPECT_EQ(driver::resolve("cuNoSuchFunction", 12000), nullptr);
}

TEST_F(TableOnFake, release_of_a_function_that_is_missing_is_reported) {
    const Stream stream = Device(0).create_stream();
    fake->forget_calls();
    driver::release_now(
        "stream",
        driver::Entry<CUresult(CUstream)>(
            [](CUstream) -> CUresult { return driver::lack("cuStreamDestroy", 4000, 3020); },
            "cuStreamDestroy", 4000),
        stream.handle());
    const auto messages = warnings.take(WarningKind::Release);
    ASSERT_EQ(messages.size(), 1U);
    EXPECT_TRUE(contains(messages[0], "needs CUDA 4.0")) << messages[0];
}

using TableDeathTest = TableOnFake;

TEST_F(TableDeathTest, nothing_is_released_once_the_process_is_leaving) {
    const auto leave = [this] {
        Stream stream = Device(0).create_stream();
        Buffer buffer = Device(0).allocate(16, stream);
        detail::mark_leaving();
        fake->forget_calls();
        buffer.close();
        stream.close();
        std::_Exit(fake->calls().empty() ? 0 : 1);
    };
    EXPECT_EXIT(leave(), ::testing::ExitedWithCode(0), "");
}

TEST_F(TableDeathTest, static_object_that_outlives_main_leaves_the_driver_alone) {
    const auto leave = [this] {
        // The guard is destroyed after the exit handler, which is registered later.
        static struct Guard {
            testing::FakeDriver* fake = nullptr;
            std::optional<Stream> stream;

            ~Guard() {
                fake->forget_calls();
                stream.reset();
                std::_Exit(fake->calls().empty() ? 0 : 1);
            }
        } guard;
        guard.fake = fake.get();
        guard.stream = Device(0).create_stream();
        std::exit(2);
    };
    EXPECT_EXIT(leave(), ::testing::ExitedWithCode(0), "");
}

// ---- the driver in use -------------------------------------------------------------------------

TEST_F(TableOnDevice, every_function_is_in_the_driver) {
    int found = 0;
    const driver::DriverLibrary& library = driver::driver_library();
#define CUPRUM_DRIVER_FUNCTION(function, cuda_version)                                             \
    if (cuda_version <= library.version) {                                                         \
        EXPECT_NO_THROW((void)driver::find_function(library, #function, cuda_version));            \
        ++found;                                                                                   \
    }
#include "driver/symbols.def"
#undef CUPRUM_DRIVER_FUNCTION
    EXPECT_GT(found, 40);
}

TEST_F(TableOnDevice, description_says_which_and_where) {
    const std::string text = driver_description();
    EXPECT_EQ(text.rfind(device().is_emulated() ? "emulated (/" : "native (/", 0), 0U) << text;
    EXPECT_GE(driver_version(), 12000);
    EXPECT_STREQ(version(), "0.1.0");
}

} // namespace cuprum
