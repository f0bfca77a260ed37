// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What the cache key of a compilation depends on.

#include "libraries/nvrtc.hpp"
#include "libraries/nvvm.hpp"
#include "program/cache/digest.hpp"
#include "program/cache/key.hpp"
#include "support/expect_error.hpp"
#include "support/file.hpp"

#include <cuprum/device.hpp>
#include <cuprum/linker.hpp>
#include <cuprum/program.hpp>
#include <cuprum/program_cache.hpp>

#include <gtest/gtest.h>

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cuprum {
namespace {

using testing::expect_error;

constexpr const char* KERNEL = "extern \"C\" __global__ void f() {}";

TEST(ProgramCacheKey, differs_with_everything_that_matters) {
    const auto key = [](std::string_view source, ProgramOptions options = {},
                        CodeType target = CodeType::Ptx, std::vector<std::string> names = {},
                        std::optional<std::string> digest = {}) {
        if (!options.arch.has_value()) {
            options.arch = "sm_90";
        }
        return Program(source, std::move(options)).cache_key(target, names, digest);
    };
    const std::vector<std::string> keys{
        key(KERNEL),
        key("extern \"C\" __global__ void g() {}"),
        key(KERNEL, {}, CodeType::Cubin),
        key(KERNEL, {}, CodeType::LtoIr),
        key(KERNEL, {.arch = "sm_80"}),
        key(KERNEL, {.name = "other"}),
        key(KERNEL, {.std = "c++20"}),
        key(KERNEL, {.define_macro = {{"A", "1"}}}),
        key(KERNEL, {.define_macro = {{"A", "2"}}}),
        key(KERNEL, {.headers = {{"a.h", "1"}}}),
        key(KERNEL, {.headers = {{"a.h", "2"}}}),
        key(KERNEL, {}, CodeType::Ptx, {"a"}),
        key(KERNEL, {}, CodeType::Ptx, {"a", "b"}),
        key(KERNEL, {}, CodeType::Ptx, {}, "digest"),
        key(KERNEL, {}, CodeType::Ptx, {}, ""),
    };
    for (std::size_t i = 0; i < keys.size(); ++i) {
        EXPECT_EQ(keys[i].size(), 32U);
        for (std::size_t j = 0; j < i; ++j) {
            EXPECT_NE(keys[i], keys[j]) << i << " and " << j;
        }
    }
    EXPECT_EQ(key(KERNEL), keys[0]);
    EXPECT_EQ(key(KERNEL, {}, CodeType::Ptx, {"b", "a"}), keys[12]) << "their order is no matter";
}

// Other keys would make every cache on disk useless. Change these only with the schema in key.cpp.
TEST(ProgramCacheKey, is_the_same_in_every_version) {
    if (!Device(0).is_emulated()) {
        GTEST_SKIP() << "cubins for a GPU have other keys, because they hold no PTX";
    }
    ProgramOptions options{.arch = "sm_90"};
    const auto key = [](const ProgramCacheKeyParts& parts) {
        return detail::hexadecimal(
            detail::make_key(parts, detail::SourceFacts(parts.code), "compiler 13.0 build"));
    };
    EXPECT_EQ(key({.code = KERNEL, .compiler_options = options.to_nvrtc(), .name = options.name}),
              "a55a4988a707be8526ae6c6b5ad393034129da43824e4a72ceec615966462617");
    EXPECT_EQ(key({.code = KERNEL,
                   .language = SourceType::Nvvm,
                   .compiler_options = options.to_nvvm(CodeType::LtoIr),
                   .name = options.name}),
              "43c772b0369ae74e3d14f66d8514e0fd09614c0cc0d198d1e102025a98ee20d4");
    EXPECT_EQ(key({.code = KERNEL,
                   .language = SourceType::Ptx,
                   .compiler_options = options.to_linker().to_nvjitlink(),
                   .name = options.name}),
              "cc4468697c427072e713ead9a3c2739f5ac0918a28bea67bf7d401e1b2ff66b9");

    // Options of every kind: the order of the flags is part of the key, too.
    options.std = "c++20";
    options.define_macro = {{"A", std::nullopt}, {"B", "2"}};
    options.undefine_macro = {"C"};
    options.debug = true;
    options.lineinfo = true;
    options.device_code_optimize = true;
    options.ftz = true;
    options.prec_sqrt = false;
    options.prec_div = false;
    options.fma = false;
    options.max_register_count = 32;
    options.split_compile = 4;
    options.ptxas_options = {"-v", "-O2"};
    options.link_time_optimization = true;
    options.no_cache = true;
    ProgramOptions cxx = options;
    cxx.diag_error = {1, 2};
    cxx.use_fast_math = true;
    cxx.ofast_compile = "mid";
    cxx.frandom_seed = "7";
    cxx.pch_verbose = false;
    cxx.extra = {"--dump"};
    const std::vector<std::string> names{"b", "a"};
    const std::vector<std::pair<std::string, std::string>> sources{{"more", "text"}};
    EXPECT_EQ(key({.code = KERNEL,
                   .compiler_options = cxx.to_nvrtc(),
                   .name = "name",
                   .name_expressions = names,
                   .uses_default_include_path = false,
                   .extra_digest = "digest"}),
              "ea3ce08638446ec3eae13f019e03d0fc8159a6002ca510690acf39df285a7ac1");
    EXPECT_EQ(key({.code = KERNEL,
                   .language = SourceType::Ptx,
                   .target = CodeType::Cubin,
                   .compiler_options = options.to_linker().to_nvjitlink(),
                   .extra_sources = sources}),
              "a372b27641744948d15489dbd7d79ad804286f9bf99704b93a1d729a5c449976");
}

TEST(ProgramCacheKey, differs_with_the_file_of_the_compiler) {
    const auto folder =
        std::filesystem::temp_directory_path() / ("cuprum_key_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    const std::string library = folder / "libnvrtc.so.13";
    const auto key = [&library] { // as for a compiler that reports 13.0 whatever its patch level
        return detail::make_key({.code = KERNEL}, detail::SourceFacts(KERNEL),
                                "NVRTC 13.0 " + detail::file_identity(library));
    };
    std::ofstream(library) << "13.0.48";
    const std::string before = key();
    EXPECT_EQ(key(), before);
    std::ofstream(library) << "13.0.88 patched";
    EXPECT_NE(key(), before) << "a patch update must not find old code";
    std::filesystem::remove_all(folder);
}

TEST(ProgramCacheKey, knows_the_build_of_the_loaded_compilers) {
    for (const auto& [language, build] :
         {std::pair{SourceType::Cxx, nvrtc::Library::loaded().build},
          std::pair{SourceType::Nvvm, nvvm::Library::loaded().build}}) {
        const std::string toolchain = detail::toolchain_of(language);
        EXPECT_FALSE(build.empty());
        EXPECT_NE(toolchain.find(build), std::string::npos) << toolchain;
        EXPECT_EQ(detail::toolchain_of(language), toolchain);
    }
}

TEST(ProgramCacheKey, refuses_what_it_cannot_see) {
    const auto refused = [](std::string_view source, ProgramOptions options,
                            std::initializer_list<std::string_view> parts) {
        options.arch = "sm_90";
        const Program program(source, std::move(options));
        expect_error<std::invalid_argument>(
            [&] { static_cast<void>(program.cache_key(CodeType::Ptx)); }, parts);
        return program;
    };
    const auto seen = [](const Program& program) {
        EXPECT_NO_THROW(static_cast<void>(program.cache_key(CodeType::Ptx, {}, "digest")));
    };
    seen(refused("#include NAME", {}, {"the source", "macro", "extra_digest"}));
    seen(refused("#if __has_include(NAME)\n#endif", {}, {"the source", "macro"}));
    seen(refused("", {.headers = {{"mine.h", "#include NAME"}}}, {"\"mine.h\"", "macro"}));
    seen(refused("", {.pch = true}, {"pch", "extra_digest"}));
    seen(refused("", {.use_pch = "x"}, {"use_pch", "extra_digest"}));
    seen(refused("", {.pch_dir = "/x"}, {"pch_dir", "extra_digest"}));
    seen(refused("#define ASKS __has_include\n#if ASKS(<a.h>)\n#endif", {}, {"macro"}));
    for (const std::string option :
         {"-I/usr/include", "-I", "--include-path=/usr", "-include", "--pre-include=a.h", "-pch",
          "--pch-dir=/usr", "-use-pch=a.pch", "-Xptxas=-optf=a.txt"}) {
        seen(refused("", {.extra = {option}}, {"\"" + option + "\"", "extra_digest"}));
    }
    for (const std::string option : {"--options-file=a.txt", "-optf=a.txt"}) {
        seen(refused("", {.ptxas_options = {option}}, {"\"" + option + "\"", "extra_digest"}));
        EXPECT_THROW(check_cacheable(SourceType::Ptx, {.ptxas_options = {option}}, false),
                     std::invalid_argument);
    }
    for (const ProgramOptions& options :
         {ProgramOptions{.time = "x.csv"}, ProgramOptions{.fdevice_time_trace = "x"},
          ProgramOptions{.create_pch = "x"}, ProgramOptions{.extra = {"--time=x.csv"}},
          ProgramOptions{.extra = {"-time=x.csv"}}, ProgramOptions{.extra = {"--create-pch=x"}},
          ProgramOptions{.extra = {"--minimal", "-fdevice-time-trace=x"}}}) {
        const Program program = refused("", options, {"writes a file", "side effect"});
        EXPECT_THROW(static_cast<void>(program.cache_key(CodeType::Ptx, {}, "digest")),
                     std::invalid_argument);
    }
    const Program known("#include <cuda_fp16.h>\n#include \"cuda_bf16.h\"\n#include \"mine.h\"\n",
                        {.arch = "sm_90", .headers = {{"mine.h", ""}}});
    EXPECT_NO_THROW(static_cast<void>(known.cache_key(CodeType::Ptx)));
}

/// Provides folders with headers, which are deleted afterwards.
class IncludedFiles : public ::testing::Test {
protected:
    void SetUp() override {
        std::string pattern = ::testing::TempDir() + "cuprum_includes_XXXXXX";
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
        std::filesystem::create_directories(folder_ / "first");
        std::filesystem::create_directories(folder_ / "second");
    }

    void TearDown() override { std::filesystem::remove_all(folder_); }

    void write(const std::string& name, const std::string& text) const {
        std::ofstream(folder_ / name) << text;
    }

    [[nodiscard]] std::string in(const std::string& name) const {
        return (folder_ / name).string();
    }

    /// Returns the key of a source that finds headers in both folders.
    [[nodiscard]] std::string key(const std::string& source, ProgramOptions options = {}) const {
        options.arch = "sm_90";
        options.include_path = {in("first"), in("second")};
        return Program(source, std::move(options)).cache_key(CodeType::Ptx);
    }

    std::filesystem::path folder_;
};

TEST_F(IncludedFiles, change_the_key_with_their_contents) {
    write("second/a.h", "#include \"b.h\"\n");
    write("second/b.h", "#define B 1\n");
    for (const std::string source : {"#include <a.h>\n", "#include \"a.h\"\n"}) {
        write("second/b.h", "#define B 1\n");
        const std::string before = key(source);
        EXPECT_EQ(key(source), before);
        write("second/b.h", "#define B 2\n");
        EXPECT_NE(key(source), before) << "a header of a header";
        write("second/b.h", "#define B 1\n");
        EXPECT_EQ(key(source), before) << "contents count, not times";
    }
}

TEST_F(IncludedFiles, that_come_to_hide_others_change_the_key) {
    write("second/a.h", "#define A 1\n");
    const std::string before = key("#include <a.h>\n");
    write("first/a.h", "#define A 2\n");
    EXPECT_NE(key("#include <a.h>\n"), before);
}

TEST_F(IncludedFiles, are_found_however_the_directive_is_written) {
    const std::vector<std::string> sources{
        "#import <a.h>\n",
        "#inc\\\nlude <a.h>\n",
        "#inc\\\r\nlude <a.h>\n",
        "#\vinclude\f<a.h>\n",
        "?\?=include <a.h>\n",
        "#inc?\?/\nlude <a.h>\n",
        "// why?\?/\n#include <a.h>\n",
        "/* a */ # /* b\n */ include /* c */ <a.h>\n",
        "const int n = 1'000; const char* s = \"'/*\";\n#include <a.h>\n",
        "#define BAR\nconst char* s = BAR\"(\";\n#include <a.h>\nconst char* t = \")\";\n",
    };
    for (const std::string& source : sources) {
        write("second/a.h", "#define A 1\n");
        const std::string before = key(source);
        write("second/a.h", "#define A 2\n");
        EXPECT_NE(key(source), before) << source;
    }
}

TEST_F(IncludedFiles, need_no_digest_where_a_header_only_defines_has_include) {
    write("first/a.h", "#ifndef __has_include\n#define __has_include(x) 0\n#endif\n"
                       "#if defined(__has_include)\n#endif\n");
    EXPECT_EQ(key("#include <a.h>\n").size(), 32U);
}

TEST_F(IncludedFiles, that_appear_change_what_has_include_says) {
    const std::string source = "#if __has_include(<a.h>)\n#define HAS 1\n#endif\n";
    const std::string before = key(source);
    write("second/a.h", "");
    EXPECT_NE(key(source), before);
}

TEST_F(IncludedFiles, that_are_not_included_do_not_matter) {
    write("first/a.h", "1");
    const std::string before = key(KERNEL);
    write("first/a.h", "2");
    EXPECT_EQ(key(KERNEL), before);
}

TEST_F(IncludedFiles, are_found_from_pre_include_headers_in_memory_and_the_sources_folder) {
    write("first/a.h", "1");
    write("c.h", "1");
    const ProgramOptions before_source{.pre_include = {"a.h"}};
    const ProgramOptions in_memory{.headers = {{"m.h", "#include <a.h>\n"}}};
    const ProgramOptions in_folder{.name = in("x.cu")};
    const std::vector<std::string> before{key(KERNEL, before_source), key(KERNEL, in_memory),
                                          key("#include \"c.h\"\n", in_folder)};
    write("first/a.h", "2");
    write("c.h", "2");
    EXPECT_NE(key(KERNEL, before_source), before[0]);
    EXPECT_NE(key(KERNEL, in_memory), before[1]);
    EXPECT_NE(key("#include \"c.h\"\n", in_folder), before[2]);
}

TEST_F(IncludedFiles, may_include_each_other) {
    write("first/a.h", "#include \"b.h\"\n");
    write("first/b.h", "#include \"a.h\"\n");
    EXPECT_EQ(key("#include <a.h>\n").size(), 32U);
}

TEST_F(IncludedFiles, with_names_from_macros_are_refused_with_the_file) {
    write("first/a.h", "#include NAME\n");
    expect_error<std::invalid_argument>([&] { static_cast<void>(key("#include <a.h>\n")); },
                                        {in("first/a.h"), "macro", "extra_digest"});
}

TEST_F(IncludedFiles, a_changed_header_is_compiled_again) {
    InMemoryProgramCache cache;
    const Program program("#include <a.h>\nextern \"C\" __global__ void f(int* x) { *x = A; }",
                          {.arch = "sm_90", .include_path = {in("first")}});
    const auto ptx = [&] {
        return std::string(program.compile(CodeType::Ptx, {.cache = &cache}).text());
    };
    write("first/a.h", "#define A 1234567\n");
    EXPECT_NE(ptx().find("1234567"), std::string::npos);
    write("first/a.h", "#define A 7654321\n");
    EXPECT_NE(ptx().find("7654321"), std::string::npos);
    EXPECT_EQ(cache.count(), 2U);
}

/// A cache in which a header changes between the question for code and the compilation.
class EditingCache final : public ProgramCache {
public:
    explicit EditingCache(std::function<void()> edit) : edit_(std::move(edit)) {}

    std::optional<std::vector<std::byte>> get(std::string_view key) override {
        auto found = cache_.get(key);
        edit_();
        return found;
    }

    void put(std::string_view key, std::span<const std::byte> code) override {
        cache_.put(key, code);
    }

    bool remove(std::string_view key) override { return cache_.remove(key); }

    std::size_t count() override { return cache_.count(); }

    void clear() override { cache_.clear(); }

private:
    InMemoryProgramCache cache_;
    std::function<void()> edit_;
};

TEST_F(IncludedFiles, that_change_during_the_compilation_leave_nothing_in_the_cache) {
    std::string next = "#define A 7654321\n";
    EditingCache cache([&] { write("first/a.h", next); });
    const Program program("#include <a.h>\nextern \"C\" __global__ void f(int* x) { *x = A; }",
                          {.arch = "sm_90", .include_path = {in("first")}});
    const auto ptx = [&] {
        return std::string(program.compile(CodeType::Ptx, {.cache = &cache}).text());
    };
    write("first/a.h", "#define A 1234567\n");
    EXPECT_NE(ptx().find("7654321"), std::string::npos);
    EXPECT_EQ(cache.count(), 0U);
    write("first/a.h", "#define A 1234567\n");
    next = "#define A 1234567\n";
    EXPECT_NE(ptx().find("1234567"), std::string::npos) << "code of another header";
    EXPECT_EQ(cache.count(), 1U);
}

TEST_F(IncludedFiles, that_are_remembered_are_limited) {
    std::string source;
    std::string folder = "/etc";
    for (std::size_t i = 0; i < 100; ++i) {
        folder += "/.";
        source += "#include \"" + folder + "/passwd\"\n"; // a file that no test changes
    }
    const std::size_t before = detail::remembered_files();
    EXPECT_EQ(key(source), key(source));
    EXPECT_EQ(detail::remembered_files(), before + 100) << "each is read once";
    std::size_t most = 0;
    for (std::size_t i = 0; i <= detail::MAX_REMEMBERED_FILES; ++i) {
        folder = i % 100 == 0 ? "/etc/" + std::string(i / 100, '/') : folder + "/.";
        static_cast<void>(key("#include \"" + folder + "/passwd\"\n"));
        most = std::max(most, detail::remembered_files());
    }
    EXPECT_LE(most, detail::MAX_REMEMBERED_FILES);
}

TEST_F(IncludedFiles, of_cuda_itself_are_known_by_any_path) {
    ProgramOptions options{.arch = "sm_90"};
    options.include_path = default_include_directories();
    const Program program("#include <cuda/std/type_traits>\n#include <cuda_fp16.h>\n", options);
    EXPECT_EQ(program.cache_key(CodeType::Ptx).size(), 32U);
}

TEST(ProgramCacheKey, libdevice_is_seen) {
    const auto key = [](bool uses_libdevice) {
        return Program("abc", SourceType::Nvvm, {.arch = "sm_90", .use_libdevice = uses_libdevice})
            .cache_key(CodeType::Ptx);
    };
    EXPECT_NE(key(true), key(false));
}

} // namespace
} // namespace cuprum
