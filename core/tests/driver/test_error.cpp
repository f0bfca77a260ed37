// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "driver/call.hpp"
#include "driver/explanations.hpp"
#include "stream/stream_state.hpp"
#include "support/driver_test.hpp"
#include "support/fake_driver.hpp"

#include <cuprum/detail/access.hpp>
#include <cuprum/error.hpp>
#include <cuprum/stream.hpp>

#include <cuda.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace cuprum {

namespace {

constexpr int LARGEST_CODE = 999;

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

class ErrorOnFake : public testing::FakeDriverTest {};

class ErrorOnDevice : public testing::DriverTest {};

} // namespace

TEST(Error, says_call_name_number_and_meaning) {
    const CUDAError error(CUDA_ERROR_INVALID_CONTEXT, "cuStreamCreate");
    EXPECT_EQ(error.code(), 201);
    EXPECT_EQ(error.name(), "CUDA_ERROR_INVALID_CONTEXT");
    EXPECT_EQ(error.call(), "cuStreamCreate");
    EXPECT_EQ(std::string(error.what()),
              "cuStreamCreate failed: CUDA_ERROR_INVALID_CONTEXT (201): " + error.explanation());
    EXPECT_TRUE(contains(error.explanation(), "set_current"));
}

TEST(Error, hint_takes_the_place_of_the_general_explanation_in_the_text) {
    const CUDAError error(CUDA_ERROR_INVALID_HANDLE, "cuEventElapsedTime", "no timing here");
    EXPECT_EQ(std::string(error.what()),
              "cuEventElapsedTime failed: CUDA_ERROR_INVALID_HANDLE (400): no timing here");
    EXPECT_TRUE(contains(error.explanation(), "handle"));
}

TEST(Error, advice_is_the_hint_or_the_explanation) {
    EXPECT_EQ(CUDAError(CUDA_ERROR_INVALID_HANDLE, "cuEventQuery", "look").advice(), "look");
    const CUDAError plain(CUDA_ERROR_INVALID_HANDLE, "cuEventQuery");
    EXPECT_EQ(plain.advice(), plain.explanation());
}

TEST(Error, holds_what_the_driver_logged_on_this_thread) {
    std::string first = "the size is odd";
    std::string second = "really\n";
    driver::keep_message(nullptr, CU_LOG_LEVEL_ERROR, first.data(), first.size());
    driver::keep_message(nullptr, CU_LOG_LEVEL_WARNING, second.data(), second.size());
    const CUDAError error(CUDA_ERROR_INVALID_VALUE, "cuMemAlloc");
    EXPECT_EQ(error.driver_log(), "the size is odd\nreally");
    EXPECT_TRUE(contains(error.what(), "the driver's log: the size is odd\nreally"));
    EXPECT_EQ(CUDAError(CUDA_ERROR_INVALID_VALUE, "cuMemAlloc").driver_log(), "")
        << "a message belongs to one error";
    std::string endless(1'000'000, 'x');
    driver::keep_message(nullptr, CU_LOG_LEVEL_ERROR, first.data(), first.size());
    driver::keep_message(nullptr, CU_LOG_LEVEL_ERROR, endless.data(), endless.size());
    const std::string kept = CUDAError(CUDA_ERROR_INVALID_VALUE, "cuMemAlloc").driver_log();
    EXPECT_GT(kept.size(), 1000U);
    EXPECT_LT(kept.size(), 10'000U);
}

TEST(Error, holds_nothing_of_calls_whose_failure_was_an_answer) {
    for (std::string line : {"no kernel x", "Returning 500 (CUDA_ERROR_NOT_FOUND) from cuA",
                             "the size is odd", "really", "Returning 1 (CUDA_ERROR_X) from cuB"}) {
        driver::keep_message(nullptr, CU_LOG_LEVEL_ERROR, line.data(), line.size());
    }
    EXPECT_EQ(CUDAError(CUDA_ERROR_INVALID_VALUE, "cuB").driver_log(),
              "the size is odd\nreally\nReturning 1 (CUDA_ERROR_X) from cuB");
    for (std::string line : {"cuA: no kernel x", "cuB: the size is odd"}) {
        driver::keep_message(nullptr, CU_LOG_LEVEL_ERROR, line.data(), line.size());
    }
    EXPECT_EQ(CUDAError(CUDA_ERROR_INVALID_VALUE, "cuB").driver_log(), "cuB: the size is odd");
    for (std::string line : {"cuA: no kernel x", "Returning 500 (CUDA_ERROR_X) from cuA_v2"}) {
        driver::keep_message(nullptr, CU_LOG_LEVEL_ERROR, line.data(), line.size());
        EXPECT_EQ(CUDAError(CUDA_ERROR_NOT_SUPPORTED, "cuB for a thing").driver_log(), "");
        driver::keep_message(nullptr, CU_LOG_LEVEL_ERROR, line.data(), line.size());
        EXPECT_EQ(CUDAError(CUDA_ERROR_NOT_SUPPORTED, "cuA for a thing").driver_log(), line);
    }
    for (std::string report : {"cuA: no kernel x", "cuB: a kernel failed:\nat line 3\n"}) {
        driver::keep_message(nullptr, CU_LOG_LEVEL_ERROR, report.data(), report.size());
    }
    EXPECT_EQ(CUDAError(CUDA_ERROR_ILLEGAL_ADDRESS, "cuB").driver_log(),
              "cuB: a kernel failed:\nat line 3")
        << "a message may have several lines";
}

TEST_F(ErrorOnFake, names_the_last_launches_when_work_on_the_device_failed) {
    const Stream first = Device(0).create_stream();
    const Stream second = Device(0).create_stream();
    const Stream unused = Device(0).create_stream();
    detail::Access::state(first)->last_launch.note(detail::LaunchName("gather"));
    detail::Access::state(first)->last_launch.note(detail::LaunchName("scatter"));
    detail::Access::state(second)->last_launch.note(detail::LaunchName("reduce"));
    fake->fail("cuStreamSynchronize", CUDA_ERROR_ILLEGAL_ADDRESS);
    try {
        first.sync();
        FAIL();
    } catch (const CUDAError& error) {
        ASSERT_EQ(error.in_flight().size(), 2U);
        EXPECT_TRUE(contains(error.what(), "last launched:\n  reduce on stream 0x"));
        EXPECT_TRUE(contains(error.what(), "\n  scatter on stream 0x"));
    }
    EXPECT_TRUE(CUDAError(CUDA_ERROR_INVALID_VALUE, "cuMemAlloc").in_flight().empty());
    const detail::LaunchName again("scatter");
    EXPECT_EQ(detail::LaunchName("scatter").get(), again.get());
}

TEST_F(ErrorOnFake, a_failure_on_the_device_is_reported_in_full_once) {
    const Stream stream = Device(0).create_stream();
    detail::Access::state(stream)->last_launch.note(detail::LaunchName("_Z7scatterIfEvPT_"));
    const auto text = [](int code, const std::string& call) {
        return std::string(CUDAError(code, call).what());
    };
    const std::string full = text(CUDA_ERROR_ILLEGAL_ADDRESS, "cuStreamSynchronize");
    EXPECT_TRUE(contains(full, "\nlast launched:\n  scatter<float> on stream 0x")) << full;
    EXPECT_TRUE(contains(full, "restart the process")) << full;
    EXPECT_TRUE(contains(full, "device.reset_primary_context()")) << full;
    const std::string again = text(CUDA_ERROR_ILLEGAL_ADDRESS, "cuMemAllocAsync");
    EXPECT_TRUE(again.starts_with("cuMemAllocAsync failed: CUDA_ERROR_ILLEGAL_ADDRESS (700): this "
                                  "is the failure that cuStreamSynchronize reported"))
        << again;
    EXPECT_TRUE(contains(again, "device.reset_primary_context()")) << again;
    EXPECT_FALSE(contains(again, "\n")) << again;
    EXPECT_EQ(CUDAError(CUDA_ERROR_ILLEGAL_ADDRESS, "cuMemAllocAsync").in_flight().size(), 1U);
    EXPECT_TRUE(contains(text(CUDA_ERROR_MISALIGNED_ADDRESS, "cuA"), "last launched"));
    EXPECT_FALSE(contains(text(CUDA_ERROR_MISALIGNED_ADDRESS, "cuB"), "last launched"));
    Device(0).reset_primary_context();
    EXPECT_TRUE(contains(text(CUDA_ERROR_MISALIGNED_ADDRESS, "cuB"), "last launched"))
        << "a reset ends the failure: what comes then is new";
    // The emulated device says in which thread. Its first line names the call.
    const auto report = [&](std::string log) {
        driver::keep_message(nullptr, CU_LOG_LEVEL_ERROR, log.data(), log.size());
        return text(CUDA_ERROR_ILLEGAL_ADDRESS, log.substr(0, log.find(':')));
    };
    EXPECT_TRUE(contains(report("cuA: an earlier kernel failed:\nthread 1"), "\nthread 1"));
    EXPECT_FALSE(contains(report("cuB: an earlier kernel failed:\nthread 1"), "thread 1"));
    EXPECT_TRUE(contains(report("cuC: an earlier kernel failed:\nthread 2"), "\nthread 2"));
    // A GPU's driver names the call in its second line.
    EXPECT_TRUE(contains(report("cuD: sticky error\nReturning 700 from cuD"), "\nReturning 700"));
    EXPECT_FALSE(contains(report("cuE: sticky error\nReturning 700 from cuE"), "\nReturning 700"));
}

TEST_F(ErrorOnFake, an_illegal_address_after_peer_access_names_the_access_of_pools) {
    const auto text = [] {
        return std::string(CUDAError(CUDA_ERROR_ILLEGAL_ADDRESS, "cuStreamSynchronize").what());
    };
    Device(0).enable_peer_access(Device(1));
    EXPECT_TRUE(contains(text(), "memory_resource.peer_accessible_by")) << text();
}

TEST_F(ErrorOnFake, names_of_unloaded_kernels_are_dropped_unless_a_stream_uses_them) {
    constexpr int MANY = 10'000;
    const Stream shown = Device(0).create_stream();
    const Stream busy = Device(0).create_stream();
    detail::Access::state(shown)->last_launch.note(detail::LaunchName("shown"));
    const std::size_t before = detail::kept_names();
    std::size_t most = 0;
    for (int i = 0; i < MANY; ++i) {
        detail::Access::state(busy)->last_launch.note(
            detail::LaunchName("generated_" + std::to_string(i)));
        most = std::max(most, detail::kept_names());
    }
    EXPECT_LE(most, before + 100);
    const std::vector<std::string> launches =
        CUDAError(CUDA_ERROR_ILLEGAL_ADDRESS, "cuB").in_flight();
    ASSERT_EQ(launches.size(), 2U);
    EXPECT_TRUE(launches[0].starts_with("generated_9999 on stream 0x")) << launches[0];
    EXPECT_TRUE(launches[1].starts_with("shown on stream 0x")) << launches[1];
}

TEST_F(ErrorOnFake, names_are_shown_and_dropped_by_several_threads_at_once) {
    constexpr int THREADS = 4;
    constexpr int ROUNDS = 500;
    const Stream shared = Device(0).create_stream();
    std::vector<std::thread> threads;
    for (int thread = 0; thread < THREADS; ++thread) {
        threads.emplace_back([&, thread] { // the sanitizers check this
            for (int i = 0; i < ROUNDS; ++i) {
                const std::string text = "kernel_" + std::to_string((i * 7 + thread) % 300);
                detail::Access::state(shared)->last_launch.note(detail::LaunchName(text));
                for (const std::string& launch : detail::recent_launches()) {
                    EXPECT_TRUE(launch.starts_with("kernel_")) << launch;
                }
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(detail::recent_launches().size(), 1U);
}

TEST(Error, advises_the_emulated_device_only_elsewhere) {
    for (const CUresult code : {CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_LAUNCH_FAILED}) {
        bool is_emulated = false;
        try {
            is_emulated = driver::is_emulated();
        } catch (const std::exception&) {
            GTEST_SKIP() << "there is no driver";
        }
        const std::string text = driver::explanation_of(code);
        EXPECT_EQ(contains(text, "or on the emulated device"), !is_emulated) << text;
        EXPECT_EQ(contains(text, "the emulated device's report names the place"), is_emulated);
    }
}

TEST(Error, explains_in_our_words_without_a_driver_what_people_meet) {
    int explained = 0;
    for (int code = 0; code <= LARGEST_CODE; ++code) {
        const auto result = static_cast<CUresult>(code);
        if (driver::known_name(result) == nullptr) {
            continue;
        }
        testing::FakeDriver fake; // its cuGetErrorString knows no text
        const std::string text = driver::explanation_of(result);
        EXPECT_NE(text.back(), '.') << code;
        EXPECT_EQ(std::tolower(text.front()), text.front()) << code;
        if (!contains(text, "gives no explanation")) {
            ++explained;
        }
    }
    EXPECT_GE(explained, 60);
}

TEST_F(ErrorOnFake, asks_the_driver_for_a_code_that_is_newer_than_the_library) {
    EXPECT_EQ(driver::name_of(static_cast<CUresult>(12345)), "CUresult 12345");
    EXPECT_EQ(fake->count("cuGetErrorName"), 1);
    EXPECT_FALSE(CUDAError(12345, "cuNew").explanation().empty());
}

TEST(Error, out_of_memory_has_the_numbers) {
    const OutOfMemoryError error("cuMemAlloc", 3U << 30U, 1536U << 20U, 2048U << 20U);
    EXPECT_EQ(error.code(), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_EQ(error.requested_bytes(), 3U << 30U);
    EXPECT_EQ(error.free_bytes(), 1536U << 20U);
    EXPECT_EQ(error.total_bytes(), 2048U << 20U);
    const std::string text = error.what();
    EXPECT_TRUE(contains(text, "3 GiB (3221225472 bytes) were requested")) << text;
    EXPECT_TRUE(contains(text, "1.5 GiB (1610612736 bytes) are free of 2 GiB")) << text;
}

TEST(Error, out_of_memory_is_a_cuda_error) {
    EXPECT_THROW(throw OutOfMemoryError("cuMemAlloc", 1, 0, 0), CUDAError);
}

TEST(Error, compiler_errors_carry_log_and_options) {
    const NVRTCError error(6, "NVRTC_ERROR_COMPILATION", "nvrtcCompileProgram",
                           "k.cu(1): error: expected a \";\"\n", {"-arch=sm_90", "-G"});
    const std::string text = error.what();
    EXPECT_TRUE(contains(text, "nvrtcCompileProgram failed: NVRTC_ERROR_COMPILATION (6)")) << text;
    EXPECT_TRUE(contains(text, "-arch=sm_90 -G")) << text;
    EXPECT_TRUE(contains(text, "expected a \";\"")) << text;
    EXPECT_EQ(error.options().size(), 2U);
    const LinkerError link(ErrorDomain::NvJitLink, 6, "NVJITLINK_ERROR_INTERNAL",
                           "nvJitLinkComplete", "", {});
    EXPECT_TRUE(contains(link.what(), "options: none")) << link.what();
    EXPECT_TRUE(contains(link.what(), "linker error log: empty")) << link.what();
}

TEST(Error, a_code_means_one_thing_together_with_its_domain) {
    const OutOfMemoryError memory("cuMemAlloc", 1, 0, 0);
    const NVRTCError creation(2, "NVRTC_ERROR_PROGRAM_CREATION_FAILURE", "nvrtcCreateProgram", "",
                              {});
    const NVVMError program(2, "NVVM_ERROR_PROGRAM_CREATION_FAILURE", "nvvmCreateProgram", "", {});
    const LinkerError by_library(ErrorDomain::NvJitLink, 2, "NVJITLINK_ERROR_MISSING_ARCH",
                                 "nvJitLinkCreate", "", {});
    const LinkerError by_driver(ErrorDomain::Driver, CUDA_ERROR_OUT_OF_MEMORY,
                                "CUDA_ERROR_OUT_OF_MEMORY", "cuLinkCreate", "", {});
    const std::vector<std::pair<const Error*, ErrorDomain>> errors{
        {&memory, ErrorDomain::Driver},    {&creation, ErrorDomain::NVRTC},
        {&program, ErrorDomain::NVVM},     {&by_library, ErrorDomain::NvJitLink},
        {&by_driver, ErrorDomain::Driver},
    };
    for (const auto& [error, domain] : errors) {
        EXPECT_EQ(error->code(), 2) << error->what();
        EXPECT_EQ(error->domain(), domain) << error->what();
        EXPECT_FALSE(error->explanation().empty());
    }
    // A handler for the driver's codes does not see the codes of a compiler.
    EXPECT_EQ(dynamic_cast<const CUDAError*>(static_cast<const Error*>(&creation)), nullptr);
    EXPECT_EQ(to_string(ErrorDomain::NVRTC), "NVRTC");
    EXPECT_EQ(to_string(ErrorDomain::NvJitLink), "nvJitLink");
}

TEST(Error, every_failure_of_a_library_is_caught_as_one_base) {
    EXPECT_THROW(throw CUDAError(1, "cuInit"), Error);
    EXPECT_THROW(throw NVRTCError(6, "N", "nvrtcCompileProgram", "", {}), Error);
    EXPECT_THROW(throw LibraryNotFoundError("NVRTC", {}, ""), Error);
    EXPECT_THROW(throw NotSupportedError("cuNew", 13000, 12000), Error);
    EXPECT_THROW(throw NVVMError(9, "N", "nvvmCompileProgram", "", {}), CompilerError);
    static_assert(std::is_base_of_v<std::runtime_error, Error>);
}

TEST(Error, a_broken_launch_limit_keeps_the_failure_of_the_driver) {
    const CUDAError failure(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "cuLaunchKernelEx");
    const LaunchError error(failure, "block.x is 2048, but device 0 allows at most 1024",
                            "kernel \"k\" was launched");
    EXPECT_EQ(error.code(), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    EXPECT_EQ(error.explanation(), failure.explanation());
    EXPECT_EQ(std::string(error.what()),
              "block.x is 2048, but device 0 allows at most 1024; cuLaunchKernelEx failed: "
              "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701): kernel \"k\" was launched");
    EXPECT_TRUE(contains(failure.what(), failure.explanation())) << "the original is unchanged";
}

TEST(Error, library_not_found_lists_every_place_and_the_way_out) {
    const LibraryNotFoundError error("NVRTC", {"/a: has none", "/b: wrong ELF class"},
                                     "install the wheel");
    EXPECT_EQ(std::string(error.what()), "cannot load NVRTC; install the wheel; tried:\n"
                                         "  /a: has none\n  /b: wrong ELF class");
    EXPECT_EQ(error.library(), "NVRTC");
    EXPECT_EQ(error.tried().size(), 2U);
}

TEST(Error, not_supported_names_function_and_versions) {
    const NotSupportedError older("cuKernelGetParamInfo", 12040, 12020);
    EXPECT_EQ(older.code(), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(older.call(), "cuKernelGetParamInfo");
    EXPECT_TRUE(contains(older.what(), "needs CUDA 12.4")) << older.what();
    EXPECT_TRUE(contains(older.what(), "is for CUDA 12.2; update the driver")) << older.what();
    const NotSupportedError missing("nvrtcGetPCHCreateStatus", 12080, 13000);
    EXPECT_TRUE(contains(missing.what(), "does not offer it")) << missing.what();
}

TEST(Error, closed_names_the_class) {
    const ClosedError error("Stream");
    EXPECT_TRUE(
        contains(error.what(), "this Stream was closed, and a closed Stream cannot be used"))
        << error.what();
    EXPECT_THROW(throw ClosedError("Event"), std::logic_error);
}

TEST_F(ErrorOnDevice, names_of_codes_are_the_drivers) {
    std::set<std::string> seen;
    for (int code = 0; code <= LARGEST_CODE; ++code) {
        const auto result = static_cast<CUresult>(code);
        const char* known = driver::known_name(result);
        const char* theirs = nullptr;
        if (known == nullptr || driver::table().cuGetErrorName(result, &theirs) != CUDA_SUCCESS) {
            continue; // an older driver does not know the newest codes
        }
        EXPECT_STREQ(known, theirs) << code;
        EXPECT_TRUE(seen.insert(known).second) << code;
    }
    EXPECT_GE(seen.size(), 80U);
}

} // namespace cuprum
