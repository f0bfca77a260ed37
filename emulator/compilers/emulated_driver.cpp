// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "compilers/emulated_driver.hpp"

#include "image/fatbin_writer.hpp"

#include <dlfcn.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace cuprum::emulator::compilers {

namespace {

constexpr std::size_t LOG_BYTES = 64 * 1024;

std::string name_of(const EmulatedDriver& driver, CUresult code) {
    const char* name = nullptr;
    CUPRUM_DRIVER_FUNCTION(driver, cuGetErrorName)(code, &name);
    return name != nullptr ? name : "error " + std::to_string(code);
}

/// Returns the numbers of the first directive of a name, such as 9 and 0 of ".version 9.0".
std::array<unsigned, 2> version_of(const std::string& ptx) {
    std::array<unsigned, 2> version{8, 0};
    const std::size_t at = ptx.find(".version");
    if (at != std::string::npos) {
        std::sscanf(ptx.c_str() + at, ".version %u.%u", &version[0], &version[1]);
    }
    return version;
}

} // namespace

std::filesystem::path own_folder() {
    Dl_info own{};
    if (::dladdr(reinterpret_cast<const void*>(&own_folder), &own) == 0) {
        return {};
    }
    std::error_code error;
    return std::filesystem::canonical(own.dli_fname, error).parent_path();
}

const EmulatedDriver& EmulatedDriver::instance() {
    static const EmulatedDriver driver;
    return driver;
}

EmulatedDriver::EmulatedDriver() {
    const auto path = own_folder().parent_path() / "libcuda.so.1";
    library_ = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr || ::dlsym(library_, "cuprumEmulatorVersion") == nullptr) {
        throw CompileError(CUDA_ERROR_NOT_INITIALIZED,
                           "the emulated driver " + path.string() +
                               " cannot be loaded: reinstall cuprum-emulator");
    }
    if (const CUresult result = CUPRUM_DRIVER_FUNCTION(*this, cuInit)(0); result != CUDA_SUCCESS) {
        throw CompileError(result, "the emulated driver does not start: see its message above");
    }
}

void* EmulatedDriver::find(const char* name) const {
    void* const found = ::dlsym(library_, name);
    if (found == nullptr) {
        throw CompileError(CUDA_ERROR_NOT_FOUND,
                           std::string("the emulated driver has no function ") + name);
    }
    return found;
}

AnyContext::AnyContext(const EmulatedDriver& driver) : driver_(driver) {
    CUcontext context = nullptr;
    CUPRUM_DRIVER_FUNCTION(driver, cuCtxGetCurrent)(&context);
    if (context != nullptr) {
        return;
    }
    if (CUPRUM_DRIVER_FUNCTION(driver, cuDevicePrimaryCtxRetain)(&context, device_) ==
        CUDA_SUCCESS) {
        is_ours_ = true;
        CUPRUM_DRIVER_FUNCTION(driver, cuCtxPushCurrent)(context);
    }
}

AnyContext::~AnyContext() {
    if (is_ours_) {
        CUcontext context = nullptr;
        CUPRUM_DRIVER_FUNCTION(driver_, cuCtxPopCurrent)(&context);
        CUPRUM_DRIVER_FUNCTION(driver_, cuDevicePrimaryCtxRelease)(device_);
    }
}

unsigned parse_architecture(std::string_view name) noexcept {
    for (const std::string_view prefix : {"sm_", "compute_"}) {
        if (!name.starts_with(prefix)) {
            continue;
        }
        name.remove_prefix(prefix.size());
        unsigned number = 0;
        const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
        const std::string_view suffix(end,
                                      static_cast<std::size_t>(name.data() + name.size() - end));
        const bool is_valid = error == std::errc() && number >= 10 && number <= 999 &&
                              (suffix.empty() || suffix == "a" || suffix == "f");
        return is_valid ? number : 0;
    }
    return 0;
}

Link::Link(const EmulatedDriver& driver, std::string_view architecture, const LinkOptions& how)
    : driver_(driver), errors_(LOG_BYTES) {
    // The driver's values for sm_90a and sm_100f; older headers have no names for them.
    constexpr unsigned accelerated = 0x10000;
    constexpr unsigned family = 0x20000;
    const unsigned target =
        parse_architecture(architecture) + (architecture.ends_with('a')   ? accelerated
                                            : architecture.ends_with('f') ? family
                                                                          : 0);
    const auto number = [](std::uintptr_t value) { return reinterpret_cast<void*>(value); };
    std::array options{CU_JIT_ERROR_LOG_BUFFER,
                       CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                       CU_JIT_TARGET,
                       CU_JIT_MAX_REGISTERS,
                       CU_JIT_REFERENCED_KERNEL_NAMES,
                       CU_JIT_REFERENCED_KERNEL_COUNT,
                       CU_JIT_REFERENCED_VARIABLE_COUNT};
    std::vector<const char*> kernels;
    for (const std::string& name : how.kernels) {
        kernels.push_back(name.c_str());
    }
    values_ = {errors_.data(),
               number(LOG_BYTES),
               number(target),
               number(how.max_registers),
               static_cast<void*>(kernels.data()),
               number(kernels.size()),
               number(how.variables.size())};
    check(CUPRUM_DRIVER_FUNCTION(driver, cuLinkCreate)(options.size(), options.data(),
                                                       values_.data(), &state_),
          "cuLinkCreate");
}

Link::~Link() {
    if (state_ != nullptr) {
        CUPRUM_DRIVER_FUNCTION(driver_, cuLinkDestroy)(state_);
    }
}

void Link::add(CUjitInputType type, const void* data, std::size_t bytes, const std::string& name) {
    // The driver does not change the data.
    check(CUPRUM_DRIVER_FUNCTION(driver_, cuLinkAddData)(state_, type, const_cast<void*>(data),
                                                         bytes, name.c_str(), 0, nullptr, nullptr),
          name);
}

std::string Link::complete() {
    void* image = nullptr;
    std::size_t bytes = 0;
    check(CUPRUM_DRIVER_FUNCTION(driver_, cuLinkComplete)(state_, &image, &bytes), "link");
    return {static_cast<const char*>(image), bytes};
}

void Link::check(CUresult result, const std::string& what) {
    if (result == CUDA_SUCCESS) {
        return;
    }
    std::string text = errors_.data();
    if (text.empty()) {
        text = what + ": " + name_of(driver_, result);
    }
    throw CompileError(result, text);
}

std::string wrap(const std::string& ptx, std::string_view architecture) {
    const auto [major, minor] = version_of(ptx);
    return make_fatbin(ptx, architecture, major, minor);
}

} // namespace cuprum::emulator::compilers
