// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "ptx/parser.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

namespace cuprum::emulator::ptx::testing {

/// The lines that every module starts with.
inline constexpr std::string_view HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n";

/// A module that uses all of the syntax at least once.
inline constexpr std::string_view SAMPLE = R"(# 1 "sample.cu"
// A comment, then a block comment: /* not open */
/* .version 1.0
   over lines */
.version 9.0
.target sm_90a, debug
.address_size 64
.file 1 "/src/sample.cu", 1700000000, 4711
.file 3 "a \"quoted\" name.h"
.pragma "nounroll", "other";

.extern .func (.param .b32 func_retval0) vprintf (.param .b64 p0, .param .b64 p1) ;
.extern .func __assertfail () .noreturn ;
.extern .shared .align 16 .b8 dynamic[];
.global .attribute(.managed) .align 4 .u32 counter = 7;
.visible .const .align 4 .f32 coefficients[4] = {0f3F800000, 0.5, -1.5e1, .25};
.global .align 8 .u64 pointers[3] = {counter, counter+4, generic(table)+8};
.visible .global .align 8 .b8 bytes[8] = {0xFF(table), 0xFF00(table), 0xFF0000(generic(table)+4), 1, 2, 3U, 0b11, 017};
.global .align 4 .s32 table[2][3] = {{1, -2, 3}, {(1 << 4) | 2, 7 % 4, ~0}};
.global .align 1 .b8 text[] = {104, 105, 0};
.common .global .v4 .f32 quad;
.weak .global .texref old_texture;
.const[2] .u32 banked = (.s64)5 > 4 ? WARP_SZ : 0;

.func (.param .align 8 .b8 func_retval0[16]) helper (.param .b32 a, .reg .f32 b)
{
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [a];
    st.param.b32 [func_retval0+0], %r1;
    ret;
}
.alias also_helper, helper;

.visible .entry kernel(
    .param .u64 .ptr .global .align 16 out,
    .param .u64 .ptr .align 1 in,
    .param .align 4 .b8 parts[12]
)
.maxntid 256, 1, 1
.minnctapersm 2
.maxnreg 64
.reqnctapercluster 2, 1, 1
.explicitcluster
.maxclusterrank 8
{
    .reg .pred %p<4>, q;
    .reg .b32 %r<9>;
    .reg .b64 %rd<4>;
    .reg .v2 .f32 pair;
    .local .align 16 .b8 __local_depot0[32];
    .shared .align 4 .f32 tile[32][33];
    .loc 1 10 5
    mov.u32 %r1, %tid.x;
    .loc 3 12 1, function_name $L__info_string0+12, inlined_at 1 10 5
    ld.global.L2::128B.v4.u32 {%r1, _, %r2, %r3}, [%rd1+-16];
    setp.lt.and.s32 %p1|%p2, %r1, 0x10, !q;
    @%p1 bra $L__BB0_2;
    @!%p2 bra $L__BB0_2;
    shfl.sync.bfly.b32 %r4|%p3, %r1, 16, 31, -1;
    elect.sync _|%p3, 0xffffffff;
    {
        .reg .b32 temp_param_reg;
        .param .b64 param0;
        st.param.b64 [param0+0], %rd1;
        .param .b32 retval0;
        call.uni (retval0), vprintf, (param0, param0);
        ld.param.b32 %r5, [retval0+0];
    }
    prototype_0 : .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 8 .b8 _[24]) .noreturn;
    call (retval0), %rd2, (param0), prototype_0;
    call.uni __assertfail, ();
    targets: .branchtargets $L__BB0_1, $L__BB0_2;
    callees: .calltargets helper, also_helper;
    brx.idx %r1, targets;
$L__BB0_1:
    add .f32 %f1, %f2, 0f3F800000;
    mov.f64 %fd1, 0d3FF0000000000000;
    mov.f64 %fd1, 1.5;
    mov.u64 %rd3, table+8;
    mov.u32 %r6, table[1];
    vadd.u32.u32.u32.sat %r1, %r2.b1, -%r3.h0, %r4;
    cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3}], [%r4];
    tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r3, %p1;
    tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];
    st.shared.u32 [1024], %r1;
    st.shared.u32 [tile+4*(2+1)], %r1;
    mov.b64 {%r1, %r2}, %rd1;
    ;
$L__BB0_2: ret;
}
.section .debug_str
{
$L__info_string0:
.b8 95, 90
.b32 $L__info_string0+4
.b64 1
}
)";

/// Parses text that must be valid.
inline Module parse_good(std::string_view text) {
    Diagnostics diagnostics;
    std::optional<Module> module = parse(std::string(text), diagnostics);
    EXPECT_TRUE(module.has_value()) << diagnostics.to_text();
    return module ? std::move(*module) : Module();
}

/// Parses the statements of a kernel's body, which must be valid.
inline Module parse_body(std::string_view statements) {
    Module module =
        parse_good(std::string(HEAD) + ".entry k()\n{\n" + std::string(statements) + "\n}\n");
    if (module.functions.empty()) {
        module.functions.emplace_back();
    }
    return module;
}

/// Returns all error messages for text that must be invalid.
inline std::string complaints(std::string_view text) {
    Diagnostics diagnostics;
    const std::optional<Module> module = parse(std::string(text), diagnostics);
    EXPECT_FALSE(module.has_value());
    return diagnostics.to_text();
}

/// Returns all error messages for the statements of a kernel's body; the first is on line 6.
inline std::string body_complaints(std::string_view statements) {
    return complaints(std::string(HEAD) + ".entry k()\n{\n" + std::string(statements) + "\n}\n");
}

} // namespace cuprum::emulator::ptx::testing
