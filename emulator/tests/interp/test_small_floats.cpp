// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Conversions of small floats that do not exist. test_rows.cpp runs those that do.

#include "exec/harness.hpp"

#include <string>

namespace cuprum::emulator::test {

namespace {

TEST(SmallFloatForms, those_that_do_not_exist_are_rejected) {
    for (const char* const form :
         {"cvt.rn.e4m3x2.f32 %h, %f, %f;", "cvt.rz.satfinite.e4m3x2.f32 %h, %f, %f;",
          "cvt.rn.satfinite.ue8m0x2.f32 %h, %f, %f;", "cvt.rn.f16x2.ue8m0x2 %r, %h;",
          "cvt.rn.satfinite.f16x2.e4m3x2 %r, %h;", "cvt.rn.satfinite.e4m3x2.e5m2x2 %h, %h;",
          "cvt.rn.satfinite.e4m3x4.f32 %r, {%f, %f, %f, %f}, %r;",
          "cvt.pack.sat.u8.s32 %r, %r, %r;", "cvt.pack.u16.s32 %r, %r, %r;"}) {
        TestDevice device;
        EXPECT_EQ(device.compile(ptx_module(".visible .entry k() {\n.reg .b16 %h;\n.reg .b32 "
                                            "%r;\n.reg .f32 %f;\n" +
                                            std::string(form) + "\nret;\n}\n")),
                  nullptr)
            << form;
        EXPECT_NE(device.log.find("'cvt."), std::string::npos) << device.log;
    }
}

} // namespace

} // namespace cuprum::emulator::test
