// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Operations between lanes, compared with their definitions.

#include "support/operation.hpp"

#include <numeric>

namespace cuprum::emulator::test {

namespace {

using U = std::uint32_t;
using S = std::int32_t;

class WarpOperations : public OnEveryLevel {};

INSTANTIATE_TEST_SUITE_P(levels, WarpOperations, LEVELS);

/// Runs `code` on one warp and returns %d. %a is 3 * lane + 1, %l the lane.
std::vector<U> lanes_after(const std::string& code, std::uint32_t threads = 32) {
    TestDevice device;
    auto* const out = device.allocate<U>(32);
    const Fault fault = run(device,
                            R"(.visible .entry k(.param .u64 po)
{
    .reg .b64 %o, %wide;
    .reg .b32 %a, %b, %d, %l, %e;
    .reg .pred %p, %q;
    ld.param.u64 %o, [po];
    mov.u32 %l, %tid.x;
    mad.wide.u32 %o, %l, 4, %o;
    mad.lo.u32 %a, %l, 3, 1;
    mov.u32 %d, 0;
)" + code + "\nst.global.u32 [%o], %d;\nret;\n}\n",
                            {.grid = 1, .block = threads}, reinterpret_cast<std::uint64_t>(out));
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    return std::vector<U>(out, out + threads);
}

/// shfl as PTX defines it: the value, and whether the source lane was in range.
std::pair<U, bool> shuffled(const std::string& mode, S lane, S b, S c) {
    const S clamp = c & 31;
    const S segment = c >> 8 & 31;
    const S last = (lane & segment) | (clamp & ~segment);
    const S first = lane & segment;
    S source = 0;
    bool in_range = false;
    if (mode == "up") {
        source = lane - (b & 31);
        in_range = source >= last;
    } else {
        source = mode == "down"   ? lane + (b & 31)
                 : mode == "bfly" ? lane ^ (b & 31)
                                  : first | ((b & 31) & ~segment);
        in_range = source <= last;
    }
    return {static_cast<U>(3 * (in_range ? source : lane) + 1), in_range};
}

TEST_P(WarpOperations, shuffles_in_whole_warps_and_segments) {
    for (const std::string mode : {"up", "down", "bfly", "idx"}) {
        for (const S b : {0, 1, 2, 5, 16, 31, 33}) {
            for (const S c : {0x1f, 0x0, 0x181f, 0x1807, 0x1c03, 0x1000, 0x100f}) {
                const std::string operands =
                    ", %a, " + std::to_string(b) + ", " + std::to_string(c) + ", -1;\n";
                const auto values = lanes_after("shfl.sync." + mode + ".b32 %d|%p" + operands);
                const auto flags = lanes_after("shfl.sync." + mode + ".b32 %e|%p" + operands +
                                               "selp.u32 %d, 1, 0, %p;\n");
                for (S lane = 0; lane < 32; ++lane) {
                    const auto [value, in_range] = shuffled(mode, lane, b, c);
                    EXPECT_EQ(values[lane], value) << mode << ' ' << b << ' ' << c << ' ' << lane;
                    EXPECT_EQ(flags[lane], in_range ? 1u : 0u) << mode << ' ' << b << ' ' << c;
                }
            }
        }
    }
}

TEST_P(WarpOperations, shuffle_takes_an_index_per_lane) {
    const auto values = lanes_after("mul.lo.u32 %b, %l, 7;\nand.b32 %b, %b, 31;\n"
                                    "shfl.sync.idx.b32 %d, %a, %b, 31, -1;\n");
    for (U lane = 0; lane < 32; ++lane) {
        EXPECT_EQ(values[lane], 3 * (lane * 7 % 32) + 1);
    }
}

TEST_P(WarpOperations, votes) {
    const std::string setup = "setp.lt.u32 %p, %l, 5;\n";
    EXPECT_EQ(lanes_after(setup + "vote.sync.ballot.b32 %d, %p, -1;\n")[9], 31u);
    EXPECT_EQ(lanes_after(setup + "vote.sync.ballot.b32 %d, !%p, -1;\n")[9], ~31u);
    EXPECT_EQ(lanes_after(setup + "vote.sync.any.pred %q, %p, -1;\nselp.u32 %d, 1, 0, %q;\n")[31],
              1u);
    EXPECT_EQ(lanes_after(setup + "vote.sync.all.pred %q, %p, -1;\nselp.u32 %d, 1, 0, %q;\n")[0],
              0u);
    EXPECT_EQ(lanes_after(setup + "vote.sync.uni.pred %q, %p, -1;\nselp.u32 %d, 1, 0, %q;\n")[0],
              0u);
    // Each half votes separately.
    const auto halves = lanes_after(setup + "setp.lt.u32 %q, %l, 16;\n"
                                            "selp.b32 %b, 0xffff, 0xffff0000, %q;\n"
                                            "vote.sync.ballot.b32 %d, !%p, %b;\n");
    EXPECT_EQ(halves[0], 0xffe0u);
    EXPECT_EQ(halves[16], 0xffff0000u);
}

TEST_P(WarpOperations, a_partial_warp_votes_with_the_lanes_it_has) {
    EXPECT_EQ(lanes_after("setp.ge.u32 %p, %l, 0;\nvote.sync.ballot.b32 %d, %p, 0x3ff;\n", 10)[3],
              0x3ffu);
    EXPECT_EQ(lanes_after("activemask.b32 %d;\n", 10)[3], 0x3ffu);
}

TEST_P(WarpOperations, match) {
    const auto any = lanes_after("and.b32 %b, %l, 3;\nmatch.any.sync.b32 %d, %b, -1;\n");
    for (U lane = 0; lane < 32; ++lane) {
        EXPECT_EQ(any[lane], 0x11111111u << (lane & 3));
    }
    const auto wide =
        lanes_after("shr.u32 %b, %l, 4;\ncvt.u64.u32 %wide, %b;\nshl.b64 %wide, %wide, 40;\n"
                    "match.any.sync.b64 %d, %wide, -1;\n");
    EXPECT_EQ(wide[20], 0xffff0000u);
    EXPECT_EQ(lanes_after("mov.u32 %b, 9;\nmatch.all.sync.b32 %d|%p, %b, -1;\n")[4], ~0u);
    EXPECT_EQ(lanes_after("match.all.sync.b32 %d|%p, %a, -1;\n")[4], 0u);
}

TEST_P(WarpOperations, redux) {
    EXPECT_EQ(lanes_after("redux.sync.add.s32 %d, %a, -1;\n")[7], 3u * 496 + 32);
    EXPECT_EQ(lanes_after("redux.sync.max.u32 %d, %a, -1;\n")[7], 94u);
    EXPECT_EQ(lanes_after("sub.u32 %b, %a, 40;\nredux.sync.min.s32 %d, %b, -1;\n")[7], U(-39));
    EXPECT_EQ(lanes_after("sub.u32 %b, %a, 40;\nredux.sync.min.u32 %d, %b, -1;\n")[7], 0u);
    EXPECT_EQ(lanes_after("redux.sync.or.b32 %d, %l, -1;\n")[7], 31u);
    EXPECT_EQ(lanes_after("redux.sync.xor.b32 %d, %l, -1;\n")[7], 0u);
    EXPECT_EQ(lanes_after("redux.sync.and.b32 %d, %a, -1;\n")[7], 0u);
}

TEST_P(WarpOperations, elect_names_one_leader) {
    const auto leader = lanes_after("elect.sync %d|%p, -1;\n");
    EXPECT_EQ(leader[13], 0u);
    const auto flags = lanes_after("and.b32 %b, %l, 28;\nsetp.ge.u32 %q, %b, 4;\n"
                                   "setp.lt.and.u32 %q, %b, 16, %q;\nsetp.ne.u32 %p, %l, %l;\n"
                                   "@%q elect.sync _|%p, 0xfff0;\nselp.u32 %d, 1, 0, %p;\n");
    EXPECT_EQ(std::accumulate(flags.begin(), flags.end(), 0u), 1u);
    EXPECT_EQ(flags[4], 1u);
}

TEST_P(WarpOperations, lane_registers) {
    const auto at = [](const std::string& name) {
        return lanes_after("mov.u32 %d, " + name + ";\n");
    };
    for (const U lane : {0u, 7u, 31u}) {
        EXPECT_EQ(at("%laneid")[lane], lane);
        EXPECT_EQ(at("%lanemask_eq")[lane], 1u << lane);
        EXPECT_EQ(at("%lanemask_lt")[lane], (1u << lane) - 1);
        EXPECT_EQ(at("%lanemask_le")[lane], static_cast<U>((2ull << lane) - 1));
        EXPECT_EQ(at("%lanemask_gt")[lane], ~static_cast<U>((2ull << lane) - 1));
        EXPECT_EQ(at("%lanemask_ge")[lane], ~((1u << lane) - 1));
    }
}

TEST_P(WarpOperations, clocks_advance) {
    const auto clocks =
        lanes_after("mov.u32 %a, %clock;\nmov.u32 %b, %clock;\nsub.u32 %d, %b, %a;\n");
    EXPECT_LT(clocks[0], 1u << 30);
    const auto wide = lanes_after(".reg .b64 %t1, %t2;\nmov.u64 %t1, %clock64;\nnanosleep.u32 20;\n"
                                  "mov.u64 %t2, %clock64;\nsetp.gt.u64 %p, %t2, %t1;\n"
                                  "selp.u32 %d, 1, 0, %p;\n");
    EXPECT_EQ(wide[0], 1u);
    const auto timer = lanes_after(".reg .b64 %t1;\nmov.u64 %t1, %globaltimer;\n"
                                   "shr.u64 %t1, %t1, 32;\ncvt.u32.u64 %d, %t1;\n");
    EXPECT_NE(timer[0], 0u);
}

TEST_P(WarpOperations, a_lane_outside_its_member_mask_takes_part_like_the_others) {
    // This is undefined; the emulator does the same as an H200. Above all, it must terminate.
    const auto after = [](const std::string& operation) {
        return lanes_after("and.b32 %b, %l, 3;\nsetp.eq.u32 %p, %b, 1;\n" + operation);
    };
    std::vector<U> quarters(32);
    for (U lane = 0; lane < 32; ++lane) {
        quarters[lane] = 0x11111111u << (lane & 3);
    }
    EXPECT_EQ(after("match.any.sync.b32 %d, %b, 0xffff;"), quarters);
    EXPECT_EQ(after("mov.u32 %e, 0;\nmatch.any.sync.b32 %d, %b, %e;"), quarters) << "nobody named";
    EXPECT_EQ(after("cvt.u64.u32 %wide, %b;\nmatch.any.sync.b64 %d, %wide, 0xffff;"), quarters);
    EXPECT_EQ(after("match.all.sync.b32 %d, %b, 0xffff;"), std::vector<U>(32, 0));
    EXPECT_EQ(after("vote.sync.ballot.b32 %d, %p, 0xffff;"), std::vector<U>(32, 0x22222222));
    EXPECT_EQ(after("redux.sync.add.u32 %d, %l, 0xffff;"), std::vector<U>(32, 496));
    EXPECT_EQ(after("elect.sync %d|%p, 0xfff0;"), std::vector<U>(32, 0));
}

} // namespace

} // namespace cuprum::emulator::test
