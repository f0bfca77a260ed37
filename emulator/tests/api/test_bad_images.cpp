// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Code that no CPU can run: each refusal says what to do instead, and names the library.

#include "api/driver.hpp"
#include "support/object_files.hpp"

#include <array>
#include <filesystem>
#include <string>

using namespace cuprum::emulator::test;

namespace {

constexpr std::uint16_t MACHINE_CUDA = 190;
constexpr std::uint16_t ENTRY_ELF = 2;
constexpr std::uint16_t ENTRY_LTO_IR = 8;

/// Makes a cubin for sm_90, as far as its header goes.
std::string make_cubin() {
    std::string cubin = make_elf({{".text.kernel", "machine code"}}, MACHINE_CUDA);
    put_at(cubin, 8, std::uint8_t{7}); // the version of the ABI, in which the flags hold the device
    put_at(cubin, 48, std::uint32_t{90});
    return cubin;
}

/// Makes a fat binary of one entry for sm_90.
std::string make_fatbin_of(std::uint16_t kind, const std::string& payload) {
    std::string header(64, '\0');
    put_at(header, 0, kind);
    put_at(header, 4, static_cast<std::uint32_t>(header.size()));
    put_at(header, 8, static_cast<std::uint64_t>(payload.size()));
    put_at(header, 28, std::uint32_t{90});
    return make_fatbin(header + payload);
}

const std::string LTO_IR = "\xed\x43\x4e\x7f" + std::string(60, '\0');

template <typename Function>
Function* foreign(const char* path, const char* name) {
    void* const opened = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(opened, nullptr) << ::dlerror();
    return reinterpret_cast<Function*>(::dlsym(opened, name));
}

} // namespace

class BadImages : public DriverTest {
protected:
    /// Returns the log of an image that must be refused.
    static std::string log_of(const std::string& image, CUresult expected) {
        std::array<char, 4096> log{};
        std::array options{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
        std::array<void*, 2> values{log.data(), reinterpret_cast<void*>(log.size())};
        CUmodule module = nullptr;
        EXPECT_TRUE(returns(expected, CU(cuModuleLoadDataEx)(&module, image.c_str(), 2,
                                                             options.data(), values.data())));
        return log.data();
    }

    /// Returns the log of an input that the linker must refuse.
    static std::string link_log_of(CUjitInputType type, const std::string& input,
                                   CUresult expected) {
        std::array<char, 4096> log{};
        std::array options{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
        std::array<void*, 2> values{log.data(), reinterpret_cast<void*>(log.size())};
        CUlinkState link = nullptr;
        EXPECT_TRUE(succeeds(CU(cuLinkCreate)(2, options.data(), values.data(), &link)));
        EXPECT_TRUE(
            returns(expected, CU(cuLinkAddData)(link, type, const_cast<char*>(input.data()),
                                                input.size(), "part.o", 0, nullptr, nullptr)));
        EXPECT_TRUE(succeeds(CU(cuLinkDestroy)(link)));
        return log.data();
    }

    static void expect_parts(const std::string& text, std::initializer_list<const char*> parts) {
        for (const char* const part : parts) {
            EXPECT_NE(text.find(part), std::string::npos)
                << '"' << part << "\" is not in: " << text;
        }
    }
};

TEST_F(BadImages, a_cubin_says_how_to_add_ptx) {
    const std::string advice = "-gencode arch=compute_90,code=compute_90";
    for (const std::string& image : {make_cubin(), make_fatbin_of(ENTRY_ELF, make_cubin())}) {
        const std::string log = log_of(image, CUDA_ERROR_NO_BINARY_FOR_GPU);
        expect_parts(log, {"machine code for sm_90", "a CPU cannot run", advice.c_str()});
        EXPECT_EQ(log.find("belongs to"), std::string::npos) << "the program itself loads it";
    }
    expect_parts(link_log_of(CU_JIT_INPUT_CUBIN, make_cubin(), CUDA_ERROR_NO_BINARY_FOR_GPU),
                 {"part.o: ", "machine code for sm_90", advice.c_str()});
    expect_parts(
        link_log_of(CU_JIT_INPUT_OBJECT,
                    make_elf({{"__nv_relfatbin", make_fatbin_of(ENTRY_ELF, make_cubin())}}),
                    CUDA_ERROR_NO_BINARY_FOR_GPU),
        {"part.o: ", "holds only machine code for sm_90", advice.c_str()});
}

TEST_F(BadImages, lto_ir_says_how_to_link_it) {
    const std::string fatbin = make_fatbin_of(ENTRY_LTO_IR, LTO_IR);
    expect_parts(log_of(LTO_IR, CUDA_ERROR_NOT_SUPPORTED),
                 {"the image is LTO-IR", "use nvJitLink with -lto -ptx"});
    expect_parts(log_of(fatbin, CUDA_ERROR_NOT_SUPPORTED),
                 {"holds only LTO-IR", "nvJitLink's options -lto -ptx", "code=compute_XX"});
    expect_parts(link_log_of(CU_JIT_INPUT_OBJECT, make_elf({{"__nv_relfatbin", fatbin}}),
                             CUDA_ERROR_NOT_SUPPORTED),
                 {"part.o: ", "holds only LTO-IR", "nvJitLink's options -lto -ptx"});
    expect_parts(link_log_of(CU_JIT_INPUT_NVVM, LTO_IR, CUDA_ERROR_NOT_SUPPORTED),
                 {"part.o: ", "LTO-IR is not supported", "-lto -ptx"});
}

TEST_F(BadImages, machine_code_of_a_library_names_the_library) {
    using Load = CUresult(decltype(cuModuleLoadData)*, CUmodule*, const void*, volatile int*);
    const std::string image = make_cubin();
    CUmodule module = nullptr;
    volatile int calls = 0;
    const auto log_from = [&](const char* path) {
        testing::internal::CaptureStderr();
        EXPECT_TRUE(returns(CUDA_ERROR_NO_BINARY_FOR_GPU,
                            foreign<Load>(path, "foreign_load")(CU(cuModuleLoadData), &module,
                                                                image.c_str(), &calls)));
        return testing::internal::GetCapturedStderr();
    };
    expect_parts(log_from(CUPRUM_FOREIGN_CUBLAS),
                 {"machine code for sm_90", "the code belongs to cuBLAS (libcublas_foreign.so)",
                  "that part needs a GPU or another library"});
    expect_parts(log_from(CUPRUM_FOREIGN_OTHER), {"the code belongs to libforeign.so"});
    EXPECT_EQ(calls, 2);
}

TEST_F(BadImages, a_library_with_nvidias_runtime_is_named) {
    using Get = CUresult(decltype(cuGetExportTable)*, const void**, const CUuuid*, volatile int*);
    const CUuuid id{{1, 2, 3}};
    const void* table = nullptr;
    volatile int calls = 0;
    testing::internal::CaptureStderr();
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_FOUND, foreign<Get>(CUPRUM_FOREIGN_CUBLAS, "foreign_tables")(
                                                  CU(cuGetExportTable), &table, &id, &calls)));
    expect_parts(testing::internal::GetCapturedStderr(),
                 {"cuBLAS (libcublas_foreign.so) asks for private tables of NVIDIA's driver",
                  "nvcc -cudart shared", "that part needs a GPU or another library"});
}

TEST_F(BadImages, nvidias_shared_runtime_is_named_with_the_one_to_load_first) {
    const std::filesystem::path ours =
        std::filesystem::path(CUPRUM_EMULATOR_LIBRARY).parent_path() / "libcudart.so.13";
    if (!std::filesystem::exists(ours)) {
        GTEST_SKIP() << "the runtime library was not built";
    }
    using Get = CUresult(decltype(cuGetExportTable)*, const void**, const CUuuid*, volatile int*);
    const CUuuid id{{1, 2, 3}};
    const void* table = nullptr;
    volatile int calls = 0;
    testing::internal::CaptureStderr();
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_FOUND,
                        foreign<Get>(CUPRUM_FOREIGN_RUNTIME,
                                     "foreign_tables")(CU(cuGetExportTable), &table, &id, &calls)));
    expect_parts(testing::internal::GetCapturedStderr(),
                 {CUPRUM_FOREIGN_RUNTIME " is NVIDIA's CUDA runtime",
                  ("LD_PRELOAD=" + ours.string() + " cuprum-emulator run").c_str()});
}
