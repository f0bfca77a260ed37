// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/code/declarations.hpp"

#include "launch/parameter_kinds.hpp"
#include "program/code/fatbin.hpp"

#include <cstdint>
#include <cstring>
#include <string>

namespace cuprum::detail {

namespace {

// After the cubin: the declarations, their size in bytes, and the mark.
constexpr std::string_view DECLARATIONS_MARK = "cuprum declarations\n";
constexpr std::size_t DECLARATIONS_END_BYTES = sizeof(std::uint64_t) + DECLARATIONS_MARK.size();
constexpr std::string_view ELF_MARK = "\177ELF";

[[nodiscard]] std::string_view as_text(std::span<const std::byte> bytes) noexcept {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

} // namespace

std::vector<std::byte> with_declarations(std::vector<std::byte> cubin, std::string_view ptx) {
    const auto append = [&cubin](const void* data, std::size_t size) {
        const auto* const bytes = static_cast<const std::byte*>(data);
        cubin.insert(cubin.end(), bytes, bytes + size);
    };
    const std::string declarations = kernel_declarations(ptx);
    if (!as_text(cubin).starts_with(ELF_MARK) || declarations.empty()) {
        return cubin;
    }
    const std::uint64_t size = declarations.size();
    append(declarations.data(), declarations.size());
    append(&size, sizeof size);
    append(DECLARATIONS_MARK.data(), DECLARATIONS_MARK.size());
    return cubin;
}

std::string_view declarations_in(std::span<const std::byte> code) noexcept {
    const std::string_view whole = as_text(code);
    if (whole.size() < DECLARATIONS_END_BYTES || !whole.starts_with(ELF_MARK) ||
        !whole.ends_with(DECLARATIONS_MARK)) {
        return {};
    }
    const std::string_view before = whole.substr(0, whole.size() - DECLARATIONS_END_BYTES);
    std::uint64_t size = 0;
    std::memcpy(&size, whole.data() + before.size(), sizeof size);
    return size > before.size() ? std::string_view() : before.substr(before.size() - size);
}

std::string_view ptx_or_declarations_in(CodeType type, std::span<const std::byte> code) {
    if (type == CodeType::Ptx) {
        return as_text(code);
    }
    const std::string_view ptx = ptx_in_fatbin(code);
    return ptx.empty() ? declarations_in(code) : ptx;
}

std::vector<std::byte> with_declarations_of(std::vector<std::byte> cubin,
                                            std::span<const ObjectCode> codes) {
    std::string texts;
    for (const ObjectCode& code : codes) {
        texts += ptx_or_declarations_in(code.code_type(), code.code());
        texts += '\n';
    }
    return with_declarations(std::move(cubin), texts);
}

} // namespace cuprum::detail
