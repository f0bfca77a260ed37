// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Instruction forms that compilers rarely emit, through inline assembly.

extern "C" __global__ void forms(unsigned* out, float* real, unsigned long long* wide) {
    unsigned r = out[0];
    asm volatile("{ .reg .u32 t<3>; .reg .pred p, q;\n"
                 "  setp.lt.and.u32 p|q, %0, 5, !p;\n"
                 "  @p add.u32 t0, %0, (1 << 4) | 0x3;\n"
                 "  @!p mov.u32 t0, WARP_SZ;\n"
                 "  { .reg .u32 t1; mov.u32 t1, 0b1011; add.u32 t0, t0, t1; }\n"
                 "  mov.u32 %0, t0; }" : "+r"(r));
    asm volatile("vadd.u32.u32.u32.sat.min %0, %0.b1, %0.h0, %0;" : "+r"(r));
    asm volatile("prmt.b32 %0, %0, %0, 0x3210U;" : "+r"(r));
    asm volatile("lop3.b32 %0, %0, %0, %0, 0xE8;" : "+r"(r));
    float f;
    asm volatile("mov.f32 %0, 0f3F800000;" : "=f"(f));
    asm volatile("add.rn.ftz.f32 %0, %0, 1.5e1;" : "+f"(f));
    unsigned lo, hi;
    asm volatile("mov.b64 {%0, %1}, %2;" : "=r"(lo), "=r"(hi) : "l"(wide[0]));
    asm volatile("mov.b64 {_, %0}, %1;" : "=r"(hi) : "l"(wide[1]));
    asm volatile("prefetch.global.L2 [%0+16];" ::"l"(out));
    asm volatile("ld.global.L2::128B.u32 %0, [%1+-4];" : "=r"(lo) : "l"(out + 4));
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(lo));
    asm volatile("bar.red.popc.u32 %0, 1, 32, 1;" : "=r"(hi) :);
    out[0] = r + lo + hi;
    real[0] = f;
}
