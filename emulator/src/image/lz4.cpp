// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The LZ4 block format: a run of sequences. Each starts with a token, whose upper half is a number
// of literal bytes and whose lower half is the length of a match less four; 15 in either half means
// that further bytes add to it, up to the first that is not 255. Literals follow the token, then a
// two-byte distance back into what was written. The last sequence ends after its literals.

#include "image/lz4.hpp"

#include <algorithm>
#include <cstdint>

namespace cuprum::emulator {

namespace {

constexpr std::size_t LONG_LENGTH = 15;
constexpr std::size_t MIN_MATCH = 4;
/// The largest expansion of a block: a length byte adds at most 255 bytes.
constexpr std::size_t MAX_RATIO = 255;

/// Adds the bytes that continue a length. Returns false if the block ends inside it.
bool extend(std::span<const unsigned char>& in, std::size_t& length) {
    unsigned char byte = 0;
    do {
        if (in.empty()) {
            return false;
        }
        byte = in.front();
        in = in.subspan(1);
        length += byte;
    } while (byte == 255);
    return true;
}

} // namespace

std::optional<std::string> decompress_lz4(std::span<const unsigned char> block, std::size_t size) {
    if (size / MAX_RATIO > block.size()) {
        return std::nullopt; // before allocating an impossible size
    }
    std::string out;
    out.reserve(size);
    std::span<const unsigned char> in = block;
    while (!in.empty()) {
        const std::size_t token = in.front();
        in = in.subspan(1);
        std::size_t literals = token >> 4;
        if (literals == LONG_LENGTH && !extend(in, literals)) {
            return std::nullopt;
        }
        if (literals > in.size() || literals > size - out.size()) {
            return std::nullopt;
        }
        out.append(reinterpret_cast<const char*>(in.data()), literals);
        in = in.subspan(literals);
        if (in.empty()) {
            break;
        }
        if (in.size() < 2) {
            return std::nullopt;
        }
        const std::size_t distance = in[0] | std::size_t{in[1]} << 8;
        in = in.subspan(2);
        std::size_t match = token & 15;
        if (match == LONG_LENGTH && !extend(in, match)) {
            return std::nullopt;
        }
        match += MIN_MATCH;
        if (distance == 0 || distance > out.size() || match > size - out.size()) {
            return std::nullopt;
        }
        // A match may overlap its own output, which then repeats. So copy in steps what exists
        // already.
        while (match != 0) {
            const std::size_t step = std::min(match, distance);
            out.append(out, out.size() - distance, step);
            match -= step;
        }
    }
    return out.size() == size ? std::optional(std::move(out)) : std::nullopt;
}

} // namespace cuprum::emulator
