// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "libraries/nvvm.hpp"
#include "program/nvvm.hpp"
#include "support/device_test.hpp"
#include "support/expect_error.hpp"

#include <cuprum/error.hpp>
#include <cuprum/linker.hpp>
#include <cuprum/program.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace cuprum {
namespace {

using testing::expect_error;

/// Returns a module of NVVM IR with the parts that every module needs.
std::string module_of(const std::string& body, const std::string& kernel = {}) {
    int ir_major = 0;
    int ir_minor = 0;
    int debug_major = 0;
    int debug_minor = 0;
    nvvm::table().nvvmIRVersion(&ir_major, &ir_minor, &debug_major, &debug_minor);
    const auto number = [](int value) { return "i32 " + std::to_string(value); };
    std::string text =
        "target triple = \"nvptx64-unknown-cuda\"\n"
        "target datalayout = \"e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-"
        "i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-"
        "n16:32:64\"\n" +
        body + "\n!nvvmir.version = !{!0}\n!0 = !{" + number(ir_major) + ", " + number(ir_minor) +
        ", " + number(debug_major) + ", " + number(debug_minor) + "}\n";
    if (!kernel.empty()) {
        // Linking removes unused functions, so mark the kernel as used.
        text += "@llvm.used = appending global [1 x i8*] [i8* bitcast (void (i32*)* @" + kernel +
                " to i8*)], section \"llvm.metadata\"\n";
        text +=
            "!nvvm.annotations = !{!1}\n!1 = !{void (i32*)* @" + kernel + ", !\"kernel\", i32 1}\n";
    }
    return text;
}

const std::string STORE = "define void @store(i32* %x) {\n  store i32 42, i32* %x\n  ret void\n}";
const std::string CALL = "declare i32 @answer()\ndefine void @store(i32* %x) {\n"
                         "  %v = call i32 @answer()\n  store i32 %v, i32* %x\n  ret void\n}";
const std::string ANSWER = "define i32 @answer() {\n  ret i32 42\n}";

class NVVMOnDevice : public testing::DeviceTest {
protected:
    void expect_answer(const ObjectCode& code) {
        const Buffer out = upload(std::vector<int>{0});
        launch(stream(), {}, code.get_kernel("store"), out);
        EXPECT_EQ(download<int>(out), std::vector{42});
    }
};

TEST_F(NVVMOnDevice, ir_compiles_to_ptx_that_runs) {
    const Program program(module_of(STORE, "store"), SourceType::Nvvm);
    EXPECT_EQ(program.backend(), CompilerBackend::Nvvm);
    EXPECT_NE(program.handle(), nullptr);
    EXPECT_EQ(program.compiler_options().front(), "-arch=compute_" + device().arch());
    const ObjectCode code = program.compile(CodeType::Ptx);
    EXPECT_NE(code.text().find(".entry store("), std::string_view::npos);
    expect_answer(code);
}

TEST_F(NVVMOnDevice, ir_compiles_to_lto_code_that_links_and_runs) {
    const std::array code{
        Program(module_of(STORE, "store"), SourceType::Nvvm).compile(CodeType::LtoIr)};
    EXPECT_EQ(code[0].code_type(), CodeType::LtoIr);
    expect_answer(Linker(code).link(CodeType::Cubin));
}

TEST_F(NVVMOnDevice, further_modules_are_linked_in) {
    const Program program(module_of(CALL, "store"), SourceType::Nvvm,
                          {.extra_sources = {{"answer", module_of(ANSWER)}}});
    expect_answer(program.compile(CodeType::Ptx));
}

TEST(NVVM, libdevice_is_found_and_linked) {
    const std::string body =
        "declare float @__nv_sinf(float)\n"
        "define void @store(i32* %x) {\n"
        "  %s = call float @__nv_sinf(float 1.0)\n"
        "  %i = fptosi float %s to i32\n  store i32 %i, i32* %x\n  ret void\n}";
    const ProgramOptions with{.arch = "sm_90", .use_libdevice = true};
    const ObjectCode code =
        Program(module_of(body, "store"), SourceType::Nvvm, with).compile(CodeType::Ptx);
    EXPECT_EQ(code.text().find("__nv_sinf"), std::string_view::npos) << "it was not linked";
    const ProgramOptions without{.arch = "sm_90"};
    const ObjectCode open =
        Program(module_of(body, "store"), SourceType::Nvvm, without).compile(CodeType::Ptx);
    EXPECT_NE(open.text().find("__nv_sinf"), std::string_view::npos);
}

TEST(NVVM, ir_that_is_not_valid_gives_log_and_options) {
    const Program program("this is no IR", SourceType::Nvvm, {.name = "mine", .arch = "sm_90"});
    expect_error<NVVMError>(
        [&] { static_cast<void>(program.compile(CodeType::Ptx)); },
        {"nvvmVerifyProgram", "NVVM_ERROR", "mine", "-arch=compute_90", "NVVM program log", "IR "});
    EXPECT_NE(program.log(), "");
}

TEST(NVVM, options_become_single_dashed_flags) {
    const ProgramOptions options{.arch = "sm_90a",
                                 .debug = true,
                                 .device_code_optimize = false,
                                 .ftz = true,
                                 .prec_sqrt = false,
                                 .prec_div = true,
                                 .fma = false,
                                 .numba_debug = true};
    EXPECT_EQ(
        options.to_nvvm(CodeType::LtoIr),
        (std::vector<std::string>{"-arch=compute_90a", "-g", "-opt=0", "-ftz=1", "-prec-sqrt=0",
                                  "-prec-div=1", "-fma=0", "-numba-debug", "-gen-lto"}));
}

TEST(NVVM, options_it_cannot_honour_are_refused_by_name) {
    expect_error<UnsupportedOptionError>(
        [] {
            const Program program("", SourceType::Nvvm,
                                  {.arch = "sm_90", .std = "c++17", .lineinfo = true});
        },
        {"std", "lineinfo", "NVVM"});
}

TEST(NVVM, targets_that_cannot_be_are_refused) {
    const Program program(module_of(STORE, "store"), SourceType::Nvvm, {.arch = "sm_90"});
    for (const CodeType target : {CodeType::Cubin, CodeType::Fatbin}) {
        expect_error<std::invalid_argument>([&] { static_cast<void>(program.compile(target)); },
                                            {to_string(target), "NVVM", "ltoir"});
    }
    expect_error<std::invalid_argument>([&] { program.cancel(); }, {"nvvm", "C++"});
}

} // namespace
} // namespace cuprum
