// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "objects/process/handle_table.hpp"
#include "objects/code/jit_options.hpp"
#include "ptx/linker.hpp"

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace cuprum::emulator {

/// A link in progress: what cuLinkCreate makes.
class LinkState final : public Object {
public:
    /// `sm` is the compute capability of the device, as 90.
    LinkState(std::uint32_t sm, const JitOptions& options) : sm_(sm), options_(options) {}

    /// Adds an input; what is wrong with it is in the error log.
    ///
    /// @throws DriverError INVALID_PTX, INVALID_IMAGE, NO_BINARY_FOR_GPU or NOT_SUPPORTED.
    void add(CUjitInputType type, const void* data, std::size_t bytes, std::string name);

    /// Reads a file and adds it; throws FILE_NOT_FOUND.
    void add_file(CUjitInputType type, const char* path);

    /// Links, and returns the image, which lives as long as this object.
    ///
    /// @throws DriverError UNKNOWN, as drivers do, if symbols are missing or defined twice; the log
    /// names them.
    [[nodiscard]] const std::string& complete();

private:
    /// Adds the PTX of fatbins that an object file or an archive holds.
    void add_embedded(CUjitInputType type,
                      const std::vector<std::span<const unsigned char>>& fatbins,
                      const std::string& name);
    void add_text(std::string text, std::string name);

    /// Returns the compute capability to link for, as 90.
    [[nodiscard]] std::uint32_t target() const noexcept {
        return options_.target_sm() != 0 ? options_.target_sm() : sm_;
    }

    [[noreturn]] void refuse(CUresult code, const std::string& complaints);

    std::uint32_t sm_;
    JitOptions options_;
    std::mutex mutex_; // of what follows
    std::vector<ptx::LinkInput> inputs_;
    std::string errors_; // the log so far
    std::string image_;  // empty until complete
    bool was_completed_ = false;
};

} // namespace cuprum::emulator
