// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Reads code as it comes from files and caches: the checks before the driver sees it, the search
// for PTX in fat binaries, and the names that caches store with code.

#include "program/code/image.hpp"
#include "program/code/packing.hpp"

#include <cuprum/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

using namespace cuprum;

namespace {

void require(bool is_so) {
    if (!is_so) {
        std::abort();
    }
}

void look_at(std::span<const std::byte> code) {
    for (const CodeType type : {CodeType::Ptx, CodeType::Cubin, CodeType::Fatbin, CodeType::LtoIr,
                                CodeType::Object, CodeType::Library}) {
        try {
            detail::check_image("code", type, code);
        } catch (const CUDAError&) {
            continue; // refused
        }
        require(!code.empty());
    }
    const int architecture = detail::cubin_architecture(code);
    require(architecture >= 0 && architecture <= 255);
}

void search_for_ptx(std::span<const std::byte> code) {
    const std::string_view found = detail::ptx_in_fatbin(code);
    if (!found.empty()) {
        const auto* const begin = reinterpret_cast<const char*>(code.data());
        require(found.data() >= begin && found.data() + found.size() <= begin + code.size());
        require(found.find('\0') == std::string_view::npos);
    }
    // A fat binary that we write is read back unchanged, whatever it contains.
    const detail::FatbinImage images[] = {
        {detail::FatbinImage::Kind::Cubin, "sm_90", code},
        {detail::FatbinImage::Kind::Ptx, "compute_90a", code},
    };
    const std::vector<std::byte> written = detail::write_fatbin(images);
    const std::string_view text(reinterpret_cast<const char*>(code.data()), code.size());
    require(detail::ptx_in_fatbin(written) == text.substr(0, text.find('\0')));
}

void take_symbols(std::span<const std::byte> code) {
    detail::CodeWithSymbols packed{detail::PaddedCode(code), {}};
    if (!detail::take_symbols(packed)) {
        require(std::ranges::equal(packed.code.bytes(), code) && packed.symbols.empty());
        return;
    }
    detail::CodeWithSymbols again{
        detail::PaddedCode(detail::with_symbols(packed.symbols, packed.code.bytes())), {}};
    require(detail::take_symbols(again) &&
            std::ranges::equal(again.code.bytes(), packed.code.bytes()) &&
            again.symbols == packed.symbols);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::span code(reinterpret_cast<const std::byte*>(data), size);
    look_at(code);
    search_for_ptx(code);
    take_symbols(code);
    return 0;
}
