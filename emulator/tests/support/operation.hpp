// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Runs one PTX instruction on a list of operands, one element per thread, and returns the results.
// Every run is made twice: with all lanes, and guarded by a predicate, where the other lanes must
// keep their values.

#pragma once

#include "decode/levels.hpp"
#include "exec/harness.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace cuprum::emulator::test {

/// A predicate operand: 32 bits in memory, where any value but zero means true.
struct Bool {
    std::uint32_t value = 0;

    friend bool operator==(Bool a, Bool b) { return (a.value != 0) == (b.value != 0); }
};

inline std::ostream& operator<<(std::ostream& out, Bool value) {
    return out << (value.value != 0 ? "true" : "false");
}

namespace detail {

template <typename T>
constexpr const char* register_type() {
    if constexpr (std::is_same_v<T, Bool>) {
        return ".pred";
    } else if constexpr (sizeof(T) == 2) {
        return ".b16";
    } else if constexpr (sizeof(T) == 4) {
        return ".b32";
    } else {
        return ".b64";
    }
}

/// Returns PTX that loads operand `name` of element %i.
template <typename T>
std::string load_operand(const std::string& name) {
    const std::string size = std::to_string(sizeof(T));
    std::string text = "ld.param.u64 %p_" + name + ", [p" + name + "];\n" + "mad.wide.u32 %p_" +
                       name + ", %i, " + size + ", %p_" + name + ";\n";
    if constexpr (std::is_same_v<T, Bool>) {
        text += "ld.global.u32 %w, [%p_" + name + "];\nsetp.ne.u32 %" + name + ", %w, 0;\n";
    } else {
        text +=
            "ld.global.b" + std::to_string(sizeof(T) * 8) + " %" + name + ", [%p_" + name + "];\n";
    }
    return text;
}

template <typename T>
std::string declare(const std::string& name) {
    return std::string(".reg ") + register_type<T>() + " %" + name + ";\n.reg .b64 %p_" + name +
           ";\n";
}

} // namespace detail

/// Runs `code`, which reads %a, %b, %c and writes %d, on each tuple of inputs.
///
/// `code` may contain several instructions; "@G" marks the place of the guard in a guarded run.
template <typename D, typename... S>
std::vector<D> run_operation(const std::string& code, const std::vector<std::tuple<S...>>& inputs,
                             const std::string& declarations = "") {
    const char* const names[] = {"a", "b", "c", "e"};
    std::string text = ".visible .entry k(.param .u64 pd, .param .u64 pa, .param .u64 pb, "
                       ".param .u64 pc, .param .u64 pe, .param .u32 n)\n{\n"
                       ".reg .b32 %i, %w, %t, %n, %l;\n.reg .pred %out, %g;\n" +
                       detail::declare<D>("d") + declarations;
    std::size_t index = 0;
    ((text += detail::declare<S>(names[index++])), ...);
    text += "mov.u32 %i, %ctaid.x;\nmov.u32 %t, %ntid.x;\nmov.u32 %l, %tid.x;\n"
            "mad.lo.u32 %i, %i, %t, %l;\nld.param.u32 %n, [n];\nsetp.ge.u32 %out, %i, %n;\n"
            "@%out bra DONE;\n";
    index = 0;
    ((text += detail::load_operand<S>(names[index++])), ...);
    text += detail::load_operand<D>("d");
    text += "rem.u32 %w, %i, 3;\nsetp.ne.u32 %g, %w, 0;\n";
    std::string guarded = text;
    for (std::string* version : {&text, &guarded}) {
        std::string body = code;
        if (body.find("@G") == std::string::npos) {
            body = "@G " + body;
        }
        for (std::size_t at = body.find("@G"); at != std::string::npos; at = body.find("@G")) {
            body.replace(at, 2, version == &guarded ? "@%g" : "");
        }
        *version += body + "\n";
        if constexpr (std::is_same_v<D, Bool>) {
            *version += "selp.u32 %w, 1, 0, %d;\nst.global.u32 [%p_d], %w;\n";
        } else {
            *version += "st.global.b" + std::to_string(sizeof(D) * 8) + " [%p_d], %d;\n";
        }
        *version += "DONE:\nret;\n}\n";
    }

    const auto run_version = [&](const std::string& source) {
        TestDevice device;
        const std::size_t count = inputs.size();
        D* const d = device.allocate<D>(count);
        std::memset(static_cast<void*>(d), 0, count * sizeof(D));
        std::uint64_t addresses[4] = {};
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            (
                [&] {
                    auto* const values = device.allocate<S>(count);
                    for (std::size_t i = 0; i < count; ++i) {
                        values[i] = std::get<I>(inputs[i]);
                    }
                    addresses[I] = reinterpret_cast<std::uint64_t>(values);
                }(),
                ...);
        }(std::index_sequence_for<S...>{});
        const Fault fault = run(
            device, source, {.grid = static_cast<std::uint32_t>((count + 63) / 64), .block = 64},
            reinterpret_cast<std::uint64_t>(d), addresses[0], addresses[1], addresses[2],
            addresses[3], static_cast<std::uint32_t>(count));
        EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
        return std::vector<D>(d, d + count);
    };
    const std::vector<D> results = run_version(text);
    const std::vector<D> masked = run_version(guarded);
    D zero;
    std::memset(static_cast<void*>(&zero), 0, sizeof zero);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const D& expected = i % 3 != 0 ? results[i] : zero;
        EXPECT_EQ(std::memcmp(&masked[i], &expected, sizeof(D)), 0)
            << "element " << i << " of '" << code << "' under a guard";
    }
    return results;
}

/// Combines every value with every other.
template <typename A>
std::vector<std::tuple<A>> each(const std::vector<A>& a) {
    std::vector<std::tuple<A>> result;
    for (const A& x : a) {
        result.emplace_back(x);
    }
    return result;
}

template <typename A, typename B>
std::vector<std::tuple<A, B>> each(const std::vector<A>& a, const std::vector<B>& b) {
    std::vector<std::tuple<A, B>> result;
    for (const A& x : a) {
        for (const B& y : b) {
            result.emplace_back(x, y);
        }
    }
    return result;
}

template <typename A, typename B, typename C>
std::vector<std::tuple<A, B, C>> each(const std::vector<A>& a, const std::vector<B>& b,
                                      const std::vector<C>& c) {
    std::vector<std::tuple<A, B, C>> result;
    for (const A& x : a) {
        for (const B& y : b) {
            for (const C& z : c) {
                result.emplace_back(x, y, z);
            }
        }
    }
    return result;
}

/// Runs `code` on the inputs and compares each result with `reference(inputs...)`.
template <typename D, typename... S, typename Reference>
void expect_operation(const std::string& code, const std::vector<std::tuple<S...>>& inputs,
                      Reference reference, const std::string& declarations = "") {
    const std::vector<D> results = run_operation<D>(code, inputs, declarations);
    int failures = 0;
    for (std::size_t i = 0; i < inputs.size() && failures < 5; ++i) {
        const D expected = std::apply(reference, inputs[i]);
        if (std::is_same_v<D, Bool> ? !(results[i] == expected)
                                    : std::memcmp(&results[i], &expected, sizeof(D)) != 0) {
            ++failures;
            std::string operands;
            std::apply(
                [&](const auto&... values) {
                    (
                        [&] {
                            std::uint64_t bits = 0;
                            std::memcpy(&bits, &values, sizeof values);
                            char text[32];
                            std::snprintf(text, sizeof text, " 0x%llx",
                                          static_cast<unsigned long long>(bits));
                            operands += text;
                        }(),
                        ...);
                },
                inputs[i]);
            std::uint64_t got = 0;
            std::uint64_t want = 0;
            std::memcpy(&got, &results[i], sizeof(D));
            std::memcpy(&want, &expected, sizeof(D));
            ADD_FAILURE() << code << " on" << operands << std::hex << " gives 0x" << got
                          << ", expected 0x" << want;
        }
    }
}

/// Runs each test on every instruction-set level of this machine.
class OnEveryLevel : public testing::TestWithParam<const char*> {
protected:
    ~OnEveryLevel() override { (void)use_selectors_of(nullptr); } // not for the tests that follow

    void SetUp() override {
        if (!use_selectors_of(GetParam())) {
            GTEST_SKIP() << "no handlers for level " << GetParam() << " here";
        }
    }
};

#if defined(__x86_64__)
inline const auto LEVELS = testing::Values("v2", "v3", "v4");
#else
inline const auto LEVELS = testing::Values("generic");
#endif

} // namespace cuprum::emulator::test
