// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/code/packing.hpp"

#include "program/code/image.hpp"
#include "program/parameter_kinds.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace cuprum::detail {

PaddedCode::PaddedCode(std::span<const std::byte> code) : PaddedCode(for_overwrite(code.size())) {
    std::copy(code.begin(), code.end(), memory_.get());
}

PaddedCode PaddedCode::for_overwrite(std::size_t size) {
    PaddedCode code;
    code.memory_ = std::make_unique_for_overwrite<std::byte[]>(size + PADDING_BYTES);
    code.shorten(size);
    return code;
}

void PaddedCode::shorten(std::size_t size) noexcept {
    size_ = size;
    std::fill_n(memory_.get() + size, PADDING_BYTES, std::byte{0});
}

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

namespace {

// After the code: the number of symbols, their names and values, the size of all that in bytes, and
// the mark.
constexpr std::string_view MARK = "cuprum symbols\n";
constexpr std::size_t END_BYTES = sizeof(std::uint64_t) + MARK.size();

void put_number(std::vector<std::byte>& bytes, std::uint64_t number) {
    const auto* const begin = reinterpret_cast<const std::byte*>(&number);
    bytes.insert(bytes.end(), begin, begin + sizeof(number));
}

void put(std::vector<std::byte>& bytes, std::string_view text) {
    const auto* const begin = reinterpret_cast<const std::byte*>(text.data());
    bytes.insert(bytes.end(), begin, begin + text.size());
}

void put_text(std::vector<std::byte>& bytes, std::string_view text) {
    put_number(bytes, text.size());
    put(bytes, text);
}

std::optional<std::uint64_t> take_number(std::span<const std::byte>& bytes) {
    std::uint64_t number = 0;
    if (bytes.size() < sizeof(number)) {
        return std::nullopt;
    }
    std::memcpy(&number, bytes.data(), sizeof(number));
    bytes = bytes.subspan(sizeof(number));
    return number;
}

std::optional<std::string> take_text(std::span<const std::byte>& bytes) {
    const auto length = take_number(bytes);
    if (!length.has_value() || *length > bytes.size()) {
        return std::nullopt;
    }
    std::string text(reinterpret_cast<const char*>(bytes.data()), *length);
    bytes = bytes.subspan(*length);
    return text;
}

} // namespace

std::vector<std::byte> with_symbols(const SymbolMapping& symbols, std::span<const std::byte> code) {
    std::vector<std::byte> packed(code.begin(), code.end());
    put_number(packed, symbols.size());
    for (const auto& [name, symbol] : symbols) {
        put_text(packed, name);
        put_text(packed, symbol);
    }
    put_number(packed, packed.size() - code.size());
    put(packed, MARK);
    return packed;
}

bool take_symbols(CodeWithSymbols& packed) {
    const std::span<const std::byte> whole = std::as_const(packed.code).bytes();
    if (whole.size() < END_BYTES ||
        std::memcmp(whole.data() + whole.size() - MARK.size(), MARK.data(), MARK.size()) != 0) {
        return false;
    }
    const std::span<const std::byte> before = whole.first(whole.size() - END_BYTES);
    std::span<const std::byte> rest = whole.subspan(before.size());
    const auto table_bytes = take_number(rest);
    if (*table_bytes > before.size()) {
        return false;
    }
    rest = before.last(*table_bytes);
    const auto count = take_number(rest);
    if (!count.has_value()) {
        return false;
    }
    SymbolMapping symbols;
    for (std::uint64_t i = 0; i < *count; ++i) {
        auto name = take_text(rest);
        auto symbol = take_text(rest);
        if (!name.has_value() || !symbol.has_value()) {
            return false;
        }
        symbols.emplace(*std::move(name), *std::move(symbol));
    }
    if (!rest.empty()) {
        return false;
    }
    packed.code.shorten(before.size() - *table_bytes);
    packed.symbols = std::move(symbols);
    return true;
}

} // namespace cuprum::detail
