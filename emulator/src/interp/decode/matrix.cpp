// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Matrix instructions: ldmatrix, stmatrix, movmatrix, mma and wmma.

#include "interp/decode/reader.hpp"
#include "interp/handlers/matrix_forms.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

namespace cuprum::emulator::decoding {

using bytecode::Operand;
using bytecode::Width;
using ptx::Space;
using ptx::Type;
using Kind = ptx::Operand::Kind;
using E = MatrixElement;

namespace {

struct Named {
    std::string_view name;
    E element;
};

constexpr Named ELEMENTS[] = {
    {"f16", E::F16},   {"bf16", E::BF16}, {"tf32", E::TF32}, {"f32", E::F32}, {"f64", E::F64},
    {"e4m3", E::E4M3}, {"e5m2", E::E5M2}, {"s8", E::S8},     {"u8", E::U8},   {"s4", E::S4},
    {"u4", E::U4},     {"b1", E::B1},     {"s32", E::S32},
};

struct Shape {
    std::string_view name;
    unsigned m;
    unsigned n;
    unsigned k;
};

constexpr Shape SHAPES[] = {
    {"m8n8k4", 8, 8, 4},       {"m8n8k16", 8, 8, 16},     {"m8n8k32", 8, 8, 32},
    {"m8n8k128", 8, 8, 128},   {"m16n8k4", 16, 8, 4},     {"m16n8k8", 16, 8, 8},
    {"m16n8k16", 16, 8, 16},   {"m16n8k32", 16, 8, 32},   {"m16n8k64", 16, 8, 64},
    {"m16n8k128", 16, 8, 128}, {"m16n8k256", 16, 8, 256}, {"m16n16k8", 16, 16, 8},
    {"m16n16k16", 16, 16, 16}, {"m32n8k16", 32, 8, 16},   {"m8n32k16", 8, 32, 16},
};

/// Which factors go with which shapes and accumulators.
struct Combination {
    E factor;
    std::initializer_list<std::string_view> mma_shapes;
    std::initializer_list<std::string_view> wmma_shapes;
    std::initializer_list<E> accumulators;
};

const Combination COMBINATIONS[] = {
    {E::F16, {"m16n8k8", "m16n8k16"}, {"m16n16k16", "m32n8k16", "m8n32k16"}, {E::F16, E::F32}},
    {E::BF16, {"m16n8k8", "m16n8k16"}, {"m16n16k16", "m32n8k16", "m8n32k16"}, {E::F32}},
    {E::TF32, {"m16n8k4", "m16n8k8"}, {"m16n16k8"}, {E::F32}},
    {E::F64, {"m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"}, {"m8n8k4"}, {E::F64}},
    {E::E4M3, {"m16n8k16", "m16n8k32"}, {}, {E::F16, E::F32}},
    {E::S8, {"m8n8k16", "m16n8k16", "m16n8k32"}, {"m16n16k16", "m32n8k16", "m8n32k16"}, {E::S32}},
    {E::S4, {"m8n8k32", "m16n8k32", "m16n8k64"}, {"m8n8k32"}, {E::S32}},
    {E::B1, {"m8n8k128", "m16n8k128", "m16n8k256"}, {"m8n8k128"}, {E::S32}},
};

/// Returns the format that stands for all that combine in the same way.
E family_of(E element) {
    switch (element) {
    case E::E5M2:
        return E::E4M3;
    case E::U8:
        return E::S8;
    case E::U4:
        return E::S4;
    default:
        return element;
    }
}

template <typename T>
bool contains(const std::initializer_list<T>& list, const T& value) {
    return std::find(list.begin(), list.end(), value) != list.end();
}

const Combination* combination_of(E factor) {
    const auto* const found =
        std::find_if(std::begin(COMBINATIONS), std::end(COMBINATIONS),
                     [&](const Combination& entry) { return entry.factor == family_of(factor); });
    return found == std::end(COMBINATIONS) ? nullptr : found;
}

unsigned bits_in(E element) {
    switch (element) {
    case E::F64:
        return 64;
    case E::F32:
    case E::TF32:
    case E::S32:
        return 32;
    case E::F16:
    case E::BF16:
        return 16;
    case E::S4:
    case E::U4:
        return 4;
    case E::B1:
        return 1;
    default:
        return 8;
    }
}

/// Returns the type of the registers that hold such elements.
Type register_type(E element) {
    return element == E::F64 ? Type::F64 : element == E::F32 ? Type::F32 : Type::B32;
}

/// Returns how many registers a lane has of a matrix of so many elements.
unsigned registers_for(E element, unsigned elements) {
    const unsigned per_register = std::max(32 / bits_in(element), 1u);
    return elements / per_register / bytecode::WARP_SIZE;
}

std::optional<Shape> take_shape(Reader& reader) {
    for (const Shape& shape : SHAPES) {
        if (reader.take(shape.name)) {
            return shape;
        }
    }
    reader.refuse("has a shape that is not known here");
    return std::nullopt;
}

std::optional<E> take_element(Reader& reader) {
    const std::string_view word = reader.take_any();
    for (const Named& entry : ELEMENTS) {
        if (entry.name == word) {
            return entry.element;
        }
    }
    if (word.empty()) {
        reader.reject("names too few types");
    } else {
        reader.refuse("has a modifier that is not known here, ." + std::string(word));
    }
    return std::nullopt;
}

void need_sync_aligned(Reader& reader) {
    if (!reader.take("sync")) {
        reader.reject("needs .sync");
    }
    if (!reader.take("aligned")) {
        reader.reject("needs .aligned");
    }
}

Space take_space(Reader& reader) {
    const int index = reader.take_one_of({"global", "shared", "shared::cta"});
    return index < 0 ? Space::None : index == 0 ? Space::Global : Space::Shared;
}

/// Resolves the registers of one operand, `{a, b, ...}` or a single one, and appends them.
void add_registers(Reader& reader, std::size_t index, unsigned count, Type type,
                   bool is_destination, std::vector<Operand>& list) {
    const ptx::Operand& operand = reader.operand(index);
    const std::span<const ptx::Operand> parts = operand.kind == Kind::Vector
                                                    ? std::span<const ptx::Operand>(operand.parts)
                                                    : std::span<const ptx::Operand>(&operand, 1);
    if (parts.size() != count) {
        reader.reject("has " + std::to_string(parts.size()) + " registers as operand " +
                      std::to_string(index + 1) + "; expected " + std::to_string(count));
        return;
    }
    for (const ptx::Operand& part : parts) {
        list.push_back(is_destination ? reader.destination(part, type) : reader.source(part, type));
    }
}

/// Resolves the address operand `index` into the first source and what `rest` says of it.
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

/// Emits an instruction that the whole warp takes part in.
void emit_together(Reader& reader, const MatrixForm& form, std::span<const Operand> destinations,
                   std::span<const Operand> sources, const bytecode::Instruction& rest,
                   const AccessNote* note = nullptr) {
    if (reader.has_failed()) {
        return;
    }
    reader.lowering().emit_rendezvous(reader.lowering().constant(bytecode::FULL_MASK, Width::B32));
    if (note != nullptr) {
        reader.lowering().note_access(*note);
    }
    reader.emit(selectors().matrix(form), destinations, sources, rest);
}

/// Says where an instruction accesses memory, as far as all of them have it in common.
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

void decode_tiles(Reader& reader) {
    const bool is_store = reader.opcode() == "stmatrix";
    need_sync_aligned(reader);
    if (!reader.take("m8n8")) {
        reader.refuse("has a shape other than m8n8, which is not supported");
    }
    const int index = reader.take_one_of({"x1", "x2", "x4"});
    if (index < 0) {
        reader.reject("says neither .x1 nor .x2 nor .x4");
    }
    const bool is_transposed = reader.take("trans");
    const Space space = take_space(reader);
    if (space == Space::Global) {
        reader.reject("accesses shared memory only");
    }
    reader.take_type_of({Type::B16});
    if (!reader.finish(2)) {
        return;
    }
    const unsigned count = 1u << index;
    bytecode::Instruction rest;
    rest.tag = static_cast<std::uint16_t>(count | (is_transposed ? MATRIX_TRANSPOSED : 0));
    rest.access_bytes = 16;
    rest.flags = bytecode::HAS_SIDE_EFFECT;
    std::vector<Operand> destinations;
    std::vector<Operand> sources;
    if (!add_address(reader, is_store ? 0 : 1, space, sources, rest)) {
        return;
    }
    add_registers(reader, is_store ? 1 : 0, count, Type::B32, !is_store,
                  is_store ? sources : destinations);
    AccessNote note = note_of(rest, sources, space, is_store);
    note.bytes = 16;
    note.lanes = count * 8; // a row of a tile each
    emit_together(reader,
                  {.op = is_store ? MatrixOp::StoreTiles : MatrixOp::LoadTiles, .space = space},
                  destinations, sources, rest, &note);
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
    emit_together(reader, {.op = MatrixOp::TransposeTile}, std::span(&destination, 1),
                  std::span(&source, 1), {});
}

/// Decodes what mma and wmma.mma share once the layouts have been taken.
void decode_product(Reader& reader, const Shape& shape, bool is_wmma) {
    std::uint16_t tag = is_wmma ? MATRIX_FRAGMENT : 0;
    const bool is_saturating = reader.take("satfinite");
    const int bitwise = reader.take_one_of({"xor", "and"});
    const bool has_count = reader.take("popc");
    if (reader.take_rounding() != Rounding::Nearest) {
        reader.refuse("rounds other than to nearest, which is not supported");
    }
    // D, A, B, C; wmma.mma of f16 names D and C only.
    std::vector<E> elements;
    while (!reader.has_failed() && !reader.peek().empty() && elements.size() < 4) {
        if (const std::optional<E> element = take_element(reader)) {
            elements.push_back(*element);
        }
    }
    if (is_wmma && elements.size() == 2) {
        elements = {elements[0], E::F16, E::F16, elements[1]};
    }
    if (elements.size() != 4) {
        reader.reject("names too few types");
    }
    if (!reader.finish(4)) {
        return;
    }
    const E d = elements[0];
    const E a = elements[1];
    const E b = elements[2];
    const E c = elements[3];
    if (!is_wmma && a == E::F16 && shape.name == "m8n8k4") {
        reader.refuse("is the f16 form of compute capability 7.0, which is not supported; use "
                      "m16n8k8 or m16n8k16");
        return;
    }
    const Combination* const combination = combination_of(a);
    if (combination == nullptr || family_of(b) != family_of(a) ||
        !contains(is_wmma ? combination->wmma_shapes : combination->mma_shapes, shape.name) ||
        !contains(combination->accumulators, c) || !contains(combination->accumulators, d)) {
        reader.refuse("combines a shape and types that are not known here");
        return;
    }
    if (is_saturating && d != E::S32) {
        reader.refuse("has .satfinite, which is supported for integers only");
        return;
    }
    if ((a == E::B1) != (bitwise >= 0 && has_count) || (bitwise >= 0) != has_count) {
        reader.reject("needs .xor.popc or .and.popc for b1, and for b1 only");
        return;
    }
    tag |= is_saturating ? MATRIX_SATURATING : 0;
    tag |= bitwise == 1 ? MATRIX_BITWISE_AND : 0;
    bytecode::Instruction rest;
    rest.tag = tag;
    rest.immediate = static_cast<std::int64_t>(
        shape.m | shape.n << 8 | std::uint64_t{shape.k} << 16 |
        static_cast<std::uint64_t>(c) << 32 | static_cast<std::uint64_t>(d) << 40);
    // A lane of wmma has eight registers of an f16 factor, whatever the shape.
    constexpr unsigned PADDED_REGISTERS = 8;
    const bool is_padded = is_wmma && a == E::F16;
    std::vector<Operand> destinations;
    std::vector<Operand> sources;
    add_registers(reader, 0, registers_for(d, shape.m * shape.n), register_type(d), true,
                  destinations);
    add_registers(reader, 1, is_padded ? PADDED_REGISTERS : registers_for(a, shape.m * shape.k),
                  register_type(a), false, sources);
    add_registers(reader, 2, is_padded ? PADDED_REGISTERS : registers_for(b, shape.n * shape.k),
                  register_type(b), false, sources);
    add_registers(reader, 3, registers_for(c, shape.m * shape.n), register_type(c), false, sources);
    emit_together(reader, {.op = MatrixOp::Multiply, .a = a, .b = b}, destinations, sources, rest);
}

void decode_mma(Reader& reader) {
    if (reader.has("sp") || reader.has("sp::ordered_metadata")) {
        reader.refuse("multiplies sparse matrices, which is not supported");
        return;
    }
    need_sync_aligned(reader);
    const std::optional<Shape> shape = take_shape(reader);
    if (!shape) {
        return;
    }
    const bool is_row_by_column = reader.take("row") && reader.take("col");
    if (!is_row_by_column && !(shape->name == "m8n8k4" && reader.has("f16"))) {
        reader.reject("needs .row.col");
        return;
    }
    if (!is_row_by_column) {
        while (reader.take("row") || reader.take("col")) {
        }
    }
    decode_product(reader, *shape, false);
}

void decode_wmma_product(Reader& reader) {
    need_sync_aligned(reader);
    const std::optional<Shape> shape = take_shape(reader);
    if (!shape) {
        return;
    }
    // Fragments are the same for both layouts: loading them has already sorted the elements.
    unsigned layouts = 0;
    while (reader.take("row") || reader.take("col")) {
        ++layouts;
    }
    if (layouts != 2) {
        reader.reject("needs the layouts of both factors");
        return;
    }
    decode_product(reader, *shape, true);
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
        reader.reject("says neither .row nor .col");
        return;
    }
    const std::optional<Shape> shape = take_shape(reader);
    const Space space = take_space(reader);
    const std::optional<E> element = shape ? take_element(reader) : std::nullopt;
    if (!element || !reader.finish(2, 3)) {
        return;
    }
    const bool is_known = std::any_of(std::begin(COMBINATIONS), std::end(COMBINATIONS),
                                      [&](const Combination& entry) {
                                          return contains(entry.wmma_shapes, shape->name) &&
                                                 (role == C ? contains(entry.accumulators, *element)
                                                            : entry.factor == family_of(*element));
                                      });
    if (!is_known) {
        reader.refuse("combines a shape and a type that are not known here");
        return;
    }
    // The image has rows of A and C and columns of B.
    unsigned outer = role == B ? shape->n : shape->m;
    unsigned inner = role == C ? shape->n : shape->k;
    const bool is_transposed = (layout == 0) == (role == B);
    const unsigned registers =
        role != C && *element == E::F16 ? 8 : registers_for(*element, outer * inner);
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
    add_registers(reader, is_store ? 1 : 0, registers, register_type(*element), !is_store,
                  is_store ? sources : destinations);
    AccessNote note = note_of(rest, sources, space, is_store);
    note.bytes = rest.access_bytes;
    note.count = is_transposed ? outer : inner;
    note.lines = is_transposed ? inner : outer;
    note.stride = sources[1];
    note.stride_shift = std::countr_zero(unsigned{rest.access_bytes}) -
                        static_cast<int>(rest.tag >> MATRIX_STRIDE_SHIFT);
    emit_together(
        reader, {.op = is_store ? MatrixOp::Store : MatrixOp::Load, .space = space, .a = *element},
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
        reader.refuse("is not an instruction that runs here");
    }
}

} // namespace cuprum::emulator::decoding
