// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Variables of the environment that name files, and who may choose them.

#include "support/sanitized.hpp"
#include "support/shell.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace {

namespace fs = std::filesystem;
using cuprum::emulator::test::IS_SANITIZED;
using cuprum::emulator::test::Outcome;
using cuprum::emulator::test::shell;

constexpr uid_t STRANGER = 4711;

/// A folder of this test's own, removed at its end.
class Environment : public testing::Test {
protected:
    void SetUp() override {
        folder_ = fs::canonical(testing::TempDir()) /
                  ("cuprum_environment_" + std::to_string(::getpid())); // tests run side by side
        fs::remove_all(folder_);
        fs::create_directories(folder_);
    }

    void TearDown() override { fs::remove_all(folder_); }

    fs::path folder_;
};

/// Runs a program that uses the driver, and returns what it writes.
std::string info(const std::string& variables) {
    return shell("env -u CUPRUM_EMULATOR_RUNTIME_DIR " + variables +
                 " " CUPRUM_EMULATOR_COMMAND " info")
        .output;
}

} // namespace

TEST_F(Environment, a_program_with_the_rights_of_another_user_loads_no_library_of_its_caller) {
    if (::geteuid() != 0 || IS_SANITIZED) {
        GTEST_SKIP() << "only root can give a program the rights of another user";
    }
    const fs::path program = folder_ / "program";
    fs::copy_file(CUPRUM_EMULATOR_PRIVILEGED_PROGRAM, program);
    const fs::path chosen = folder_ / "chosen";
    const auto run = [&] {
        return shell("CUPRUM_NVRTC=" CUPRUM_FOREIGN_OTHER " CUPRUM_EMULATOR_RUNTIME_DIR=" +
                     chosen.string() + " " + program.string() +
                     " " CUPRUM_NVRTC_LIBRARY " " CUPRUM_EMULATOR_LIBRARY " " CUPRUM_FOREIGN_OTHER);
    };
    EXPECT_EQ(run().output, "plain: the chosen library is loaded\n");
    EXPECT_TRUE(fs::exists(chosen));
    fs::remove_all(chosen);
    fs::permissions(folder_, fs::perms::all);
    ASSERT_EQ(::chown(program.c_str(), STRANGER, -1), 0);
    fs::permissions(program, fs::perms::set_uid, fs::perm_options::add);
    const std::string output = run().output;
    if (output.find("privileged") == std::string::npos) {
        GTEST_SKIP() << "this file system gives programs no rights of their owners";
    }
    EXPECT_NE(output.find("privileged: the chosen library is not loaded\n"), std::string::npos)
        << output;
    EXPECT_FALSE(fs::exists(chosen));
}

TEST_F(Environment, processes_publish_in_the_private_folder_of_the_session) {
    fs::permissions(folder_, fs::perms::owner_all);
    (void)info("XDG_RUNTIME_DIR=" + folder_.string());
    EXPECT_TRUE(fs::is_directory(folder_ / "cuprum-emulator"));
    fs::remove_all(folder_ / "cuprum-emulator");
    // In a folder that others can enter they could be first.
    fs::permissions(folder_, fs::perms::group_read, fs::perm_options::add);
    (void)info("XDG_RUNTIME_DIR=" + folder_.string());
    EXPECT_FALSE(fs::exists(folder_ / "cuprum-emulator"));
}

TEST_F(Environment, a_folder_of_another_user_is_a_warning_with_a_way_out) {
    if (::geteuid() != 0) {
        GTEST_SKIP() << "only root can give a folder away";
    }
    const fs::path squatted = folder_ / "cuprum-emulator";
    fs::permissions(folder_, fs::perms::owner_all);
    fs::create_directory(squatted);
    fs::permissions(squatted, fs::perms::owner_all);
    ASSERT_EQ(::chown(squatted.c_str(), STRANGER, -1), 0);
    const std::string output = info("CUPRUM_EMULATOR_LOG=warn XDG_RUNTIME_DIR=" + folder_.string());
    EXPECT_NE(output.find("NVML cannot show this process: " + squatted.string() +
                          " belongs to another user; set CUPRUM_EMULATOR_RUNTIME_DIR to another "
                          "folder"),
              std::string::npos)
        << output;
    EXPECT_TRUE(fs::is_empty(squatted));
}
