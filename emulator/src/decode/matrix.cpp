// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Matrix instructions that move data: ldmatrix, stmatrix, movmatrix, wmma.load and wmma.store.

#include "decode/matrix.hpp"

#include <algorithm>
#include <bit>

namespace cuprum::emulator::decoding {

using bytecode::Operand;
using bytecode::Width;
using ptx::Space;
using ptx::Type;
using Kind = ptx::Operand::Kind;
using E = MatrixElement;

namespace {

constexpr unsigned TILE_ROW_BYTES = 16;

Space take_space(Reader& reader) {
    const int index = reader.take_one_of({"global", "shared", "shared::cta"});
    return index < 0 ? Space::None : index == 0 ? Space::Global : Space::Shared;
}

/// Resolves the address operand `index`: adds it to the sources and fills in `rest`.
bool add_address(Reader& reader, std::size_t index, Space space, std::vector<Operand>& sources,
                 bytecode::Instruction& rest) {
    if (reader.operand(index).kind != Kind::Address) {
        reader.reject("needs an address in brackets as operand " + std::to_string(index + 1));
        return false;
    }
    const Address address = reader.lowering().address(reader.operand(index), space);
    if (address.base.is_none()) {
        return false;
    }
    sources.push_back(address.base);
    rest.immediate = address.offset;
    if (address.base_width == Width::B32) {
        rest.tag |= MATRIX_NARROW_ADDRESS;
    }
    return true;
}

/// Returns the part of an access description that all matrix instructions share.
AccessNote note_of(const bytecode::Instruction& rest, std::span<const Operand> sources, Space space,
                   bool is_store) {
    AccessNote note;
    note.address.base = sources[0];
    note.address.base_width = (rest.tag & MATRIX_NARROW_ADDRESS) != 0 ? Width::B32 : Width::B64;
    note.address.offset = rest.immediate;
    note.space = space;
    note.kind = is_store ? AccessNote::Kind::Write : AccessNote::Kind::Read;
    return note;
}

/// The tiles that ldmatrix and stmatrix move. Each row of a tile has its address in one lane, and
/// each lane holds `registers` registers of each tile.
struct Tiles {
    std::string_view shape;
    bool is_store;
    unsigned rows;
    unsigned registers;
    unsigned most;        // most tiles in one instruction
    bool needs_transpose; // always .trans
    bool has_narrow;      // elements of 4 or 6 bits
    bool has_bytes;       // .b8
};

constexpr Tiles TILES[] = {
    {"m8n8", false, 8, 1, 4, false, false, false}, {"m8n8", true, 8, 1, 4, false, false, false},
    {"m8n16", false, 8, 1, 4, false, true, false}, {"m16n16", false, 16, 2, 2, true, true, true},
    {"m16n8", true, 8, 1, 4, true, false, true},
};

/// Takes the element type and returns its size in memory in bits; 0 after a refusal.
unsigned take_element_bits(Reader& reader, const Tiles& tiles) {
    const int narrow = reader.take_one_of({"b6x16_p32", "b4x16_p64"});
    const bool is_widened = reader.take("b8x16");
    if (is_widened != (narrow >= 0) || (is_widened && !tiles.has_narrow)) {
        reader.reject("needs .b8x16.b6x16_p32 or .b8x16.b4x16_p64 with shapes that have them");
        return 0;
    }
    if (is_widened) {
        return narrow == 0 ? 6 : 4;
    }
    const bool is_half = !tiles.has_bytes && !tiles.has_narrow;
    reader.take_type_of({is_half ? Type::B16 : Type::B8});
    if (!is_half && !tiles.has_bytes) {
        reader.reject("needs .b8x16.b6x16_p32 or .b8x16.b4x16_p64");
    }
    return is_half ? 16 : 8;
}

/// Describes what a lane with an address accesses, without the padding of narrow elements.
AccessNote note_of_row(const bytecode::Instruction& rest, std::span<const Operand> sources,
                       Space space, bool is_store, unsigned element_bits) {
    constexpr unsigned ELEMENTS = 16;
    AccessNote note = note_of(rest, sources, space, is_store);
    note.bytes = element_bits >= 8 ? TILE_ROW_BYTES : 4;
    note.count = element_bits >= 8 ? 1 : ELEMENTS * element_bits / 32;
    return note;
}

void decode_tiles(Reader& reader) {
    const bool is_store = reader.opcode() == "stmatrix";
    need_sync_aligned(reader);
    const auto* const tiles =
        std::find_if(std::begin(TILES), std::end(TILES), [&](const Tiles& entry) {
            return entry.is_store == is_store && reader.take(entry.shape);
        });
    if (tiles == std::end(TILES)) {
        reader.refuse("has a shape that is not known here");
        return;
    }
    const int index = reader.take_one_of({"x1", "x2", "x4"});
    const unsigned count = index < 0 ? 0 : 1u << index;
    if (count == 0 || count > tiles->most) {
        reader.reject(tiles->most == 4 ? "needs .x1, .x2 or .x4" : "needs .x1 or .x2");
    }
    const bool is_transposed = reader.take("trans");
    const Space space = take_space(reader);
    if (space == Space::Global) {
        reader.reject("accesses shared memory only");
    }
    const unsigned element_bits = take_element_bits(reader, *tiles);
    if (element_bits != 16 && is_transposed != tiles->needs_transpose) {
        reader.reject(is_transposed ? "cannot have .trans" : "needs .trans");
    }
    if (!reader.finish(2)) {
        return;
    }
    bytecode::Instruction rest;
    rest.tag = static_cast<std::uint16_t>(count | (is_transposed ? MATRIX_TRANSPOSED : 0) |
                                          element_bits / 2 << MATRIX_INNER_SHIFT);
    rest.access_bytes = TILE_ROW_BYTES;
    rest.flags = bytecode::HAS_SIDE_EFFECT;
    std::vector<Operand> destinations;
    std::vector<Operand> sources;
    if (!add_address(reader, is_store ? 0 : 1, space, sources, rest)) {
        return;
    }
    add_matrix_registers(reader, is_store ? 1 : 0, count * tiles->registers, Type::B32, !is_store,
                         is_store ? sources : destinations);
    AccessNote note = note_of_row(rest, sources, space, is_store, element_bits);
    note.lanes = count * tiles->rows; // one row of a tile per lane
    const bool is_half = element_bits == 16;
    if (is_store && !reader.has_failed()) {
        note.values = std::span(sources).subspan(1);
        note.layout = is_half ? AccessNote::Layout::Tiles : AccessNote::Layout::Bytes;
        note.is_transposed = is_transposed;
    }
    const MatrixOp load = is_half ? MatrixOp::LoadTiles : MatrixOp::LoadBytes;
    const MatrixOp store = is_half ? MatrixOp::StoreTiles : MatrixOp::StoreBytes;
    emit_matrix(reader, {.op = is_store ? store : load, .space = space}, destinations, sources,
                rest, &note);
}

void decode_transpose(Reader& reader) {
    need_sync_aligned(reader);
    if (!reader.take("m8n8") || !reader.take("trans")) {
        reader.reject("needs .m8n8.trans");
    }
    reader.take_type_of({Type::B16});
    if (!reader.finish(2)) {
        return;
    }
    const Operand source = reader.source(1, Type::B32);
    const Operand destination = reader.destination(0, Type::B32);
    emit_matrix(reader, {.op = MatrixOp::TransposeTile}, std::span(&destination, 1),
                std::span(&source, 1), {});
}

/// Decodes wmma.load and wmma.store.
void decode_fragment(Reader& reader, bool is_store) {
    enum Role { A, B, C };

    const int role_index =
        is_store ? (reader.take("d") ? C : -1) : reader.take_one_of({"a", "b", "c"});
    if (role_index < 0) {
        reader.reject("does not say which matrix it moves");
        return;
    }
    const auto role = static_cast<Role>(role_index);
    need_sync_aligned(reader);
    const int layout = reader.take_one_of({"row", "col"});
    if (layout < 0) {
        reader.reject("needs .row or .col");
        return;
    }
    const std::optional<MatrixShape> shape = take_matrix_shape(reader);
    const Space space = take_space(reader);
    const std::optional<E> element = shape ? take_matrix_element(reader) : std::nullopt;
    if (!element || !reader.finish(2, 3)) {
        return;
    }
    if (!has_fragment(shape->name, *element, role == C)) {
        reader.refuse("combines a shape and a type that are not known here");
        return;
    }
    // The image holds the rows of A and C and the columns of B.
    unsigned outer = role == B ? shape->n : shape->m;
    unsigned inner = role == C ? shape->n : shape->k;
    const bool is_transposed = (layout == 0) == (role == B);
    const unsigned registers =
        role != C && *element == E::F16 ? 8 : matrix_registers(*element, outer * inner);
    const unsigned default_stride = is_transposed ? outer : inner;
    bytecode::Instruction rest;
    const unsigned bits = bits_in(*element);
    if (bits < 8) {
        if (is_transposed) {
            reader.reject("needs .row for A and .col for B: elements are smaller than a byte");
            return;
        }
        inner = inner * bits / 8;
        rest.tag = static_cast<std::uint16_t>(std::countr_zero(8 / bits) << MATRIX_STRIDE_SHIFT);
    }
    rest.tag |= static_cast<std::uint16_t>(
        std::countr_zero(outer) | std::countr_zero(inner) << MATRIX_INNER_SHIFT |
        (is_transposed ? MATRIX_TRANSPOSED : 0) | (role == C && bits >= 32 ? MATRIX_PAIRED : 0));
    rest.access_bytes = static_cast<std::uint8_t>(std::max(bits / 8, 1u));
    rest.flags = bytecode::HAS_SIDE_EFFECT;
    std::vector<Operand> destinations;
    std::vector<Operand> sources;
    if (!add_address(reader, is_store ? 0 : 1, space, sources, rest)) {
        return;
    }
    sources.push_back(reader.operand_count() == 3
                          ? reader.source(2, Type::U32)
                          : reader.lowering().constant(default_stride, Width::B32));
    add_matrix_registers(reader, is_store ? 1 : 0, registers, matrix_register_type(*element),
                         !is_store, is_store ? sources : destinations);
    AccessNote note = note_of(rest, sources, space, is_store);
    note.bytes = rest.access_bytes;
    note.count = is_transposed ? outer : inner;
    note.lines = is_transposed ? inner : outer;
    note.stride = sources[1];
    note.stride_shift = std::countr_zero(unsigned{rest.access_bytes}) -
                        static_cast<int>(rest.tag >> MATRIX_STRIDE_SHIFT);
    if (is_store && !reader.has_failed()) {
        note.values = std::span(sources).subspan(2);
        note.value_width = *element == E::F64 ? Width::B64 : Width::B32;
        note.layout = AccessNote::Layout::Fragment;
        note.is_transposed = is_transposed;
        note.is_paired = (rest.tag & MATRIX_PAIRED) != 0;
    }
    emit_matrix(reader,
                {.op = is_store ? MatrixOp::Store : MatrixOp::Load, .space = space, .a = *element},
                destinations, sources, rest, &note);
}

} // namespace

void decode_matrix(Reader& reader) {
    const std::string_view opcode = reader.opcode();
    if (opcode == "ldmatrix" || opcode == "stmatrix") {
        decode_tiles(reader);
    } else if (opcode == "movmatrix") {
        decode_transpose(reader);
    } else if (opcode == "mma") {
        decode_mma(reader);
    } else if (reader.take("mma")) {
        decode_wmma_product(reader);
    } else if (reader.take("load")) {
        decode_fragment(reader, false);
    } else if (reader.take("store")) {
        decode_fragment(reader, true);
    } else {
        reader.refuse("is not an instruction that is supported here");
    }
}

} // namespace cuprum::emulator::decoding
