// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Sparse matrices of 16 rows for mma.sp, and the positions of elements in m16n8 products.

#pragma once

#include "support/matrix_kernel.hpp"

#include <algorithm>

namespace cuprum::emulator::test {

/// Returns the positions of elements of A, with any number of columns: pieces of 8 rows by 16
/// bytes.
inline auto place_in_16_rows(const NumberFormat& format) {
    return [per = format.per_register()](unsigned lane, unsigned i) {
        const unsigned piece = i / per;
        return Place{lane / 4 + 8 * (piece % 2), lane % 4 * per + i % per + 4 * per * (piece / 2)};
    };
}

/// Returns the positions of elements of B.
inline auto place_in_8_columns(const NumberFormat& format) {
    return [per = format.per_register()](unsigned lane, unsigned i) {
        return Place{lane % 4 * per + i % per + 4 * per * (i / per), lane / 4};
    };
}

/// Returns the positions of elements of C and D.
inline Place place_in_result(unsigned lane, unsigned i) {
    return {lane / 4 + 8 * (i / 2), lane % 4 * 2 + i % 2};
}

/// A half-zero matrix: as a whole, as it is stored, and the metadata that connects both.
class SparseMatrix {
public:
    Matrix whole;
    Matrix stored;

    SparseMatrix(unsigned k, const NumberFormat& format, std::uint32_t seed)
        : whole(Matrix::random(16, k, format, seed)), stored(16, k / 2), format_(format),
          units_(format.bits == 32 ? 2 : 4), unit_(format.bits == 4 ? 2 : 1),
          indexes_(16, std::vector<std::vector<unsigned>>(k / (units_ * unit_))) {
        std::mt19937 engine(seed);
        std::vector<unsigned> all(units_);
        for (unsigned i = 0; i < units_; ++i) {
            all[i] = i;
        }
        for (unsigned row = 0; row < 16; ++row) {
            for (auto& chosen : indexes_[row]) {
                std::shuffle(all.begin(), all.end(), engine);
                chosen.assign(all.begin(), all.begin() + units_ / 2);
                std::sort(chosen.begin(), chosen.end());
            }
        }
        store();
    }

    /// Exchanges the two elements of each chunk.
    void swap_indexes() {
        for (auto& row : indexes_) {
            for (auto& chosen : row) {
                std::swap(chosen[0], chosen[1]);
            }
        }
        store();
    }

    [[nodiscard]] bool has(unsigned row, unsigned column) const {
        const auto& chosen = indexes_[row][column / (units_ * unit_)];
        return std::find(chosen.begin(), chosen.end(), column / unit_ % units_) != chosen.end();
    }

    /// Returns how many lanes or groups of lanes could provide the metadata.
    [[nodiscard]] unsigned selectors() const { return 16 / chunks(); }

    /// Returns a word for each lane. Lanes without metadata have all bits set.
    [[nodiscard]] std::vector<std::uint32_t> metadata(unsigned selector) const {
        std::vector<std::uint32_t> words(32, 0xffffffffu);
        for (unsigned row = 0; row < 16; ++row) {
            for (unsigned chunk = 0; chunk < chunks(); ++chunk) {
                const auto& chosen = indexes_[row][chunk];
                const std::uint32_t bits =
                    units_ == 2 ? (chosen[0] == 0 ? 0b0100 : 0b1110) : chosen[0] | chosen[1] << 2;
                const auto [lane, first] = metadata_place(row, chunk, selector);
                words[lane] = (words[lane] & ~(0xfu << first)) | bits << first;
            }
        }
        return words;
    }

private:
    NumberFormat format_;
    unsigned units_; // per chunk
    unsigned unit_;  // elements per unit
    std::vector<std::vector<std::vector<unsigned>>> indexes_;

    [[nodiscard]] unsigned chunks() const { return whole.columns / (units_ * unit_); }

    void store() {
        for (unsigned row = 0; row < 16; ++row) {
            unsigned next = 0;
            for (unsigned chunk = 0; chunk < chunks(); ++chunk) {
                for (const unsigned index : indexes_[row][chunk]) {
                    for (unsigned i = 0; i < unit_; ++i) {
                        stored.at(row, next++) =
                            whole.at(row, (chunk * units_ + index) * unit_ + i);
                    }
                }
            }
            for (unsigned column = 0; column < whole.columns; ++column) {
                whole.at(row, column) *= has(row, column) ? 1 : 0;
            }
        }
    }

    struct Bits {
        unsigned lane;
        unsigned first;
    };

    /// Rows g and g + 8 have their metadata in lanes 4g to 4g + 3.
    [[nodiscard]] Bits metadata_place(unsigned row, unsigned chunk, unsigned selector) const {
        const unsigned group = row % 8 * 4;
        const unsigned is_lower = row / 8;
        if (chunks() == 4) { // m16n8k16 of halves, m16n8k8 of tf32
            return {group + selector, 16 * is_lower + 4 * chunk};
        }
        if (format_.bits >= 16) { // m16n8k32 of halves, m16n8k16 of tf32
            return {group + 2 * selector + chunk / 4, 16 * is_lower + 4 * (chunk % 4)};
        }
        if (chunks() == 8) { // m16n8k32 of bytes, m16n8k64 of 4-bit integers
            return {group + 2 * selector + is_lower, 4 * chunk};
        }
        return {group + 2 * (chunk / 8) + is_lower, 4 * (chunk % 8)};
    }
};

} // namespace cuprum::emulator::test
