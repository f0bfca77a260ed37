// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Memory that kernels may only read, at every instruction-set level and in every shape of access.

#include "support/operation.hpp"

#include <string>

namespace cuprum::emulator {

namespace {

using test::Launch;
using test::ptx_module;
using test::Shape;
using test::TestDevice;
using U = std::uint32_t;

constexpr std::size_t BYTES = 32 << TestDevice::GRANULE_SHIFT;

/// A kernel that accesses memory in one way. %a is the start of the memory. %b is the thread's own
/// word (four bytes per lane). %c is in a different granule for each lane, and %d in a different
/// one for each half of a warp.
std::string accessing(const std::string& code) {
    return ptx_module(
        ".visible .entry k(.param .u64 memory, .param .u64 out) {\n"
        ".reg .pred %p; .reg .b32 %t, %x, %y, %r<4>; .reg .b64 %a, %b, %c, %d, %o, %s;\n"
        "ld.param.u64 %a, [memory]; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mov.u32 %r1, 7;\n"
        "mov.u32 %r2, 0;\n"
        "mul.wide.u32 %b, %t, 4; add.u64 %b, %a, %b;\n"
        "xor.b32 %x, %t, 5; mul.wide.u32 %c, %x, 4096; add.u64 %c, %a, %c;\n"
        "and.b32 %y, %t, 15; mul.wide.u32 %d, %y, 4; add.u64 %d, %a, %d;\n"
        "setp.gt.u32 %p, %t, 11; mov.u64 %s, 9;\n" +
        code + "\nst.global.u32 [%o], %r2;\nret;\n}");
}

constexpr const char* WRITES[] = {
    "st.global.u32 [%a], %r1;",
    "st.global.u32 [%b], %r1;",
    "st.global.u32 [%c], %r1;",
    "st.global.u32 [%d], %r1;",
    "st.u32 [%b], %r1;",
    "st.u32 [%c], %r1;",
    "st.global.u8 [%b], %r1;",
    "st.global.u16 [%b], %r1;",
    "st.global.u64 [%a], %s;",
    "st.global.v2.u32 [%a+8], {%r1, %r1};",
    "st.volatile.global.u32 [%b], %r1;",
    "st.release.gpu.global.u32 [%b], %r1;",
    "@%p st.global.u32 [%b], %r1;",
    "@%p st.u32 [%c], %r1;",
    "atom.global.add.u32 %r2, [%a], %r1;",
    "atom.global.cas.b32 %r2, [%b], %r2, %r1;",
    "atom.exch.b64 %s, [%a], %s;",
    "red.global.or.b32 [%c], %r1;",
    "red.global.add.f32 [%a], 0f3F800000;",
};

constexpr const char* READS[] = {
    "ld.global.u32 %r2, [%a];",
    "ld.global.u32 %r2, [%b];",
    "ld.u32 %r2, [%c];",
    "ld.global.u32 %r2, [%d];",
    "@%p ld.global.u32 %r2, [%b];",
    "ld.global.nc.v4.u32 {%r0, %r1, %r2, %r3}, [%a];",
    "ld.acquire.gpu.global.u32 %r2, [%b];",
};

class Permissions : public test::OnEveryLevel {
protected:
    /// Runs a kernel on memory with a permission. `is_changed` returns whether it wrote.
    static Fault run(const char* code, Permission permission, bool& is_changed) {
        TestDevice device;
        auto* const memory = device.allocate<std::byte>(BYTES); // the first one starts at a granule
        auto* const out = device.allocate<U>(1);
        const auto kernel = device.compile(accessing(code));
        EXPECT_TRUE(kernel) << device.log;
        device.set_permission(memory, BYTES, permission);
        const Fault fault = Launch(device, kernel, Shape{}, memory, out).wait();
        is_changed = false;
        for (std::size_t i = 0; i < BYTES; ++i) {
            is_changed |= memory[i] != std::byte{};
        }
        return fault;
    }
};

INSTANTIATE_TEST_SUITE_P(Levels, Permissions, test::LEVELS,
                         [](const auto& each) { return std::string(each.param); });

} // namespace

TEST_P(Permissions, what_may_only_be_read_is_not_written) {
    for (const char* code : WRITES) {
        SCOPED_TRACE(code);
        bool is_changed = false;
        EXPECT_EQ(run(code, Permission::ReadWrite, is_changed).kind, FaultKind::None);
        EXPECT_TRUE(is_changed);
        const Fault fault = run(code, Permission::Read, is_changed);
        EXPECT_EQ(fault.kind, FaultKind::IllegalAddress);
        EXPECT_FALSE(is_changed);
        EXPECT_NE(fault.report.find("is refused: the device may only read this memory"),
                  std::string::npos)
            << fault.report;
        EXPECT_EQ(run(code, Permission::None, is_changed).kind, FaultKind::IllegalAddress);
        EXPECT_FALSE(is_changed);
    }
}

TEST_P(Permissions, what_may_only_be_read_is_read) {
    for (const char* code : READS) {
        SCOPED_TRACE(code);
        bool is_changed = false;
        const Fault fault = run(code, Permission::Read, is_changed);
        EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
        EXPECT_EQ(run(code, Permission::None, is_changed).kind, FaultKind::IllegalAddress);
    }
}

} // namespace cuprum::emulator
