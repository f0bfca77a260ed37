// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/code/program.hpp"

#include "image/image.hpp"
#include "objects/memory/address_space.hpp"
#include "objects/process/error.hpp"
#include "objects/process/log.hpp"
#include "ptx/diagnostics.hpp"
#include "ptx/parser.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace cuprum::emulator {

CUresult code_of(ImageProblem problem) noexcept {
    switch (problem) {
    case ImageProblem::NoPtx:
    case ImageProblem::TooNew:
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
    case ptx::Problem::Version:
        return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    case ptx::Problem::Target: // as a driver says of bare PTX
    case ptx::Problem::Syntax:
        break;
    }
    return CUDA_ERROR_INVALID_PTX;
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

} // namespace

std::shared_ptr<const Program> Program::load(const void* image, std::optional<std::size_t> size,
                                             std::uint32_t sm, const JitOptions& options) {
    require(image != nullptr, "image must not be NULL");
    ImageResult result = read_image(image, size, sm);
    if (!result.ptx) {
        // A driver calls bare PTX for a newer device invalid, and a container without a fitting
        // entry empty.
        const bool is_text = result.kind == ImageKind::Ptx;
        refuse(is_text ? CUDA_ERROR_INVALID_PTX : code_of(result.problem), result.message, options);
    }
    if (result.ptx->find(".version") == std::string::npos) {
        refuse(CUDA_ERROR_INVALID_IMAGE,
               "ptx:1:1: error: neither PTX, which starts with .version, nor a known container",
               options);
    }
    ptx::Diagnostics diagnostics;
    auto module = ptx::parse(std::move(*result.ptx), diagnostics);
    refuse_if_any(diagnostics, options);
    if (!module) {
        refuse(CUDA_ERROR_INVALID_PTX, "ptx:1:1: error: the module could not be parsed", options);
    }
    auto program = std::shared_ptr<Program>(new Program(std::move(*module), sm));
    program->variables_ = passes::global_variables(program->module_, diagnostics);
    refuse_if_any(diagnostics, options);
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

Program::Kernels Program::compile(const Symbols& addresses, const JitOptions& options) const {
    passes::CompileOptions compile_options;
    compile_options.symbols = addresses;
    compile_options.memory = &AddressSpace::instance().map();
    compile_options.device_sm = sm_;
    ptx::Diagnostics diagnostics;
    auto kernels = passes::compile(module_, compile_options, diagnostics);
    refuse_if_any(diagnostics, options);
    return kernels;
}

Program::Kernels Program::compile_unplaced(const JitOptions& options) const {
    Symbols addresses;
    std::uint64_t address = AddressSpace::instance().map().memory_base;
    for (const auto& variable : variables_) {
        addresses.emplace(variable.name, address);
        address += AddressSpace::GRANULE_BYTES;
    }
    return compile(addresses, options);
}

std::uint64_t Program::function_address(const std::string& name) const {
    if (const std::uint64_t address = passes::function_address(module_, name); address != 0) {
        return address;
    }
    fail(CUDA_ERROR_INVALID_PTX, "an initial value names '" + name + "', which does not exist");
}

} // namespace cuprum::emulator
