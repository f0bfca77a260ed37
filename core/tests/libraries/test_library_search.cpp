// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "libraries/search.hpp"
#include "support/scoped_variable.hpp"

#include <cuprum/detail/runtime.hpp>
#include <cuprum/error.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

namespace cuprum {

namespace {

namespace fs = std::filesystem;

using detail::SharedLibrary;
using libraries::LibraryRequest;
using testing::ScopedVariable;

constexpr const char* VARIABLE = "CUPRUM_PROBE_LIBRARY";

/// Provides an empty folder with no CUDA variable set, and real libraries to put into it. Each test
/// uses its own library name, because the loader never forgets a library that it loaded.
class LibrarySearch : public ::testing::Test {
protected:
    LibrarySearch() {
        root_ = fs::temp_directory_path() /
                ("cuprum_search_" + std::to_string(::getpid()) + "_" + test_name());
        fs::create_directories(root_);
        for (const char* name :
             {VARIABLE, "VIRTUAL_ENV", "CONDA_PREFIX", "CUDA_HOME", "CUDA_PATH"}) {
            variables_.push_back(std::make_unique<ScopedVariable>(name, std::nullopt));
        }
        names_ = {"lib" + test_name() + ".so.13", "lib" + test_name() + ".so.12"};
        name_pointers_ = {names_[0].c_str(), names_[1].c_str()};
    }

    ~LibrarySearch() override {
        detail::set_library_search_paths({});
        fs::remove_all(root_);
    }

    static std::string test_name() {
        return ::testing::UnitTest::GetInstance()->current_test_info()->name();
    }

    [[nodiscard]] LibraryRequest request() const {
        return {.name = "Probe",
                .file_names = name_pointers_,
                .variable = VARIABLE,
                .advice = "install it"};
    }

    /// Puts a loadable library into the folder and returns its path.
    fs::path put(const fs::path& folder, int version = 13) const {
        std::vector<std::string> tried;
        const auto original = detail::open_library("libm.so.6", tried);
        const fs::path file = root_ / folder / names_[version == 13 ? 0 : 1];
        fs::create_directories(file.parent_path());
        fs::copy_file(original->path, file);
        return file;
    }

    void set(const char* name, const fs::path& value) {
        variables_.push_back(std::make_unique<ScopedVariable>(name, value.string()));
    }

    [[nodiscard]] static bool has(const std::vector<std::string>& tried, std::string_view part) {
        return std::any_of(tried.begin(), tried.end(), [&](const std::string& place) {
            return place.find(part) != std::string::npos;
        });
    }

    fs::path root_;

private:
    std::array<std::string, 2> names_;
    std::array<const char*, 2> name_pointers_{};
    std::vector<std::unique_ptr<ScopedVariable>> variables_;
};

} // namespace

TEST_F(LibrarySearch, not_found_lists_every_place) {
    set("VIRTUAL_ENV", root_ / "venv");
    set("CONDA_PREFIX", root_ / "conda");
    set("CUDA_HOME", root_ / "home");
    set("CUDA_PATH", root_ / "path");
    detail::set_library_search_paths({(root_ / "given").string()});
    try {
        (void)libraries::load_library(request());
        FAIL();
    } catch (const LibraryNotFoundError& error) {
        EXPECT_EQ(error.library(), "Probe");
        const auto& tried = error.tried();
        EXPECT_TRUE(has(tried, "already loaded: no"));
        EXPECT_TRUE(has(tried, std::string(VARIABLE) + ": not set"));
        EXPECT_TRUE(has(tried, (root_ / "given").string() + ": has none"));
        EXPECT_TRUE(has(tried, (root_ / "conda/lib").string() + ": has none"));
        EXPECT_TRUE(has(tried, "cannot open shared object file"));
        EXPECT_TRUE(has(tried, (root_ / "home/lib64").string() + ": has none"));
        for (const char* target : libraries::BUILD_TARGETS) {
            EXPECT_TRUE(has(tried, (root_ / "path/targets" / target / "lib").string()));
        }
        EXPECT_TRUE(has(tried, "/usr/local/cuda/lib64: has none"));
        EXPECT_NE(std::string(error.what()).find("install it"), std::string::npos);
    }
}

TEST_F(LibrarySearch, already_loaded_comes_first) {
    static constexpr std::array NAMES{"libm.so.6"}; // already loaded in every C++ program
    const fs::path loaded = put("named");
    set(VARIABLE, loaded);
    const SharedLibrary library = libraries::load_library(
        {.name = "Probe", .file_names = NAMES, .variable = VARIABLE, .advice = ""});
    EXPECT_NE(library.path, loaded.string());
    EXPECT_NE(library.find("cos"), nullptr);
    EXPECT_EQ(library.find("no_such_symbol_here"), nullptr);
}

TEST_F(LibrarySearch, variable_beats_packages) {
    const fs::path named = put("named");
    put("site/nvidia/cu13/lib");
    detail::set_library_search_paths({(root_ / "site").string()});
    set(VARIABLE, named);
    EXPECT_EQ(libraries::load_library(request()).path, named.string());
}

TEST_F(LibrarySearch, relative_variable_is_ignored_and_listed) {
    set(VARIABLE, "libprobe.so");
    try {
        (void)libraries::load_library(request());
        FAIL();
    } catch (const LibraryNotFoundError& error) {
        EXPECT_TRUE(has(error.tried(), "libprobe.so: not an absolute path, ignored"));
    }
}

TEST_F(LibrarySearch, packages_are_found_in_a_given_site_packages_folder_newest_first) {
    put("site/nvidia/cuda_probe/lib", 12);
    const fs::path newest = put("site/nvidia/z_cu13/lib", 13);
    detail::set_library_search_paths({"relative/site", (root_ / "site").string()});
    EXPECT_EQ(libraries::load_library(request()).path, newest.string());
}

TEST_F(LibrarySearch, given_folder_may_hold_the_library_itself) {
    const fs::path file = put("folder", 12);
    detail::set_library_search_paths({(root_ / "folder").string()});
    EXPECT_EQ(libraries::load_library(request()).path, file.string());
}

TEST_F(LibrarySearch, packages_are_found_in_the_virtual_environment) {
    const fs::path file = put("venv/lib/python3.11/site-packages/nvidia/cu13/lib");
    set("VIRTUAL_ENV", root_ / "venv");
    EXPECT_EQ(libraries::load_library(request()).path, file.string());
}

TEST_F(LibrarySearch, conda_beats_the_toolkit) {
    const fs::path conda = put("conda/lib");
    put("toolkit/lib64");
    set("CONDA_PREFIX", root_ / "conda");
    set("CUDA_HOME", root_ / "toolkit");
    EXPECT_EQ(libraries::load_library(request()).path, conda.string());
}

TEST_F(LibrarySearch, toolkit_is_found_in_the_layout_of_the_build_architecture) {
    ASSERT_FALSE(libraries::BUILD_TARGETS.empty());
    const fs::path file =
        put(fs::path("toolkit/targets") / libraries::BUILD_TARGETS.front() / "lib");
    set("CUDA_PATH", root_ / "toolkit");
    EXPECT_EQ(libraries::load_library(request()).path, file.string());
}

TEST_F(LibrarySearch, toolkit_of_another_architecture_is_passed_over) {
    put("toolkit/targets/x86_64-linux/lib");
    const fs::path server = put("toolkit/targets/sbsa-linux/lib");
    put("toolkit/targets/aarch64-linux/lib");
    set("CUDA_HOME", root_ / "toolkit");
    LibraryRequest arm = request();
    arm.targets = libraries::ARM64_TARGETS;
    EXPECT_EQ(libraries::load_library(arm).path, server.string());
}

TEST_F(LibrarySearch, toolkit_of_jetson_is_found) {
    put("toolkit/targets/x86_64-linux/lib");
    const fs::path jetson = put("toolkit/targets/aarch64-linux/lib");
    set("CUDA_HOME", root_ / "toolkit");
    LibraryRequest arm = request();
    arm.targets = libraries::ARM64_TARGETS;
    EXPECT_EQ(libraries::load_library(arm).path, jetson.string());
}

TEST_F(LibrarySearch, conda_is_searched_for_the_wanted_architecture) {
    const fs::path server = put("conda/targets/sbsa-linux/lib");
    put("toolkit/lib64");
    set("CONDA_PREFIX", root_ / "conda");
    set("CUDA_HOME", root_ / "toolkit");
    LibraryRequest arm = request();
    arm.targets = libraries::ARM64_TARGETS;
    EXPECT_EQ(libraries::load_library(arm).path, server.string());
    const auto roots = libraries::component_roots(libraries::ARM64_TARGETS);
    for (const char* folder :
         {"conda/targets/sbsa-linux", "conda/targets/aarch64-linux", "conda"}) {
        EXPECT_TRUE(has(roots, (root_ / folder).string())) << folder;
    }
    EXPECT_FALSE(has(roots, "x86_64-linux"));
}

TEST_F(LibrarySearch, file_that_cannot_be_loaded_is_listed_with_the_reason_and_passed_over) {
    const fs::path good = put("toolkit/lib64");
    fs::create_directories(root_ / "conda/lib");
    std::ofstream(root_ / "conda/lib" / good.filename()) << "not a library";
    set("CONDA_PREFIX", root_ / "conda");
    set("CUDA_HOME", root_ / "toolkit");
    EXPECT_EQ(libraries::load_library(request()).path, good.string());
    fs::remove(good);
    std::vector<std::string> tried;
    EXPECT_FALSE(detail::open_library((root_ / "conda/lib" / good.filename()).string(), tried));
    ASSERT_EQ(tried.size(), 1U);
    EXPECT_TRUE(has(tried, "conda/lib/")) << tried[0];
    EXPECT_TRUE(has(tried, "file too short") || has(tried, "invalid ELF header")) << tried[0];
}

} // namespace cuprum
