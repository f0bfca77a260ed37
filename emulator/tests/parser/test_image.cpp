// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "image/fatbin_writer.hpp"
#include "image/formats.hpp"
#include "image/image.hpp"
#include "image/lz4.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::emulator {

namespace {

constexpr std::string_view PTX = ".version 8.0\n.target sm_80\n.address_size 64\n";
constexpr std::uint64_t LZ4 = 0x2000;
constexpr std::uint64_t ZSTD = 0x8000;
constexpr std::uint64_t ONE_DEVICE = 0x100000;
constexpr std::size_t ENTRY_HEADER_BYTES = 80;

/// The content of one entry of a fat binary.
struct Entry {
    std::uint16_t kind = 1;
    std::uint32_t sm = 80;
    std::string payload{PTX};
    std::uint64_t flags = 0;
    std::uint64_t decompressed_size = 0;
};

template <typename T>
void put(std::string& bytes, std::size_t offset, T value) {
    std::memcpy(bytes.data() + offset, &value, sizeof(value));
}

std::string make_fatbin(const std::vector<Entry>& entries) {
    std::string body;
    for (const Entry& entry : entries) {
        std::string header(ENTRY_HEADER_BYTES, '\0');
        std::string payload = entry.payload;
        payload.resize((payload.size() + 8) / 8 * 8); // at least one NUL
        put(header, 0, entry.kind);
        put(header, 2, std::uint16_t{0x101});
        put(header, 4, static_cast<std::uint32_t>(header.size()));
        put(header, 8, static_cast<std::uint64_t>(payload.size()));
        put(header, 16, static_cast<std::uint32_t>(entry.payload.size()));
        put(header, 28, entry.sm);
        put(header, 40, entry.flags);
        put(header, 56, entry.decompressed_size);
        body += header + payload;
    }
    std::string fatbin(16, '\0');
    put(fatbin, 0, 0xBA55ED50u);
    put(fatbin, 4, std::uint16_t{1});
    put(fatbin, 6, std::uint16_t{16});
    put(fatbin, 8, static_cast<std::uint64_t>(body.size()));
    return fatbin + body;
}

std::string make_cubin(unsigned char abi, std::uint32_t flags, std::uint16_t machine = 190) {
    std::string elf(64 + 56, '\0');
    elf.replace(0, 4,
                "\x7f"
                "ELF");
    elf[4] = 2;
    elf[8] = static_cast<char>(abi);
    put(elf, 18, machine);
    put(elf, 32, std::uint64_t{64});
    put(elf, 48, flags);
    put(elf, 54, std::uint16_t{56});
    put(elf, 56, std::uint16_t{1});
    return elf;
}

/// Reads an image with and without its size, and expects the same result.
ImageResult read_both(const std::string& image, std::uint32_t compute_capability = 80) {
    const ImageResult unsized_result = read_image(image.c_str(), std::nullopt, compute_capability);
    ImageResult result = read_image(image.data(), image.size(), compute_capability);
    EXPECT_EQ(unsized_result.kind, result.kind);
    EXPECT_EQ(unsized_result.ptx, result.ptx);
    EXPECT_EQ(unsized_result.message, result.message);
    EXPECT_EQ(unsized_result.size, result.size);
    EXPECT_EQ(result.ptx.has_value(), result.problem == ImageProblem::None);
    EXPECT_EQ(result.message.empty(), result.problem == ImageProblem::None);
    return result;
}

/// Reads exactly these bytes from an allocation of that size, so that sanitizers detect reads past
/// the end.
ImageResult read_exactly(std::string_view bytes, std::uint32_t compute_capability = 80) {
    const std::unique_ptr<char[]> copy(new char[bytes.size()]);
    std::memcpy(copy.get(), bytes.data(), bytes.size());
    return read_image(copy.get(), bytes.size(), compute_capability);
}

/// Compresses with a minimal LZ4 block: literals, one match that repeats the last byte `repeats`
/// times, then five more literals, which the format requires.
std::string make_lz4(std::string_view literals, std::size_t repeats) {
    const auto put_length = [](std::string& out, std::size_t length) {
        for (length -= 15; length >= 255; length -= 255) {
            out += '\xff';
        }
        out += static_cast<char>(length);
    };
    std::string out = "\xff";
    put_length(out, literals.size());
    out += literals;
    out += std::string("\x01\x00", 2);
    put_length(out, repeats - 4);
    return out + "\x50//end";
}

/// Makes a zstd frame of two blocks without entropy coding: literals, then `repeats` slashes.
std::string make_zstd(std::string_view literals, std::size_t repeats) {
    constexpr std::size_t LAST = 1;
    constexpr std::size_t RUN = 2;
    const auto block = [](std::size_t flags, std::size_t size) {
        const std::size_t header = flags | size << 3;
        return std::string{static_cast<char>(header), static_cast<char>(header >> 8),
                           static_cast<char>(header >> 16)};
    };
    std::string frame = "\x28\xb5\x2f\xfd\x20"; // a single segment whose size takes one byte
    frame += static_cast<char>(literals.size() + repeats);
    frame += block(0, literals.size()) + std::string(literals);
    return frame + block(LAST | RUN, repeats) + "/";
}

} // namespace

TEST(Image, text_ends_at_its_nul_or_its_size) {
    const ImageResult result = read_both(std::string(PTX));
    EXPECT_EQ(result.kind, ImageKind::Ptx);
    EXPECT_EQ(result.ptx, PTX);
    EXPECT_EQ(result.size, PTX.size());
    EXPECT_EQ(read_exactly(PTX).ptx, PTX);
    EXPECT_EQ(read_exactly(std::string(PTX) + std::string(5, '\0') + "rest").ptx, PTX);
}

TEST(Image, short_text_is_not_read_beyond_its_nul) {
    const std::unique_ptr<char[]> text(new char[2]{'.', '\0'});
    EXPECT_EQ(read_image(text.get(), std::nullopt, 80).ptx, ".");
}

TEST(Image, nothing_and_garbage_are_refused) {
    EXPECT_EQ(read_image(nullptr, std::nullopt, 80).problem, ImageProblem::Malformed);
    EXPECT_EQ(read_image("", std::nullopt, 80).message, "the image is empty");
    EXPECT_EQ(read_exactly("").message, "the image is empty");
    EXPECT_EQ(read_exactly("\x01\x02").message,
              "the image is not PTX text, a fatbin or a cubin: it starts with byte 0x01");
    EXPECT_EQ(read_exactly("\xed\x43\x4e\x7f rest").problem, ImageProblem::Unsupported);
    EXPECT_EQ(read_exactly("!<arch>\nrest").problem, ImageProblem::Unsupported);
}

TEST(Image, a_fatbin_gives_its_ptx_without_padding) {
    const ImageResult result = read_both(make_fatbin({Entry{}}));
    EXPECT_EQ(result.kind, ImageKind::Fatbin);
    EXPECT_EQ(result.ptx, PTX);
    EXPECT_EQ(result.ptx_sm, 80u);
    EXPECT_FALSE(result.has_cubin);
}

TEST(Image, the_newest_ptx_that_the_device_can_run_is_taken) {
    const std::string image = make_fatbin({{.sm = 75, .payload = "a75"},
                                           {.sm = 90, .payload = "a90"},
                                           {.kind = 2, .sm = 90, .payload = "cubin"},
                                           {.sm = 80, .payload = "a80"},
                                           {.sm = 100, .payload = "a100", .flags = ONE_DEVICE}});
    EXPECT_EQ(read_both(image, 75).ptx, "a75");
    EXPECT_EQ(read_both(image, 86).ptx, "a80");
    EXPECT_EQ(read_both(image, 90).ptx, "a90");
    EXPECT_EQ(read_both(image, 100).ptx, "a100");
    EXPECT_EQ(read_both(image, 120).ptx, "a90") << "sm_100a runs on 10.0 alone";
    EXPECT_TRUE(read_both(image, 90).has_cubin);
    EXPECT_EQ(read_both(image, 90).cubin_sm, 90u);
    const ImageResult refused = read_both(image, 70);
    EXPECT_EQ(refused.problem, ImageProblem::TooNew);
    EXPECT_NE(refused.message.find("sm_75"), std::string::npos);
    EXPECT_NE(refused.message.find("sm_70"), std::string::npos);
}

TEST(Image, ptx_that_stands_for_machine_code_runs_where_that_would) {
    const auto cubin = [](const std::string& architecture) {
        return cuprum::emulator::make_fatbin(PTX, architecture, 8, 0);
    };

    struct Case {
        const char* architecture;
        std::vector<std::uint32_t> runs_on;
        std::vector<std::uint32_t> is_refused_on;
    };

    const std::vector<Case> cases{
        {"sm_75", {75}, {80, 90, 100, 120}}, {"sm_80", {80, 86, 89}, {90, 100}},
        {"sm_86", {86, 89}, {90, 120}},      {"sm_90", {90}, {100, 120}},
        {"sm_90a", {90}, {100, 120}},        {"sm_100", {100, 103}, {110, 120}},
        {"sm_100f", {100, 103}, {110, 120}}, {"sm_100a", {100}, {103, 120}},
        {"sm_120", {120, 121}, {}}};
    for (const Case& each : cases) {
        for (const std::uint32_t device : each.runs_on) {
            EXPECT_TRUE(read_both(cubin(each.architecture), device).ptx)
                << each.architecture << " on " << device;
        }
        for (const std::uint32_t device : each.is_refused_on) {
            EXPECT_EQ(read_both(cubin(each.architecture), device).problem,
                      ImageProblem::OtherDevice)
                << each.architecture << " on " << device;
        }
    }
    EXPECT_EQ(read_both(cubin("sm_90a"), 100).message,
              "the image is a cubin for sm_90a, and the emulated device is sm_100: machine code "
              "for sm_90a runs on compute capability 9.0 alone; compile for sm_100, or load PTX "
              "instead");
    EXPECT_NE(read_both(cubin("sm_86"), 90).message.find("8.6 and on newer ones of 8.x;"),
              std::string::npos);
    EXPECT_EQ(read_both(cubin("sm_90"), 80).problem, ImageProblem::TooNew);
}

TEST(Image, other_ptx_in_a_fatbin_is_taken_if_that_for_machine_code_cannot_run) {
    const auto text = [](const char* name, const char* architecture) {
        return std::string(name) + std::string(MACHINE_CODE_MARK) + architecture + "\n";
    };
    const std::string image = make_fatbin({{.sm = 90, .payload = text("b", "sm_90")},
                                           {.sm = 80, .payload = "a"},
                                           {.sm = 100, .payload = text("c", "sm_100")}});
    EXPECT_TRUE(read_both(image, 90).ptx->starts_with("b"));
    EXPECT_TRUE(read_both(image, 103).ptx->starts_with("c"));
    EXPECT_EQ(read_both(image, 120).ptx, "a");
    // Images are untrusted: a mark without an architecture is only a comment.
    const std::string odd = make_fatbin({{.payload = text("d", "")}, {.sm = 70, .payload = "e"}});
    EXPECT_TRUE(read_both(odd, 80).ptx->starts_with("d"));
}

TEST(Image, a_fatbin_of_machine_code_says_how_to_add_ptx) {
    const ImageResult result = read_both(make_fatbin({{.kind = 2, .sm = 90, .payload = "x"}}));
    EXPECT_EQ(result.problem, ImageProblem::NoPtx);
    EXPECT_TRUE(result.has_cubin);
    EXPECT_NE(result.message.find("-gencode arch=compute_90,code=compute_90"), std::string::npos);
    EXPECT_EQ(read_both(make_fatbin({})).problem, ImageProblem::NoPtx);
}

TEST(Image, a_cubin_names_its_device_and_the_way_out) {
    const ImageResult result = read_both(make_cubin(8, 0x06006402));
    EXPECT_EQ(result.kind, ImageKind::Cubin);
    EXPECT_EQ(result.problem, ImageProblem::NoPtx);
    EXPECT_EQ(result.cubin_sm, 100u);
    EXPECT_EQ(result.size, 120u);
    EXPECT_NE(result.message.find("sm_100, which a CPU cannot run"), std::string::npos);
    EXPECT_NE(result.message.find("-gencode arch=compute_100,code=compute_100"), std::string::npos);
    EXPECT_NE(result.message.find("compile to \"ptx\""), std::string::npos);
    EXPECT_EQ(read_both(make_cubin(7, 0x005a055a)).cubin_sm, 90u) << "older cubins";
}

TEST(Image, other_elf_files_are_refused) {
    EXPECT_EQ(read_both(make_cubin(0, 0, 62)).problem, ImageProblem::Malformed);
    EXPECT_EQ(read_exactly("\x7f"
                           "ELF")
                  .problem,
              ImageProblem::Malformed);
}

TEST(Image, the_wrapper_of_an_embedded_fatbin_is_followed) {
    struct {
        std::uint32_t magic = 0x466243B1;
        std::uint32_t version = 1;
        const void* data = nullptr;
        const void* file_name = nullptr;
    } wrapper;

    EXPECT_EQ(read_image(&wrapper, std::nullopt, 80).problem, ImageProblem::Malformed);
    const std::string fatbin = make_fatbin({Entry{}});
    wrapper.data = fatbin.data();
    EXPECT_EQ(read_image(&wrapper, std::nullopt, 80).ptx, PTX);
    EXPECT_EQ(read_image(&wrapper, sizeof(wrapper), 80).problem, ImageProblem::Malformed)
        << "an address out of a file must not be followed";
}

TEST(Image, lz4_entries_are_decompressed) {
    const std::string text = std::string(PTX) + "// " + std::string(1000, '/') + "//end";
    const std::string block = make_lz4(std::string(PTX) + "// /", 999);
    const Entry entry{.payload = block, .flags = LZ4, .decompressed_size = text.size()};
    EXPECT_EQ(read_both(make_fatbin({entry})).ptx, text);
    Entry lying = entry;
    lying.decompressed_size += 1;
    EXPECT_EQ(read_both(make_fatbin({lying})).problem, ImageProblem::Malformed);
    lying.decompressed_size = ~std::uint64_t{0};
    EXPECT_EQ(read_both(make_fatbin({lying})).problem, ImageProblem::Malformed);
}

TEST(Image, zstd_entries_are_decompressed_or_refused_by_name) {
    const std::string text = std::string(PTX) + std::string(100, '/');
    const Entry entry{
        .payload = make_zstd(PTX, 100), .flags = ZSTD, .decompressed_size = text.size()};
    if (!can_read_zstd()) {
        const ImageResult refused = read_both(make_fatbin({entry}));
        EXPECT_EQ(refused.problem, ImageProblem::Unsupported);
        EXPECT_NE(refused.message.find("zstd"), std::string::npos);
        return;
    }
    EXPECT_EQ(read_both(make_fatbin({entry})).ptx, text);
    Entry lying = entry;
    lying.decompressed_size = 1u << 30;
    EXPECT_EQ(read_both(make_fatbin({lying})).problem, ImageProblem::Malformed);
    lying = entry;
    lying.payload.pop_back();
    EXPECT_EQ(read_both(make_fatbin({lying})).problem, ImageProblem::Malformed);
}

TEST(Image, a_fatbin_larger_than_its_bytes_is_refused) {
    std::string image = make_fatbin({Entry{}});
    put(image, 8, ~std::uint64_t{0});
    EXPECT_EQ(read_exactly(image).problem, ImageProblem::Malformed);
    EXPECT_EQ(read_image(image.data(), std::nullopt, 80).problem, ImageProblem::Malformed);
    image = make_fatbin({Entry{}});
    put(image, 16 + 8, std::uint64_t{1} << 62);
    EXPECT_EQ(read_both(image).problem, ImageProblem::Malformed);
    image = make_fatbin({Entry{}});
    put(image, 16 + 4, std::uint32_t{8});
    EXPECT_EQ(read_both(image).problem, ImageProblem::Malformed);
}

TEST(Image, truncation_at_every_byte_is_survived) {
    const std::string block = make_lz4(std::string(PTX) + "// /", 999);
    const std::string image =
        make_fatbin({{.kind = 2, .sm = 90, .payload = "cubin"},
                     {.payload = block, .flags = LZ4, .decompressed_size = PTX.size() + 1008},
                     {.sm = 75}});
    ASSERT_TRUE(read_exactly(image).ptx);
    for (std::size_t size = 4; size < image.size(); ++size) { // fewer bytes count as text
        EXPECT_FALSE(read_exactly(std::string_view(image).substr(0, size)).ptx) << size;
    }
}

TEST(Image, flipped_bytes_are_survived) {
    const std::string block = make_lz4(std::string(PTX) + "// /", 999);
    const std::string image =
        make_fatbin({{.payload = block, .flags = LZ4, .decompressed_size = PTX.size() + 1008},
                     {.sm = 75},
                     {.sm = 70, .payload = "zstd", .flags = ZSTD, .decompressed_size = 100}});
    std::mt19937 random(1);
    std::size_t refused = 0;
    for (int round = 0; round < 20000; ++round) {
        std::string changed = image;
        for (int flips = 0; flips < 3; ++flips) {
            changed[random() % changed.size()] ^= static_cast<char>(1u << random() % 8);
        }
        refused += read_exactly(changed, 60 + random() % 40).ptx ? 0 : 1;
    }
    EXPECT_GT(refused, 100u);
}

TEST(LZ4, malformed_blocks_give_nothing) {
    const auto decompress = [](std::string_view block, std::size_t size) {
        return decompress_lz4({reinterpret_cast<const unsigned char*>(block.data()), block.size()},
                              size);
    };
    using namespace std::string_view_literals;
    EXPECT_EQ(decompress("\x30"
                         "abc"sv,
                         3),
              "abc");
    EXPECT_EQ(decompress("\x12"
                         "a\x01\x00\x20"
                         "bc"sv,
                         9),
              "aaaaaaabc");
    EXPECT_EQ(decompress(""sv, 0), "");
    EXPECT_FALSE(decompress("\x30"
                            "ab"sv,
                            3));
    EXPECT_FALSE(decompress("\x30"
                            "abc"sv,
                            2));
    EXPECT_FALSE(decompress("\xf0"sv, 20)) << "a length that never ends";
    EXPECT_FALSE(decompress("\x10"
                            "a\x02\x00"sv,
                            5))
        << "a match from before the beginning";
    EXPECT_FALSE(decompress("\x10"
                            "a\x00\x00"sv,
                            5))
        << "a match at distance zero";
    EXPECT_FALSE(decompress("\x10"
                            "a\x01"sv,
                            5));
}

} // namespace cuprum::emulator
