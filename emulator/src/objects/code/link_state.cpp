// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/code/link_state.hpp"

#include "builtins/builtins.hpp"
#include "builtins/device_runtime.hpp"
#include "image/fatbin_writer.hpp"
#include "image/image.hpp"
#include "image/object_file.hpp"
#include "objects/code/program.hpp"
#include "objects/devices/device.hpp"
#include "objects/memory/address_space.hpp"
#include "objects/process/driver.hpp"
#include "objects/process/error.hpp"
#include "objects/process/log.hpp"
#include "passes/compile.hpp"
#include "ptx/diagnostics.hpp"
#include "ptx/parser.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_set>
#include <utility>

namespace cuprum::emulator {

namespace {

constexpr std::uint32_t MAX_INPUTS = 4096;

void check_type(CUjitInputType type) {
    switch (type) {
    case CU_JIT_INPUT_CUBIN:
    case CU_JIT_INPUT_PTX:
    case CU_JIT_INPUT_FATBINARY:
    case CU_JIT_INPUT_OBJECT:
    case CU_JIT_INPUT_LIBRARY:
    case CU_JIT_INPUT_NVVM:
        return;
    default:
        fail(CUDA_ERROR_INVALID_VALUE, "unknown type of input");
    }
}

} // namespace

void LinkState::add(CUjitInputType type, const void* data, std::size_t bytes, std::string name) {
    check_type(type);
    require(data != nullptr && bytes != 0, "the input is NULL or empty");
    const std::lock_guard lock(mutex_);
    require(!was_completed_, "the link is complete: nothing can be added");
    require(inputs_.size() < MAX_INPUTS, "too many inputs");
    if (type == CU_JIT_INPUT_NVVM) {
        refuse(CUDA_ERROR_NOT_SUPPORTED,
               name + ": LTO-IR is not supported by the emulated device's linker: turn it into PTX "
                      "with nvJitLink's options -lto -ptx, and add that");
    }
    const std::span file(static_cast<const unsigned char*>(data), bytes);
    if (is_archive(file)) {
        add_archive(file, name);
    } else if (is_object_file(file)) {
        add_object(file, name);
    } else {
        Reading reading = read(data, bytes);
        if (!reading.module) {
            refuse(reading.code, name + ": " + reading.complaint);
        }
        check_input(*reading.module, name);
        inputs_.push_back({std::move(name), std::move(*reading.module)});
    }
}

/// Compiles an input by itself, as a GPU's driver does when it is added: all its functions, called
/// or not. Other inputs may define what this one only declares.
void LinkState::check_input(const ptx::Module& module, const std::string& name) {
    std::string text =
        *module.source + "\n.entry cuprum_checks_all_functions()\n{\n.reg .b64 %f;\n";
    std::unordered_set<std::string> known;
    for (const ptx::Alias& alias : module.aliases) {
        known.emplace(alias.name);
    }
    for (const ptx::Function& function : module.functions) {
        if (!function.is_declaration) {
            known.emplace(function.name);
        }
        // A pointer can name any function but one with parameters in registers.
        const auto is_in_memory = [](const ptx::Variable& each) {
            return each.space == ptx::Space::Param;
        };
        if (!function.is_declaration && !function.is_entry &&
            std::ranges::all_of(function.parameters, is_in_memory) &&
            std::ranges::all_of(function.returns, is_in_memory)) {
            text.append("mov.b64 %f, ").append(function.name).append(";\n");
        }
    }
    text += "any: .callprototype _ ();\ncall %f, any;\nret;\n}\n";
    ptx::Diagnostics diagnostics;
    auto copy = ptx::parse(std::move(text), diagnostics);
    if (!copy) {
        refuse(CUDA_ERROR_INVALID_PTX, name + ": " + diagnostics.to_text());
    }
    for (ptx::Function& function : copy->functions) {
        if (function.is_declaration && builtins::find(function.name) == nullptr &&
            known.emplace(function.name).second) {
            function.is_declaration = false; // another input has its body
        }
    }
    passes::CompileOptions options;
    for (const passes::GlobalVariable& variable :
         passes::global_variables(*copy, device_at(0).total_bytes(), diagnostics)) {
        options.symbols.insert(variable.name);
    }
    options.memory = &AddressSpace::instance().map();
    options.device_sm = target();
    (void)passes::compile(*copy, options, diagnostics);
    if (!diagnostics.is_empty()) {
        refuse(code_of(diagnostics.items().front().problem), name + ": " + diagnostics.to_text());
    }
}

/// Adds all device code that nvcc embedded in an object file.
void LinkState::add_object(std::span<const unsigned char> file, const std::string& name) {
    const auto fatbins = find_fatbins(file);
    if (fatbins.empty()) {
        refuse(CUDA_ERROR_INVALID_IMAGE,
               name + ": the object file holds no device code; compile it with nvcc");
    }
    std::vector<ptx::Module> modules;
    for (const auto& fatbin : fatbins) {
        Reading reading = read(fatbin.data(), fatbin.size());
        if (!reading.module) {
            refuse(reading.code, name + ": " + reading.complaint);
        }
        modules.push_back(std::move(*reading.module));
    }
    require(modules.size() <= MAX_INPUTS - inputs_.size(), "too many inputs");
    for (ptx::Module& module : modules) {
        inputs_.push_back({name, std::move(module)});
    }
}

/// Adds the members of an archive. They are linked only if they are needed.
///
/// A member without usable code is not an error, because the link may not need it. complete() names
/// the member if a symbol stays undefined.
void LinkState::add_archive(std::span<const unsigned char> file, const std::string& name) {
    const auto fatbins = find_fatbins(file);
    if (fatbins.empty()) {
        refuse(CUDA_ERROR_INVALID_IMAGE,
               name + ": no member of the archive holds device code; compile them with nvcc");
    }
    require(fatbins.size() <= MAX_INPUTS - inputs_.size(), "too many inputs");
    for (const auto& fatbin : fatbins) {
        Reading reading = read(fatbin.data(), fatbin.size());
        if (reading.module) {
            inputs_.push_back({name, std::move(*reading.module), true});
        } else {
            left_out_ += "\nnote    : a member of " + name + " is left out: " + reading.complaint;
        }
    }
}

LinkState::Reading LinkState::read(const void* data, std::size_t bytes) const {
    ImageResult image = read_image(data, bytes, target());
    if (image.ptx) {
        return read_text(std::move(*image.ptx));
    }
    const bool is_text = image.kind == ImageKind::Ptx;
    return {{}, is_text ? CUDA_ERROR_INVALID_PTX : code_of(image.problem), image.message};
}

LinkState::Reading LinkState::read_text(std::string text) const {
    ptx::Diagnostics diagnostics;
    auto module = ptx::parse(std::move(text), diagnostics);
    if (!module || !diagnostics.is_empty()) {
        return {{},
                diagnostics.is_empty() ? CUDA_ERROR_INVALID_PTX
                                       : code_of(diagnostics.items().front().problem),
                diagnostics.to_text()};
    }
    if (module->target_sm() > target()) {
        return {{},
                CUDA_ERROR_INVALID_PTX,
                "error   : the PTX is for sm_" + std::to_string(module->target_sm()) +
                    ", the target is sm_" + std::to_string(target())};
    }
    return {std::move(module), CUDA_SUCCESS, {}};
}

void LinkState::add_file(CUjitInputType type, const char* path) {
    check_type(type);
    const std::string bytes = read_file(path);
    add(type, bytes.data(), bytes.size(), path);
}

const std::string& LinkState::complete() {
    const std::lock_guard lock(mutex_);
    if (!image_.empty()) {
        return image_;
    }
    require(!was_completed_, "the link has failed");
    require(std::ranges::any_of(inputs_, [](const auto& input) { return !input.is_member; }),
            "there is nothing to link");
    was_completed_ = true;
    for (ptx::LinkInput& input : inputs_) {
        options_.limit_registers(input.module);
        options_.remove_unnamed_kernels(input.module);
    }
    Reading device_runtime = read_text(builtins::device_runtime_ptx());
    inputs_.push_back({"the device's runtime", std::move(*device_runtime.module), true});
    const auto result = ptx::link(std::exchange(inputs_, {}), [](std::string_view name) {
        return builtins::find(name) != nullptr;
    });
    if (!result.errors.empty()) {
        std::string text;
        bool needs_device_runtime = false;
        for (const std::string& error : result.errors) {
            text += (text.empty() ? "" : "\n") + error;
            const auto name = error.find('\'') + 1; // the symbol is the first text in quotes
            needs_device_runtime =
                needs_device_runtime ||
                builtins::is_of_device_runtime(std::string_view(error).substr(name));
        }
        if (needs_device_runtime) {
            text += "\nerror   : " + std::string(builtins::NO_DEVICE_RUNTIME);
        }
        text += left_out_;
        refuse(needs_device_runtime ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_UNKNOWN, text);
    }
    // Report here what cannot run: this is where a GPU's driver produces machine code.
    (void)Program::load(result.text.data(), result.text.size(), target(), options_);
    const std::string architecture = "sm_" + std::to_string(target()) + options_.target_suffix();
    image_ = make_fatbin(result.text, architecture, ptx::NEWEST_KNOWN_VERSION.major,
                         ptx::NEWEST_KNOWN_VERSION.minor);
    std::string info;
    for (const std::string& warning : result.warnings) {
        log(LogLevel::Warn, warning);
        info += warning + "\n";
    }
    if (options_.is_verbose()) {
        info += "info    : linked " + std::to_string(result.input_count) + " inputs, " +
                std::to_string(result.entry_count) + " kernels, for sm_" + std::to_string(target());
    }
    if (!info.empty()) {
        options_.write_info(info);
    }
    options_.write_results();
    return image_;
}

void LinkState::refuse(CUresult code, const std::string& complaints) {
    errors_ += (errors_.empty() ? "" : "\n") + complaints;
    options_.write_error(errors_);
    log(LogLevel::Error, "link refused:\n" + complaints);
    fail(code, "the link was refused, see its log");
}

} // namespace cuprum::emulator
