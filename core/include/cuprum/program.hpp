// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/compiler.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/text.hpp>
#include <cuprum/object_code.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cuprum {

class ProgramCache;
struct LinkerOptions;

namespace detail {
struct Access;
struct ProgramState;
} // namespace detail

/// How a program is compiled. Unset members leave the compiler's default.
///
/// NVRTC (C++), the linker (PTX) and libNVVM (NVVM IR) each support some of these. An option that
/// the compiler in use does not support throws an UnsupportedOptionError that names both.
struct ProgramOptions {
    /// The name of a program that has none of its own.
    static constexpr const char* DEFAULT_NAME = "default_program";

    std::string name = DEFAULT_NAME;      // the source's name in the log; no file is opened
    std::optional<std::string> arch = {}; // "sm_90", "compute_90"; unset is the current device's
    std::optional<std::string> std = {};  // "c++17", "c++20"
    std::vector<std::string> include_path = {}; // folders to search for headers
    std::vector<std::string> pre_include = {};  // files to include before the source
    /// Names to define, with or without a value.
    std::vector<std::pair<std::string, std::optional<std::string>>> define_macro = {};
    std::vector<std::string> undefine_macro = {};     // names to undefine
    std::optional<bool> relocatable_device_code = {}; // code that a Linker takes
    std::optional<bool> debug = {};                   // for debuggers
    std::optional<bool> lineinfo = {};             // lines of the source, for profilers and reports
    std::optional<bool> device_code_optimize = {}; // optimise, also with `debug`
    std::optional<bool> ftz = {};                  // denormal numbers become 0
    std::optional<bool> prec_sqrt = {};            // exact square roots
    std::optional<bool> prec_div = {};             // exact division
    std::optional<bool> fma = {};                  // fuse products and sums
    std::optional<bool> use_fast_math = {};        // sets ftz and fma, and inexact functions
    std::optional<bool> extra_device_vectorization = {}; // vectorise more aggressively
    std::optional<bool> link_time_optimization = {};   // LTO-IR implies it; other targets ignore it
    std::optional<bool> gen_opt_lto = {};              // optimise before LTO-IR is written
    std::optional<bool> extensible_whole_program = {}; // extensible whole-program compilation
    /// Functions without a mark run on the device.
    std::optional<bool> device_as_default_execution_space = {};
    std::optional<bool> device_int128 = {};            // `__int128`
    std::optional<bool> device_float128 = {};          // `__float128`
    std::optional<bool> builtin_move_forward = {};     // built-in std::move and std::forward
    std::optional<bool> builtin_initializer_list = {}; // built-in std::initializer_list
    std::optional<bool> brief_diagnostics = {};        // short messages
    std::optional<bool> disable_warnings = {};         // no warnings
    std::optional<bool> restrict_pointers = {};        // --restrict
    std::optional<bool> no_source_include = {};        // do not search the folder of the source
    std::optional<bool> no_display_error_number = {};  // no numbers of messages
    std::optional<bool> no_cache = {};                 // not through the cache of the compiler
    std::optional<bool> fdevice_syntax_only = {};      // check the syntax only
    std::optional<bool> minimal = {}; // leave out what few programs need, to compile faster
    std::optional<int> max_register_count = {};        // registers of a thread
    std::optional<int> split_compile = {};             // threads of the optimiser; 0 uses all
    std::optional<std::string> optimization_info = {}; // remarks, such as "inline"
    std::optional<std::string> time = {}; // a file for the time of each phase; "-" is the log
    std::optional<std::string> fdevice_time_trace = {}; // a file for a trace of the phases
    std::optional<std::string> frandom_seed = {};  // makes names of static functions repeatable
    std::optional<std::string> ofast_compile = {}; // "0", "min", "mid" or "max"
    std::vector<std::string> ptxas_options = {};   // passed to the assembler
    std::vector<int> diag_error = {};              // messages that become errors
    std::vector<int> diag_suppress = {};           // messages to suppress
    std::vector<int> diag_warn = {};               // messages that become warnings
    std::optional<bool> pch = {}; // use a precompiled header, and create it if missing
    std::optional<std::string> create_pch = {};            // a precompiled header to write
    std::optional<std::string> use_pch = {};               // a precompiled header to read
    std::optional<std::string> pch_dir = {};               // a folder for precompiled headers
    std::optional<bool> pch_verbose = {};                  // report why none was used
    std::optional<bool> pch_messages = {};                 // report when one is read or written
    std::optional<bool> instantiate_templates_in_pch = {}; // with instances of templates
    std::optional<bool> numba_debug = {};                  // debug information for Numba
    /// NVVM: further modules, as (name, IR).
    std::vector<std::pair<std::string, std::string>> extra_sources = {};
    std::optional<bool> use_libdevice = {}; // NVVM: link CUDA's mathematical functions
    /// Headers in memory, as (name as included, text).
    std::vector<std::pair<std::string, std::string>> headers = {};
    /// Whether to search CUDA's and CCCL's own headers; unset means yes.
    std::optional<bool> default_include_path = {};
    /// The beginning of the name of the source file for debuggers; unset is the process's name.
    std::optional<std::string> debug_file_prefix = {};
    std::vector<std::string> extra = {}; // passed on unchanged

    /// Returns the options as NVRTC takes them.
    [[nodiscard]] CUPRUM_API std::vector<std::string> to_nvrtc() const;
    /// Returns the options as libNVVM takes them for this target, "ptx" or "ltoir".
    /// @throws UnsupportedOptionError that lists the options it does not support.
    [[nodiscard]] CUPRUM_API std::vector<std::string> to_nvvm(CodeType target) const;
    /// Returns how PTX is linked under these options. Options that no linker has are left out.
    [[nodiscard]] CUPRUM_API LinkerOptions to_linker() const;
    /// Checks that the compiler of a language supports the options.
    /// @throws UnsupportedOptionError that lists those it does not.
    CUPRUM_API void check_honoured(SourceType language) const;
};

/// What a compilation needs besides its target.
struct CompileRequest {
    /// Kernels whose names C++ decorates (templates, namespaces).
    std::vector<std::string> name_expressions = {};
    /// Searched before compiling; receives the result. May be null.
    ProgramCache* cache = nullptr;
    /// Stands in the cache key for the contents of all files that the source includes. Without it
    /// Cuprum finds the files, and throws if that is not possible.
    std::optional<std::string> extra_digest = {};
};

/// Source code and how it is compiled.
///
/// @code
/// const cuprum::Program program("template <typename T> __global__ void zero(T* x) { *x = 0; }");
/// const cuprum::ObjectCode code = program.compile(cuprum::CodeType::Cubin, {"zero<float>"});
/// const cuprum::Kernel zero = code.get_kernel("zero<float>");
/// @endcode
class CUPRUM_API Program {
public:
    /// Takes CUDA C++ source. @throws LibraryNotFoundError if NVRTC cannot be found.
    explicit Program(std::string_view source, ProgramOptions options = {});
    /// Takes source in a language: C++ for NVRTC, PTX for the linker, NVVM IR (text or bitcode)
    /// for libNVVM.
    /// @throws UnsupportedOptionError for options that its compiler does not support,
    /// LibraryNotFoundError if the compiler cannot be found.
    Program(std::string_view source, SourceType language, ProgramOptions options = {});

    /// Compiles: C++ to PTX, cubin or LTO-IR, PTX to cubin (or PTX, with link-time optimisation),
    /// NVVM IR to PTX or LTO-IR. Blocks; may be called again, also with another target.
    ///
    /// Name kernels whose names C++ decorates (templates, namespaces) in `name_expressions`; the
    /// result finds them under these names. For an emulated device a "cubin" is a fat binary that
    /// holds the cubin and its PTX: GPUs and the emulated device both load it.
    /// @throws CompilerError with log and options if it does not compile: NVRTCError, NVVMError or
    /// LinkerError.
    [[nodiscard]] ObjectCode compile(CodeType target,
                                     std::span<const std::string> name_expressions = {}) const;

    /// Compiles with these names for kernels: `compile(CodeType::Cubin, {"zero<float>"})`.
    // NOTE: a template, because GCC 12 else takes a CompileRequest with designators for a list.
    template <std::convertible_to<std::string> Name>
    [[nodiscard]] ObjectCode compile(CodeType target,
                                     std::initializer_list<Name> name_expressions) const {
        return compile(target,
                       std::vector<std::string>(name_expressions.begin(), name_expressions.end()));
    }

    /// Compiles, or takes the result from a cache. A cached result has no log.
    /// @throws std::invalid_argument if there is a cache and cache_key() throws.
    [[nodiscard]] ObjectCode compile(CodeType target, const CompileRequest& request) const;

    /// Cancels the compilations of this program that run in other threads: they soon throw an
    /// NVRTCError with NVRTC_ERROR_CANCELLED. Later compilations are not affected.
    /// @throws NotSupportedError if NVRTC is older than 12.8, std::invalid_argument if the program
    /// is not C++.
    void cancel() const;

    /// Returns the cache key of a compilation: a digest of 32 bytes of everything that decides the
    /// result.
    /// @throws std::invalid_argument if the result depends on files that the key does not cover
    /// (named by macros, precompiled headers) and there is no `extra_digest`, or if compiling has
    /// side effects that a hit would skip.
    [[nodiscard]] std::string
    cache_key(CodeType target, std::span<const std::string> name_expressions = {},
              const std::optional<std::string>& extra_digest = std::nullopt) const;

    /// Returns the language of the source.
    [[nodiscard]] SourceType language() const;
    /// Returns the compiler that the language needs.
    [[nodiscard]] CompilerBackend backend() const;
    /// Returns the log of the last compile(), often empty. A cache hit has no log.
    [[nodiscard]] std::string log() const;
    /// Returns the result of the precompiled header in the last compile(); nothing if none was
    /// wanted or nothing was compiled yet. A failure also gives a warning with the reason.
    [[nodiscard]] std::optional<PchStatus> pch_status() const;
    /// Returns how the program is compiled.
    [[nodiscard]] const ProgramOptions& options() const;
    /// Returns the options as they are passed to the compiler.
    [[nodiscard]] std::vector<std::string> compiler_options() const;
    /// Returns the backend's own object, created from the source but not compiled: an nvrtcProgram,
    /// an nvvmProgram or a linker's handle. It lives as long as this program.
    [[nodiscard]] void* handle() const;

    /// Returns whether `close()` was called.
    [[nodiscard]] bool is_closed() const noexcept { return state_ == nullptr; }

    /// Gives up this share. Closing twice is harmless; any other use raises ClosedError.
    void close() noexcept { state_.reset(); }

    /// Compares identity: whether both share one program. All closed objects are equal.
    friend bool operator==(const Program&, const Program&) noexcept = default;

private:
    friend struct detail::Access;

    std::shared_ptr<detail::ProgramState> state_;
};

/// Returns language and name for messages and logs.
[[nodiscard]] CUPRUM_API std::string to_string(const Program& program);

} // namespace cuprum

/// Hashes what operator== compares.
template <>
struct std::hash<cuprum::Program> {
    [[nodiscard]] CUPRUM_API std::size_t operator()(const cuprum::Program& program) const noexcept;
};
