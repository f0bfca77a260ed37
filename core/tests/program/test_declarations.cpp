// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/code/packing.hpp"
#include "program/parameter_kinds.hpp"

#include <cuprum/object_code.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace cuprum::detail {

namespace {

constexpr const char* PTX = R"(.version 9.0
.target sm_90
// the .entry points
.visible .func helper(.param .f64 x) { ret; }
.visible .entry scale(
	.param .f32 scale_param_0, // a factor
	.param .u64 .ptr .align 1 scale_param_1,
	.param .u32 scale_param_2
)
.maxntid 128
{
	add.f32 %f1, %f2, %f3;
	ret;
}
.weak .entry bare
{ ret; }
.visible .entry last(.param .f64 last_param_0) { ret; })";

std::vector<std::byte> bytes_of(std::string_view text) {
    const auto* const begin = reinterpret_cast<const std::byte*>(text.data());
    return {begin, begin + text.size()};
}

const std::vector<std::byte> CUBIN = bytes_of(std::string("\177ELF", 4) + std::string(60, '\1'));

} // namespace

TEST(Declarations, kernels_are_kept_without_their_bodies) {
    const std::string text = kernel_declarations(PTX);
    for (const char* const kernel : {"scale", "bare", "last"}) {
        EXPECT_EQ(parameters_in_ptx(text, kernel), parameters_in_ptx(PTX, kernel)) << kernel;
        EXPECT_TRUE(parameters_in_ptx(text, kernel).has_value());
    }
    EXPECT_EQ(text.find("add.f32"), std::string::npos);
    EXPECT_EQ(text.find("helper"), std::string::npos);
    EXPECT_EQ(kernel_declarations(".version 9.0\n"), "");
    EXPECT_EQ(kernel_declarations(".visible .entry cut_off(.param .f32 x"), "");
}

TEST(Declarations, kernels_without_a_limit_of_registers_get_one) {
    EXPECT_EQ(with_register_limit(PTX, std::nullopt), PTX);
    const std::string code = ".visible .entry a(.param .u32 x)\n{\n}\n.entry b\n.maxntid 32\n{\n}\n"
                             ".visible .entry c() .maxntid 32 .maxnreg 24\n{\n}\n.func d() {\n}\n"
                             ".entry e() // .maxnreg 8\n{\n}\n";
    EXPECT_EQ(with_register_limit(code, 38),
              ".visible .entry a(.param .u32 x)\n.maxnreg 38\n\n{\n}\n"
              ".entry b\n.maxntid 32\n\n.maxnreg 38\n{\n}\n"
              ".visible .entry c() .maxntid 32 .maxnreg 24\n{\n}\n.func d() {\n}\n"
              ".entry e()\n.maxnreg 38\n // .maxnreg 8\n{\n}\n");
}

TEST(Declarations, they_stand_behind_a_cubin) {
    const std::vector<std::byte> code = with_declarations(CUBIN, PTX);
    ASSERT_GT(code.size(), CUBIN.size());
    EXPECT_EQ(std::memcmp(code.data(), CUBIN.data(), CUBIN.size()), 0);
    EXPECT_EQ(declarations_in(code), kernel_declarations(PTX));
}

TEST(Declarations, code_without_them_has_none) {
    EXPECT_EQ(declarations_in({}), "");
    EXPECT_EQ(declarations_in(CUBIN), "");
    EXPECT_EQ(with_declarations(CUBIN, ".version 9.0\n"), CUBIN);
    const std::vector<std::byte> other = bytes_of("no ELF file");
    EXPECT_EQ(with_declarations(other, PTX), other);
}

TEST(Declarations, wrong_sizes_and_parts_are_ignored) {
    const std::vector<std::byte> code = with_declarations(CUBIN, PTX);
    constexpr std::size_t mark_bytes = std::string_view("cuprum declarations\n").size();
    for (const std::uint64_t wrong : {std::uint64_t{code.size()}, ~std::uint64_t{0}}) {
        std::vector<std::byte> forged = code;
        std::memcpy(forged.data() + forged.size() - mark_bytes - sizeof wrong, &wrong,
                    sizeof wrong);
        EXPECT_EQ(declarations_in(forged), "");
    }
    for (std::size_t size = 0; size < code.size(); ++size) {
        EXPECT_EQ(declarations_in(std::span(code).first(size)), "") << size;
    }
}

TEST(Declarations, a_linked_cubin_has_those_of_all_its_parts) {
    constexpr const char* OTHER = ".visible .entry other(.param .f32 other_param_0) { ret; }";
    const std::vector codes{
        ObjectCode::from_bytes(CodeType::Ptx, bytes_of(OTHER)),
        ObjectCode::from_bytes(CodeType::Cubin, with_declarations(CUBIN, PTX)),
        ObjectCode::from_bytes(CodeType::Cubin, CUBIN), // nothing is known of its kernels
    };
    const std::vector<std::byte> linked = with_declarations_of(CUBIN, codes);
    const std::string_view text = declarations_in(linked);
    EXPECT_EQ(parameters_in_ptx(text, "other"), parameters_in_ptx(OTHER, "other"));
    EXPECT_EQ(parameters_in_ptx(text, "scale"), parameters_in_ptx(PTX, "scale"));
    EXPECT_TRUE(parameters_in_ptx(text, "scale").has_value());
    EXPECT_EQ(with_declarations_of(CUBIN, std::span(codes).last(1)), CUBIN);
}

} // namespace cuprum::detail
