// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Blocks whose warps run in lockstep (interp/lockstep.hpp). Each kernel runs twice: in lockstep,
// and with its handlers for lockstep removed, so that the warps run one after the other. All memory
// and all reports must be the same.

#include "bytecode/forms.hpp"
#include "exec/published_code.hpp"
#include "support/operation.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace cuprum::emulator {

namespace {

using test::Launch;
using test::ptx_module;
using test::Shape;
using test::TestDevice;
using U = std::uint32_t;

constexpr std::size_t WORDS = 16384; // of the input and of the output
constexpr U SHIFT = 4096;            // the kernels' pointers begin this many words into them

/// What every kernel begins with: %i is the number of the thread in the grid, %t in the block.
constexpr const char* PROLOGUE = R"(
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n, .param .u32 m) {
.shared .align 16 .b8 tile[8192];
.reg .pred %p, %q; .reg .b32 %x, %y, %b, %w, %h, %i, %t, %n, %m, %r<16>; .reg .b16 %s<4>;
.reg .b64 %in, %out, %d<16>; .reg .f32 %f<16>;
ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.u32 %n, [n]; ld.param.u32 %m, [m];
mov.u32 %x, %tid.x; mov.u32 %y, %tid.y; mov.u32 %b, %ctaid.x; mov.u32 %w, %ntid.x;
mov.u32 %h, %ntid.y; mad.lo.u32 %t, %y, %w, %x; mul.lo.u32 %r15, %w, %h;
mad.lo.u32 %i, %b, %r15, %t;
)";

/// What a run leaves behind.
struct Outcome {
    Fault fault;
    std::vector<U> memory;
};

class InLockstep : public test::OnEveryLevel {
protected:
    InLockstep() : in_(device_.allocate<U>(WORDS)), out_(device_.allocate<U>(WORDS)) {}

    void SetUp() override {
        OnEveryLevel::SetUp();
        exec::Engine::instance().configure({.worker_count = 1});
    }

    Outcome run(const std::shared_ptr<const bytecode::Kernel>& kernel, Shape shape, U n, U m) {
        for (U i = 0; i < WORDS; ++i) {
            const float value = 1.0F + 0.001F * static_cast<float>(i * i % 97);
            std::memcpy(in_ + i, &value, sizeof value);
            out_[i] = i * 2654435761u;
        }
        Outcome result;
        result.fault = Launch(device_, kernel, shape, in_ + SHIFT, out_ + SHIFT, n, m).wait();
        result.memory.assign(out_, out_ + WORDS);
        return result;
    }

    /// Runs the body of a kernel both ways. Returns the fault.
    Fault expect_same(const std::string& body, Shape shape, U n = 1000, U m = 3) {
        const auto kernel = device_.compile(ptx_module(PROLOGUE + body + "\nret;\n}"));
        EXPECT_TRUE(kernel) << device_.log << body;
        if (kernel == nullptr) {
            return {};
        }
        const auto alone = test::without_lockstep(*kernel);
        device_.set_constants(alone.get(), device_.constants(kernel.get()));
        share_ =
            static_cast<double>(kernel->lockstep.size()) / static_cast<double>(kernel->code.size());
        chain_links_ = std::count_if(kernel->code.begin(), kernel->code.end(), [](const auto& at) {
            return at.form.variant == bytecode::Variant::FusedChain;
        });
        const Outcome together = run(kernel, shape, n, m);
        const Outcome one_by_one = run(alone, shape, n, m);
        EXPECT_EQ(together.fault.kind, one_by_one.fault.kind) << together.fault.report << body;
        EXPECT_EQ(together.fault.report, one_by_one.fault.report);
        const auto differing = std::mismatch(together.memory.begin(), together.memory.end(),
                                             one_by_one.memory.begin());
        EXPECT_TRUE(differing.first == together.memory.end())
            << "word " << differing.first - together.memory.begin() << " is " << *differing.first
            << " in lockstep and " << *differing.second << " alone, in blocks of " << shape.block
            << " x " << shape.block_y << ":\n"
            << body;
        return one_by_one.fault;
    }

    /// Does so for blocks of several shapes.
    void expect_same_in_shapes(const std::string& body, U n = 1000, U m = 3) {
        for (const Shape& shape :
             {Shape{.grid = 3, .block = 256}, Shape{.grid = 2, .block = 64},
              Shape{.block = 32, .block_y = 8}, Shape{.block = 16, .block_y = 16},
              Shape{.block = 8, .block_y = 16}, Shape{.block = 64, .block_y = 4},
              Shape{.block = 96}, Shape{.grid = 2, .block = 100}, Shape{.block = 1024}}) {
            (void)expect_same(body, shape, n, m);
        }
        EXPECT_EQ(share_, has_lockstep() ? 1 : 0) << body; // every instruction has a handler
    }

    /// Returns whether this level has handlers for lockstep.
    static bool has_lockstep() {
        return std::string(GetParam()) == "v3" || std::string(GetParam()) == "v4";
    }

    TestDevice device_;
    U* in_;
    U* out_;
    double share_ = 0;               // of the instructions, with a handler for lockstep
    std::ptrdiff_t chain_links_ = 0; // products that another one follows in a chain
};

INSTANTIATE_TEST_SUITE_P(Levels, InLockstep, test::LEVELS,
                         [](const auto& each) { return std::string(each.param); });

constexpr const char* STORE_R0 = "mul.wide.u32 %d0, %i, 4; add.u64 %d0, %out, %d0; "
                                 "st.global.u32 [%d0], %r0;\n";

} // namespace

TEST_P(InLockstep, elements_of_every_size_with_a_bound) {
    for (const char* type : {"u8", "s8", "u16", "s16", "u32", "s32", "f32"}) {
        const std::string name = type;
        const std::string size = name.substr(1) == "8" ? "1" : name.substr(1) == "16" ? "2" : "4";
        expect_same_in_shapes("setp.ge.u32 %p, %i, %n; @%p bra END;\nmul.wide.u32 %d1, %i, " +
                              size +
                              "; add.u64 %d2, %in, %d1; add.u64 %d3, %out, %d1;\nld.global." +
                              name + (name == "f32" ? " %f0" : " %r0") + ", [%d2];\nst.global." +
                              name + " [%d3], " + (name == "f32" ? "%f0" : "%r0") + ";\nEND:");
    }
    expect_same_in_shapes(
        "mul.wide.u32 %d1, %i, 8; add.u64 %d2, %in, %d1; add.u64 %d3, %out, %d1;\n"
        "ld.global.u64 %d4, [%d2]; st.global.u64 [%d3], %d4;");
    expect_same_in_shapes(
        "mul.wide.u32 %d1, %i, 16; add.u64 %d2, %in, %d1; add.u64 %d3, %out, %d1;\n"
        "ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%d2];\n"
        "st.global.v4.u32 [%d3], {%r3, %r2, %r1, %r0};");
}

TEST_P(InLockstep, narrow_elements_are_extended_and_cut_off) {
    const auto element = [&](std::size_t i, U bytes) { // of the input, extended with zeros
        U value = 0;
        std::memcpy(&value, reinterpret_cast<const std::byte*>(in_ + SHIFT) + i * bytes, bytes);
        return value;
    };
    for (const char* type : {"u8", "s8", "u16", "s16"}) {
        const std::string name = type;
        const U bytes = name.substr(1) == "8" ? 1 : 2;
        const U unused = 32 - 8 * bytes;
        const std::string address = "mul.wide.u32 %d1, %i, " + std::to_string(bytes) + ";\n";
        (void)expect_same(address + "add.u64 %d2, %in, %d1; ld.global." + name + " %r0, [%d2];\n" +
                              STORE_R0,
                          {.grid = 3, .block = 256});
        for (std::size_t i = 0; i < 768; ++i) {
            const U bits = element(i, bytes) << unused;
            const U wanted = name[0] == 's'
                                 ? static_cast<U>(static_cast<std::int32_t>(bits) >> unused)
                                 : bits >> unused;
            ASSERT_EQ(out_[SHIFT + i], wanted) << name << " " << i;
        }
        (void)expect_same(address +
                              "add.u64 %d2, %out, %d1; mul.lo.u32 %r0, %i, %i;\n"
                              "add.u32 %r0, %r0, 0x12345; st.global." +
                              name + " [%d2], %r0;",
                          {.grid = 3, .block = 256});
        for (U i = 0; i < 768; ++i) {
            U stored = 0;
            std::memcpy(&stored, reinterpret_cast<const std::byte*>(out_ + SHIFT) + i * bytes,
                        bytes);
            ASSERT_EQ(stored, (i * i + 0x12345) << unused >> unused) << name << " " << i;
        }
    }
}

TEST_P(InLockstep, steps_of_every_sign_and_size) {
    for (const char* scale : {"4", "-4", "8", "-12", "0"}) {
        expect_same_in_shapes("mul.wide.s32 %d1, %t, " + std::string(scale) +
                              "; add.u64 %d2, %in, %d1; add.u64 %d3, %out, %d1;\n"
                              "ld.global.u32 %r0, [%d2]; add.u32 %r0, %r0, %i;\n"
                              "st.global.u32 [%d3], %r0;");
    }
    for (const char* scale : {"4", "-4", "64", "-512"}) { // rows
        expect_same_in_shapes("mul.wide.s32 %d1, %y, " + std::string(scale) +
                              "; add.u64 %d2, %in, %d1; ld.global.u32 %r0, [%d2];\n" + STORE_R0);
    }
}

TEST_P(InLockstep, values_that_wrap) {
    // At 2^32, before and after they are widened.
    for (const char* add : {"0xfffffff0", "0x7ffffff0", "0x80000000", "0x3fffffe0", "0"}) {
        for (const char* type : {"u", "s"}) {
            const std::string t = type;
            expect_same_in_shapes(
                "add.u32 %r1, %i, " + std::string(add) + "; mul.wide." + t +
                "32 %d1, %r1, 4; cvt." + t + "64." + t +
                "32 %d2, %r1;\n"
                "sub.u64 %d3, %d1, %d2; shr.u64 %d4, %d3, 7; cvt.u32.u64 %r0, %d4;\n" +
                STORE_R0);
        }
    }
    // At 2^64: the address comes back.
    expect_same_in_shapes("mul.wide.u32 %d1, %i, 4; add.u64 %d2, %in, %d1; mov.u64 %d3, "
                          "0xfffffffffffff000; sub.u64 %d2, %d2, %d3; add.u64 %d2, %d2, %d3;\n"
                          "ld.global.u32 %r0, [%d2];\n" +
                          std::string(STORE_R0));
}

TEST_P(InLockstep, arithmetic_on_indices) {
    expect_same_in_shapes(
        "shl.b32 %r1, %i, 3; mad.lo.u32 %r2, %m, %i, %r1; sub.u32 %r3, %r2, %t;\n"
        "mul.lo.u32 %r4, %r3, %m; and.b32 %r5, %m, 6; or.b32 %r6, %r5, %n; xor.b32 "
        "%r7, %r6, 77; shr.u32 %r8, %r7, 2; shr.s32 %r9, %r7, 1; add.u32 %r0, %r4, "
        "%r8; add.u32 %r0, %r0, %r9; mad.wide.u32 %d1, %i, 4, %out;\n"
        "st.global.u32 [%d1], %r0;");
    // A product of two indices is not linear.
    expect_same_in_shapes("mul.lo.u32 %r1, %i, %t; add.u32 %r0, %r1, %y;\n" +
                          std::string(STORE_R0));
}

TEST_P(InLockstep, branches_exits_and_guards) {
    for (const char* op : {"eq", "ne", "lt", "le", "gt", "ge"}) {
        for (const char* with : {"40", "64", "0", "%n", "%x", "%w"}) {
            const std::string compare =
                "setp." + std::string(op) + ".s32 %p, %t, " + std::string(with) + ";\n";
            expect_same_in_shapes(
                compare + "mov.u32 %r0, 1; @%p bra OVER; mov.u32 %r0, 2;\nOVER:\n" + STORE_R0);
            expect_same_in_shapes(compare + "@%p ret;\nmov.u32 %r0, 5;\n" + STORE_R0);
            expect_same_in_shapes(compare + "@!%p ret;\nmov.u32 %r0, 5;\n" + STORE_R0);
            expect_same_in_shapes(compare +
                                  "mul.wide.u32 %d1, %i, 4; add.u64 %d2, %out, %d1;\n"
                                  "mov.u32 %r0, 9; @%p add.u32 %r0, %r0, %i;\n"
                                  "selp.u32 %r0, %r0, 3, %p; @%p st.global.u32 [%d2], %r0;");
        }
    }
}

TEST_P(InLockstep, loops_and_their_budget) {
    // More rounds than a block may take at once, with a sum in each warp.
    for (const U rounds : {5u, 40000u}) {
        (void)expect_same(
            "mov.u32 %r1, 0; mov.u32 %r0, 7;\nAGAIN: add.u32 %r0, %r0, %t; xor.b32 %r0, "
            "%r0, %r1; add.u32 %r1, %r1, 1; setp.lt.u32 %p, %r1, %n; @%p bra AGAIN;\n" +
                std::string(STORE_R0),
            Shape{.grid = 2, .block = 96}, rounds);
    }
    // Steps of the size of the grid, and threads that leave at different times.
    expect_same_in_shapes(
        "mov.u32 %r3, %nctaid.x; mul.lo.u32 %r3, %r3, %r15; mov.u32 %r1, %i; mov.u32 "
        "%r0, 0;\nsetp.ge.u32 %p, %r1, %n; @%p bra END;\n"
        "AGAIN: mul.wide.u32 %d1, %r1, 4; add.u64 %d1, %in, %d1; ld.global.u32 %r2, "
        "[%d1]; add.u32 %r0, %r0, %r2; add.u32 %r1, %r1, %r3; setp.lt.u32 %p, %r1, %n;"
        " @%p bra AGAIN;\nEND:\n" +
            std::string(STORE_R0),
        3333);
}

TEST_P(InLockstep, barriers_and_shared_memory) {
    const std::string exchange =
        "mov.u64 %d5, tile; mul.wide.u32 %d6, %t, 4; add.u64 %d7, %d5, %d6; add.u32 %r1, %i, 3;\n"
        "st.shared.u32 [%d7], %r1;\n";
    const std::string read =
        "sub.u32 %r2, %r15, %t; sub.u32 %r2, %r2, 1; mul.wide.u32 %d8, %r2, 4; "
        "add.u64 %d8, %d5, %d8; ld.shared.u32 %r0, [%d8];\n";
    expect_same_in_shapes(exchange + "bar.sync 0;\n" + read + STORE_R0);
    expect_same_in_shapes(exchange + "bar.sync 3; bar.sync 0;\n" + read + "bar.sync 0;\n" +
                          STORE_R0);
    (void)expect_same(exchange + "bar.sync 1, 96;\n" + read + STORE_R0, Shape{.block = 96});
    // A barrier that does not exist.
    const Fault fault = expect_same(exchange + "mov.u32 %r2, 17; bar.sync %r2;\n" + read + STORE_R0,
                                    Shape{.block = 64});
    EXPECT_EQ(fault.kind, FaultKind::IllegalInstruction) << fault.report;
}

TEST_P(InLockstep, atomics) {
    const std::string place =
        "mov.u64 %d5, tile; mul.wide.u32 %d6, %t, 4; add.u64 %d7, %d5, %d6;\n"
        "mov.u32 %r1, 0; st.shared.u32 [%d7], %r1; bar.sync 0;\n"
        "mul.lo.u32 %r2, %i, 0x9e3779b1; shr.u32 %r2, %r2, 27; mul.wide.u32 %d8, "
        "%r2, 4; add.u64 %d8, %d5, %d8;\n";
    // A word for each warp: behind a barrier, warps that run alone continue in another order.
    const std::string own = place +
                            "shr.u32 %r2, %t, 5; mul.wide.u32 %d8, %r2, 4; add.u64 %d8, %d5, "
                            "%d8;\n";
    const std::string result = "bar.sync 0; ld.shared.u32 %r0, [%d7];\n";
    for (const char* op : {"add", "min", "max", "and", "or", "xor", "inc", "exch"}) {
        const std::string type = op[0] == 'a' && op[1] == 'd'   ? "u32"
                                 : op[0] == 'm' || op[0] == 'i' ? "s32"
                                                                : "b32";
        const std::string full =
            std::string(op) + "." + (type == "s32" && op[0] == 'i' ? "u32" : type);
        const bool depends_on_order = op[0] == 'i' || op[0] == 'e';
        expect_same_in_shapes((depends_on_order ? own : place) + "atom.shared." + full +
                              " %r5, [%d8], %i;\n" + result + STORE_R0);
        expect_same_in_shapes(own + "atom.shared." + full + " %r0, [%d8], 3;\n" + STORE_R0);
    }
    expect_same_in_shapes(place + "red.shared.add.u32 [%d8], 1;\n" + result + STORE_R0);
    expect_same_in_shapes(place + "red.shared.add.u64 [tile+1024], %d6;\n" + result + STORE_R0);
    expect_same_in_shapes("atom.global.add.u32 %r0, [%out+8192], 2;\n" + std::string(STORE_R0));
    // Outside shared memory, and misaligned. Without a barrier, so that the first warp is first.
    const std::string near = "mov.u64 %d5, tile; mul.wide.u32 %d8, %t, 4; add.u64 %d8, %d5, %d8;\n";
    EXPECT_EQ(expect_same(near + "red.shared.add.u32 [%d8+16384], 1;", Shape{.block = 64}).kind,
              FaultKind::IllegalAddress);
    EXPECT_EQ(expect_same(near + "red.shared.add.u32 [%d8+2], 1;", Shape{.block = 64}).kind,
              FaultKind::MisalignedAddress);
}

TEST_P(InLockstep, products_and_chains) {
    const std::string addresses =
        "mul.wide.u32 %d1, %y, 64; add.u64 %d1, %in, %d1; mul.wide.u32 %d2, %x, 4; add.u64 %d2, "
        "%in, "
        "%d2; mov.f32 %f0, 0f3f800000; mov.u32 %r1, 0; mul.wide.u32 %d9, %m, 4;\n";
    const std::string product =
        "ld.global.f32 %f1, [%d1]; ld.global.f32 %f2, [%d2]; fma.rn.f32 %f0, "
        "%f1, %f2, %f0;\n";
    const std::string store =
        "mul.wide.u32 %d0, %i, 4; add.u64 %d0, %out, %d0; st.global.f32 [%d0], "
        "%f0;\n";
    expect_same_in_shapes(addresses + product + store);
    // An unrolled loop: the addresses advance inside of a chain and behind it.
    expect_same_in_shapes(
        addresses + "AGAIN:\n" + product +
        "add.u64 %d2, %d2, %d9; ld.global.f32 %f3, [%d1+4]; ld.global.f32 %f4, [%d2];"
        " fma.rn.f32 %f0, %f3, %f4, %f0;\nadd.u64 %d2, %d2, %d9; ld.global.f32 %f5, "
        "[%d1+8]; ld.global.f32 %f6, [%d2]; fma.rn.f32 %f0, %f5, %f6, %f0;\n"
        "add.u64 %d2, %d2, %d9; add.u64 %d1, %d1, 12; add.u32 %r1, %r1, 1; setp.lt.u32 "
        "%p, %r1, 9; @%p bra AGAIN;\n" +
        store);
    // More products than one batch holds, in shared memory. The blocks have 64 threads or more, and
    // read up to 48 numbers behind those of their threads.
    std::string many = "mov.u64 %d5, tile; mul.wide.u32 %d6, %t, 4; add.u64 %d7, %d5, %d6; "
                       "cvt.rn.f32.u32 %f7, %t; st.shared.f32 [%d7], %f7; add.u32 %r2, %t, 64;\n"
                       "cvt.rn.f32.u32 %f7, %r2; st.shared.f32 [%d7+256], %f7; bar.sync 0;\n"
                       "mov.f32 %f0, 0f40000000; mul.wide.u32 %d2, %x, 4; add.u64 %d3, %d5, %d2;\n";
    for (int i = 0; i < 37; ++i) {
        const std::string first = std::to_string(2 * i + 1);
        many += ".reg .f32 %v" + first + ", %w" + first + "; ld.shared.f32 %v" + first + ", [%d5+" +
                std::to_string(4 * i) + "]; ld.shared.f32 %w" + first + ", [%d3+" +
                std::to_string(32 * (i % 7)) + "]; fma.rn.f32 %f0, %v" + first + ", %w" + first +
                ", %f0;\n";
    }
    expect_same_in_shapes(many + store);
}

TEST_P(InLockstep, chains_through_one_address_register) {
    const auto product = [](const std::string& space, const std::string& first,
                            const std::string& second, int number) {
        const std::string n = std::to_string(number);
        return ".reg .f32 %v" + n + ", %w" + n + "; ld" + space + ".f32 %v" + n + ", [" + first +
               "]; ld" + space + ".f32 %w" + n + ", [" + second + "]; fma.rn.f32 %f0, %v" + n +
               ", %w" + n + ", %f0;\n";
    };
    const std::string begin =
        "mul.wide.u32 %d1, %y, 64; add.u64 %d1, %in, %d1; mul.wide.u32 %d2, %x, 4; add.u64 %d2, "
        "%in, %d2; mov.f32 %f0, 0f3f800000; mul.wide.u32 %d9, %m, 4;\n";
    const std::string store = "mul.wide.u32 %d0, %i, 4; add.u64 %d0, %out, %d0; st.global.f32 "
                              "[%d0], %f0;\n";
    const auto global = [&](const char* first, const char* second, int number) {
        return product(".global", first, second, number);
    };
    // The offsets go up and down. One register changes in between, and both loads share another.
    expect_same_in_shapes(begin + global("%d1", "%d2", 0) + global("%d1+4", "%d2+128", 1) +
                          global("%d1-8", "%d2-64", 2) + "add.u64 %d2, %d2, %d9;\n" +
                          global("%d1+12", "%d2", 3) + global("%d1", "%d2+8", 4) +
                          "add.u64 %d1, %d1, %d9; add.u64 %d2, %d1, %d9;\n" +
                          global("%d1+4", "%d1+8", 5) + global("%d2", "%d2+4", 6) + store);
    EXPECT_EQ(chain_links_, has_lockstep() ? 6 : 0) << "the products form one chain";
    // Generic addresses.
    expect_same_in_shapes(begin + product("", "%d1", "%d2", 0) + product("", "%d1+4", "%d2+8", 1) +
                          product("", "%d1-4", "%d2-64", 2) + store);
    EXPECT_EQ(chain_links_, has_lockstep() ? 2 : 0);
    // An odd address, and one outside of all memory, behind products that are good.
    const Shape shape{.block = 16, .block_y = 16};
    const std::string good = begin + global("%d1", "%d2", 0) + global("%d1+4", "%d2+4", 1);
    EXPECT_EQ(expect_same(good + global("%d1+6", "%d2+8", 2) + store, shape).kind,
              FaultKind::MisalignedAddress);
    EXPECT_EQ(expect_same(good + global("%d1+8", "%d2+10", 2) + store, shape).kind,
              FaultKind::MisalignedAddress);
    EXPECT_EQ(expect_same(good + global("%d1+8", "%d2-0x40000000", 2) + store, shape).kind,
              FaultKind::IllegalAddress);
    // Narrow addresses: within the tile, below it, and behind its end. Faults are tried without a
    // barrier, so that the first warp is first.
    const std::string fill =
        "mov.u32 %r1, tile; shl.b32 %r2, %t, 2; add.u32 %r2, %r1, %r2; cvt.rn.f32.u32 %f7, %t;\n"
        "st.shared.f32 [%r2], %f7; st.shared.f32 [%r2+1024], %f7; bar.sync 0;\n";
    const auto shared = [&](const char* first, const char* second, int number) {
        return product(".shared", first, second, number);
    };
    const std::string inside =
        "mov.u32 %r1, tile; shl.b32 %r3, %x, 2; add.u32 %r3, %r1, %r3; mov.f32 %f0, 0f40000000;\n" +
        shared("%r1", "%r3", 0) + shared("%r1+64", "%r3+32", 1);
    (void)expect_same(fill + inside + shared("%r1+4", "%r3+8", 2) + store, shape);
    EXPECT_EQ(expect_same(inside + shared("%r1-32", "%r3+8", 2) + store, shape).kind,
              FaultKind::IllegalAddress);
    EXPECT_EQ(expect_same(inside + shared("%r1+4", "%r3+0x7ffffff0", 2) + store, shape).kind,
              FaultKind::IllegalAddress);
    EXPECT_EQ(expect_same(inside + shared("%r1+0x10000", "%r3", 2) + store, shape).kind,
              FaultKind::IllegalAddress);
}

TEST_P(InLockstep, faults_of_some_warps) {
    // Beyond the end of memory, from some thread on; at an odd address; without permission.
    const std::string base = "mul.wide.u32 %d1, %i, 4; add.u64 %d2, %out, %d1;\n";
    for (const Shape& shape : {Shape{.block = 256}, Shape{.block = 16, .block_y = 16}}) {
        EXPECT_EQ(
            expect_same("mul.wide.u32 %d1, %i, 8192; add.u64 %d2, %out, %d1; st.global.u32 [%d2], "
                        "%i;",
                        shape)
                .kind,
            FaultKind::IllegalAddress);
        EXPECT_EQ(
            expect_same(base + "ld.global.u32 %r0, [%d2+2]; st.global.u32 [%d2], %r0;", shape).kind,
            FaultKind::MisalignedAddress);
        device_.set_permission(out_ + SHIFT + 1024, 4, Permission::Read);
        EXPECT_EQ(expect_same(base + "st.global.u32 [%d2+3600], %i;", shape).kind,
                  FaultKind::IllegalAddress);
        device_.set_permission(out_ + SHIFT + 1024, 4, Permission::ReadWrite);
    }
}

TEST_P(InLockstep, warps_that_wait_for_each_other) {
    // The last warp sets a flag that the others wait for.
    expect_same_in_shapes("mov.u32 %r2, 0; st.volatile.shared.u32 [tile], %r2; bar.sync 0;\n"
                          "sub.u32 %r1, %r15, 1; setp.ne.u32 %p, %t, %r1; @%p bra WAIT;\n"
                          "mov.u32 %r2, 1; st.volatile.shared.u32 [tile], %r2;\n"
                          "WAIT: ld.volatile.shared.u32 %r0, [tile]; setp.eq.u32 %p, %r0, 0;\n"
                          "@%p bra WAIT;\n" +
                          std::string(STORE_R0));
}

TEST_P(InLockstep, a_block_that_only_waits_is_reported_with_all_its_warps) {
    exec::Engine::instance().configure(
        {.worker_count = 1, .watchdog_seconds = 1, .is_watchdog_strict = true});
    const Fault fault = test::run(device_, R"(.visible .entry k(.param .u64 flag) {
        .reg .pred %p; .reg .b32 %r; .reg .b64 %d; ld.param.u64 %d, [flag];
        WAIT: ld.volatile.global.u32 %r, [%d]; setp.eq.u32 %p, %r, 0; @%p bra WAIT; ret; })",
                                  Shape{.block = 96}, out_ + WORDS - 1);
    EXPECT_EQ(fault.kind, FaultKind::Timeout) << fault.report;
    EXPECT_NE(fault.report.find("warp 2"), std::string::npos) << fault.report;
    exec::Engine::instance().configure({.worker_count = 1});
}

TEST_P(InLockstep, random_programs) {
    std::mt19937 random(20261116);
    const auto below = [&](std::size_t count) { return random() % count; };
    const auto pick = [&](const std::vector<std::string>& from) {
        return from[below(from.size())];
    };
    for (int program = 0; program < 120; ++program) {
        std::vector<std::string> values = {"%i", "%t", "%x", "%y", "%n", "%m", "%b"};
        std::string body = "mov.u32 %r0, %i; mov.u32 %r14, 0;\n";
        const std::size_t length = 4 + below(14);
        const std::size_t loop = below(3) == 0 ? below(length) : length;
        for (std::size_t at = 0; at < length; ++at) {
            if (at == loop) {
                body += "AGAIN:\n";
            }
            const std::string to = "%r" + std::to_string(1 + below(9));
            const std::string a = pick(values);
            const std::string b = pick(values);
            const std::string number = std::to_string(below(70));
            switch (below(9)) {
            case 0:
                body += "add.u32 " + to + ", " + a + ", " + b + ";\n";
                break;
            case 1:
                body += "sub.u32 " + to + ", " + a + ", " + number + ";\n";
                break;
            case 2:
                body += "mad.lo.u32 " + to + ", " + a + ", " + number + ", " + b + ";\n";
                break;
            case 3:
                body += "shl.b32 " + to + ", " + a + ", " + std::to_string(below(34)) + ";\n";
                break;
            case 4: { // a load from anywhere in the input
                body += "and.b32 %r12, " + a +
                        ", 2047; mul.wide.u32 %d1, %r12, 4; add.u64 %d1, %in, "
                        "%d1; ld.global.u32 " +
                        to + ", [%d1];\n";
                break;
            }
            case 5:
                body += "rem.u32 %r12, %t, 1024; mul.wide.u32 %d1, %r12, 4; add.u64 %d2, %in, %d1; "
                        "ld.global.u32 %r13, [%d2]; add.u32 %r0, %r0, %r13;\nmov.u32 " +
                        to + ", " + a + ";\n";
                break;
            case 6:
                body += "setp." + pick({"lt", "ge", "eq", "ne", "gt", "le"}) + "." +
                        pick({"u", "s"}) + "32 %p, " + a + ", " + pick({b, number}) + "; mov.u32 " +
                        to + ", 1; @" + pick({"", "!"}) + "%p bra L" + std::to_string(at) +
                        "; mov.u32 " + to + ", " + b + ";\nL" + std::to_string(at) + ":\n";
                break;
            case 7:
                body += "cvt." + pick({"u64.u", "s64.s"}) + "32 %d3, " + a + "; mul.wide." +
                        pick({"u", "s"}) + "32 %d4, " + b + ", " + number +
                        "; add.u64 %d3, %d3, %d4; "
                        "shr.u64 %d4, %d3, 32; cvt.u32.u64 %r11, %d4; xor.b32 %r0, %r0, %r11; "
                        "cvt.u32.u64 " +
                        to + ", %d3;\n";
                break;
            default:
                body += "mul.lo.u32 " + to + ", " + a + ", " + pick({b, number}) +
                        "; xor.b32 %r0, %r0, " + to + ";\n";
                break;
            }
            values.push_back(to);
        }
        if (loop != length) {
            body += "add.u32 %r14, %r14, 1; setp.lt.u32 %q, %r14, 3; @%q bra AGAIN;\n";
        }
        for (int r = 1; r < 10; ++r) { // registers that were never written have no value
            const std::string name = "%r" + std::to_string(r);
            if (std::find(values.begin(), values.end(), name) != values.end()) {
                body += "xor.b32 %r0, %r0, " + name + ";\n";
            }
        }
        body += STORE_R0;
        std::string
            first; // gives every register a value first: a loop may read it before it is written
        for (int r = 1; r < 10; ++r) {
            first += "add.u32 %r" + std::to_string(r) + ", %t, " + std::to_string(r) + ";\n";
        }
        for (const Shape& shape : {Shape{.grid = 2, .block = 128}, Shape{.block = 16, .block_y = 8},
                                   Shape{.block = 32, .block_y = 3}, Shape{.block = 80}}) {
            (void)expect_same(first + body, shape, static_cast<U>(random() % 300),
                              static_cast<U>(random() % 9));
        }
        if (HasFailure()) {
            break;
        }
    }
}

} // namespace cuprum::emulator
