// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "driver/call.hpp"
#include "driver/current.hpp"
#include "driver/deferred_release.hpp"
#include "driver/explanations.hpp"
#include "program/code/image.hpp"
#include "program/link_session.hpp"
#include "program/options.hpp"

#include <cuprum/context.hpp>
#include <cuprum/device.hpp>
#include <cuprum/error.hpp>

#include <algorithm>
#include <charconv>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace cuprum {

namespace {

constexpr std::size_t LOG_BYTES = 65536;

/// Links with the driver.
class DriverSession final : public detail::LinkSession {
public:
    explicit DriverSession(const LinkerOptions& options);
    ~DriverSession() override;
    DriverSession(const DriverSession&) = delete;
    DriverSession& operator=(const DriverSession&) = delete;

    void add(const ObjectCode& code) override;
    [[nodiscard]] std::vector<std::byte> finish(CodeType target) override;

    [[nodiscard]] std::string error_log() const override { return text_of(error_log_); }

    [[nodiscard]] std::string info_log() const override { return text_of(info_log_); }

    [[nodiscard]] void* handle() const noexcept override { return state_; }

private:
    [[nodiscard]] static std::string text_of(const std::vector<char>& log) {
        return {log.begin(), std::find(log.begin(), log.end(), '\0')};
    }

    void names(CUjit_option list, CUjit_option count, const std::vector<std::string>& names);
    void option(CUjit_option key, std::uintptr_t value);
    void check(CUresult status, const char* call, const std::string& what = {}) const;

    Context context_;
    CUlinkState state_ = nullptr;
    // The driver keeps the addresses of the logs until the state is destroyed.
    std::vector<char> error_log_ = std::vector<char>(LOG_BYTES);
    std::vector<char> info_log_ = std::vector<char>(LOG_BYTES);
    std::vector<CUjit_option> keys_;
    std::vector<void*> values_;
    std::vector<std::vector<const char*>> names_; // what values point to
};

/// Returns a CUjit_target: the number, with a flag for "a" and "f".
unsigned target_of(const std::string& arch) {
    detail::check_arch("LinkerOptions", arch);
    const std::string_view digits = detail::arch_number(arch);
    unsigned number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return number + (digits.ends_with('a') ? CU_COMPUTE_ACCELERATED_TARGET_BASE : 0) +
           (digits.ends_with('f') ? CU_COMPUTE_FAMILY_TARGET_BASE : 0);
}

DriverSession::DriverSession(const LinkerOptions& options) : context_(Device().primary_context()) {
    option(CU_JIT_ERROR_LOG_BUFFER, reinterpret_cast<std::uintptr_t>(error_log_.data()));
    option(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, LOG_BYTES - 1);
    option(CU_JIT_INFO_LOG_BUFFER, reinterpret_cast<std::uintptr_t>(info_log_.data()));
    option(CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, LOG_BYTES - 1);
    if (options.arch.has_value()) {
        option(CU_JIT_TARGET, target_of(*options.arch));
    }
    if (options.max_register_count.has_value()) {
        option(CU_JIT_MAX_REGISTERS, static_cast<unsigned>(*options.max_register_count));
    }
    if (options.optimization_level.has_value()) {
        option(CU_JIT_OPTIMIZATION_LEVEL, static_cast<unsigned>(*options.optimization_level));
    }
    const auto on = [this](CUjit_option key, const std::optional<bool>& value) {
        if (value.value_or(false)) {
            option(key, 1);
        }
    };
    on(CU_JIT_LOG_VERBOSE, options.verbose);
    on(CU_JIT_GENERATE_DEBUG_INFO, options.debug);
    on(CU_JIT_GENERATE_LINE_INFO, options.lineinfo);
    if (options.no_cache.value_or(false)) {
        option(CU_JIT_CACHE_MODE, CU_JIT_CACHE_OPTION_NONE);
    }
    names(CU_JIT_REFERENCED_KERNEL_NAMES, CU_JIT_REFERENCED_KERNEL_COUNT, options.kernels_used);
    names(CU_JIT_REFERENCED_VARIABLE_NAMES, CU_JIT_REFERENCED_VARIABLE_COUNT,
          options.variables_used);
    const driver::Current current(context_.handle());
    const auto& create = driver::table().cuLinkCreate;
    check(create(static_cast<unsigned>(keys_.size()), keys_.data(), values_.data(), &state_),
          create.name);
}

DriverSession::~DriverSession() {
    std::optional<driver::Current> current;
    try {
        current.emplace(context_.handle());
    } catch (...) {
        driver::report_release_failure("link state"); // destroy it nevertheless
    }
    detail::release_or_defer("link state", driver::table().cuLinkDestroy, state_);
}

CUjitInputType input_type(CodeType type) {
    switch (type) {
    case CodeType::Ptx:
        return CU_JIT_INPUT_PTX;
    case CodeType::Fatbin:
        return CU_JIT_INPUT_FATBINARY;
    case CodeType::Object:
        return CU_JIT_INPUT_OBJECT;
    case CodeType::Library:
        return CU_JIT_INPUT_LIBRARY;
    default:
        return CU_JIT_INPUT_CUBIN;
    }
}

void DriverSession::add(const ObjectCode& code) {
    const std::span<const std::byte> bytes = code.code();
    if (code.code_type() == CodeType::LtoIr) {
        throw std::invalid_argument("\"" + code.name() +
                                    "\" is LTO-IR, which the driver API does not link; install "
                                    "nvJitLink (pip install nvidia-nvjitlink)");
    }
    const bool is_ptx = code.code_type() == CodeType::Ptx;
    const std::string& label = code.name().empty() ? code.path() : code.name();
    const std::string what =
        "\"" + label + "\", given as " + std::string(to_string(code.code_type()));
    detail::check_link_input(what, bytes);
    const driver::Current current(context_.handle());
    const auto& add_data = driver::table().cuLinkAddData;
    // PTX is text: its size includes the final NUL. The driver does not change the code.
    check(add_data(state_, input_type(code.code_type()), const_cast<std::byte*>(bytes.data()),
                   bytes.size() + (is_ptx ? 1 : 0), label.c_str(), 0U, nullptr, nullptr),
          add_data.name, what);
}

std::vector<std::byte> DriverSession::finish(CodeType target) {
    if (target != CodeType::Cubin) {
        throw std::invalid_argument(
            "target \"" + std::string(to_string(target)) +
            "\" is not supported by the driver API, which links to cubins only");
    }
    const driver::Current current(context_.handle());
    const auto& complete = driver::table().cuLinkComplete;
    void* image = nullptr;
    std::size_t bytes = 0;
    check(complete(state_, &image, &bytes), complete.name);
    const auto* const begin = static_cast<const std::byte*>(image); // the link state owns it
    return {begin, begin + bytes};
}

/// Passes names that the driver reads at once.
void DriverSession::names(CUjit_option list, CUjit_option count,
                          const std::vector<std::string>& names) {
    if (names.empty()) {
        return;
    }
    std::vector<const char*>& texts = names_.emplace_back();
    for (const std::string& name : names) {
        texts.push_back(name.c_str());
    }
    option(list, reinterpret_cast<std::uintptr_t>(texts.data()));
    option(count, texts.size());
}

void DriverSession::option(CUjit_option key, std::uintptr_t value) {
    keys_.push_back(key);
    values_.push_back(reinterpret_cast<void*>(value));
}

void DriverSession::check(CUresult status, const char* call, const std::string& what) const {
    if (status != CUDA_SUCCESS) {
        std::string advice = detail::advice_about_undefined(error_log());
        if (advice.empty()) {
            advice = driver::explanation_of(status);
        }
        if (!what.empty()) {
            advice = what + ": " + advice;
        }
        throw LinkerError(ErrorDomain::Driver, status, driver::name_of(status), call, error_log(),
                          {}, advice);
    }
}

} // namespace

std::unique_ptr<detail::LinkSession> detail::start_driver_link(const LinkerOptions& options) {
    check_driver_link_options(options);
    return std::make_unique<DriverSession>(options);
}

std::unique_ptr<detail::LinkSession> detail::start_emulated_link(const LinkerOptions& options) {
    LinkerOptions settled = options;
    settled.max_register_count = register_limit(options.max_register_count, options.ptxas_options);
    settled.optimization_level.reset(); // nvJitLink has more levels
    return std::make_unique<DriverSession>(settled);
}

} // namespace cuprum
