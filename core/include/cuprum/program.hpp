// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/export.hpp>
#include <cuprum/object_code.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cuprum {

namespace detail {
struct ProgramState;
}

/// How a program is compiled. Unset members leave the compiler's default.
struct ProgramOptions {
    std::string name = "default_program"; // what the log calls the source; never touched on disk
    std::optional<std::string> arch = {}; // "sm_90", "compute_90"; unset is the current device's
    std::optional<std::string> std = {};  // "c++17", "c++20"
    std::vector<std::string> include_path = {};
    std::vector<std::string> pre_include = {};
    std::vector<std::pair<std::string, std::optional<std::string>>> define_macro = {};
    std::vector<std::string> undefine_macro = {};
    std::optional<bool> relocatable_device_code = {};
    std::optional<bool> debug = {};
    std::optional<bool> lineinfo = {};
    std::optional<bool> device_code_optimize = {};
    std::optional<bool> ftz = {};
    std::optional<bool> prec_sqrt = {};
    std::optional<bool> prec_div = {};
    std::optional<bool> fma = {};
    std::optional<bool> use_fast_math = {};
    std::optional<bool> extra_device_vectorization = {};
    std::optional<bool> link_time_optimization = {};
    std::optional<bool> gen_opt_lto = {};
    std::optional<bool> extensible_whole_program = {};
    std::optional<bool> device_as_default_execution_space = {};
    std::optional<bool> device_int128 = {};
    std::optional<bool> device_float128 = {};
    std::optional<bool> builtin_move_forward = {};
    std::optional<bool> builtin_initializer_list = {};
    std::optional<bool> brief_diagnostics = {};
    std::optional<bool> disable_warnings = {};
    std::optional<bool> restrict_pointers = {}; // --restrict
    std::optional<bool> no_source_include = {};
    std::optional<bool> no_display_error_number = {};
    std::optional<bool> no_cache = {};
    std::optional<bool> fdevice_syntax_only = {};
    std::optional<bool> minimal = {};
    std::optional<int> max_register_count = {};
    std::optional<int> split_compile = {};
    std::optional<std::string> optimization_info = {};
    std::optional<std::string> time = {};
    std::optional<std::string> fdevice_time_trace = {};
    std::optional<std::string> frandom_seed = {};
    std::optional<std::string> ofast_compile = {};
    std::vector<std::string> ptxas_options = {};
    std::vector<int> diag_error = {};
    std::vector<int> diag_suppress = {};
    std::vector<int> diag_warn = {};
    std::vector<std::string> extra = {}; // passed on as they are

    /// Returns the options as NVRTC takes them.
    [[nodiscard]] CUPRUM_API std::vector<std::string> to_nvrtc() const;
};

/// CUDA C++ source and the compiler's state for it.
class CUPRUM_API Program {
public:
    /// Takes CUDA C++ source. @throws LibraryNotFoundError if NVRTC cannot be found.
    explicit Program(std::string_view source, ProgramOptions options = {});

    /// Compiles to PTX, cubin or LTO-IR. Blocks; may be called again, also with another target.
    ///
    /// Kernels whose names C++ decorates (templates, namespaces) are asked for in
    /// `name_expressions` and found under these names in the result. For an emulated device a
    /// "cubin" is a fat binary that holds the cubin and its PTX: GPUs and the emulated device both
    /// load it.
    /// @throws NVRTCError with log and options if the source does not compile.
    [[nodiscard]] ObjectCode compile(CodeType target,
                                     std::span<const std::string> name_expressions = {}) const;

    /// Returns the log of the last compile(), empty when the compiler had nothing to say.
    [[nodiscard]] std::string log() const;
    [[nodiscard]] const ProgramOptions& options() const;
    /// Returns the options as they are passed to the compiler.
    [[nodiscard]] std::vector<std::string> compiler_options() const;

    [[nodiscard]] bool is_closed() const noexcept { return state_ == nullptr; }

    void close() noexcept { state_.reset(); }

private:
    std::shared_ptr<detail::ProgramState> state_;
};

} // namespace cuprum
