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

/// The format of an object code.
enum class CodeType { Ptx, Cubin, LtoIr, Fatbin, Object, Library };

/// Returns the name of a code type as options and messages spell it: "ptx", "cubin", "ltoir"...
[[nodiscard]] CUPRUM_API std::string_view to_string(CodeType type) noexcept;

/// Maps the names of kernels as written, such as "add<float>", to their names in the code.
using SymbolMapping = std::map<std::string, std::string>;

/// How the driver compiles PTX when it loads it. Unset members leave its default.
struct JITOptions {
    std::optional<int> max_register_count = {};    // registers of a thread
    std::optional<int> optimization_level = {};    // 0 to 4
    std::optional<bool> debug = {};                // for debuggers
    std::optional<bool> lineinfo = {};             // lines of the source, for profilers and reports
    std::optional<bool> l1_cache = {};             // whether global loads use it
    std::optional<int> threads_per_block = {};     // blocks of this size must launch
    std::optional<int> max_threads_per_block = {}; // a promise: no launch has more
    std::optional<int> min_blocks_per_multiprocessor = {}; // with max_threads_per_block
    std::optional<bool> override_directives = {};          // these override the code's own
    std::optional<bool> position_independent_code = {};    // code that can be linked to others
    std::optional<int> split_compile = {};                 // compile in this many threads; 0 is all
    std::optional<bool> prefer_binary = {}; // if a fat binary lacks the exact architecture
};

/// Compiled code. The driver loads it on first use and unloads it when the last object code and the
/// last kernel from it are gone. Copies share it.
///
/// @code
/// const cuprum::Program program(R"(extern "C" __global__ void twice(int* x) { *x *= 2; })");
/// const cuprum::ObjectCode code = program.compile(cuprum::CodeType::Cubin);
/// const cuprum::Kernel kernel = code.get_kernel("twice");
/// @endcode
class CUPRUM_API ObjectCode {
public:
    /// Holds a copy of code in memory.
    [[nodiscard]] static ObjectCode from_bytes(CodeType type, std::span<const std::byte> code,
                                               std::string name = {}, SymbolMapping symbols = {},
                                               JITOptions jit = {});
    /// Refers to a file, which is read when the code is first needed.
    [[nodiscard]] static ObjectCode from_file(CodeType type, std::string path,
                                              std::string name = {}, SymbolMapping symbols = {},
                                              JITOptions jit = {});

    /// Returns what kind of code it is.
    [[nodiscard]] CodeType code_type() const;
    /// Returns the code. Reads the file on first use if the code came from one.
    [[nodiscard]] std::span<const std::byte> code() const;
    /// Returns the code as text, for PTX.
    [[nodiscard]] std::string_view text() const;
    /// Returns the path of the file, empty for code in memory.
    [[nodiscard]] const std::string& path() const;
    /// Returns the name that messages use.
    [[nodiscard]] const std::string& name() const;
    /// Returns the mangled names of the name expressions.
    [[nodiscard]] const SymbolMapping& symbol_mapping() const;
    /// Returns how the driver compiles the code when it is loaded.
    [[nodiscard]] const JITOptions& jit_options() const;
    /// Returns the driver's library, loading it on first use.
    [[nodiscard]] CUlibrary handle() const;

    /// Returns a kernel by its name in the code, or by its name in the source if compile() was
    /// given that name.
    /// @throws std::invalid_argument if there is none; the text lists the kernels.
    /// std::runtime_error for code that must be linked first.
    [[nodiscard]] Kernel get_kernel(std::string_view name) const;
    /// Returns the names of all kernels, as they are in the code.
    [[nodiscard]] std::vector<std::string> kernel_names() const;
    /// Returns the memory of a `__device__` or `__constant__` variable in the current context, or
    /// in the current device's primary context. The buffer keeps the code loaded.
    /// @throws std::invalid_argument if there is no such variable.
    [[nodiscard]] Buffer get_global(std::string_view name) const;
    /// Returns the memory of a `__managed__` variable, which all contexts share.
    /// @throws std::invalid_argument if there is no such variable.
    [[nodiscard]] Buffer get_managed(std::string_view name) const;
    /// Returns the code as a module of the current context, or of the current device's primary
    /// context, for interfaces that take a module. The library owns it.
    [[nodiscard]] CUmodule get_module() const;

    /// Returns whether `close()` was called.
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
