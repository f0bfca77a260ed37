// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Runs every text of every row at every level, and compares the results with a reference.
//
// Each instruction runs twice: plain, and with a guard, where the other lanes must keep their
// values. The guarded one also has negated predicates, and both results of setp.

#include "interp/integer_reference.hpp"
#include "support/operation.hpp"
#include "support/row_text.hpp"

#include <random>
#include <set>

namespace cuprum::emulator::test {

namespace {

class Rows : public OnEveryLevel {};

INSTANTIATE_TEST_SUITE_P(levels, Rows, LEVELS);

constexpr std::uint64_t EDGES[] = {0,
                                   1,
                                   2,
                                   3,
                                   7,
                                   8,
                                   15,
                                   16,
                                   17,
                                   31,
                                   32,
                                   33,
                                   63,
                                   64,
                                   65,
                                   255,
                                   256,
                                   0x7fff,
                                   0x8000,
                                   0x7fffffff,
                                   0x80000000,
                                   0x8001800180018001,
                                   0x7fffffffffffffff,
                                   0x8000000000000000,
                                   0xffffffffffffffff,
                                   0xfffffffffffffffe,
                                   0xfffffff9fffffff9,
                                   0x123456789abcdef0,
                                   0x80ff7f0180ff7f01};
constexpr std::size_t RANDOM_COUNT = 200;
constexpr std::size_t PLACES = 2 + 2; // plain: result, carry; guarded: result, second result
constexpr std::uint64_t UNTOUCHED = 0x5a5a5a5a5a5a5a5a;

/// The sources of all threads: each pair of edges, then random numbers.
std::vector<Values> make_inputs() {
    std::vector<Values> inputs;
    std::mt19937_64 random(1);
    const auto edge = [&] { return EDGES[random() % std::size(EDGES)]; };
    for (const std::uint64_t a : EDGES) {
        for (const std::uint64_t b : EDGES) {
            inputs.push_back({.source = {a, b, edge(), edge()}});
        }
    }
    for (std::size_t i = 0; i < RANDOM_COUNT; ++i) {
        inputs.push_back({.source = {random(), random(), random(), random() % 80}});
    }
    return inputs;
}

/// Returns a register of this size: %h, %w, %q or %p, with `prefix` in its name.
std::string register_of(unsigned bits, const std::string& prefix) {
    return "%" + prefix + (bits == 1 ? "p" : bits == 16 ? "h" : bits == 32 ? "w" : "q");
}

unsigned result_bits(const RowText& text) {
    return text.bits_of(text.result_kind());
}

bool writes_pair(const RowText& text) {
    return text.result_kind() == 'P';
}

/// Returns the operands: %dw and so on is the result, source i lies in %w<i>, %q<i> and so on.
std::string operands(const RowText& text, bool is_guarded) {
    std::string result = " " + register_of(result_bits(text), "d");
    result += is_guarded && writes_pair(text) ? "|%dp1" : "";
    unsigned source = 0;
    for (const char kind : text.source_kinds()) {
        const unsigned bits = text.bits_of(kind);
        result += is_guarded && bits == 1 ? ", !" : ", ";
        result += kind == 'L' ? std::to_string(text.match.literal)
                              : register_of(bits, "") + std::to_string(source);
        ++source;
    }
    return result + ";\n";
}

/// Returns the kernel that runs some texts. The carry flag is set where source 2 is odd.
std::string kernel_of(std::span<const RowText> texts, std::size_t count) {
    std::string text =
        ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)\n{\n"
        ".reg .b64 %q<5>, %in, %out, %dq, %stride; .reg .b32 %w<5>, %i, %n, %t, %dw, %e;\n"
        ".reg .b16 %h<5>, %dh; .reg .pred %p<5>, %g, %over, %dp, %dp1;\n"
        "mov.u32 %i, %ctaid.x; mov.u32 %t, %ntid.x; mov.u32 %n, %tid.x;\n"
        "mad.lo.u32 %i, %i, %t, %n; ld.param.u32 %n, [n];\n"
        "setp.ge.u32 %over, %i, %n; @%over bra DONE;\n"
        "ld.param.u64 %in, [in]; mad.wide.u32 %in, %i, 32, %in;\n"
        "ld.param.u64 %out, [out]; mad.wide.u32 %out, %i, 8, %out;\n"
        "rem.u32 %t, %i, 3; setp.ne.u32 %g, %t, 0;\n";
    for (unsigned i = 0; i < 4; ++i) {
        const std::string n = std::to_string(i);
        text += "ld.global.u64 %q" + n + ", [%in+" + std::to_string(8 * i) + "]; cvt.u32.u64 %w" +
                n + ", %q" + n + "; cvt.u16.u64 %h" + n + ", %q" + n + "; and.b32 %t, %w" + n +
                ", 1; setp.ne.u32 %p" + n + ", %t, 0;\n";
    }
    std::size_t place = 0;
    const auto store = [&](const std::string& value) {
        text +=
            "st.global.u64 [%out+" + std::to_string(8 * count * place++) + "], " + value + ";\n";
    };
    for (const RowText& each : texts) {
        const std::string to = register_of(result_bits(each), "d");
        const std::string widen =
            result_bits(each) == 1 ? "selp.u64 %dq, 1, 0, %dp;\n"
            : result_bits(each) == 64
                ? ""
                : "cvt.u64.u" + std::to_string(result_bits(each)) + " %dq, " + to + ";\n";
        const bool has_carry = each.kinds.find('c') != std::string_view::npos;
        const std::string set_carry =
            has_carry ? "and.b32 %t, %w2, 1; add.cc.u32 %t, %t, 0xffffffff;\n" : "";
        for (const bool is_guarded : {false, true}) {
            text += set_carry + "mov.b64 %dq, 0x5a5a5a5a5a5a5a5a; mov.b32 %dw, 0x5a5a5a5a;\n"
                                "mov.b16 %dh, 0x5a5a; setp.ne.u32 %dp, 0, 0; "
                                "setp.ne.u32 %dp1, 0, 0;\n";
            text += (is_guarded ? "@%g " : "") + each.instruction() + operands(each, is_guarded);
            text += has_carry ? "addc.u32 %e, 0, 0;\n" : "mov.u32 %e, 0;\n";
            text += widen;
            store("%dq");
            text += is_guarded && writes_pair(each) ? "selp.u64 %dq, 1, 0, %dp1;\n"
                                                    : "cvt.u64.u32 %dq, %e;\n";
            store("%dq");
        }
    }
    return text + "DONE:\nret;\n}\n";
}

/// Returns what a text must have stored, in the order of kernel_of().
std::array<std::uint64_t, PLACES> expected(const RowText& text, const Values& input,
                                           std::size_t thread) {
    const auto result = [&](bool is_negated) {
        Values values = input;
        for (unsigned i = 0; i < 4; ++i) {
            values.predicate[i] = ((input.source[i] & 1) != 0) != is_negated;
        }
        values.carry = (input.source[2] & 1) != 0;
        compute_reference(text.match, values);
        return values;
    };
    const bool has_carry = text.kinds.find('c') != std::string_view::npos;
    const Values plain = result(false);
    std::array<std::uint64_t, PLACES> all{plain.result, has_carry && plain.carry ? 1u : 0u};
    const bool runs = thread % 3 != 0;
    const Values guarded = result(true);
    const unsigned bits = result_bits(text);
    all[2] = runs ? guarded.result : bits == 1 ? 0 : low_bits(static_cast<Wide>(UNTOUCHED), bits);
    const bool carry = runs ? guarded.carry : (input.source[2] & 1) != 0;
    all[3] = has_carry && carry ? 1 : 0;
    if (writes_pair(text)) {
        all[3] = runs ? guarded.second : 0;
    }
    return all;
}

class Runner {
public:
    template <typename T, std::size_t COUNT>
    void run_rows(const rows::Row<T> (&rows)[COUNT]) {
        std::vector<RowPattern> patterns;
        add_patterns(patterns, rows);
        for (const RowPattern& row : patterns) {
            rows::Match match(row.pattern);
            const bool has_literal = row.kinds.find('L') != std::string_view::npos;
            do {
                for (unsigned literal = 0; literal < (has_literal ? 256 : 1); ++literal) {
                    match.literal = static_cast<std::uint8_t>(literal);
                    texts_.push_back({match, row.kinds});
                    if (texts_.size() == MOST) {
                        run_texts();
                    }
                }
            } while (match.advance(false));
            run_texts();
        }
    }

    [[nodiscard]] std::size_t count() const { return seen_.size(); }

private:
    static constexpr std::size_t MOST = 20; // as many as the device's memory holds the results of

    void run_texts() {
        if (texts_.empty()) {
            return;
        }
        TestDevice device;
        const std::size_t threads = inputs_.size();
        auto* const in = device.allocate<std::uint64_t>(4 * threads);
        for (std::size_t i = 0; i < threads; ++i) {
            std::copy_n(inputs_[i].source, 4, in + 4 * i);
        }
        auto* const out = device.allocate<std::uint64_t>(threads * PLACES * texts_.size());
        const Fault fault =
            run(device, kernel_of(texts_, threads),
                {.grid = static_cast<std::uint32_t>((threads + 63) / 64), .block = 64},
                reinterpret_cast<std::uint64_t>(in), reinterpret_cast<std::uint64_t>(out),
                static_cast<std::uint32_t>(threads));
        ASSERT_EQ(fault.kind, FaultKind::None) << fault.report;
        for (std::size_t index = 0; index < texts_.size(); ++index) {
            const RowText& text = texts_[index];
            seen_.insert(text.instruction() + operands(text, false));
            int failures = 0;
            for (std::size_t i = 0; i < threads && failures < 3; ++i) {
                const auto wanted = expected(text, inputs_[i], i);
                for (std::size_t place = 0; place < PLACES; ++place) {
                    const std::uint64_t got = out[(index * PLACES + place) * threads + i];
                    if (got != wanted[place]) {
                        ++failures;
                        const std::uint64_t(&s)[4] = inputs_[i].source;
                        ADD_FAILURE() << text.instruction() << operands(text, place >= 2)
                                      << std::hex << "place " << place << ", sources " << s[0]
                                      << ' ' << s[1] << ' ' << s[2] << ' ' << s[3] << ": got "
                                      << got << ", expected " << wanted[place];
                    }
                }
            }
        }
        texts_.clear();
    }

    const std::vector<Values> inputs_ = make_inputs();
    std::vector<RowText> texts_;
    std::set<std::string> seen_;
};

TEST_P(Rows, integer_arithmetic_is_that_of_the_reference) {
    Runner runner;
    runner.run_rows(rows::INTEGER_ROWS);
    runner.run_rows(rows::DOT_ROWS);
    runner.run_rows(rows::CARRY_ROWS);
    runner.run_rows(rows::PACK_ROWS);
    EXPECT_GT(runner.count(), 150u);
}

TEST_P(Rows, operations_on_bits_are_those_of_the_reference) {
    Runner runner;
    runner.run_rows(rows::BITS_ROWS);
    EXPECT_GT(runner.count(), 300u);
}

TEST_P(Rows, comparisons_are_those_of_the_reference) {
    Runner runner;
    runner.run_rows(rows::COMPARE_ROWS);
    EXPECT_GT(runner.count(), 2000u);
}

TEST_P(Rows, selections_are_those_of_the_reference) {
    Runner runner;
    runner.run_rows(rows::SELECT_ROWS);
    EXPECT_GT(runner.count(), 40u);
}

} // namespace

} // namespace cuprum::emulator::test
