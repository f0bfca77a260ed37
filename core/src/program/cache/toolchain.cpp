// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/cache/toolchain.hpp"

#include "driver/library.hpp"
#include "libraries/nvjitlink/table.hpp"
#include "libraries/nvrtc/table.hpp"
#include "libraries/nvvm/table.hpp"
#include "support/file_identity.hpp"
#include "support/lazy.hpp"
#include "support/never_destroyed.hpp"

#include <cuprum/error.hpp>
#include <cuprum/linker.hpp>

#include <array>

namespace cuprum::detail {

namespace {

/// Returns the build of the library that holds a compiler; empty for a test's fake.
std::string build_of(CompilerBackend compiler) {
    switch (compiler) {
    case CompilerBackend::Nvrtc:
        return nvrtc::Library::is_replaced() ? "" : nvrtc::Library::loaded().build;
    case CompilerBackend::Nvvm:
        return nvvm::Library::is_replaced() ? "" : nvvm::Library::loaded().build;
    case CompilerBackend::NvJitLink:
        return nvjitlink::Library::is_replaced() ? "" : nvjitlink::Library::loaded().build;
    case CompilerBackend::Driver:
        return driver::is_library_loaded() ? file_identity(driver::driver_library().library.path)
                                           : "";
    }
    return {};
}

std::string describe(CompilerBackend compiler) {
    std::string text(to_string(compiler));
    try {
        text += " " + compiler_version(compiler);
        return text + " " + build_of(compiler);
    } catch (const Error& error) {
        // A compiler that does not answer has a key of its own, the same one next time.
        return text + " fails: " + std::string(to_string(error.domain())) + " " + error.name();
    }
}

bool is_replaced(CompilerBackend compiler) {
    return (compiler == CompilerBackend::Nvrtc && nvrtc::Library::is_replaced()) ||
           (compiler == CompilerBackend::Nvvm && nvvm::Library::is_replaced()) ||
           (compiler == CompilerBackend::NvJitLink && nvjitlink::Library::is_replaced());
}

} // namespace

std::string toolchain_of(SourceType language) {
    static constexpr std::size_t COMPILERS = 4;
    // Destructors of others may compile.
    static NeverDestroyed<std::array<Lazy<std::string>, COMPILERS>> known;
    const CompilerBackend compiler = language == SourceType::Cxx    ? CompilerBackend::Nvrtc
                                     : language == SourceType::Nvvm ? CompilerBackend::Nvvm
                                                                    : Linker::which_backend();
    if (is_replaced(compiler)) {
        return describe(compiler);
    }
    return known->at(static_cast<std::size_t>(compiler)).get([compiler] {
        return describe(compiler);
    });
}

} // namespace cuprum::detail
