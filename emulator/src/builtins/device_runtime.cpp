// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "builtins/device_runtime.hpp"

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace cuprum::emulator::builtins {

namespace {

// A handle is the address of the grid's workspace, which is 0 unless the launch is cooperative.
//
// The barrier is a word whose top bit flips once all blocks have arrived. The first block adds
// 2^31 - (blocks - 1), every other block adds 1: together 2^31. One thread of each block adds and
// waits for the flip, the others wait for that thread. The word is the last of the workspace, so
// that it does not disturb barriers that compilers inline.
constexpr std::string_view FUNCTIONS = R"(
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

// ---- kernels that launch kernels ----

.extern .func (.param .b64 result) __cuprum_make_launch(.param .b64 kernel);
.extern .func (.param .b32 result) __cuprum_launch(.param .b64 header, .param .b64 stream);
.extern .func (.param .b32 result) __cuprum_copy(.param .b64 to, .param .b64 from,
    .param .b64 bytes, .param .b64 stream);
.extern .func (.param .b32 result) __cuprum_fill(.param .b64 to, .param .b32 value,
    .param .b64 bytes, .param .b64 stream);
.extern .func (.param .b32 result) __cuprum_ask_launcher(.param .b32 question);
.extern .func (.param .b64 result) malloc(.param .b64 bytes);
.extern .func free(.param .b64 address);

.visible .func (.param .b64 result) __cudaCDP2GetParameterBufferV2(.param .b64 kernel,
    .param .align 4 .b8 grid[12], .param .align 4 .b8 block[12], .param .b32 shared)
{
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<3>;
    ld.param.b64 %rd1, [kernel];
    {
        .param .b64 kernel1;
        .param .b64 result1;
        st.param.b64 [kernel1], %rd1;
        call.uni (result1), __cuprum_make_launch, (kernel1);
        ld.param.b64 %rd2, [result1];
    }
    setp.eq.u64 %p1, %rd2, 0;
    @%p1 bra DONE;
    ld.param.b32 %r1, [grid];
    ld.param.b32 %r2, [grid+4];
    ld.param.b32 %r3, [grid+8];
    ld.param.b32 %r4, [block];
    ld.param.b32 %r5, [block+4];
    ld.param.b32 %r6, [block+8];
    ld.param.b32 %r7, [shared];
    st.global.b32 [%rd2], %r1;
    st.global.b32 [%rd2+4], %r2;
    st.global.b32 [%rd2+8], %r3;
    st.global.b32 [%rd2+12], %r4;
    st.global.b32 [%rd2+16], %r5;
    st.global.b32 [%rd2+20], %r6;
    st.global.b32 [%rd2+24], %r7;
    add.u64 %rd2, %rd2, 64;
DONE:
    st.param.b64 [result], %rd2;
    ret;
}

.visible .func (.param .b32 result) __cudaCDP2LaunchDeviceV2(.param .b64 arguments, .param .b64 stream)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    ld.param.b64 %rd1, [arguments];
    ld.param.b64 %rd2, [stream];
    sub.u64 %rd1, %rd1, 64;
    {
        .param .b64 header1;
        .param .b64 stream1;
        .param .b32 result1;
        st.param.b64 [header1], %rd1;
        st.param.b64 [stream1], %rd2;
        call.uni (result1), __cuprum_launch, (header1, stream1);
        ld.param.b32 %r1, [result1];
    }
    st.param.b32 [result], %r1;
    ret;
}

.visible .func (.param .b32 result) __cudaCDP2GetLastError()
{
    .reg .b32 %r<2>;
    {
        .param .b32 question1;
        .param .b32 result1;
        st.param.b32 [question1], 0;
        call.uni (result1), __cuprum_ask_launcher, (question1);
        ld.param.b32 %r1, [result1];
    }
    st.param.b32 [result], %r1;
    ret;
}

.visible .func (.param .b32 result) __cudaCDP2PeekAtLastError()
{
    .reg .b32 %r<2>;
    {
        .param .b32 question1;
        .param .b32 result1;
        st.param.b32 [question1], 1;
        call.uni (result1), __cuprum_ask_launcher, (question1);
        ld.param.b32 %r1, [result1];
    }
    st.param.b32 [result], %r1;
    ret;
}

.visible .func (.param .b32 result) __cudaCDP2GetDevice(.param .b64 device)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.b64 %rd1, [device];
    {
        .param .b32 question1;
        .param .b32 result1;
        st.param.b32 [question1], 2;
        call.uni (result1), __cuprum_ask_launcher, (question1);
        ld.param.b32 %r1, [result1];
    }
    st.b32 [%rd1], %r1;
    st.param.b32 [result], 0;
    ret;
}

.global .align 1 .b8 __cuprum_no_error[9] = {110, 111, 32, 101, 114, 114, 111, 114, 0};
.global .align 1 .b8 __cuprum_an_error[31] = {
    97, 110, 32, 101, 114, 114, 111, 114, 32, 111, 102, 32, 116, 104, 101, 32, 100, 101, 118,
    105, 99, 101, 32, 114, 117, 110, 116, 105, 109, 101, 0};

.visible .func (.param .b64 result) __cudaCDP2GetErrorString(.param .b32 error)
{
    .reg .pred %p<2>;
    .reg .b32 %r<2>;
    .reg .b64 %rd<4>;
    ld.param.b32 %r1, [error];
    setp.eq.u32 %p1, %r1, 0;
    mov.u64 %rd1, __cuprum_no_error;
    mov.u64 %rd2, __cuprum_an_error;
    selp.b64 %rd3, %rd1, %rd2, %p1;
    cvta.global.u64 %rd3, %rd3;
    st.param.b64 [result], %rd3;
    ret;
}

.visible .func (.param .b32 result) __cudaCDP2Malloc(.param .b64 address, .param .b64 bytes)
{
    .reg .pred %p<2>;
    .reg .b32 %r<2>;
    .reg .b64 %rd<4>;
    ld.param.b64 %rd1, [address];
    ld.param.b64 %rd2, [bytes];
    {
        .param .b64 bytes1;
        .param .b64 result1;
        st.param.b64 [bytes1], %rd2;
        call.uni (result1), malloc, (bytes1);
        ld.param.b64 %rd3, [result1];
    }
    st.b64 [%rd1], %rd3;
    setp.eq.u64 %p1, %rd3, 0;
    selp.b32 %r1, 2, 0, %p1; // cudaErrorMemoryAllocation
    st.param.b32 [result], %r1;
    ret;
}

.visible .func (.param .b32 result) __cudaCDP2Free(.param .b64 address)
{
    .reg .b64 %rd<2>;
    ld.param.b64 %rd1, [address];
    {
        .param .b64 address1;
        st.param.b64 [address1], %rd1;
        call.uni free, (address1);
    }
    st.param.b32 [result], 0;
    ret;
}

.visible .func (.param .b32 result) __cudaCDP2MemcpyAsync(.param .b64 to, .param .b64 from, .param .b64 bytes,
    .param .b32 kind, .param .b64 stream)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<5>;
    ld.param.b64 %rd1, [to];
    ld.param.b64 %rd2, [from];
    ld.param.b64 %rd3, [bytes];
    ld.param.b64 %rd4, [stream];
    {
        .param .b64 to1;
        .param .b64 from1;
        .param .b64 bytes1;
        .param .b64 stream1;
        .param .b32 result1;
        st.param.b64 [to1], %rd1;
        st.param.b64 [from1], %rd2;
        st.param.b64 [bytes1], %rd3;
        st.param.b64 [stream1], %rd4;
        call.uni (result1), __cuprum_copy, (to1, from1, bytes1, stream1);
        ld.param.b32 %r1, [result1];
    }
    st.param.b32 [result], %r1;
    ret;
}

.visible .func (.param .b32 result) __cudaCDP2MemsetAsync(.param .b64 to, .param .b32 value,
    .param .b64 bytes, .param .b64 stream)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    ld.param.b64 %rd1, [to];
    ld.param.b32 %r2, [value];
    ld.param.b64 %rd2, [bytes];
    ld.param.b64 %rd3, [stream];
    {
        .param .b64 to1;
        .param .b32 value1;
        .param .b64 bytes1;
        .param .b64 stream1;
        .param .b32 result1;
        st.param.b64 [to1], %rd1;
        st.param.b32 [value1], %r2;
        st.param.b64 [bytes1], %rd2;
        st.param.b64 [stream1], %rd3;
        call.uni (result1), __cuprum_fill, (to1, value1, bytes1, stream1);
        ld.param.b32 %r1, [result1];
    }
    st.param.b32 [result], %r1;
    ret;
}

// Launches run one after another in their order, so streams and events need no state.

.visible .func (.param .b32 result) __cudaCDP2StreamCreateWithFlags(.param .b64 handle, .param .b32 flags)
{
    .reg .b64 %rd<3>;
    ld.param.b64 %rd1, [handle];
    mov.u64 %rd2, 256;
    st.b64 [%rd1], %rd2;
    st.param.b32 [result], 0;
    ret;
}

.visible .func (.param .b32 result) __cudaCDP2EventCreateWithFlags(.param .b64 handle, .param .b32 flags)
{
    .reg .b64 %rd<3>;
    ld.param.b64 %rd1, [handle];
    mov.u64 %rd2, 256;
    st.b64 [%rd1], %rd2;
    st.param.b32 [result], 0;
    ret;
}

.visible .func (.param .b32 result) __cudaCDP2StreamDestroy(.param .b64 handle)
{
    st.param.b32 [result], 0;
    ret;
}

.visible .func (.param .b32 result) __cudaCDP2EventDestroy(.param .b64 handle)
{
    st.param.b32 [result], 0;
    ret;
}

.visible .func (.param .b32 result) __cudaCDP2EventRecord(.param .b64 event, .param .b64 stream)
{
    st.param.b32 [result], 0;
    ret;
}

.visible .func (.param .b32 result) __cudaCDP2EventRecordWithFlags(.param .b64 first, .param .b64 second, .param .b32 flags)
{
    st.param.b32 [result], 0;
    ret;
}

.visible .func (.param .b32 result) __cudaCDP2StreamWaitEvent(.param .b64 first, .param .b64 second, .param .b32 flags)
{
    st.param.b32 [result], 0;
    ret;
}

)";

/// Functions that programs also call by another name.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> SECOND_NAMES{{
    {"cudaCGSynchronize", "cudaCGSynchronizeGrid"},
    // The programming guide documents these for compilers.
    {"__cudaCDP2GetParameterBufferV2", "cudaGetParameterBufferV2"},
    {"__cudaCDP2LaunchDeviceV2", "cudaLaunchDeviceV2"},
    // With a default stream for each thread.
    {"__cudaCDP2LaunchDeviceV2", "__cudaCDP2LaunchDeviceV2_ptsz"},
    {"__cudaCDP2MemcpyAsync", "__cudaCDP2MemcpyAsync_ptsz"},
    {"__cudaCDP2MemsetAsync", "__cudaCDP2MemsetAsync_ptsz"},
    {"__cudaCDP2EventRecord", "__cudaCDP2EventRecord_ptsz"},
    {"__cudaCDP2EventRecordWithFlags", "__cudaCDP2EventRecordWithFlags_ptsz"},
    {"__cudaCDP2StreamWaitEvent", "__cudaCDP2StreamWaitEvent_ptsz"},
}};

/// Returns the functions, and copies of those that have a second name.
std::string all_functions() {
    constexpr std::string_view last_line = "\n}\n";
    std::string text(FUNCTIONS);
    for (const auto& [name, second] : SECOND_NAMES) {
        const std::size_t at = FUNCTIONS.find(" " + std::string(name) + "(") + 1;
        const std::size_t begin = FUNCTIONS.rfind(".visible", at);
        const std::size_t end = FUNCTIONS.find(last_line, at) + last_line.size();
        text += FUNCTIONS.substr(begin, at - begin);
        text += second;
        text += FUNCTIONS.substr(at + name.size(), end - at - name.size());
    }
    return text;
}

} // namespace

const std::string& device_runtime_ptx() {
    static const auto* const TEXT = new std::string(all_functions());
    return *TEXT;
}

} // namespace cuprum::emulator::builtins
