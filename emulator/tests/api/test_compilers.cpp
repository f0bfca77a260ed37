// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The stand-ins for NVIDIA's compilers, as Triton and Numba use them.

#include "api/driver.hpp"
#include "support/sanitized.hpp"
#include "support/shell.hpp"

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using namespace cuprum::emulator::test;

namespace {

constexpr const char* STORE = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry store(.param .u64 out) {
    .reg .b64 %rd<2>;
    .reg .b32 %r<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, 42;
    st.global.u32 [%rd1], %r1;
    ret;
}
)";

constexpr const char* CALLER = R"(.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 result) answer();
.visible .entry store(.param .u64 out) {
    .reg .b64 %rd<2>;
    .reg .b32 %r<2>;
    ld.param.u64 %rd1, [out];
    {
    .param .b32 retval0;
    call.uni (retval0), answer, ();
    ld.param.b32 %r1, [retval0];
    }
    st.global.u32 [%rd1], %r1;
    ret;
}
)";

constexpr const char* CALLED = R"(.version 8.0
.target sm_80
.address_size 64
.visible .func (.param .b32 result) answer() {
    st.param.b32 [result], 42;
    ret;
}
)";

/// Loads code, runs its kernel "store" and returns what it stored.
std::uint32_t run_store(const std::string& image) {
    EXPECT_TRUE(returns(CUDA_SUCCESS, CU(cuInit)(0)));
    CUcontext context = nullptr;
    EXPECT_TRUE(returns(CUDA_SUCCESS, CU(cuDevicePrimaryCtxRetain)(&context, 0)));
    EXPECT_TRUE(returns(CUDA_SUCCESS, CU(cuCtxPushCurrent)(context)));
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    CUdeviceptr word = 0;
    std::uint32_t value = 0;
    EXPECT_TRUE(returns(CUDA_SUCCESS, CU(cuModuleLoadData)(&module, image.data())));
    EXPECT_TRUE(returns(CUDA_SUCCESS, CU(cuModuleGetFunction)(&function, module, "store")));
    EXPECT_TRUE(returns(CUDA_SUCCESS, CU(cuMemAlloc)(&word, 4)));
    void* arguments[] = {&word};
    EXPECT_TRUE(returns(CUDA_SUCCESS, CU(cuLaunchKernel)(function, 1, 1, 1, 1, 1, 1, 0, nullptr,
                                                         arguments, nullptr)));
    EXPECT_TRUE(returns(CUDA_SUCCESS, CU(cuMemcpyDtoH)(&value, word, 4)));
    EXPECT_TRUE(returns(CUDA_SUCCESS, CU(cuMemFree)(word)));
    EXPECT_TRUE(returns(CUDA_SUCCESS, CU(cuModuleUnload)(module)));
    EXPECT_TRUE(returns(CUDA_SUCCESS, CU(cuCtxPopCurrent)(&context)));
    EXPECT_TRUE(returns(CUDA_SUCCESS, CU(cuDevicePrimaryCtxRelease)(0)));
    return value;
}

} // namespace

class Ptxas : public testing::Test {
protected:
    void SetUp() override {
        folder_ = std::filesystem::path(testing::TempDir()) /
                  ("cuprum_ptxas_" +
                   std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
        std::filesystem::create_directories(folder_);
    }

    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::string write(const char* name, const std::string& text) {
        std::ofstream(folder_ / name) << text;
        return folder_ / name;
    }

    static Outcome ptxas(const std::string& arguments) {
        return shell(CUPRUM_PTXAS " " + arguments);
    }

    [[nodiscard]] std::string read(const char* name) const {
        std::ifstream file(folder_ / name, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    std::filesystem::path folder_;
};

TEST_F(Ptxas, code_that_it_wraps_runs) {
    const std::string source = write("store.ptx", STORE);
    const Outcome outcome = ptxas("-lineinfo -v --regAllocOptLevel=2 --fmad=false --opt-level 3 "
                                  "-O3 --gpu-name=sm_90 " +
                                  source + " -o " + (folder_ / "store.o").string());
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_NE(outcome.output.find("Compiling entry function 'store' for 'sm_90'"),
              std::string::npos)
        << outcome.output;
    EXPECT_NE(outcome.output.find(" registers, 0 bytes smem"), std::string::npos);
    EXPECT_TRUE(read("store.o").starts_with("\x50\xed\x55\xba")) << "a fatbin";
    EXPECT_EQ(run_store(read("store.o")), 42U);
}

TEST_F(Ptxas, lines_of_inline_assembly_are_those_of_its_statement) {
    const std::string lines = "    .loc 1 7 5\n    // begin inline asm\n    .loc 1 7 5\n"
                              "    mov.u32 %r1, 41;\n    .loc 1 8 5\n    add.u32 %r1, %r1, 1;\n"
                              "    // end inline asm\n    .loc 1 9 5\n    st.global.u32 [%rd1], ";
    std::string code = STORE;
    code.replace(code.find("    mov.u32 %r1, 42;"), std::strlen("    mov.u32 %r1, 42;\n"), "");
    code.replace(code.find("    st.global.u32 [%rd1], "), std::strlen("    st.global.u32 [%rd1], "),
                 lines);
    code.insert(code.find(".visible"), ".file 1 \"kernel.py\"\n");
    const Outcome outcome =
        ptxas("-arch=sm_90 " + write("inline.ptx", code) + " -o " + (folder_ / "out").string());
    ASSERT_EQ(outcome.status, 0) << outcome.output;
    const std::string image = read("out");
    EXPECT_EQ(run_store(image), 42U);
    EXPECT_NE(image.find(".loc 1 7 5"), std::string::npos);
    EXPECT_NE(image.find(".loc 1 9 5"), std::string::npos);
    EXPECT_EQ(image.find(".loc 1 8 5"), std::string::npos);
}

TEST_F(Ptxas, wrong_code_is_an_error_with_its_line) {
    const std::string source =
        write("bad.ptx", ".version 8.0\n.target sm_80\n.address_size 64\n"
                         ".visible .entry e() { .reg .u32 %r<3>; add.u32 %r1, %r2, %q; ret; }\n");
    const std::string out = folder_ / "bad.o";
    const Outcome outcome = ptxas("-arch=sm_90 " + source + " -o " + out);
    EXPECT_EQ(outcome.status, 255);
    EXPECT_EQ(outcome.output, "ptxas " + source +
                                  ", line 4; error   : register '%q' is not declared\n"
                                  "ptxas fatal   : Ptx assembly aborted due to errors\n");
    EXPECT_FALSE(std::filesystem::exists(out));
    const std::string newer = write("newer.ptx", STORE);
    EXPECT_NE(ptxas("-arch=sm_75 " + newer + " -o " + out).output.find("sm_80"), std::string::npos);
}

TEST_F(Ptxas, objects_may_use_functions_of_others) {
    const std::string source = write("caller.ptx", CALLER);
    const std::string out = folder_ / "caller.o";
    EXPECT_NE(ptxas("-arch sm_80 " + source + " -o " + out).output.find("answer"),
              std::string::npos);
    const Outcome outcome = ptxas("-c -arch sm_80 " + source + " -o " + out);
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_FALSE(read("caller.o").empty());
}

TEST_F(Ptxas, a_virtual_architecture_only_checks) {
    const std::string source = write("store.ptx", STORE);
    const std::string out = folder_ / "store.o";
    EXPECT_EQ(ptxas("-arch=compute_90 " + source + " -o " + out).status, 0);
    EXPECT_FALSE(std::filesystem::exists(out));
}

TEST_F(Ptxas, options_come_from_files_too) {
    const std::string source = write("store.ptx", STORE);
    const std::string out = folder_ / "from_file.o";
    const std::string options = write("options", "-arch=sm_80\n-o " + out + "\n");
    const Outcome outcome = ptxas("--options-file " + options + " " + source);
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_TRUE(std::filesystem::exists(out));
    const std::string endless = folder_ / "endless";
    write("endless", "-optf " + endless + "\n");
    EXPECT_NE(ptxas("-optf " + endless).output.find("endless' name itself?"), std::string::npos);
}

TEST_F(Ptxas, huge_files_of_options_cost_little_memory) {
    if (IS_SANITIZED) {
        GTEST_SKIP() << "sanitizers need more memory than this test leaves";
    }
    // Many arguments in a file that names itself, and a file without an end.
    std::string many;
    for (int i = 0; i < 50'000; ++i) {
        many += "-v ";
    }
    const std::string itself = folder_ / "itself";
    write("itself", many + "-optf " + itself + " -optf " + itself + "\n");
    for (const std::string& path : {itself, std::string("/dev/zero")}) {
        const Outcome outcome = shell("ulimit -v 400000; " CUPRUM_PTXAS " -optf " + path);
        EXPECT_EQ(outcome.status, 255) << outcome.output;
        EXPECT_NE(outcome.output.find("options files hold more than 1048576 bytes"),
                  std::string::npos)
            << outcome.output;
    }
}

TEST_F(Ptxas, what_it_does_not_know_is_refused) {
    const auto says = [](const std::string& arguments, const char* text) {
        const Outcome outcome = ptxas(arguments);
        EXPECT_EQ(outcome.status, 255) << arguments;
        EXPECT_NE(outcome.output.find(text), std::string::npos) << outcome.output;
    };
    says("--frobnicate x.ptx", "Unknown option '-frobnicate'");
    says("-arch=gfx90a x.ptx", "Value 'gfx90a' is not defined for option 'gpu-name'");
    says("-arch=sm_ x.ptx", "Value 'sm_' is not defined");
    says("-arch=sm_90b x.ptx", "Value 'sm_90b' is not defined");
    says("-arch=sm_99999999999 x.ptx", "Value 'sm_99999999999' is not defined");
    says("-m 32 x.ptx", "Value '32' is not defined for option 'machine'");
    says("-o", "option '-o' needs a value");
    says("--verbose=false x.ptx", "no argument expected after '--verbose'");
    says("--maxrregcount=abc x.ptx", "Invalid value 'abc' for option 'maxrregcount'");
    says("--fmad=maybe x.ptx", "'maybe': expected true or false");
    says("--opt-level x x.ptx", "'x': expected a number");
    says("-Oabc x.ptx", "'abc': expected a number");
    says("-dlcm=wb x.ptx", "Value 'wb' is not defined for option 'def-load-cache'");
    says("--Ofast-compile=fast x.ptx", "Value 'fast' is not defined for option 'Ofast-compile'");
    says("--sanitize=all x.ptx", "Value 'all' is not defined for option 'sanitize'");
    says("-g -O3 x.ptx", "Optimized debugging not supported");
    says("--opt-level 2 --device-debug x.ptx", "Optimized debugging not supported");
    says("/no/such.ptx", "Input file '/no/such.ptx' could not be opened");
    says("", "No input files specified");
    const std::string source = write("store.ptx", STORE);
    says("-arch sm_91 " + source, "the emulated device has no such compute capability");
    says("-arch sm_80 -e other " + source, "Entry function 'other' is not defined");
    says("-arch sm_80 " + source + " -o /no/such/folder/x.o", "Could not write output file");
}

TEST_F(Ptxas, options_that_change_what_a_kernel_does_are_a_warning) {
    const std::string source = write("store.ptx", STORE);
    const std::string arguments =
        " -arch sm_90 -g -O0 --sanitize=memcheck " + source + " -o " + (folder_ / "out").string();
    const Outcome outcome = ptxas(arguments);
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.output,
              "ptxas warning : option 'sanitize' has no effect on the emulated device\n");
    EXPECT_EQ(ptxas("-w" + arguments).output, "");
}

TEST_F(Ptxas, a_limit_of_registers_holds_for_kernels_without_one) {
    const std::string source = write("store.ptx", STORE);
    const Outcome outcome =
        ptxas("-arch sm_90 --maxrregcount=2 " + source + " -o " + (folder_ / "out").string());
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_NE(read("out").find(".maxnreg 2"), std::string::npos);
    EXPECT_EQ(run_store(read("out")), 42U);
}

TEST_F(Ptxas, functions_that_no_kernel_calls_are_checked) {
    std::string code = CALLED;
    code.replace(code.find("42;"), 3, "%r1;");
    const std::string source = write("called.ptx", code);
    const Outcome outcome = ptxas("-c -arch sm_90 " + source + " -o " + (folder_ / "out").string());
    EXPECT_EQ(outcome.status, 255);
    EXPECT_NE(outcome.output.find("ptxas " + source + ", line 5; error   : "), std::string::npos)
        << outcome.output;
}

TEST_F(Ptxas, its_version_is_one_that_programs_can_read) {
    const Outcome outcome = ptxas("--version");
    EXPECT_EQ(outcome.status, 0);
    EXPECT_NE(outcome.output.find("release 13.4, V13.4."), std::string::npos) << outcome.output;
    EXPECT_EQ(ptxas("--help").status, 0);
}

// ---- nvJitLink ---------------------------------------------------------------------------------

namespace {

template <typename... Arguments>
int jit(const char* name, Arguments... arguments) {
    static void* const opened = ::dlopen(CUPRUM_NVJITLINK_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    void* const function = ::dlsym(opened, name);
    EXPECT_NE(function, nullptr) << name;
    return reinterpret_cast<int (*)(Arguments...)>(function)(arguments...);
}

constexpr int PTX_INPUT = 2;
constexpr int ANY_INPUT = 10;

/// One link; the option says for which device.
class JitLink {
public:
    explicit JitLink(const char* option = "-lineinfo") : JitLink(std::vector{option}) {}

    explicit JitLink(std::vector<const char*> options) {
        options.insert(options.begin(), "-arch=sm_90");
        EXPECT_EQ(jit("nvJitLinkCreate", &handle_, static_cast<std::uint32_t>(options.size()),
                      options.data()),
                  0);
    }

    ~JitLink() { EXPECT_EQ(jit("nvJitLinkDestroy", &handle_), 0); }

    JitLink(const JitLink&) = delete;
    JitLink& operator=(const JitLink&) = delete;

    int add(int type, const std::string& text, const char* name) {
        return jit("nvJitLinkAddData", handle_, type, static_cast<const void*>(text.c_str()),
                   text.size() + 1, name);
    }

    int complete() { return jit("__nvJitLinkComplete_13_0", handle_); }

    std::string cubin() {
        std::size_t size = 0;
        EXPECT_EQ(jit("nvJitLinkGetLinkedCubinSize", handle_, &size), 0);
        std::string cubin(size, '\0');
        EXPECT_EQ(jit("nvJitLinkGetLinkedCubin", handle_, static_cast<void*>(cubin.data())), 0);
        return cubin;
    }

    std::string information() {
        std::size_t size = 0;
        EXPECT_EQ(jit("nvJitLinkGetInfoLogSize", handle_, &size), 0);
        std::string log(size, '\0');
        EXPECT_EQ(jit("nvJitLinkGetInfoLog", handle_, log.data()), 0);
        return log.c_str();
    }

    std::string errors() {
        std::size_t size = 0;
        EXPECT_EQ(jit("nvJitLinkGetErrorLogSize", handle_, &size), 0);
        std::string log(size, '\0');
        EXPECT_EQ(jit("nvJitLinkGetErrorLog", handle_, log.data()), 0);
        return log.c_str();
    }

    void* handle_ = nullptr;
};

} // namespace

TEST(NvJitLink, code_of_two_inputs_is_linked_and_runs) {
    JitLink link;
    EXPECT_EQ(link.add(PTX_INPUT, CALLER, "caller"), 0) << link.errors();
    EXPECT_EQ(link.add(ANY_INPUT, CALLED, "called"), 0) << link.errors();
    ASSERT_EQ(link.complete(), 0) << link.errors();
    EXPECT_EQ(run_store(link.cubin()), 42U);
    CUcontext context = nullptr;
    EXPECT_TRUE(returns(CUDA_SUCCESS, CU(cuCtxGetCurrent)(&context)));
    EXPECT_EQ(context, nullptr) << "the current context is as before";
}

TEST(NvJitLink, a_limit_of_registers_holds_for_kernels_without_one) {
    // Both kernels keep 40 values until the end.
    const auto kernel = [](const std::string& name, const std::string& limit) {
        std::string text = ".visible .entry " + name + "(.param .u64 out)" + limit +
                           " {\n.reg .b64 %rd;\n.reg .b32 %r<41>;\nld.param.u64 %rd, [out];\n";
        for (int i = 0; i < 40; ++i) {
            text += "ld.volatile.global.u32 %r" + std::to_string(i) + ", [%rd];\n";
        }
        for (int i = 1; i < 40; ++i) {
            text += "add.u32 %r0, %r0, %r" + std::to_string(i) + ";\n";
        }
        return text + "st.global.u32 [%rd], %r0;\nret;\n}\n";
    };
    const std::string code = ".version 8.0\n.target sm_80\n.address_size 64\n" +
                             kernel("free", "") + kernel("own", " .maxnreg 24");
    EXPECT_TRUE(returns(CUDA_SUCCESS, CU(cuInit)(0)));
    CUcontext context = nullptr;
    EXPECT_TRUE(returns(CUDA_SUCCESS, CU(cuDevicePrimaryCtxRetain)(&context, 0)));
    EXPECT_TRUE(returns(CUDA_SUCCESS, CU(cuCtxPushCurrent)(context)));
    const auto registers = [&](const char* option, const char* name) {
        JitLink link(option);
        EXPECT_EQ(link.add(PTX_INPUT, code, "kernels"), 0) << link.errors();
        EXPECT_EQ(link.complete(), 0) << link.errors();
        CUmodule module = nullptr;
        CUfunction function = nullptr;
        int count = 0;
        EXPECT_TRUE(returns(CUDA_SUCCESS, CU(cuModuleLoadData)(&module, link.cubin().data())));
        EXPECT_TRUE(returns(CUDA_SUCCESS, CU(cuModuleGetFunction)(&function, module, name)));
        EXPECT_TRUE(returns(CUDA_SUCCESS,
                            CU(cuFuncGetAttribute)(&count, CU_FUNC_ATTRIBUTE_NUM_REGS, function)));
        EXPECT_TRUE(returns(CUDA_SUCCESS, CU(cuModuleUnload)(module)));
        return count;
    };
    EXPECT_GE(registers("-lineinfo", "free"), 40);
    EXPECT_EQ(registers("-lineinfo", "own"), 24);
    EXPECT_EQ(registers("-maxrregcount=32", "free"), 32);
    EXPECT_EQ(registers("-maxrregcount=32", "own"), 24);
    EXPECT_TRUE(returns(CUDA_SUCCESS, CU(cuCtxPopCurrent)(&context)));
    EXPECT_TRUE(returns(CUDA_SUCCESS, CU(cuDevicePrimaryCtxRelease)(0)));
}

TEST(NvJitLink, errors_have_a_text) {
    JitLink unresolved;
    EXPECT_EQ(unresolved.add(PTX_INPUT, CALLER, "caller"), 0);
    EXPECT_NE(unresolved.complete(), 0);
    EXPECT_NE(unresolved.errors().find("answer"), std::string::npos) << unresolved.errors();
    std::size_t size = 0;
    EXPECT_NE(jit("nvJitLinkGetLinkedCubinSize", unresolved.handle_, &size), 0);
    JitLink broken;
    EXPECT_NE(broken.add(PTX_INPUT, "no PTX at all", "broken"), 0);
    EXPECT_NE(broken.errors().find("broken"), std::string::npos) << broken.errors();
    EXPECT_NE(broken.add(99, STORE, "odd"), 0);
    EXPECT_NE(broken.errors().find("odd: 99 is not a type of input"), std::string::npos);
    JitLink empty;
    EXPECT_EQ(empty.complete(), 0);
    EXPECT_NE(jit("nvJitLinkGetLinkedCubinSize", empty.handle_, &size), 0);
    EXPECT_NE(empty.errors().find("there is no linked cubin"), std::string::npos);
}

TEST(NvJitLink, options_are_checked) {
    const auto expect = [](std::vector<const char*> options, int code, const char* text) {
        void* handle = nullptr;
        EXPECT_EQ(jit("nvJitLinkCreate", &handle, static_cast<std::uint32_t>(options.size()),
                      options.data()),
                  code)
            << text;
        std::size_t size = 0;
        EXPECT_EQ(jit("nvJitLinkGetErrorLogSize", handle, &size), 0);
        std::string log(size, '\0');
        EXPECT_EQ(jit("nvJitLinkGetErrorLog", handle, log.data()), 0);
        EXPECT_NE(log.find(text), std::string::npos) << log;
        EXPECT_EQ(jit("nvJitLinkDestroy", &handle), 0);
    };
    expect({"-lto"}, 2, "-arch=sm_XX is missing");
    expect({"-arch=sm_90", "-frobnicate"}, 1, "unrecognized option: '-frobnicate'");
    expect({"-arch=sm_90", nullptr}, 1, "unrecognized option: ''");
    for (const char* const odd : {"-arch=gfx90", "-arch=", "-arch=sm_", "-arch=sm_1", "-arch=90",
                                  "-arch=sm_90b", "-arch=sm_9000000000000"}) {
        expect({odd}, 1, "names no architecture");
    }
    expect({"-arch=sm_90", "-maxrregcount=many"}, 1, "'-maxrregcount=many' has no number");
    expect({"-arch=sm_90", "-ptx"}, 3, "-ptx needs -lto");
    expect({"-arch=sm_90", "-r"}, 1, "give all inputs to one link");
    expect({"-arch=sm_90", "-ftz=abc"}, 1, "'-ftz=abc' has no 0 or 1 after the '='");
    expect({"-arch=sm_90", "-kernels-used="}, 1, "'-kernels-used=' has no value");
    expect({"-arch=sm_90", "-Ofc=fast"}, 1, "'-Ofc=fast' has no 'min', 'mid' or 'max'");
    expect({"-arch=sm_90", "-O1"}, 1, "unrecognized option: '-O1'");
    expect({"-arch=sm_90", "-Xptxas=--frob"}, 1, "-Xptxas: Unknown option '-frob'");
    expect({"-arch=sm_90", "-g", "-O3"}, 3, "optimized debugging is not supported");
    for (const char* const known : {"-arch=sm_90a", "-arch=sm_107f", "-arch=compute_80"}) {
        expect({known}, 0, "");
    }
    EXPECT_EQ(jit("nvJitLinkCreate", static_cast<void**>(nullptr), std::uint32_t{0},
                  static_cast<const char**>(nullptr)),
              3);
    unsigned major = 0;
    unsigned minor = 0;
    EXPECT_EQ(jit("nvJitLinkVersion", &major, &minor), 0);
    EXPECT_EQ(major, 13U);
}

TEST(NvJitLink, a_link_with_refused_options_can_only_be_destroyed) {
    void* handle = nullptr;
    std::array<const char*, 2> options{"-arch=sm_90", "-frobnicate"};
    EXPECT_EQ(jit("nvJitLinkCreate", &handle, std::uint32_t{2}, options.data()), 1);
    EXPECT_EQ(jit("nvJitLinkAddData", handle, PTX_INPUT, static_cast<const void*>(STORE),
                  std::strlen(STORE) + 1, "store"),
              3);
    EXPECT_EQ(jit("nvJitLinkComplete", handle), 3);
    std::size_t size = 0;
    EXPECT_EQ(jit("nvJitLinkGetLinkedCubinSize", handle, &size), 3);
    EXPECT_EQ(jit("nvJitLinkGetErrorLogSize", handle, &size), 0);
    std::string log(size, '\0');
    EXPECT_EQ(jit("nvJitLinkGetErrorLog", handle, log.data()), 0);
    EXPECT_NE(log.find("unrecognized option: '-frobnicate'\nthe options of this link were refused: "
                       "it can only be destroyed\n"),
              std::string::npos)
        << log;
    EXPECT_EQ(jit("nvJitLinkDestroy", &handle), 0);
}

TEST(NvJitLink, the_information_log_has_what_options_ask_for) {
    const auto log_with = [](const char* option) {
        JitLink link(option);
        EXPECT_EQ(link.add(PTX_INPUT, STORE, "store"), 0) << link.errors();
        EXPECT_EQ(link.complete(), 0) << link.errors();
        return link.information();
    };
    EXPECT_EQ(log_with("-lineinfo"), "");
    EXPECT_TRUE(log_with("-time").starts_with("time: linked in ")) << log_with("-time");
    EXPECT_TRUE(log_with("-verbose").starts_with("linked for sm_90: ")) << log_with("-verbose");
    EXPECT_EQ(log_with("-kernels-used=other"), "");
}

TEST(NvJitLink, kernels_that_are_not_used_are_removed) {
    std::string code = ".version 8.0\n.target sm_80\n.address_size 64\n";
    for (const char* name : {"foo", "barfoo", "other"}) {
        code += ".visible .entry " + std::string(name) + "() {\nret;\n}\n";
    }
    const auto kernels = [&](std::vector<const char*> options) {
        JitLink link(std::move(options));
        EXPECT_EQ(link.add(PTX_INPUT, code, "kernels"), 0) << link.errors();
        EXPECT_EQ(link.complete(), 0) << link.errors();
        const std::string image = link.cubin();
        std::string found;
        for (const char* name : {" foo", " barfoo", " other"}) {
            found += image.find(".entry" + std::string(name)) != std::string::npos ? name : "";
        }
        return found;
    };
    EXPECT_EQ(kernels({}), " foo barfoo other");
    EXPECT_EQ(kernels({"-kernels-used=foo"}), " foo barfoo"); // a part of the name
    EXPECT_EQ(kernels({"-kernels-used=b*o"}), " barfoo");
    EXPECT_EQ(kernels({"-kernels-used=bar", "-kernels-used=oth"}), " barfoo other");
    EXPECT_EQ(kernels({"-kernels-used=none"}), "");
    EXPECT_EQ(kernels({"-variables-used=x"}), ""); // as NVIDIA's library does
}

TEST(NvJitLink, wrong_code_is_reported_when_it_is_added) {
    const auto errors_of = [](std::string code, const char* place, const char* wrong) {
        code.replace(code.find(place), std::strlen(place), wrong);
        JitLink link;
        EXPECT_EQ(link.add(PTX_INPUT, code, "code"), 4) << code;
        return link.errors();
    };
    const char* const problem = "is not a declared register";
    EXPECT_NE(errors_of(STORE, "%r1, 42", "%q, 42").find(problem), std::string::npos);
    // Also if another input has a part of the program, or if no kernel calls the function.
    EXPECT_NE(errors_of(CALLER, "[%rd1], %r1", "[%rd1], %r7").find("%r7"), std::string::npos);
    EXPECT_NE(errors_of(CALLED, "42;", "%r1;").find("%r1"), std::string::npos);
}

TEST(NvJitLink, a_cubin_loads_only_where_its_machine_code_would_run) {
    // The emulated device is of compute capability 9.0.
    const auto result_of = [](const char* architecture) {
        JitLink link(architecture);
        EXPECT_EQ(link.add(PTX_INPUT, STORE, "store"), 0) << link.errors();
        EXPECT_EQ(link.complete(), 0) << link.errors();
        EXPECT_TRUE(returns(CUDA_SUCCESS, CU(cuInit)(0)));
        CUcontext context = nullptr;
        EXPECT_TRUE(returns(CUDA_SUCCESS, CU(cuDevicePrimaryCtxRetain)(&context, 0)));
        EXPECT_TRUE(returns(CUDA_SUCCESS, CU(cuCtxPushCurrent)(context)));
        CUmodule module = nullptr;
        const CUresult result = CU(cuModuleLoadData)(&module, link.cubin().data());
        if (result == CUDA_SUCCESS) {
            EXPECT_TRUE(returns(CUDA_SUCCESS, CU(cuModuleUnload)(module)));
        }
        EXPECT_TRUE(returns(CUDA_SUCCESS, CU(cuCtxPopCurrent)(&context)));
        EXPECT_TRUE(returns(CUDA_SUCCESS, CU(cuDevicePrimaryCtxRelease)(0)));
        return result;
    };
    EXPECT_EQ(result_of("-arch=sm_90"), CUDA_SUCCESS);
    EXPECT_EQ(result_of("-arch=sm_90a"), CUDA_SUCCESS);
    for (const char* const other :
         {"-arch=sm_80", "-arch=sm_89", "-arch=sm_100", "-arch=sm_100f", "-arch=sm_120a"}) {
        EXPECT_EQ(result_of(other), CUDA_ERROR_NO_BINARY_FOR_GPU) << other;
    }
}

TEST(NvJitLink, every_name_of_nvidias_libraries_is_exported) {
    constexpr std::array names{"Create",          "Destroy",          "AddData",
                               "AddFile",         "Complete",         "GetLinkedCubinSize",
                               "GetLinkedCubin",  "GetLinkedPtxSize", "GetLinkedPtx",
                               "GetErrorLogSize", "GetErrorLog",      "GetInfoLogSize",
                               "GetInfoLog"};
    for (const int major : {12, 13}) {
        const std::string file =
            std::filesystem::path(CUPRUM_NVJITLINK_LIBRARY).parent_path() / "libnvJitLink.so.";
        void* const opened =
            ::dlopen((file + std::to_string(major)).c_str(), RTLD_NOW | RTLD_LOCAL);
        ASSERT_NE(opened, nullptr) << ::dlerror();
        const std::string version = "libnvJitLink.so." + std::to_string(major);
        const int last_minor = major == 12 ? 9 : 5; // the newest so far
        for (const char* const name : names) {
            EXPECT_NE(::dlvsym(opened, (std::string("nvJitLink") + name).c_str(), version.c_str()),
                      nullptr)
                << name;
            for (int minor = 0; minor <= last_minor; ++minor) {
                const std::string versioned = std::string("__nvJitLink") + name + '_' +
                                              std::to_string(major) + '_' + std::to_string(minor);
                EXPECT_NE(::dlvsym(opened, versioned.c_str(), version.c_str()), nullptr)
                    << versioned;
            }
        }
    }
}

TEST(NvJitLink, code_for_a_newer_architecture_is_refused) {
    std::string newer = STORE;
    newer.replace(newer.find("sm_80"), 5, "sm_90");
    JitLink link("-arch=sm_80");
    EXPECT_NE(link.add(PTX_INPUT, newer, "newer"), 0);
    EXPECT_NE(link.errors().find("the PTX is for sm_90, the target is sm_80"), std::string::npos)
        << link.errors();
    JitLink same("-arch=sm_90");
    EXPECT_EQ(same.add(PTX_INPUT, newer, "newer"), 0) << same.errors();
    ASSERT_EQ(same.complete(), 0) << same.errors();
    EXPECT_EQ(run_store(same.cubin()), 42U);
}

TEST(NvJitLink, a_lack_of_memory_is_an_error_code) {
    if (IS_SANITIZED) {
        GTEST_SKIP() << "sanitizers need more memory than this test leaves";
    }
    // The option alone is larger than the memory that is left.
    const std::string program = R"py(
import ctypes, resource, sys
library = ctypes.CDLL(sys.argv[1])
option = b"-Xptxas=" + b"x" * (1 << 28)
options = (ctypes.c_char_p * 2)(b"-arch=sm_90", option)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 26), used + (1 << 26)))
handle = ctypes.c_void_p()
print("code", library.nvJitLinkCreate(ctypes.byref(handle), 2, options))
library.nvJitLinkDestroy(ctypes.byref(handle))
)py";
    const auto file = std::filesystem::path(testing::TempDir()) / "cuprum_no_memory.py";
    std::ofstream(file) << program;
    const Outcome outcome = shell("python3 " + file.string() + " " CUPRUM_NVJITLINK_LIBRARY);
    std::filesystem::remove(file);
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_EQ(outcome.output, "code 6\n");
}

// ---- NVRTC -------------------------------------------------------------------------------------

namespace {

template <typename... Arguments>
int rtc(const char* name, Arguments... arguments) {
    static void* const opened = ::dlopen(CUPRUM_NVRTC_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    void* const function = ::dlsym(opened, name);
    EXPECT_NE(function, nullptr) << name;
    return reinterpret_cast<int (*)(Arguments...)>(function)(arguments...);
}

} // namespace

TEST(Nvrtc, machine_code_is_a_fatbin_that_runs) {
    int major = 0;
    int minor = 0;
    if (rtc("nvrtcVersion", &major, &minor) != 0) {
        GTEST_SKIP() << "NVIDIA's NVRTC is not installed";
    }
    const char* const source = "extern \"C\" __global__ void store(unsigned* out) { *out = 42; }";
    void* program = nullptr;
    const auto compiled_size = [&](std::vector<const char*> options) {
        EXPECT_EQ(rtc("nvrtcCompileProgram", program, static_cast<int>(options.size()),
                      static_cast<const char* const*>(options.data())),
                  0);
        std::size_t size = 0;
        EXPECT_EQ(rtc("nvrtcGetCUBINSize", program, &size), 0);
        return size;
    };
    ASSERT_EQ(rtc("nvrtcCreateProgram", &program, source, static_cast<const char*>(nullptr), 0,
                  static_cast<const char* const*>(nullptr),
                  static_cast<const char* const*>(nullptr)),
              0);
    for (const std::vector<const char*>& options : std::vector<std::vector<const char*>>{
             {"-arch=sm_90"}, {"--gpu-architecture=sm_90", "-lineinfo"}, {"-arch", "sm_90"}}) {
        std::string cubin(compiled_size(options), '\0');
        EXPECT_EQ(rtc("nvrtcGetCUBIN", program, cubin.data()), 0);
        EXPECT_EQ(run_store(cubin), 42U) << options[0];
    }
    EXPECT_EQ(compiled_size({"-arch=compute_80"}), 0U) << "only PTX was asked for";
    const char* wrong[] = {"-arch=sm_80", "--no-such-option"};
    EXPECT_NE(rtc("nvrtcCompileProgram", program, 2, static_cast<const char* const*>(wrong)), 0);
    std::size_t size = 0;
    EXPECT_EQ(rtc("nvrtcGetProgramLogSize", program, &size), 0);
    std::string log(size, '\0');
    EXPECT_EQ(rtc("nvrtcGetProgramLog", program, log.data()), 0);
    EXPECT_NE(log.find("no-such-option"), std::string::npos) << log;
    EXPECT_EQ(rtc("nvrtcDestroyProgram", &program), 0);
}

TEST(Nvrtc, functions_of_lto_ir_stay_if_only_ptx_calls_them) {
    int major = 0;
    int minor = 0;
    if (rtc("nvrtcVersion", &major, &minor) != 0) {
        GTEST_SKIP() << "NVIDIA's NVRTC is not installed";
    }
    const char* const source = "extern \"C\" __device__ int answer() { return 42; }";
    void* program = nullptr;
    ASSERT_EQ(rtc("nvrtcCreateProgram", &program, source, static_cast<const char*>(nullptr), 0,
                  static_cast<const char* const*>(nullptr),
                  static_cast<const char* const*>(nullptr)),
              0);
    const char* options[] = {"-arch=compute_80", "-dlto", "-rdc=true"};
    ASSERT_EQ(rtc("nvrtcCompileProgram", program, 3, static_cast<const char* const*>(options)), 0);
    std::size_t size = 0;
    ASSERT_EQ(rtc("nvrtcGetLTOIRSize", program, &size), 0);
    std::string code(size, '\0');
    ASSERT_EQ(rtc("nvrtcGetLTOIR", program, code.data()), 0);
    EXPECT_EQ(rtc("nvrtcDestroyProgram", &program), 0);
    // The device itself has functions with which kernels launch kernels.
    const std::string launcher =
        ".extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 a, .param .b64 s);\n";
    for (const std::string& caller : {std::string(CALLER), CALLER + launcher}) {
        JitLink link("-lto");
        EXPECT_EQ(link.add(PTX_INPUT, caller.c_str(), "caller"), 0) << link.errors();
        constexpr int lto_input = 3;
        if (jit("nvJitLinkAddData", link.handle_, lto_input, static_cast<const void*>(code.data()),
                code.size(), "called") != 0) {
            GTEST_SKIP() << link.errors(); // NVIDIA's nvJitLink is not installed
        }
        ASSERT_EQ(link.complete(), 0) << link.errors();
        EXPECT_EQ(run_store(link.cubin()), 42U);
    }
}
