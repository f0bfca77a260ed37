// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "builtins/device_runtime.hpp"

namespace cuprum::emulator::builtins {

// A handle is the address of the grid's workspace, which is 0 unless the launch is cooperative.
//
// The barrier is a word whose top bit flips once all blocks have arrived. The first block adds
// 2^31 - (blocks - 1), every other block adds 1: together 2^31. One thread of each block adds and
// waits for the flip, the others wait for that thread. The word is the last of the workspace, so
// that it does not disturb barriers that compilers inline.
const std::string_view DEVICE_RUNTIME_PTX = R"(
.version 8.0
.target sm_70
.address_size 64

.visible .func (.param .b64 result) cudaCGGetIntrinsicHandle(.param .b32 scope)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    mov.u32 %r1, %envreg1;
    mov.u32 %r2, %envreg2;
    mov.b64 %rd1, {%r2, %r1};
    st.param.b64 [result], %rd1;
    ret;
}

.visible .func (.param .b32 result) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)
{
    .reg .pred %p<5>;
    .reg .b32 %r<24>;
    .reg .b64 %rd<2>;
    ld.param.b64 %rd1, [handle];
    setp.eq.u64 %p1, %rd1, 0;
    @%p1 bra REFUSED;
    barrier.sync 0;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %tid.y;
    mov.u32 %r3, %tid.z;
    or.b32 %r4, %r1, %r2;
    or.b32 %r4, %r4, %r3;
    setp.ne.u32 %p2, %r4, 0;
    @%p2 bra WAIT;
    mov.u32 %r5, %nctaid.x;
    mov.u32 %r6, %nctaid.y;
    mov.u32 %r7, %nctaid.z;
    mul.lo.u32 %r8, %r5, %r6;
    mul.lo.u32 %r8, %r8, %r7;
    mov.u32 %r9, %ctaid.x;
    mov.u32 %r10, %ctaid.y;
    mov.u32 %r11, %ctaid.z;
    or.b32 %r12, %r9, %r10;
    or.b32 %r12, %r12, %r11;
    setp.eq.u32 %p3, %r12, 0;
    sub.u32 %r13, 0x80000001, %r8;
    selp.b32 %r14, %r13, 1, %p3;
    fence.acq_rel.gpu;
    atom.add.acq_rel.gpu.u32 %r15, [%rd1+60], %r14;
SPIN:
    ld.acquire.gpu.u32 %r16, [%rd1+60];
    xor.b32 %r17, %r15, %r16;
    setp.ge.s32 %p4, %r17, 0;
    @%p4 bra SPIN;
    fence.acq_rel.gpu;
WAIT:
    barrier.sync 0;
    st.param.b32 [result], 0;
    ret;
REFUSED:
    st.param.b32 [result], 1; // cudaErrorInvalidValue
    ret;
}

.visible .func (.param .b32 result) cudaCGSynchronizeGrid(.param .b64 handle, .param .b32 flags)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.b64 %rd1, [handle];
    ld.param.b32 %r1, [flags];
    {
        .param .b64 handle1;
        .param .b32 flags1;
        .param .b32 result1;
        st.param.b64 [handle1], %rd1;
        st.param.b32 [flags1], %r1;
        call.uni (result1), cudaCGSynchronize, (handle1, flags1);
        ld.param.b32 %r2, [result1];
    }
    st.param.b32 [result], %r2;
    ret;
}
)";

} // namespace cuprum::emulator::builtins
