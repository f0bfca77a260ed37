// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// v2 and v4: every arrangement of lanes must move the same bytes, whichever way it is done.

#include "support/operation.hpp"

#include <array>
#include <string>
#include <vector>

namespace cuprum::emulator {

namespace {

using test::Launch;
using test::ptx_module;
using test::Shape;
using test::TestDevice;
using U = std::uint32_t;

/// A vector type: how many components of how many bytes.
struct Vector {
    U count;
    U bytes;

    [[nodiscard]] std::string type() const {
        return ".v" + std::to_string(count) + ".b" + std::to_string(8 * bytes);
    }

    [[nodiscard]] std::string registers() const {
        return count == 2 ? "{%v0, %v1}" : "{%v0, %v1, %v2, %v3}";
    }
};

constexpr std::array VECTORS{Vector{2, 4}, Vector{4, 4}, Vector{2, 8}};

/// Where a thread's element is: an index computed from its position in the block.
struct Place {
    const char* name;
    const char* code; // computes %i from %x and %y
    U (*index)(U x, U y);
};

constexpr std::array PLACES{
    Place{"adjacent in rows of 64", "mad.lo.u32 %i, %y, 64, %x;\n",
          [](U x, U y) { return 64 * y + x; }},
    Place{"one for all", "mov.u32 %i, 5;\n", [](U, U) { return 5u; }},
    Place{"one for a row", "mov.u32 %i, %y;\n", [](U, U y) { return y; }},
    Place{"every second", "shl.b32 %i, %x, 1;\n", [](U x, U) { return 2 * x; }},
    Place{"by columns", "mad.lo.u32 %i, %x, 8, %y;\n", [](U x, U y) { return 8 * x + y; }},
    Place{"in a pattern that is not linear", "xor.b32 %i, %x, 5;\n", [](U x, U) { return x ^ 5; }},
};

struct Block {
    U width;
    U height;
};

constexpr std::array BLOCKS{Block{32, 1}, Block{64, 2}, Block{16, 4}, Block{8, 4}, Block{20, 1}};
constexpr U ELEMENTS = 1024;

class VectorAccesses : public test::OnEveryLevel {};

INSTANTIATE_TEST_SUITE_P(Levels, VectorAccesses, test::LEVELS,
                         [](const auto& each) { return std::string(each.param); });

std::string kernel_text(Vector vector, const Place& place, bool is_shared, bool is_store) {
    const std::string size = std::to_string(vector.count * vector.bytes);
    const std::string space = is_shared ? ".shared" : ".global";
    const std::string there = is_shared ? "%s" : "%a";
    std::string text =
        ".visible .entry k(.param .u64 a, .param .u64 b) {\n"
        ".shared .align 16 .b8 tile[16384];\n"
        ".reg .pred %p; .reg .b32 %x, %y, %i, %t, %n; .reg .b" +
        std::to_string(8 * vector.bytes) +
        " %v<4>;\n.reg .b64 %a, %b, %c, %d, %s; .reg .b32 %w<4>;\n"
        "ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; mov.u64 %s, tile;\n"
        "mov.u32 %x, %tid.x; mov.u32 %y, %tid.y; mov.u32 %n, %ntid.x; mad.lo.u32 %t, %y, %n, %x;\n";
    const auto copy_tile = [&](const char* label, bool is_in) {
        // The first thread copies everything.
        return std::string("bar.sync 0; setp.ne.u32 %p, %t, 0; @%p bra ") + label +
               "_END;\nmov.u32 %n, 0;\n" + label +
               ": cvt.u64.u32 %c, %n; add.u64 %d, %a, %c; add.u64 %c, %s, %c;\n" +
               (is_in ? "ld.global.b32 %w0, [%d]; st.shared.b32 [%c], %w0;\n"
                      : "ld.shared.b32 %w0, [%c]; st.global.b32 [%d], %w0;\n") +
               "add.u32 %n, %n, 4; setp.lt.u32 %p, %n, 16384; @%p bra " + label + ";\n" + label +
               "_END: bar.sync 0;\n";
    };
    text += is_shared ? copy_tile("IN", true) : "";
    text += place.code;
    text += "mul.wide.u32 %c, %i, " + size + "; add.u64 %c, " + there + ", %c;\n";
    text += "mul.wide.u32 %d, %t, " + size + "; add.u64 %b, %b, %d;\n";
    if (is_store) {
        for (U i = 0; i < vector.count; ++i) {
            text += "ld.global.b" + std::to_string(8 * vector.bytes) + " %v" + std::to_string(i) +
                    ", [%b+" + std::to_string(i * vector.bytes) + "];\n";
        }
        text += "st" + space + vector.type() + " [%c], " + vector.registers() + ";\n";
        text += is_shared ? copy_tile("OUT", false) : "";
    } else {
        text += "ld" + space + vector.type() + " " + vector.registers() + ", [%c];\n";
        for (U i = 0; i < vector.count; ++i) {
            text += "st.global.b" + std::to_string(8 * vector.bytes) + " [%b+" +
                    std::to_string(i * vector.bytes) + "], %v" + std::to_string(i) + ";\n";
        }
    }
    return ptx_module(text + "ret;\n}");
}

void expect_access(Vector vector, const Place& place, Block block, bool is_shared, bool is_store) {
    const U words = vector.count * vector.bytes / 4;
    TestDevice device;
    auto* memory = device.allocate<U>(ELEMENTS * 4);
    auto* own = device.allocate<U>(ELEMENTS * 4);
    for (U i = 0; i < ELEMENTS * 4; ++i) {
        memory[i] = 0x10000 + i;
        own[i] = 0x80000 + i;
    }
    std::vector<U> wanted_memory(memory, memory + ELEMENTS * 4);
    std::vector<U> wanted_own(own, own + ELEMENTS * 4);
    for (U t = 0; t < block.width * block.height; ++t) {
        const U index = place.index(t % block.width, t / block.width);
        for (U i = 0; i < words; ++i) {
            if (is_store) {
                wanted_memory[index * words + i] = own[t * words + i];
            } else {
                wanted_own[t * words + i] = memory[index * words + i];
            }
        }
    }
    const auto kernel = device.compile(kernel_text(vector, place, is_shared, is_store));
    ASSERT_TRUE(kernel) << device.log;
    const Fault fault =
        Launch(device, kernel, Shape{.block = block.width, .block_y = block.height}, memory, own)
            .wait();
    ASSERT_EQ(fault.kind, FaultKind::None) << fault.report;
    const std::string what = std::string(is_store ? "st" : "ld") + vector.type() + " " +
                             place.name + (is_shared ? ", shared" : ", global") + ", block " +
                             std::to_string(block.width) + " x " + std::to_string(block.height);
    EXPECT_EQ(std::vector<U>(memory, memory + ELEMENTS * 4), wanted_memory) << what;
    EXPECT_EQ(std::vector<U>(own, own + ELEMENTS * 4), wanted_own) << what;
}

/// Returns whether two threads write to one place, so that the result depends on their order.
bool has_conflicts(const Place& place, Block block) {
    std::vector<bool> is_used(ELEMENTS, false);
    for (U t = 0; t < block.width * block.height; ++t) {
        const U index = place.index(t % block.width, t / block.width);
        if (is_used[index]) {
            return true;
        }
        is_used[index] = true;
    }
    return false;
}

} // namespace

TEST_P(VectorAccesses, loads_in_every_arrangement) {
    for (const Vector vector : VECTORS) {
        for (const Place& place : PLACES) {
            for (const Block block : BLOCKS) {
                expect_access(vector, place, block, false, false);
                expect_access(vector, place, block, true, false);
            }
        }
    }
}

TEST_P(VectorAccesses, stores_in_every_arrangement) {
    for (const Vector vector : VECTORS) {
        for (const Place& place : PLACES) {
            for (const Block block : BLOCKS) {
                if (!has_conflicts(place, block)) {
                    expect_access(vector, place, block, false, true);
                    expect_access(vector, place, block, true, true);
                }
            }
        }
    }
}

TEST_P(VectorAccesses, misaligned_and_foreign_addresses_are_faults) {
    TestDevice device;
    auto* memory = device.allocate<U>(4096);
    for (const char* const access : {"ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%c]",
                                     "st.global.v4.b32 [%c], {%r1, %r2, %r3, %r4}"}) {
        const auto kernel = device.compile(
            ptx_module(std::string(".visible .entry k(.param .u64 a) {\n.reg .b32 %t, %r<5>; "
                                   ".reg .b64 %a, %c;\nld.param.u64 %a, [a]; mov.u32 %t, %tid.x;\n"
                                   "mul.wide.u32 %c, %t, 16; add.u64 %c, %a, %c;\n"
                                   "mov.b32 %r1, 1; mov.b32 %r2, 2; mov.b32 %r3, 3; mov.b32 %r4, "
                                   "4;\n") +
                       access + ";\nst.global.b32 [%a], %r1;\nret;\n}"));
        ASSERT_TRUE(kernel) << device.log;
        const auto address = reinterpret_cast<std::uint64_t>(memory);
        EXPECT_EQ(Launch(device, kernel, Shape{.block = 32}, address + 8).wait().kind,
                  FaultKind::MisalignedAddress);
        EXPECT_EQ(Launch(device, kernel, Shape{.block = 32}, std::uint64_t{1} << 50).wait().kind,
                  FaultKind::IllegalAddress);
        EXPECT_EQ(Launch(device, kernel, Shape{.block = 16, .block_y = 2}, address + 8).wait().kind,
                  FaultKind::MisalignedAddress);
        EXPECT_EQ(Launch(device, kernel, Shape{.block = 32}, address).wait().kind, FaultKind::None);
    }
}

TEST_P(VectorAccesses, asynchronous_copies_in_every_arrangement) {
    for (const char* const place : {"mov.u32 %i, %t;\n", "xor.b32 %i, %t, 3;\n"}) {
        TestDevice device;
        auto* in = device.allocate<U>(128);
        auto* out = device.allocate<U>(128);
        for (U i = 0; i < 128; ++i) {
            in[i] = 7 * i;
        }
        const auto kernel = device.compile(ptx_module(
            std::string(".visible .entry k(.param .u64 a, .param .u64 b) {\n"
                        ".shared .align 16 .b8 tile[512];\n.reg .b32 %t, %i, %s, %r<5>; "
                        ".reg .b64 %a, %b, %c;\nld.param.u64 %a, [a]; ld.param.u64 %b, [b];\n"
                        "mov.u32 %t, %tid.x; mov.u32 %s, tile;\n") +
            place +
            "mad.lo.u32 %s, %i, 16, %s; mul.wide.u32 %c, %i, 16; add.u64 %a, %a, %c;\n"
            "cp.async.cg.shared.global [%s], [%a], 16;\ncp.async.wait_all;\nbar.sync 0;\n"
            "ld.shared.v4.b32 {%r1, %r2, %r3, %r4}, [%s];\n"
            "add.u64 %b, %b, %c; st.global.v4.b32 [%b], {%r1, %r2, %r3, %r4};\nret;\n}"));
        ASSERT_TRUE(kernel) << device.log;
        for (const U threads : {32u, 20u}) {
            std::fill(out, out + 128, 0u);
            const Fault fault = Launch(device, kernel, Shape{.block = threads}, in, out).wait();
            ASSERT_EQ(fault.kind, FaultKind::None) << fault.report;
            for (U i = 0; i < threads * 4; ++i) {
                EXPECT_EQ(out[i], in[i]) << place << i;
            }
        }
    }
}

} // namespace cuprum::emulator
