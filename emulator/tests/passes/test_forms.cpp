// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What a compiled kernel keeps: the form of each instruction, code that every context shares, and
// no more memory than needed.

#include "bytecode/forms.hpp"
#include "exec/block_setup.hpp"
#include "exec/harness.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <unordered_map>

namespace cuprum::emulator {

namespace {

using bytecode::Family;
using test::Launch;
using test::ptx_module;
using test::Shape;
using test::TestDevice;

/// Returns the bytes that a kernel holds: its code and side tables.
std::size_t held_bytes(const bytecode::Kernel& kernel) {
    return kernel.code.capacity() * sizeof(bytecode::Instruction) +
           kernel.lockstep.capacity() * sizeof(bytecode::LockstepHandler) +
           kernel.operands.capacity() * sizeof(bytecode::Operand) + kernel.constants.capacity() +
           kernel.constant_bytes + kernel.lines.capacity() * sizeof(bytecode::Line) +
           kernel.branch_targets.capacity() * sizeof(std::uint32_t) +
           kernel.symbol_slots.capacity() * sizeof(bytecode::SymbolSlot) +
           kernel.linear_slots.capacity() * sizeof(std::uint32_t);
}

std::string adding_kernel() {
    return ptx_module(R"(
.global .align 4 .u32 first = 5;
.global .align 4 .u32 second[3];
.visible .entry k(.param .u64 out) {
    .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<5>; .reg .pred %p<3>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    ld.global.u32 %r2, [first];
    ld.global.u32 %r3, [second+8];
    mov.u64 %rd2, second;
    add.u32 %r4, %r2, %r3;
    mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd4, %rd1, %rd3;
    setp.gt.u32 %p1, %r1, 3;
    @%p1 bra DONE;
    st.global.u32 [%rd4], %r4;
    st.global.u64 [%rd1+64], %rd2;
DONE:
    ret;
})");
}

} // namespace

TEST(Forms, every_instruction_keeps_its_form) {
    TestDevice device;
    const auto kernel = device.compile(adding_kernel());
    ASSERT_TRUE(kernel) << device.log;
    for (const bytecode::Instruction& instruction : kernel->code) {
        EXPECT_NE(instruction.form.family(), Family::None);
        EXPECT_NE(instruction.handler, nullptr);
    }
    const auto count = [&](auto holds) {
        return std::count_if(kernel->code.begin(), kernel->code.end(),
                             [&](const auto& each) { return holds(each.form); });
    };
    EXPECT_EQ(count([](const auto& form) { return form.is(FixedOp::Exit); }), 1);
    EXPECT_EQ(count([](const auto& form) { return form.is(FixedOp::BranchGuarded); }), 1);
    EXPECT_EQ(count([](const auto& form) {
                  return form.family() == Family::Memory && form.template as<MemoryForm>().is_store;
              }),
              2);
    EXPECT_EQ(count([](const auto& form) {
                  return form.family() == Family::Compare &&
                         form.template as<CompareForm>().compare == Compare::Gt;
              }),
              1);
}

TEST(Forms, a_launch_runs_the_code_of_the_kernel_without_a_copy) {
    TestDevice device;
    const auto kernel = device.compile(adding_kernel());
    ASSERT_TRUE(kernel) << device.log;
    const bytecode::Code& code = kernel->code_source->code().current();
    EXPECT_EQ(code.instructions, kernel->code.data());
    EXPECT_EQ(code.lockstep.data(), kernel->lockstep.data());
    EXPECT_EQ(code.lockstep.size(), kernel->lockstep.size());
}

TEST(Forms, rows_of_16_threads_are_told_by_the_size_of_a_block) {
    const auto two_rows = [](std::uint32_t x, std::uint32_t y, std::uint32_t z) {
        const std::uint32_t block[3] = {x, y, z};
        return exec::warps_hold_two_rows(block);
    };
    EXPECT_TRUE(two_rows(16, 16, 1));
    EXPECT_TRUE(two_rows(16, 1, 2));
    EXPECT_FALSE(two_rows(16, 1, 1));
    EXPECT_FALSE(two_rows(32, 8, 1));
    EXPECT_FALSE(two_rows(8, 8, 1));
}

TEST(Forms, one_kernel_serves_several_places_of_its_variables) {
    TestDevice device;
    const auto kernel = device.compile(adding_kernel());
    ASSERT_TRUE(kernel) << device.log;
    auto* out = device.allocate<std::uint32_t>(32);
    for (std::uint32_t context = 1; context <= 2; ++context) {
        auto* first = device.allocate<std::uint32_t>(1);
        auto* second = device.allocate<std::uint32_t>(3);
        *first = 100 * context;
        second[2] = context;
        const std::unordered_map<std::string, std::uint64_t> addresses = {
            {"first", reinterpret_cast<std::uint64_t>(first)},
            {"second", reinterpret_cast<std::uint64_t>(second)}};
        device.set_constants(kernel.get(), passes::place_symbols(*kernel, addresses));
        const Fault fault = Launch(device, kernel, Shape{.block = 4}, out).wait();
        ASSERT_EQ(fault.kind, FaultKind::None) << fault.report;
        EXPECT_EQ(out[3], 101 * context);
        std::uint64_t address = 0;
        std::memcpy(&address, out + 16, sizeof address);
        EXPECT_EQ(address, reinterpret_cast<std::uint64_t>(second));
    }
}

TEST(Forms, kernels_without_variables_share_their_constants) {
    TestDevice device;
    const auto kernel =
        device.compile(ptx_module(".visible .entry k() { .reg .b32 %r; mov.u32 %r, 77; trap; }"));
    ASSERT_TRUE(kernel) << device.log;
    EXPECT_EQ(passes::place_symbols(*kernel, {}), kernel->constant_bank);
}

TEST(Forms, a_line_of_ptx_takes_little_memory) {
    // What compilers write: loads, arithmetic and stores with few different constants.
    std::string body;
    std::size_t lines = 0;
    for (int i = 0; i < 500; ++i) {
        const std::string offset = std::to_string(4 * (i % 30));
        body += "ld.global.f32 %f1, [%rd4+" + offset + "];\nld.global.f32 %f2, [%rd4+" + offset +
                "];\nmul.f32 %f3, %f1, 0f3f800000;\nadd.f32 %f4, %f3, %f2;\nadd.s32 %r2, %r2, 1;\n"
                "st.global.f32 [%rd4+" +
                offset + "], %f4;\nadd.s64 %rd4, %rd4, 4;\nxor.b32 %r3, %r2, %r3;\n";
        lines += 8;
    }
    TestDevice device;
    const auto kernel = device.compile(
        ptx_module(".visible .entry k(.param .u64 out) {\n.reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
                   ".reg .f32 %f<5>;\nld.param.u64 %rd4, [out]; mov.u32 %r2, %tid.x;\n"
                   "mov.u32 %r3, 0;\n" +
                   body + "st.global.u32 [%rd4], %r3;\nret;\n}"));
    ASSERT_TRUE(kernel) << device.log;
    EXPECT_LE(held_bytes(*kernel) / lines, 150u);
}

TEST(Forms, a_line_of_the_corpus_takes_little_memory) {
    std::size_t bytes = 0;
    std::size_t lines = 0;
    TestDevice device;
    if (!std::filesystem::is_directory(CUPRUM_PTX_CORPUS)) {
        GTEST_SKIP() << "no NVRTC compiled the corpus";
    }
    for (const auto& entry : std::filesystem::directory_iterator(CUPRUM_PTX_CORPUS)) {
        std::ifstream file(entry.path());
        const std::string text(std::istreambuf_iterator<char>(file), {});
        ptx::Diagnostics diagnostics;
        const auto module = ptx::parse(text, diagnostics);
        if (!module) {
            continue;
        }
        passes::CompileOptions options;
        options.memory = &device.map();
        options.device_sm = 120;
        for (const auto& variable :
             passes::global_variables(*module, TestDevice::MEMORY_BYTES, diagnostics)) {
            options.symbols.insert(variable.name);
        }
        for (const auto& kernel : passes::compile(*module, options, diagnostics)) {
            bytes += held_bytes(*kernel);
        }
        lines += static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    }
    ASSERT_GT(lines, 1000u);
    EXPECT_LE(bytes / lines, 150u) << bytes << " bytes for " << lines << " lines";
}

} // namespace cuprum::emulator
