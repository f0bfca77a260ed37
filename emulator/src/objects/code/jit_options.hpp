// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "ptx/tree.hpp"

#include <cuda.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::emulator {

/// The options of a module load or a link that have an effect here: where logs are written, what
/// the caller wants to know, and the target.
///
/// Other options, such as optimisation levels, are checked and ignored, because nothing is compiled
/// to machine code. The caller's arrays must live as long as the options.
class JitOptions {
public:
    JitOptions() = default;

    /// Reads the driver's parallel arrays.
    ///
    /// @throws DriverError INVALID_VALUE for an unknown option or an invalid value, NOT_SUPPORTED
    /// for external symbols given by address.
    JitOptions(unsigned count, CUjit_option* options, void** values);

    /// Writes text to the error log buffer, if the caller passed one, and stores its length.
    void write_error(std::string_view text) const;

    /// Writes text to the info log buffer, if the caller passed one, and stores its length.
    void write_info(std::string_view text) const;

    /// If the caller asked for it, reports the time since the options were read, and how many
    /// threads a block can have.
    void write_results() const;

    /// Returns whether the info log should describe what was done.
    [[nodiscard]] bool is_verbose() const noexcept { return is_verbose_; }

    /// Returns the requested target, such as 90 for compute capability 9.0, or 0 if there is none.
    [[nodiscard]] std::uint32_t target_sm() const noexcept { return target_sm_; }

    /// Returns "a" for a target of one architecture only, such as 90a, "f" for one of a family, and
    /// else an empty text.
    [[nodiscard]] const char* target_suffix() const noexcept { return target_suffix_; }

    /// Gives the kernels that have no limit of registers of their own the limit of the options. It
    /// changes what the driver reports about them, not how they run.
    void limit_registers(ptx::Module& module) const noexcept;

    /// Removes the kernels that the options do not name, if they name any kernel or variable.
    void remove_unnamed_kernels(ptx::Module& module) const;

private:
    struct Buffer {
        char* data = nullptr;
        std::size_t size = 0;
        void** written = nullptr; // the option's value, overwritten with the length
    };

    void read(CUjit_option option, void** value);
    void read_names(unsigned count, const CUjit_option* options, void* const* values);
    static void write(const Buffer& buffer, std::string_view text);

    Buffer error_;
    Buffer info_;
    void** wall_time_ = nullptr;
    void** threads_per_block_ = nullptr;
    bool is_verbose_ = false;
    std::uint32_t target_sm_ = 0;
    const char* target_suffix_ = "";
    std::uint32_t max_registers_ = 0;  // 0: no limit
    std::vector<std::string> kernels_; // patterns
    bool names_code_ = false;          // kernels or variables: what has no name here is not used
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

} // namespace cuprum::emulator
