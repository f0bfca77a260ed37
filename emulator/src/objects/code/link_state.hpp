// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "objects/code/jit_options.hpp"
#include "objects/process/handle_table.hpp"
#include "ptx/linker.hpp"

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cuprum::emulator {

/// A link in progress, made by cuLinkCreate.
class LinkState final : public Object {
public:
    /// `sm` is the compute capability of the device, such as 90.
    LinkState(std::uint32_t sm, const JitOptions& options) : sm_(sm), options_(options) {}

    /// Adds an input. If it is refused, the error log gives the reason.
    ///
    /// @throws DriverError INVALID_PTX, INVALID_IMAGE, NO_BINARY_FOR_GPU or NOT_SUPPORTED.
    void add(CUjitInputType type, const void* data, std::size_t bytes, std::string name);

    /// Reads a file and adds it. Throws FILE_NOT_FOUND.
    void add_file(CUjitInputType type, const char* path);

    /// Links and returns the image, which lives as long as this object.
    ///
    /// @throws DriverError UNKNOWN if symbols are missing or defined twice, as drivers do. The log
    /// names them.
    [[nodiscard]] const std::string& complete();

private:
    /// PTX that was read, or the reason why it cannot be linked.
    struct Reading {
        std::optional<ptx::Module> module;
        CUresult code = CUDA_SUCCESS;
        std::string complaint;
    };

    [[nodiscard]] Reading read(const void* data, std::size_t bytes) const;
    [[nodiscard]] Reading read_text(std::string text) const;
    void check_input(const ptx::Module& module, const std::string& name);
    void add_object(std::span<const unsigned char> file, const std::string& name);
    void add_archive(std::span<const unsigned char> file, const std::string& name);

    /// Returns the compute capability to link for, such as 90.
    [[nodiscard]] std::uint32_t target() const noexcept {
        return options_.target_sm() != 0 ? options_.target_sm() : sm_;
    }

    [[noreturn]] void refuse(CUresult code, const std::string& complaints);

    std::uint32_t sm_;
    JitOptions options_;
    std::mutex mutex_; // guards the members below
    std::vector<ptx::LinkInput> inputs_;
    std::string left_out_; // why members of archives cannot be linked, one line each
    std::string errors_;   // the log so far
    std::string image_;    // empty until complete
    bool was_completed_ = false;
};

} // namespace cuprum::emulator
