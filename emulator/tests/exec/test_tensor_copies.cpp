// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Tensor copies on small tensors. The same instructions run on many tensors in compare/tensors.py,
// against the recorded results of a GPU.

#include "exec/tensor_kernel.hpp"

#include <functional>

namespace cuprum::emulator {

namespace {

using test::copy_out;
using test::expect_bytes;
using test::fill_tile;
using test::Shape;
using test::tensor_kernel;
using test::TestDevice;
using test::tiled_map;
using test::WAIT_FOR_BYTES;
using U = std::uint32_t;

constexpr U WIDTH = 32;
constexpr U HEIGHT = 8;
const std::string LOAD = "@%first cp.async.bulk.tensor.2d.shared::cluster.global.tile"
                         ".mbarrier::complete_tx::bytes [%tile], [%map, {%r0, %r1}], [%bar];\n";
const std::string STORE =
    "@%first cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%map, {%r0, %r1}], "
    "[%tile];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n";

/// A tensor of 32 by 8 words that start as 0, 1, 2, ..., and a buffer.
struct Tensor {
    TestDevice device;
    U* words = device.allocate<U>(WIDTH * HEIGHT);
    U* out = device.allocate<U>(4096);

    Tensor() {
        for (U i = 0; i < WIDTH * HEIGHT; ++i) {
            words[i] = i;
        }
    }

    Fault run(const TensorMap& map, const std::string& body, Shape shape = {}) {
        return test::run(device, tensor_kernel(body), shape, map,
                         reinterpret_cast<std::uint64_t>(out));
    }

    [[nodiscard]] U at(U column, U row) const { return words[row * WIDTH + column]; }
};

std::string at(int column, int row) {
    return "mov.u32 %r0, " + std::to_string(column) + ";\nmov.u32 %r1, " + std::to_string(row) +
           ";\n";
}

std::string load(int column, int row, U bytes) {
    return at(column, row) + expect_bytes(bytes) + LOAD + WAIT_FOR_BYTES;
}

void expect_fault(const Fault& fault, FaultKind kind, std::initializer_list<const char*> parts) {
    EXPECT_EQ(fault.kind, kind) << fault.report;
    for (const char* const part : parts) {
        EXPECT_NE(fault.report.find(part), std::string::npos) << part << "\n" << fault.report;
    }
}

TEST(TensorCopies, a_box_is_loaded_row_after_row) {
    Tensor tensor;
    const Fault fault =
        tensor.run(tiled_map(tensor.words, WIDTH, HEIGHT, 8, 4), load(4, 2, 128) + copy_out(32));
    ASSERT_EQ(fault.kind, FaultKind::None) << fault.report;
    for (U i = 0; i < 32; ++i) {
        EXPECT_EQ(tensor.out[i], tensor.at(4 + i % 8, 2 + i / 8)) << i;
    }
}

TEST(TensorCopies, elements_outside_the_tensor_are_filled) {
    for (const auto& [fill, value] :
         {std::pair(TensorFill::Zero, 0u), std::pair(TensorFill::Nan, 0x7ff77ff7u)}) {
        Tensor tensor;
        TensorMap map = tiled_map(tensor.words, WIDTH, HEIGHT, 8, 4);
        map.element = TensorElement::F32;
        map.fill = fill;
        map.seal();
        const Fault fault = tensor.run(map, load(-4, 6, 128) + copy_out(32));
        ASSERT_EQ(fault.kind, FaultKind::None) << fault.report;
        for (U i = 0; i < 32; ++i) {
            const bool is_inside = i % 8 >= 4 && i / 8 < 2;
            EXPECT_EQ(tensor.out[i], is_inside ? tensor.at(i % 8 - 4, 6 + i / 8) : value) << i;
        }
    }
}

TEST(TensorCopies, a_swizzle_exchanges_pieces_of_16_bytes) {
    Tensor tensor;
    TensorMap map = tiled_map(tensor.words, WIDTH, HEIGHT, 32, 8);
    map.swizzle = TensorSwizzle::Bytes128;
    map.seal();
    const Fault fault = tensor.run(map, load(0, 0, 1024) + copy_out(256));
    ASSERT_EQ(fault.kind, FaultKind::None) << fault.report;
    for (U i = 0; i < 256; ++i) {
        const U row = i / 32;
        EXPECT_EQ(tensor.out[row * 32 + ((i % 32 / 4 ^ row) * 4) + i % 4], tensor.words[i]) << i;
    }
}

TEST(TensorCopies, a_store_writes_what_is_inside) {
    for (const TensorSwizzle swizzle : {TensorSwizzle::None, TensorSwizzle::Bytes32}) {
        Tensor tensor;
        TensorMap map = tiled_map(tensor.words, WIDTH, HEIGHT, 8, 8);
        map.swizzle = swizzle;
        map.seal();
        const Fault fault = tensor.run(map, fill_tile(64) + at(28, 5) + STORE);
        ASSERT_EQ(fault.kind, FaultKind::None) << fault.report;
        for (U i = 0; i < WIDTH * HEIGHT; ++i) {
            const U column = i % WIDTH - 28;
            const U row = i / WIDTH - 5;
            const bool is_inside = column < 4 && row < 3;
            // The swizzle of 32 bytes exchanges halves of rows in every other 128 bytes.
            const U moved = swizzle != TensorSwizzle::None ? row / 4 % 2 * 4 : 0;
            EXPECT_EQ(tensor.words[i], is_inside ? 1000 + row * 8 + (column ^ moved) : i) << i;
        }
    }
}

TEST(TensorCopies, a_reduction_combines_with_the_tensor) {
    for (const auto& [name, combined] :
         {std::pair<const char*, std::function<U(U, U)>>("add", std::plus<U>()),
          std::pair<const char*, std::function<U(U, U)>>("xor", std::bit_xor<U>())}) {
        Tensor tensor;
        const Fault fault =
            tensor.run(tiled_map(tensor.words, WIDTH, HEIGHT, 8, 4),
                       fill_tile(32) + at(4, 2) +
                           "@%first cp.reduce.async.bulk.tensor.2d.global.shared::cta." + name +
                           ".tile.bulk_group [%map, {%r0, %r1}], [%tile];\n");
        ASSERT_EQ(fault.kind, FaultKind::None) << fault.report;
        for (U i = 0; i < 32; ++i) {
            const U old = (2 + i / 8) * WIDTH + 4 + i % 8;
            EXPECT_EQ(tensor.words[old], combined(old, 1000 + i)) << name << i;
        }
    }
}

TEST(TensorCopies, im2col_walks_over_pixels_and_reads_beside_them) {
    // 4 channels, 8 wide, 4 high, 2 images; a filter of 3 by 3, so the walk starts one pixel
    // before.
    Tensor tensor;
    TensorMap map = tiled_map(tensor.words, 4, 8, 0, 0);
    map.mode = TensorMapMode::Im2col;
    map.rank = 4;
    map.last_indices = {3, 7, 3, 1};
    map.strides = {16, 128, 512};
    map.box = {};
    map.channels_per_pixel = 4;
    map.pixels_per_column = 16;
    map.lower_corner = {-1, -1};
    map.upper_corner = {-1, -1};
    map.seal();
    const Fault fault = tensor.run(
        map,
        "mov.u32 %r0, 0;\nmov.u32 %r1, 5;\nmov.u32 %r2, 1;\nmov.u16 %h0, 2;\nmov.u16 %h1, 1;\n" +
            expect_bytes(256) +
            "@%first cp.async.bulk.tensor.4d.shared::cluster.global.im2col"
            ".mbarrier::complete_tx::bytes [%tile], [%map, {%r0, %r1, %r2, %r0}], [%bar], "
            "{%h0, %h1};\n" +
            WAIT_FOR_BYTES + copy_out(64));
    ASSERT_EQ(fault.kind, FaultKind::None) << fault.report;
    int column = 5;
    int row = 1;
    int image = 0;
    for (U pixel = 0; pixel < 16; ++pixel) {
        const int x = column + 2;
        const int y = row + 1;
        const bool is_inside = x >= 0 && x < 8 && y >= 0 && y < 4;
        for (int c = 0; c < 4; ++c) {
            EXPECT_EQ(tensor.out[pixel * 4 + static_cast<U>(c)],
                      is_inside ? static_cast<U>(image * 128 + y * 32 + x * 4 + c) : 0u)
                << pixel;
        }
        if (++column > 6) {
            column = -1;
            if (++row > 2) {
                row = -1;
                ++image;
            }
        }
    }
}

TEST(TensorCopies, one_load_reaches_several_blocks) {
    Tensor tensor;
    const Fault fault = tensor.run(
        tiled_map(tensor.words, WIDTH, HEIGHT, 8, 4),
        at(8, 1) + "setp.eq.and.u32 %p0, %k, 0, %first;\nmov.b16 %h0, 3;\n" + expect_bytes(128) +
            "@%p0 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
            ".multicast::cluster.L2::cache_hint [%tile], [%map, {%r0, %r1}], [%bar], %h0, %g0;\n" +
            WAIT_FOR_BYTES + copy_out(32) +
            "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n",
        {.grid = 2, .cluster = 2});
    ASSERT_EQ(fault.kind, FaultKind::None) << fault.report;
    for (U i = 0; i < 64; ++i) {
        EXPECT_EQ(tensor.out[i], tensor.at(8 + i % 8, 1 + i % 32 / 8)) << i;
    }
}

TEST(TensorCopies, four_rows_are_gathered_and_scattered) {
    Tensor tensor;
    const TensorMap map = tiled_map(tensor.words, WIDTH, HEIGHT, 8, 1);
    const std::string rows = "mov.u32 %r0, 4;\nmov.u32 %r1, 6;\nmov.u32 %r2, 0;\nmov.u32 %r3, 9;\n"
                             "mov.u32 %r4, 3;\n";
    Fault fault = tensor.run(
        map, rows + expect_bytes(128) +
                 "@%first cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4"
                 ".mbarrier::complete_tx::bytes [%tile], [%map, {%r0, %r1, %r2, %r3, %r4}], "
                 "[%bar];\n" +
                 WAIT_FOR_BYTES + copy_out(32));
    ASSERT_EQ(fault.kind, FaultKind::None) << fault.report;
    const U indices[4] = {6, 0, 9, 3};
    for (U i = 0; i < 32; ++i) {
        const U row = indices[i / 8];
        EXPECT_EQ(tensor.out[i], row < HEIGHT ? tensor.at(4 + i % 8, row) : 0u) << i;
    }
    fault = tensor.run(map, fill_tile(32) + rows +
                                "@%first cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4"
                                ".bulk_group [%map, {%r0, %r1, %r2, %r3, %r4}], [%tile];\n");
    ASSERT_EQ(fault.kind, FaultKind::None) << fault.report;
    EXPECT_EQ(tensor.at(4, 6), 1000u);
    EXPECT_EQ(tensor.at(11, 0), 1015u);
    EXPECT_EQ(tensor.at(4, 3), 1024u);
    EXPECT_EQ(tensor.at(4, 1), WIDTH + 4);
}

TEST(TensorCopies, a_map_with_another_address_reads_another_tensor) {
    Tensor tensor;
    auto* const other = tensor.device.allocate<U>(WIDTH * HEIGHT);
    for (U i = 0; i < WIDTH * HEIGHT; ++i) {
        other[i] = 5000 + i;
    }
    const std::string copy_map = "mad.lo.u32 %r2, %l, 4, %tile;\nmad.wide.u32 %g0, %l, 4, %map;\n"
                                 "ld.b32 %r3, [%g0];\nst.shared.b32 [%r2], %r3;\n"
                                 "bar.warp.sync 0xffffffff;\n";
    const std::string replace =
        "mov.u64 %g1, " + std::to_string(reinterpret_cast<std::uint64_t>(other)) +
        ";\n@%first tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%tile], %g1;\n"
        "bar.warp.sync 0xffffffff;\nadd.u64 %g2, %out, 8192;\n"
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
        "[%g2], [%tile], 128;\n"
        "fence.proxy.tensormap::generic.acquire.gpu [%g2], 128;\nmov.b64 %map, %g2;\n";
    const Fault fault = tensor.run(tiled_map(tensor.words, WIDTH, HEIGHT, 8, 4),
                                   copy_map + replace + load(4, 2, 128) + copy_out(32));
    ASSERT_EQ(fault.kind, FaultKind::None) << fault.report;
    for (U i = 0; i < 32; ++i) {
        EXPECT_EQ(tensor.out[i], 5000 + (2 + i / 8) * WIDTH + 4 + i % 8) << i;
    }
}

TEST(TensorCopies, a_map_can_be_made_from_zeros) {
    // Triton replaces only the fields that are not zero. The rank less one is, of one dimension.
    Tensor tensor;
    const std::string field = "@%first tensormap.replace.tile.";
    const std::string make =
        "mad.lo.u32 %r2, %l, 4, %tile;\nst.shared.b32 [%r2], 0;\nbar.warp.sync 0xffffffff;\n"
        "mov.u64 %g1, " +
        std::to_string(reinterpret_cast<std::uint64_t>(tensor.words)) + ";\n" + field +
        "global_address.shared::cta.b1024.b64 [%tile], %g1;\n" + field +
        "elemtype.shared::cta.b1024.b32 [%tile], 2;\n" + field +
        "box_dim.shared::cta.b1024.b32 [%tile], 0, 8;\n" + field +
        "global_dim.shared::cta.b1024.b32 [%tile], 0, 64;\n" + field +
        "element_stride.shared::cta.b1024.b32 [%tile], 0, 1;\n"
        "bar.warp.sync 0xffffffff;\nadd.u64 %g2, %out, 8192;\n"
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
        "[%g2], [%tile], 128;\n"
        "fence.proxy.tensormap::generic.acquire.gpu [%g2], 128;\nmov.u32 %r0, 4;\n" +
        expect_bytes(32) +
        "@%first cp.async.bulk.tensor.1d.shared::cluster.global.tile"
        ".mbarrier::complete_tx::bytes [%tile], [%g2, {%r0}], [%bar];\n" +
        WAIT_FOR_BYTES;
    const Fault fault = tensor.run(TensorMap(), make + copy_out(8));
    ASSERT_EQ(fault.kind, FaultKind::None) << fault.report;
    for (U i = 0; i < 8; ++i) {
        EXPECT_EQ(tensor.out[i], tensor.words[4 + i]) << i;
    }
}

TEST(TensorCopies, a_map_that_cutlass_has_patched_is_still_one) {
    Tensor tensor;
    TensorMap map = tiled_map(tensor.words, WIDTH, HEIGHT, 8, 4);
    std::uint64_t words[16];
    std::memcpy(words, &map, sizeof map);
    words[1] &= ~(std::uint64_t{1} << 21);
    std::memcpy(&map, words, sizeof map);
    const Fault fault = tensor.run(map, load(4, 2, 128) + copy_out(32));
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
}

TEST(TensorCopies, a_box_without_elements_is_reported) {
    // What tensormap.replace leaves if it changes the rank, but not the box.
    Tensor tensor;
    TensorMap map = tiled_map(tensor.words, WIDTH, HEIGHT, 8, 4);
    map.rank = 3;
    map.seal();
    const std::string load_3d =
        "mov.u32 %r0, 0;\n@%first cp.async.bulk.tensor.3d.shared::cluster.global.tile"
        ".mbarrier::complete_tx::bytes [%tile], [%map, {%r0, %r0, %r0}], [%bar];\n";
    expect_fault(tensor.run(map, load_3d), FaultKind::IllegalInstruction,
                 {"a box needs 1 to 256 elements in each dimension", "box (8, 4, 0)", "at PTX line",
                  "cp.async.bulk.tensor.3d"});
    map = tiled_map(tensor.words, WIDTH, HEIGHT, 257, 4);
    map.interleave = TensorInterleave::Bytes32;
    map.seal();
    expect_fault(tensor.run(map, load(0, 0, 128)), FaultKind::IllegalInstruction,
                 {"a box needs 1 to 256 elements in each dimension"});
}

TEST(TensorCopies, bytes_that_are_no_map_are_reported) {
    Tensor tensor;
    TensorMap map = tiled_map(tensor.words, WIDTH, HEIGHT, 8, 4);
    map.box[0] = 4; // not sealed
    expect_fault(tensor.run(map, load(0, 0, 128)), FaultKind::IllegalInstruction,
                 {"are no tensor map", "in kernel k, block (0, 0, 0), thread (0, 0, 0)",
                  "at PTX line", "cp.async.bulk.tensor.2d"});
    expect_fault(tensor.run(map, "mov.b64 %map, 64;\n" + load(0, 0, 128)),
                 FaultKind::IllegalAddress,
                 {"read of 128 bytes at 0x40", "expected a tensor map there"});
    expect_fault(tensor.run(map, "add.u64 %map, %out, 8;\n" + load(0, 0, 128)),
                 FaultKind::MisalignedAddress, {"must be a multiple of 64"});
    expect_fault(tensor.run(map, "cvta.shared.u64 %map, tile;\n" + load(0, 0, 128)),
                 FaultKind::InvalidAddressSpace,
                 {"is in shared or local memory", "__grid_constant__"});
    // What a compiler makes of a map that is a plain parameter whose address is taken.
    expect_fault(tensor.run(map, ".local .align 64 .b8 own[128];\ncvta.local.u64 %map, own;\n" +
                                     load(0, 0, 128)),
                 FaultKind::InvalidAddressSpace,
                 {"is in shared or local memory", "__grid_constant__"});
}

TEST(TensorCopies, a_map_that_does_not_suit_the_copy_is_described) {
    Tensor tensor;
    const TensorMap map = tiled_map(tensor.words, WIDTH, HEIGHT, 8, 4);
    expect_fault(tensor.run(map, "mov.u32 %r0, 0;\n@%first cp.async.bulk.tensor.1d.shared::cluster"
                                 ".global.mbarrier::complete_tx::bytes [%tile], [%map, {%r0}], "
                                 "[%bar];\n"),
                 FaultKind::IllegalInstruction,
                 {"1 coordinate", "through the tensor map at 0x",
                  "tiled, u32, dimensions (32, 8) at 0x", "strides (128), box (8, 4)"});
    TensorMap column = map;
    column.mode = TensorMapMode::Im2col;
    column.seal();
    expect_fault(tensor.run(column, load(0, 0, 128)), FaultKind::IllegalInstruction,
                 {"needs a tiled map", "im2col, u32"});
}

TEST(TensorCopies, a_tensor_in_freed_memory_is_reported_with_its_map) {
    Tensor tensor;
    auto* const freed = tensor.device.allocate<U>(64 * 1024);
    const TensorMap map = tiled_map(freed + 8192, WIDTH, HEIGHT, 8, 4);
    tensor.device.set_permission(freed + 8192, 4096, Permission::None);
    expect_fault(tensor.run(map, load(0, 0, 128)), FaultKind::IllegalAddress,
                 {"read of 32 bytes at 0x", "is outside the memory that the device may access",
                  "through the tensor map at 0x", "thread (0, 0, 0)", "cp.async.bulk.tensor"});
    tensor.device.set_permission(freed + 8192, 4096, Permission::Read);
    expect_fault(tensor.run(map, fill_tile(32) + at(0, 0) + STORE), FaultKind::IllegalAddress,
                 {"write of 32 bytes at 0x", "the device may only read this memory"});
}

TEST(TensorCopies, a_box_has_its_place_in_shared_memory) {
    Tensor tensor;
    const TensorMap map = tiled_map(tensor.words, WIDTH, HEIGHT, 8, 4);
    expect_fault(tensor.run(map, "add.u32 %tile, %tile, 64;\n" + load(0, 0, 128)),
                 FaultKind::MisalignedAddress, {"must be a multiple of 128", "tensor map at"});
    expect_fault(tensor.run(map, "add.u32 %tile, %tile, 1048576;\n" + load(0, 0, 128)),
                 FaultKind::IllegalAddress, {"write of 128 bytes", "shared memory"});
    TensorMap huge = map;
    huge.rank = 5;
    huge.box = {256, 256, 256, 256, 256};
    huge.seal();
    expect_fault(tensor.run(huge, "mov.u32 %r0, 0;\n@%first cp.async.bulk.tensor.5d.shared::cta"
                                  ".global.mbarrier::complete_tx::bytes [%tile], "
                                  "[%map, {%r0, %r0, %r0, %r0, %r0}], [%bar];\n"),
                 FaultKind::IllegalAddress, {"shared memory", "box (256, 256, 256, 256, 256)"});
}

TEST(TensorCopies, coordinates_that_a_gpu_refuses_are_reported) {
    Tensor tensor;
    const TensorMap map = tiled_map(tensor.words, WIDTH, HEIGHT, 8, 4);
    expect_fault(tensor.run(map, load(3, 0, 128)), FaultKind::IllegalInstruction,
                 {"coordinate 0 is 3", "at byte 12", "multiple of 16"});
    expect_fault(tensor.run(map, fill_tile(32) + at(4, -1) + STORE), FaultKind::IllegalInstruction,
                 {"coordinate 1 is -1", "only loads may start before the tensor"});
}

TEST(TensorCopies, bytes_that_never_come_are_a_deadlock_with_counts) {
    Tensor tensor;
    const Fault fault =
        tensor.run(tiled_map(tensor.words, WIDTH, HEIGHT, 8, 4), load(0, 0, 256) + copy_out(32));
    expect_fault(fault, FaultKind::Deadlock,
                 {"whose phase needs 0 more arrivals and 128 more bytes",
                  "parity 0, 256 bytes announced, 128 received"});
}

TEST(TensorCopies, what_needs_newer_hardware_or_makes_no_sense_is_refused_by_name) {
    const auto log_of = [](const std::string& body) {
        TestDevice device;
        (void)device.compile(test::ptx_module(tensor_kernel(body)));
        return device.log;
    };
    const std::string operands = " [%tile], [%map, {%r0, %r1}], [%bar];\n";
    for (const auto& [body, part] : {
             std::pair("cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes"
                       ".cta_group::1" +
                           operands,
                       ".cta_group needs compute capability 10"),
             std::pair("cp.async.bulk.tensor.3d.shared::cta.global.im2col::w"
                       ".mbarrier::complete_tx::bytes" +
                           operands,
                       "wide im2col needs compute capability 10"),
             std::pair("cp.async.bulk.tensor.3d.shared::cta.global.mbarrier::complete_tx::bytes" +
                           operands,
                       "needs 3 coordinates, found 2"),
             std::pair("cp.async.bulk.tensor.2d.shared::cta.global" + operands,
                       "needs .mbarrier::complete_tx::bytes"),
             std::pair(std::string("cp.async.bulk.tensor.6d.global.shared::cta.bulk_group [%map, "
                                   "{%r0, %r1}], [%tile];"),
                       "needs a dimension"),
             std::pair(std::string("cp.reduce.async.bulk.tensor.2d.global.shared::cta.bulk_group "
                                   "[%map, {%r0, %r1}], [%tile];"),
                       "names no operation"),
             std::pair(std::string("tensormap.replace.tile.colour.global.b1024.b32 [%out], 1;"),
                       "names no field"),
             std::pair(std::string("tensormap.replace.tile.box_dim.global.b1024.b32 [%out], 5, 1;"),
                       "from 0 to 4"),
             std::pair(std::string("tcgen05.fence::before_thread_sync;"),
                       "tensor cores of compute capability 10"),
         }) {
        EXPECT_NE(log_of(body).find(part), std::string::npos) << body << log_of(body);
    }
}

TEST(TensorCopies, dynamic_shared_memory_keeps_its_place_beside_a_copied_map) {
    // The map is copied to shared memory, which users do not see.
    TestDevice device;
    auto* const out = device.allocate<U>(1);
    const TensorMap map = tiled_map(out, 4, 1, 4, 1);
    const std::string text = ".extern .shared .align 16 .b8 dynamic[];\n"
                             ".visible .entry k(.param .align 64 .b8 pmap[128], .param .u64 pout)\n"
                             "{\n.shared .align 4 .b8 own[20];\n.reg .b64 %map, %out;\n"
                             ".reg .b32 %r;\nmov.b64 %map, pmap;\ncvta.param.u64 %map, %map;\n"
                             "prefetch.tensormap [%map];\nld.param.u64 %out, [pout];\n"
                             "ld.b32 %r, [%map];\nst.shared.u32 [own], %r;\n"
                             "mov.u32 %r, dynamic;\nst.global.u32 [%out], %r;\nret;\n}\n";
    const Fault fault = test::run(device, text, {.dynamic_shared_bytes = 256}, map,
                                  reinterpret_cast<std::uint64_t>(out));
    ASSERT_EQ(fault.kind, FaultKind::None) << fault.report;
    EXPECT_EQ(out[0] % 1024, 32u);
}

TEST(TensorCopies, targets_of_newer_devices_load_on_them) {
    constexpr U devices[] = {90, 100, 103, 110, 120, 121};
    for (const auto& [target, oldest] :
         {std::pair("sm_90a", 90u), std::pair("sm_100", 100u), std::pair("sm_100a", 100u),
          std::pair("sm_100f", 100u), std::pair("sm_101a", 101u), std::pair("sm_103f", 103u),
          std::pair("sm_110a", 110u), std::pair("sm_120a", 120u), std::pair("sm_121f", 121u)}) {
        for (const U device_sm : devices) {
            TestDevice device;
            const auto kernel =
                device.compile(std::string(".version 9.0\n.target ") + target +
                                   "\n.address_size 64\n.visible .entry k() { ret; }\n",
                               device_sm);
            EXPECT_EQ(kernel != nullptr, device_sm >= oldest) << target << " " << device.log;
        }
    }
}

} // namespace

} // namespace cuprum::emulator
