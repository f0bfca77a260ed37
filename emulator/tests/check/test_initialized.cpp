// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Reads of memory that was never written, in every memory space.

#include "check/block_shadow.hpp"
#include "check/checked_kernel.hpp"

namespace cuprum::emulator {

namespace {

using test::expect_report;
using test::run_checked;
using test::Shape;
using test::TestDevice;

constexpr Shape ONE_WARP{.block = 32};

Fault initialized(const std::string& body, Shape shape = ONE_WARP) {
    return run_checked(CHECK_INITIALIZED, body, shape);
}

TEST(Initialized, shared_memory_that_nobody_wrote) {
    expect_report(initialized("ld.shared.u32 %r1, [%mine];\nadd.u32 %r1, %r1, 1;\n"
                              "st.global.u32 [%out], %r1;\n"),
                  FaultKind::UninitializedRead,
                  {"read of 4 bytes at 0x", "which this block has never written",
                   "0 bytes into shared variable 'tile' of 4096 bytes",
                   "kernel planted, block (0, 0, 0), thread (0, 0, 0)", "ld.shared.u32"});
    EXPECT_EQ(initialized("st.shared.u32 [%mine], 0;\nld.shared.u32 %r1, [%mine];\n"
                          "add.u32 %r1, %r1, 1;\nst.global.u32 [%out], %r1;\n")
                  .kind,
              FaultKind::None);
}

TEST(Initialized, bulk_stores_and_vector_registers_count) {
    const std::string use = "ld.shared.u32 %r1, [tile+16];\nadd.u32 %r1, %r1, 1;\n"
                            "st.global.u32 [%out], %r1;\n";
    EXPECT_EQ(initialized("st.bulk.shared::cta [tile], 24, 0;\n" + use).kind, FaultKind::None);
    expect_report(initialized("st.bulk.shared::cta [tile], 16, 0;\n" + use),
                  FaultKind::UninitializedRead, {"16 bytes into shared variable 'tile'"});
    expect_report(initialized(".reg .v2 .b32 %v;\nst.shared.u32 [tile], 1;\n"
                              "ld.shared.v2.u32 %v, [tile];\nadd.u32 %r1, %v.x, %v.y;\n"
                              "st.global.u32 [%out], %r1;\n"),
                  FaultKind::UninitializedRead, {"read of 8 bytes"});
}

TEST(Initialized, shared_memory_that_an_earlier_block_wrote) {
    // Here the second block would read the first one's values; on a GPU it may read anything.
    expect_report(initialized("setp.eq.u32 %p0, %b, 0;\n@%p0 st.shared.u32 [tile], 1;\n"
                              "ld.shared.u32 %r1, [tile];\nadd.u32 %r1, %r1, 1;\n"
                              "st.global.u32 [%out], %r1;\n",
                              {.grid = 2, .block = 1}),
                  FaultKind::UninitializedRead, {"block (1, 0, 0)"});
}

TEST(Initialized, dynamic_shared_memory) {
    expect_report(initialized("ld.shared.u32 %r1, [tile+4112];\nadd.u32 %r1, %r1, 1;\n"
                              "st.global.u32 [%out], %r1;\n",
                              {.block = 1, .dynamic_shared_bytes = 256}),
                  FaultKind::UninitializedRead, {"bytes into the dynamic shared memory"});
}

TEST(Initialized, local_memory) {
    const std::string read = "ld.local.u32 %r1, [own+8];\nadd.u32 %r1, %r1, 1;\n"
                             "st.global.u32 [%out], %r1;\n";
    expect_report(initialized("st.local.u32 [own], 1;\n" + read), FaultKind::UninitializedRead,
                  {"which the thread has never written", "bytes into its local memory"});
    EXPECT_EQ(initialized("st.local.u32 [own+8], 1;\n" + read).kind, FaultKind::None);
    EXPECT_EQ(initialized("mov.u64 %rd1, own;\ncvta.local.u64 %rd2, %rd1;\n"
                          "st.u32 [%rd2+8], 1;\n" +
                          read)
                  .kind,
              FaultKind::None)
        << "through a generic address";
}

TEST(Initialized, an_atomic_operation_reads_too) {
    expect_report(initialized("red.shared.add.u32 [tile], 1;\n"), FaultKind::UninitializedRead,
                  {"update of 4 bytes"});
}

TEST(Initialized, an_exchange_whose_result_is_unused_only_writes) {
    const auto device_memory = [](const std::string& body) {
        TestDevice device;
        auto* const out = device.allocate<std::uint32_t>(64);
        device.enable_checks(CHECK_INITIALIZED);
        device.forget(out, 64 * sizeof *out);
        return run_checked(device, body, {.block = 1}, out);
    };
    for (const char* const exchange :
         {"atom.global.exch.b32 %r1, [%out], 7;", "atom.global.exch.b32 _, [%out], 7;",
          "atom.acq_rel.gpu.global.exch.b32 %r1, [%out], 7;", "atom.exch.b64 %rd1, [%out], 7;"}) {
        EXPECT_EQ(device_memory(std::string(exchange) + "\nld.global.u32 %r2, [%out];\n").kind,
                  FaultKind::None)
            << exchange << ": what it writes counts as written";
    }
    EXPECT_EQ(initialized("atom.shared.exch.b32 %r1, [tile], 7;\n").kind, FaultKind::None);
    for (const char* const use :
         {"atom.global.exch.b32 %r1, [%out], 7;\nst.global.u32 [%out+4], %r1;\n",
          "atom.global.exch.b32 %r1, [%out], 7;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra END;\nEND:\n",
          // Others decide by what they read, used or not.
          "atom.global.cas.b32 %r1, [%out], 0, 7;\n", "atom.global.max.u32 %r1, [%out], 7;\n"}) {
        expect_report(device_memory(use), FaultKind::UninitializedRead,
                      {"update of 4 bytes", "which was never written"});
    }
}

TEST(Initialized, a_barrier_that_was_invalidated) {
    expect_report(initialized("mbarrier.init.shared.b64 [gate], 1;\n"
                              "mbarrier.inval.shared.b64 [gate];\n"
                              "mbarrier.arrive.shared.b64 _, [gate];\n",
                              {.block = 1}),
                  FaultKind::IllegalInstruction, {"mbarrier.inval or other data has replaced it"});
}

TEST(CheckedMemory, an_atomic_operation_on_local_memory) {
    const std::string body = "mov.u64 %rd1, own;\nst.local.u32 [own], 1;\n"
                             "cvta.local.u64 %rd1, %rd1;\natom.add.u32 %r1, [%rd1], 1;\n";
    expect_report(run_checked(CHECK_MEMORY, body, ONE_WARP), FaultKind::InvalidAddressSpace,
                  {"is atomic, but the address is neither global nor shared"});
    EXPECT_EQ(run_checked(CHECK_INITIALIZED, body, ONE_WARP).kind, FaultKind::None);
}

TEST(Initialized, device_memory) {
    const auto run = [](const std::string& body) {
        TestDevice device;
        auto* const out = device.allocate<std::uint32_t>(64);
        device.enable_checks(CHECK_INITIALIZED);
        device.forget(out, 64 * sizeof *out);
        return run_checked(device, body, {.block = 1}, out);
    };
    expect_report(run("ld.global.u32 %r1, [%out+8];\n"), FaultKind::UninitializedRead,
                  {"read of 4 bytes at 0x", "which was never written"});
    EXPECT_EQ(run("st.global.u32 [%out+8], 1;\nld.global.u32 %r1, [%out+8];\n").kind,
              FaultKind::None);
    expect_report(run("st.global.u32 [%out], 1;\nld.global.v2.u32 {%r1, %r2}, [%out];\n"),
                  FaultKind::UninitializedRead, {"read of 8 bytes"});
}

TEST(Initialized, the_padding_of_narrow_matrix_elements_need_not_be) {
    // A row has 16 bytes: 16 elements of four bits and 64 bits of padding, or of six bits and 32
    // bits of padding.
    const std::string place = "mad.lo.u32 %r1, %t, 16, 0;\nmov.u32 %r2, tile;\n"
                              "add.u32 %r1, %r1, %r2;\nst.shared.u32 [%r1], 1;\n";
    const std::string second = "st.shared.u32 [%r1+4], 1;\n";
    const std::string third = "st.shared.u32 [%r1+8], 1;\n";
    const auto load = [](const std::string& format) {
        return "bar.warp.sync -1;\nldmatrix.sync.aligned.m8n16.x4.shared.b8x16." + format +
               " {%r2, %r3, %r4, %r5}, [%r1];\nst.global.u32 [%out], %r2;\n";
    };
    EXPECT_EQ(initialized(place + second + load("b4x16_p64")).kind, FaultKind::None);
    EXPECT_EQ(initialized(place + second + third + load("b6x16_p32")).kind, FaultKind::None);
    expect_report(initialized(place + load("b4x16_p64")), FaultKind::UninitializedRead,
                  {"read of 8 bytes", "ldmatrix.sync.aligned.m8n16"});
    expect_report(initialized(place + second + load("b6x16_p32")), FaultKind::UninitializedRead,
                  {"read of 12 bytes"});
}

TEST(Initialized, what_is_only_passed_on_need_not_be) {
    // This is how bit fields are set, and how libraries read past the end of what they compare.
    EXPECT_EQ(initialized("ld.local.u32 %r1, [own];\nand.b32 %r1, %r1, -16;\nor.b32 %r1, %r1, 3;\n"
                          "st.local.u32 [own], %r1;\n")
                  .kind,
              FaultKind::None);
    EXPECT_EQ(initialized("ld.shared.u32 %r1, [tile];\nsetp.lt.u32 %p0, %r1, 5;\n").kind,
              FaultKind::None);
}

TEST(Initialized, elements_of_a_vector_that_nothing_is_computed_from_need_not_be) {
    const std::string read = "ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [tile];\n"
                             "add.u32 %r5, %r1, %r2;\nadd.u32 %r5, %r5, %r4;\n"
                             "st.global.u32 [%out], %r5;\n";
    const std::string written = "st.shared.u32 [tile], 1;\nst.shared.u32 [tile+4], 1;\n";
    EXPECT_EQ(initialized(written + "st.shared.u32 [tile+12], 1;\n" + read, {.block = 1}).kind,
              FaultKind::None);
    expect_report(initialized(written + read, {.block = 1}), FaultKind::UninitializedRead,
                  {"read of 4 bytes at 0x", "12 bytes into shared variable 'tile'"});
}

TEST(Initialized, a_structure_with_gaps_may_be_copied_whole) {
    EXPECT_EQ(initialized("st.local.u8 [own], 1;\nst.local.u32 [own+4], 2;\n"
                          "ld.local.u64 %rd1, [own];\nst.global.u64 [%out], %rd1;\n")
                  .kind,
              FaultKind::None);
}

TEST(Initialized, local_memory_that_an_earlier_block_wrote) {
    expect_report(initialized("setp.eq.u32 %p0, %b, 0;\n@%p0 st.local.u32 [own+60], 1;\n"
                              "ld.local.u32 %r1, [own+60];\nadd.u32 %r1, %r1, 1;\n"
                              "st.global.u32 [%out], %r1;\n",
                              {.grid = 2, .block = 1}),
                  FaultKind::UninitializedRead, {"block (1, 0, 0)"});
}

TEST(Initialized, a_new_block_clears_only_the_stack_that_was_used) {
    constexpr std::uint32_t threads = 1024;
    constexpr std::uint32_t stride = 1u << 20; // a gigabyte of stack, of which hardly any is used
    bytecode::Kernel kernel;
    MemoryMap map;
    map.checks = CHECK_INITIALIZED;
    BlockContext block;
    block.kernel = &kernel;
    block.memory = &map;
    block.local_stride_bytes = stride;
    block.thread_count = threads;
    check::GridShadow grid;
    check::BlockShadow shadow;
    shadow.start(block, grid);
    EXPECT_EQ(shadow.local_used(), 0u);
    shadow.mark_local(threads - 1, 100, 8);
    shadow.mark_local(3, 40, 4);
    EXPECT_EQ(shadow.local_used(), 108u);
    EXPECT_EQ(shadow.local_written(threads - 1)[107], 1);
    EXPECT_EQ(shadow.local_written(3)[39], 0);
    shadow.start(block, grid);
    EXPECT_EQ(shadow.local_used(), 0u);
    EXPECT_EQ(shadow.local_written(threads - 1)[107], 0);
    EXPECT_EQ(shadow.local_written(3)[40], 0);
    // A block with fewer threads in between must not hide the marks of the other threads.
    shadow.mark_local(threads - 1, 0, 4);
    block.thread_count = 32;
    shadow.start(block, grid);
    block.thread_count = threads;
    shadow.start(block, grid);
    EXPECT_EQ(shadow.local_written(threads - 1)[0], 0);
}

} // namespace

} // namespace cuprum::emulator
