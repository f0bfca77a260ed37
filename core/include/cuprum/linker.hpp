// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/compiler.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/text.hpp>
#include <cuprum/object_code.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace cuprum {

namespace detail {
struct Access;
struct LinkerState;
} // namespace detail

/// How code is linked. Unset members leave the linker's default.
///
/// The driver's linker supports fewer of these than nvJitLink. An option that it does not support
/// throws an UnsupportedOptionError that names it.
struct LinkerOptions {
    std::string name = "<default linker>";           // of the result
    std::optional<std::string> arch = {};            // "sm_90"; unset is the current device's
    std::optional<int> max_register_count = {};      // registers of a thread
    std::optional<bool> time = {};                   // times in the info log
    std::optional<bool> verbose = {};                // more in the info log
    std::optional<bool> link_time_optimization = {}; // optimise the linked code as a whole
    std::optional<bool> ptx = {};                    // link to PTX; set by link(CodeType::Ptx) too
    std::optional<int> optimization_level = {};      // 0 to 3
    std::optional<bool> debug = {};                  // for debuggers
    std::optional<bool> lineinfo = {};            // lines of the source, for profilers and reports
    std::optional<bool> ftz = {};                 // denormal numbers become 0
    std::optional<bool> prec_div = {};            // exact division
    std::optional<bool> prec_sqrt = {};           // exact square roots
    std::optional<bool> fma = {};                 // fuse products and sums
    std::vector<std::string> kernels_used = {};   // kernels to keep; others are removed
    std::vector<std::string> variables_used = {}; // variables to keep; others are removed
    std::optional<bool> optimize_unused_variables = {}; // remove variables that no kernel uses
    std::vector<std::string> ptxas_options = {};        // passed to the assembler
    std::optional<int> split_compile = {};              // threads of the optimiser; 0 uses all
    std::optional<int> split_compile_extended = {};     // threads with LTO; 0 uses all
    std::optional<bool> no_cache = {};                  // not through the cache of the linker
    std::optional<CompilerBackend> backend = {}; // NvJitLink or Driver; unset is which_backend()

    /// Returns the options as nvJitLink takes them.
    [[nodiscard]] CUPRUM_API std::vector<std::string> to_nvjitlink() const;
    /// Checks that a linker, NvJitLink or Driver, supports the options.
    /// @throws UnsupportedOptionError that names the option and the linker.
    CUPRUM_API void check_honoured(CompilerBackend linker) const;
};

/// A linker that makes one loadable image of several pieces of code.
///
/// Copies share the linker. An emulated device cannot run machine code, so for it the result is a
/// fat binary with the cubin and PTX. The PTX comes from nvJitLink if all input is LTO-IR, from the
/// input if there is only one, else from the emulated device's own linker.
///
/// @code
/// const cuprum::ProgramOptions options{.relocatable_device_code = true};
/// const cuprum::Program library("__device__ int one() { return 1; }", options);
/// const cuprum::Program program(
///     R"(extern __device__ int one(); extern "C" __global__ void set(int* x) { *x = one(); })",
///     options);
/// const cuprum::ObjectCode parts[] = {library.compile(cuprum::CodeType::Ptx),
///                                     program.compile(cuprum::CodeType::Ptx)};
/// const cuprum::ObjectCode linked = cuprum::Linker(parts).link(cuprum::CodeType::Cubin);
/// @endcode
class CUPRUM_API Linker {
public:
    /// Takes the code to link; reads files at once.
    /// @throws std::invalid_argument if there is none, LinkerError if the linker refuses it,
    /// UnsupportedOptionError for options that the backend does not support.
    explicit Linker(std::span<const ObjectCode> codes, LinkerOptions options = {});

    /// Takes a list of code to link: `Linker({library, program})`.
    explicit Linker(std::initializer_list<ObjectCode> codes, LinkerOptions options = {})
        : Linker(std::span(codes.begin(), codes.size()), std::move(options)) {}

    /// Links to a cubin, or to PTX if all input is LTO-IR. Blocks; may be called again.
    /// @throws LinkerError with log and options on failure.
    [[nodiscard]] ObjectCode link(CodeType target) const;

    /// Return the logs of the last link(), or so far.
    [[nodiscard]] std::string error_log() const;
    /// Returns what the linker reported besides errors.
    [[nodiscard]] std::string info_log() const;

    /// Returns the library that links.
    [[nodiscard]] CompilerBackend backend() const;
    /// Returns how the code is linked.
    [[nodiscard]] const LinkerOptions& options() const;
    /// Returns the options as they are passed to nvJitLink; empty for the driver.
    [[nodiscard]] std::vector<std::string> linker_options() const;
    /// Returns the backend's own object: an nvJitLinkHandle or a CUlinkState.
    [[nodiscard]] void* handle() const;

    /// Returns the default backend: nvJitLink 12.3 or later, else the driver, with a warning. The
    /// search runs once.
    [[nodiscard]] static CompilerBackend which_backend();

    /// Returns whether `close()` was called.
    [[nodiscard]] bool is_closed() const noexcept { return state_ == nullptr; }

    /// Gives up this share. Closing twice is harmless; any other use raises ClosedError.
    void close() noexcept { state_.reset(); }

    /// Compares identity: whether both share one linker. All closed objects are equal.
    friend bool operator==(const Linker&, const Linker&) noexcept = default;

private:
    friend struct detail::Access;

    std::shared_ptr<detail::LinkerState> state_;
};

/// Returns backend and name for messages and logs.
[[nodiscard]] CUPRUM_API std::string to_string(const Linker& linker);

} // namespace cuprum

/// Hashes what operator== compares.
template <>
struct std::hash<cuprum::Linker> {
    [[nodiscard]] CUPRUM_API std::size_t operator()(const cuprum::Linker& linker) const noexcept;
};
