// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Reductions that are collected and applied later, with loads behind them: the sums are exact, and
// a thread sees its own reductions.

#include "support/operation.hpp"

#include <algorithm>

namespace cuprum::emulator::test {

namespace {

using U = std::uint32_t;

class CollectedReductions : public OnEveryLevel {
protected:
    /// Runs a kernel with several numbers of workers. `set_up` prepares memory before each run.
    template <typename SetUp, typename Check, typename... Args>
    void run_with_workers(const std::string& text, Shape shape, SetUp set_up, Check check,
                          Args... args) {
        const auto kernel = device_.compile(ptx_module(text));
        ASSERT_TRUE(kernel) << device_.log << text;
        is_in_lockstep_ = kernel->lockstep.size() == kernel->code.size();
        for (const U workers : {1u, 4u}) {
            test::restart_engine({.worker_count = workers, .watchdog_seconds = 30});
            set_up();
            const Fault fault = Launch(device_, kernel, shape, args...).wait();
            ASSERT_EQ(fault.kind, FaultKind::None) << fault.report << text;
            check();
        }
    }

    /// Counts the values of an array in a grid-stride loop with this load of %v from %a.
    void count_everything(const std::string& load, Shape shape, U bin_count) {
        constexpr U count = 20'000;
        if (data_ == nullptr) {
            data_ = device_.allocate<U>(count);
            bins_ = device_.allocate<U>(2000);
        }
        std::vector<U> expected(bin_count);
        for (U i = 0; i < count; ++i) {
            data_[i] = i * 2654435761u >> 8;
            ++expected[data_[i] % bin_count];
        }
        run_with_workers(
            R"(.visible .entry k(.param .u64 pd, .param .u64 pb, .param .u32 pn, .param .u32 pm) {
    .reg .pred %p;
    .reg .b32 %i, %t, %b, %s, %n, %m, %v;
    .reg .b64 %d, %w, %a;
    ld.param.u64 %d, [pd];
    ld.param.u64 %w, [pb];
    ld.param.u32 %n, [pn];
    ld.param.u32 %m, [pm];
    mov.u32 %t, %tid.x;
    mov.u32 %b, %ctaid.x;
    mov.u32 %s, %ntid.x;
    mad.lo.u32 %i, %b, %s, %t;
    mov.u32 %b, %nctaid.x;
    mul.lo.u32 %s, %s, %b;
    setp.ge.u32 %p, %i, %n;
    @%p bra END;
LOOP:
    mad.wide.u32 %a, %i, 4, %d;
    )" + load + R"(
    rem.u32 %v, %v, %m;
    mad.wide.u32 %a, %v, 4, %w;
    red.global.add.u32 [%a], 1;
    add.u32 %i, %i, %s;
    setp.lt.u32 %p, %i, %n;
    @%p bra LOOP;
END:
    ret;
})",
            shape, [&] { std::fill_n(bins_, bin_count, 0u); },
            [&] {
                EXPECT_EQ(std::vector<U>(bins_, bins_ + bin_count), expected) << load << bin_count;
            },
            data_, bins_, count, bin_count);
    }

    TestDevice device_;
    U* data_ = nullptr;
    U* bins_ = nullptr;
    bool is_in_lockstep_ = false; // every instruction of the last kernel has a handler for it
};

INSTANTIATE_TEST_SUITE_P(levels, CollectedReductions, LEVELS);

TEST_P(CollectedReductions, loads_at_offsets_that_wrap_see_them) {
    // The two loads are 8 bytes apart, and their offsets almost 2^64.
    U* const out = device_.allocate<U>(64);
    run_with_workers(
        R"(.visible .entry k(.param .u64 po) {
    .reg .b32 %a, %b;
    .reg .b64 %o, %far;
    ld.param.u64 %o, [po];
    sub.u64 %far, %o, 9223372036854775804;
    red.global.add.u32 [%o], 1;
    ld.global.u32 %a, [%far+9223372036854775804];
    ld.global.u32 %b, [%far-9223372036854775804];
    st.global.u32 [%o+64], %a;
    st.global.u32 [%o+68], %b;
    ret;
})",
        {.block = 32}, [&] { std::fill_n(out, 64, 0u); },
        [&] {
            EXPECT_EQ(out[16], 32u);
            EXPECT_EQ(out[17], 0u);
        },
        out);
}

constexpr U THREADS = 192;

/// Returns a kernel in which every thread, three times, adds to a place of its own and loads from
/// there. It adds up the loaded values %v in a word of its own. Thread i of all has 32 bytes at %a,
/// or at those of thread `place` if that computes another number %x from %i.
std::string read_back(const std::string& code, const std::string& place = "mov.u32 %x, %i;") {
    return R"(.visible .entry k(.param .u64 pw, .param .u64 ps) {
    .reg .pred %p, %q;
    .reg .b32 %i, %b, %k, %v, %x, %u<4>;
    .reg .b64 %w, %a, %s, %g, %wide;
    ld.param.u64 %w, [pw];
    ld.param.u64 %s, [ps];
    mov.u32 %i, %tid.x;
    mov.u32 %b, %ctaid.x;
    mad.lo.u32 %i, %b, 64, %i;
    )" + place +
           R"(
    mad.wide.u32 %a, %x, 32, %w;
    cvta.global.u64 %g, %a;
    mad.wide.u32 %s, %i, 4, %s;
    and.b32 %k, %i, 2;
    setp.eq.u32 %q, %k, 0;
    mov.u32 %k, 0;
    mov.u32 %v, 0;
LOOP:
    )" + code +
           R"(
    red.global.add.u32 [%s], %v;
    add.u32 %k, %k, 1;
    setp.lt.u32 %p, %k, 3;
    @%p bra LOOP;
    ret;
})";
}

} // namespace

TEST_P(CollectedReductions, a_grid_stride_histogram_is_exact) {
    for (const char* const load :
         {"ld.global.u32 %v, [%a];", "ld.global.nc.u32 %v, [%a];", "ld.u32 %v, [%a];",
          "ld.volatile.global.u32 %v, [%a];", "ld.relaxed.gpu.global.u32 %v, [%a];"}) {
        for (const U bin_count : {1u, 256u, 2000u}) {
            count_everything(load, {.grid = 7, .block = 256}, bin_count);
        }
        count_everything(load, {.grid = 5, .block = 100}, 256);
        count_everything(load, {.grid = 200, .block = 32}, 100);
    }
    const bool has_lockstep = std::string(GetParam()) == "v3" || std::string(GetParam()) == "v4";
    EXPECT_EQ(is_in_lockstep_, has_lockstep);
}

TEST_P(CollectedReductions, bins_around_the_data_do_not_matter) {
    bins_ = device_.allocate<U>(2000);
    data_ = device_.allocate<U>(20'000);
    count_everything("ld.global.u32 %v, [%a];\nred.global.add.u32 [%d+80000], 0;",
                     {.grid = 7, .block = 256}, 256);
}

TEST_P(CollectedReductions, checks_see_exact_sums_too) {
    device_.enable_checks(CHECK_MEMORY | CHECK_RACES);
    count_everything("ld.global.u32 %v, [%a];", {.grid = 7, .block = 256}, 256);
}

TEST_P(CollectedReductions, a_thread_sees_its_own_reductions_at_once) {
    auto* const words = device_.allocate<U>(THREADS * 8);
    auto* const sums = device_.allocate<U>(THREADS);
    const std::string add = "red.global.add.u32 [%a+8], 5;\n";
    const std::string add_wide = "red.global.add.u64 [%a+8], 21474836480;\n"; // 5 in the upper half
    const std::vector<std::string> bodies = {
        add + "ld.global.u32 %v, [%a+8];",
        add + "ld.u32 %v, [%g+8];",
        add + "ld.global.v2.u32 {%v, %u0}, [%a+8];",
        add + "ld.global.v4.u32 {%u0, %u1, %v, %u2}, [%a];",
        add + "ld.v4.u32 {%u0, %u1, %v, %u2}, [%g];",
        add + "ld.global.u8 %v, [%a+8];",
        add + "ld.global.u64 %wide, [%a+8];\ncvt.u32.u64 %v, %wide;",
        add + "@%q ld.global.u32 %v, [%a+8];\n@!%q ld.global.u32 %v, [%a+8];",
        add + "@%q bra OVER;\nld.global.u32 %v, [%a+8];\nbra THERE;\nOVER:\n"
              "ld.u32 %v, [%g+8];\nTHERE:",
        "@%q " + add + "@!%q " + add + "ld.global.u32 %u0, [%a];\nld.global.u32 %v, [%a+8];",
        "red.global.add.u32 [%a+8], 2;\nred.global.max.u32 [%a+12], 1;\n"
        "red.global.add.u32 [%a+8], 3;\nld.global.u32 %v, [%a+8];",
        "atom.global.add.u32 %u0, [%a+8], 5;\nld.global.u32 %v, [%a+8];",
        add_wide + "ld.global.u32 %v, [%a+12];",
        add_wide + "ld.global.v2.u32 {%u0, %v}, [%a+8];",
    };
    for (const std::string& body : bodies) {
        for (const char* const place :
             {"mov.u32 %x, %i;", "xor.b32 %x, %i, 21;", "sub.u32 %x, 191, %i;",
              "mul.lo.u32 %x, %i, 5;\n"
              "rem.u32 %x, %x, 192;"}) {
            run_with_workers(
                read_back(body, place), {.grid = THREADS / 64, .block = 64},
                [&] {
                    std::fill_n(words, THREADS * 8, 0u);
                    std::fill_n(sums, THREADS, 0u);
                },
                [&] {
                    EXPECT_EQ(std::vector<U>(sums, sums + THREADS),
                              std::vector<U>(THREADS, 5 + 10 + 15))
                        << body << place;
                },
                words, sums);
        }
    }
}

TEST_P(CollectedReductions, a_block_may_wait_for_reductions_of_loops_with_loads) {
    // Even blocks count the zeros in an array. Odd blocks wait until a number of them have.
    auto* const data = device_.allocate<U>(256);
    auto* const count = device_.allocate<U>(1);
    run_with_workers(
        R"(.visible .entry k(.param .u64 pd, .param .u64 pc) {
    .reg .pred %p;
    .reg .b64 %d, %c, %a;
    .reg .b32 %b, %k, %n;
    ld.param.u64 %d, [pd];
    ld.param.u64 %c, [pc];
    mov.u32 %b, %ctaid.x;
    and.b32 %n, %b, 1;
    mov.u32 %k, 0;
    setp.eq.u32 %p, %n, 1;
    @%p bra WAIT;
LOOP:
    mad.wide.u32 %a, %k, 4, %d;
    ld.global.u32 %n, [%a];
    setp.eq.u32 %p, %n, 0;
    @%p red.global.add.u32 [%c], 1;
    add.u32 %k, %k, 1;
    setp.lt.u32 %p, %k, 100;
    @%p bra LOOP;
    ret;
WAIT:
    mul.lo.u32 %b, %b, 5;
SPIN:
    ld.volatile.global.u32 %n, [%c];
    setp.lt.u32 %p, %n, %b;
    @%p bra SPIN;
    ret;
})",
        {.grid = 300, .block = 1}, [&] { *count = 0; }, [&] { EXPECT_EQ(*count, 150u * 100); },
        data, count);
}

} // namespace cuprum::emulator::test
