// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/parameter_kinds.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace cuprum::detail {

namespace {

using enum ParameterKind;
using Parameters = std::vector<DeclaredParameter>;

constexpr DeclaredParameter POINTER{Pointer, 8};
constexpr DeclaredParameter FLOAT{Float, 4};
constexpr DeclaredParameter DOUBLE{Float, 8};
constexpr DeclaredParameter INT{Integer, 4};
constexpr DeclaredParameter LONG{Integer, 8};
constexpr DeclaredParameter STRUCTURE{};

constexpr const char* PTX = R"(
//
// .visible .entry commented(.param .f64 x)
.version 9.0
.target sm_90
.address_size 64
.visible .entry saxpy_longer(
	.param .f64 saxpy_longer_param_0
)
{ ret; }
	// .globl	saxpy
.visible .entry saxpy(
	.param .f32 saxpy_param_0, // a factor
	.param .u64 .ptr .align 1 saxpy_param_1,
	.param .u64 saxpy_param_2,
	.param .align 8 .b8 saxpy_param_3[24],
	.param .s16 saxpy_param_4,
	.param .b32 saxpy_param_5
)
.maxntid 128
{ ret; }
.weak .entry nothing()
{ ret; }
.entry bare
{ ret; }
.visible .entry odd(.reg .f32 x)
{ ret; })";

} // namespace

TEST(ParameterKinds, ptx_declares_them) {
    EXPECT_EQ(parameters_in_ptx(PTX, "saxpy"),
              (Parameters{FLOAT, POINTER, LONG, {Unknown, 24}, {Integer, 2}, {Unknown, 4}}));
    EXPECT_EQ(parameters_in_ptx(PTX, "saxpy_longer"), Parameters{DOUBLE});
    EXPECT_EQ(parameters_in_ptx(PTX, "nothing"), Parameters{});
    EXPECT_EQ(parameters_in_ptx(PTX, "bare"), Parameters{});
}

TEST(ParameterKinds, ptx_without_the_kernel_gives_no_kinds) {
    EXPECT_EQ(parameters_in_ptx(PTX, "absent"), std::nullopt);
    EXPECT_EQ(parameters_in_ptx(PTX, "saxp"), std::nullopt);
    EXPECT_EQ(parameters_in_ptx(PTX, "commented"), std::nullopt);
    EXPECT_EQ(parameters_in_ptx(PTX, "odd"), std::nullopt);
    EXPECT_EQ(parameters_in_ptx(".visible .entry cut(.param .f32", "cut"), std::nullopt);
    EXPECT_EQ(parameters_in_ptx("", "any"), std::nullopt);
}

TEST(ParameterKinds, mangled_names_list_them) {
    const struct {
        const char* name;
        Parameters parameters;
    } cases[]{
        {"_Z5saxpyfPKfPfm", {FLOAT, POINTER, POINTER, LONG}},
        {"_Z4nonev", {}},
        {"_Z3allbcahstijlmxyfd",
         {{Integer, 1},
          {Integer, 1},
          {Integer, 1},
          {Integer, 1},
          {Integer, 2},
          {Integer, 2},
          INT,
          INT,
          LONG,
          LONG,
          LONG,
          LONG,
          FLOAT,
          DOUBLE}},
        {"_ZN5maths5scaleEPfS0_fi", {POINTER, POINTER, FLOAT, INT}}, // S_ is the namespace
        {"_ZL8internald", {DOUBLE}},
        {"_ZN12_GLOBAL__N_14fillEfj", {FLOAT, INT}},
        // template <typename T> void add(T*, T, const T*, T)
        {"_Z3addIfEvPT_S0_PKS0_S0_", {POINTER, FLOAT, POINTER, FLOAT}},
        {"_Z3addIdEvPT_S0_PKS0_S0_", {POINTER, DOUBLE, POINTER, DOUBLE}},
        // template <typename T, int N> void times(T*, int)
        {"_ZN5maths5timesIfLi3EEEvPT_i", {POINTER, INT}},
        // void f(Particle, Field<float>, double*)
        {"_Z1f8Particle5FieldIfEPd", {STRUCTURE, STRUCTURE, POINTER}},
        // void f(ns::A, ns::A*, float)
        {"_Z1fN2ns1AEPS0_f", {STRUCTURE, POINTER, FLOAT}},
        {"_Z1fPFvifEf", {POINTER, FLOAT}},
        {"_Z1fRA4_Kfi", {POINTER, INT}},
        {"_Z1fDhf", {STRUCTURE, FLOAT}},
        {"_Z1f6__halff", {STRUCTURE, FLOAT}},
        {"_Z1fSt5arrayIfLm4EEf", {STRUCTURE, FLOAT}},
        {"_Z1ff.clone", {FLOAT}},
    };

    for (const auto& [name, parameters] : cases) {
        EXPECT_EQ(parameters_in_name(name), parameters) << name;
    }
}

TEST(ParameterKinds, unknown_mangled_names_give_no_kinds) {
    for (const char* name :
         {"", "saxpy", "_Z", "_Z5saxp", "_Z1fS_", "_Z1fT_", "_Z1fP", "_Z1fIJ", "_Z1fDTplT_T_E",
          "_Z1fM1Ai", "_Z99999999999999999999f", "_ZN1a1bi", "_Z1fSZZZZZZZZZZZZZZZZ_", "_Z1fz"}) {
        EXPECT_EQ(parameters_in_name(name), std::nullopt) << name;
    }
    EXPECT_EQ(parameters_in_name("_Z1f" + std::string(100'000, 'P') + "f"), std::nullopt);
    EXPECT_EQ(parameters_in_name("_Z1f1A" + std::string(100'000, 'I')), std::nullopt);
}

TEST(ParameterKinds, are_noted_if_the_sizes_agree_with_the_drivers) {
    std::vector<ParameterInfo> plan{{0, 4}, {8, 8}, {16, 8}, {24, 24}, {48, 2}, {52, 4}};
    note_kinds(plan, "saxpy", PTX);
    EXPECT_EQ(plan[0].kind, Float);
    EXPECT_EQ(plan[1].kind, Pointer);
    EXPECT_EQ(plan[3].kind, Unknown);
    EXPECT_EQ(plan[5].kind, Unknown);

    std::vector<ParameterInfo> other{{0, 8}};
    note_kinds(other, "saxpy", PTX);
    EXPECT_EQ(other[0].kind, Unknown);
    note_kinds(other, "_Z1ff", "");
    EXPECT_EQ(other[0].kind, Unknown) << "a float has four bytes";
    note_kinds(other, "_Z1fd", ".visible .entry _Z1fd(.param .b64 x)");
    EXPECT_EQ(other[0].kind, Float) << "the name says what PTX leaves open";
}

} // namespace cuprum::detail
