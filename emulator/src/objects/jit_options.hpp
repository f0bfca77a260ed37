// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuda.h>

#include <string_view>

namespace cuprum::emulator {

/// The options of a module load that mean something here: where the logs go.
///
/// The rest (optimisation levels, register limits) is accepted and ignored: nothing is compiled to
/// machine code.
class JitOptions {
public:
    JitOptions() = default;

    /// Reads the driver's parallel arrays; throws INVALID_VALUE for an option that does not exist.
    JitOptions(unsigned count, CUjit_option* options, void** values);

    /// Puts text into the error log buffer, if the caller gave one, and tells its length.
    void write_error(std::string_view text) const;

    /// Puts text into the info log buffer, if the caller gave one, and tells its length.
    void write_info(std::string_view text) const;

private:
    struct Buffer {
        char* data = nullptr;
        std::size_t size = 0;
        void** written = nullptr; // the option's value, overwritten with the length
    };

    static void write(const Buffer& buffer, std::string_view text);

    Buffer error_;
    Buffer info_;
};

} // namespace cuprum::emulator
