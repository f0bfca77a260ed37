// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// cp.async: what is copied, what becomes zero, and what is refused.

#include "support/operation.hpp"

#include <functional>

namespace cuprum::emulator::test {

namespace {

using U = std::uint32_t;

constexpr U WORDS = 128;
constexpr U FIRST = 1000; // the input counts up from here
constexpr U FILLER = 7;   // the previous content of shared memory

class AsyncCopy : public OnEveryLevel {};

INSTANTIATE_TEST_SUITE_P(levels, AsyncCopy, LEVELS);

/// Fills 128 words of shared memory, runs `body`, and writes the words out. %l is the lane; %to and
/// %from are its own 16 bytes in shared and global memory.
std::string kernel(const std::string& body) {
    return R"(.visible .entry k(.param .u64 pin, .param .u64 pout)
{
    .reg .b64 %in, %out, %from, %y, %policy, %wide;
    .reg .b32 %l, %to, %size, %a, %b, %c, %d;
    .reg .pred %p;
    .shared .align 16 .b8 tile[512];
    ld.param.u64 %in, [pin];
    ld.param.u64 %out, [pout];
    mov.u32 %l, %tid.x;
    mad.wide.u32 %from, %l, 16, %in;
    mov.u32 %to, tile;
    mad.lo.u32 %to, %l, 16, %to;
    mov.u32 %a, 7;
    mov.u64 %policy, 0;
    cvt.u64.u32 %wide, %to;
    st.shared.v4.u32 [%to], {%a, %a, %a, %a};
)" + body + R"(
    cp.async.commit_group;
    cp.async.wait_group 0;
    bar.warp.sync 0xffffffff;
    ld.shared.v4.u32 {%a, %b, %c, %d}, [%to];
    mad.wide.u32 %y, %l, 16, %out;
    st.global.v4.u32 [%y], {%a, %b, %c, %d};
    ret;
}
)";
}

struct Result {
    Fault fault;
    std::vector<U> out;
};

Result run_kernel(const std::string& body) {
    TestDevice device;
    auto* const in = device.allocate<U>(WORDS);
    auto* const out = device.allocate<U>(WORDS);
    for (U i = 0; i < WORDS; ++i) {
        in[i] = FIRST + i;
    }
    Result result;
    result.fault = run(device, kernel(body), {.grid = 1, .block = 32},
                       reinterpret_cast<std::uint64_t>(in), reinterpret_cast<std::uint64_t>(out));
    result.out.assign(out, out + WORDS);
    return result;
}

/// Compares every word with `expected(lane, word)`, where word is 0 to 3.
void expect_words(const std::string& body, const std::function<U(U, U)>& expected) {
    const Result result = run_kernel(body);
    ASSERT_EQ(result.fault.kind, FaultKind::None) << result.fault.report;
    for (U i = 0; i < WORDS; ++i) {
        EXPECT_EQ(result.out[i], expected(i / 4, i % 4)) << "word " << i << " of " << body;
    }
}

U copied(U lane, U word) {
    return FIRST + 4 * lane + word;
}

TEST_P(AsyncCopy, copies_4_8_or_16_bytes) {
    for (const U bytes : {4u, 8u, 16u}) {
        const std::string size = std::to_string(bytes);
        expect_words(
            "cp.async.ca.shared.global [%to], [%from], " + size + ";",
            [&](U lane, U word) { return word < bytes / 4 ? copied(lane, word) : FILLER; });
        expect_words(
            "cp.async.ca.shared::cta.global.L2::128B [%to], [%from], " + size + ", " + size + ";",
            [&](U lane, U word) { return word < bytes / 4 ? copied(lane, word) : FILLER; });
    }
    expect_words("cp.async.cg.shared.global [%to], [%from], 16;", copied);
    expect_words("cp.async.cg.shared.global.L2::cache_hint [%to], [%from], 16, %policy;", copied);
    expect_words("cp.async.cg.shared.global.L2::cache_hint [%wide], [%from], 16, 16, %policy;",
                 copied);
}

TEST_P(AsyncCopy, both_addresses_may_have_offsets) {
    expect_words("cp.async.ca.shared.global [%to+12], [%from+8], 4;",
                 [](U lane, U word) { return word == 3 ? copied(lane, 2) : FILLER; });
    expect_words("add.u32 %to, %to, 16;\ncp.async.ca.shared.global [%to+-16], [%from], 8;\n"
                 "sub.u32 %to, %to, 16;",
                 [](U lane, U word) { return word < 2 ? copied(lane, word) : FILLER; });
}

TEST_P(AsyncCopy, what_lies_beyond_the_source_size_becomes_zero) {
    const auto limited = [](U bytes) {
        return [bytes](U lane, U word) {
            const U left = word * 4 >= bytes ? 0 : bytes - word * 4;
            return left >= 4 ? copied(lane, word) : copied(lane, word) & ((1u << 8 * left) - 1);
        };
    };
    for (const U bytes : {0u, 1u, 3u, 4u, 7u, 12u, 15u, 16u}) {
        expect_words("cp.async.cg.shared.global [%to], [%from], 16, " + std::to_string(bytes) + ";",
                     limited(bytes));
    }
    // Each lane has a different size.
    expect_words("and.b32 %size, %l, 15;\ncp.async.ca.shared.global [%to], [%from], 16, %size;",
                 [&](U lane, U word) { return limited(lane & 15)(lane, word); });
}

TEST_P(AsyncCopy, an_ignored_source_is_not_read) {
    const std::string odd = "and.b32 %a, %l, 1;\nsetp.eq.u32 %p, %a, 1;\n";
    expect_words(odd + "cp.async.ca.shared.global [%to], [%from], 16, %p;",
                 [](U lane, U word) { return lane % 2 == 1 ? 0 : copied(lane, word); });
    expect_words(odd + "cp.async.ca.shared.global [%to], [%from], 16, !%p;",
                 [](U lane, U word) { return lane % 2 == 0 ? 0 : copied(lane, word); });
    // This also holds for an invalid address.
    expect_words(odd + "selp.b64 %from, 16, %from, %p;\nselp.u32 %size, 0, 16, %p;\n"
                       "cp.async.cg.shared.global [%to], [%from], 16, %size;",
                 [](U lane, U word) { return lane % 2 == 1 ? 0 : copied(lane, word); });
}

TEST_P(AsyncCopy, a_guard_keeps_lanes_out) {
    expect_words("setp.lt.u32 %p, %l, 9;\n@%p cp.async.ca.shared.global [%to], [%from], 16;",
                 [](U lane, U word) { return lane < 9 ? copied(lane, word) : FILLER; });
}

TEST_P(AsyncCopy, groups_may_be_waited_for_in_every_way) {
    expect_words("cp.async.ca.shared.global [%to], [%from], 16;\ncp.async.commit_group;\n"
                 "cp.async.wait_group 3;\ncp.async.wait_all;",
                 copied);
}

TEST_P(AsyncCopy, bad_addresses_and_sizes_are_faults) {
    const auto expect_fault = [](const std::string& body, FaultKind kind,
                                 const std::string& words) {
        const Fault fault = run_kernel(body).fault;
        EXPECT_EQ(fault.kind, kind) << body;
        EXPECT_NE(fault.report.find(words), std::string::npos) << fault.report;
    };
    expect_fault("cp.async.ca.shared.global [%to], [%from+4], 8;", FaultKind::MisalignedAddress,
                 "multiple of 8");
    expect_fault("cp.async.ca.shared.global [%to], [%from+4], 8, 2;", FaultKind::MisalignedAddress,
                 "multiple of 8");
    expect_fault("cp.async.ca.shared.global [%to+4], [%from], 8;", FaultKind::MisalignedAddress,
                 "multiple of 8");
    expect_fault("cp.async.ca.shared.global [%to], [16], 4;", FaultKind::IllegalAddress,
                 "read of 4 bytes at 0x10");
    expect_fault("cp.async.ca.shared.global [%to+65536], [%from], 4;", FaultKind::IllegalAddress,
                 "shared memory");
    expect_fault("mov.u32 %size, 5;\ncp.async.ca.shared.global [%to], [%from], 4, %size;",
                 FaultKind::IllegalInstruction, "source size of 5 bytes copies only 4");
}

TEST(AsyncCopyForms, other_forms_are_refused_by_name) {
    const auto log_of = [](const std::string& body) {
        TestDevice device;
        EXPECT_EQ(device.compile(ptx_module(kernel(body))), nullptr) << body;
        return device.log;
    };
    EXPECT_NE(log_of("cp.async.cg.shared.global [%to], [%from], 4;").find("needs 16 as"),
              std::string::npos);
    EXPECT_NE(log_of("cp.async.ca.shared.global [%to], [%from], 12;").find("4, 8 or 16"),
              std::string::npos);
    EXPECT_NE(log_of("cp.async.ca.global.shared [%to], [%from], %l;").find("cp.async.ca"),
              std::string::npos);
    EXPECT_NE(log_of("cp.async.wait_group %l;").find("number of groups"), std::string::npos);
    EXPECT_NE(log_of("cp.async.bulk.prefetch.tensor.1d.L1.global [%from, {%l}];")
                  .find("'cp.async.bulk.prefetch.tensor"),
              std::string::npos);
    EXPECT_NE(log_of("cp.async.bulk.shared::cta.shared::cta.mbarrier::complete_tx::bytes [%to], "
                     "[%to], 16, [%to];")
                  .find("is not supported here"),
              std::string::npos);
    EXPECT_NE(log_of("cp.reduce.async.bulk.global.shared::cta.bulk_group.inc.f32 [%from], [%to], "
                     "16;")
                  .find("a type that it does not support"),
              std::string::npos);
}

} // namespace

} // namespace cuprum::emulator::test
