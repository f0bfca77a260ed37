// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A cubin gives the sizes of a kernel's parameters, but does not say whether four bytes are a float
// or an int. NVRTC makes PTX beside each cubin, and PTX says it. The declarations of its kernels
// are therefore kept behind the cubin: an ELF file has its size in its header, so the driver,
// nvJitLink and other tools do not look further. There the declarations survive caches, files and
// pickles, and launches convert arguments in the same way wherever the code comes from.

#pragma once

#include <cuprum/object_code.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::detail {

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

} // namespace cuprum::detail
