// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What every version of CUDA's compilers must do. tools/test-matrix runs these tests with each, and
// names the libraries by CUPRUM_NVRTC, CUPRUM_NVJITLINK and CUPRUM_NVVM.

#include "support/device_test.hpp"
#include "support/expect_error.hpp"

#include <cuprum/compiler.hpp>
#include <cuprum/error.hpp>
#include <cuprum/libraries.hpp>
#include <cuprum/linker.hpp>
#include <cuprum/program.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

namespace cuprum {
namespace {

constexpr const char* KERNEL = "extern \"C\" __global__ void f(int* x) { *x = 42; }";
constexpr const char* TEMPLATE =
    "template <typename T> __global__ void add(T* x, T y) { x[threadIdx.x] += y; }";
constexpr const char* CALLER = "extern __device__ int twice(int);\n"
                               "extern \"C\" __global__ void f(int* x) { *x = twice(21); }";
constexpr const char* CALLED = "__device__ int twice(int x) { return 2 * x; }";

class CompilerMatrix : public testing::DeviceTest {
protected:
    void expect_answer(const ObjectCode& code) {
        const Buffer out = upload(std::vector<int>{0});
        launch(stream(), {}, code.get_kernel("f"), out);
        EXPECT_EQ(download<int>(out), std::vector{42});
    }

    static std::vector<ObjectCode> parts(CodeType type) {
        std::vector<ObjectCode> result;
        for (const char* const source : {CALLER, CALLED}) {
            result.push_back(
                Program(source, ProgramOptions{.relocatable_device_code = true}).compile(type));
        }
        return result;
    }
};

/// IR of a kernel that stores 42, in the version that the library wants.
std::string nvvm_ir() {
    const std::string version = compiler_version(CompilerBackend::Nvvm); // "..., IR 2.0, debug 3.2"
    int numbers[4] = {};
    EXPECT_EQ(std::sscanf(version.c_str() + version.find("IR "), "IR %d.%d, debug %d.%d",
                          &numbers[0], &numbers[1], &numbers[2], &numbers[3]),
              4)
        << version;
    std::ostringstream text;
    text << "target triple = \"nvptx64-unknown-cuda\"\n"
            "target datalayout = \"e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-"
            "i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-"
            "n16:32:64\"\n"
            "define void @f(i32* %x) {\n  store i32 42, i32* %x\n  ret void\n}\n"
            "!nvvm.annotations = !{!1}\n!1 = !{void (i32*)* @f, !\"kernel\", i32 1}\n"
            "!nvvmir.version = !{!0}\n!0 = !{i32 "
         << numbers[0] << ", i32 " << numbers[1] << ", i32 " << numbers[2] << ", i32 " << numbers[3]
         << "}\n";
    return text.str();
}

TEST_F(CompilerMatrix, the_libraries_are_those_that_were_named) {
    for (const LibraryInfo& library : compiler_libraries()) {
        const std::string variable = library.name == "NVRTC"       ? "CUPRUM_NVRTC"
                                     : library.name == "nvJitLink" ? "CUPRUM_NVJITLINK"
                                                                   : "CUPRUM_NVVM";
        if (const char* const named = std::getenv(variable.c_str())) {
            EXPECT_EQ(library.path, named);
            EXPECT_NE(library.version, "");
        }
    }
}

TEST_F(CompilerMatrix, programs_become_ptx_and_cubins) {
    for (const CodeType type : {CodeType::Ptx, CodeType::Cubin}) {
        expect_answer(Program(KERNEL).compile(type));
    }
}

TEST_F(CompilerMatrix, templates_are_found_by_their_names) {
    const std::string name = "add<float>";
    const ObjectCode code =
        Program(TEMPLATE).compile(CodeType::Cubin, {.name_expressions = {name}});
    const Buffer out = upload(std::vector<float>{1, 2});
    launch(stream(), {.grid = 1, .block = 2}, code.get_kernel(name), out, 0.5F);
    EXPECT_EQ(download<float>(out), (std::vector<float>{1.5F, 2.5F}));
}

TEST_F(CompilerMatrix, errors_have_the_log_of_the_compiler) {
    testing::expect_error<NVRTCError>(
        [] { (void)Program("__global__ void f() { undeclared(); }").compile(CodeType::Ptx); },
        {"NVRTC_ERROR_COMPILATION", "undeclared", "line 1 of"});
    testing::expect_error<NVRTCError>(
        [] { (void)Program("", {.arch = "sm_999"}).compile(CodeType::Ptx); },
        {"does not support architecture \"sm_999\"", "90"});
    testing::expect_error<NVRTCError>(
        [] { (void)Program("", {.extra = {"--frobnicate"}}).compile(CodeType::Ptx); },
        {"does not know --frobnicate", compiler_version(CompilerBackend::Nvrtc)});
}

TEST_F(CompilerMatrix, code_of_every_kind_is_linked) {
    for (const CodeType type : {CodeType::LtoIr, CodeType::Ptx, CodeType::Cubin}) {
        const std::vector<ObjectCode> inputs = parts(type);
        expect_answer(Linker(inputs).link(CodeType::Cubin));
    }
    const std::vector<ObjectCode> inputs = parts(CodeType::LtoIr);
    expect_answer(Linker(inputs, {.link_time_optimization = true}).link(CodeType::Ptx));
}

TEST_F(CompilerMatrix, a_failed_link_names_the_call) {
    const std::vector<ObjectCode> inputs{parts(CodeType::Ptx).front()};
    testing::expect_error<LinkerError>([&] { (void)Linker(inputs).link(CodeType::Cubin); },
                                       {"nvJitLinkComplete", "-arch=sm_"});
}

TEST_F(CompilerMatrix, nvvm_ir_becomes_ptx) {
    expect_answer(Program(nvvm_ir(), SourceType::Nvvm).compile(CodeType::Ptx));
    EXPECT_GT(Program(nvvm_ir(), SourceType::Nvvm).compile(CodeType::LtoIr).code().size(), 100U);
    testing::expect_error<NVVMError>(
        [] { (void)Program("no IR", SourceType::Nvvm).compile(CodeType::Ptx); }, {"nvvm"});
}

} // namespace
} // namespace cuprum
