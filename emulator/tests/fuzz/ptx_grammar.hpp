// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Writes PTX modules out of a fuzzer's bytes.
//
// Every byte decides between alternatives, so that a small change of the bytes is a small change of
// the module. The first alternative is the simplest one, and it is taken once the bytes are used
// up. A module is right in most places and wrong in some: how often is decided once per module,
// because a module with one wrong instruction does not load and so runs nothing.

#pragma once

#include "fuzz/ptx_forms.hpp"
#include "support/row_text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

namespace cuprum::emulator::test {

/// Makes decisions from bytes.
class Choices {
public:
    explicit Choices(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

    /// Returns a number below `end`, 0 when no bytes are left.
    [[nodiscard]] std::size_t below(std::size_t end) {
        std::size_t number = next();
        if (end > 256) {
            number = number << 8 | next();
        }
        return number % end;
    }

    /// Returns true once in `count` times; never when no bytes are left.
    [[nodiscard]] bool one_in(std::size_t count) { return below(count) == count - 1; }

    template <typename Container>
    [[nodiscard]] decltype(auto) pick(const Container& container) {
        return container[below(std::size(container))];
    }

    [[nodiscard]] bool is_used_up() const noexcept { return position_ >= bytes_.size(); }

private:
    std::uint8_t next() { return is_used_up() ? 0 : bytes_[position_++]; }

    std::span<const std::uint8_t> bytes_;
    std::size_t position_ = 0;
};

/// A module, and what must come of it.
struct WrittenModule {
    std::string text;
    bool is_refused = false;    // it does not load
    bool faults = false;        // its kernel OUTSIDE_KERNEL faults
    bool is_repetitive = false; // its length grows with the scale
};

/// The kernel that accesses what no block has.
constexpr std::string_view OUTSIDE_KERNEL = "outside";

/// Writes one module.
class PTXGrammar {
public:
    /// A long kernel repeats its statements `scale` times as often.
    explicit PTXGrammar(std::span<const std::uint8_t> bytes, std::size_t scale = 1)
        : choices_(bytes), scale_(scale) {}

    /// Returns the module. `suffix` is part of the names of its kernels and visible functions.
    [[nodiscard]] WrittenModule module(std::string_view suffix = "") {
        suffix_ = suffix;
        // Seldom ones come first: modules of a few bytes have none of them.
        const std::size_t peculiarity = choices_.below(2048);
        const bool has_outside = peculiarity % 16 == 15;
        must_break_ = peculiarity % 16 == 14;
        repeats_ = peculiarity == 2032;
        constexpr std::size_t SELDOM[] = {0, 0, 0, 200, 40, 8}; // 0: never
        wrong_one_in_ = choices_.pick(SELDOM);
        if (has_outside || repeats_) {
            wrong_one_in_ = 0; // the rest of the module must load
        }
        head();
        for (std::size_t left = choices_.below(5); left != 0; --left) {
            variable();
        }
        // What the instructions name.
        text_ += ".global .align 16 .b8 g0[1024];\n.const .align 16 .b32 c0[16] = {1, 2, 3};\n"
                 ".shared .align 16 .b8 sh0[1024];\n.extern .shared .align 16 .b8 dynamic[];\n";
        text_ += ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n"
                 ".extern .func (.param .b64 r) malloc (.param .b64 size);\n"
                 ".extern .func free (.param .b64 pointer);\n";
        // What kernels that launch kernels call in the end; builtins/device_runtime.cpp has it too.
        text_ += ".extern .func (.param .b64 r) __cuprum_make_launch (.param .b64 kernel);\n"
                 ".extern .func (.param .b32 r) __cuprum_launch (.param .b64 header, "
                 ".param .b64 stream);\n"
                 ".extern .func (.param .b32 r) __cuprum_copy (.param .b64 to, .param .b64 from, "
                 ".param .b64 bytes, .param .b64 stream);\n"
                 ".extern .func (.param .b32 r) __cuprum_fill (.param .b64 to, .param .b32 value, "
                 ".param .b64 bytes, .param .b64 stream);\n"
                 ".extern .func (.param .b32 r) __cuprum_ask_launcher (.param .b32 question);\n";
        function_count_ = choices_.below(4);
        for (std::size_t index = 0; index < function_count_; ++index) {
            function_head(index);
            text_ += ";\n";
        }
        for (std::size_t index = 0; index < function_count_; ++index) {
            function_head(index);
            body();
        }
        // What has to load has no random kernels beside it.
        const std::size_t kernels = has_outside || repeats_ ? 0 : 1 + choices_.below(2);
        for (std::size_t index = 0; index < kernels; ++index) {
            kernel(index);
        }
        if (has_outside) {
            outside_kernel();
        }
        if (repeats_) {
            repetitive_kernel();
        }
        if (!has_outside && !repeats_ && wrong()) {
            garble();
            is_refused_ = false; // what was broken may be gone
        }
        return {.text = std::move(text_),
                .is_refused = is_refused_,
                .faults = has_outside && wrong_one_in_ == 0,
                .is_repetitive = repeats_ && wrong_one_in_ == 0};
    }

private:
    [[nodiscard]] bool wrong() { return wrong_one_in_ != 0 && choices_.one_in(wrong_one_in_); }

    void number(std::size_t value) { text_ += std::to_string(value); }

    // ---- the module -----------------------------------------------------------------------------

    void head() {
        constexpr std::string_view VERSIONS[] = {"8.0", "8.8", "9.0", "7.0", "9.4", "12.7", "1.0"};
        constexpr std::string_view TARGETS[] = {"sm_80",   "sm_90",   "sm_90a", "sm_70",
                                                "sm_100f", "sm_120a", "sm_121"};
        text_ += ".version ";
        text_ += wrong() ? choices_.pick(VERSIONS) : VERSIONS[choices_.below(4)];
        text_ += "\n.target ";
        text_ += wrong() ? choices_.pick(TARGETS) : TARGETS[choices_.below(4)];
        text_ += wrong() ? ", texmode_independent, debug\n" : "\n";
        text_ += wrong() ? ".address_size 32\n" : ".address_size 64\n";
        if (choices_.one_in(16)) {
            text_ += ".file 1 \"a.cu\"\n.pragma \"nounroll\";\n";
        }
    }

    void type(bool may_be_wrong) {
        constexpr std::string_view TYPES[] = {"b32", "u64", "b8",   "f32",   "s16",  "f64",
                                              "u8",  "b16", "b128", "f16x2", "bf16", "pred"};
        text_ += " .";
        text_ += may_be_wrong ? choices_.pick(TYPES) : TYPES[choices_.below(8)];
    }

    void alignment() {
        if (choices_.one_in(3)) {
            text_ += " .align ";
            text_ += wrong() ? choices_.pick(EDGES) : ALIGNMENTS[choices_.below(4)];
        }
    }

    /// Writes dimensions. Returns the number of elements, 0 for a scalar.
    std::size_t dimensions() {
        std::size_t elements = 0;
        for (std::size_t left = choices_.below(4); left != 0; --left) {
            text_ += "[";
            if (wrong()) {
                text_ += choices_.pick(EDGES);
            } else {
                const std::size_t extent = 1 + choices_.below(9);
                elements = extent * (elements == 0 ? 1 : elements);
                number(extent);
            }
            text_ += "]";
        }
        return elements;
    }

    void initial_value(std::size_t depth) {
        switch (choices_.below(depth < 4 ? 8 : 6)) {
        case 0:
            number(choices_.below(300));
            break;
        case 1:
            text_ += "0f3F800000";
            break;
        case 2:
            text_ += "-1.5";
            break;
        case 3:
            text_ += choices_.pick(EDGES);
            break;
        case 4:
            text_ += choices_.one_in(2) ? "generic(g0)+4" : "g0";
            break;
        case 5:
            text_ += choices_.one_in(2) ? "0xff(g0)" : "f0";
            break;
        default:
            text_ += "{";
            for (std::size_t left = choices_.below(5); left != 0; --left) {
                initial_value(depth + 1);
                text_ += left == 1 ? "" : ", ";
            }
            text_ += "}";
            break;
        }
    }

    void variable() {
        constexpr std::string_view SPACES[] = {".global", ".const", ".shared", ".global",
                                               ".local",  ".param", ".reg"};
        constexpr std::string_view LINKAGES[] = {"", ".visible ", ".weak ", ".common ", ".extern "};
        text_ += LINKAGES[choices_.below(wrong() ? 5 : 3)];
        const std::string_view space = wrong() ? choices_.pick(SPACES) : SPACES[choices_.below(4)];
        text_ += space;
        alignment();
        if (choices_.one_in(8)) {
            text_ += wrong() ? " .v8" : wrong() ? " .v4" : " .v2";
        }
        if (space == ".global" && choices_.one_in(16)) {
            text_ += " .attribute(.managed)";
        }
        type(wrong());
        text_ += " v";
        number(variable_count_++);
        text_ += suffix_;
        const std::size_t elements = dimensions();
        if (choices_.one_in(2) && (space != ".shared" || wrong())) {
            text_ += " = ";
            if (wrong()) {
                initial_value(0);
            } else if (elements == 0) {
                number(choices_.below(300));
            } else {
                values(1 + choices_.below(elements));
            }
        }
        text_ += ";\n";
    }

    void values(std::size_t count) {
        text_ += "{";
        for (; count != 0; --count) {
            number(choices_.below(300));
            text_ += count == 1 ? "}" : ", ";
        }
    }

    void function_head(std::size_t index) {
        // The same head wherever the function is mentioned, unless it is to be wrong.
        text_ += index != 0 ? ".func" : wrong() ? ".common .func" : ".visible .func";
        text_ += index % 2 == 0 ? " (.param .b32 ret) " : " ";
        text_ += "f";
        number(index);
        text_ += index == 0 ? suffix_ : "";
        text_ += wrong() ? "(.reg .b32 p0, .param .b8 p2[])"
                         : "(.param .b64 p0, .param .align 8 .b8 p2[16], .param .b32 p1)";
    }

    void kernel(std::size_t index) {
        text_ += ".visible .entry k";
        number(index);
        text_ += suffix_;
        text_ += "(.param .u64 p0, .param .u32 p1, .param .align 8 .b8 p2[24]";
        if (choices_.one_in(4)) {
            text_ += ", .param";
            alignment();
            type(wrong());
            text_ += " p3";
            dimensions();
        }
        text_ += ")";
        constexpr std::string_view DIRECTIVES[] = {"",
                                                   " .maxntid 32, 1, 1",
                                                   " .reqntid 32",
                                                   " .minnctapersm 2",
                                                   " .maxnreg 64",
                                                   " .reqnctapercluster 1, 1, 1",
                                                   " .explicitcluster",
                                                   " .maxntid 4294967295, 4294967295, 2"};
        text_ += DIRECTIVES[choices_.below(wrong() ? 8 : 5)];
        is_in_kernel_ = true; // functions that nothing calls are not compiled
        body();
        is_in_kernel_ = false;
    }

    /// Writes a kernel whose only access to shared memory is far outside of it.
    void outside_kernel() {
        constexpr std::string_view DISTANCES[] = {
            "524288",   "1048576",  "262144",     "4718592",    "8912896",
            "16777216", "17301504", "2147483648", "4294443008", "4294967296"};
        text_ += ".visible .entry ";
        text_ += OUTSIDE_KERNEL;
        text_ += suffix_;
        text_ += "(.param .u64 p0, .param .u32 p1, .param .align 8 .b8 p2[24])\n{\n"
                 ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<8>; .reg .b64 %d<8>; "
                 ".reg .b128 %b<2>; .reg .f32 %f<4>; .reg .f64 %e<4>;\n"
                 "ld.param.u64 %d0, [p0]; mov.u64 %d2, %d0; mov.u64 %d3, 16; mov.u64 %d4, 1; "
                 "mov.u64 %d5, 2; mov.u64 %d6, 3; mov.u64 %d7, 4; mov.u32 %r0, %tid.x; "
                 "mov.u32 %r2, 2; mov.u32 %r3, 3; mov.u32 %r4, 4; mov.u32 %r5, 5; mov.u32 %r6, 6; "
                 "mov.u32 %r7, 7; mov.pred %p2, 0;\n"
                 "mov.u64 %d1, sh0; add.u64 %d1, %d1, ";
        const std::string_view distance = choices_.pick(DISTANCES);
        text_ += distance;
        // A multiple of 2^32 is no distance for 32 bits.
        text_ += distance == DISTANCES[9] ? "; mov.u32 %r1, 524288; " : "; cvt.u32.u64 %r1, %d1; ";
        text_ += "cvta.shared.u64 %d1, %d1;\n";
        form(choices_.pick(OUTSIDE_PTX_FORMS));
        text_ += ";\n";
        // Everything that may have been read is used.
        text_ += "st.global.v4.u32 [%d0], { %r2, %r3, %r4, %r5 }; st.global.u64 [%d0+16], %d3; "
                 "selp.u32 %r2, 1, 0, %p2; st.global.u32 [%d0+32], %r2; "
                 "st.global.v2.u64 [%d0+48], { %d4, %d5 }; st.global.v2.u64 [%d0+64], { %d6, %d7 };"
                 "\nret;\n}\n";
    }

    /// Writes a kernel that repeats a few statements very often.
    void repetitive_kernel() {
        constexpr std::size_t LEAST = 500;
        std::array<std::string_view, 3> repeated;
        const std::size_t kinds = 1 + choices_.below(repeated.size());
        for (std::size_t i = 0; i < kinds; ++i) {
            repeated[i] = choices_.pick(REPEATED_PTX);
        }
        const std::size_t count = LEAST * (1 + choices_.below(4)) * scale_;
        text_ += ".func (.param .b32 ret) repeated(.param .b64 p0, .param .align 8 .b8 p2[16], "
                 ".param .b32 p1) {\n"
                 ".reg .b32 %r<2>; ld.param.b32 %r0, [p1]; st.param.b32 [ret], %r0; ret; }\n"
                 ".visible .entry repetitive";
        text_ += suffix_;
        text_ += "(.param .u64 p0, .param .u32 p1, .param .align 8 .b8 p2[24])";
        body_head();
        for (std::size_t number = 0; number < count; ++number) {
            const std::string name = std::to_string(number);
            for (std::size_t i = 0; i < kinds; ++i) {
                for (std::size_t at = 0; at < repeated[i].size(); ++at) {
                    if (repeated[i].substr(at).starts_with("@#")) {
                        text_ += name + "k" + std::to_string(i);
                        ++at;
                    } else if (repeated[i][at] == '#') {
                        text_ += name;
                    } else {
                        text_ += repeated[i][at];
                    }
                }
            }
            text_ += "\n";
        }
        text_ += "L0:\nL1:\nL2:\nst.global.u32 [%d0], %r2; st.global.f32 [%d0], %f0; ret;\n}\n";
    }

    // ---- bodies ---------------------------------------------------------------------------------

    void body() {
        body_head();
        const std::size_t labels = 3;
        for (std::size_t label = 0; label < labels; ++label) {
            statements(choices_.below(14), 0);
            text_ += "L";
            number(label);
            text_ += ":\n";
        }
        statements(choices_.below(6), 0);
        text_ += "ret;\n}\n";
    }

    void body_head() {
        text_ += "\n{\n.reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<8>; .reg .b64 %d<8>; "
                 ".reg .b128 %b<2>;\n.reg .f32 %f<4>; .reg .f64 %e<4>; .reg .v4 .f32 %v; "
                 ".local .align 16 .b8 lo0[256];\n";
        text_ += "ld.param.u64 %d0, [p0]; mov.u64 %d1, g0; mov.u32 %r0, %tid.x; mov.u32 %r1, sh0; "
                 "mov.u64 %d2, lo0; "
                 "setp.lt.u32 %p0, %r0, 7; setp.eq.u32 %p1, %r0, 31;\n";
        // No register is read before it is written, so that a run can be repeated.
        text_ += "mov.pred %p2, %p0; mov.pred %p3, %p1; mov.b16 %h0, 1; mov.b16 %h1, -1; "
                 "mov.b16 %h2, 0x3c00; mov.b16 %h3, 32; add.u32 %r2, %r0, 1; mov.u32 %r3, 2; "
                 "mov.u32 %r4, -1; mov.u32 %r5, 0xffff; mov.u32 %r6, 0; mov.u32 %r7, %laneid; "
                 "mov.u64 %d3, 16; mov.u64 %d4, -8; mov.u64 %d5, 0; add.u64 %d6, %d0, 64; "
                 "cvt.u64.u32 %d7, %r0; mov.b128 %b0, { %d3, %d4 }; mov.b128 %b1, { %d0, %d5 }; "
                 "mov.f32 %f0, 0f3F800000; mov.f32 %f1, 0f7FC00000; mov.f32 %f2, 0f00000001; "
                 "cvt.rn.f32.u32 %f3, %r0; mov.f64 %e0, 0d3FF0000000000000; mov.f64 %e1, %e0; "
                 "mov.f64 %e2, 0d7FF0000000000000; cvt.f64.f32 %e3, %f3; "
                 "mov.v4.f32 %v, { %f0, %f1, %f2, %f3 };\n";
        text_ +=
            "targets: .branchtargets L0, L1, L2;\n"
            "proto: .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 8 .b8 _[16], "
            ".param .b32 _);\n";
    }

    void statements(std::size_t count, std::size_t depth) {
        for (; count != 0; --count) {
            switch (choices_.below(24)) {
            case 20:
                element();
                break;
            case 21:
                call();
                break;
            case 22:
                if (depth < 3) {
                    text_ += "{ .reg .b32 %r<8>; mov.u32 %r0, 3; mov.u32 %r1, sh0; ";
                    text_ += wrong() ? ".reg .v2 .u64 %v; .shared .b32 inner[4];\n" : "\n";
                    statements(choices_.below(5), depth + 1);
                    text_ += "}\n";
                }
                break;
            case 23:
                declaration();
                break;
            default:
                instruction();
                break;
            }
        }
    }

    void declaration() {
        switch (choices_.below(wrong() ? 7 : 3)) {
        case 0:
            text_ += ".loc 1 12 3\n";
            break;
        case 1:
            text_ += ".pragma \"nounroll\";\n";
            break;
        case 2:
            text_ += ".local .b32 x";
            number(variable_count_++);
            dimensions();
            text_ += ";\n";
            break;
        case 3:
            text_ += ".reg .v8 .b32 %w;\n";
            break;
        case 4:
            text_ += ".reg .b32 %r<1000>;\n";
            break;
        case 5:
            text_ += ".param .align 64 .b8 q[100];\n";
            break;
        default:
            text_ += "L0:\n";
            break;
        }
    }

    /// Accesses an element of an array, or takes its address.
    void element() {
        constexpr std::string_view SPACES[] = {".global", ".shared", ".local", ""};
        constexpr std::string_view ARRAYS[] = {"g0", "sh0", "lo0"};
        constexpr std::string_view INDEXES[] = {"%r0", "%r3", "%d7", "%d3", "%h3", "%r4", "%f0"};
        const std::size_t array = choices_.below(3);
        std::string place(ARRAYS[array]);
        place += "[";
        if (choices_.one_in(4)) {
            place += std::to_string(choices_.below(300));
        } else {
            place += INDEXES[choices_.below(wrong() ? 7 : 6)];
            place += choices_.one_in(4) ? "+2]" : "]";
        }
        place += place.back() == ']' ? "" : "]";
        guard();
        switch (choices_.below(3)) {
        case 0:
            text_ += "ld" + std::string(SPACES[choices_.one_in(4) ? 3 : array]) + ".u8 %r6, " +
                     place + ";\n";
            break;
        case 1:
            text_ += "st" + std::string(SPACES[choices_.one_in(4) ? 3 : array]) + ".u8 " + place +
                     ", %r0;\n";
            break;
        default:
            text_ += (choices_.one_in(2) ? "mov.u64 %d5, " : "mov.u32 %r6, ") + place + ";\n";
            break;
        }
    }

    void guard() {
        constexpr std::string_view GUARDS[] = {"", "", "", "@%p0 ", "@!%p1 ", "@%p2 ", "@%r0 "};
        text_ += GUARDS[choices_.below(wrong() ? 7 : 6)];
    }

    void call() {
        const std::size_t index = choices_.below(function_count_ == 0 ? 1 : function_count_ + 1);
        text_ += "{ .param .b32 ret1; .param .b64 a1; .param .align 8 .b8 s1[16]; .param .b32 n1; "
                 ".param .b64 big;\nst.param.b64 [a1], %d0; st.param.b64 [s1+8], %d1; "
                 "st.param.b32 [n1], %r2;\n";
        guard();
        if (index == function_count_) {
            constexpr std::string_view BUILTINS[] = {
                "call (ret1), vprintf, (a1, a1);",
                "call (big), malloc, (a1);",
                "call free, (a1);",
                "call (big), __cuprum_make_launch, (a1);",
                "call (ret1), __cuprum_launch, (a1, a1);",
                "st.param.b64 [big], 64; call (ret1), __cuprum_copy, (a1, a1, big, a1);",
                "st.param.b64 [big], %d1; call (ret1), __cuprum_fill, (a1, n1, big, a1);",
                "call (ret1), __cuprum_ask_launcher, (n1);",
                "call (ret1), %d3, (a1, s1, n1), proto;",
                "call (ret1), vprintf, (a1);",
                "call (n1), nothing, ();",
            };
            if (choices_.one_in(4)) {
                launch();
            } else {
                text_ += BUILTINS[choices_.below(wrong() ? std::size(BUILTINS) : 8)];
            }
        } else {
            text_ += wrong()          ? "call.uni (a1), f"
                     : index % 2 == 0 ? "call.uni (ret1), f"
                                      : "call f";
            number(index);
            text_ += index == 0 ? suffix_ : "";
            text_ += wrong() ? ", (s1, 5);" : ", (a1, s1, n1);";
        }
        text_ += "\nld.param.b32 %r3, [ret1]; }\n";
    }

    /// Writes a launch of the first kernel. Its shape is of small or of any numbers.
    void launch() {
        // In a loop, launches of all lanes would take too long.
        text_ += "mov.u32 %r3, %laneid; setp.gt.u32 %p2, %r3, 1; @%p2 bra LAUNCHED;\n"
                 "mov.u64 %d0, k0";
        text_ += suffix_;
        text_ += "; st.param.b64 [a1], %d0;\ncall (big), __cuprum_make_launch, (a1);\n"
                 "ld.param.b64 %d0, [big]; st.param.b64 [a1], %d0;\n";
        for (std::size_t offset = 0; offset <= 24; offset += 4) { // of a LaunchHeader
            text_ += "st.global.b32 [%d0+";
            number(offset);
            text_ += wrong() ? "], %r2;\n" : "], 1;\n";
        }
        text_ += "call (ret1), __cuprum_launch, (a1, a1);\nLAUNCHED:";
    }

    // ---- instructions ---------------------------------------------------------------------------

    void instruction() {
        const std::size_t start = text_.size();
        guard();
        if (must_break_ && is_in_kernel_ && !is_refused_) {
            is_refused_ = true;
            wrong_one_in_ = 0; // another mistake might repair this one
            if (choices_.one_in(2)) {
                form(choices_.pick(REFUSED_PTX_FORMS));
                text_ += ";\n";
                return;
            }
            const std::size_t opcode = text_.size();
            any_form();
            add_unknown_modifier(opcode);
            text_ += ";\n";
            return;
        }
        if (wrong()) {
            form(choices_.pick(WRONG_PTX_FORMS));
        } else {
            any_form();
        }
        if (wrong()) {
            change_modifiers(start);
        }
        text_ += wrong() ? ", 1;\n" : ";\n";
    }

    void any_form() {
        const std::size_t chosen = choices_.below(std::size(PTX_FORMS) + row_patterns().size());
        if (chosen < std::size(PTX_FORMS)) {
            form(PTX_FORMS[chosen]);
        } else {
            row_form(row_patterns()[chosen - std::size(PTX_FORMS)]);
        }
    }

    /// Writes an instruction of a row.
    void row_form(const RowPattern& row) {
        RowText text{rows::Match(row.pattern), row.kinds};
        for (std::size_t i = 0; i < row.pattern.groups.size(); ++i) {
            text.match.choose(i, choices_.below(row.pattern.groups[i].words.size()));
        }
        const auto letter = [&](char kind, std::string_view letters) {
            const unsigned bits = text.bits_of(kind);
            return letters[bits == 1 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : 3];
        };
        text_ += text.instruction() + " ";
        operand(letter(text.result_kind(), "RHWQ"));
        const char result = text.result_kind();
        const bool may_be_pair = result == 'P' || result == 'V';
        if (result == 'B' || result == 'E' || (may_be_pair && choices_.one_in(4))) {
            text_ += "|";
            operand('R');
        }
        const std::string sources = text.source_kinds();
        for (std::size_t i = 0; i < sources.size(); ++i) {
            text_ += ", ";
            if (sources[i] == 'L') {
                number(choices_.below(256));
            } else {
                const bool is_mask = row.effect == rows::Effect::Meets && i + 1 == sources.size();
                operand(is_mask ? 'm' : letter(sources[i], "rhwq"));
            }
        }
    }

    /// Writes a form, with its alternatives and operands decided.
    void form(std::string_view pattern) {
        for (std::size_t i = 0; i < pattern.size(); ++i) {
            const char next = i + 1 < pattern.size() ? pattern[i + 1] : ' ';
            if (pattern[i] == '$') {
                operand(next);
                ++i;
            } else if (pattern[i] == '{' && next != ' ') {
                i = alternatives(pattern, i + 1);
            } else {
                text_ += pattern[i];
            }
        }
    }

    /// Writes one of the alternatives from `begin` on; returns where their brace closes.
    std::size_t alternatives(std::string_view pattern, std::size_t begin) {
        std::array<std::string_view, 16> found;
        std::size_t count = 0;
        std::size_t depth = 0;
        std::size_t i = begin;
        for (; i < pattern.size(); ++i) {
            const bool is_end = depth == 0 && pattern[i] == '}';
            const bool is_separator =
                depth == 0 && pattern[i] == ',' && i + 1 < pattern.size() && pattern[i + 1] != ' ';
            if ((is_end || is_separator) && count < found.size()) {
                found[count++] = pattern.substr(begin, i - begin);
                begin = i + 1;
            }
            if (is_end) {
                break;
            }
            depth += pattern[i] == '{' ? 1 : 0;
            depth -= pattern[i] == '}' ? 1 : 0;
        }
        form(found[choices_.below(count)]);
        return i;
    }

    void operand(char kind) {
        if (wrong()) {
            constexpr std::string_view KINDS = "HhWwQqRrBbgslcnikmtxyz";
            kind = choices_.pick(KINDS);
        }
        switch (kind) {
        case 'H':
        case 'W':
        case 'Q':
        case 'R':
        case 'B':
            destination(kind);
            break;
        case 'g':
            address("%d0", "g0", 1024);
            break;
        case 's':
            address("%r1", choices_.one_in(4) ? "dynamic" : "sh0", 1024);
            break;
        case 'l':
            address("lo0", "lo0", 256);
            break;
        case 'c':
            address("c0", "c0", 64);
            break;
        case 'n':
            address(choices_.one_in(3) ? "%d2" : "%d1", "%d0", 256);
            break;
        case 'i':
            number(choices_.below(wrong() ? 70000 : 16));
            break;
        case 'k':
            text_ += "%r";
            number(choices_.below(8));
            break;
        case 'm':
            text_ += choices_.one_in(4) ? "%r4" : choices_.one_in(4) ? "0xffff" : "-1";
            break;
        case 't':
            text_ += "L";
            number(choices_.below(wrong() ? 5 : 3));
            break;
        case 'x':
            text_ += choices_.pick(EDGES);
            break;
        case 'y':
            text_ += choices_.one_in(2) ? "%v" : "{ %r0, %r1 }";
            break;
        case 'z':
            text_ += choices_.one_in(2) ? "_" : "sh0+4";
            break;
        default:
            source(kind);
            break;
        }
    }

    void destination(char kind) {
        // The registers that hold addresses stay as they are, so that most accesses are good.
        switch (kind) {
        case 'H':
            text_ += "%h";
            number(choices_.below(4));
            break;
        case 'W':
            text_ += choices_.one_in(4) ? "%f" : "%r";
            number(2 + choices_.below(text_.back() == 'f' ? 2 : 6));
            break;
        case 'Q':
            text_ += choices_.one_in(8) ? "%e" : "%d";
            number(text_.back() == 'e' ? choices_.below(4) : 3 + choices_.below(5));
            break;
        case 'B':
            text_ += "%b";
            number(choices_.below(2));
            break;
        default:
            text_ += "%p";
            number(choices_.below(4));
            break;
        }
    }

    void source(char kind) {
        if (kind != 'r' && kind != 'b' && choices_.one_in(4)) {
            if (choices_.one_in(3)) {
                text_ += choices_.pick(EDGES);
            } else {
                number(choices_.below(40));
            }
            return;
        }
        constexpr std::string_view LETTERS = "hwqrb";
        constexpr std::string_view NAMES[] = {"%h", "%r", "%d", "%p", "%b"};
        constexpr std::size_t COUNTS[] = {4, 8, 8, 4, 2};
        const std::size_t index = LETTERS.find(kind);
        if (kind == 'w' && choices_.one_in(8)) {
            text_ += choices_.one_in(2) ? "%v.x" : "%f1";
            return;
        }
        text_ += NAMES[index];
        number(choices_.below(COUNTS[index]));
    }

    void address(std::string_view base, std::string_view symbol, std::size_t bytes) {
        text_ += "[";
        text_ += choices_.one_in(2) ? symbol : base;
        const std::size_t offset = choices_.below(bytes / 16) * 16;
        if (wrong()) {
            text_ += choices_.one_in(2) ? "+" : "-";
            text_ += choices_.pick(EDGES);
        } else if (offset != 0) {
            text_ += "+";
            number(choices_.one_in(16) ? offset + 1 : offset);
        }
        text_ += "]";
    }

    /// Adds a modifier that no instruction has to the one whose opcode starts at `start`.
    void add_unknown_modifier(std::size_t start) {
        const std::size_t end = std::min(text_.find_first_of(" ;", start), text_.size());
        std::size_t place = end;
        for (std::size_t left = choices_.below(6); left != 0; --left) {
            const std::size_t dot = text_.rfind('.', place - 1);
            place = dot == std::string::npos || dot <= start ? place : dot;
        }
        text_.insert(place, "." + std::string(choices_.pick(UNKNOWN_PTX_WORDS)));
    }

    /// Replaces, adds or removes a modifier of the instruction that starts at `start`.
    void change_modifiers(std::size_t start) {
        const std::size_t dot = text_.find('.', start);
        if (dot == std::string::npos) {
            return;
        }
        const std::size_t end = text_.find_first_of(". ,;", dot + 1);
        const std::string word = "." + std::string(choices_.pick(PTX_WORDS));
        const std::size_t length = (end == std::string::npos ? text_.size() : end) - dot;
        switch (choices_.below(3)) {
        case 0:
            text_.replace(dot, length, word);
            break;
        case 1:
            text_.insert(dot, word);
            break;
        default:
            text_.erase(dot, length);
            break;
        }
    }

    /// Leaves out, doubles or moves a piece of the text.
    void garble() {
        const std::size_t from = choices_.below(text_.size());
        const std::size_t length = choices_.below(64);
        const std::string piece = text_.substr(from, length);
        if (choices_.one_in(2)) {
            text_.erase(from, piece.size());
        }
        if (choices_.one_in(2)) {
            text_.insert(choices_.below(text_.size() + 1), piece);
        }
    }

    static constexpr std::string_view ALIGNMENTS[] = {"4", "16", "8", "128"};
    static constexpr std::string_view EDGES[] = {"0",
                                                 "1",
                                                 "-1",
                                                 "2147483647",
                                                 "2147483648",
                                                 "4294967295",
                                                 "4294967296",
                                                 "1099511627776",
                                                 "9223372036854775807",
                                                 "-9223372036854775808",
                                                 "0xffffffffffffffff",
                                                 "65536",
                                                 "3",
                                                 "0f7F800000",
                                                 "0dFFF0000000000000",
                                                 "(1<<63)>>70",
                                                 "1.0e30",
                                                 "WARP_SZ"};

    Choices choices_;
    std::size_t scale_ = 1;
    bool must_break_ = false; // one instruction of a kernel is one that is refused
    bool is_refused_ = false;
    bool is_in_kernel_ = false;
    bool repeats_ = false;
    std::string text_;
    std::string_view suffix_;
    std::size_t wrong_one_in_ = 0;
    std::size_t function_count_ = 0;
    std::size_t variable_count_ = 0;
};

} // namespace cuprum::emulator::test
