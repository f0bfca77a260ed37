// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// PTX that several tests load.

#pragma once

namespace cuprum::emulator::test {

/// saxpy(n, a, x, y): y[i] = a * x[i] + y[i].
inline constexpr const char* SAXPY_PTX = R"(
.version 7.0
.target sm_70
.address_size 64

.visible .entry saxpy(
    .param .u32 saxpy_n,
    .param .f32 saxpy_a,
    .param .u64 saxpy_x,
    .param .u64 saxpy_y)
{
    .reg .pred %p<2>;
    .reg .f32 %f<5>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<8>;

    ld.param.u32 %r1, [saxpy_n];
    ld.param.f32 %f1, [saxpy_a];
    ld.param.u64 %rd1, [saxpy_x];
    ld.param.u64 %rd2, [saxpy_y];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra DONE;
    cvta.to.global.u64 %rd3, %rd1;
    cvta.to.global.u64 %rd4, %rd2;
    mul.wide.u32 %rd5, %r5, 4;
    add.s64 %rd6, %rd3, %rd5;
    add.s64 %rd7, %rd4, %rd5;
    ld.global.f32 %f2, [%rd6];
    ld.global.f32 %f3, [%rd7];
    fma.rn.f32 %f4, %f1, %f2, %f3;
    st.global.f32 [%rd7], %f4;
DONE:
    ret;
}
)";

/// Two kernels and variables: bump() adds `step` to `counter`; touch(p) writes 1 to *p.
inline constexpr const char* COUNTER_PTX = R"(
.version 7.0
.target sm_70
.address_size 64

.visible .global .align 4 .u32 counter = 40;
.visible .const .align 4 .u32 step = 2;

.visible .entry bump()
{
    .reg .b32 %r<4>;
    ld.global.u32 %r1, [counter];
    ld.const.u32 %r2, [step];
    add.u32 %r3, %r1, %r2;
    st.global.u32 [counter], %r3;
    ret;
}

.visible .entry touch(.param .u64 touch_p)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [touch_p];
    mov.u32 %r1, 1;
    st.global.u32 [%rd1], %r1;
    ret;
}

.visible .entry small() .maxntid 64, 1, 1
{
    ret;
}
)";

} // namespace cuprum::emulator::test
