// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Loads and stores of every shape, in every space, and the faults of bad ones.

#include "support/operation.hpp"

#include <functional>

namespace cuprum::emulator::test {

namespace {

using U = std::uint32_t;

class Access : public OnEveryLevel {};

INSTANTIATE_TEST_SUITE_P(levels, Access, LEVELS);

/// Returns a kernel that gets two pointers; %l is its lane and %o four times that.
std::string kernel(const std::string& body) {
    return R"(.visible .entry k(.param .u64 pin, .param .u64 pout)
{
    .reg .b64 %in, %out, %x, %y, %o;
    .reg .b32 %l, %r, %s, %t, %u, %m;
    .reg .b16 %h;
    .reg .f64 %f;
    .reg .pred %p, %q;
    .shared .align 16 .b8 tile[1024];
    .local .align 16 .b8 depot[64];
    ld.param.u64 %in, [pin];
    ld.param.u64 %out, [pout];
    mov.u32 %l, %tid.x;
    mul.wide.u32 %o, %l, 4;
)" + body + "\nret;\n}\n";
}

struct Result {
    Fault fault;
    std::vector<U> out;
};

/// Runs one warp on an input of 256 words that count up from 1000.
Result run_kernel(const std::string& body, std::uint32_t threads = 32) {
    TestDevice device;
    auto* const in = device.allocate<U>(256);
    auto* const out = device.allocate<U>(256);
    for (U i = 0; i < 256; ++i) {
        in[i] = 1000 + i;
    }
    Result result;
    result.fault = run(device, kernel(body), {.grid = 1, .block = threads},
                       reinterpret_cast<std::uint64_t>(in), reinterpret_cast<std::uint64_t>(out));
    result.out.assign(out, out + 256);
    return result;
}

void expect_lanes(const std::string& body, const std::function<U(U)>& expected,
                  std::uint32_t threads = 32) {
    const Result result = run_kernel(body, threads);
    ASSERT_EQ(result.fault.kind, FaultKind::None) << result.fault.report;
    for (U lane = 0; lane < threads; ++lane) {
        EXPECT_EQ(result.out[lane], expected(lane)) << "lane " << lane << " of " << body;
    }
}

const std::string STORE = "add.u64 %y, %out, %o;\nst.global.u32 [%y], %r;\n";

TEST_P(Access, side_by_side_uniform_strided_and_scattered_loads) {
    expect_lanes("add.u64 %x, %in, %o;\nld.global.u32 %r, [%x];\n" + STORE,
                 [](U lane) { return 1000 + lane; });
    expect_lanes(
        "add.u64 %x, %in, %o;\nld.global.u32 %r, [%x+16];\n" + STORE,
        [](U lane) { return 1004 + lane; }, 20);
    expect_lanes("ld.global.u32 %r, [%in+12];\n" + STORE, [](U) { return 1003; });
    expect_lanes("ld.global.u32 %r, [%in+12];\n" + STORE, [](U) { return 1003; }, 7);
    expect_lanes("mad.wide.u32 %x, %l, 20, %in;\nld.global.u32 %r, [%x];\n" + STORE,
                 [](U lane) { return 1000 + 5 * lane; });
    // Rows of 16: each half of the warp is contiguous, the whole warp is not.
    expect_lanes("and.b32 %s, %l, 15;\nmad.wide.u32 %x, %s, 4, %in;\nld.global.u32 %r, [%x];\n" +
                     STORE,
                 [](U lane) { return 1000 + (lane & 15); });
    expect_lanes("xor.b32 %s, %l, 21;\nmad.wide.u32 %x, %s, 4, %in;\nld.global.u32 %r, [%x];\n" +
                     STORE,
                 [](U lane) { return 1000 + (lane ^ 21); });
    expect_lanes("xor.b32 %s, %l, 21;\nmad.wide.u32 %x, %s, 4, %in;\nsetp.lt.u32 %p, %l, 9;\n"
                 "mov.u32 %r, 7;\n@%p ld.global.u32 %r, [%x];\n" +
                     STORE,
                 [](U lane) { return lane < 9 ? 1000 + (lane ^ 21) : 7; });
}

TEST_P(Access, narrow_elements_extend_to_the_register) {
    const std::string at = "mad.wide.u32 %x, %l, 1, %in;\n";
    const auto byte = [](U lane) { return (1000 + lane / 4) >> (8 * (lane % 4)) & 0xff; };
    expect_lanes(at + "ld.global.u8 %r, [%x];\n" + STORE, byte);
    expect_lanes(at + "ld.global.s8 %r, [%x];\n" + STORE,
                 [&](U lane) { return static_cast<U>(static_cast<std::int8_t>(byte(lane))); });
    expect_lanes(at + "ld.global.s8 %x, [%x];\ncvt.u32.u64 %r, %x;\n" + STORE,
                 [&](U lane) { return static_cast<U>(static_cast<std::int8_t>(byte(lane))); });
    expect_lanes(at + "ld.global.s8 %x, [%x];\nshr.u64 %x, %x, 32;\ncvt.u32.u64 %r, %x;\n" + STORE,
                 [&](U lane) { return (byte(lane) & 0x80) != 0 ? ~U{0} : 0; });
    expect_lanes("mad.wide.u32 %x, %l, 2, %in;\nld.global.u16 %h, [%x];\ncvt.u32.u16 %r, %h;\n" +
                     STORE,
                 [](U lane) { return (1000 + lane / 2) >> (16 * (lane % 2)) & 0xffff; });
    expect_lanes("mul.lo.u32 %r, %l, 77;\nmad.wide.u32 %y, %l, 4, %out;\nst.global.u32 [%y], 0;\n"
                 "st.global.u8 [%y+1], %r;\n",
                 [](U lane) { return (lane * 77 & 0xff) << 8; });
}

TEST_P(Access, vectors_move_2_or_4_values) {
    expect_lanes("mad.wide.u32 %x, %l, 16, %in;\nld.global.v4.u32 {%r, %s, %t, %u}, [%x];\n"
                 "sub.u32 %r, %r, %s;\nsub.u32 %t, %t, %u;\nmad.lo.u32 %r, %t, 100, %r;\n"
                 "add.u32 %r, %r, %u;\n" +
                     STORE,
                 [](U lane) { return U(-1) + U(-100) + 1003 + 4 * lane; });
    // Two words per thread. The upper half of the warp writes in the opposite order.
    expect_lanes("and.b32 %s, %l, 15;\nmad.wide.u32 %y, %s, 8, %out;\nadd.u32 %t, %l, 50;\n"
                 "setp.lt.u32 %p, %l, 16;\n@%p st.global.v2.u32 [%y], {%l, %t};\n",
                 [](U lane) { return lane % 2 == 0 ? lane / 2 : lane / 2 + 50; });
    // A component may overwrite the register of the address.
    expect_lanes("mad.wide.u32 %x, %l, 16, %in;\nld.global.v2.u64 {%x, %y}, [%x];\n"
                 "cvt.u32.u64 %r, %x;\n" +
                     STORE,
                 [](U lane) { return 1000 + 4 * lane; });
}

TEST_P(Access, shared_memory_by_offset_and_by_generic_address) {
    const std::string fill = "mov.u32 %m, tile;\nmad.lo.u32 %m, %l, 4, %m;\n"
                             "mul.lo.u32 %s, %l, 3;\nst.shared.u32 [%m], %s;\nbar.sync 0;\n";
    expect_lanes(fill +
                     "xor.b32 %s, %l, 31;\nmov.u32 %m, tile;\nmad.lo.u32 %m, %s, 4, %m;\n"
                     "ld.shared.u32 %r, [%m];\n" +
                     STORE,
                 [](U lane) { return 3 * (lane ^ 31); });
    expect_lanes(
        fill + "cvta.shared.u64 %x, tile;\nmad.wide.u32 %x, %l, 4, %x;\nld.u32 %r, [%x];\n" + STORE,
        [](U lane) { return 3 * lane; });
    expect_lanes(fill +
                     "mov.u64 %x, tile;\ncvta.shared.u64 %x, %x;\ncvta.to.shared.u64 %x, %x;\n"
                     "ld.shared.u32 %r, [%x+8];\n" +
                     STORE,
                 [](U) { return 6; });
}

TEST_P(Access, each_thread_has_local_memory_of_its_own) {
    expect_lanes("mov.u64 %x, depot;\nmul.lo.u32 %s, %l, 9;\nst.local.u32 [%x+20], %s;\n"
                 "cvta.local.u64 %y, %x;\nld.u32 %r, [%y+20];\n" +
                     STORE,
                 [](U lane) { return 9 * lane; });
}

TEST_P(Access, generic_addresses_may_differ_in_space_from_lane_to_lane) {
    expect_lanes("mov.u64 %x, depot;\nst.local.u32 [%x], 5;\ncvta.local.u64 %x, %x;\n"
                 "st.shared.u32 [tile], 6;\ncvta.shared.u64 %y, tile;\n"
                 "rem.u32 %s, %l, 3;\nsetp.eq.u32 %p, %s, 1;\nselp.b64 %x, %y, %x, %p;\n"
                 "setp.eq.u32 %p, %s, 2;\nselp.b64 %x, %in, %x, %p;\nld.u32 %r, [%x];\n" +
                     STORE,
                 [](U lane) { return lane % 3 == 0   ? 5u
                                     : lane % 3 == 1 ? 6u
                                                     : 1000u; });
}

TEST_P(Access, isspacep_tells_windows_apart) {
    const auto check = [](const std::string& address, const std::string& space) {
        return run_kernel("cvta.shared.u64 %x, tile;\nmov.u64 %y, depot;\ncvta.local.u64 %y, %y;\n"
                          "isspacep." +
                          space + " %p, " + address + ";\nselp.u32 %r, 1, 0, %p;\n" + STORE)
            .out[0];
    };
    EXPECT_EQ(check("%x", "shared"), 1u);
    EXPECT_EQ(check("%y", "shared"), 0u);
    EXPECT_EQ(check("%y", "local"), 1u);
    EXPECT_EQ(check("%in", "global"), 1u);
    EXPECT_EQ(check("%x", "global"), 0u);
}

TEST_P(Access, faults_name_address_size_and_kind) {
    const auto fault_of = [](const std::string& body) { return run_kernel(body).fault; };
    const auto expect_fault = [&](const std::string& body, FaultKind kind,
                                  const std::string& words) {
        const Fault fault = fault_of(body);
        EXPECT_EQ(fault.kind, kind) << body;
        EXPECT_NE(fault.report.find(words), std::string::npos) << fault.report;
    };
    expect_fault("ld.global.u32 %r, [16];\n" + STORE, FaultKind::IllegalAddress,
                 "read of 4 bytes at 0x10");
    expect_fault("st.global.u64 [8], %in;\n", FaultKind::IllegalAddress, "write of 8 bytes at 0x8");
    expect_fault("ld.global.u32 %r, [%in+2];\n" + STORE, FaultKind::MisalignedAddress,
                 "multiple of 4");
    expect_fault("ld.global.v4.u32 {%r, %s, %t, %u}, [%in+8];\n" + STORE,
                 FaultKind::MisalignedAddress, "multiple of 16");
    expect_fault("ld.shared.u32 %r, [tile+1024];\n" + STORE, FaultKind::IllegalAddress,
                 "shared memory");
    expect_fault("ld.local.u32 %r, [depot+4096];\n" + STORE, FaultKind::IllegalAddress,
                 "local memory");
    // One bad lane among good ones.
    expect_fault("setp.eq.u32 %p, %l, 17;\nselp.b64 %x, 64, %in, %p;\nst.global.u32 [%x], %l;\n",
                 FaultKind::IllegalAddress, "at 0x40");
}

// ptxas makes this work, and the tests of libcu++ for its atomics rely on it.
TEST_P(Access, atomic_operations_on_local_memory_work) {
    expect_lanes("mov.u64 %x, depot;\nst.local.u32 [%x], %l;\ncvta.local.u64 %x, %x;\n"
                 "atom.add.u32 %r, [%x], 5;\nld.local.u32 %s, [depot];\n"
                 "shl.b32 %s, %s, 8;\nor.b32 %r, %r, %s;\n" +
                     STORE,
                 [](U lane) { return lane | (lane + 5) << 8; });
}

TEST_P(Access, an_idle_lane_with_a_bad_address_does_no_harm) {
    expect_lanes("setp.ne.u32 %p, %l, 17;\nselp.b64 %x, %in, 64, %p;\nmov.u32 %r, 3;\n"
                 "@%p ld.global.u32 %r, [%x];\n" +
                     STORE,
                 [](U lane) { return lane == 17 ? 3u : 1000u; });
}

} // namespace

} // namespace cuprum::emulator::test
