// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The settings of core dumps. They are stored, although no core dump is ever written.

#include "api/driver.hpp"

#include <string>

using namespace cuprum::emulator::test;

namespace {

template <typename Value>
CUresult set_global(CUcoredumpSettings setting, Value value) {
    std::size_t size = sizeof value;
    return CU(cuCoredumpSetAttributeGlobal)(setting, &value, &size);
}

std::string text_of(CUcoredumpSettings setting) {
    char text[1024] = {};
    std::size_t size = sizeof text;
    EXPECT_TRUE(succeeds(CU(cuCoredumpGetAttributeGlobal)(setting, text, &size)));
    return text;
}

} // namespace

TEST(CoreDumps, settings_are_kept) {
    EXPECT_TRUE(text_of(CU_COREDUMP_FILE).starts_with("core.cuda."));
    char file[] = "my_core";
    std::size_t size = sizeof file;
    ASSERT_TRUE(succeeds(CU(cuCoredumpSetAttributeGlobal)(CU_COREDUMP_FILE, file, &size)));
    EXPECT_EQ(text_of(CU_COREDUMP_FILE), "my_core");
    ASSERT_TRUE(succeeds(set_global(CU_COREDUMP_TRIGGER_HOST, false)));
    ASSERT_TRUE(succeeds(set_global(CU_COREDUMP_LIGHTWEIGHT, true)));
    bool is_on = true;
    size = sizeof is_on;
    ASSERT_TRUE(
        succeeds(CU(cuCoredumpGetAttributeGlobal)(CU_COREDUMP_TRIGGER_HOST, &is_on, &size)));
    EXPECT_FALSE(is_on);
    ASSERT_TRUE(succeeds(CU(cuCoredumpGetAttributeGlobal)(CU_COREDUMP_LIGHTWEIGHT, &is_on, &size)));
    EXPECT_TRUE(is_on);
    int flags = 0;
    size = sizeof flags;
    ASSERT_TRUE(
        succeeds(CU(cuCoredumpGetAttributeGlobal)(CU_COREDUMP_GENERATION_FLAGS, &flags, &size)));
    EXPECT_EQ(flags, CU_COREDUMP_LIGHTWEIGHT_FLAGS);
}

TEST(CoreDumps, sizes_are_told_and_checked) {
    std::size_t size = 0;
    ASSERT_TRUE(succeeds(CU(cuCoredumpGetAttributeGlobal)(CU_COREDUMP_PIPE, nullptr, &size)));
    EXPECT_EQ(size, 1024U);
    char small[4];
    size = sizeof small;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuCoredumpGetAttributeGlobal)(CU_COREDUMP_PIPE, small, &size)));
    std::string longer(1024, 'x');
    size = longer.size() + 1;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuCoredumpSetAttributeGlobal)(CU_COREDUMP_FILE, longer.data(), &size)));
    EXPECT_TRUE(returns(
        CUDA_ERROR_INVALID_VALUE,
        CU(cuCoredumpGetAttributeGlobal)(static_cast<CUcoredumpSettings>(99), small, &size)));
}

TEST(CoreDumps, switching_them_on_is_refused) {
    EXPECT_TRUE(
        returns(CUDA_ERROR_NOT_SUPPORTED, set_global(CU_COREDUMP_ENABLE_ON_EXCEPTION, true)));
    EXPECT_TRUE(succeeds(set_global(CU_COREDUMP_ENABLE_ON_EXCEPTION, false)));
}

TEST(CoreDumps, a_context_has_settings_of_its_own) {
    ASSERT_TRUE(succeeds(CU(cuInit)(0)));
    CUcontext context = nullptr;
    ASSERT_TRUE(succeeds(CU(cuDevicePrimaryCtxRetain)(&context, 0)));
    ASSERT_TRUE(succeeds(CU(cuCtxSetCurrent)(context)));
    char own[] = "of_context";
    std::size_t size = sizeof own;
    ASSERT_TRUE(succeeds(CU(cuCoredumpSetAttribute)(CU_COREDUMP_PIPE, own, &size)));
    char text[1024] = {};
    size = sizeof text;
    ASSERT_TRUE(succeeds(CU(cuCoredumpGetAttribute)(CU_COREDUMP_PIPE, text, &size)));
    EXPECT_STREQ(text, "of_context");
    EXPECT_NE(text_of(CU_COREDUMP_PIPE), "of_context");
    ASSERT_TRUE(succeeds(CU(cuCtxSetCurrent)(nullptr)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_CONTEXT,
                        CU(cuCoredumpGetAttribute)(CU_COREDUMP_PIPE, text, &size)));
    ASSERT_TRUE(succeeds(CU(cuDevicePrimaryCtxRelease)(0)));
}
