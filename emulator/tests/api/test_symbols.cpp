// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Compares the list of entry points with cuda.h and with the exported functions.

#include "api/driver.hpp"

#include <cudaTypedefs.h>

#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace cuprum::emulator::test;

namespace {

/// Returns what the library says about each of its functions.
const std::vector<CuprumFunction>& functions() {
    static const std::vector<CuprumFunction> all = [] {
        auto* const describe = symbol<decltype(cuprumEmulatorFunction)>("cuprumEmulatorFunction");
        std::vector<CuprumFunction> found;
        for (CuprumFunction each{}; describe(found.size(), &each) == 0;) {
            found.push_back(each);
        }
        return found;
    }();
    return all;
}

void* lookup(const char* name, int version, cuuint64_t flags,
             CUdriverProcAddressQueryResult* status = nullptr) {
    void* address = nullptr;
    CU(cuGetProcAddress)(name, &address, version, flags, status);
    return address;
}

void* exported(const char* name) {
    return ::dlsym(library(), name);
}

/// The expected answer for a function's name and a version.
struct Expected {
    const char* symbol;
    bool is_too_old; ///< the requested version
};

/// Applies the documented rule of cuGetProcAddress to the list. It returns the newest function that
/// the version has. If per-thread streams are requested and have their own function, it returns the
/// newest of those.
Expected expected(const std::vector<const CuprumFunction*>& versions, int version,
                  bool wants_per_thread) {
    const CuprumFunction* legacy = nullptr;
    const CuprumFunction* per_thread = nullptr;
    for (const CuprumFunction* each : versions) {
        const CuprumFunction*& best = each->is_per_thread != 0 ? per_thread : legacy;
        if (each->version <= version && (best == nullptr || best->version < each->version)) {
            best = each;
        }
    }
    const CuprumFunction* chosen = wants_per_thread && per_thread != nullptr ? per_thread : legacy;
    return {chosen == nullptr ? nullptr : chosen->symbol, chosen == nullptr};
}

} // namespace

TEST(Symbols, every_listed_name_is_exported) {
    for (const CuprumFunction& each : functions()) {
        EXPECT_NE(exported(each.symbol), nullptr) << each.symbol;
    }
}

TEST(Symbols, every_version_is_found_by_its_number) {
    for (const CuprumFunction& each : functions()) {
        const cuuint64_t flags = each.is_per_thread != 0
                                     ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
                                     : CU_GET_PROC_ADDRESS_LEGACY_STREAM;
        CUdriverProcAddressQueryResult status{};
        EXPECT_EQ(lookup(each.name, each.version, flags, &status), exported(each.symbol))
            << each.symbol;
        EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SUCCESS) << each.symbol;
    }
}

TEST(Symbols, the_newest_version_that_is_old_enough_is_taken) {
    EXPECT_EQ(lookup("cuCtxCreate", 13000, 0), exported("cuCtxCreate_v4"));
    EXPECT_EQ(lookup("cuCtxCreate", 12000, 0), exported("cuCtxCreate_v3"));
    EXPECT_EQ(lookup("cuCtxCreate", 3020, 0), exported("cuCtxCreate_v2"));
    EXPECT_EQ(lookup("cuMemAlloc", 12000, 0), exported("cuMemAlloc_v2"));
    EXPECT_EQ(lookup("cuStreamGetCaptureInfo", 12020, 0), exported("cuStreamGetCaptureInfo_v2"));
    EXPECT_EQ(lookup("cuCtxSynchronize", 12090, 0), exported("cuCtxSynchronize"));
    EXPECT_EQ(lookup("cuCtxSynchronize", 13000, 0), exported("cuCtxSynchronize_v2"));
}

TEST(Symbols, every_name_is_answered_for_in_every_version) {
    std::set<int> versions{0, 13000};
    std::map<std::string, std::vector<const CuprumFunction*>> names;
    for (const CuprumFunction& each : functions()) {
        names[each.name].push_back(&each);
        versions.insert(each.version);
        versions.insert(each.version - 1);
    }
    int answers = 0;
    for (const auto& [name, versions_of_it] : names) {
        for (const int version : versions) {
            for (const bool wants_per_thread : {false, true}) {
                const auto [symbol, is_too_old] =
                    expected(versions_of_it, version, wants_per_thread);
                CUdriverProcAddressQueryResult status{};
                void* const found =
                    lookup(name.c_str(), version,
                           wants_per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
                                            : CU_GET_PROC_ADDRESS_LEGACY_STREAM,
                           &status);
                ASSERT_EQ(found, symbol == nullptr ? nullptr : exported(symbol))
                    << name << " in " << version << ", per thread: " << wants_per_thread;
                ASSERT_EQ(status, is_too_old ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                             : CU_GET_PROC_ADDRESS_SUCCESS)
                    << name << " in " << version;
                ++answers;
            }
        }
    }
    EXPECT_GT(answers, 10000);
}

TEST(Symbols, per_thread_names_are_given_when_asked_for) {
    constexpr cuuint64_t per_thread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    EXPECT_EQ(lookup("cuMemcpyHtoD", 12000, per_thread), exported("cuMemcpyHtoD_v2_ptds"));
    EXPECT_EQ(lookup("cuLaunchKernel", 12000, per_thread), exported("cuLaunchKernel_ptsz"));
    EXPECT_EQ(lookup("cuLaunchKernel", 12000, 0), exported("cuLaunchKernel"));
    EXPECT_EQ(lookup("cuLaunchKernel", 5000, per_thread), exported("cuLaunchKernel"))
        << "older than the per-thread name";
    EXPECT_EQ(lookup("cuInit", 12000, per_thread), exported("cuInit"));
}

TEST(Symbols, what_does_not_exist_is_told_from_what_is_too_new) {
    CUdriverProcAddressQueryResult status{};
    EXPECT_EQ(lookup("cuMakeCoffee", 13000, 0, &status), nullptr);
    EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    EXPECT_EQ(lookup("cuLaunchKernelEx", 11000, 0, &status), nullptr);
    EXPECT_EQ(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    void* address = nullptr;
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuGetProcAddress)("cuInit", &address, 99000, 0, &status)));
    EXPECT_TRUE(returns(CUDA_ERROR_INVALID_VALUE,
                        CU(cuGetProcAddress)(nullptr, &address, 12000, 0, &status)));
}

TEST(Symbols, our_own_functions_are_found_the_same_way) {
    EXPECT_EQ(lookup("cuprumEmulatorVersion", 12000, 0), exported("cuprumEmulatorVersion"));
    EXPECT_EQ(lookup("cuprumEmulatorLiveObjects", 12000, 0), exported("cuprumEmulatorLiveObjects"));
}

TEST(Symbols, private_tables_are_not_there) {
    const void* table = &table;
    const CUuuid id{};
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_FOUND, CU(cuGetExportTable)(&table, &id)));
    EXPECT_EQ(table, nullptr);
}

TEST_F(DriverTest, the_private_table_that_nvrtc_asks_for_is_missing_without_a_word) {
    const CUuuid id{{'\xda', '\x91', '\x51', '\xd3', '\x3a', '\xe6', '\xcc', '\x41', '\xa5', '\xc0',
                     '\x4f', '\x26', '\xd5', '\x33', '\xe3', '\x28'}};
    const void* table = nullptr;
    testing::internal::CaptureStderr();
    EXPECT_TRUE(returns(CUDA_ERROR_NOT_FOUND, CU(cuGetExportTable)(&table, &id)));
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Symbols, every_unsupported_function_says_so_by_name) {
    auto* is_implemented =
        symbol<decltype(cuprumEmulatorIsImplemented)>("cuprumEmulatorIsImplemented");
    EXPECT_EQ(is_implemented("cuMemAlloc_v2"), 1);
    EXPECT_EQ(is_implemented("cuMakeCoffee"), 0);
    int refused = 0;
    for (const CuprumFunction& each : functions()) {
        EXPECT_EQ(is_implemented(each.symbol), each.missing == nullptr ? 1 : 0) << each.symbol;
        if (each.missing == nullptr) {
            continue;
        }
        testing::internal::CaptureStderr();
        // These functions ignore their arguments, so pass none.
        const auto result = reinterpret_cast<CUresult (*)()>(exported(each.symbol))();
        const std::string said = testing::internal::GetCapturedStderr();
        EXPECT_TRUE(returns(CUDA_ERROR_NOT_SUPPORTED, result)) << each.symbol;
        EXPECT_NE(said.find(each.name), std::string::npos) << each.symbol << " said: " << said;
        EXPECT_NE(said.find(each.missing), std::string::npos) << each.symbol << " said: " << said;
        ++refused;
    }
    EXPECT_GT(refused, 0);
}

TEST(Symbols, coverage) {
    std::set<std::string> names;
    std::set<std::string> covered;
    int symbols = 0;
    std::string missing;
    for (const CuprumFunction& each : functions()) {
        names.insert(each.name);
        if (each.missing == nullptr) {
            covered.insert(each.name);
            ++symbols;
        }
    }
    for (const std::string& name : names) {
        if (!covered.contains(name)) {
            missing += " " + name;
        }
    }
    std::printf("driver functions: %zu of %zu implemented; exported names: %d of %zu\n",
                covered.size(), names.size(), symbols, functions().size());
    std::printf("not implemented:%s\n", missing.c_str());
    EXPECT_GT(covered.size(), 150U);
    EXPECT_TRUE(covered.contains("cuLaunchKernel"));
}
