// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/compiler.hpp>

#include "libraries/nvjitlink.hpp"
#include "libraries/nvrtc.hpp"
#include "libraries/search.hpp"
#include "program/nvvm.hpp"
#include "program/source/includes.hpp"
#include "support/once.hpp"
#include "support/text.hpp"

#include <cuprum/version.hpp>

#include <filesystem>

namespace cuprum {

std::string_view to_string(SourceType type) noexcept {
    return detail::enumerator_text<SourceType::Nvvm>(type, {"c++", "ptx", "nvvm"});
}

std::string_view to_string(CompilerBackend backend) noexcept {
    return detail::enumerator_text<CompilerBackend::Driver>(
        backend, {"NVRTC", "NVVM", "nvJitLink", "driver"});
}

std::string_view to_string(PchStatus status) noexcept {
    return detail::enumerator_text<PchStatus::Failed>(status,
                                                      {"created", "not_attempted", "failed"});
}

std::vector<int> supported_architectures() {
    return nvrtc::supported_architectures();
}

std::string compiler_version(CompilerBackend backend) {
    const auto text = [](auto major, auto minor) {
        return std::to_string(major) + "." + std::to_string(minor);
    };
    switch (backend) {
    case CompilerBackend::Nvrtc: {
        int major = 0;
        int minor = 0;
        nvrtc::call(nvrtc::table().nvrtcVersion, &major, &minor);
        return text(major, minor);
    }
    case CompilerBackend::Nvvm:
        return nvvm::version();
    case CompilerBackend::NvJitLink:
        return nvjitlink::version();
    case CompilerBackend::Driver:
        return text(driver_version() / 1000, driver_version() % 1000 / 10);
    }
    return {};
}

const std::vector<std::string>& default_include_directories() {
    static detail::NeverDestroyed<std::vector<std::string>> directories([] {
        std::string compiler;
        if (!nvrtc::Library::is_replaced()) {
            std::error_code error;
            compiler =
                std::filesystem::canonical(nvrtc::Library::loaded().file.path, error).string();
        }
        return detail::find_include_directories(compiler, libraries::component_roots());
    }());
    return *directories; // destructors of others may compile
}

} // namespace cuprum
