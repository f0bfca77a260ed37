// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// How source locations are recorded and counted, and how lines of Python and symbols are read.

#include "objects/process/origin.hpp"
#include "places/native_stack.hpp"
#include "places/place.hpp"
#include "places/python_frames.hpp"
#include "places/symbol_file.hpp"

#include <cuda.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

using namespace cuprum::emulator;

namespace {

/// Uses the driver, whose functions are part of this program: allocates, frees and launches many
/// times from the same places. Returns how many places were recorded.
std::size_t use_driver(const char* checks, const char* leaks) {
    ::setenv("CUPRUM_EMULATOR_CHECK", checks, 1);
    ::setenv("CUPRUM_EMULATOR_LEAKS", leaks, 1);
    CUcontext context = nullptr;
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    bool is_fine =
        cuInit(0) == CUDA_SUCCESS && cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS &&
        cuCtxSetCurrent(context) == CUDA_SUCCESS &&
        cuModuleLoadData(&module, ".version 7.0\n.target sm_70\n.address_size 64\n"
                                  ".visible .entry nothing() { ret; }\n") == CUDA_SUCCESS &&
        cuModuleGetFunction(&function, module, "nothing") == CUDA_SUCCESS;
    for (int i = 0; i < 100 && is_fine; ++i) {
        CUdeviceptr memory = 0;
        CUevent event = nullptr;
        is_fine = cuMemAlloc(&memory, 100) == CUDA_SUCCESS &&
                  cuEventCreate(&event, 0) == CUDA_SUCCESS &&
                  cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) ==
                      CUDA_SUCCESS &&
                  cuEventDestroy(event) == CUDA_SUCCESS && cuMemFree(memory) == CUDA_SUCCESS;
    }
    return is_fine ? places::count() : ~std::size_t{0};
}

void exit_if(const char* checks, const char* leaks, std::size_t least, std::size_t most) {
    const std::size_t recorded = use_driver(checks, leaks);
    std::fprintf(stderr, "%zu places\n", recorded);
    std::_Exit(recorded >= least && recorded <= most ? 0 : 1);
}

TEST(PlaceRecording, nothing_is_recorded_unless_asked_for) {
    EXPECT_EXIT(exit_if("", "0", 0, 0), testing::ExitedWithCode(0), "^0 places");
    EXPECT_EXIT(exit_if("window", "0", 0, 0), testing::ExitedWithCode(0), "^0 places");
}

TEST(PlaceRecording, equal_places_are_kept_once) {
    for (const char* const checks : {"memory", "initialized", "races", "all"}) {
        EXPECT_EXIT(exit_if(checks, "0", 1, 10), testing::ExitedWithCode(0), "places") << checks;
    }
    EXPECT_EXIT(exit_if("", "1", 1, 10), testing::ExitedWithCode(0), "places");
}

TEST(PlaceRecording, many_threads_may_record_at_once) {
    places::set_recorded(places::OF_MEMORY);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([] {
            for (int k = 0; k < 200; ++k) {
                EXPECT_NE(Origin::here(places::OF_MEMORY).place, nullptr);
                EXPECT_EQ(Origin::here(places::OF_HANDLES).place, nullptr);
            }
        });
    }
    for (auto& thread : threads) {
        thread.join();
    }
    places::set_recorded(0);
    EXPECT_EQ(Origin::here(places::OF_MEMORY).place, nullptr);
}

// ---- lines of Python ----------------------------------------------------------------------------

std::string read(const char* dump) {
    places::PythonFrames frames;
    places::read_dump(dump, frames);
    return frames.to_text();
}

TEST(PythonFrames, the_programs_own_lines_are_kept) {
    EXPECT_EQ(read("Stack (most recent call first):\n"
                   "  File \"/env/lib/python3.11/site-packages/arrays/core.py\", line 7 in empty\n"
                   "  File \"train.py\", line 12 in load\n"
                   "  File \"train.py\", line 30 in <module>\n"
                   "  File \"<frozen runpy>\", line 88 in _run_code\n"),
              "in load() at train.py:12\nat train.py:30");
}

TEST(PythonFrames, lines_of_packages_do_where_there_are_no_others) {
    EXPECT_EQ(read("Stack (most recent call first):\n"
                   "  File \"/usr/lib/python3.11/site-packages/tool/main.py\", line 7 in <lambda>\n"
                   "  File \"/usr/lib/python3.11/runpy.py\", line 2 in run\n"),
              "in <lambda> at /usr/lib/python3.11/site-packages/tool/main.py:7\n"
              "in run() at /usr/lib/python3.11/runpy.py:2");
}

TEST(PythonFrames, only_the_innermost_are_kept) {
    std::string dump = "Stack (most recent call first):\n";
    for (int i = 1; i < 10; ++i) {
        dump += "  File \"deep.py\", line " + std::to_string(i) + " in again\n";
    }
    EXPECT_EQ(read(dump.c_str()), "in again() at deep.py:1\nin again() at deep.py:2\nin again() at "
                                  "deep.py:3");
}

TEST(PythonFrames, characters_beyond_ascii_are_as_they_were) {
    EXPECT_EQ(read("  File \"\\xfcbung/\\u4e2d\\U0001f40d.py\", line 3 in f\\xe9\n"),
              "in fé() at übung/中🐍.py:3");
    EXPECT_EQ(read("  File \"a\\q\\x1.py\", line 3 in f\n"), "in f() at a\\q\\x1.py:3");
}

TEST(PythonFrames, what_is_no_frame_is_left_out) {
    EXPECT_EQ(read(""), "");
    EXPECT_EQ(read("  File \"a.py\", line 3 in f"), "") << "cut off";
    EXPECT_EQ(read("  File \"a.py\", line ??? in f\n  ...\n  File \"b.py\"\n"), "");
    EXPECT_EQ(read("  File \"a\", line 1 in b.py\", line 3 in f\n"),
              "in f() at a\", line 1 in b.py:3");
}

// ---- symbols ------------------------------------------------------------------------------------

TEST(SymbolFile, damaged_files_have_no_symbols_and_do_no_harm) {
    std::ifstream stream(CUPRUM_EMULATOR_PLACES_PROGRAM, std::ios::binary);
    std::vector<char> file((std::istreambuf_iterator<char>(stream)), {});
    ASSERT_GT(file.size(), 4096U);
    const auto find = [](const std::vector<char>& bytes) {
        return places::find_symbol(std::as_bytes(std::span(bytes)), 0x1234567890).name;
    };
    EXPECT_EQ(find(file), "") << "no function is there";
    for (std::size_t size = 0; size < 128; ++size) {
        EXPECT_EQ(find({file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size)}), "");
    }
    for (std::size_t at = 0; at < 64; ++at) { // the header
        std::vector<char> damaged = file;
        damaged[at] = static_cast<char>(0xff);
        EXPECT_EQ(find(damaged), "");
    }
    EXPECT_EQ(places::find_symbol("/no/such/file", 0).name, "");
    EXPECT_EQ(places::find_symbol("/dev/null", 0).name, "");
    EXPECT_EQ(places::find_symbol("/", 0).name, "");
}

} // namespace
