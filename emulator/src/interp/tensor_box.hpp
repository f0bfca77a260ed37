// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The box of one tensor copy: which bytes of the tensor it covers, row by row, and where each row
// lies in shared memory.
//
// A row is what lies side by side in both: the elements of the innermost dimension, or the channels
// of one pixel (im2col). Rows follow each other in shared memory without gaps. The part of a row
// that lies outside the tensor is filled by a load. A store skips it, but always writes whole
// pieces of 16 bytes.
//
// A swizzle exchanges pieces of 16 bytes (or more) within 128 bytes of shared memory, depending on
// the address: bits above the piece are combined with bits that count lines of 128 bytes. Rows that
// are narrower than the span of the swizzle then start at multiples of the span.
//
// Interleaved tensors consist of slices of 16 or 32 bytes, the channels of one pixel. Dimension 0
// counts pixels, and the dimension before the last counts slices of channels. A box has one of
// these. So do the pixels of an im2col copy.
//
// Where the manual says nothing, this is what an H200 does (compare/tensors.py).

#pragma once

#include "interp/tensor_map.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace cuprum::emulator {

/// How an instruction selects rows; it must suit the mode of the map.
enum class TensorAccess : std::uint8_t {
    Tile,
    Im2col,
    FourRows, // tile::gather4 and tile::scatter4: a column, then the indices of four rows
};

/// The coordinates that an instruction gives. Unused ones are 0.
struct TensorPlace {
    std::array<std::int32_t, 5> coordinates{};
    std::array<std::uint16_t, 3> offsets{}; // im2col: of W, H and D
};

/// One row of a box.
struct TensorRow {
    std::uint64_t address = 0; // of the first byte inside the tensor
    std::uint32_t begin = 0;   // where the row starts in the box, in bytes
    std::uint32_t skipped = 0; // bytes of the row before the first byte inside
    std::uint32_t bytes = 0;   // bytes inside; 0: the row lies outside the tensor
};

/// The rows of one tensor copy.
class TensorBox {
public:
    /// The map is valid, and `access` suits it.
    TensorBox(const TensorMap& map, const TensorPlace& place, TensorAccess access);

    /// Returns the size of a row in shared memory.
    [[nodiscard]] std::uint32_t row_bytes() const { return row_bytes_; }

    /// Returns how many bytes of rows there are. This is what a barrier counts.
    [[nodiscard]] std::uint32_t bytes() const { return limited(row_bytes_ * row_count_); }

    /// Returns from the start of one row to the next in shared memory.
    [[nodiscard]] std::uint32_t pitch() const { return pitch_; }

    /// Returns the size of the box in shared memory, with the gaps between rows.
    [[nodiscard]] std::uint32_t extent() const { return limited(pitch_ * row_count_); }

    /// Returns how many bytes of a row a store writes.
    [[nodiscard]] std::uint32_t stored_bytes(const TensorRow& row) const {
        return std::min(row_bytes_, (row.bytes + 15) / 16 * 16);
    }

    /// Calls `visit` for each row, until it returns false. Returns whether it never did.
    template <typename Visit>
    bool for_each_row(Visit visit) const {
        switch (access_) {
        case TensorAccess::Tile:
            return for_each_tile_row(visit);
        case TensorAccess::Im2col:
            return for_each_pixel(visit);
        case TensorAccess::FourRows:
            return for_each_listed_row(visit);
        }
        return true;
    }

private:
    static constexpr std::uint32_t MAX_RANK = TensorMap::MAXIMUM_RANK;
    static constexpr std::uint32_t MAX_SPATIAL = 3;

    /// A loop over one outer dimension of a tile. Rounds from `first` to `last` lie inside.
    struct Loop {
        std::uint32_t count = 1;
        std::uint32_t first = 0;
        std::uint32_t last = 1;
        std::uint64_t step = 0; // in bytes

        [[nodiscard]] bool is_inside(std::uint32_t round) const {
            return round >= first && round < last;
        }
    };

    /// One spatial dimension of an im2col walk.
    struct Walk {
        std::int32_t start = 0;
        std::int32_t lower = 0; // where the walk starts again
        std::int64_t upper = 0; // the last position
        std::int32_t step = 1;
        std::int64_t size = 1;
        std::uint64_t stride = 0; // in bytes
        std::int32_t offset = 0;  // of the read pixel from the position
    };

    /// Limits a size to what fits 32 bits; shared memory is always smaller.
    [[nodiscard]] static std::uint32_t limited(std::uint64_t bytes) {
        return static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, 0xffffff00));
    }

    void clip_row(std::int32_t coordinate, std::uint32_t count, std::uint64_t size);
    void add_loop(std::int64_t start, std::int64_t step, std::uint32_t extent, std::uint64_t size,
                  std::uint64_t stride);
    void plan_tile(const TensorMap& map, const TensorPlace& place);
    void plan_pixels(const TensorMap& map, const TensorPlace& place);
    void plan_listed_rows(const TensorMap& map, const TensorPlace& place);

    /// Returns a row that starts `offset` bytes after the first element of the tensor's first row.
    /// Offsets wrap: those of rows outside the tensor may be anything.
    [[nodiscard]] TensorRow row_at(std::uint32_t begin, std::uint64_t offset,
                                   bool is_inside) const {
        return {base_ + offset, begin, skipped_, is_inside ? inside_bytes_ : 0};
    }

    template <typename Visit>
    bool for_each_tile_row(Visit& visit) const {
        const Loop& rows = loops_[0];
        std::uint32_t begin = 0;
        std::array<std::uint32_t, MAX_RANK> at{}; // rounds of the outer loops
        for (;;) {
            bool is_inside = true;
            std::uint64_t offset = 0;
            for (std::uint32_t i = 1; i < MAX_RANK; ++i) {
                is_inside = is_inside && loops_[i].is_inside(at[i]);
                offset += at[i] * loops_[i].step;
            }
            for (std::uint32_t row = 0; row < rows.count; ++row) {
                if (!visit(row_at(begin, offset, is_inside && rows.is_inside(row)))) {
                    return false;
                }
                begin += pitch_;
                offset += rows.step;
            }
            std::uint32_t i = 1;
            while (i < MAX_RANK && ++at[i] == loops_[i].count) {
                at[i++] = 0;
            }
            if (i == MAX_RANK) {
                return true;
            }
        }
    }

    template <typename Visit>
    bool for_each_pixel(Visit& visit) const {
        std::array<std::int64_t, MAX_SPATIAL> at{walks_[0].start, walks_[1].start, walks_[2].start};
        std::int64_t image = image_;
        std::uint32_t begin = 0;
        for (std::uint32_t pixel = 0; pixel < row_count_; ++pixel, begin += pitch_) {
            bool is_inside = image >= 0 && image < image_count_;
            std::uint64_t offset = static_cast<std::uint64_t>(image) * image_stride_;
            for (std::uint32_t i = 0; i < spatial_; ++i) {
                const std::int64_t read = at[i] + walks_[i].offset;
                is_inside = is_inside && read >= 0 && read < walks_[i].size;
                offset += static_cast<std::uint64_t>(read) * walks_[i].stride;
            }
            if (!visit(row_at(begin, offset, is_inside))) {
                return false;
            }
            std::uint32_t i = 0;
            for (; i < spatial_; ++i) {
                at[i] += walks_[i].step;
                if (at[i] <= walks_[i].upper) {
                    break;
                }
                at[i] = walks_[i].lower;
            }
            image += i == spatial_ ? 1 : 0;
        }
        return true;
    }

    template <typename Visit>
    bool for_each_listed_row(Visit& visit) const {
        for (std::uint32_t i = 0; i < row_count_; ++i) {
            const std::int64_t index = listed_rows_[i];
            const bool is_inside = index >= 0 && index < image_count_;
            const std::uint64_t offset = static_cast<std::uint64_t>(index) * image_stride_;
            if (!visit(row_at(i * pitch_, offset, is_inside))) {
                return false;
            }
        }
        return true;
    }

    TensorAccess access_;
    std::uint32_t element_bits_ = 0; // of a slice, if the tensor is interleaved
    std::uint64_t base_ = 0; // the address of the first byte inside, in the tensor's first row
    std::uint32_t row_bytes_ = 0;
    std::uint64_t row_count_ = 0;
    std::uint32_t pitch_ = 0;
    std::uint32_t skipped_ = 0;
    std::uint32_t inside_bytes_ = 0;
    std::uint32_t loop_count_ = 0;
    std::array<Loop, MAX_RANK> loops_{}; // innermost first; the other ones have one round

    std::uint32_t spatial_ = 0;
    std::array<Walk, MAX_SPATIAL> walks_{};
    std::int64_t image_ = 0; // the coordinate in the outermost dimension
    std::int64_t image_count_ = 0;
    std::uint64_t image_stride_ = 0;
    std::array<std::int32_t, 4> listed_rows_{};
};

/// Returns the first of the dimensions W, H, D of a map for im2col: channels come before them, or
/// slices of channels behind them.
[[nodiscard]] std::uint32_t first_spatial(const TensorMap& map);

/// Returns the most bytes that a row may have with the swizzle of a map; 0 if there is no limit.
[[nodiscard]] std::uint32_t swizzle_span(const TensorMap& map);

/// The bits of a shared address that a swizzle combines: those in `mask` are exchanged according to
/// the ones `shift` places above them.
struct SharedSwizzle {
    std::uint32_t mask = 0;
    std::uint32_t shift = 0;
    bool flips = false; // also exchanges the halves of each 16 bytes in every other line of 128

    static SharedSwizzle of(const TensorMap& map);

    [[nodiscard]] bool is_none() const { return mask == 0; }

    [[nodiscard]] std::uint32_t apply(std::uint32_t address) const {
        return address ^ (address >> shift & mask);
    }
};

} // namespace cuprum::emulator
