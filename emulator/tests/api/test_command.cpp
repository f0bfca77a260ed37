// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The command cuprum-emulator, as a user types it.

#include "support/shell.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

using cuprum::emulator::test::Outcome;
using cuprum::emulator::test::shell;

// `run` loads libraries first. The address sanitizer would require to be the first one.
const std::string SETTINGS = "ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0 ";
const std::string COMMAND = SETTINGS + CUPRUM_EMULATOR_COMMAND;
const std::string PROGRAM = CUPRUM_EMULATOR_PLAIN_PROGRAM;

} // namespace

TEST(Command, run_gives_a_program_the_emulated_driver_its_arguments_and_its_status) {
    const Outcome outcome = shell(COMMAND + " run " + PROGRAM + " one 'two words' --three");
    EXPECT_EQ(outcome.status, 7) << outcome.output;
    EXPECT_EQ(outcome.output, "Cuprum Emulated Device\n[one]\n[two words]\n[--three]\n");
}

TEST(Command, run_keeps_the_search_path_that_was_there) {
    const Outcome outcome =
        shell("LD_LIBRARY_PATH=/somewhere/else " + COMMAND + " run sh -c 'echo $LD_LIBRARY_PATH'");
    EXPECT_EQ(outcome.status, 0);
    EXPECT_NE(outcome.output.find(":/somewhere/else\n"), std::string::npos) << outcome.output;
}

TEST(Command, run_names_the_stand_ins_for_compilers) {
    const Outcome outcome = shell("LD_PRELOAD= " + COMMAND +
                                  " run sh -c 'echo $LD_PRELOAD; echo $TRITON_PTXAS_PATH; "
                                  "echo $TRITON_PTXAS_BLACKWELL_PATH; "
                                  "echo $MODULAR_NVPTX_COMPILER_PATH; "
                                  "echo $TRITON_LIBCUDA_PATH'");
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    const std::filesystem::path folder =
        std::filesystem::path(CUPRUM_EMULATOR_LIBRARY).parent_path();
    const std::string compilers = folder / "compilers/";
    std::string libraries;
    for (const char* const name :
         {"libnvfatbin.so.13:", "libnvfatbin.so.12:", "libnvrtc.so.13:", "libnvrtc.so.12:",
          "libnvJitLink.so.13:", "libnvJitLink.so.12\n"}) {
        libraries += compilers + name;
    }
    EXPECT_EQ(outcome.output, libraries + compilers + "ptxas\n" + compilers + "ptxas\n" +
                                  compilers + "ptxas\n" + folder.string() + "\n");
}

TEST(Command, run_names_the_stand_in_for_nvcc_only_if_there_is_nvcc) {
    const auto place = std::filesystem::path(testing::TempDir()) / "cuprum_toolkit";
    std::filesystem::create_directories(place / "bin");
    const std::string show =
        " run /bin/sh -c 'command -v nvcc; echo $CUDA_HOME$CUDA_ROOT; echo $PYTHONPATH'";
    const std::string path = "CUDA_HOME= PYTHONPATH=/own PATH=" + (place / "bin").string() + " ";
    const std::string folder =
        std::filesystem::path(CUPRUM_EMULATOR_LIBRARY).parent_path() / "compilers/";
    Outcome outcome = shell(path + COMMAND + show);
    EXPECT_EQ(outcome.output, "\n" + folder + "python:/own\n");
    std::ofstream(place / "bin/nvcc") << "#!/bin/sh\necho \"$@\"\n";
    std::filesystem::permissions(place / "bin/nvcc", std::filesystem::perms::owner_all);
    outcome = shell("unset CUDA_HOME; " + path.substr(path.find("PYTHON")) + COMMAND + show);
    EXPECT_EQ(outcome.output,
              folder + "bin/nvcc\n" + place.string() + "\n" + folder + "python:/own\n");
    const auto nvcc = [&](const std::string& arguments) {
        return shell("PATH=" + folder + "bin:" + (place / "bin").string() + ":$PATH nvcc " +
                     arguments)
            .output;
    };
    EXPECT_EQ(nvcc("-o program program.cu"), "-o program program.cu\n");
    EXPECT_EQ(nvcc("--cubin -arch sm_90 -I/a kernel.cu"),
              "--fatbin --no-compress -gencode arch=compute_90,code=compute_90 -I/a kernel.cu -o "
              "kernel.cubin\n");
    EXPECT_EQ(
        nvcc("-cubin -arch=sm_90a -o x a/kernel.cu"),
        "--fatbin --no-compress -gencode arch=compute_90a,code=compute_90a -o x a/kernel.cu\n");
    // The program chooses the code: PTX takes its place, or, in a fatbin, the place beside it.
    const std::string ptx = "--fatbin --no-compress -gencode arch=compute_80,code=compute_80 ";
    EXPECT_EQ(nvcc("--cubin -gencode arch=compute_80,code=sm_86 kernel.cu"),
              ptx + "kernel.cu -o kernel.cubin\n");
    EXPECT_EQ(nvcc("--cubin --generate-code=arch=compute_80,code=[sm_80] -o x kernel.cu"),
              ptx + "-o x kernel.cu\n");
    EXPECT_EQ(nvcc("-cubin -arch=compute_80 -code sm_80 -o x kernel.cu"), ptx + "-o x kernel.cu\n");
    EXPECT_EQ(nvcc("--fatbin -gencode arch=compute_90,code=sm_90 -gencode=arch=compute_80,code="
                   "'\"sm_80,sm_86\"' kernel.cu"),
              "--fatbin -gencode arch=compute_90,code=[sm_90,compute_90] -gencode "
              "arch=compute_80,code=[sm_80,sm_86,compute_80] kernel.cu\n");
    EXPECT_EQ(nvcc("-fatbin -gencode arch=compute_90,code=[sm_90,compute_90] kernel.cu"),
              "-fatbin -gencode arch=compute_90,code=[sm_90,compute_90] kernel.cu\n");
    EXPECT_EQ(nvcc("-fatbin -arch compute_90 -code=sm_90 kernel.cu"),
              "-fatbin -gencode arch=compute_90,code=[sm_90,compute_90] kernel.cu\n");
    EXPECT_EQ(nvcc("--fatbin -arch=sm_90 kernel.cu"), "--fatbin -arch=sm_90 kernel.cu\n");
    // These are NVIDIA's to decide.
    const std::string two =
        "--cubin -gencode=arch=compute_80,code=sm_80 -gencode=arch=compute_90,code=sm_90 kernel.cu";
    EXPECT_EQ(nvcc(two), two + "\n");
    EXPECT_EQ(nvcc("-o program -gencode=arch=compute_80,code=sm_80 program.cu"),
              "-o program -gencode=arch=compute_80,code=sm_80 program.cu\n");
    std::filesystem::remove_all(place);
}

TEST(Command, an_option_of_earlier_versions_is_accepted) {
    const Outcome program = shell(COMMAND + " run --driver-linker " + PROGRAM + " --driver-linker");
    EXPECT_EQ(program.status, 7);
    EXPECT_EQ(program.output, "Cuprum Emulated Device\n[--driver-linker]\n");
    EXPECT_EQ(shell(COMMAND + " run --driver-linker").status, 2);
}

TEST(Command, run_says_which_program_cannot_be_started) {
    const Outcome outcome = shell(COMMAND + " run /no/such/program");
    EXPECT_EQ(outcome.status, 127);
    EXPECT_NE(outcome.output.find("cannot run '/no/such/program': No such file"), std::string::npos)
        << outcome.output;
}

TEST(Command, info_shows_devices_and_settings) {
    const Outcome outcome = shell("CUPRUM_EMULATOR_DEVICES=2 CUPRUM_EMULATOR_MEMORY=512M "
                                  "CUPRUM_EMULATOR_COMPUTE_CAPABILITY=8.6 " +
                                  COMMAND + " info");
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_NE(outcome.output.find("CUDA: 13.4\n"), std::string::npos) << outcome.output;
    EXPECT_NE(outcome.output.find("device 1: Cuprum Emulated Device, compute capability 8.6, "
                                  "512 MiB, 16 multiprocessors, 0000:02:00.0\n"),
              std::string::npos)
        << outcome.output;
    EXPECT_NE(outcome.output.find("setting: CUPRUM_EMULATOR_DEVICES=2\n"), std::string::npos);
    EXPECT_NE(outcome.output.find("libcuda.so.1"), std::string::npos);
}

TEST(Command, info_says_what_hides_devices) {
    const Outcome some =
        shell("CUPRUM_EMULATOR_DEVICES=3 CUDA_VISIBLE_DEVICES=2 " + COMMAND + " info");
    EXPECT_EQ(some.status, 0) << some.output;
    EXPECT_NE(some.output.find(", 0000:03:00.0\n"), std::string::npos) << some.output;
    EXPECT_NE(some.output.find("setting: CUDA_VISIBLE_DEVICES=2\n"), std::string::npos)
        << some.output;
    const Outcome none = shell("CUDA_VISIBLE_DEVICES= " + COMMAND + " info");
    EXPECT_EQ(none.status, 1);
    EXPECT_NE(none.output.find("CUDA_VISIBLE_DEVICES hides all emulated devices: unset it, or list "
                               "the devices to use (CUDA_VISIBLE_DEVICES=0)"),
              std::string::npos)
        << none.output;
}

TEST(Command, a_wrong_setting_is_an_error) {
    const Outcome outcome = shell("CUPRUM_EMULATOR_DEVICES=none " + COMMAND + " info");
    EXPECT_EQ(outcome.status, 1);
    EXPECT_NE(outcome.output.find("CUPRUM_EMULATOR_DEVICES='none'"), std::string::npos)
        << outcome.output;
}

TEST(Command, the_library_is_found_in_every_layout_of_an_installation) {
    namespace fs = std::filesystem;
    const fs::path root = fs::path(testing::TempDir()) / "cuprum_command_layouts";
    for (const char* const layout :
         {"lib/cuprum", "lib64/cuprum", "lib/x86_64-linux-gnu/cuprum", "lib"}) {
        fs::remove_all(root);
        const fs::path folder = root / layout;
        fs::create_directories(folder);
        fs::create_directories(root / "bin");
        fs::create_directories(root / "lib/python3.10/site-packages"); // holds another package
        fs::copy_file(CUPRUM_EMULATOR_COMMAND, root / "bin/cuprum-emulator");
        fs::copy_file(CUPRUM_EMULATOR_LIBRARY, folder / "libcuda.so.1");
        const Outcome outcome = shell((root / "bin/cuprum-emulator").string() + " info");
        EXPECT_EQ(outcome.status, 0) << layout << ": " << outcome.output;
        EXPECT_TRUE(outcome.output.starts_with(
            "library: " + (fs::canonical(folder) / "libcuda.so.1").string() + "\n"))
            << layout << ": " << outcome.output;
    }
    fs::remove_all(root);
    fs::create_directories(root / "bin");
    fs::copy_file(CUPRUM_EMULATOR_COMMAND, root / "bin/cuprum-emulator");
    const Outcome missing = shell((root / "bin/cuprum-emulator").string() + " info");
    EXPECT_EQ(missing.status, 1);
    EXPECT_NE(missing.output.find("the emulated libcuda.so.1 was not found"), std::string::npos)
        << missing.output;
    fs::remove_all(root);
}

TEST(Command, a_library_that_others_can_change_is_not_loaded) {
    namespace fs = std::filesystem;
    const fs::path root = fs::path(testing::TempDir()) / "cuprum_command_of_others";
    fs::remove_all(root);
    fs::create_directories(root);
    fs::copy_file(CUPRUM_EMULATOR_COMMAND, root / "cuprum-emulator");
    fs::copy_file(CUPRUM_EMULATOR_LIBRARY, root / "libcuda.so.1");
    const std::string ignored = (fs::canonical(root) / "libcuda.so.1").string() +
                                ": another user can change it or its folder, ignored; ";
    const auto info = [&] { return shell((root / "cuprum-emulator").string() + " info"); };
    EXPECT_EQ(info().status, 0) << info().output;
    // In a folder for everyone, such as /tmp, only the owner can replace a file.
    fs::permissions(root, fs::perms::all | fs::perms::sticky_bit);
    EXPECT_EQ(info().status, 0) << info().output;
    if (::geteuid() == 0) {
        constexpr uid_t stranger = 4711;
        ASSERT_EQ(::chown((root / "libcuda.so.1").c_str(), stranger, -1), 0);
        EXPECT_EQ(info().status, 1);
        EXPECT_NE(info().output.find(ignored), std::string::npos) << info().output;
        ASSERT_EQ(::chown((root / "libcuda.so.1").c_str(), 0, -1), 0);
    }
    fs::permissions(root, fs::perms::all);
    EXPECT_EQ(info().status, 1);
    EXPECT_NE(info().output.find(ignored), std::string::npos) << info().output;
    fs::permissions(root, fs::perms::owner_all);
    fs::permissions(root / "libcuda.so.1", fs::perms::others_write, fs::perm_options::add);
    EXPECT_EQ(info().status, 1);
    EXPECT_NE(info().output.find(ignored), std::string::npos) << info().output;
    fs::remove_all(root);
}

TEST(Command, a_group_that_cannot_change_the_command_cannot_choose_its_library) {
    namespace fs = std::filesystem;
    const fs::path root = fs::path(testing::TempDir()) / "cuprum_command_of_a_group";
    fs::remove_all(root);
    fs::create_directories(root);
    const fs::path command = root / "cuprum-emulator";
    const fs::path library = root / "libcuda.so.1";
    fs::copy_file(CUPRUM_EMULATOR_COMMAND, command);
    fs::copy_file(CUPRUM_EMULATOR_LIBRARY, library);
    fs::permissions(command, fs::perms::group_write, fs::perm_options::remove);
    const auto info = [&] { return shell(command.string() + " info"); };
    for (const fs::path& place : {library, root}) {
        fs::permissions(place, fs::perms::group_write, fs::perm_options::add);
        EXPECT_EQ(info().status, 1);
        EXPECT_NE(info().output.find("another user can change it or its folder, ignored; take that "
                                     "right away (chmod go-w)"),
                  std::string::npos)
            << info().output;
        fs::permissions(command, fs::perms::group_write, fs::perm_options::add);
        EXPECT_EQ(info().status, 0) << info().output;
        fs::permissions(command, fs::perms::group_write, fs::perm_options::remove);
        fs::permissions(place, fs::perms::group_write, fs::perm_options::remove);
    }
    fs::remove_all(root);
}

TEST(Command, a_program_finds_the_driver_under_both_names) {
    const std::string program =
        " run python3 -c 'import ctypes; first = ctypes.CDLL(\"libcuda.so\"); "
        "second = ctypes.CDLL(\"libcuda.so.1\"); "
        "print(first.cuInit(0), ctypes.cast(first.cuInit, ctypes.c_void_p).value == "
        "ctypes.cast(second.cuInit, ctypes.c_void_p).value)'";
    const Outcome outcome = shell(COMMAND + program);
    EXPECT_EQ(outcome.output, "0 True\n");
}

TEST(Command, the_path_of_an_installation_may_contain_spaces) {
    namespace fs = std::filesystem;
    const fs::path root = fs::path(testing::TempDir()) / "cuprum command with spaces";
    const fs::path library = CUPRUM_EMULATOR_LIBRARY;
    fs::remove_all(root);
    fs::create_directories(root / "bin");
    fs::create_directories(root / "lib");
    fs::copy_file(CUPRUM_EMULATOR_COMMAND, root / "bin/cuprum-emulator");
    fs::copy_file(library, root / "lib/libcuda.so.1");
    fs::copy(library.parent_path() / "compilers", root / "lib/compilers",
             fs::copy_options::recursive);
    // Prints the stand-ins that the loader has loaded.
    const std::string loaded = "' run sh -c \"grep -o 'with spaces/lib/compilers/lib[^ ]*' "
                               "/proc/self/maps | LC_ALL=C sort -u\"";
    Outcome outcome = shell(SETTINGS + "'" + (root / "bin/cuprum-emulator").string() + loaded);
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    std::string expected;
    for (const char* const name : {"libnvJitLink.so.12", "libnvJitLink.so.13", "libnvfatbin.so.12",
                                   "libnvfatbin.so.13", "libnvrtc.so.12", "libnvrtc.so.13"}) {
        expected += std::string("with spaces/lib/compilers/") + name + "\n";
    }
    EXPECT_EQ(outcome.output, expected);
    // The loader cannot be told such a path.
    const fs::path colon = root.string() + " and: a colon";
    fs::remove_all(colon);
    fs::rename(root, colon);
    outcome = shell(SETTINGS + "'" + (colon / "bin/cuprum-emulator").string() + loaded);
    EXPECT_EQ(outcome.status, 1);
    EXPECT_NE(outcome.output.find("has a colon or semicolon"), std::string::npos) << outcome.output;
    fs::remove_all(colon);
}

TEST(Command, other_uses_show_how_it_is_done) {
    EXPECT_EQ(shell(COMMAND).status, 2);
    EXPECT_EQ(shell(COMMAND + " run").status, 2);
    const Outcome help = shell(COMMAND + " --help");
    EXPECT_EQ(help.status, 0);
    EXPECT_NE(help.output.find("usage: cuprum-emulator run PROGRAM"), std::string::npos);
    EXPECT_EQ(shell(COMMAND + " --version").status, 0);
}
