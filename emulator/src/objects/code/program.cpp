// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/code/program.hpp"

#include "image/image.hpp"
#include "objects/devices/device.hpp"
#include "objects/memory/address_space.hpp"
#include "objects/process/driver.hpp"
#include "objects/process/error.hpp"
#include "objects/process/log.hpp"
#include "places/native_stack.hpp"
#include "ptx/diagnostics.hpp"
#include "ptx/parser.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace cuprum::emulator {

CUresult code_of(ImageProblem problem) noexcept {
    switch (problem) {
    case ImageProblem::NoPtx:
    case ImageProblem::TooNew:
    case ImageProblem::OtherDevice:
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    case ImageProblem::Unsupported:
        return CUDA_ERROR_NOT_SUPPORTED;
    default:
        return CUDA_ERROR_INVALID_IMAGE;
    }
}

CUresult code_of(ptx::Problem problem) noexcept {
    switch (problem) {
    case ptx::Problem::Unsupported:
        return CUDA_ERROR_NOT_SUPPORTED;
    case ptx::Problem::Memory:
        return CUDA_ERROR_OUT_OF_MEMORY;
    case ptx::Problem::Target: // what a driver returns for bare PTX
    case ptx::Problem::Syntax:
        break;
    }
    return CUDA_ERROR_INVALID_PTX;
}

KernelList::KernelList(std::vector<Kernel> kernels, const passes::FunctionAddresses& addresses)
    : kernels_(std::move(kernels)) {
    for (std::size_t index = 0; index < kernels_.size(); ++index) {
        by_name_.emplace(kernels_[index]->name, index);
        by_address_.emplace(addresses.of(kernels_[index]->name), index);
    }
}

std::optional<std::size_t> KernelList::find(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::size_t> KernelList::find_at(std::uint64_t address) const {
    const auto found = by_address_.find(address);
    return found == by_address_.end() ? std::nullopt : std::optional(found->second);
}

std::string KernelList::names() const {
    constexpr std::size_t most = 32;
    std::string names;
    for (std::size_t index = 0; index < std::min(most, kernels_.size()); ++index) {
        names += (names.empty() ? "" : ", ") + kernels_[index]->name;
    }
    if (kernels_.size() > most) {
        names += " and " + std::to_string(kernels_.size() - most) + " more";
    }
    return names.empty() ? "no kernel" : names;
}

namespace {

[[noreturn]] void refuse(CUresult code, const std::string& complaints, const JitOptions& options) {
    options.write_error(complaints);
    log(LogLevel::Error, "module refused:\n" + complaints);
    fail(code, "the module was refused, see its log");
}

void refuse_if_any(const ptx::Diagnostics& diagnostics, const JitOptions& options) {
    if (!diagnostics.is_empty()) {
        refuse(code_of(diagnostics.items().front().problem), diagnostics.to_text(), options);
    }
}

/// Returns the functions that initial values name. Reports names that the module does not define.
Program::Symbols functions_in_initial_values(const passes::FunctionAddresses& addresses,
                                             const std::vector<passes::GlobalVariable>& variables,
                                             ptx::Diagnostics& diagnostics) {
    std::unordered_set<std::string_view> defined;
    for (const passes::GlobalVariable& variable : variables) {
        if (!variable.is_external) {
            defined.insert(variable.name);
        }
    }
    Program::Symbols functions;
    for (const passes::GlobalVariable& variable : variables) {
        for (const passes::Relocation& relocation : variable.relocations) {
            if (defined.contains(relocation.symbol)) {
                continue;
            }
            const std::uint64_t address = addresses.of(relocation.symbol);
            if (address == 0) {
                diagnostics.report(ptx::Problem::Syntax, {},
                                   "the initial value of variable '" + variable.name + "' names '" +
                                       relocation.symbol + "', which the module does not define");
            }
            functions.emplace(relocation.symbol, address);
        }
    }
    return functions;
}

/// Returns the message for modules of a newer PTX ISA than the emulated device knows.
std::string newer_version_text(const ptx::Module& module) {
    const auto text = [](ptx::Version version) {
        return std::to_string(version.major) + "." + std::to_string(version.minor);
    };
    return "the module is PTX ISA " + text({module.version_major, module.version_minor}) +
           ", newer than version " + text(ptx::NEWEST_KNOWN_VERSION) +
           " of the emulated device: new instructions are refused";
}

/// Compiles all kernels of a module.
std::vector<KernelList::Kernel> compile_all(const ptx::Module& module,
                                            const std::vector<passes::GlobalVariable>& variables,
                                            std::uint32_t sm, const JitOptions& options) {
    passes::CompileOptions compile_options;
    for (const passes::GlobalVariable& variable : variables) {
        if (!variable.is_external) {
            compile_options.symbols.insert(variable.name);
        }
    }
    compile_options.memory = &AddressSpace::instance().map();
    compile_options.device_sm = sm;
    ptx::Diagnostics diagnostics;
    auto kernels = passes::compile(module, compile_options, diagnostics);
    if (!diagnostics.is_empty() && module.is_newer_than_known()) {
        refuse(code_of(diagnostics.items().front().problem),
               diagnostics.to_text() + "ptx: note: " + newer_version_text(module) + "\n", options);
    }
    refuse_if_any(diagnostics, options);
    return kernels;
}

/// Logs once per process that a module is of a newer PTX ISA.
void log_newer_version(const ptx::Module& module) {
    static std::atomic<bool> is_logged{false};
    if (module.is_newer_than_known() && !is_logged.exchange(true)) {
        log(LogLevel::Warn, newer_version_text(module));
    }
}

} // namespace

std::shared_ptr<const Program> Program::load(const void* image, std::optional<std::size_t> size,
                                             std::uint32_t sm, const JitOptions& options) {
    require(image != nullptr, "image must not be NULL");
    ImageResult result = read_image(image, size, sm);
    if (!result.ptx) {
        // A GPU's driver returns INVALID_PTX for bare PTX of a newer device, and
        // NO_BINARY_FOR_GPU for a container without a matching entry.
        const bool is_text = result.kind == ImageKind::Ptx;
        if (const std::string library = result.has_cubin ? places::calling_library() : "";
            !library.empty()) {
            result.message += "; the code belongs to " + library +
                              ": without its PTX, that part needs a GPU or another library";
        }
        refuse(is_text ? CUDA_ERROR_INVALID_PTX : code_of(result.problem), result.message, options);
    }
    if (result.ptx->find(".version") == std::string::npos) {
        refuse(
            CUDA_ERROR_INVALID_IMAGE,
            "ptx:1:1: error: the image is not PTX (there is no .version) and not a known container",
            options);
    }
    ptx::Diagnostics diagnostics;
    auto module = ptx::parse(std::move(*result.ptx), diagnostics);
    refuse_if_any(diagnostics, options);
    if (!module) {
        refuse(CUDA_ERROR_INVALID_PTX, "ptx:1:1: error: the module could not be parsed", options);
    }
    log_newer_version(*module);
    options.limit_registers(*module);
    auto program = std::shared_ptr<Program>(new Program);
    program->variables_ =
        passes::global_variables(*module, device_at(0).total_bytes(), diagnostics);
    const passes::FunctionAddresses addresses(*module);
    program->functions_ = functions_in_initial_values(addresses, program->variables_, diagnostics);
    refuse_if_any(diagnostics, options);
    program->kernels_ = std::make_shared<const KernelList>(
        compile_all(*module, program->variables_, sm, options), addresses);
    return program;
}

std::string read_file(const char* path) {
    require(path != nullptr, "the file name must not be NULL");
    std::ifstream file(path, std::ios::binary);
    std::string bytes;
    if (file) {
        bytes.assign(std::istreambuf_iterator<char>(file), {});
    }
    if (!file) {
        fail(CUDA_ERROR_FILE_NOT_FOUND,
             std::string("cannot read '") + path + "': " + std::strerror(errno));
    }
    return bytes;
}

std::shared_ptr<const Program> Program::load_file(const char* path, std::uint32_t sm,
                                                  const JitOptions& options) {
    const std::string bytes = read_file(path);
    return load(bytes.data(), bytes.size(), sm, options);
}

} // namespace cuprum::emulator
