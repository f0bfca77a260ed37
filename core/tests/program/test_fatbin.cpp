// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "libraries/nvjitlink.hpp"
#include "program/code/image.hpp"
#include "support/expect_error.hpp"

#include <cuprum/error.hpp>
#include <cuprum/linker.hpp>
#include <cuprum/program.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace cuprum {
namespace {

using detail::FatbinImage;

constexpr std::size_t ENTRY_AT = 16;
constexpr std::size_t PAYLOAD_AT = 16 + 80;

std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

template <typename T>
T number_at(std::span<const std::byte> bytes, std::size_t offset) {
    T number = 0;
    std::memcpy(&number, bytes.subspan(offset, sizeof(T)).data(), sizeof(T));
    return number;
}

TEST(Fatbin, sizes_and_fields_are_where_loaders_look) {
    const std::string_view ptx = ".version 8.4\n.target sm_90\n";
    const std::array images{
        FatbinImage{.kind = FatbinImage::Kind::Ptx, .arch = "sm_90", .code = bytes_of(ptx)}};
    const std::vector<std::byte> fatbin = detail::write_fatbin(images);

    EXPECT_EQ(number_at<std::uint32_t>(fatbin, 0), 0xBA55ED50);
    EXPECT_EQ(number_at<std::uint16_t>(fatbin, 6), 16);
    EXPECT_EQ(number_at<std::uint64_t>(fatbin, 8), fatbin.size() - 16);
    EXPECT_EQ(number_at<std::uint16_t>(fatbin, ENTRY_AT), 1);
    EXPECT_EQ(number_at<std::uint32_t>(fatbin, ENTRY_AT + 4), 80U);
    EXPECT_EQ(number_at<std::uint64_t>(fatbin, ENTRY_AT + 8), fatbin.size() - PAYLOAD_AT);
    EXPECT_EQ(number_at<std::uint16_t>(fatbin, ENTRY_AT + 24), 4) << "the PTX version's minor";
    EXPECT_EQ(number_at<std::uint16_t>(fatbin, ENTRY_AT + 26), 8) << "and its major";
    EXPECT_EQ(number_at<std::uint32_t>(fatbin, ENTRY_AT + 28), 90U);
    EXPECT_EQ(fatbin.size() % 8, 0U);
    EXPECT_STREQ(reinterpret_cast<const char*>(fatbin.data() + PAYLOAD_AT), ptx.data());
}

TEST(Fatbin, ptx_that_fills_its_padding_still_ends_with_a_nul) {
    const std::array images{
        FatbinImage{.kind = FatbinImage::Kind::Ptx, .arch = "sm_90", .code = bytes_of("12345678")}};
    EXPECT_EQ(detail::write_fatbin(images).size(), PAYLOAD_AT + 16);
}

TEST(Fatbin, architectures_that_stand_alone_are_flagged) {
    const auto flags_of = [](std::string_view arch) {
        const std::array images{
            FatbinImage{.kind = FatbinImage::Kind::Cubin, .arch = arch, .code = bytes_of("x")}};
        const std::vector<std::byte> fatbin = detail::write_fatbin(images);
        return number_at<std::uint64_t>(fatbin, ENTRY_AT + 40);
    };
    EXPECT_EQ(flags_of("sm_90"), 0x11U);
    EXPECT_EQ(flags_of("sm_90a"), 0x100011U);
    EXPECT_EQ(flags_of("sm_100f"), 0x200011U);
}

/// Links a fat binary to a cubin and returns its size, or 0 if the linker refuses it.
std::size_t linked_size(std::span<const std::byte> fatbin, const char* arch) {
    const nvjitlink::Table& linker = nvjitlink::table();
    nvJitLinkHandle handle = nullptr;
    const std::array<const char*, 1> options{arch};
    std::size_t size = 0;
    if (linker.nvJitLinkCreate(&handle, 1, const_cast<const char**>(options.data())) ==
        NVJITLINK_SUCCESS) {
        const bool is_linked =
            linker.nvJitLinkAddData(handle, NVJITLINK_INPUT_FATBIN, fatbin.data(), fatbin.size(),
                                    "test") == NVJITLINK_SUCCESS &&
            linker.nvJitLinkComplete(handle) == NVJITLINK_SUCCESS;
        if (!is_linked || linker.nvJitLinkGetLinkedCubinSize(handle, &size) != NVJITLINK_SUCCESS) {
            size = 0;
        }
        linker.nvJitLinkDestroy(&handle);
    }
    return size;
}

class RealFatbin : public ::testing::Test {
protected:
    static constexpr const char* SOURCE =
        "extern \"C\" __global__ void twice(float* x) { x[threadIdx.x] *= 2; }";

    ObjectCode ptx = Program(SOURCE, {.arch = "sm_90"}).compile(CodeType::Ptx);
    ObjectCode cubin = Program(SOURCE, {.arch = "sm_90"}).compile(CodeType::Cubin);
};

TEST_F(RealFatbin, nvjitlink_takes_ptx_alone) {
    const std::array images{
        FatbinImage{.kind = FatbinImage::Kind::Ptx, .arch = "sm_90", .code = ptx.code()}};
    EXPECT_GT(linked_size(detail::write_fatbin(images), "-arch=sm_90"), 1000U);
}

TEST_F(RealFatbin, nvjitlink_takes_cubin_and_ptx_for_either_architecture) {
    const std::span<const std::byte> code = cubin.code();
    std::vector<std::byte> fatbin(code.begin(), code.end());
    if (detail::cubin_architecture(code) != 0) { // a bare cubin: not on the emulated device
        const std::array images{
            FatbinImage{.kind = FatbinImage::Kind::Cubin, .arch = "sm_90", .code = code},
            FatbinImage{.kind = FatbinImage::Kind::Ptx, .arch = "sm_90", .code = ptx.code()}};
        fatbin = detail::write_fatbin(images);
    }
    EXPECT_GT(linked_size(fatbin, "-arch=sm_90"), 1000U);
    EXPECT_GT(linked_size(fatbin, "-arch=sm_100"), 1000U) << "compiled from the PTX";
}

TEST(Image, the_architecture_of_a_cubin_can_be_read) {
    const ObjectCode cubin = Program("", {.arch = "sm_86"}).compile(CodeType::Cubin);
    const std::span<const std::byte> code = cubin.code();
    const bool is_bare = number_at<std::uint32_t>(code, 0) == 0x464C457F;
    EXPECT_EQ(detail::cubin_architecture(is_bare ? code : code.subspan(PAYLOAD_AT)), 86);
    EXPECT_EQ(detail::cubin_architecture(bytes_of("no cubin")), 0);
    EXPECT_EQ(detail::cubin_architecture({}), 0);
}

TEST(Image, code_cut_short_is_refused_before_the_driver_reads_beyond_it) {
    const ObjectCode cubin = Program("", {.arch = "sm_86"}).compile(CodeType::Cubin);
    const std::span<const std::byte> code = cubin.code();
    EXPECT_NO_THROW(detail::check_image("it", CodeType::Cubin, code));
    for (const std::size_t size :
         {std::size_t{5}, std::size_t{17}, code.size() / 2, code.size() - 1}) {
        EXPECT_THROW(detail::check_image("it", CodeType::Cubin, code.first(size)), CUDAError)
            << size;
    }
}

TEST(Image, lto_code_whose_header_points_beyond_it_is_refused_before_the_linker_follows) {
    const ObjectCode lto = Program("", {.arch = "sm_90"}).compile(CodeType::LtoIr);
    std::vector<std::byte> code(lto.code().begin(), lto.code().end());
    EXPECT_NO_THROW(detail::check_link_input("it", code));
    for (const std::size_t size : {std::size_t{4}, std::size_t{23}, code.size() / 100 + 24}) {
        EXPECT_THROW(detail::check_link_input("it", std::span(code).first(size)),
                     std::invalid_argument)
            << size;
    }
    for (const std::size_t high_byte : {19, 23}) {
        std::vector<std::byte> damaged = code;
        damaged[high_byte] = std::byte{0x7F};
        const std::array input{ObjectCode::from_bytes(CodeType::LtoIr, damaged, "mine")};
        testing::expect_error<std::invalid_argument>(
            [&] { const Linker linker(input, {.arch = "sm_90"}); },
            {"\"mine\", given as ltoir", "damaged"});
    }
}

TEST(Image, a_section_that_reaches_beyond_the_end_is_refused) {
    constexpr std::size_t header_bytes = 64;
    std::vector<std::byte> code(3 * header_bytes + 16); // the header, two section headers, 16 bytes
    const auto put = [&](std::size_t at, auto number) {
        std::memcpy(code.data() + at, &number, sizeof(number));
    };
    put(0, std::uint32_t{0x464C457F});
    put(40, std::uint64_t{header_bytes}); // the offset of the section headers
    put(58, std::uint16_t{header_bytes}); // the size of a section header
    put(60, std::uint16_t{2});
    const std::size_t second = 2 * header_bytes;
    put(second + 4, std::uint32_t{1});
    put(second + 24, std::uint64_t{3 * header_bytes});
    const auto check = [&] { detail::check_image("it", CodeType::Cubin, code); };
    for (const std::uint64_t bytes : {std::uint64_t{17}, ~std::uint64_t{0}}) {
        put(second + 32, bytes);
        testing::expect_error<CUDAError>(check, {"truncated", "208 bytes"});
    }
    put(second + 32, std::uint64_t{16});
    EXPECT_NO_THROW(check());
    put(second + 4, std::uint32_t{8}); // a section that occupies no space in the file
    put(second + 32, std::uint64_t{4096});
    EXPECT_NO_THROW(check());
}

TEST(Image, the_wrapper_of_a_fat_binary_is_refused) {
    const std::array<std::uint32_t, 6> wrapper{0x466243B1, 1, 0xdead, 0, 0, 0};
    testing::expect_error<CUDAError>(
        [&] { detail::check_image("it", CodeType::Fatbin, std::as_bytes(std::span(wrapper))); },
        {"holds an address", "pass the fat binary itself"});
}

} // namespace
} // namespace cuprum
