// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// wgmma: products of a warpgroup, and the instructions that order them.

#include "decode/matrix.hpp"

#include <algorithm>
#include <charconv>

namespace cuprum::emulator::decoding {

using bytecode::Operand;
using bytecode::Width;
using ptx::Type;
using Kind = ptx::Operand::Kind;
using E = MatrixElement;

namespace {

constexpr unsigned MAX_COLUMNS = 256;
constexpr unsigned ROW_BITS = 256; // of the elements of A that are stored

/// What the modifiers of wgmma.mma_async specify.
struct GroupProduct {
    unsigned n = 0;
    unsigned k = 0;
    bool is_sparse = false;
    bool is_saturating = false;
    E d{};
    E a{};
    E b{};

    [[nodiscard]] bool is_integer() const { return d == E::S32; }

    /// Returns whether the instruction says for each factor in shared memory how it is laid out.
    [[nodiscard]] bool has_transposes() const { return bits_in(a) == 16; }
};

/// Rejects the instruction unless the module is for the only architecture that has it.
bool needs_own_target(Reader& reader) {
    if (reader.lowering().target() == "sm_90a") {
        return false;
    }
    reader.reject("needs .target sm_90a; compile for compute_90a or sm_90a (the name with the "
                  "letter a), not for another architecture");
    return true;
}

/// Takes .m64nNkK.
bool take_group_shape(Reader& reader, GroupProduct& product) {
    const std::string_view word = reader.peek();
    const std::size_t n_at = word.find('n');
    const std::size_t k_at = word.find('k');
    if (!word.starts_with("m64n") || k_at == std::string_view::npos) {
        reader.reject("needs a shape, .m64nNkK, after .sync.aligned");
        return false;
    }
    const char* const end = word.data() + word.size();
    const auto n = std::from_chars(word.data() + n_at + 1, word.data() + k_at, product.n);
    const auto k = std::from_chars(word.data() + k_at + 1, end, product.k);
    if (n.ptr != word.data() + k_at || k.ptr != end || n.ec != std::errc{} || k.ec != std::errc{}) {
        reader.reject("has a shape that is no .m64nNkK");
        return false;
    }
    (void)reader.take_any();
    return true;
}

bool is_float_factor(E element) {
    return element == E::F16 || element == E::BF16 || element == E::TF32 || element == E::E4M3 ||
           element == E::E5M2;
}

/// Rejects types and shapes that do not fit together.
void check_group_product(Reader& reader, const GroupProduct& product) {
    const bool is_byte_float = product.a == E::E4M3 || product.a == E::E5M2;
    const bool is_byte_integer = product.a == E::S8 || product.a == E::U8;
    const bool same_kind = is_byte_float     ? product.b == E::E4M3 || product.b == E::E5M2
                           : is_byte_integer ? product.b == E::S8 || product.b == E::U8
                                             : product.a == product.b;
    const bool has_half = product.a == E::F16 || is_byte_float;
    const bool fits_d = is_float_factor(product.a)
                            ? product.d == E::F32 || (product.d == E::F16 && has_half)
                            : product.d == E::S32 && (is_byte_integer || product.a == E::B1);
    if (!same_kind || !fits_d) {
        reader.reject("combines types that do not fit; expected f16 or f32 with f16 or 8-bit "
                      "floats, f32 with bf16 or tf32, s32 with s8, u8 or b1");
        return;
    }
    const unsigned expected = ROW_BITS / bits_in(product.a) * (product.is_sparse ? 2 : 1);
    if (product.k != expected) {
        reader.reject("has k = " + std::to_string(product.k) + "; expected " +
                      std::to_string(expected) + " for these types");
    }
    // Integers have fewer sizes: multiples of 16, and 8 and 24.
    const bool is_small = product.n == 8 || product.n == 24;
    const unsigned step = product.is_integer() ? 16 : 8;
    if (product.n == 0 || product.n > MAX_COLUMNS || (product.n % step != 0 && !is_small)) {
        reader.reject("has n = " + std::to_string(product.n) + "; expected " +
                      (product.is_integer() ? "8, 24 or a multiple of 16" : "a multiple of 8") +
                      " up to 256");
    }
    if (product.is_saturating && !is_byte_integer) {
        reader.reject("has .satfinite, which only products of s8 and u8 allow");
    }
    if (product.is_sparse && product.a == E::B1) {
        reader.reject("cannot have .sp with b1");
    }
}

/// Takes everything after the shape.
void take_group_types(Reader& reader, GroupProduct& product) {
    product.is_saturating = reader.take("satfinite");
    const bool is_and = reader.take("and");
    const bool has_count = reader.take("popc");
    E* const elements[] = {&product.d, &product.a, &product.b};
    for (E* const element : elements) {
        const std::optional<E> taken = take_matrix_element(reader);
        if (!taken) {
            return;
        }
        *element = *taken;
    }
    if ((product.a == E::B1) != (is_and && has_count) || is_and != has_count) {
        reader.reject("needs .and.popc for b1, and for b1 only");
    }
    check_group_product(reader, product);
}

/// Returns the constant operand `index`, which must be one of two values.
bool constant_operand(Reader& reader, std::size_t index, std::string_view name, std::int64_t first,
                      std::int64_t second, std::int64_t& value) {
    const ptx::Operand& operand = reader.operand(index);
    value = operand.kind == Kind::Integer ? static_cast<std::int64_t>(operand.bits) : 0;
    if (operand.kind != Kind::Integer || (value != first && value != second)) {
        const std::string other = second != first ? " or " + std::to_string(second) : "";
        reader.reject("needs the constant " + std::to_string(first) + other + " as operand " +
                      std::to_string(index + 1) + ", " + std::string(name));
        return false;
    }
    return true;
}

/// Reads the constants at the end of the instruction, from operand `index` on.
void take_constants(Reader& reader, const GroupProduct& product, std::size_t index, unsigned& tag) {
    std::int64_t value = 0;
    if (!product.is_integer()) {
        bool is_negated = false;
        for (const std::string_view name : {"imm-scale-a", "imm-scale-b"}) {
            if (!constant_operand(reader, index++, name, -1, 1, value)) {
                return;
            }
            is_negated ^= value < 0;
        }
        tag |= is_negated ? WARPGROUP_NEGATED : 0;
    }
    if (product.has_transposes()) {
        if ((tag & WARPGROUP_A_REGISTERS) == 0) {
            if (!constant_operand(reader, index++, "imm-trans-a", 0, 1, value)) {
                return;
            }
            tag |= value != 0 ? WARPGROUP_A_COLUMN : 0;
        }
        if (!constant_operand(reader, index++, "imm-trans-b", 0, 1, value)) {
            return;
        }
        tag |= value != 0 ? WARPGROUP_B_ROW : 0;
    }
}

void decode_group_product(Reader& reader) {
    GroupProduct product;
    product.is_sparse = reader.take("sp");
    need_sync_aligned(reader);
    if (reader.has_failed() || !take_group_shape(reader, product)) {
        return;
    }
    take_group_types(reader, product);
    if (reader.has_failed() || reader.operand_count() < 2) {
        reader.reject("needs more operands");
        return;
    }
    const bool in_registers = reader.operand(1).kind == Kind::Vector;
    const std::size_t scale = product.is_sparse ? 5 : 3; // the operand scale-d
    const std::size_t transposes = product.has_transposes() ? (in_registers ? 1 : 2) : 0;
    if (!reader.finish(scale + 1 + (product.is_integer() ? 0 : 2) + transposes)) {
        return;
    }
    unsigned tag = in_registers ? WARPGROUP_A_REGISTERS : 0;
    tag |= product.is_sparse ? WARPGROUP_SPARSE : 0;
    tag |= product.is_saturating ? WARPGROUP_SATURATING : 0;
    take_constants(reader, product, scale + 1, tag);
    std::int64_t selector = 0;
    if (product.is_sparse) {
        const std::int64_t most = bits_in(product.a) >= 16 ? 1 : 0;
        if (!constant_operand(reader, 4, "the sparsity selector", 0, most, selector)) {
            return;
        }
        tag |= selector != 0 ? WARPGROUP_SELECTOR : 0;
    }
    if (reader.has_failed()) {
        return;
    }
    bytecode::Instruction rest;
    rest.tag = static_cast<std::uint16_t>(tag);
    const Operand scale_d =
        reader.predicate(reader.operand(scale), rest.tag, WARPGROUP_SCALE_NEGATED);
    rest.flags = bytecode::HAS_SIDE_EFFECT;
    rest.immediate = static_cast<std::int64_t>(
        product.n | std::uint64_t{product.k} << 16 | static_cast<std::uint64_t>(product.d) << 32 |
        static_cast<std::uint64_t>(product.a) << 40 | static_cast<std::uint64_t>(product.b) << 48);
    // Each of the four warps has 16 rows of D.
    const unsigned results = matrix_registers(product.d, WARPGROUP_ROWS / 4 * product.n);
    std::vector<Operand> destinations;
    std::vector<Operand> sources{reader.source(2, Type::B64), scale_d,
                                 product.is_sparse ? reader.source(3, Type::B32)
                                                   : reader.lowering().constant(0, Width::B32)};
    if (in_registers) {
        add_matrix_registers(reader, 1, WARPGROUP_A_COUNT, Type::B32, false, sources);
    } else {
        sources.push_back(reader.source(1, Type::B64));
    }
    const Type type = matrix_register_type(product.d);
    add_matrix_registers(reader, 0, results, type, true, destinations);
    add_matrix_registers(reader, 0, results, type, false, sources);
    emit_matrix(reader, {.op = MatrixOp::MultiplyWarpgroup, .a = product.a}, destinations, sources,
                rest);
}

/// Decodes wgmma.fence, wgmma.commit_group and wgmma.wait_group: products are complete at once.
void decode_group_order(Reader& reader, bool waits) {
    need_sync_aligned(reader);
    if (!reader.finish(waits ? 1 : 0)) {
        return;
    }
    if (waits && reader.operand(0).kind != Kind::Integer) {
        reader.reject("needs a constant number of groups that may be pending");
        return;
    }
    reader.lowering().emit_rendezvous(reader.lowering().constant(bytecode::FULL_MASK, Width::B32));
}

} // namespace

void decode_warpgroup(Reader& reader) {
    if (needs_own_target(reader)) {
        return;
    }
    if (reader.take("mma_async")) {
        decode_group_product(reader);
    } else if (reader.take("fence") || reader.take("commit_group")) {
        decode_group_order(reader, false);
    } else if (reader.take("wait_group")) {
        decode_group_order(reader, true);
    } else {
        reader.reject("needs .mma_async, .fence, .commit_group or .wait_group");
    }
}

} // namespace cuprum::emulator::decoding
