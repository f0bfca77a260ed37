// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "libraries/nvvm.hpp"

#include "program/nvvm.hpp"
#include "program/options.hpp"
#include "support/file.hpp"

#include <cuprum/device.hpp>
#include <cuprum/error.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace cuprum::nvvm {

namespace {

namespace fs = std::filesystem;

constexpr const char* LIBDEVICE_FILE = "libdevice.10.bc";

std::vector<fs::path> libdevice_candidates() {
    std::vector<fs::path> candidates;
    if (const std::string file = detail::environment("CUPRUM_LIBDEVICE"); !file.empty()) {
        candidates.emplace_back(file);
    }
    try {
        // A toolkit has the library in nvvm/lib64, a Python package of CUDA 13 in lib.
        const fs::path library = Library::loaded().file.path;
        const fs::path root = library.parent_path().parent_path();
        candidates.push_back(root / "libdevice" / LIBDEVICE_FILE);
        candidates.push_back(root / "nvvm" / "libdevice" / LIBDEVICE_FILE);
    } catch (const LibraryNotFoundError&) { // NOLINT(bugprone-empty-catch)
        // There may be bitcode without libNVVM.
    }
    for (const std::string& root : libraries::component_roots()) {
        candidates.push_back(fs::path(root) / "nvvm" / "libdevice" / LIBDEVICE_FILE);
    }
    return candidates;
}

std::string load_libdevice() {
    std::vector<std::string> tried;
    for (const fs::path& file : libdevice_candidates()) {
        std::error_code ignored;
        if (file.is_absolute() && fs::is_regular_file(file, ignored)) {
            try {
                const std::vector<std::byte> bytes = detail::read_file(file.string());
                return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
            } catch (const std::system_error& error) {
                tried.emplace_back(error.what());
                continue;
            }
        }
        tried.push_back(file.string() + ": no such file");
    }
    throw LibraryNotFoundError("libdevice", tried,
                               "install it with `pip install nvidia-nvvm` (CUDA 12: "
                               "nvidia-cuda-nvcc-cu12), install the CUDA toolkit, or set "
                               "CUPRUM_LIBDEVICE to the path of libdevice.10.bc");
}

} // namespace

const std::string& libdevice() {
    static const std::string code = load_libdevice(); // the next caller retries after a failure
    return code;
}

// libNVVM takes options with a single dash only.

std::vector<std::string> flags_of(const ProgramOptions& options, CodeType target) {
    detail::check_options(options, SourceType::Nvvm);
    const std::string architecture =
        options.arch.has_value() ? *options.arch : "sm_" + Device().arch();
    detail::check_arch("ProgramOptions", architecture);
    // libNVVM compiles for virtual architectures.
    std::vector<std::string> flags{"-arch=compute_" +
                                   std::string(detail::arch_number(architecture))};
    const auto number = [&flags](const char* flag, const std::optional<bool>& value) {
        if (value.has_value()) {
            flags.push_back(std::string(flag) + (*value ? "1" : "0"));
        }
    };
    if (options.debug.value_or(false)) {
        flags.emplace_back("-g");
    }
    if (options.device_code_optimize.has_value()) {
        flags.emplace_back(*options.device_code_optimize ? "-opt=3" : "-opt=0");
    }
    number("-ftz=", options.ftz);
    number("-prec-sqrt=", options.prec_sqrt);
    number("-prec-div=", options.prec_div);
    number("-fma=", options.fma);
    if (options.numba_debug.value_or(false)) {
        flags.emplace_back("-numba-debug");
    }
    if (target == CodeType::LtoIr) {
        flags.emplace_back("-gen-lto");
    }
    flags.insert(flags.end(), options.extra.begin(), options.extra.end());
    return flags;
}

namespace {

std::string advice_for(nvvmResult status) {
    switch (status) {
    case NVVM_ERROR_IR_VERSION_MISMATCH:
        return "the metadata nvvmir.version names an IR version that this libNVVM, " + version() +
               ", does not support";
    case NVVM_ERROR_INVALID_IR:
        return "the IR is not valid for this libNVVM, " + version();
    case NVVM_ERROR_INVALID_OPTION:
        return "libNVVM does not support one of the options";
    default:
        return {};
    }
}

void drop_final_nuls(std::vector<std::byte>& bytes) {
    // PTX ends with a NUL. LTO-IR has its size in a header and may end with zeros.
    static constexpr std::string_view PTX_START = "//";
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (text.starts_with(PTX_START) || text.starts_with(".version")) {
        while (!bytes.empty() && bytes.back() == std::byte{0}) {
            bytes.pop_back();
        }
    }
}

} // namespace

Compilation::Compilation(std::vector<std::string> options) : options_(std::move(options)) {
    check(table().nvvmCreateProgram(&program_), table().nvvmCreateProgram.name);
}

Compilation::~Compilation() {
    // NOTE: the only failure is "no such program", which cannot happen: this object owns it.
    static_cast<void>(table().nvvmDestroyProgram(&program_));
}

void Compilation::add(const std::string& code, const std::string& name) {
    const auto& entry = table().nvvmAddModuleToProgram;
    check(entry(program_, code.data(), code.size(), name.c_str()), entry.name);
}

void Compilation::add_library(const std::string& code, const std::string& name) {
    const auto& entry = table().nvvmLazyAddModuleToProgram;
    check(entry(program_, code.data(), code.size(), name.c_str()), entry.name);
}

std::string Compilation::run() {
    std::vector<const char*> arguments;
    arguments.reserve(options_.size());
    for (const std::string& option : options_) {
        arguments.push_back(option.c_str());
    }
    const int count = static_cast<int>(arguments.size());
    for (const auto* entry : {&table().nvvmVerifyProgram, &table().nvvmCompileProgram}) {
        const nvvmResult status = (*entry)(program_, count, arguments.data());
        if (status == NVVM_SUCCESS) {
            continue;
        }
        std::string text;
        try {
            text = log();
        } catch (const NVVMError& error) {
            // Report the first failure, with a note in place of its log.
            text = std::string("(the log could not be read: ") + error.what() + ")";
        }
        throw NVVMError(status, table().nvvmGetErrorString(status), entry->name, std::move(text),
                        options_, advice_for(status));
    }
    return log();
}

std::vector<std::byte> Compilation::result() const {
    std::size_t bytes = 0;
    check(table().nvvmGetCompiledResultSize(program_, &bytes),
          table().nvvmGetCompiledResultSize.name);
    std::vector<std::byte> code(bytes);
    check(table().nvvmGetCompiledResult(program_, reinterpret_cast<char*>(code.data())),
          table().nvvmGetCompiledResult.name);
    drop_final_nuls(code);
    return code;
}

void Compilation::check(nvvmResult status, const char* call) const {
    if (status != NVVM_SUCCESS) {
        throw NVVMError(status, table().nvvmGetErrorString(status), call, {}, options_,
                        advice_for(status));
    }
}

std::string Compilation::log() const {
    std::size_t bytes = 0;
    check(table().nvvmGetProgramLogSize(program_, &bytes), table().nvvmGetProgramLogSize.name);
    std::string text(bytes, '\0');
    if (bytes != 0) {
        check(table().nvvmGetProgramLog(program_, text.data()), table().nvvmGetProgramLog.name);
    }
    text.erase(std::find(text.begin(), text.end(), '\0'), text.end());
    return text;
}

std::string version() {
    int major = 0;
    int minor = 0;
    int ir_major = 0;
    int ir_minor = 0;
    int debug_major = 0;
    int debug_minor = 0;
    const auto check = [](nvvmResult status, const char* call) {
        if (status != NVVM_SUCCESS) {
            throw NVVMError(status, table().nvvmGetErrorString(status), call, {}, {});
        }
    };
    check(table().nvvmVersion(&major, &minor), table().nvvmVersion.name);
    check(table().nvvmIRVersion(&ir_major, &ir_minor, &debug_major, &debug_minor),
          table().nvvmIRVersion.name);
    return std::to_string(major) + "." + std::to_string(minor) + ", IR " +
           std::to_string(ir_major) + "." + std::to_string(ir_minor) + ", debug " +
           std::to_string(debug_major) + "." + std::to_string(debug_minor);
}

} // namespace cuprum::nvvm
