// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// How long it takes to load many modules, and to find what is in large ones.

#include "api/driver.hpp"
#include "support/repeated_text.hpp"
#include "support/scaling.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace cuprum::emulator::test;

namespace {

const std::string HEADER = ".version 8.0\n.target sm_70\n.address_size 64\n";

using LoadingTest = DriverTest;

CUmodule load(const std::string& text) {
    CUmodule module = nullptr;
    EXPECT_TRUE(succeeds(CU(cuModuleLoadData)(&module, text.c_str())));
    return module;
}

} // namespace

TEST_F(LoadingTest, many_modules_take_linear_time) {
    const std::string text =
        HEADER + ".global .u32 v = 7;\n.entry k() { .reg .b32 %r; ld.global.u32 %r, [v]; ret; }\n";
    expect_scales(100, [&](std::size_t count) {
        std::vector<CUmodule> modules;
        for (std::size_t i = 0; i < count; ++i) {
            modules.push_back(load(text));
            CUfunction function = nullptr;
            EXPECT_TRUE(succeeds(CU(cuModuleGetFunction)(&function, modules.back(), "k")));
        }
        for (const CUmodule module : modules) {
            EXPECT_TRUE(succeeds(CU(cuModuleUnload)(module)));
        }
    });
}

TEST_F(LoadingTest, many_kernels_of_a_module_take_linear_time) {
    expect_scales(
        250,
        [](std::size_t count) {
            return HEADER + repeated(count, ".entry a_kernel_#() { ret; }\n");
        },
        [](const std::string& text) {
            const CUmodule module = load(text);
            const auto count = static_cast<std::size_t>(std::count(text.begin(), text.end(), '{'));
            for (std::size_t i = 0; i < count; ++i) {
                CUfunction function = nullptr;
                EXPECT_TRUE(succeeds(
                    CU(cuModuleGetFunction)(&function, module, numbered("a_kernel_#", i).c_str())));
            }
            EXPECT_TRUE(succeeds(CU(cuModuleUnload)(module)));
        });
}

TEST_F(LoadingTest, listing_the_kernels_of_a_module_takes_linear_time) {
    expect_scales(
        250,
        [](std::size_t count) {
            return HEADER + repeated(count, ".entry a_kernel_#() { ret; }\n");
        },
        [](const std::string& text) {
            const CUmodule module = load(text);
            unsigned count = 0;
            EXPECT_TRUE(succeeds(CU(cuModuleGetFunctionCount)(&count, module)));
            std::vector<CUfunction> functions(count);
            EXPECT_TRUE(succeeds(CU(cuModuleEnumerateFunctions)(functions.data(), count, module)));
            EXPECT_TRUE(succeeds(CU(cuModuleUnload)(module)));
        });
}

TEST_F(LoadingTest, many_kernels_of_a_library_take_linear_time) {
    expect_scales(
        250,
        [](std::size_t count) {
            return HEADER + repeated(count, ".entry a_kernel_#() { ret; }\n");
        },
        [](const std::string& text) {
            CUlibrary library = nullptr;
            EXPECT_TRUE(succeeds(CU(cuLibraryLoadData)(&library, text.c_str(), nullptr, nullptr, 0,
                                                       nullptr, nullptr, 0)));
            const auto count = static_cast<std::size_t>(std::count(text.begin(), text.end(), '{'));
            for (std::size_t i = 0; i < count; ++i) {
                CUkernel kernel = nullptr;
                EXPECT_TRUE(succeeds(
                    CU(cuLibraryGetKernel)(&kernel, library, numbered("a_kernel_#", i).c_str())));
            }
            EXPECT_TRUE(succeeds(CU(cuLibraryUnload)(library)));
        });
}

TEST_F(LoadingTest, many_variables_of_a_module_take_linear_time) {
    expect_scales(
        100,
        [](std::size_t count) {
            return HEADER + repeated(count, ".visible .global .u32 a_variable_# = 7;\n");
        },
        [](const std::string& text) {
            const CUmodule module = load(text);
            const auto count = static_cast<std::size_t>(std::count(text.begin(), text.end(), '='));
            for (std::size_t i = 0; i < count; ++i) {
                CUdeviceptr address = 0;
                EXPECT_TRUE(succeeds(CU(cuModuleGetGlobal)(&address, nullptr, module,
                                                           numbered("a_variable_#", i).c_str())));
            }
            EXPECT_TRUE(succeeds(CU(cuModuleUnload)(module)));
        });
}
