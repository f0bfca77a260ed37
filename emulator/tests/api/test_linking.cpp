// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "api/driver.hpp"
#include "support/object_files.hpp"

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

using namespace cuprum::emulator::test;

namespace {

const std::string HEADER = ".version 8.0\n.target sm_70\n.address_size 64\n";

/// compute(p): *p = twice(21) + offset; needs twice and offset.
const std::string CALLER = HEADER + R"(
.extern .func (.param .b32 result) twice(.param .b32 value);
.extern .global .align 4 .u32 offset;
.global .align 4 .u32 private_value = 1000;
.visible .entry compute(.param .u64 compute_p)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [compute_p];
    mov.u32 %r1, 21;
    {
        .param .b32 given;
        .param .b32 returned;
        st.param.b32 [given], %r1;
        call.uni (returned), twice, (given);
        ld.param.b32 %r2, [returned];
    }
    ld.global.u32 %r3, [offset];
    add.u32 %r4, %r2, %r3;
    ld.global.u32 %r5, [private_value];
    add.u32 %r4, %r4, %r5;
    st.global.u32 [%rd1], %r4;
    ret;
}
)";

/// Defines twice and offset, and a private variable with the same name as one of the other module.
const std::string CALLEE = HEADER + R"(
.visible .global .align 4 .u32 offset = 300;
.global .align 4 .u32 private_value = 2;
.visible .func (.param .b32 result) twice(.param .b32 value)
{
    .reg .b32 %r<4>;
    ld.param.b32 %r1, [value];
    ld.global.u32 %r2, [private_value];
    mul.lo.u32 %r3, %r1, %r2;
    st.param.b32 [result], %r3;
    ret;
}
)";

} // namespace

class Linking : public DriverTest {
protected:
    void SetUp() override {
        DriverTest::SetUp();
        create({});
    }

    void TearDown() override {
        EXPECT_TRUE(succeeds(CU(cuLinkDestroy)(link_)));
        DriverTest::TearDown();
    }

    /// Creates a new linker with logs and `more` options.
    void create(std::vector<std::pair<CUjit_option, void*>> more) {
        if (link_ != nullptr) {
            ASSERT_TRUE(succeeds(CU(cuLinkDestroy)(link_)));
        }
        options_ = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                    CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
        values_ = {errors_, reinterpret_cast<void*>(sizeof errors_), info_,
                   reinterpret_cast<void*>(sizeof info_)};
        for (const auto& [option, value] : more) {
            options_.push_back(option);
            values_.push_back(value);
        }
        ASSERT_TRUE(succeeds(CU(cuLinkCreate)(static_cast<unsigned>(options_.size()),
                                              options_.data(), values_.data(), &link_)));
    }

    CUresult add(const std::string& ptx, const char* name) {
        return CU(cuLinkAddData)(link_, CU_JIT_INPUT_PTX, const_cast<char*>(ptx.data()),
                                 ptx.size() + 1, name, 0, nullptr, nullptr);
    }

    CUresult complete() { return CU(cuLinkComplete)(link_, &image_, &size_); }

    /// Runs compute() of a linked image.
    unsigned compute() {
        CUmodule module = nullptr;
        CUfunction function = nullptr;
        unsigned result = 0;
        CUdeviceptr memory = allocate(4);
        EXPECT_TRUE(succeeds(CU(cuModuleLoadData)(&module, image_)));
        EXPECT_TRUE(succeeds(CU(cuModuleGetFunction)(&function, module, "compute")));
        void* arguments[] = {&memory};
        EXPECT_TRUE(succeeds(
            CU(cuLaunchKernel)(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr)));
        EXPECT_TRUE(succeeds(CU(cuMemcpyDtoH)(&result, memory, sizeof result)));
        EXPECT_TRUE(succeeds(CU(cuModuleUnload)(module)));
        EXPECT_TRUE(succeeds(CU(cuMemFree)(memory)));
        return result;
    }

    CUlinkState link_ = nullptr;
    char errors_[4096] = {};
    char info_[4096] = {};
    std::vector<CUjit_option> options_;
    std::vector<void*> values_;
    void* image_ = nullptr;
    std::size_t size_ = 0;
};

TEST_F(Linking, functions_and_variables_are_resolved_across_modules) {
    ASSERT_TRUE(succeeds(add(CALLER, "caller")));
    ASSERT_TRUE(succeeds(add(CALLEE, "callee")));
    ASSERT_TRUE(succeeds(complete())) << errors_;
    EXPECT_EQ(compute(), 21U * 2 + 300 + 1000);
    CUlibrary library = nullptr;
    CUkernel kernel = nullptr;
    ASSERT_TRUE(succeeds(
        CU(cuLibraryLoadData)(&library, image_, nullptr, nullptr, 0, nullptr, nullptr, 0)));
    EXPECT_TRUE(succeeds(CU(cuLibraryGetKernel)(&kernel, library, "compute")));
    EXPECT_TRUE(succeeds(CU(cuLibraryUnload)(library)));
}

TEST_F(Linking, the_order_of_the_inputs_does_not_matter) {
    ASSERT_TRUE(succeeds(add(CALLEE, "callee")));
    ASSERT_TRUE(succeeds(add(CALLER, "caller")));
    ASSERT_TRUE(succeeds(complete())) << errors_;
    EXPECT_EQ(compute(), 1342U);
}

TEST_F(Linking, a_linked_image_can_be_linked_again) {
    ASSERT_TRUE(succeeds(add(CALLER, "caller")));
    ASSERT_TRUE(succeeds(add(CALLEE, "callee")));
    ASSERT_TRUE(succeeds(complete()));
    const std::string first(static_cast<const char*>(image_), size_);
    create({});
    ASSERT_TRUE(
        succeeds(CU(cuLinkAddData)(link_, CU_JIT_INPUT_CUBIN, const_cast<char*>(first.data()),
                                   first.size(), "first", 0, nullptr, nullptr)));
    ASSERT_TRUE(succeeds(add(HEADER + ".visible .entry other()\n{\n    ret;\n}\n", "other")));
    ASSERT_TRUE(succeeds(complete())) << errors_;
    EXPECT_EQ(compute(), 1342U);
}

TEST_F(Linking, what_is_missing_is_named) {
    ASSERT_TRUE(succeeds(add(CALLER, "caller.ptx")));
    EXPECT_TRUE(returns(CUDA_ERROR_UNKNOWN, complete()));
    const std::string log = errors_;
    EXPECT_NE(log.find("Undefined reference to 'twice' in 'caller.ptx'"), std::string::npos) << log;
    EXPECT_NE(log.find("Undefined reference to 'offset' in 'caller.ptx'"), std::string::npos);
    EXPECT_EQ(reinterpret_cast<std::size_t>(values_[1]), log.size());
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, complete())) << "it has failed";
}

TEST_F(Linking, what_is_defined_twice_is_named) {
    ASSERT_TRUE(succeeds(add(CALLEE, "one")));
    ASSERT_TRUE(succeeds(add(CALLEE, "two")));
    EXPECT_TRUE(returns(CUDA_ERROR_UNKNOWN, complete()));
    const std::string log = errors_;
    EXPECT_NE(log.find("'twice' is defined in 'two' and already in 'one'"), std::string::npos)
        << log;
    EXPECT_NE(log.find("'offset' is defined"), std::string::npos);
    EXPECT_EQ(log.find("private_value"), std::string::npos);
}

TEST_F(Linking, weak_definitions_give_way) {
    std::string weak = CALLEE;
    for (std::size_t at = 0; (at = weak.find(".visible", at)) != std::string::npos;) {
        weak.replace(at, 8, ".weak");
    }
    std::string weaker = weak;
    weaker.replace(weaker.find("300"), 3, "900");
    ASSERT_TRUE(succeeds(add(weaker, "weaker")));
    ASSERT_TRUE(succeeds(add(CALLER, "caller")));
    ASSERT_TRUE(succeeds(add(CALLEE, "strong")));
    ASSERT_TRUE(succeeds(add(weak, "weak")));
    ASSERT_TRUE(succeeds(complete())) << errors_;
    EXPECT_EQ(compute(), 1342U);
    create({});
    ASSERT_TRUE(succeeds(add(CALLER, "caller")));
    ASSERT_TRUE(succeeds(add(weaker, "first")));
    ASSERT_TRUE(succeeds(add(weak, "second")));
    ASSERT_TRUE(succeeds(complete())) << errors_;
    EXPECT_EQ(compute(), 1942U) << "the first of the weak ones";
}

TEST_F(Linking, functions_that_are_common_in_two_modules_do_not_crash) {
    std::string common = CALLEE;
    common.replace(common.find(".visible .func"), 14, ".common .func");
    std::string other = common;
    other.replace(other.find(".visible .global"), 16, ".weak .global");
    ASSERT_TRUE(succeeds(add(CALLER, "caller")));
    ASSERT_TRUE(succeeds(add(common, "one")));
    ASSERT_TRUE(succeeds(add(other, "two")));
    ASSERT_TRUE(succeeds(complete())) << errors_;
    EXPECT_EQ(compute(), 1342U);
}

TEST_F(Linking, a_declaration_must_fit_its_definition) {
    std::string wrong = CALLEE;
    wrong.replace(wrong.find(".param .b32 value"), 17, ".param .b64 value");
    ASSERT_TRUE(succeeds(add(CALLER, "caller")));
    ASSERT_TRUE(succeeds(add(wrong, "wrong")));
    EXPECT_TRUE(returns(CUDA_ERROR_UNKNOWN, complete()));
    EXPECT_NE(std::string(errors_).find("'twice' is declared in 'caller' with other parameters"),
              std::string::npos)
        << errors_;
}

TEST_F(Linking, functions_of_the_device_and_dynamic_shared_memory_need_no_definition) {
    const std::string text = HEADER + R"(
.extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 arguments);
.extern .shared .align 16 .b8 room[];
.global .align 1 .b8 text[4] = {104, 105, 10, 0};
.visible .entry NAME()
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<4>;
    mov.u32 %r1, 7;
    st.shared.u32 [room], %r1;
    mov.u64 %rd1, text;
    cvta.global.u64 %rd2, %rd1;
    {
        .param .b64 a;
        .param .b64 b;
        .param .b32 c;
        st.param.b64 [a], %rd2;
        st.param.b64 [b], 0;
        call.uni (c), vprintf, (a, b);
    }
    ret;
}
)";
    std::string one = text;
    std::string two = text;
    one.replace(one.find("NAME"), 4, "one");
    two.replace(two.find("NAME"), 4, "two");
    ASSERT_TRUE(succeeds(add(one, "one")));
    ASSERT_TRUE(succeeds(add(two, "two")));
    ASSERT_TRUE(succeeds(complete())) << errors_;
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    ASSERT_TRUE(succeeds(CU(cuModuleLoadData)(&module, image_)));
    ASSERT_TRUE(succeeds(CU(cuModuleGetFunction)(&function, module, "two")));
    ASSERT_TRUE(
        succeeds(CU(cuLaunchKernel)(function, 1, 1, 1, 1, 1, 1, 64, nullptr, nullptr, nullptr)));
    EXPECT_TRUE(succeeds(CU(cuCtxSynchronize)()));
    EXPECT_TRUE(succeeds(CU(cuModuleUnload)(module)));
}

TEST_F(Linking, ptx_that_is_wrong_is_refused_when_it_is_added) {
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_PTX, add(HEADER + "nonsense\n", "bad.ptx")));
    EXPECT_NE(std::string(errors_).find("bad.ptx: ptx:4"), std::string::npos) << errors_;
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuLinkAddData)(link_, CU_JIT_INPUT_PTX, nullptr, 0,
                                                            "nothing", 0, nullptr, nullptr)));
    std::string newer = CALLEE;
    newer.replace(newer.find("sm_70"), 5, "sm_121");
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_PTX, add(newer, "newer")));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, complete())) << "nothing was added";
}

TEST_F(Linking, other_kinds_of_input_are_refused_by_name) {
    char elf[64] = "\x7f"
                   "ELF";
    EXPECT_FALSE(succeeds(CU(cuLinkAddData)(link_, CU_JIT_INPUT_CUBIN, elf, sizeof elf, "cubin", 0,
                                            nullptr, nullptr)));
    EXPECT_NE(std::string(errors_).find("cubin"), std::string::npos);
    EXPECT_TRUE(returns(
        CUDA_ERROR_NOT_SUPPORTED,
        CU(cuLinkAddData)(link_, CU_JIT_INPUT_NVVM, elf, sizeof elf, "ir", 0, nullptr, nullptr)));
    EXPECT_NE(std::string(errors_).find("ir: LTO-IR is not supported"), std::string::npos)
        << errors_;
    EXPECT_NE(std::string(errors_).find("-lto -ptx"), std::string::npos);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuLinkAddData)(link_, static_cast<CUjitInputType>(99), elf, sizeof elf,
                                          "what", 0, nullptr, nullptr)));
}

TEST_F(Linking, code_embedded_in_object_files_and_archives_is_linked) {
    const std::string object = make_elf({{"__nv_relfatbin", make_ptx_fatbin(CALLER, 70)}});
    const std::string machine_code = make_elf({{".nv_fatbin", make_fatbin(std::string(64, '\0'))}});
    const std::string archive =
        make_archive({machine_code, make_elf({{"__nv_relfatbin", make_ptx_fatbin(CALLEE, 70)}})});
    const auto add_as = [&](CUjitInputType type, const std::string& file) {
        return CU(cuLinkAddData)(link_, type, const_cast<char*>(file.data()), file.size(), "file",
                                 0, nullptr, nullptr);
    };
    EXPECT_FALSE(succeeds(add_as(CU_JIT_INPUT_OBJECT, machine_code)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_IMAGE,
                        add_as(CU_JIT_INPUT_OBJECT, make_elf({{".text", "host code"}}))));
    EXPECT_NE(std::string(errors_).find("holds no device code"), std::string::npos);
    ASSERT_TRUE(succeeds(add_as(CU_JIT_INPUT_OBJECT, object)));
    ASSERT_TRUE(succeeds(add_as(CU_JIT_INPUT_LIBRARY, archive))) << errors_;
    ASSERT_TRUE(succeeds(complete())) << errors_;
    EXPECT_EQ(compute(), 1342U);
}

TEST_F(Linking, only_needed_members_of_an_archive_are_linked) {
    // Each member that is not needed would break the link.
    std::string newer = CALLEE;
    newer.replace(newer.find("sm_70"), 5, "sm_121");
    const std::string needs_more =
        HEADER +
        ".extern .func elsewhere();\n.visible .func unused() { call.uni elsewhere; ret; }\n";
    const auto member = [](const std::string& ptx, std::uint32_t sm) {
        return make_elf({{"__nv_relfatbin", make_ptx_fatbin(ptx, sm)}});
    };
    const std::string archive =
        make_archive({member(newer, 121), member(needs_more, 70), member(HEADER + "nonsense", 70),
                      make_elf({{".nv_fatbin", make_fatbin(std::string(64, '\0'))}})});
    const auto add_archive = [&](const std::string& file) {
        return CU(cuLinkAddData)(link_, CU_JIT_INPUT_LIBRARY, const_cast<char*>(file.data()),
                                 file.size(), "lib.a", 0, nullptr, nullptr);
    };
    ASSERT_TRUE(succeeds(add(CALLER, "caller")));
    ASSERT_TRUE(succeeds(add_archive(archive))) << errors_;
    ASSERT_TRUE(succeeds(add_archive(make_archive({member(needs_more, 70), member(CALLEE, 70)}))));
    ASSERT_TRUE(succeeds(complete())) << errors_;
    EXPECT_EQ(compute(), 1342U);

    create({});
    ASSERT_TRUE(succeeds(add(CALLER, "caller")));
    ASSERT_TRUE(succeeds(add_archive(archive)));
    EXPECT_TRUE(returns(CUDA_ERROR_UNKNOWN, complete()));
    const std::string log = errors_;
    EXPECT_NE(log.find("Undefined reference to 'twice' in 'caller'"), std::string::npos) << log;
    EXPECT_NE(log.find("a member of lib.a is left out: the oldest PTX in the fatbin is for sm_121"),
              std::string::npos)
        << log;

    create({});
    ASSERT_TRUE(succeeds(add_archive(make_archive({member(CALLEE, 70)}))));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, complete())) << "nothing needs the archive";
}

TEST_F(Linking, a_member_that_another_member_needs_is_linked) {
    std::string caller = CALLER;
    caller.replace(caller.find("twice"), 5, "thrice"); // the declaration
    caller.replace(caller.find("twice"), 5, "thrice"); // the call
    const std::string thrice = HEADER + R"(
.extern .func (.param .b32 result) twice(.param .b32 value);
.visible .func (.param .b32 result) thrice(.param .b32 value)
{
    .reg .b32 %r<4>;
    ld.param.b32 %r1, [value];
    {
        .param .b32 given;
        .param .b32 returned;
        st.param.b32 [given], %r1;
        call.uni (returned), twice, (given);
        ld.param.b32 %r2, [returned];
    }
    add.u32 %r3, %r1, %r2;
    st.param.b32 [result], %r3;
    ret;
}
)";
    const std::string archive =
        make_archive({make_elf({{"__nv_relfatbin", make_ptx_fatbin(CALLEE, 70)}}),
                      make_elf({{"__nv_relfatbin", make_ptx_fatbin(thrice, 70)}})});
    ASSERT_TRUE(succeeds(add(caller, "caller")));
    ASSERT_TRUE(
        succeeds(CU(cuLinkAddData)(link_, CU_JIT_INPUT_LIBRARY, const_cast<char*>(archive.data()),
                                   archive.size(), "lib.a", 0, nullptr, nullptr)));
    ASSERT_TRUE(succeeds(complete())) << errors_;
    EXPECT_EQ(compute(), 21U * 3 + 300 + 1000);
}

TEST_F(Linking, a_result_that_is_declared_but_not_returned_is_a_warning) {
    // Numba declares functions that return nothing this way, and nvJitLink links them.
    std::string caller = CALLER;
    const std::string read = "ld.param.b32 %r2, [returned];";
    caller.replace(caller.find(read), read.size(), "mov.u32 %r2, 5;");
    const std::string nothing_returned = HEADER + R"(
.visible .global .align 4 .u32 offset = 300;
.visible .func twice(.param .b32 value)
{
    .reg .b32 %r<2>;
    ld.param.b32 %r1, [value];
    st.global.u32 [offset], %r1;
    ret;
}
)";
    ASSERT_TRUE(succeeds(add(caller, "<cudapy-ptx>")));
    ASSERT_TRUE(succeeds(add(nothing_returned, "<unnamed-cu>")));
    ASSERT_TRUE(succeeds(complete())) << errors_;
    EXPECT_NE(std::string(info_).find("warning : 'twice' is declared in '<cudapy-ptx>' with other "
                                      "results than '<unnamed-cu>' defines it with"),
              std::string::npos)
        << info_;
    EXPECT_EQ(compute(), 5U + 21 + 1000);
}

TEST_F(Linking, a_result_that_is_returned_but_not_declared_is_a_warning) {
    std::string caller = CALLER;
    const auto replace = [&](const std::string& from, const std::string& to) {
        caller.replace(caller.find(from), from.size(), to);
    };
    replace("(.param .b32 result) twice", "twice");
    replace("call.uni (returned), twice", "call.uni twice");
    replace("ld.param.b32 %r2, [returned];", "mov.u32 %r2, 5;");
    ASSERT_TRUE(succeeds(add(CALLEE, "callee")));
    ASSERT_TRUE(succeeds(add(caller, "caller")));
    ASSERT_TRUE(succeeds(complete())) << errors_;
    EXPECT_NE(std::string(info_).find("with other results"), std::string::npos) << info_;
    EXPECT_EQ(compute(), 5U + 300 + 1000);
}

TEST_F(Linking, the_barrier_of_a_cooperative_grid_needs_no_library) {
    // What Numba writes for grid.sync(). Each block adds 1 before the barrier, and all see the sum.
    const std::string text = HEADER + R"(
.extern .func (.param .b64 r) cudaCGGetIntrinsicHandle(.param .b32 scope);
.extern .func (.param .b32 r) cudaCGSynchronize(.param .b64 handle, .param .b32 flags);
.extern .func (.param .b32 r) cudaCGSynchronizeGrid(.param .b64 handle, .param .b32 flags);
.visible .entry meet(.param .u64 p)
{
    .reg .b32 %r<8>;
    .reg .b64 %rd<6>;
    .reg .pred %p<3>;
    ld.param.u64 %rd1, [p];
    {
        .param .b32 scope;
        .param .b64 handle;
        st.param.b32 [scope], 1;
        call.uni (handle), cudaCGGetIntrinsicHandle, (scope);
        ld.param.b64 %rd2, [handle];
    }
    mov.u32 %r6, 0;
AGAIN:
    atom.global.add.u32 %r1, [%rd1], 1;
    {
        .param .b64 handle;
        .param .b32 flags;
        .param .b32 status;
        st.param.b64 [handle], %rd2;
        st.param.b32 [flags], 0;
        call.uni (status), cudaCGSynchronize, (handle, flags);
        ld.param.b32 %r2, [status];
    }
    ld.volatile.global.u32 %r3, [%rd1];
    add.u32 %r3, %r3, %r2;
    {
        .param .b64 handle;
        .param .b32 flags;
        .param .b32 status;
        st.param.b64 [handle], %rd2;
        st.param.b32 [flags], 0;
        call.uni (status), cudaCGSynchronizeGrid, (handle, flags);
    }
    add.u32 %r6, %r6, 1;
    setp.lt.u32 %p1, %r6, 3;
    @%p1 bra AGAIN;
    mov.u32 %r4, %ctaid.x;
    mul.wide.u32 %rd3, %r4, 4;
    add.u64 %rd4, %rd1, %rd3;
    st.global.u32 [%rd4+4], %r3;
    ret;
}
)";
    ASSERT_TRUE(succeeds(add(text, "meeting")));
    const char* const library = "/usr/local/cuda/lib64/libcudadevrt.a";
    if (std::FILE* const file = std::fopen(library, "rb")) {
        std::fclose(file);
        ASSERT_TRUE(
            succeeds(CU(cuLinkAddFile)(link_, CU_JIT_INPUT_LIBRARY, library, 0, nullptr, nullptr)))
            << errors_;
    }
    ASSERT_TRUE(succeeds(complete())) << errors_;
    constexpr unsigned BLOCKS = 5;
    constexpr unsigned THREADS = 64;
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    ASSERT_TRUE(succeeds(CU(cuModuleLoadData)(&module, image_)));
    ASSERT_TRUE(succeeds(CU(cuModuleGetFunction)(&function, module, "meet")));
    CUdeviceptr memory = allocate(4 + 4 * BLOCKS);
    ASSERT_TRUE(succeeds(CU(cuMemsetD32)(memory, 0, 1 + BLOCKS)));
    void* arguments[] = {&memory};
    ASSERT_TRUE(succeeds(CU(cuLaunchCooperativeKernel)(function, BLOCKS, 1, 1, THREADS, 1, 1, 0,
                                                       nullptr, arguments)));
    unsigned sums[1 + BLOCKS] = {};
    EXPECT_TRUE(succeeds(CU(cuMemcpyDtoH)(sums, memory, sizeof sums)));
    for (unsigned index = 1; index <= BLOCKS; ++index) {
        EXPECT_EQ(sums[index], 3 * BLOCKS * THREADS) << index;
    }
    EXPECT_TRUE(succeeds(CU(cuMemFree)(memory)));
    EXPECT_TRUE(succeeds(CU(cuModuleUnload)(module)));
}

TEST_F(Linking, what_is_missing_of_the_device_runtime_is_refused_by_name) {
    ASSERT_TRUE(succeeds(add(HEADER + ".extern .func (.param .b32 r) __cudaCDP2DeviceGetLimit"
                                      "(.param .b64 a, .param .b32 b);\n"
                                      ".visible .entry parent()\n{\n.param .b32 r;\n"
                                      ".param .b64 a;\n.param .b32 b;\n"
                                      "call.uni (r), __cudaCDP2DeviceGetLimit, (a, b);\nret;\n}\n",
                             "parent")));
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_SUPPORTED, complete()));
    for (const char* const part : {"__cudaCDP2DeviceGetLimit", "libcudadevrt", "from the host"}) {
        EXPECT_NE(std::string(errors_).find(part), std::string::npos) << errors_;
    }
}

TEST_F(Linking, files_are_read) {
    const std::string path = testing::TempDir() + "cuprum_linking.ptx";
    std::FILE* file = std::fopen(path.c_str(), "wb");
    ASSERT_NE(file, nullptr);
    std::fwrite(CALLEE.data(), 1, CALLEE.size(), file);
    std::fclose(file);
    ASSERT_TRUE(succeeds(add(CALLER, "caller")));
    ASSERT_TRUE(
        succeeds(CU(cuLinkAddFile)(link_, CU_JIT_INPUT_PTX, path.c_str(), 0, nullptr, nullptr)));
    std::remove(path.c_str());
    EXPECT_TRUE(
        returns(CUDA_ERROR_FILE_NOT_FOUND,
                CU(cuLinkAddFile)(link_, CU_JIT_INPUT_PTX, path.c_str(), 0, nullptr, nullptr)));
    ASSERT_TRUE(succeeds(complete())) << errors_;
    EXPECT_EQ(compute(), 1342U);
}

TEST_F(Linking, what_the_caller_asks_for_is_told) {
    create({{CU_JIT_WALL_TIME, nullptr}, {CU_JIT_LOG_VERBOSE, reinterpret_cast<void*>(1)}});
    ASSERT_TRUE(succeeds(add(CALLER, "caller")));
    ASSERT_TRUE(succeeds(add(CALLEE, "callee")));
    ASSERT_TRUE(succeeds(complete()));
    float milliseconds = 0;
    std::memcpy(&milliseconds, &values_[4], sizeof milliseconds);
    EXPECT_GT(milliseconds, 0.0F);
    EXPECT_NE(std::string(info_).find("linked 2 inputs, 1 kernels"), std::string::npos) << info_;
    EXPECT_STREQ(errors_, "");
    CUjit_option option = CU_JIT_OPTIMIZATION_LEVEL;
    void* value = reinterpret_cast<void*>(9);
    CUlinkState other = nullptr;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuLinkCreate)(1, &option, &value, &other)));
}

TEST_F(Linking, handles_are_checked) {
    CUlinkState other = nullptr;
    ASSERT_TRUE(succeeds(CU(cuLinkCreate)(0, nullptr, nullptr, &other)));
    ASSERT_TRUE(succeeds(CU(cuLinkDestroy)(other)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, CU(cuLinkDestroy)(other)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, CU(cuLinkComplete)(other, &image_, &size_)));
}
