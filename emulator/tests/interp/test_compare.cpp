// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// setp of floats. test_rows.cpp has the rest.

#include "support/operation.hpp"

#include <bit>
#include <cmath>

namespace cuprum::emulator::test {

namespace {

using U = std::uint32_t;

class CompareOperations : public OnEveryLevel {};

INSTANTIATE_TEST_SUITE_P(levels, CompareOperations, LEVELS);

template <typename T>
void check_floats(const std::string& type) {
    const T nan = std::numeric_limits<T>::quiet_NaN();
    const std::vector<T> values{0, T(-0.0), 1, -1, T(INFINITY), -T(INFINITY), nan, T(1e-40)};
    const auto check = [&](const std::string& op, auto holds) {
        const auto pairs = each(values, values);
        const auto results = run_operation<Bool>("setp." + op + "." + type + " %d, %a, %b;", pairs);
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            const auto [a, b] = pairs[i];
            EXPECT_EQ(results[i].value != 0, holds(a, b)) << op << ' ' << a << ' ' << b;
        }
    };
    const auto unordered = [](T a, T b) { return a != a || b != b; };
    check("eq", [](T a, T b) { return a == b; });
    check("ne", [&](T a, T b) { return !unordered(a, b) && a != b; });
    check("lt", [](T a, T b) { return a < b; });
    check("le", [](T a, T b) { return a <= b; });
    check("gt", [](T a, T b) { return a > b; });
    check("ge", [](T a, T b) { return a >= b; });
    check("equ", [&](T a, T b) { return unordered(a, b) || a == b; });
    check("neu", [](T a, T b) { return a != b; });
    check("ltu", [&](T a, T b) { return unordered(a, b) || a < b; });
    check("leu", [&](T a, T b) { return unordered(a, b) || a <= b; });
    check("gtu", [&](T a, T b) { return unordered(a, b) || a > b; });
    check("geu", [&](T a, T b) { return unordered(a, b) || a >= b; });
    check("num", [&](T a, T b) { return !unordered(a, b); });
    check("nan", [&](T a, T b) { return unordered(a, b); });
}

TEST_P(CompareOperations, floats_ordered_and_unordered) {
    check_floats<float>("f32");
    check_floats<double>("f64");
}

TEST_P(CompareOperations, ftz_makes_subnormals_equal_to_zero) {
    expect_operation<Bool>("setp.eq.ftz.f32 %d, %a, %b;",
                           std::vector<std::tuple<U, U>>{{1, 0}, {0x80000001, 0x007fffff}},
                           [](U, U) { return Bool{1}; });
    expect_operation<Bool>("setp.eq.f32 %d, %a, %b;", std::vector<std::tuple<U, U>>{{1, 0}},
                           [](U, U) { return Bool{0}; });
}

} // namespace

} // namespace cuprum::emulator::test
