// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/library_state.hpp"

#include "device/context_state.hpp"
#include "driver/deferred_release.hpp"
#include "program/code/image.hpp"
#include "program/code/packing.hpp"
#include "program/kernel_state.hpp"
#include "program/parameter_kinds.hpp"
#include "support/file.hpp"
#include "support/locks.hpp"
#include "support/once.hpp"

#include <cuprum/device.hpp>
#include <cuprum/error.hpp>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace cuprum::detail {

namespace {

/// The libraries that Cuprum has loaded, to find the library of a kernel's handle.
class LoadedLibraries {
public:
    void add(CUlibrary handle, std::weak_ptr<LibraryState> state) {
        const std::lock_guard lock(mutex_);
        states_[handle] = std::move(state);
    }

    void remove_dead(CUlibrary handle) noexcept {
        const std::lock_guard lock(mutex_);
        // After somebody else has unloaded a library, the driver may give its handle to another.
        if (const auto found = states_.find(handle);
            found != states_.end() && found->second.expired()) {
            states_.erase(found);
        }
    }

    [[nodiscard]] std::shared_ptr<LibraryState> find(CUlibrary handle) {
        const std::lock_guard lock(mutex_);
        const auto found = states_.find(handle);
        return found == states_.end() ? nullptr : found->second.lock();
    }

    [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; }

private:
    std::mutex mutex_;
    std::map<CUlibrary, std::weak_ptr<LibraryState>> states_;
};

LoadedLibraries& loaded() {
    static NeverDestroyed<LoadedLibraries> only; // static objects may hold libraries
    [[maybe_unused]] static const bool is_kept =
        keep_unlocked_in_children<[]() -> std::mutex& { return loaded().mutex(); }>();
    return *only;
}

void add_jit_options(const JITOptions& jit, std::vector<CUjit_option>& options,
                     std::vector<void*>& values) {
    const auto add = [&](CUjit_option key, int value) {
        options.push_back(key);
        values.push_back(reinterpret_cast<void*>(static_cast<std::intptr_t>(value)));
    };
    const auto number = [&](const char* field, CUjit_option key, const std::optional<int>& value,
                            int least, int most) {
        if (!value.has_value()) {
            return;
        }
        if (*value < least || *value > most) {
            throw std::invalid_argument(std::string("JITOptions ") + field + " is " +
                                        std::to_string(*value) + "; expected " +
                                        std::to_string(least) + " to " + std::to_string(most));
        }
        add(key, *value);
    };
    static constexpr int MAX_REGISTERS = 255;
    static constexpr int MAX_LEVEL = 4;
    number("max_register_count", CU_JIT_MAX_REGISTERS, jit.max_register_count, 1, MAX_REGISTERS);
    number("optimization_level", CU_JIT_OPTIMIZATION_LEVEL, jit.optimization_level, 0, MAX_LEVEL);
    if (jit.debug.value_or(false)) {
        add(CU_JIT_GENERATE_DEBUG_INFO, 1);
    }
    if (jit.lineinfo.value_or(false)) {
        add(CU_JIT_GENERATE_LINE_INFO, 1);
    }
    if (jit.l1_cache.has_value()) {
        add(CU_JIT_CACHE_MODE, *jit.l1_cache ? CU_JIT_CACHE_OPTION_CA : CU_JIT_CACHE_OPTION_CG);
    }
    static constexpr int MAX_THREADS = 1024;
    static constexpr int ANY = std::numeric_limits<int>::max();
    number("threads_per_block", CU_JIT_THREADS_PER_BLOCK, jit.threads_per_block, 1, MAX_THREADS);
    number("max_threads_per_block", CU_JIT_MAX_THREADS_PER_BLOCK, jit.max_threads_per_block, 1,
           MAX_THREADS);
    number("min_blocks_per_multiprocessor", CU_JIT_MIN_CTA_PER_SM,
           jit.min_blocks_per_multiprocessor, 1, ANY);
    number("split_compile", CU_JIT_SPLIT_COMPILE, jit.split_compile, 0, ANY);
    if (jit.override_directives.value_or(false)) {
        add(CU_JIT_OVERRIDE_DIRECTIVE_VALUES, 1);
    }
    if (jit.position_independent_code.value_or(false)) {
        add(CU_JIT_POSITION_INDEPENDENT_CODE, 1);
    }
    if (jit.prefer_binary.has_value()) {
        add(CU_JIT_FALLBACK_STRATEGY, *jit.prefer_binary ? CU_PREFER_BINARY : CU_PREFER_PTX);
    }
}

std::string advice_for(CUresult status, std::span<const std::byte> code) {
    switch (status) {
    case CUDA_ERROR_NO_BINARY_FOR_GPU: {
        std::string advice;
        const Device device;
        if (const int architecture = cubin_architecture(code); architecture != 0) {
            if (device.is_emulated()) {
                return "it is machine code, a cubin for sm_" + std::to_string(architecture) +
                       ", and the emulated device runs PTX; compile to PTX, or to a cubin or link "
                       "while the emulated device is in use, which adds the PTX";
            }
            advice = "it is a cubin for sm_" + std::to_string(architecture) + ", ";
        }
        advice += "device " + std::to_string(device.ordinal()) + " is sm_" + device.arch();
        return advice +
               "; compile for that architecture, or to PTX, which also runs on newer devices";
    }
    case CUDA_ERROR_INVALID_PTX:
        return "the driver refused the PTX; if the log mentions the target, compile for the "
               "device's architecture or an older one";
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
        return "the PTX is newer than this driver; compile to a cubin, use an older NVRTC or "
               "update "
               "the driver";
    case CUDA_ERROR_INVALID_IMAGE:
        return "it is neither PTX nor a cubin nor a fat binary";
    default:
        return {};
    }
}

} // namespace

LibraryState::LibraryState(CodeType type, PaddedCode code, std::string path, std::string name,
                           SymbolMapping symbols, const JITOptions& jit)
    : type(type), path(std::move(path)), name(std::move(name)), symbols(std::move(symbols)),
      jit(jit), is_read_(this->path.empty()), code_(std::move(code)) {}

LibraryState::~LibraryState() {
    if (const CUlibrary handle = handle_.load(std::memory_order_acquire)) {
        loaded().remove_dead(handle);
        if (!is_left_loaded_.load(std::memory_order_relaxed)) {
            release_or_defer("library", driver::table().cuLibraryUnload, handle);
        }
    }
}

std::span<const std::byte> LibraryState::code() {
    const std::lock_guard lock(mutex_);
    return locked_code();
}

CUlibrary LibraryState::handle() {
    if (const CUlibrary handle = handle_.load(std::memory_order_acquire)) {
        return handle;
    }
    const QuietLock lock(mutex_);
    CUlibrary handle = handle_.load(std::memory_order_relaxed);
    if (handle == nullptr) {
        handle = load();
        loaded().add(handle, weak_from_this());
        handle_.store(handle, std::memory_order_release);
    }
    return handle;
}

const LaunchPlan& LibraryState::plan_of(CUkernel kernel, std::string_view symbol) {
    const QuietLock lock(mutex_);
    const auto found = plans_.find(kernel);
    return found != plans_.end()
               ? found->second
               : plans_.emplace(kernel, read_plan(kernel, symbol, locked_ptx())).first->second;
}

KernelState* LibraryState::find_kernel(std::string_view name) {
    const std::lock_guard lock(kernels_mutex_);
    const auto found = kernels_.find(name);
    return found == kernels_.end() ? nullptr : found->second.get();
}

KernelState& LibraryState::keep_kernel(std::unique_ptr<KernelState> kernel) {
    const std::lock_guard lock(kernels_mutex_);
    return *kernels_.try_emplace(kernel->name, std::move(kernel)).first->second;
}

std::shared_ptr<LibraryState> find_library(CUlibrary handle) {
    return loaded().find(handle);
}

std::string LibraryState::description() const {
    if (!name.empty()) {
        return "\"" + name + "\"";
    }
    return path.empty() ? "the " + std::string(to_string(type)) + " code" : "\"" + path + "\"";
}

std::span<const std::byte> LibraryState::locked_code() {
    if (!is_read_) {
        try {
            code_ = PaddedCode(read_file(path));
        } catch (const std::system_error& error) {
            throw CUDAError(CUDA_ERROR_FILE_NOT_FOUND, "open", error.what());
        }
        is_read_ = true;
    }
    return code_.bytes();
}

/// Returns the PTX in the code, or the declarations of its kernels; empty if it has neither.
std::string_view LibraryState::locked_ptx() {
    return ptx_or_declarations_in(type, locked_code());
}

CUlibrary LibraryState::load() {
    check_image(description(), type, locked_code());
    driver::initialise();
    error_log_.fill('\0');
    std::vector<CUjit_option> options{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    std::vector<void*> values{error_log_.data(), reinterpret_cast<void*>(LOG_BYTES - 1)};
    add_jit_options(jit, options, values);
    const auto& load_data = driver::table().cuLibraryLoadData;
    CUlibrary library = nullptr;
    CUresult status = load_data(&library, code_.bytes().data(), options.data(), values.data(),
                                static_cast<unsigned>(options.size()), nullptr, nullptr, 0);
    if (status != CUDA_SUCCESS) {
        raise_load_failure(status, load_data.name);
    }
    // NOTE: drivers load code that they cannot use and fail on the first kernel. Asking for a
    // kernel that cannot exist moves the failure here, where the log belongs to it.
    const auto& get_kernel = driver::table().cuLibraryGetKernel;
    CUkernel kernel = nullptr;
    status = get_kernel(&kernel, library, "cuprum.probe");
    if (status != CUDA_SUCCESS && status != CUDA_ERROR_NOT_FOUND) {
        release_or_defer("library", driver::table().cuLibraryUnload, library);
        raise_load_failure(status, get_kernel.name);
    }
    return library;
}

void LibraryState::raise_load_failure(CUresult status, const char* call) {
    std::string hint = description() + " cannot be loaded";
    if (const std::string advice = advice_for(status, locked_code()); !advice.empty()) {
        hint += ": " + advice;
    }
    if (error_log_[0] != '\0') {
        hint += "; the log:\n" + std::string(error_log_.data());
    }
    driver::raise(status, call, hint);
}

LaunchPlan read_plan(CUkernel kernel, std::string_view symbol, std::string_view ptx) {
    static constexpr std::size_t MAX_PARAMETER_BYTES = 32764; // of one kernel, on any device
    const detail::AnyContext context;
    const auto& get = driver::table().cuKernelGetParamInfo;
    std::vector<ParameterInfo> plan;
    for (std::size_t i = 0; i <= MAX_PARAMETER_BYTES; ++i) {
        ParameterInfo parameter;
        const CUresult status = get(kernel, i, &parameter.offset, &parameter.size);
        if (status == CUDA_ERROR_NOT_SUPPORTED) {
            return std::nullopt;
        }
        if (status == CUDA_ERROR_INVALID_VALUE) { // there is no parameter i: the end
            note_kinds(plan, symbol, ptx);
            return plan;
        }
        if (status != CUDA_SUCCESS) {
            driver::raise(status, get.name);
        }
        plan.push_back(parameter);
    }
    throw CUDAError(CUDA_ERROR_UNKNOWN, get.name, "the driver reports parameters without end");
}

} // namespace cuprum::detail
