// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Products of matrices: mma, mma.sp and wmma.mma, and helpers for the other matrix decoders.

#include "decode/matrix.hpp"

#include <algorithm>

namespace cuprum::emulator::decoding {

using bytecode::Operand;
using bytecode::Width;
using ptx::Type;
using Kind = ptx::Operand::Kind;
using E = MatrixElement;

namespace {

struct Named {
    std::string_view name;
    E element;
};

constexpr Named ELEMENTS[] = {
    {"f16", E::F16},   {"bf16", E::BF16}, {"tf32", E::TF32}, {"f32", E::F32},
    {"f64", E::F64},   {"e4m3", E::E4M3}, {"e5m2", E::E5M2}, {"e3m2", E::E3M2},
    {"e2m3", E::E2M3}, {"e2m1", E::E2M1}, {"s8", E::S8},     {"u8", E::U8},
    {"s4", E::S4},     {"u4", E::U4},     {"b1", E::B1},     {"s32", E::S32},
};

constexpr MatrixShape SHAPES[] = {
    {"m8n8k4", 8, 8, 4},       {"m8n8k16", 8, 8, 16},     {"m8n8k32", 8, 8, 32},
    {"m8n8k128", 8, 8, 128},   {"m16n8k4", 16, 8, 4},     {"m16n8k8", 16, 8, 8},
    {"m16n8k16", 16, 8, 16},   {"m16n8k32", 16, 8, 32},   {"m16n8k64", 16, 8, 64},
    {"m16n8k128", 16, 8, 128}, {"m16n8k256", 16, 8, 256}, {"m16n16k8", 16, 16, 8},
    {"m16n16k16", 16, 16, 16}, {"m32n8k16", 32, 8, 16},   {"m8n32k16", 8, 32, 16},
};

using Names = std::initializer_list<std::string_view>;

/// The `.kind` of an instruction, or Plain without one.
enum class ProductKind { Plain, F8F6F4, MXF8F6F4, MXF4, MXF4NVF4 };

/// The shapes and accumulators that a type of factor supports.
struct Combination {
    ProductKind kind;
    E factor;
    Names mma_shapes;
    Names sparse_shapes;
    Names wmma_shapes;
    std::initializer_list<E> accumulators;
};

using P = ProductKind;

const Combination COMBINATIONS[] = {
    {P::Plain,
     E::F16,
     {"m8n8k4", "m16n8k8", "m16n8k16"},
     {"m16n8k16", "m16n8k32"},
     {"m16n16k16", "m32n8k16", "m8n32k16"},
     {E::F16, E::F32}},
    {P::Plain,
     E::BF16,
     {"m16n8k8", "m16n8k16"},
     {"m16n8k16", "m16n8k32"},
     {"m16n16k16", "m32n8k16", "m8n32k16"},
     {E::F32}},
    {P::Plain, E::TF32, {"m16n8k4", "m16n8k8"}, {"m16n8k8", "m16n8k16"}, {"m16n16k8"}, {E::F32}},
    {P::Plain, E::F64, {"m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"}, {}, {"m8n8k4"}, {E::F64}},
    {P::Plain, E::E4M3, {"m16n8k16", "m16n8k32"}, {"m16n8k64"}, {}, {E::F16, E::F32}},
    {P::Plain,
     E::S8,
     {"m8n8k16", "m16n8k16", "m16n8k32"},
     {"m16n8k32", "m16n8k64"},
     {"m16n16k16", "m32n8k16", "m8n32k16"},
     {E::S32}},
    {P::Plain,
     E::S4,
     {"m8n8k32", "m16n8k32", "m16n8k64"},
     {"m16n8k64", "m16n8k128"},
     {"m8n8k32"},
     {E::S32}},
    {P::Plain, E::B1, {"m8n8k128", "m16n8k128", "m16n8k256"}, {}, {"m8n8k128"}, {E::S32}},
    {P::F8F6F4, E::E2M1, {"m16n8k16", "m16n8k32"}, {"m16n8k64"}, {}, {E::F16, E::F32}},
    {P::MXF8F6F4, E::E2M1, {"m16n8k32"}, {"m16n8k64"}, {}, {E::F32}},
    {P::MXF4, E::PackedE2M1, {"m16n8k64"}, {"m16n8k128"}, {}, {E::F32}},
    {P::MXF4NVF4, E::PackedE2M1, {"m16n8k64"}, {"m16n8k128"}, {}, {E::F32}},
};

/// Returns the format that represents all formats with the same combinations.
E family_of(E element, ProductKind kind) {
    switch (element) {
    case E::E4M3:
    case E::E5M2:
        return kind == P::Plain ? E::E4M3 : E::E2M1;
    case E::E3M2:
    case E::E2M3:
        return E::E2M1;
    case E::U8:
        return E::S8;
    case E::U4:
        return E::S4;
    default:
        return element;
    }
}

bool is_eight_bit_float(E element) {
    return element == E::E4M3 || element == E::E5M2;
}

template <typename T>
bool contains(const std::initializer_list<T>& list, const T& value) {
    return std::find(list.begin(), list.end(), value) != list.end();
}

/// Everything that the modifiers of a product specify.
struct ProductForm {
    MatrixShape shape{};
    ProductKind kind = P::Plain;
    bool is_wmma = false;
    bool is_sparse = false;
    bool is_ordered = false; // mma.sp::ordered_metadata
    bool is_saturating = false;
    bool is_scaled = false;
    bool has_count = false; // .popc
    int bitwise = -1;       // .xor, .and
    int scale_type = -1;    // .ue8m0, .ue4m3
    unsigned scales = 0;    // per row of A
    Rounding rounding = Rounding::Nearest;
    std::vector<bool> is_column; // of A, B: .col rather than .row
    E a{};
    E b{};
    E c{};
    E d{};

    /// Returns how many columns of A are stored.
    [[nodiscard]] unsigned stored_columns() const { return shape.k / (is_sparse ? 2 : 1); }

    [[nodiscard]] bool is_quads() const { return !is_wmma && a == E::F16 && shape.k == 4; }
};

/// Takes everything except layouts and types, in any order.
void take_options(Reader& reader, ProductForm& form) {
    form.kind = static_cast<ProductKind>(
        1 + reader.take_one_of({"kind::f8f6f4", "kind::mxf8f6f4", "kind::mxf4", "kind::mxf4nvf4"}));
    form.is_scaled = reader.take("block_scale");
    const int size = reader.take_one_of({"scale_vec::1X", "scale_vec::2X", "scale_vec::4X"});
    form.scale_type = reader.take_one_of({"ue8m0", "ue4m3"});
    form.is_saturating = reader.take("satfinite");
    form.bitwise = reader.take_one_of({"xor", "and"});
    form.has_count = reader.take("popc");
    bool is_rounding = false;
    form.rounding = reader.take_rounding(&is_rounding);
    if (is_rounding && !reader.has("f64")) {
        reader.reject("has a rounding modifier, which only f64 allows");
    }
    if (form.is_scaled != (form.kind >= P::MXF8F6F4) || form.is_scaled != (form.scale_type >= 0)) {
        reader.reject("needs .block_scale and the type of the scales for .kind::mxf8f6f4, "
                      ".kind::mxf4 and .kind::mxf4nvf4, and for these only");
        return;
    }
    if (!form.is_scaled) {
        if (size >= 0) {
            reader.reject("has .scale_vec without .block_scale");
        }
        return;
    }
    if (size < 0 && form.kind == P::MXF4NVF4) {
        reader.reject("needs .scale_vec::2X or .scale_vec::4X");
    }
    const unsigned usual = form.kind == P::MXF8F6F4 ? 1 : 2;
    form.scales = size < 0 ? usual : 1u << size;
    const bool is_four = form.kind == P::MXF4NVF4 && form.scales == 4;
    if ((form.scales != usual && !is_four) || (form.scale_type == 1 && !is_four)) {
        reader.reject("combines a kind, a scale type and a scale count that do not fit");
    }
}

/// Takes layouts and types, which come last and in a fixed order.
void take_layouts_and_types(Reader& reader, ProductForm& form) {
    while (reader.peek() == "row" || reader.peek() == "col") {
        form.is_column.push_back(reader.take_any() == "col");
    }
    if (form.is_column.size() != 2) {
        reader.reject("needs the layouts of both factors");
        return;
    }
    // The types are those of D, A, B, C; wmma.mma of f16 names only D and C.
    std::vector<E> elements;
    while (!reader.has_failed() && !reader.peek().empty() && elements.size() < 4) {
        if (const std::optional<E> element = take_matrix_element(reader)) {
            elements.push_back(*element);
        }
    }
    if (form.is_wmma && elements.size() == 2) {
        elements = {elements[0], E::F16, E::F16, elements[1]};
    }
    if (elements.size() != 4) {
        reader.reject("names too few types");
        return;
    }
    form.d = elements[0];
    form.a = elements[1];
    form.b = elements[2];
    form.c = elements[3];
    if (form.kind >= P::MXF4) { // two elements in a byte
        for (E* const element : {&form.a, &form.b}) {
            *element = *element == E::E2M1 ? E::PackedE2M1 : *element;
        }
    }
}

/// Refuses invalid combinations.
void check_product(Reader& reader, const ProductForm& form) {
    const E family = family_of(form.a, form.kind);
    const auto* const found = std::find_if(
        std::begin(COMBINATIONS), std::end(COMBINATIONS), [&](const Combination& entry) {
            return entry.kind == form.kind && entry.factor == family;
        });
    const bool is_known =
        found != std::end(COMBINATIONS) && family_of(form.b, form.kind) == family &&
        contains(form.is_wmma     ? found->wmma_shapes
                 : form.is_sparse ? found->sparse_shapes
                                  : found->mma_shapes,
                 form.shape.name) &&
        contains(found->accumulators, form.c) && contains(found->accumulators, form.d);
    const bool may_differ = form.is_wmma || (form.is_quads() && form.d == E::F32);
    // Unordered metadata does not support f16 accumulators of 8-bit floats, and the k16 shape does
    // not support floats narrower than 8 bits.
    const bool is_byte = is_eight_bit_float(form.a) && is_eight_bit_float(form.b);
    const bool is_too_narrow =
        (form.is_sparse && !form.is_ordered && is_byte && form.c == E::F16) ||
        (form.kind == P::F8F6F4 && form.shape.k == 16 && !is_byte);
    if (!is_known || (form.c != form.d && !may_differ) || is_too_narrow) {
        reader.refuse("combines a shape and types that are not known here");
        return;
    }
    const bool has_layouts = form.is_wmma ? bits_in(form.a) >= 8 : form.is_quads();
    if (!has_layouts && (form.is_column[0] || !form.is_column[1])) {
        reader.reject("needs .row.col");
    }
    if (form.is_sparse && form.kind != P::Plain && !form.is_ordered) {
        reader.reject("needs .sp::ordered_metadata with a .kind");
    }
    if (form.is_saturating && form.d != E::S32) {
        reader.refuse("has .satfinite, which is supported for integers only");
    }
    if (form.is_saturating && form.a == E::B1) {
        reader.reject("cannot have .satfinite with b1");
    }
    if ((form.a == E::B1) != (form.bitwise >= 0 && form.has_count) ||
        (form.bitwise >= 0) != form.has_count) {
        reader.reject("needs .xor.popc or .and.popc for b1, and for b1 only");
    }
}

bytecode::Instruction describe(const ProductForm& form) {
    unsigned tag = form.is_wmma ? MATRIX_FRAGMENT : 0;
    tag |= form.is_saturating ? MATRIX_SATURATING : 0;
    tag |= form.bitwise == 1 ? MATRIX_BITWISE_AND : 0;
    tag |= static_cast<unsigned>(form.rounding) << MATRIX_ROUNDING_SHIFT;
    tag |= form.is_sparse ? MATRIX_SPARSE : 0;
    tag |= form.scales << MATRIX_SCALES_SHIFT;
    tag |= form.scale_type == 1 ? MATRIX_SCALE_UE4M3 : 0;
    tag |= form.is_quads() && form.is_column[0] ? MATRIX_A_COLUMN : 0;
    tag |= form.is_quads() && !form.is_column[1] ? MATRIX_B_ROW : 0;
    bytecode::Instruction rest;
    rest.tag = static_cast<std::uint16_t>(tag);
    rest.immediate = static_cast<std::int64_t>(
        form.shape.m | form.shape.n << 8 | std::uint64_t{form.shape.k} << 16 |
        static_cast<std::uint64_t>(form.c) << 32 | static_cast<std::uint64_t>(form.d) << 40 |
        static_cast<std::uint64_t>(form.a) << 48 | static_cast<std::uint64_t>(form.b) << 56);
    return rest;
}

/// Resolves the metadata and the selector of mma.sp, operands `index` and `index + 1`.
void add_metadata(Reader& reader, const ProductForm& form, std::size_t index,
                  std::vector<Operand>& sources, bytecode::Instruction& rest) {
    sources.push_back(reader.source(index, Type::B32));
    const ptx::Operand& selector = reader.operand(index + 1);
    if (selector.kind != Kind::Integer) {
        reader.reject("needs a constant as the sparsity selector");
        return;
    }
    // Either 8, 16 or 32 lanes hold the metadata.
    const unsigned chunk = form.a == E::TF32 ? 2 : bits_in(form.a) == 4 ? 8 : 4;
    const unsigned selectors = 16 / (form.shape.k / chunk);
    if (selector.bits >= selectors) {
        reader.reject("has the sparsity selector " + std::to_string(selector.bits) +
                      "; expected less than " + std::to_string(selectors));
    }
    rest.tag |= static_cast<std::uint16_t>(selector.bits << MATRIX_SELECTOR_SHIFT);
}

/// Resolves the scales of one factor and their selector, operands `index` and `index + 1`.
void add_scales(Reader& reader, std::size_t index, std::vector<Operand>& sources) {
    sources.push_back(reader.source(index, Type::B32));
    const ptx::Operand& selectors = reader.operand(index + 1);
    if (selectors.kind != Kind::Vector || selectors.parts.size() != 2) {
        reader.reject("needs {byte-id, thread-id} as operand " + std::to_string(index + 2));
        return;
    }
    for (const ptx::Operand& part : selectors.parts) {
        sources.push_back(reader.source(part, Type::U16));
    }
}

/// Decodes the common part of mma and wmma.mma after the shape.
void decode_product(Reader& reader, ProductForm& form) {
    take_options(reader, form);
    take_layouts_and_types(reader, form);
    const std::size_t operands = 4 + (form.is_sparse ? 2u : 0u) + (form.is_scaled ? 4u : 0u);
    if (!reader.finish(operands)) {
        return;
    }
    check_product(reader, form);
    if (reader.has_failed()) {
        return;
    }
    bytecode::Instruction rest = describe(form);
    // In wmma a lane has eight registers of an f16 factor for every shape. m8n8k4 of halves is four
    // products.
    constexpr unsigned PADDED_REGISTERS = 8;
    const bool is_padded = form.is_wmma && form.a == E::F16;
    const unsigned products = form.is_quads() ? 4 : 1;
    const auto registers = [&](E element, unsigned elements, bool is_factor) {
        return is_padded && is_factor ? PADDED_REGISTERS
                                      : matrix_registers(element, elements * products);
    };
    const MatrixShape& shape = form.shape;
    std::vector<Operand> destinations;
    std::vector<Operand> sources;
    add_matrix_registers(reader, 0, registers(form.d, shape.m * shape.n, false),
                         matrix_register_type(form.d), true, destinations);
    add_matrix_registers(reader, 1, registers(form.a, shape.m * form.stored_columns(), true),
                         matrix_register_type(form.a), false, sources);
    add_matrix_registers(reader, 2, registers(form.b, shape.n * shape.k, true),
                         matrix_register_type(form.b), false, sources);
    add_matrix_registers(reader, 3, registers(form.c, shape.m * shape.n, false),
                         matrix_register_type(form.c), false, sources);
    if (form.is_sparse) {
        add_metadata(reader, form, 4, sources, rest);
    }
    if (form.is_scaled) {
        add_scales(reader, operands - 4, sources);
        add_scales(reader, operands - 2, sources);
    }
    const MatrixOp op = form.is_quads()                    ? MatrixOp::MultiplyQuads
                        : form.is_sparse || form.is_scaled ? MatrixOp::MultiplyParts
                                                           : MatrixOp::Multiply;
    emit_matrix(reader, {.op = op, .a = form.a, .is_scaled = form.is_scaled}, destinations, sources,
                rest);
}

/// Decodes a product from its shape on.
void decode_from_shape(Reader& reader, ProductForm form) {
    need_sync_aligned(reader);
    if (const std::optional<MatrixShape> shape = take_matrix_shape(reader)) {
        form.shape = *shape;
        decode_product(reader, form);
    }
}

} // namespace

std::optional<MatrixShape> take_matrix_shape(Reader& reader) {
    for (const MatrixShape& shape : SHAPES) {
        if (reader.take(shape.name)) {
            return shape;
        }
    }
    reader.refuse("has a shape that is not known here");
    return std::nullopt;
}

std::optional<E> take_matrix_element(Reader& reader) {
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

bool has_fragment(std::string_view shape, E element, bool is_accumulator) {
    return std::any_of(std::begin(COMBINATIONS), std::end(COMBINATIONS),
                       [&](const Combination& entry) {
                           return contains(entry.wmma_shapes, shape) &&
                                  (is_accumulator ? contains(entry.accumulators, element)
                                                  : entry.factor == family_of(element, P::Plain));
                       });
}

unsigned bits_in(E element) noexcept {
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
    case E::PackedE2M1:
    case E::S4:
    case E::U4:
        return 4;
    case E::B1:
        return 1;
    default:
        return 8;
    }
}

Type matrix_register_type(E element) noexcept {
    return element == E::F64 ? Type::F64 : element == E::F32 ? Type::F32 : Type::B32;
}

unsigned matrix_registers(E element, unsigned elements) noexcept {
    const unsigned per_register = std::max(32 / bits_in(element), 1u);
    return elements / per_register / bytecode::WARP_SIZE;
}

void need_sync_aligned(Reader& reader) {
    if (!reader.take("sync")) {
        reader.reject("needs .sync");
    }
    if (!reader.take("aligned")) {
        reader.reject("needs .aligned");
    }
}

void add_matrix_registers(Reader& reader, std::size_t index, unsigned count, Type type,
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

void emit_matrix(Reader& reader, const MatrixForm& form, std::span<const Operand> destinations,
                 std::span<const Operand> sources, const bytecode::Instruction& rest,
                 const AccessNote* note) {
    if (reader.has_failed()) {
        return;
    }
    reader.lowering().emit_rendezvous(reader.lowering().constant(bytecode::FULL_MASK, Width::B32));
    if (note != nullptr) {
        reader.lowering().note_access(*note);
    }
    reader.emit(form, destinations, sources, rest);
}

void decode_mma(Reader& reader) {
    ProductForm form;
    form.is_ordered = reader.take("sp::ordered_metadata");
    form.is_sparse = reader.take("sp") || form.is_ordered;
    decode_from_shape(reader, form);
}

void decode_wmma_product(Reader& reader) {
    // Fragments do not depend on the layout, because loading has already sorted the elements.
    ProductForm form;
    form.is_wmma = true;
    decode_from_shape(reader, form);
}

} // namespace cuprum::emulator::decoding
