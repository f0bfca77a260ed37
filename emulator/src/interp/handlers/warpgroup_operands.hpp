// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The factors of wgmma.mma_async as floats, in the order in which warpgroup.cpp multiplies them.

#pragma once

#include "interp/handlers/matrix_product.hpp"
#include "interp/handlers/warpgroup_sums.hpp"
#include "interp/warpgroup.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

/// The description of a product, decoded from its instruction.
struct GroupProduct {
    unsigned n;
    unsigned k;
    MatrixElement d;
    MatrixElement a;
    MatrixElement b;
    unsigned stored; // elements of a row of A that are stored
    bool is_sparse;
    bool a_in_registers;
    bool is_saturating;

    explicit GroupProduct(const Instruction* at)
        : n(static_cast<unsigned>(at->immediate & 0xffff)),
          k(static_cast<unsigned>(at->immediate >> 16 & 0xffff)),
          d(static_cast<MatrixElement>(at->immediate >> 32 & 0xff)),
          a(static_cast<MatrixElement>(at->immediate >> 40 & 0xff)),
          b(static_cast<MatrixElement>(at->immediate >> 48 & 0xff)),
          stored((at->tag & WARPGROUP_SPARSE) != 0 ? k / 2 : k),
          is_sparse((at->tag & WARPGROUP_SPARSE) != 0),
          a_in_registers((at->tag & WARPGROUP_A_REGISTERS) != 0),
          is_saturating((at->tag & WARPGROUP_SATURATING) != 0) {}
};

// ---- factors -----------------------------------------------------------------------------------

/// The row of B that each stored element of a sparse A belongs to.
struct Positions {
    static constexpr unsigned MAX_STORED = 32;
    static constexpr std::uint8_t NOWHERE = 0xff; // the element does not count

    std::uint8_t rows[16][MAX_STORED];
};

/// Reads a factor from shared memory: `rows` rows of A or columns of B of `row_bytes` each. If it
/// is transposed, the image has the rows of the transposed matrix. Returns false after a fault.
[[nodiscard]] bool read_image(WarpContext& warp, const Instruction* at, std::uint64_t descriptor,
                              unsigned rows, unsigned row_bytes, bool is_transposed, bool is_b,
                              std::uint32_t* image);

/// Reads the 16 rows of A that a warp has in registers.
void read_registers(const WarpContext& warp, const Instruction* at, const std::byte* frame,
                    std::uint32_t* image);

/// Both factors: B for all warps, A for one warp at a time.
struct GroupFactors {
    static constexpr unsigned MAX_N = 256;
    static constexpr unsigned MAX_K = 64;
    static constexpr unsigned MAX_STORED = 32;

    alignas(64) float columns[MAX_N * MAX_K];
    alignas(64) std::int16_t column_exponents[MAX_N * MAX_K];
    alignas(64) float rows[MAX_K * 64];
    alignas(64) std::int16_t row_exponents[MAX_K * 64];      // of `selected`, if that is used
    alignas(64) float shared_a[WARPGROUP_ROWS * MAX_STORED]; // as read; see is_column
    bool has_special = false;                                // B has an infinity or a NaN
    bool is_selected = false; // the rows are sparse: `selected` and `positions`
    Positions positions;
    float selected[16 * MAX_STORED];

    /// Reads what shared memory holds. Returns nullptr after a fault.
    [[nodiscard]] const Instruction* read(WarpContext& warp, const Instruction* at,
                                          const GroupProduct& product,
                                          const warpgroup::Meeting& meeting);

    /// Fills in `rows` for one of the four warps.
    void take_rows(const WarpContext& warp, const Instruction* at, const GroupProduct& product,
                   const warpgroup::Meeting& meeting, unsigned index);

private:
    void find_row_exponents(const GroupProduct& product);
};

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
