// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/link_session.hpp"
#include "support/device_test.hpp"
#include "support/expect_error.hpp"
#include "support/fake_driver.hpp"

#include <cuprum/linker.hpp>

#include <gtest/gtest.h>

#include <array>
#include <span>
#include <string>
#include <vector>

namespace cuprum {
namespace {

using testing::expect_error;

constexpr const char* CALLER = "extern __device__ int twice(int);\n"
                               "extern \"C\" __global__ void caller(int* x) { *x = twice(21); }";
constexpr const char* CALLED = "__device__ int twice(int x) { return 2 * x; }";

struct OptionCase {
    const char* field;
    void (*set)(LinkerOptions&);
    std::vector<std::string> flags;
};

using O = LinkerOptions;

// clang-format off
const OptionCase OPTION_CASES[] = {
    {"max_register_count", [](O& o) { o.max_register_count = 32; }, {"-maxrregcount=32"}},
    {"time", [](O& o) { o.time = true; }, {"-time"}},
    {"verbose", [](O& o) { o.verbose = true; }, {"-verbose"}},
    {"link_time_optimization", [](O& o) { o.link_time_optimization = true; }, {"-lto"}},
    {"ptx", [](O& o) { o.ptx = true; }, {"-ptx"}},
    {"optimization_level", [](O& o) { o.optimization_level = 0; }, {"-O0"}},
    {"debug", [](O& o) { o.debug = true; }, {"-g"}},
    {"lineinfo", [](O& o) { o.lineinfo = true; }, {"-lineinfo"}},
    {"ftz", [](O& o) { o.ftz = false; }, {"-ftz=false"}},
    {"prec_div", [](O& o) { o.prec_div = true; }, {"-prec-div=true"}},
    {"prec_sqrt", [](O& o) { o.prec_sqrt = true; }, {"-prec-sqrt=true"}},
    {"fma", [](O& o) { o.fma = false; }, {"-fma=false"}},
    {"kernels_used", [](O& o) { o.kernels_used = {"a", "b"}; }, {"-kernels-used=a", "-kernels-used=b"}},
    {"variables_used", [](O& o) { o.variables_used = {"v"}; }, {"-variables-used=v"}},
    {"optimize_unused_variables", [](O& o) { o.optimize_unused_variables = true; }, {"-optimize-unused-variables"}},
    {"ptxas_options", [](O& o) { o.ptxas_options = {"-v", "-O2"}; }, {"-Xptxas=-v", "-Xptxas=-O2"}},
    {"split_compile", [](O& o) { o.split_compile = 0; }, {"-split-compile=0"}},
    {"split_compile_extended", [](O& o) { o.split_compile_extended = 1; }, {"-split-compile-extended=1"}},
    {"no_cache", [](O& o) { o.no_cache = true; }, {"-no-cache"}},
};
// clang-format on

TEST(LinkerOptions, become_flags) {
    EXPECT_EQ(LinkerOptions{.arch = "sm_90"}.to_nvjitlink(),
              std::vector<std::string>{"-arch=sm_90"});
    for (const OptionCase& each : OPTION_CASES) {
        LinkerOptions options{.arch = "sm_90"};
        each.set(options);
        std::vector<std::string> expected{"-arch=sm_90"};
        expected.insert(expected.end(), each.flags.begin(), each.flags.end());
        EXPECT_EQ(options.to_nvjitlink(), expected) << each.field;
    }
}

TEST(LinkerOptions, what_is_off_has_no_flag) {
    const LinkerOptions options{.arch = "sm_90",
                                .time = false,
                                .link_time_optimization = false,
                                .debug = false,
                                .optimize_unused_variables = false};
    EXPECT_EQ(options.to_nvjitlink(), std::vector<std::string>{"-arch=sm_90"});
}

TEST(LinkerOptions, a_bad_value_names_the_field) {
    expect_error<std::invalid_argument>(
        [] {
            static_cast<void>(
                LinkerOptions{.arch = "sm_90", .max_register_count = 0}.to_nvjitlink());
        },
        {"LinkerOptions", "max_register_count", "0"});
    expect_error<std::invalid_argument>(
        [] {
            static_cast<void>(LinkerOptions{.arch = "sm_90", .ptxas_options = {""}}.to_nvjitlink());
        },
        {"LinkerOptions", "ptxas_options"});
    for (const char* arch : {"sm_7", "sm_7f", "compute_9", "5"}) { // these crash nvJitLink
        expect_error<std::invalid_argument>(
            [&] { static_cast<void>(LinkerOptions{.arch = arch}.to_nvjitlink()); },
            {"LinkerOptions arch is \"" + std::string(arch) + "\"", "sm_90"});
    }
}

class LinkerOnDevice : public testing::DeviceTest {
protected:
    [[nodiscard]] std::vector<ObjectCode> parts(CodeType type) const {
        const ProgramOptions how{.arch = "sm_" + device().arch(), .relocatable_device_code = true};
        return {Program(CALLER, how).compile(type), Program(CALLED, how).compile(type)};
    }

    void expect_answer(const ObjectCode& code) {
        const Buffer out = upload(std::vector<int>{0});
        launch(stream(), {}, code.get_kernel("caller"), out);
        EXPECT_EQ(download<int>(out), std::vector{42});
    }
};

TEST_F(LinkerOnDevice, links_lto_code_that_runs) {
    const Linker linker(parts(CodeType::LtoIr));
    EXPECT_EQ(linker.backend(), CompilerBackend::NvJitLink);
    EXPECT_NE(linker.handle(), nullptr);
    const ObjectCode code = linker.link(CodeType::Cubin);
    EXPECT_EQ(code.code_type(), CodeType::Cubin);
    EXPECT_EQ(code.name(), "<default linker>");
    expect_answer(code);
    expect_answer(linker.link(CodeType::Cubin)); // a second time
}

TEST_F(LinkerOnDevice, links_lto_code_to_ptx_that_runs) {
    const Linker linker(parts(CodeType::LtoIr), {.name = "mine"});
    const ObjectCode code = linker.link(CodeType::Ptx);
    EXPECT_EQ(code.name(), "mine");
    EXPECT_NE(code.text().find(".entry caller("), std::string_view::npos);
    expect_answer(code);
}

TEST_F(LinkerOnDevice, links_ptx_and_cubins_that_run) {
    for (const CodeType type : {CodeType::Ptx, CodeType::Cubin}) {
        const ObjectCode code = Linker(parts(type)).link(CodeType::Cubin);
        const auto degraded = warnings.take(WarningKind::Degraded);
        if (!degraded.empty()) {
            EXPECT_TRUE(device().is_emulated());
            EXPECT_NE(degraded.front().find("cuLink"), std::string::npos) << degraded.front();
            GTEST_SKIP() << degraded.front();
        }
        expect_answer(code);
    }
}

TEST_F(LinkerOnDevice, one_part_of_ptx_runs) {
    const std::array part{compile("extern \"C\" __global__ void caller(int* x) { *x = 42; }")};
    expect_answer(Linker(part).link(CodeType::Cubin));
}

constexpr const char* MANY_VALUES = R"(extern "C" __global__ void many(int* x) {
    int v[40];
    for (int i = 0; i < 40; ++i) { v[i] = x[i]; }
    __syncthreads();
    for (int i = 0; i < 40; ++i) { x[39 - i] = v[i] * v[(i * 7) % 40]; }
}
extern "C" __global__ void few(int* x) { *x = 1; })";

TEST_F(LinkerOnDevice, a_limit_of_registers_holds_for_all_kinds_of_code) {
    const std::string arch = "sm_" + device().arch();
    const auto registers = [this](const ObjectCode& code) {
        return code.get_kernel("many").attributes(device()).num_regs;
    };
    for (const CodeType type : {CodeType::Ptx, CodeType::LtoIr}) {
        const std::array part{Program(MANY_VALUES, {.arch = arch}).compile(type)};
        const std::array two{part[0],
                             Program("__device__ int unused;", {.arch = arch}).compile(type)};
        EXPECT_GT(registers(Linker(part).link(CodeType::Cubin)), 32);
        for (const LinkerOptions& how :
             {LinkerOptions{.max_register_count = 32},
              LinkerOptions{.ptxas_options = {"-maxrregcount=32"}},
              LinkerOptions{.ptxas_options = {"--maxrregcount", "32"}}}) {
            EXPECT_LE(registers(Linker(part, how).link(CodeType::Cubin)), 32) << to_string(type);
            EXPECT_LE(registers(Linker(two, how).link(CodeType::Cubin)), 32) << to_string(type);
        }
    }
    EXPECT_GT(registers(Program(MANY_VALUES).compile(CodeType::Cubin)), 32);
    EXPECT_LE(registers(Program(MANY_VALUES, {.max_register_count = 32}).compile(CodeType::Cubin)),
              32);
}

TEST_F(LinkerOnDevice, kernels_that_are_not_used_are_removed) {
    for (const CodeType type : {CodeType::Ptx, CodeType::LtoIr}) {
        const std::array part{Program(MANY_VALUES).compile(type)};
        const ObjectCode code = Linker(part, {.kernels_used = {"few"}}).link(CodeType::Cubin);
        EXPECT_EQ(code.kernel_names(), std::vector<std::string>{"few"}) << to_string(type);
    }
}

TEST_F(LinkerOnDevice, links_lto_code_that_calls_ptx) {
    const ProgramOptions how{.relocatable_device_code = true};
    const std::array parts{Program(CALLER, how).compile(CodeType::LtoIr),
                           Program(CALLED, how).compile(CodeType::Ptx)};
    expect_answer(Linker(parts).link(CodeType::Cubin));
    EXPECT_EQ(warnings.take(WarningKind::Degraded), std::vector<std::string>());
}

TEST_F(LinkerOnDevice, ptx_that_calls_lto_code_runs_or_says_how) {
    const ProgramOptions how{.relocatable_device_code = true};
    const std::array parts{Program(CALLER, how).compile(CodeType::Ptx),
                           Program(CALLED, how).compile(CodeType::LtoIr)};
    const ObjectCode code = Linker(parts).link(CodeType::Cubin);
    const auto degraded = warnings.take(WarningKind::Degraded);
    if (degraded.empty()) {
        expect_answer(code); // on a GPU, and with the stand-in of `cuprum run`
        return;
    }
    EXPECT_NE(degraded.front().find("start the program with `cuprum run`"), std::string::npos)
        << degraded.front();
    EXPECT_EQ(degraded.front().find("install"), std::string::npos) << degraded.front();
    expect_error<CUDAError>([&] { static_cast<void>(code.get_kernel("caller")); },
                            {"it is machine code", "the emulated device runs PTX"});
}

TEST_F(LinkerOnDevice, what_is_missing_is_in_log_and_error) {
    const std::vector<ObjectCode> both = parts(CodeType::Ptx);
    const std::span<const ObjectCode> caller = std::span(both).first(1);
    const Linker linker(caller);
    EXPECT_EQ(linker.error_log(), "");
    expect_error<LinkerError>([&] { static_cast<void>(linker.link(CodeType::Cubin)); },
                              {"nvJitLinkComplete", "NVJITLINK_ERROR", "twice", "-arch=sm_"});
    EXPECT_NE(linker.error_log().find("twice"), std::string::npos);
}

TEST_F(LinkerOnDevice, a_function_that_no_input_defines_is_named_as_in_the_source) {
    for (const CodeType type : {CodeType::Ptx, CodeType::LtoIr}) {
        const std::vector<ObjectCode> both = parts(type);
        const std::span<const ObjectCode> caller = std::span(both).first(1);
        const Linker linker(caller);
        expect_error<LinkerError>(
            [&] { static_cast<void>(linker.link(CodeType::Cubin)); },
            {"no input defines \"twice(int)\"; give the Linker the code that does too"});
    }
}

TEST_F(LinkerOnDevice, times_are_in_the_info_log) {
    const Linker linker(parts(CodeType::Ptx), {.time = true});
    static_cast<void>(linker.link(CodeType::Cubin));
    static_cast<void>(warnings.take(WarningKind::Degraded));
    EXPECT_NE(linker.info_log().find("time"), std::string::npos);
    EXPECT_EQ(linker.error_log(), "");
}

TEST_F(LinkerOnDevice, bad_input_is_refused_by_name) {
    expect_error<std::invalid_argument>([] { const Linker linker({}); }, {"codes is empty"});
    const std::vector<ObjectCode> both = parts(CodeType::Ptx);
    expect_error<LinkerError>([&] { const Linker linker(both, {.arch = "99"}); },
                              {"nvJitLinkCreate", "\"99\"", "\"sm_90\""});
    const std::array junk{
        ObjectCode::from_bytes(CodeType::Cubin, std::vector<std::byte>(16), "junk")};
    expect_error<LinkerError>([&] { static_cast<void>(Linker(junk).link(CodeType::Cubin)); },
                              {"nvJitLink"});
    const Linker linker(both);
    expect_error<std::invalid_argument>([&] { static_cast<void>(linker.link(CodeType::Fatbin)); },
                                        {"\"fatbin\"", "\"cubin\"", "\"ptx\""});
    expect_error<std::invalid_argument>(
        [&] { const Linker wrong(both, {.backend = CompilerBackend::Nvrtc}); },
        {"backend", "NVRTC", "driver"});
}

TEST_F(LinkerOnDevice, a_closed_linker_says_so) {
    Linker linker(parts(CodeType::Ptx));
    linker.close();
    linker.close();
    EXPECT_TRUE(linker.is_closed());
    expect_error<ClosedError>([&] { static_cast<void>(linker.link(CodeType::Cubin)); }, {"Linker"});
}

class DriverLinker : public testing::FakeDriverTest {
protected:
    static std::vector<ObjectCode> parts() {
        std::vector<std::byte> text(4, std::byte{'x'});
        return {ObjectCode::from_bytes(CodeType::Ptx, text, "one"),
                ObjectCode::from_bytes(CodeType::Cubin, text, "two")};
    }
};

const LinkerOptions BY_DRIVER{.arch = "sm_90a", .backend = CompilerBackend::Driver};

TEST_F(DriverLinker, gives_the_driver_code_and_options) {
    LinkerOptions options = BY_DRIVER;
    options.max_register_count = 32;
    options.debug = true;
    const Linker linker(parts(), options);
    EXPECT_EQ(linker.backend(), CompilerBackend::Driver);
    const ObjectCode code = linker.link(CodeType::Cubin);
    EXPECT_EQ(code.code().size(), 6U); // "linked"
    EXPECT_EQ(fake->last_link.inputs, (std::vector<std::string>{"one", "two"}));
    EXPECT_EQ(fake->last_link.options.at(CU_JIT_MAX_REGISTERS), 32U);
    EXPECT_EQ(fake->last_link.options.at(CU_JIT_GENERATE_DEBUG_INFO), 1U);
    EXPECT_EQ(fake->last_link.options.at(CU_JIT_TARGET), unsigned{CU_TARGET_COMPUTE_90A});
    EXPECT_EQ(fake->last_link.options.count(CU_JIT_LOG_VERBOSE), 0U);
    EXPECT_EQ(linker.info_log(), "linked well");
}

TEST_F(DriverLinker, a_failure_has_the_drivers_log) {
    fake->fail("cuLinkComplete", CUDA_ERROR_INVALID_PTX);
    const Linker linker(parts(), BY_DRIVER);
    expect_error<LinkerError>([&] { static_cast<void>(linker.link(CodeType::Cubin)); },
                              {"cuLinkComplete", "CUDA_ERROR_INVALID_PTX", "linker error log"});
}

TEST(LinkerLog, undefined_functions_and_variables_are_found) {
    using detail::advice_about_undefined;
    const auto names = [](const char* log, const char* name) {
        return advice_about_undefined(log).starts_with("no input defines \"" + std::string(name) +
                                                       "\"; give the Linker");
    };
    EXPECT_TRUE(names("error   : Undefined reference to '_Z5twicefi' in 'a'", "twice(float, int)"));
    EXPECT_TRUE(names("ptxas fatal   : Unresolved extern function 'twice'", "twice"));
    EXPECT_TRUE(names("ptxas fatal   : Unresolved extern variable 'table'", "table"));
    EXPECT_EQ(advice_about_undefined("ptxas fatal   : Memory allocation failure"), "");
}

TEST_F(DriverLinker, options_it_does_not_have_are_refused_by_name) {
    for (const OptionCase& each : OPTION_CASES) {
        const std::string field = each.field;
        if (field == "max_register_count" || field == "verbose" || field == "optimization_level" ||
            field == "debug" || field == "lineinfo" || field == "no_cache") {
            continue;
        }
        LinkerOptions options = BY_DRIVER;
        each.set(options);
        expect_error<UnsupportedOptionError>(
            [&] { const Linker linker(parts(), options); },
            {each.field, "option is not supported by the driver API"});
    }
    expect_error<std::invalid_argument>(
        [&] {
            const std::array lto{ObjectCode::from_bytes(CodeType::LtoIr, {}, "mine")};
            const Linker linker(lto, BY_DRIVER);
        },
        {"\"mine\"", "LTO-IR", "nvJitLink"});
    expect_error<std::invalid_argument>(
        [&] { static_cast<void>(Linker(parts(), BY_DRIVER).link(CodeType::Ptx)); },
        {"\"ptx\"", "driver"});
}

TEST(DriverLinkerFailures, are_all_reported_and_leave_nothing) {
    testing::check_every_failure([](testing::FakeDriver&) {
        const std::array part{
            ObjectCode::from_bytes(CodeType::Ptx, std::vector<std::byte>(4, std::byte{'x'}))};
        static_cast<void>(Linker(part, BY_DRIVER).link(CodeType::Cubin));
    });
}

} // namespace
} // namespace cuprum
