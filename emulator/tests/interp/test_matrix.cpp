// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// ldmatrix, stmatrix and movmatrix: 8 x 8 tiles of 16-bit elements.

#include "support/operation.hpp"

namespace cuprum::emulator::test {

namespace {

using U = std::uint32_t;

class MatrixTiles : public OnEveryLevel {};

INSTANTIATE_TEST_SUITE_P(levels, MatrixTiles, LEVELS);

/// Returns the element that the tests store at a row (counted over all tiles) and a column.
U element(unsigned row, unsigned column) {
    return row << 8 | column;
}

/// Returns what a lane receives of a tile: two elements of a row, or of a column.
U word(unsigned lane, unsigned tile, bool is_transposed) {
    const unsigned g = lane / 4;
    const unsigned t = lane % 4;
    return is_transposed ? element(tile * 8 + 2 * t, g) | element(tile * 8 + 2 * t + 1, g) << 16
                         : element(tile * 8 + g, 2 * t) | element(tile * 8 + g, 2 * t + 1) << 16;
}

std::string registers(unsigned count) {
    std::string text = "{";
    for (unsigned i = 0; i < count; ++i) {
        text += (i == 0 ? "%r" : ", %r") + std::to_string(i);
    }
    return text + "}";
}

/// Lane L copies row L, of up to 32, from global to shared memory; %s is its address. Rows are 48
/// bytes apart, so they are not contiguous.
const std::string PROLOGUE = R"(.visible .entry k(.param .u64 po, .param .u64 pi)
{
    .shared .align 16 .b8 tiles[1536];
    .reg .b64 %o, %i, %w;
    .reg .b32 %l, %s, %x, %r<4>;
    .reg .pred %p;
    ld.param.u64 %o, [po];
    ld.param.u64 %i, [pi];
    mov.u32 %l, %tid.x;
    mov.u32 %s, tiles;
    mad.lo.u32 %s, %l, 48, %s;
    mad.wide.u32 %i, %l, 16, %i;
)";

std::string fill_row() {
    std::string text;
    for (unsigned i = 0; i < 4; ++i) {
        const std::string at = std::to_string(4 * i);
        text += "ld.global.b32 %x, [%i+" + at + "];\nst.shared.b32 [%s+" + at + "], %x;\n";
    }
    return text;
}

/// Runs a kernel on rows of `element` and returns `words` words per lane.
std::vector<U> run_tiles(const std::string& code, unsigned words, Fault* fault = nullptr) {
    TestDevice device;
    auto* const out = device.allocate<U>(std::size_t{32} * words);
    auto* const in = device.allocate<std::uint16_t>(std::size_t{32} * 8);
    for (unsigned row = 0; row < 32; ++row) {
        for (unsigned column = 0; column < 8; ++column) {
            in[row * 8 + column] = static_cast<std::uint16_t>(element(row, column));
        }
    }
    const Fault result =
        run(device, PROLOGUE + code + "ret;\n}\n", {.grid = 1, .block = 32},
            reinterpret_cast<std::uint64_t>(out), reinterpret_cast<std::uint64_t>(in));
    if (fault != nullptr) {
        *fault = result;
    } else {
        EXPECT_EQ(result.kind, FaultKind::None) << result.report;
    }
    return std::vector<U>(out, out + std::size_t{32} * words);
}

std::string store_registers(unsigned count) {
    std::string text = "mad.wide.u32 %o, %l, " + std::to_string(4 * count) + ", %o;\n";
    for (unsigned i = 0; i < count; ++i) {
        text += "st.global.b32 [%o+" + std::to_string(4 * i) + "], %r" + std::to_string(i) + ";\n";
    }
    return text;
}

TEST_P(MatrixTiles, ldmatrix_gives_each_lane_two_elements_of_each_tile) {
    for (const unsigned count : {1u, 2u, 4u}) {
        for (const bool is_transposed : {false, true}) {
            for (const std::string space : {".shared", ".shared::cta", ""}) {
                const std::string address = space.empty() ? "cvta.shared.u64 %w, %w;\n" : "";
                const std::string code =
                    fill_row() + "bar.warp.sync -1;\ncvt.u64.u32 %w, %s;\n" + address +
                    "ldmatrix.sync.aligned.m8n8.x" + std::to_string(count) +
                    (is_transposed ? ".trans" : "") + space + ".b16 " + registers(count) +
                    (space.empty() ? ", [%w];\n" : ", [%s];\n") + store_registers(count);
                const std::vector<U> words = run_tiles(code, count);
                for (unsigned lane = 0; lane < 32; ++lane) {
                    for (unsigned tile = 0; tile < count; ++tile) {
                        ASSERT_EQ(words[lane * count + tile], word(lane, tile, is_transposed))
                            << "lane " << lane << ", tile " << tile << " of " << count
                            << (is_transposed ? ", transposed" : "");
                    }
                }
            }
        }
    }
}

TEST_P(MatrixTiles, stmatrix_undoes_ldmatrix) {
    for (const unsigned count : {1u, 2u, 4u}) {
        for (const bool is_transposed : {false, true}) {
            // Loads the tiles, stores them (transposed or not) over the same rows, and reads back
            // one row per lane.
            const std::string shape = ".sync.aligned.m8n8.x" + std::to_string(count);
            const std::string code =
                fill_row() + "bar.warp.sync -1;\nldmatrix" + shape + ".shared.b16 " +
                registers(count) + ", [%s];\nbar.warp.sync -1;\nstmatrix" + shape +
                (is_transposed ? ".trans" : "") + ".shared.b16 [%s], " + registers(count) +
                ";\nbar.warp.sync -1;\n"
                "ld.shared.v4.b32 {%r0, %r1, %r2, %r3}, [%s];\n" +
                store_registers(4);
            const std::vector<U> words = run_tiles(code, 4);
            for (unsigned row = 0; row < 32; ++row) {
                for (unsigned column = 0; column < 8; ++column) {
                    const U got = words[row * 4 + column / 2] >> (column % 2 * 16) & 0xffff;
                    const bool is_moved = is_transposed && row / 8 < count;
                    const U expected =
                        is_moved ? element(row / 8 * 8 + column, row % 8) : element(row, column);
                    ASSERT_EQ(got, expected) << "row " << row << ", column " << column;
                }
            }
        }
    }
}

TEST_P(MatrixTiles, movmatrix_transposes) {
    const std::string code =
        fill_row() +
        "bar.warp.sync -1;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%s];\n"
        "movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r0;\n" +
        store_registers(1);
    const std::vector<U> words = run_tiles(code, 1);
    for (unsigned lane = 0; lane < 32; ++lane) {
        EXPECT_EQ(words[lane], word(lane, 0, true)) << "lane " << lane;
    }
}

TEST_P(MatrixTiles, lanes_that_took_different_ways_meet_at_ldmatrix) {
    const std::string joined = fill_row() +
                               "bar.warp.sync -1;\nsetp.lt.u32 %p, %l, 11;\n@%p bra LOW;\n"
                               "add.u32 %x, %l, 2;\nbra JOIN;\nLOW:\nadd.u32 %x, %l, 1;\nJOIN:\n"
                               "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%s];\n" +
                               store_registers(1);
    const std::vector<U> together = run_tiles(joined, 1);
    for (unsigned lane = 0; lane < 32; ++lane) {
        EXPECT_EQ(together[lane], word(lane, 0, false)) << "lane " << lane;
    }
}

TEST_P(MatrixTiles, bad_row_addresses_are_faults) {
    struct Bad {
        std::string change;
        FaultKind kind;
    };

    for (const Bad& bad : {Bad{"add.u32 %s, %s, 8;\n", FaultKind::MisalignedAddress},
                           Bad{"add.u32 %s, %s, 1536;\n", FaultKind::IllegalAddress}}) {
        for (const std::string instruction :
             {"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%s];\n",
              "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%s], {%l, %l, %l, %l};\n"}) {
            Fault fault;
            (void)run_tiles(bad.change + instruction, 1, &fault);
            EXPECT_EQ(fault.kind, bad.kind) << instruction << fault.report;
        }
    }
}

TEST_P(MatrixTiles, only_the_lanes_that_hold_addresses_need_good_ones) {
    // x1 reads the addresses of the first eight lanes.
    const std::string code = fill_row() +
                             "bar.warp.sync -1;\nsetp.ge.u32 %p, %l, 8;\n@%p mov.u32 %s, 3;\n"
                             "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%s];\n" +
                             store_registers(1);
    const std::vector<U> words = run_tiles(code, 1);
    for (unsigned lane = 0; lane < 32; ++lane) {
        EXPECT_EQ(words[lane], word(lane, 0, false)) << "lane " << lane;
    }
}

} // namespace

} // namespace cuprum::emulator::test
