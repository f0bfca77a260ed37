// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/object_code.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::detail {

/// Code in memory, followed by NULs: text ends with one, and a loader that reads the first words of
/// a short image stays inside the memory.
///
/// NOTE: not a vector, which would zero the memory before a file is read into it. For some hundred
/// KiB of code that takes half as long as reading.
class PaddedCode {
public:
    static constexpr std::size_t PADDING_BYTES = 64;

    PaddedCode() = default;
    /// Copies code.
    explicit PaddedCode(std::span<const std::byte> code);
    /// Allocates uninitialised memory for code that the caller writes.
    [[nodiscard]] static PaddedCode for_overwrite(std::size_t size);

    [[nodiscard]] std::span<std::byte> bytes() noexcept { return {memory_.get(), size()}; }

    [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
        return {memory_.get(), size()};
    }

    /// Drops everything after the first `size` bytes.
    void shorten(std::size_t size) noexcept;

private:
    [[nodiscard]] std::size_t size() const noexcept { return memory_ == nullptr ? 0 : size_; }

    std::unique_ptr<std::byte[]> memory_; // null once it is moved away
    std::size_t size_ = 0;
};

// A cubin gives the sizes of a kernel's parameters, but does not say whether four bytes are a float
// or an int. NVRTC makes PTX beside each cubin, and PTX says it. The declarations of its kernels
// are therefore kept behind the cubin: an ELF file has its size in its header, so the driver,
// nvJitLink and other tools do not look further. There the declarations survive caches, files and
// pickles, and launches convert arguments in the same way wherever the code comes from.

/// Appends the declarations of the kernels in `ptx` to a cubin.
[[nodiscard]] std::vector<std::byte> with_declarations(std::vector<std::byte> cubin,
                                                       std::string_view ptx);

/// Returns the declarations that with_declarations() has appended, as PTX; empty if there are none.
/// Does not trust its input.
[[nodiscard]] std::string_view declarations_in(std::span<const std::byte> code) noexcept;

/// Returns the PTX in the code, or the declarations of its kernels; empty if it has neither.
[[nodiscard]] std::string_view ptx_or_declarations_in(CodeType type,
                                                      std::span<const std::byte> code);

/// Appends to a cubin the declarations of the kernels in the codes that it was linked from. LTO-IR
/// has none.
[[nodiscard]] std::vector<std::byte> with_declarations_of(std::vector<std::byte> cubin,
                                                          std::span<const ObjectCode> codes);

/// Code, and the names of its kernels in the source.
struct CodeWithSymbols {
    PaddedCode code;
    SymbolMapping symbols;
};

/// Packs code and symbols into one piece for caches, which store bytes. The code comes first, so
/// that it can be used without a copy and tools can read it.
[[nodiscard]] std::vector<std::byte> with_symbols(const SymbolMapping& symbols,
                                                  std::span<const std::byte> code);

/// Unpacks the symbols from the result of with_symbols(). Returns false and changes nothing for
/// other bytes. Does not trust its input.
[[nodiscard]] bool take_symbols(CodeWithSymbols& packed);

} // namespace cuprum::detail
