// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/buffer.hpp>
#include <cuprum/detail/driver_types.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/text.hpp>
#include <cuprum/kernel.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum {

namespace detail {
struct Access;
struct LibraryState;
} // namespace detail

/// What an object code holds.
enum class CodeType { Ptx, Cubin, LtoIr, Fatbin, Object, Library };

/// Returns the name of a code type as options and messages spell it: "ptx", "cubin", "ltoir"...
[[nodiscard]] CUPRUM_API std::string_view to_string(CodeType type) noexcept;

/// Maps the names of kernels as written, such as "add<float>", to their names in the code.
using SymbolMapping = std::map<std::string, std::string>;

/// How the driver compiles PTX when it loads it. Unset members leave its default.
struct JITOptions {
    std::optional<int> max_register_count = {};
    std::optional<int> optimization_level = {}; // 0 to 4
    std::optional<bool> debug = {};
    std::optional<bool> lineinfo = {};
    std::optional<bool> l1_cache = {};             // whether loads of global memory go through it
    std::optional<int> threads_per_block = {};     // blocks of so many must be able to launch
    std::optional<int> max_threads_per_block = {}; // a promise: no launch has more
    std::optional<int> min_blocks_per_multiprocessor = {}; // with max_threads_per_block
    std::optional<bool> override_directives = {};          // these numbers win over the code's own
    std::optional<bool> position_independent_code = {};
    std::optional<int> split_compile = {};  // compile in this many threads; 0 is all
    std::optional<bool> prefer_binary = {}; // of a fat binary without the exact architecture
};

/// Shares compiled code: loaded into the driver on first use, unloaded when the last object code
/// and the last kernel from it are gone.
class CUPRUM_API ObjectCode {
public:
    /// Holds a copy of code in memory.
    [[nodiscard]] static ObjectCode from_bytes(CodeType type, std::span<const std::byte> code,
                                               std::string name = {}, SymbolMapping symbols = {},
                                               JITOptions jit = {});
    /// Names a file that is read when the code is first needed.
    [[nodiscard]] static ObjectCode from_file(CodeType type, std::string path,
                                              std::string name = {}, SymbolMapping symbols = {},
                                              JITOptions jit = {});

    [[nodiscard]] CodeType code_type() const;
    /// Returns the code; reads the file if it came from one.
    [[nodiscard]] std::span<const std::byte> code() const;
    /// Returns the code as text, for PTX.
    [[nodiscard]] std::string_view text() const;
    /// Returns the path it came from, empty for code in memory.
    [[nodiscard]] const std::string& path() const;
    [[nodiscard]] const std::string& name() const;
    [[nodiscard]] const SymbolMapping& symbol_mapping() const;
    [[nodiscard]] const JITOptions& jit_options() const;
    /// Returns the driver's library, loading it if need be.
    [[nodiscard]] CUlibrary handle() const;

    /// Returns a kernel by the name it has in the source (if it was named when compiling) or in the
    /// code.
    /// @throws std::invalid_argument if there is none; the text lists the kernels there are.
    /// std::runtime_error for code that must be linked first.
    [[nodiscard]] Kernel get_kernel(std::string_view name) const;
    /// Returns the names in the code of all kernels.
    [[nodiscard]] std::vector<std::string> kernel_names() const;
    /// Returns a `__device__` or `__constant__` variable as the memory it has in the current
    /// context (the current device's, if none is current). The buffer keeps the code loaded.
    /// @throws std::invalid_argument if there is none of that name.
    [[nodiscard]] Buffer get_global(std::string_view name) const;
    /// Returns a `__managed__` variable, which all contexts share.
    /// @throws std::invalid_argument if there is none of that name.
    [[nodiscard]] Buffer get_managed(std::string_view name) const;
    /// Returns the code as a module of the current context (the current device's, if none is
    /// current), for interfaces that take one. The library owns it.
    [[nodiscard]] CUmodule get_module() const;

    [[nodiscard]] bool is_closed() const noexcept { return state_ == nullptr; }

    /// Gives up this share. Closing twice is harmless; any other use raises ClosedError.
    void close() noexcept { state_.reset(); }

    /// Compares identity: whether both share the same code. All closed objects are equal.
    friend bool operator==(const ObjectCode&, const ObjectCode&) noexcept = default;

private:
    friend struct detail::Access;

    explicit ObjectCode(std::shared_ptr<detail::LibraryState> state) noexcept
        : state_(std::move(state)) {}

    [[nodiscard]] std::optional<Kernel> known_kernel(std::string_view name) const;

    std::shared_ptr<detail::LibraryState> state_;
};

/// Returns type and name for messages and logs. Does not load the code.
[[nodiscard]] CUPRUM_API std::string to_string(const ObjectCode& code);

} // namespace cuprum

/// Hashes what operator== compares.
template <>
struct std::hash<cuprum::ObjectCode> {
    [[nodiscard]] CUPRUM_API std::size_t operator()(const cuprum::ObjectCode& code) const noexcept;
};
