// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Helpers for the decoders of matrix instructions: shapes, number formats, register lists.

#pragma once

#include "bytecode/matrix_forms.hpp"
#include "decode/reader.hpp"

#include <optional>
#include <vector>

namespace cuprum::emulator::decoding {

struct MatrixShape {
    std::string_view name;
    unsigned m;
    unsigned n;
    unsigned k;
};

/// Takes a shape. Refuses the instruction if there is no known one.
[[nodiscard]] std::optional<MatrixShape> take_matrix_shape(Reader& reader);
/// Takes the next modifier as a number format. Refuses the instruction if it is not one.
[[nodiscard]] std::optional<MatrixElement> take_matrix_element(Reader& reader);

/// Returns whether wmma supports a shape for a format of its accumulators or factors.
[[nodiscard]] bool has_fragment(std::string_view shape, MatrixElement element, bool is_accumulator);

[[nodiscard]] unsigned bits_in(MatrixElement element) noexcept;
/// Returns the type of the registers that hold such elements.
[[nodiscard]] ptx::Type matrix_register_type(MatrixElement element) noexcept;
/// Returns how many registers a lane has for a matrix of `elements` elements.
[[nodiscard]] unsigned matrix_registers(MatrixElement element, unsigned elements) noexcept;

/// Rejects the instruction unless it is .sync.aligned.
void need_sync_aligned(Reader& reader);

/// Resolves the registers of one operand, `{a, b, ...}` or a single one, and appends them.
void add_matrix_registers(Reader& reader, std::size_t index, unsigned count, ptx::Type type,
                          bool is_destination, std::vector<bytecode::Operand>& list);

/// Emits an instruction for the whole warp.
void emit_matrix(Reader& reader, const MatrixForm& form,
                 std::span<const bytecode::Operand> destinations,
                 std::span<const bytecode::Operand> sources, const bytecode::Instruction& rest,
                 const AccessNote* note = nullptr);

/// Decodes the rest of mma and wmma.mma.
void decode_mma(Reader& reader);
void decode_wmma_product(Reader& reader);

} // namespace cuprum::emulator::decoding
