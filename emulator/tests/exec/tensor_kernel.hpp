// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Kernels with one tensor map, for tests of tensor copies.

#pragma once

#include "exec/harness.hpp"
#include "interp/tensor_map.hpp"

#include <string>

namespace cuprum::emulator::test {

/// Returns the map of a two-dimensional tensor of 32-bit words in tiles.
inline TensorMap tiled_map(const void* tensor, std::uint32_t width, std::uint32_t height,
                           std::uint16_t box_width, std::uint16_t box_height) {
    TensorMap map;
    map.address = reinterpret_cast<std::uint64_t>(tensor);
    map.rank = 2;
    map.element = TensorElement::U32;
    map.last_indices = {width - 1, height - 1};
    map.strides = {std::uint64_t{width} * 4};
    map.box = {box_width, box_height};
    map.element_strides = {1, 1, 1, 1, 1};
    map.seal();
    return map;
}

/// Returns a kernel with a tensor map and a buffer. Registers: %map is the address of the map, %out
/// the buffer, %l the thread, %k the rank in the cluster, %tile 8 KiB of shared memory, %bar a
/// barrier that expects one arrival; %first is true in thread 0.
inline std::string tensor_kernel(const std::string& body) {
    return R"(.visible .entry k(.param .align 64 .b8 pmap[128], .param .u64 pout)
{
    .reg .b64 %map, %out, %g<4>;
    .reg .b32 %l, %k, %tile, %bar, %r<12>;
    .reg .b16 %h<4>;
    .reg .pred %p<4>, %first, %done;
    .shared .align 1024 .b8 tile[8192];
    .shared .align 8 .b64 bar;
    mov.b64 %map, pmap;
    cvta.param.u64 %map, %map;
    ld.param.u64 %out, [pout];
    mov.u32 %l, %tid.x;
    mov.u32 %k, %cluster_ctarank;
    mov.u32 %tile, tile;
    mov.u32 %bar, bar;
    setp.eq.u32 %first, %l, 0;
    @%first mbarrier.init.shared::cta.b64 [%bar], 1;
    fence.proxy.async;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
)" + body + R"(
    ret;
}
)";
}

/// Announces bytes to %bar.
inline std::string expect_bytes(std::uint32_t bytes) {
    return "@%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], " + std::to_string(bytes) +
           ";\n";
}

/// Waits for the first phase of %bar.
inline const std::string WAIT_FOR_BYTES =
    "WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 %done, [%bar], 0;\n@!%done bra WAIT;\n";

/// Copies the first `words` words of the tile to the buffer; each block of a cluster has its part.
inline std::string copy_out(std::uint32_t words) {
    const std::string count = std::to_string(words);
    return "mov.u32 %r9, %l;\nCOPY:\nmad.lo.u32 %r8, %r9, 4, %tile;\nld.shared.u32 %r10, [%r8];\n"
           "mad.lo.u32 %r8, %k, " +
           count +
           ", %r9;\nmad.wide.u32 %g3, %r8, 4, %out;\nst.global.u32 [%g3], %r10;\n"
           "add.u32 %r9, %r9, 32;\nsetp.lt.u32 %p3, %r9, " +
           count + ";\n@%p3 bra COPY;\n";
}

/// Fills the first `words` words of the tile with 1000, 1001, ...
inline std::string fill_tile(std::uint32_t words) {
    return "mov.u32 %r9, %l;\nFILL:\nmad.lo.u32 %r8, %r9, 4, %tile;\nadd.u32 %r10, %r9, 1000;\n"
           "st.shared.u32 [%r8], %r10;\nadd.u32 %r9, %r9, 32;\nsetp.lt.u32 %p3, %r9, " +
           std::to_string(words) +
           ";\n@%p3 bra FILL;\nfence.proxy.async.shared::cta;\nbarrier.sync 0;\n";
}

} // namespace cuprum::emulator::test
