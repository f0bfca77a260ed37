// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/code/link_state.hpp"

#include "builtins/builtins.hpp"
#include "image/fatbin_writer.hpp"
#include "image/image.hpp"
#include "image/object_file.hpp"
#include "objects/process/error.hpp"
#include "objects/process/log.hpp"
#include "objects/code/program.hpp"
#include "ptx/diagnostics.hpp"
#include "ptx/parser.hpp"

#include <algorithm>
#include <optional>
#include <span>
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
    const std::span bytes_given(static_cast<const unsigned char*>(data), bytes);
    if (is_object_file(bytes_given)) {
        add_embedded(type, find_fatbins(bytes_given), name);
        return;
    }
    ImageResult image = read_image(data, bytes, target());
    if (!image.ptx) {
        const bool is_text = image.kind == ImageKind::Ptx;
        refuse(is_text ? CUDA_ERROR_INVALID_PTX : code_of(image.problem),
               name + ": " + image.message);
    }
    add_text(std::move(*image.ptx), std::move(name));
}

void LinkState::add_embedded(CUjitInputType type,
                             const std::vector<std::span<const unsigned char>>& fatbins,
                             const std::string& name) {
    if (fatbins.empty()) {
        refuse(CUDA_ERROR_INVALID_IMAGE, name + ": no device code is embedded in it; nvcc does so");
    }
    std::vector<std::string> texts;
    std::optional<ImageResult> refused;
    for (const auto& fatbin : fatbins) {
        ImageResult image = read_image(fatbin.data(), fatbin.size(), target());
        if (image.ptx) {
            texts.push_back(std::move(*image.ptx));
        } else if (!refused) {
            refused = std::move(image);
        }
    }
    // A library may have members that this link does not need: what is missed will be named.
    const bool is_library = type == CU_JIT_INPUT_LIBRARY;
    if (refused && (!is_library || texts.empty())) {
        refuse(code_of(refused->problem), name + ": " + refused->message);
    }
    require(texts.size() <= MAX_INPUTS - inputs_.size(), "too many inputs");
    for (std::string& text : texts) {
        add_text(std::move(text), name);
    }
}

void LinkState::add_text(std::string text, std::string name) {
    ptx::Diagnostics diagnostics;
    auto module = ptx::parse(std::move(text), diagnostics);
    if (!module || !diagnostics.is_empty()) {
        refuse(diagnostics.is_empty() ? CUDA_ERROR_INVALID_PTX
                                      : code_of(diagnostics.items().front().problem),
               name + ": " + diagnostics.to_text());
    }
    if (module->target_sm() > target()) {
        refuse(CUDA_ERROR_INVALID_PTX, name + ": error   : the PTX is for sm_" +
                                           std::to_string(module->target_sm()) +
                                           ", the target is sm_" + std::to_string(target()));
    }
    inputs_.push_back({std::move(name), std::move(*module)});
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
    require(!inputs_.empty(), "there is nothing to link");
    was_completed_ = true;
    auto result =
        ptx::link(inputs_, [](std::string_view name) { return builtins::find(name) != nullptr; });
    if (!result.errors.empty()) {
        std::string text;
        bool needs_device_runtime = false;
        for (const std::string& error : result.errors) {
            text += (text.empty() ? "" : "\n") + error;
            const auto name = error.find('\'') + 1; // the first in quotes is the symbol
            needs_device_runtime =
                needs_device_runtime ||
                builtins::is_of_device_runtime(std::string_view(error).substr(name));
        }
        if (needs_device_runtime) {
            text += "\nerror   : " + std::string(builtins::NO_DEVICE_RUNTIME);
        }
        refuse(needs_device_runtime ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_UNKNOWN, text);
    }
    // What cannot run is refused now: with a GPU, this is where machine code is made.
    const auto program = Program::load(result.text.data(), result.text.size(), sm_, options_);
    (void)program->compile_unplaced(options_);
    constexpr std::uint32_t version_major = 9; // the newest that the container may hold
    image_ = make_fatbin(result.text, sm_, version_major, 0);
    if (options_.is_verbose()) {
        options_.write_info("info    : linked " + std::to_string(inputs_.size()) + " inputs, " +
                            std::to_string(result.entry_count) + " kernels, for sm_" +
                            std::to_string(sm_));
    }
    options_.write_results();
    inputs_.clear();
    return image_;
}

void LinkState::refuse(CUresult code, const std::string& complaints) {
    errors_ += (errors_.empty() ? "" : "\n") + complaints;
    options_.write_error(errors_);
    log(LogLevel::Error, "link refused:\n" + complaints);
    fail(code, "the link was refused, see its log");
}

} // namespace cuprum::emulator
