// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Runs every text of every row at every level, and compares the results with a reference.
//
// Each instruction runs twice: plain, and with a guard, where the other lanes must keep their
// values. The guarded one also has negated predicates, and both results of setp.

#include "interp/convert_reference.hpp"
#include "support/operation.hpp"
#include "support/row_text.hpp"

#include <map>
#include <random>
#include <set>
#include <tuple>

namespace cuprum::emulator::test {

namespace {

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

constexpr std::uint64_t DOUBLE_EDGES[] = {0,
                                          0x8000000000000000,
                                          0x3ff0000000000000,
                                          0xbff0000000000000,
                                          0x3fd5555555555555,
                                          0x7fe1ccf385ebc8a0,
                                          0x0000000000000001,
                                          0x800fffffffffffff,
                                          0x0010000000000000,
                                          0x400921f9f01b866e,
                                          0x4340000000000001,
                                          0x7ff0000000000000,
                                          0xfff0000000000000,
                                          0x7ff8000000000000,
                                          0xfff0000000000001,
                                          0xbefa36e2eb1c432d,
                                          0x3ff0000000000001,
                                          0xffefffffffffffff,
                                          0xc059000000000000,
                                          0x3c90000000000000,
                                          0x3fe0000000000000,
                                          0xc004000000000000,
                                          0x40effff000000000,
                                          0x41dfffffffe00000,
                                          0xc1e0000000100000,
                                          0x41effffffff00000,
                                          0x43e0000000000000,
                                          0xc3e0000000000001};
constexpr std::uint32_t SINGLE_EDGES[] = {
    0,          0x80000000, 0x3f800000, 0xbf800000, 0x3f000001, 0x40490fdb, 0x7f7fffff, 0xff7fffff,
    0x00800000, 0x00000001, 0x807fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x7f800001,
    0x4b800001, 0x33800000, 0x3eaaaaab, 0xc2c80000, 0x3f7fffff, 0x80800000, 0x00ffffff, 0x40000000,
    0x3f800800, 0xbf801000, 0x7f7f8000, 0x20000000, 0x3f000000, 0x40200000, 0x4f000000, 0xdf000001,
    0x477fefff, 0x477ff000, 0x43e00000, 0x3f801000, 0x3f803000, 0x3f800fff};
constexpr std::uint16_t HALF_EDGES[] = {
    0,      0x8000, 0x3c00, 0xbc00, 0x3c01, 0x1000, 0x1400, 0x7bff, 0xfbff, 0x0400, 0x8400,
    0x0001, 0x83ff, 0x7c00, 0xfc00, 0x7e00, 0xfc01, 0x7ff7, 0xfff7, 0x3f80, 0xbf80, 0x3f81,
    0x0080, 0x807f, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0x3555, 0x4248, 0xd640};

/// The sources of all threads: each pair of edges, then random numbers.
std::vector<Values> make_inputs(std::span<const std::uint64_t> edges,
                                std::size_t random_count = RANDOM_COUNT) {
    std::vector<Values> inputs;
    std::mt19937_64 random(1);
    const auto edge = [&] { return edges[random() % edges.size()]; };
    for (const std::uint64_t a : edges) {
        for (const std::uint64_t b : edges) {
            inputs.push_back({.source = {a, b, edge(), edge()}});
        }
    }
    for (std::size_t i = 0; i < random_count; ++i) {
        inputs.push_back({.source = {random(), random(), random(), random() % 80}});
    }
    return inputs;
}

/// Fills 64 bits with edges of a smaller size.
template <typename T, std::size_t COUNT>
std::vector<std::uint64_t> spread(const T (&edges)[COUNT]) {
    std::vector<std::uint64_t> result;
    for (std::size_t i = 0; i < COUNT; ++i) {
        std::uint64_t all = 0;
        for (std::size_t part = 0; part < 8 / sizeof(T); ++part) {
            all |= std::uint64_t{edges[(i + part * 5) % COUNT]} << (part * sizeof(T) * 8);
        }
        result.push_back(all);
    }
    return result;
}

/// Returns numbers around each value of a small format and around the middle of each two.
std::vector<std::uint64_t> turning_points(const rows::FormatRecord& record,
                                          const FloatFormat& source) {
    const FloatFormat small = format_of(record);
    std::vector<std::uint64_t> result{0, source.infinity(), source.sign() - 1};
    for (std::uint32_t bits = 0; bits <= record.largest; ++bits) {
        const bool is_power = record.fraction_bits == 0;
        const long double here =
            is_power ? std::ldexp(1.0L, static_cast<int>(bits) - 127) : small.decode(bits);
        const long double middle = is_power ? here : (here + small.decode(bits + 1)) / 2;
        for (const long double value : {here, std::isfinite(middle) ? middle : here * 1.1L}) {
            const std::uint64_t nearest = source.encode(value, FE_TONEAREST);
            for (const std::uint64_t near :
                 {nearest - (nearest == 0 ? 0 : 1), nearest, nearest + 1}) {
                result.push_back(near);
                result.push_back(near | source.sign());
            }
        }
    }
    return result;
}

/// Returns one thread for each value. The other sources are other values.
std::vector<Values> one_by_one(std::vector<std::uint64_t> values, unsigned bits) {
    const std::size_t count = values.size();
    std::vector<Values> inputs;
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t other = values[(i * 7 + 5) % count];
        const std::uint64_t first = bits == 16 ? values[i] | other << 16 : values[i];
        inputs.push_back({.source = {first, other, values[(i * 11 + 3) % count], 0}});
    }
    return inputs;
}

/// Returns the inputs for a text: integers, or numbers of its type.
const std::vector<Values>& inputs_of(const RowText& text) {
    static const std::vector<Values> integers = make_inputs(EDGES);
    static const std::vector<Values> doubles = make_inputs(DOUBLE_EDGES);
    static const std::vector<std::uint64_t> single_edges = spread(SINGLE_EDGES);
    static const std::vector<std::uint64_t> half_edges = spread(HALF_EDGES);
    static const std::vector<Values> singles = make_inputs(single_edges);
    static const std::vector<Values> halves = make_inputs(half_edges);
    static std::map<std::string, std::vector<Values>> small;
    if (!text.is_float() && !text.is_conversion()) {
        return integers;
    }
    const std::string from(text.match['A']);
    const std::string to(text.match['T']);
    const rows::FormatRecord& source = ConvertReference::record_of(rows::format_named(from));
    const rows::FormatRecord& target = ConvertReference::record_of(rows::format_named(to));
    if (text.is_conversion() && !ConvertReference::is_float(source)) {
        return integers;
    }
    if (text.is_conversion() && ConvertReference::is_float(target) &&
        std::min(source.bits, target.bits) < 16) {
        std::vector<Values>& inputs = small[from + to];
        if (inputs.empty() && source.bits < 16) {
            std::vector<std::uint64_t> all;
            for (std::uint64_t i = 0; i < 256; ++i) {
                all.push_back(i << 8 | (255 - i));
            }
            inputs = one_by_one(all, 32);
        } else if (inputs.empty()) {
            inputs = one_by_one(turning_points(target, format_of(source)), source.bits);
        }
        return inputs;
    }
    const ptx::Type type =
        text.is_conversion() ? rows::type_named(from).part : text.match.type().part;
    if (text.match.word(0).starts_with("set")) { // so many texts that fewer numbers must do
        static const std::vector<Values> few_doubles =
            make_inputs(std::span(DOUBLE_EDGES).first(16), 20);
        static const std::vector<Values> few_singles =
            make_inputs(std::span(single_edges).first(16), 20);
        static const std::vector<Values> few_halves =
            make_inputs(std::span(half_edges).first(20), 20);
        return type == ptx::Type::F64   ? few_doubles
               : type == ptx::Type::F32 ? few_singles
                                        : few_halves;
    }
    return type == ptx::Type::F64                              ? doubles
           : type == ptx::Type::F32 && text.match['n'].empty() ? singles
                                                               : halves;
}

/// Returns a register of this size: %h, %w, %q or %p, with `prefix` in its name.
std::string register_of(unsigned bits, const std::string& prefix) {
    return "%" + prefix + (bits == 1 ? "p" : bits == 16 ? "h" : bits == 32 ? "w" : "q");
}

unsigned result_bits(const RowText& text) {
    return text.bits_of(text.result_kind());
}

bool writes_pair(const RowText& text) {
    return text.result_kind() == 'P' || text.result_kind() == 'B';
}

/// Returns the operands: %dw and so on is the result, source i lies in %w<i>, %q<i> and so on.
std::string operands(const RowText& text, bool is_guarded) {
    std::string result = " " + register_of(result_bits(text), "d");
    const bool is_pair = text.result_kind() == 'B' || (is_guarded && writes_pair(text));
    result += is_pair ? "|%dp1" : "";
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
                                           std::size_t thread, double& error) {
    const auto result = [&](bool is_negated) {
        Values values = input;
        for (unsigned i = 0; i < 4; ++i) {
            values.predicate[i] = ((input.source[i] & 1) != 0) != is_negated;
        }
        values.carry = (input.source[2] & 1) != 0;
        const auto sources = static_cast<unsigned>(text.source_kinds().size());
        if (text.is_conversion()) {
            ConvertReference(text.match).compute(values, sources);
        } else if (text.is_float()) {
            FloatReference(text.match).compute(values, sources);
        } else {
            compute_reference(text.match, values);
        }
        error = values.error;
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
    void run_rows(const std::vector<RowPattern>& patterns) {
        for (const RowPattern& row : patterns) {
            if (row.effect != rows::Effect::Pure) {
                continue; // test_warp_operations.cpp
            }
            rows::Match match(row.pattern);
            const bool has_literal = row.kinds.find('L') != std::string_view::npos;
            do {
                for (unsigned literal = 0; literal < (has_literal ? 256 : 1); ++literal) {
                    match.literal = static_cast<std::uint8_t>(literal);
                    const RowText text{match, row.kinds};
                    if (texts_.size() == MOST ||
                        (!texts_.empty() && &inputs_of(texts_.front()) != &inputs_of(text))) {
                        run_texts();
                    }
                    texts_.push_back(text);
                }
            } while (match.advance(false));
            run_texts();
        }
    }

    [[nodiscard]] std::size_t count() const { return seen_.size(); }

private:
    static constexpr std::size_t MOST = 14; // as many as the device's memory holds the results of

    void run_texts() {
        if (texts_.empty()) {
            return;
        }
        TestDevice device;
        const std::vector<Values>& inputs = inputs_of(texts_.front());
        const std::size_t threads = inputs.size();
        auto* const in = device.allocate<std::uint64_t>(4 * threads);
        for (std::size_t i = 0; i < threads; ++i) {
            std::copy_n(inputs[i].source, 4, in + 4 * i);
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
                double error = 0;
                const auto wanted = expected(text, inputs[i], i, error);
                for (std::size_t place = 0; place < PLACES; ++place) {
                    const std::uint64_t got = out[(index * PLACES + place) * threads + i];
                    if (got != wanted[place] &&
                        (error == 0 || !is_close(got, wanted[place], text.match, error))) {
                        ++failures;
                        const std::uint64_t(&s)[4] = inputs[i].source;
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

    std::vector<RowText> texts_;
    std::set<std::string> seen_;
};

/// A test for each list of rows at each level.
class Rows : public testing::TestWithParam<std::tuple<const char*, std::size_t>> {
protected:
    ~Rows() override { (void)use_selectors_of(nullptr); }
};

INSTANTIATE_TEST_SUITE_P(levels, Rows,
                         testing::Combine(LEVELS,
                                          testing::Range(std::size_t{0}, row_lists().size())));

TEST_P(Rows, compute_what_the_reference_computes) {
    const auto [level, list] = GetParam();
    if (!use_selectors_of(level)) {
        GTEST_SKIP() << "no handlers for level " << level << " here";
    }
    Runner runner;
    runner.run_rows(row_lists()[list]);
    const auto is_pure = [](const RowPattern& row) { return row.effect == rows::Effect::Pure; };
    const auto least = std::ranges::count_if(row_lists()[list], is_pure);
    EXPECT_GE(runner.count(), static_cast<std::size_t>(least));
}

} // namespace

} // namespace cuprum::emulator::test
