// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/code/image.hpp"
#include "program/code/packing.hpp"
#include "program/nvrtc.hpp"
#include "program/source/debug_source.hpp"
#include "program/source/includes.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <sys/stat.h>
#include <vector>

namespace cuprum::detail {
namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
    const auto* const begin = reinterpret_cast<const std::byte*>(text.data());
    return {begin, begin + text.size()};
}

TEST(Includes, are_found_in_all_their_forms) {
    const auto found = includes_in("#include <a.h>\n  #  include \"b/c.h\" // why\n"
                                   "int include = 1; // #include <no.h>\n#include MACRO\n#if 0\n"
                                   "#include<d>\n#endif");
    ASSERT_EQ(found.size(), 4U);
    EXPECT_EQ(found[0].name, "a.h");
    EXPECT_FALSE(found[0].is_quoted);
    EXPECT_EQ(found[1].name, "b/c.h");
    EXPECT_TRUE(found[1].is_quoted);
    EXPECT_EQ(found[2].name, "");
    EXPECT_EQ(found[3].name, "d");
    EXPECT_TRUE(includes_in("").empty());
}

TEST(Includes, are_found_behind_comments_splices_and_digraphs) {
    const auto names = [](std::string_view text) {
        std::string joined;
        for (const auto& include : includes_in(text)) {
            joined += (include.name.empty() ? "?" : include.name) + " ";
        }
        return joined;
    };
    EXPECT_EQ(names("/* c\n */ #include \"a\"\n"), "a ");
    EXPECT_EQ(names("# /* c */ include /* d */ <a>\n"), "a ");
    EXPECT_EQ(names("#inc\\\nlude \"a\"\n"), "a ");
    EXPECT_EQ(names("%:include \"a\"\n"), "a ");
    EXPECT_EQ(names("#include_next <a>\n#embed \"b\"\n"), "a b ");
    EXPECT_EQ(names("#if __has_include(<a>) && __has_include ( \"b\" )\n#endif"), "a b ");
    EXPECT_EQ(names("#ifdef __has_include\n#endif"), "") << "asks for no file";
    EXPECT_EQ(names("#define HAS(x) __has_include(x)"), "? ");
    EXPECT_EQ(names("int n = 1'000; char c = '\"';\n#include \"a\"\n"), "a ");
    EXPECT_EQ(names("// don't /*\n#include \"a\"\n"), "a ");
    EXPECT_EQ(names("auto s = \"/*\";\n#include \"a\"\n"), "a ");
    EXPECT_EQ(names("auto s = R\"x(\n#include \"no\"\n)x\";\n#include \"a\"\n"), "a ");
    EXPECT_EQ(names("#error don't\n#include \"a\"\n"), "a ");
    EXPECT_EQ(names("/* #include \"no\"\n#include \"no\" */"), "");
    EXPECT_EQ(names("#include <a"), "? ");
    EXPECT_EQ(names("#include"), "? ");
}

TEST(DebugSource, names_the_file_after_the_first_kernel) {
    EXPECT_EQ(first_kernel("extern \"C\" __global__ void matmul() {}"), "matmul");
    EXPECT_EQ(
        first_kernel("template <int N>\n__global__ void __launch_bounds__(256, 2)\nsum (int)"),
        "sum");
    EXPECT_EQ(first_kernel("int f();"), "");
    EXPECT_EQ(first_kernel("__global__"), "");
}

TEST(DebugSource, is_readable_by_the_user_alone_and_deleted_in_the_end) {
    std::string path;
    {
        const DebugSource file("__global__ void f() {}", "my/tool");
        path = file.path();
        EXPECT_NE(path.find("/my_tool_f_"), std::string::npos) << path;
        EXPECT_TRUE(path.ends_with(".cu")) << path;
        std::ifstream in(path);
        EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "__global__ void f() {}");
        struct stat status{};
        ASSERT_EQ(::stat(path.c_str(), &status), 0);
        EXPECT_EQ(status.st_mode & 0777U, 0600U);
    }
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(DebugSource, keeps_a_file_that_replaced_its_own) {
    std::string path;
    {
        const DebugSource file("", "cuprum");
        path = file.path();
        std::filesystem::remove(path);
        std::ofstream(path + ".new") << "precious";
        std::filesystem::rename(path + ".new", path);
    }
    EXPECT_TRUE(std::filesystem::exists(path));
    std::filesystem::remove(path);
}

TEST(SymbolTable, comes_back_with_the_code) {
    const SymbolMapping symbols{{"f<int>", "_Z1fIiEvv"}, {"", "x"}};
    CodeWithSymbols packed{PaddedCode(with_symbols(symbols, bytes_of("code\0more"))), {}};
    ASSERT_TRUE(take_symbols(packed));
    EXPECT_EQ(packed.symbols, symbols);
    EXPECT_TRUE(std::ranges::equal(packed.code.bytes(), bytes_of("code\0more")));
}

TEST(SymbolTable, is_behind_the_code_which_tools_can_read) {
    const std::vector<std::byte> packed = with_symbols({{"name", "symbol"}}, bytes_of("code"));
    EXPECT_TRUE(
        std::ranges::equal(std::span(packed).first(bytes_of("code").size()), bytes_of("code")));
}

TEST(SymbolTable, damage_is_noticed_and_changes_nothing) {
    const std::vector<std::byte> whole = with_symbols({{"name", "symbol"}}, {});
    for (std::size_t size = 0; size < whole.size(); ++size) {
        CodeWithSymbols packed{PaddedCode(std::span(whole).first(size)), {}};
        EXPECT_FALSE(take_symbols(packed)) << size;
        EXPECT_EQ(packed.code.bytes().size(), size);
    }
    // The number of symbols, and the size of the table in bytes.
    for (const std::size_t number : {std::size_t{0}, whole.size() - 15 - 8}) {
        for (const int value : {0xFF, 0}) {
            CodeWithSymbols wrong{PaddedCode(whole), {}};
            std::memset(wrong.code.bytes().data() + number, value, 8);
            EXPECT_FALSE(take_symbols(wrong)) << number << " " << value;
        }
    }
}

TEST(PaddedCode, is_followed_by_nuls_also_when_it_is_shortened) {
    const auto has_nuls_behind = [](const PaddedCode& code) {
        const std::byte* const end = code.bytes().data() + code.bytes().size();
        return std::all_of(end, end + PaddedCode::PADDING_BYTES,
                           [](std::byte byte) { return byte == std::byte{0}; });
    };
    PaddedCode code(bytes_of("code and more"));
    EXPECT_TRUE(std::ranges::equal(code.bytes(), bytes_of("code and more")));
    EXPECT_TRUE(has_nuls_behind(code));
    code.shorten(4);
    EXPECT_TRUE(std::ranges::equal(code.bytes(), bytes_of("code")));
    EXPECT_TRUE(has_nuls_behind(code));
    const PaddedCode taken = std::move(code);
    EXPECT_EQ(taken.bytes().size(), 4U);
    EXPECT_TRUE(code.bytes().empty()); // NOLINT(bugprone-use-after-move): empty after a move
    EXPECT_TRUE(has_nuls_behind(PaddedCode(std::span<const std::byte>())));
    EXPECT_TRUE(PaddedCode().bytes().empty());
}

TEST(Fatbin, gives_its_ptx_back) {
    const auto ptx = bytes_of(".version 9.0\n");
    const auto cubin = bytes_of("cubin");
    using Kind = FatbinImage::Kind;
    const std::array images{FatbinImage{.kind = Kind::Cubin, .arch = "sm_90", .code = cubin},
                            FatbinImage{.kind = Kind::Ptx, .arch = "sm_90", .code = ptx}};
    const std::vector<std::byte> whole = write_fatbin(images);
    EXPECT_EQ(ptx_in_fatbin(whole), ".version 9.0\n");
    EXPECT_EQ(ptx_in_fatbin(write_fatbin(std::span(images).first(1))), "");
    for (std::size_t size = 0; size < whole.size(); ++size) {
        EXPECT_EQ(ptx_in_fatbin(std::span(whole).first(size)), "") << size;
    }
    EXPECT_EQ(ptx_in_fatbin(ptx), "");
}

/// A tree of folders with empty header files.
class HeaderTree : public ::testing::Test {
protected:
    ~HeaderTree() override { std::filesystem::remove_all(root_); }

    void put(const std::string& file) const {
        std::filesystem::create_directories((root_ / file).parent_path());
        std::ofstream(root_ / file) << "";
    }

    [[nodiscard]] std::vector<std::string> find(const std::string& compiler,
                                                libraries::Targets targets) const {
        const std::vector<std::string> roots{(root_ / "other").string(),
                                             (root_ / "toolkit").string()};
        auto found =
            find_include_directories(compiler.empty() ? "" : root_ / compiler, roots, targets);
        for (std::string& folder : found) {
            folder = std::filesystem::relative(folder, root_).string();
        }
        return found;
    }

    std::filesystem::path root_ =
        std::filesystem::temp_directory_path() / ("cuprum_headers_" + std::to_string(::getpid()));
};

TEST_F(HeaderTree, headers_are_those_of_the_wanted_architecture) {
    for (const char* target : {"x86_64-linux", "sbsa-linux"}) {
        put("toolkit/targets/" + std::string(target) + "/include/cuda_fp16.h");
        put("toolkit/targets/" + std::string(target) + "/include/cccl/cuda/std/type_traits");
    }
    using Folders = std::vector<std::string>;
    EXPECT_EQ(find("", libraries::X86_64_TARGETS),
              (Folders{"toolkit/targets/x86_64-linux/include",
                       "toolkit/targets/x86_64-linux/include/cccl"}));
    EXPECT_EQ(
        find("", libraries::ARM64_TARGETS),
        (Folders{"toolkit/targets/sbsa-linux/include", "toolkit/targets/sbsa-linux/include/cccl"}));
    put("toolkit/targets/aarch64-linux/include/cuda_fp16.h");
    std::filesystem::remove_all(root_ / "toolkit/targets/sbsa-linux");
    EXPECT_EQ(find("", libraries::ARM64_TARGETS),
              (Folders{"toolkit/targets/aarch64-linux/include"}));
}

TEST_F(HeaderTree, headers_of_the_compiler_come_before_all_others) {
    put("other/include/cuda_fp16.h");
    put("other/include/cuda/std/type_traits");
    EXPECT_EQ(find("", {}), (std::vector<std::string>{"other/include"}));
    put("mine/include/cuda_fp16.h");
    EXPECT_EQ(find("mine/targets/sbsa-linux/lib/libnvrtc.so.13", libraries::ARM64_TARGETS),
              (std::vector<std::string>{"mine/include", "other/include"}));
    EXPECT_EQ(find("mine/lib64/libnvrtc.so.13", {}),
              (std::vector<std::string>{"mine/include", "other/include"}));
}

TEST(OffendingLine, is_that_of_the_first_error) {
    const std::vector<std::pair<std::string, std::string>> texts{{"a.cu", "one\n  two\nthree"},
                                                                 {"b.h", "only"}};
    EXPECT_EQ(nvrtc::offending_line("a.cu(1): warning #1: odd\na.cu(2): error: bad\n", texts),
              "line 2 of \"a.cu\": two");
    EXPECT_EQ(nvrtc::offending_line("b.h(1): catastrophic error: bad\n", texts),
              "line 1 of \"b.h\": only");
    EXPECT_EQ(nvrtc::offending_line("/usr/include/x.h(7): error: bad\n", texts), "");
    EXPECT_EQ(nvrtc::offending_line("a.cu(99): error: bad\n", texts), "");
    EXPECT_EQ(nvrtc::offending_line("nonsense): error", texts), "");
    EXPECT_EQ(nvrtc::offending_line("", texts), "");
}

} // namespace
} // namespace cuprum::detail
