// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/readable_name.hpp"

#include <gtest/gtest.h>

#include <string>

namespace cuprum::detail {

TEST(ReadableName, is_the_name_in_the_source_without_parameters) {
    EXPECT_EQ(readable_name("scale"), "scale");
    EXPECT_EQ(readable_name("i"), "i"); // a kernel's name, although "i" is the mangled int
    EXPECT_EQ(readable_name("_Z4zeroIdEvPT_"), "zero<double>");
    EXPECT_EQ(readable_name("_Z5scaleIfEvPT_S0_"), "scale<float>");
    EXPECT_EQ(readable_name("_ZN5model4stepEPfi"), "model::step");
    EXPECT_EQ(readable_name("_ZN12_GLOBAL__N_14stepEv"), "(anonymous namespace)::step");
    EXPECT_EQ(readable_name("_Z_no_such_name"), "_Z_no_such_name");
}

TEST(ReadableName, of_a_variable_names_its_function) {
    EXPECT_EQ(readable_name("_ZZ3sumE7partial"), "sum::partial");
    EXPECT_EQ(readable_name("_ZZ4zeroIdEvPT_E4tile"), "zero<double>::tile");
}

TEST(ReadableName, leaves_out_tags_and_the_end_of_long_names) {
    EXPECT_EQ(
        readable_name(
            "_ZN8__main__3addB2v1B40cw51cXTLSUwv1sCUt9Uw1VEw0NRRQPKiLTj0gIGIE5ArrayIfLi1E1CE"),
        "__main__::add");
    EXPECT_EQ(readable_name(std::string(120, 'a')), std::string(120, 'a'));
    EXPECT_EQ(readable_name(std::string(121, 'a')), std::string(117, 'a') + "...");
}

} // namespace cuprum::detail
