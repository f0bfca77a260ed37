// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/code/image.hpp"
#include "support/device_test.hpp"
#include "support/expect_error.hpp"
#include "support/fake_libraries.hpp"

#include <cuprum/detail/access.hpp>
#include <cuprum/detail/leave_loaded.hpp>
#include <cuprum/error.hpp>
#include <cuprum/object_code.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace cuprum {
namespace {

using testing::expect_error;

std::vector<std::byte> bytes_of(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
    return {bytes.begin(), bytes.end()};
}

ObjectCode ptx(std::string_view text, std::string name = {}, SymbolMapping symbols = {}) {
    return ObjectCode::from_bytes(CodeType::Ptx, bytes_of(text), std::move(name),
                                  std::move(symbols));
}

// ---- on the fake driver ------------------------------------------------------------------------

using FakeObjectCode = testing::FakeLibrariesTest;

TEST_F(FakeObjectCode, is_loaded_on_first_use_and_once) {
    const ObjectCode code = ptx("code");
    EXPECT_EQ(code.text(), "code");
    EXPECT_EQ(libraries->loads, 0);
    const Kernel first = code.get_kernel("saxpy");
    const Kernel second = code.get_kernel("nothing");
    EXPECT_NE(code.handle(), nullptr);
    EXPECT_EQ(libraries->loads, 1);
}

TEST_F(FakeObjectCode, is_loaded_once_by_threads_that_meet) {
    constexpr int THREADS = 8;
    const ObjectCode code = ptx("code");
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < THREADS; ++i) {
            threads.emplace_back([&] { static_cast<void>(code.handle()); });
        }
    }
    EXPECT_EQ(libraries->loads, 1);
}

TEST_F(FakeObjectCode, a_kernel_is_looked_up_once) {
    ObjectCode code = ptx("code");
    EXPECT_FALSE(detail::Access::known_kernel(code, "saxpy").has_value());
    Kernel first = code.get_kernel("saxpy");
    libraries->failures["cuLibraryGetKernel"] = CUDA_ERROR_UNKNOWN;
    Kernel second = code.get_kernel("saxpy");
    EXPECT_TRUE(first == second);
    EXPECT_TRUE(detail::Access::known_kernel(code, "saxpy") == first);
    EXPECT_FALSE(detail::Access::known_kernel(code, "nothing").has_value());
    EXPECT_THROW(static_cast<void>(code.get_kernel("nothing")), CUDAError);
    // Each kernel keeps the library loaded by itself.
    first.close();
    code.close();
    EXPECT_EQ(second.name(), "saxpy");
    EXPECT_EQ(libraries->live_libraries, 1);
    second.close();
    EXPECT_EQ(libraries->live_libraries, 0);
    EXPECT_THROW(static_cast<void>(detail::Access::known_kernel(code, "saxpy")), ClosedError);
}

TEST_F(FakeObjectCode, kernels_are_looked_up_by_threads_that_meet) {
    const ObjectCode code = ptx("code");
    std::atomic<int> found{0};
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 8; ++i) {
            threads.emplace_back([&, i] {
                const char* const name = i % 2 == 0 ? "saxpy" : "nothing";
                found += code.get_kernel(name).name() == name ? 1 : 0;
            });
        }
    }
    EXPECT_EQ(found, 8);
}

TEST_F(FakeObjectCode, stays_loaded_until_its_last_kernel_is_gone) {
    ObjectCode code = ptx("code");
    ObjectCode copy = code;
    Kernel kernel = code.get_kernel("saxpy");
    code.close();
    copy.close();
    EXPECT_EQ(libraries->live_libraries, 1);
    EXPECT_EQ(kernel.name(), "saxpy");
    kernel.close();
    EXPECT_EQ(libraries->live_libraries, 0);
}

TEST_F(FakeObjectCode, code_whose_handle_was_given_away_stays_loaded) {
    {
        const ObjectCode code = ptx("code");
        static_cast<void>(code.handle());
        detail::leave_loaded(code);
    }
    EXPECT_EQ(libraries->live_libraries, 1);
    {
        const Kernel kernel = ptx("more code").get_kernel("saxpy");
        detail::leave_loaded(kernel);
    }
    EXPECT_EQ(libraries->live_libraries, 2);
    EXPECT_TRUE(warnings.take(WarningKind::Release).empty());
    libraries->live_libraries = 0;
}

TEST_F(FakeObjectCode, code_that_is_never_used_is_never_loaded) {
    {
        const ObjectCode code = ptx("code");
    }
    EXPECT_EQ(libraries->loads, 0);
}

TEST_F(FakeObjectCode, a_failed_load_shows_the_log_and_is_tried_again) {
    const ObjectCode code = ptx("code", "mine");
    libraries->failures["cuLibraryLoadData"] = CUDA_ERROR_INVALID_PTX;
    libraries->jit_log = "line 7, column 3: unknown instruction";
    expect_error<CUDAError>(
        [&] { static_cast<void>(code.get_kernel("saxpy")); },
        {"cuLibraryLoadData", "CUDA_ERROR_INVALID_PTX (218)", "\"mine\"", "line 7, column 3"});
    libraries->failures.clear();
    EXPECT_EQ(code.get_kernel("saxpy").name(), "saxpy");
    EXPECT_EQ(libraries->loads, 2);
}

TEST_F(FakeObjectCode, a_failure_that_the_driver_puts_off_is_brought_forward) {
    const ObjectCode code = ptx("code", "mine");
    libraries->failures["cuLibraryGetKernel"] = CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    libraries->jit_log = "unsupported .version 99.9";
    expect_error<CUDAError>([&] { static_cast<void>(code.handle()); },
                            {"CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "newer than this driver",
                             "unsupported .version 99.9"});
    EXPECT_EQ(libraries->live_libraries, 0) << "what was loaded is unloaded";
}

TEST_F(FakeObjectCode, a_failed_unload_is_reported) {
    {
        const ObjectCode code = ptx("code");
        static_cast<void>(code.handle());
        libraries->failures["cuLibraryUnload"] = CUDA_ERROR_INVALID_HANDLE;
    }
    const std::vector<std::string> messages = warnings.take(WarningKind::Release);
    ASSERT_EQ(messages.size(), 1U);
    EXPECT_NE(messages[0].find("cuLibraryUnload"), std::string::npos) << messages[0];
}

TEST_F(FakeObjectCode, an_unknown_kernel_lists_the_nearest_first_and_not_all) {
    libraries->kernels.clear();
    for (int i = 10; i < 30; ++i) {
        libraries->kernels.push_back({"kernel_number_" + std::to_string(i), {}});
    }
    libraries->kernels.push_back({"saxpy", {}});
    const ObjectCode code = ptx("code", "mine");
    expect_error<std::invalid_argument>([&] { static_cast<void>(code.get_kernel("saxpi")); },
                                        {"no kernel \"saxpi\" in \"mine\"",
                                         "it has 21 kernels: \"saxpy\", \"kernel", "and 13 more"});
}

TEST_F(FakeObjectCode, an_unknown_kernel_is_reported_by_drivers_that_cannot_list_them) {
    libraries->is_old = true;
    const ObjectCode code = ptx("code");
    expect_error<std::invalid_argument>([&] { static_cast<void>(code.get_kernel("saxpi")); },
                                        {"no kernel \"saxpi\""});
    EXPECT_THROW(static_cast<void>(code.kernel_names()), NotSupportedError);
}

TEST_F(FakeObjectCode, a_name_with_a_nul_is_refused_and_not_cut) {
    using namespace std::string_view_literals;
    const ObjectCode code = ptx("code");
    const std::initializer_list<std::string_view> all{"name is \"saxpy\\0...\"", "without a NUL"};
    expect_error<std::invalid_argument>([&] { (void)code.get_kernel("saxpy\0x"sv); }, all);
    expect_error<std::invalid_argument>([&] { (void)code.get_global("saxpy\0x"sv); }, all);
    expect_error<std::invalid_argument>([&] { (void)code.get_managed("saxpy\0x"sv); }, all);
    expect_error<std::invalid_argument>(
        [] { (void)ObjectCode::from_file(CodeType::Ptx, std::string("/a\0b"sv)); },
        {"path is \"/a\\0...\""});
    EXPECT_EQ(libraries->loads, 0);
}

TEST_F(FakeObjectCode, decorated_names_are_explained) {
    libraries->kernels = {{"_Z3addIfEvPT_", {}}, {"_Z3addIdEvPT_", {}}};
    const ObjectCode code = ptx("code", "", {{"add<float>", "_Z3addIfEvPT_"}});
    EXPECT_EQ(code.get_kernel("add<float>").name(), "add<float>");
    EXPECT_EQ(code.get_kernel("_Z3addIdEvPT_").name(), "_Z3addIdEvPT_");
    expect_error<std::invalid_argument>([&] { static_cast<void>(code.get_kernel("add")); },
                                        {"\"add<float>\"", "extern \"C\"", "name_expressions"});
}

TEST_F(FakeObjectCode, code_that_must_be_linked_first_says_so) {
    for (const CodeType type : {CodeType::LtoIr, CodeType::Object, CodeType::Library}) {
        const ObjectCode code = ObjectCode::from_bytes(type, bytes_of("code"));
        expect_error<std::runtime_error>([&] { static_cast<void>(code.get_kernel("saxpy")); },
                                         {to_string(type), "Linker"});
        expect_error<CUDAError>([&] { static_cast<void>(code.handle()); },
                                {to_string(type), "link"});
    }
    EXPECT_EQ(libraries->loads, 0);
}

TEST_F(FakeObjectCode, variables_keep_the_code_loaded) {
    std::optional<Buffer> variable = ptx("code").get_global("counter");
    EXPECT_EQ(variable->size(), 4U);
    EXPECT_EQ(variable->handle(), reinterpret_cast<CUdeviceptr>(&libraries->variables["counter"]));
    EXPECT_EQ(libraries->live_libraries, 1);
    variable.reset();
    EXPECT_EQ(libraries->live_libraries, 0);
    EXPECT_EQ(ptx("code", {}, {{"&n::counter", "counter"}}).get_managed("&n::counter").size(), 4U);
    EXPECT_NE(ptx("code").get_module(), nullptr);
    EXPECT_EQ(testing::FakeDriver::current(), nullptr);
}

TEST_F(FakeObjectCode, a_missing_variable_is_named) {
    const ObjectCode code = ptx("code", "mine");
    expect_error<std::invalid_argument>([&] { static_cast<void>(code.get_global("absent")); },
                                        {"\"absent\"", "\"mine\"", "name_expressions"});
    libraries->failures = {{"cuLibraryGetGlobal", CUDA_ERROR_UNKNOWN},
                           {"cuLibraryGetManaged", CUDA_ERROR_UNKNOWN},
                           {"cuLibraryGetModule", CUDA_ERROR_UNKNOWN}};
    expect_error<CUDAError>([&] { static_cast<void>(code.get_global("counter")); },
                            {"cuLibraryGetGlobal", "\"counter\""});
    expect_error<CUDAError>([&] { static_cast<void>(code.get_managed("counter")); },
                            {"cuLibraryGetManaged", "\"counter\""});
    expect_error<CUDAError>([&] { static_cast<void>(code.get_module()); }, {"cuLibraryGetModule"});
    EXPECT_EQ(testing::FakeDriver::current(), nullptr);
}

TEST_F(FakeObjectCode, jit_options_reach_the_driver) {
    const JITOptions how{.max_register_count = 64,
                         .optimization_level = 0,
                         .debug = false,
                         .lineinfo = true,
                         .l1_cache = false,
                         .threads_per_block = 128,
                         .max_threads_per_block = 256,
                         .min_blocks_per_multiprocessor = 2,
                         .override_directives = true,
                         .position_independent_code = true,
                         .split_compile = 0,
                         .prefer_binary = true};
    const ObjectCode code = ObjectCode::from_bytes(CodeType::Ptx, bytes_of("code"), {}, {}, how);
    EXPECT_EQ(code.jit_options().max_register_count, 64);
    static_cast<void>(code.handle());
    EXPECT_EQ(libraries->jit_options.at(CU_JIT_MAX_REGISTERS), 64U);
    EXPECT_EQ(libraries->jit_options.at(CU_JIT_OPTIMIZATION_LEVEL), 0U);
    EXPECT_EQ(libraries->jit_options.at(CU_JIT_GENERATE_LINE_INFO), 1U);
    EXPECT_EQ(libraries->jit_options.at(CU_JIT_CACHE_MODE), unsigned{CU_JIT_CACHE_OPTION_CG});
    EXPECT_EQ(libraries->jit_options.at(CU_JIT_THREADS_PER_BLOCK), 128U);
    EXPECT_EQ(libraries->jit_options.at(CU_JIT_MAX_THREADS_PER_BLOCK), 256U);
    EXPECT_EQ(libraries->jit_options.at(CU_JIT_MIN_CTA_PER_SM), 2U);
    EXPECT_EQ(libraries->jit_options.at(CU_JIT_OVERRIDE_DIRECTIVE_VALUES), 1U);
    EXPECT_EQ(libraries->jit_options.at(CU_JIT_POSITION_INDEPENDENT_CODE), 1U);
    EXPECT_EQ(libraries->jit_options.at(CU_JIT_SPLIT_COMPILE), 0U);
    EXPECT_EQ(libraries->jit_options.at(CU_JIT_FALLBACK_STRATEGY), unsigned{CU_PREFER_BINARY});
    EXPECT_EQ(libraries->jit_options.count(CU_JIT_GENERATE_DEBUG_INFO), 0U);
    const ObjectCode bad = ObjectCode::from_bytes(CodeType::Ptx, bytes_of("code"), {}, {},
                                                  {.max_register_count = 256});
    expect_error<std::invalid_argument>([&] { static_cast<void>(bad.handle()); },
                                        {"JITOptions", "max_register_count", "256", "255"});
}

TEST_F(FakeObjectCode, empty_code_is_refused) {
    expect_error<CUDAError>([] { static_cast<void>(ptx("").handle()); },
                            {"CUDA_ERROR_INVALID_IMAGE", "empty"});
    EXPECT_EQ(libraries->loads, 0);
}

TEST_F(FakeObjectCode, use_after_close_is_an_error) {
    ObjectCode code = ptx("code");
    code.close();
    code.close();
    EXPECT_TRUE(code.is_closed());
    EXPECT_THROW(static_cast<void>(code.handle()), ClosedError);
    EXPECT_THROW(static_cast<void>(code.code()), ClosedError);
    EXPECT_THROW(static_cast<void>(code.name()), ClosedError);
    EXPECT_THROW(static_cast<void>(code.get_kernel("saxpy")), ClosedError);
}

// ---- files -------------------------------------------------------------------------------------

class FileObjectCode : public testing::FakeLibrariesTest {
protected:
    ~FileObjectCode() override { std::filesystem::remove(path); }

    std::string path = ::testing::TempDir() + "cuprum_" +
                       ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".ptx";
};

TEST_F(FileObjectCode, is_read_when_it_is_first_needed) {
    const ObjectCode code = ObjectCode::from_file(CodeType::Ptx, path);
    EXPECT_EQ(code.path(), path);
    std::ofstream(path) << "written later";
    EXPECT_EQ(code.text(), "written later");
    std::ofstream(path) << "changed";
    EXPECT_EQ(code.text(), "written later") << "read once";
    EXPECT_NE(code.handle(), nullptr);
}

TEST_F(FileObjectCode, a_missing_file_is_named) {
    const ObjectCode code = ObjectCode::from_file(CodeType::Ptx, path);
    for (int i = 0; i < 2; ++i) {
        expect_error<CUDAError>([&] { static_cast<void>(code.code()); },
                                {"CUDA_ERROR_FILE_NOT_FOUND (301)", path, "No such file"});
    }
    expect_error<CUDAError>([&] { static_cast<void>(code.get_kernel("saxpy")); }, {path});
}

TEST_F(FileObjectCode, a_folder_is_refused) {
    const ObjectCode code = ObjectCode::from_file(CodeType::Ptx, ::testing::TempDir());
    expect_error<CUDAError>([&] { static_cast<void>(code.code()); }, {::testing::TempDir()});
    EXPECT_THROW(static_cast<void>(ObjectCode::from_file(CodeType::Ptx, "")),
                 std::invalid_argument);
}

// ---- on the device -----------------------------------------------------------------------------

using DeviceObjectCode = testing::DeviceTest;

constexpr const char* SOURCE = R"(
    extern "C" __global__ void first(int* x) { *x = 1; }
    extern "C" __global__ void second(int* x) { *x = 2; }
    template <typename T> __global__ void third(T* x) { *x = 3; })";

TEST_F(DeviceObjectCode, kernels_are_found_and_listed) {
    for (const CodeType target : {CodeType::Ptx, CodeType::Cubin}) {
        const ObjectCode code = compile(SOURCE, {"third<float>"}, target);
        std::vector<std::string> names = code.kernel_names();
        std::sort(names.begin(), names.end());
        EXPECT_EQ(names, (std::vector<std::string>{code.symbol_mapping().at("third<float>"),
                                                   "first", "second"}));
        EXPECT_EQ(code.get_kernel("first"), code.get_kernel("first"));
        EXPECT_FALSE(code.get_kernel("first") == code.get_kernel("second"));
        EXPECT_EQ(code.get_kernel("third<float>").name(), "third<float>");
        expect_error<std::invalid_argument>([&] { static_cast<void>(code.get_kernel("fist")); },
                                            {"\"fist\"", "it has 3 kernels: \"first\""});
    }
}

TEST_F(DeviceObjectCode, a_fat_binary_of_cubin_and_ptx_is_loaded) {
    const ObjectCode ptx_code = compile(SOURCE);
    const ObjectCode cubin = compile(SOURCE, {}, CodeType::Cubin);
    std::vector<std::byte> fatbin(cubin.code().begin(), cubin.code().end());
    if (!device().is_emulated()) {
        const std::string arch = "sm_" + device().arch();
        using detail::FatbinImage;
        const std::array images{
            FatbinImage{.kind = FatbinImage::Kind::Cubin, .arch = arch, .code = cubin.code()},
            FatbinImage{.kind = FatbinImage::Kind::Ptx, .arch = arch, .code = ptx_code.code()}};
        fatbin = detail::write_fatbin(images);
    }
    const ObjectCode code = ObjectCode::from_bytes(CodeType::Fatbin, fatbin);
    const Buffer out = upload(std::vector<int>{0});
    launch(stream(), {}, code.get_kernel("second"), out);
    EXPECT_EQ(download<int>(out), std::vector{2});
}

TEST_F(DeviceObjectCode, ptx_with_a_syntax_error_gives_the_line) {
    std::string text(compile(SOURCE).text());
    const std::size_t found = text.find("st.global");
    ASSERT_NE(found, std::string::npos);
    text.insert(found, "] ");
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<long>(found), '\n');
    expect_error<CUDAError>([&] { static_cast<void>(ptx(text, "mine").get_kernel("first")); },
                            {"CUDA_ERROR_INVALID_PTX (218)", "\"mine\"", std::to_string(line)});
    EXPECT_NO_THROW(static_cast<void>(compile(SOURCE).get_kernel("first")));
}

TEST_F(DeviceObjectCode, ptx_newer_than_the_driver_is_refused_by_gpus_alone) {
    std::string text(compile(SOURCE).text());
    const std::size_t found = text.find(".version ") + 9;
    text.replace(found, text.find('\n', found) - found, "99.9");
    if (device().is_emulated()) { // it refuses unknown instructions, not versions
        EXPECT_NO_THROW(static_cast<void>(ptx(text).get_kernel("first")));
        return;
    }
    expect_error<CUDAError>([&] { static_cast<void>(ptx(text).get_kernel("first")); },
                            {"CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222)"});
}

TEST_F(DeviceObjectCode, invalid_code_is_refused) {
    for (const char* text : {"this is no code", "\x7f"
                                                "ELF"}) {
        const ObjectCode code = ObjectCode::from_bytes(CodeType::Cubin, bytes_of(text), "mine");
        expect_error<CUDAError>([&] { static_cast<void>(code.get_kernel("first")); },
                                {"\"mine\" cannot be loaded"});
    }
}

TEST_F(DeviceObjectCode, a_cubin_that_the_device_cannot_run_says_why) {
    const std::string other = device().arch() == "75" ? "sm_80" : "sm_75";
    const ObjectCode compiled = Program(SOURCE, {.arch = other}).compile(CodeType::Cubin);
    std::span<const std::byte> cubin = compiled.code();
    if (device().is_emulated()) {
        constexpr std::size_t HEADERS = 16 + 80; // the size of the cubin without its PTX
        std::uint64_t size = 0;
        std::memcpy(&size, cubin.data() + 24, sizeof(size));
        cubin = cubin.subspan(HEADERS, size);
    }
    const ObjectCode code = ObjectCode::from_bytes(CodeType::Cubin, cubin, "mine");
    const std::string why =
        device().is_emulated() ? "the emulated device runs PTX" : "sm_" + device().arch();
    expect_error<CUDAError>([&] { static_cast<void>(code.get_kernel("first")); },
                            {"CUDA_ERROR_NO_BINARY_FOR_GPU (209)", other, why});
}

TEST_F(DeviceObjectCode, is_used_by_many_threads_at_once) {
    constexpr int THREADS = 8;
    const ObjectCode code = compile(SOURCE);
    std::array<CUkernel, THREADS> handles{};
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < THREADS; ++i) {
            threads.emplace_back([&, i] { handles[i] = code.get_kernel("first").handle(); });
        }
    }
    for (const CUkernel handle : handles) {
        EXPECT_NE(handle, nullptr);
        EXPECT_EQ(handle, handles[0]);
    }
}

} // namespace
} // namespace cuprum
