// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/driver_types.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/kernel.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum {

namespace detail {
struct LibraryState;
}

/// What an object code holds.
enum class CodeType { Ptx, Cubin, LtoIr, Fatbin, Object, Library };

/// Returns the name of a code type as options and messages spell it: "ptx", "cubin", "ltoir"...
[[nodiscard]] CUPRUM_API std::string_view to_string(CodeType type) noexcept;

/// Maps the names of kernels as written, such as "add<float>", to their names in the code.
using SymbolMapping = std::map<std::string, std::string>;

/// Shares compiled code: loaded into the driver on first use, unloaded when the last object code
/// and the last kernel from it are gone.
class CUPRUM_API ObjectCode {
public:
    /// Holds code in memory.
    [[nodiscard]] static ObjectCode from_bytes(CodeType type, std::vector<std::byte> code,
                                               std::string name = {}, SymbolMapping symbols = {});
    /// Names a file that is read when the code is first needed.
    [[nodiscard]] static ObjectCode from_file(CodeType type, std::string path,
                                              std::string name = {}, SymbolMapping symbols = {});

    [[nodiscard]] CodeType code_type() const;
    /// Returns the code; reads the file if it came from one.
    [[nodiscard]] std::span<const std::byte> code() const;
    /// Returns the code as text, for PTX.
    [[nodiscard]] std::string_view text() const;
    /// Returns the path it came from, empty for code in memory.
    [[nodiscard]] const std::string& path() const;
    [[nodiscard]] const std::string& name() const;
    [[nodiscard]] const SymbolMapping& symbol_mapping() const;
    /// Returns the driver's library, loading it if need be.
    [[nodiscard]] CUlibrary handle() const;

    /// Returns a kernel by the name it has in the source (if it was named when compiling) or in the
    /// code.
    /// @throws std::invalid_argument if there is none; the text lists the kernels there are.
    [[nodiscard]] Kernel get_kernel(std::string_view name) const;
    /// Returns the names in the code of all kernels.
    [[nodiscard]] std::vector<std::string> kernel_names() const;

    [[nodiscard]] bool is_closed() const noexcept { return state_ == nullptr; }

    void close() noexcept { state_.reset(); }

    /// For the library itself.
    explicit ObjectCode(std::shared_ptr<detail::LibraryState> state) noexcept
        : state_(std::move(state)) {}

    [[nodiscard]] const std::shared_ptr<detail::LibraryState>& state() const noexcept {
        return state_;
    }

private:
    std::shared_ptr<detail::LibraryState> state_;
};

} // namespace cuprum
