// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "api/driver.hpp"
#include "api/kernels.hpp"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

using namespace cuprum::emulator::test;

class Modules : public DriverTest {
protected:
    /// Loads a module that must be refused, and returns the error log.
    static std::string refused(const std::string& image, CUresult expected) {
        std::vector<char> log(4096);
        CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
        void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
        CUmodule module = nullptr;
        EXPECT_TRUE(
            returns(expected, CU(cuModuleLoadDataEx)(&module, image.c_str(), 2, options, values)));
        const std::string text(log.data());
        EXPECT_EQ(reinterpret_cast<std::size_t>(values[1]), text.size());
        return text;
    }
};

TEST_F(Modules, functions_and_variables_are_found_by_name) {
    CUmodule module = nullptr;
    ASSERT_TRUE(succeeds(CU(cuModuleLoadData)(&module, COUNTER_PTX)));
    CUfunction function = nullptr;
    ASSERT_TRUE(succeeds(CU(cuModuleGetFunction)(&function, module, "bump")));
    CUfunction again = nullptr;
    ASSERT_TRUE(succeeds(CU(cuModuleGetFunction)(&again, module, "bump")));
    EXPECT_EQ(function, again);
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_FOUND, CU(cuModuleGetFunction)(&again, module, "jump")));
    unsigned count = 0;
    ASSERT_TRUE(succeeds(CU(cuModuleGetFunctionCount)(&count, module)));
    EXPECT_EQ(count, 3U);
    CUdeviceptr counter = 0;
    std::size_t bytes = 0;
    ASSERT_TRUE(succeeds(CU(cuModuleGetGlobal)(&counter, &bytes, module, "counter")));
    EXPECT_EQ(bytes, 4U);
    unsigned value = 0;
    ASSERT_TRUE(succeeds(CU(cuMemcpyDtoH)(&value, counter, 4)));
    EXPECT_EQ(value, 40U);
    EXPECT_TRUE(
        returns(CUDA_ERROR_NOT_FOUND, CU(cuModuleGetGlobal)(&counter, &bytes, module, "nothing")));
    ASSERT_TRUE(succeeds(CU(cuModuleUnload)(module)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, CU(cuModuleUnload)(module)));
    const char* name = nullptr;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, CU(cuFuncGetName)(&name, function)));
}

TEST_F(Modules, a_syntax_error_is_reported_with_its_line) {
    const std::string log = refused(".version 7.0\n.target sm_70\n.address_size 64\n"
                                    ".visible .entry k()\n{\n    ret }\n}\n",
                                    CUDA_ERROR_INVALID_PTX);
    EXPECT_NE(log.find("ptx:6:"), std::string::npos) << log;
    EXPECT_NE(log.find("error: "), std::string::npos) << log;
}

TEST_F(Modules, what_does_not_run_is_refused_at_load_by_name) {
    const std::string head = ".version 8.0\n.target sm_80\n.address_size 64\n"
                             ".visible .entry k()\n{\n    .reg .b32 %r<2>;\n    ";
    const std::string unknown =
        refused(head + "frobnicate.b32 %r1, %r1;\n    ret;\n}\n", CUDA_ERROR_INVALID_PTX);
    EXPECT_NE(unknown.find("ptx:7:"), std::string::npos) << unknown;
    EXPECT_NE(unknown.find("frobnicate"), std::string::npos) << unknown;
    const std::string missing =
        refused(head + "tcgen05.wait::ld.sync.aligned;\n    ret;\n}\n", CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_NE(missing.find("ptx:7:"), std::string::npos) << missing;
    EXPECT_NE(missing.find("tcgen05.wait::ld.sync.aligned"), std::string::npos) << missing;
}

TEST_F(Modules, ptx_for_a_newer_device_is_refused) {
    refused(".version 8.8\n.target sm_121\n.address_size 64\n"
            ".visible .entry k()\n{\n    ret;\n}\n",
            CUDA_ERROR_INVALID_PTX);
}

TEST_F(Modules, a_newer_ptx_version_loads_and_only_its_new_instructions_are_refused) {
    const std::string head = ".version 9.5\n.target sm_90\n.address_size 64\n"
                             ".visible .entry k()\n{\n    .reg .b32 %r<2>;\n    ";
    CUmodule module = nullptr;
    ASSERT_TRUE(succeeds(
        CU(cuModuleLoadData)(&module, (head + "add.u32 %r1, %r1, 1;\n    ret;\n}\n").c_str())));
    EXPECT_TRUE(succeeds(CU(cuModuleUnload)(module)));
    const std::string log =
        refused(head + "frobnicate.b32 %r1, %r1;\n    ret;\n}\n", CUDA_ERROR_INVALID_PTX);
    EXPECT_NE(log.find("frobnicate"), std::string::npos) << log;
    EXPECT_NE(log.find("PTX ISA 9.5, newer than version 9.4"), std::string::npos) << log;
    const std::string far = ".version 12.7\n.target sm_90\n.address_size 64\n";
    ASSERT_TRUE(
        succeeds(CU(cuModuleLoadData)(&module, (far + ".visible .entry k() { ret; }\n").c_str())));
    EXPECT_TRUE(succeeds(CU(cuModuleUnload)(module)));
}

TEST_F(Modules, an_array_with_an_inner_dimension_of_zero_is_refused) {
    // Its rows were 2^64 bytes apart, and the second initial value went before the buffer.
    const std::string log = refused(".version 7.0\n.target sm_70\n.address_size 64\n"
                                    ".global .b32 x[1][0][2147483649][2147483647] = {{{1},{2}}};\n",
                                    CUDA_ERROR_INVALID_PTX);
    EXPECT_NE(log.find("only the first dimension of array 'x'"), std::string::npos) << log;
}

TEST_F(Modules, variables_larger_than_the_device_are_out_of_memory) {
    const std::string log = refused(".version 7.0\n.target sm_70\n.address_size 64\n"
                                    ".global .b8 x[1000000000000] = {1};\n",
                                    CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_NE(log.find("variable 'x' needs 1000000000000 bytes"), std::string::npos) << log;
}

TEST_F(Modules, noise_is_no_image) {
    CUmodule module = nullptr;
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_IMAGE, CU(cuModuleLoadData)(&module, "this is not a module")));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuModuleLoadData)(&module, nullptr)));
    EXPECT_TRUE(returns(CUDA_ERROR_FILE_NOT_FOUND, CU(cuModuleLoad)(&module, "/no/such/file")));
}

TEST_F(Modules, a_log_that_is_too_long_is_cut) {
    char log[16];
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER};
    void* values[] = {reinterpret_cast<void*>(sizeof log), log};
    CUmodule module = nullptr;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_PTX,
                        CU(cuModuleLoadDataEx)(&module,
                                               ".version 7.0\n.target sm_70\n.address_size 64\n"
                                               ".visible .entry k() { blah blah",
                                               2, options, values)));
    EXPECT_EQ(std::string(log).size(), sizeof log - 1);
}

TEST_F(Modules, a_library_needs_no_context_and_lists_its_kernels) {
    ASSERT_TRUE(succeeds(CU(cuCtxSetCurrent)(nullptr)));
    CUlibrary library = nullptr;
    ASSERT_TRUE(succeeds(
        CU(cuLibraryLoadData)(&library, SAXPY_PTX, nullptr, nullptr, 0, nullptr, nullptr, 0)));
    unsigned count = 0;
    ASSERT_TRUE(succeeds(CU(cuLibraryGetKernelCount)(&count, library)));
    ASSERT_EQ(count, 1U);
    CUkernel kernel = nullptr;
    CUkernel listed = nullptr;
    ASSERT_TRUE(succeeds(CU(cuLibraryGetKernel)(&kernel, library, "saxpy")));
    ASSERT_TRUE(succeeds(CU(cuLibraryEnumerateKernels)(&listed, 1, library)));
    EXPECT_EQ(listed, kernel);
    const char* name = nullptr;
    ASSERT_TRUE(succeeds(CU(cuKernelGetName)(&name, kernel)));
    EXPECT_STREQ(name, "saxpy");
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuKernelGetName)(&name, nullptr)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE, CU(cuFuncGetName)(&name, nullptr)));

    CUfunction function = nullptr;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_CONTEXT, CU(cuKernelGetFunction)(&function, kernel)));
    std::size_t offset = 0;
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_CONTEXT, CU(cuKernelGetParamInfo)(kernel, 0, &offset, nullptr)));
    ASSERT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
    const std::size_t offsets[] = {0, 4, 8, 16};
    const std::size_t sizes[] = {4, 4, 8, 8};
    for (std::size_t index = 0; index < 4; ++index) {
        offset = 99;
        std::size_t size = 99;
        ASSERT_TRUE(succeeds(CU(cuKernelGetParamInfo)(kernel, index, &offset, &size)));
        EXPECT_EQ(offset, offsets[index]);
        EXPECT_EQ(size, sizes[index]);
    }
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuKernelGetParamInfo)(kernel, 4, &offset, nullptr)));

    ASSERT_TRUE(succeeds(CU(cuKernelGetFunction)(&function, kernel)));
    CUmodule module = nullptr;
    ASSERT_TRUE(succeeds(CU(cuLibraryGetModule)(&module, library)));
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_PERMITTED, CU(cuModuleUnload)(module)));
    ASSERT_TRUE(succeeds(CU(cuLibraryUnload)(library)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, CU(cuKernelGetName)(&name, kernel)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, CU(cuLibraryUnload)(library)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_HANDLE, CU(cuFuncGetName)(&name, function)));
}

TEST_F(Modules, attributes_of_kernels_can_be_read_and_some_set) {
    CUlibrary library = nullptr;
    CUkernel kernel = nullptr;
    ASSERT_TRUE(succeeds(
        CU(cuLibraryLoadData)(&library, COUNTER_PTX, nullptr, nullptr, 0, nullptr, nullptr, 0)));
    ASSERT_TRUE(succeeds(CU(cuLibraryGetKernel)(&kernel, library, "small")));
    int value = 0;
    ASSERT_TRUE(succeeds(
        CU(cuKernelGetAttribute)(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel, 0)));
    EXPECT_EQ(value, 64);
    ASSERT_TRUE(succeeds(CU(cuKernelSetAttribute)(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                                  100000, kernel, 0)));
    CUfunction function = nullptr;
    ASSERT_TRUE(succeeds(CU(cuKernelGetFunction)(&function, kernel)));
    ASSERT_TRUE(succeeds(
        CU(cuFuncGetAttribute)(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function)));
    EXPECT_EQ(value, 100000);
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuKernelSetAttribute)(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                                 10000000, kernel, 0)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuKernelSetAttribute)(CU_FUNC_ATTRIBUTE_NUM_REGS, 12, kernel, 0)));
    EXPECT_TRUE(succeeds(CU(cuLibraryUnload)(library)));
}

TEST_F(Modules, options_of_a_load_are_checked_and_answered) {
    CUmodule module = nullptr;
    CUjit_option options[] = {CU_JIT_WALL_TIME, CU_JIT_THREADS_PER_BLOCK, CU_JIT_MAX_REGISTERS,
                              CU_JIT_OPTIMIZATION_LEVEL, CU_JIT_GENERATE_LINE_INFO};
    void* values[] = {nullptr, nullptr, reinterpret_cast<void*>(32), reinterpret_cast<void*>(3),
                      reinterpret_cast<void*>(1)};
    ASSERT_TRUE(succeeds(CU(cuModuleLoadDataEx)(&module, SAXPY_PTX, 5, options, values)));
    float milliseconds = 0;
    std::memcpy(&milliseconds, &values[0], sizeof milliseconds);
    EXPECT_GT(milliseconds, 0.0F);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(values[1]), 1024U);
    EXPECT_TRUE(succeeds(CU(cuModuleUnload)(module)));
    CUlibrary library = nullptr;
    CUjit_option unknown = static_cast<CUjit_option>(999);
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuLibraryLoadData)(&library, SAXPY_PTX, &unknown,
                                                                values, 1, nullptr, nullptr, 0)));
    CUjit_option symbols = CU_JIT_GLOBAL_SYMBOL_COUNT;
    void* count = reinterpret_cast<void*>(1);
    EXPECT_TRUE(
        returns(CUDA_ERROR_NOT_SUPPORTED, CU(cuLibraryLoadData)(&library, SAXPY_PTX, &symbols,
                                                                &count, 1, nullptr, nullptr, 0)));
    CUlibraryOption preserved = CU_LIBRARY_BINARY_IS_PRESERVED;
    void* yes = reinterpret_cast<void*>(1);
    ASSERT_TRUE(succeeds(
        CU(cuLibraryLoadData)(&library, SAXPY_PTX, nullptr, nullptr, 0, &preserved, &yes, 1)));
    void* function = nullptr;
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_FOUND,
                        CU(cuLibraryGetUnifiedFunction)(&function, library, "saxpy")));
    EXPECT_TRUE(succeeds(CU(cuLibraryUnload)(library)));
    preserved = static_cast<CUlibraryOption>(99);
    EXPECT_TRUE(
        returns(CUDA_ERROR_INVALID_VALUE, CU(cuLibraryLoadData)(&library, SAXPY_PTX, nullptr,
                                                                nullptr, 0, &preserved, &yes, 1)));
}
