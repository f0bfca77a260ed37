// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The common tool of all decoders. It takes each word of an instruction at most once, and offers
// short ways to resolve operands and emit bytecode.

#pragma once

#include "bytecode/forms.hpp"
#include "decode/decode.hpp"
#include "ptx/tree.hpp"
#include "ptx/type_sizes.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::emulator::decoding {

/// A reader of one instruction's modifiers and operands.
///
/// Each decoder takes the modifiers that it understands. If one is left over, `finish` refuses the
/// instruction and names it, so nothing is ignored by accident.
class Reader {
public:
    /// Whether the reader keeps a list of the modifiers that a decoder asks for. Only a refusal
    /// needs it, so decode() reads an instruction again if a modifier is left over.
    enum class Lists : std::uint8_t { No, Yes };

    Reader(const ptx::Instruction& instruction, Lowering& lowering, Lists lists = Lists::Yes);

    [[nodiscard]] Lowering& lowering() const { return lowering_; }

    [[nodiscard]] std::string_view opcode() const { return instruction_.opcode; }

    /// Returns the instruction's name with all its modifiers.
    [[nodiscard]] std::string name() const;

    [[nodiscard]] std::span<const std::string_view> modifiers() const {
        return instruction_.modifiers;
    }

    /// Takes all modifiers: a row has them.
    void take_all() { taken_ = ~std::uint64_t{0}; }

    /// Refuses a modifier that is not one of `known`, and says which of them looks like it.
    void refuse_word(std::string_view modifier, std::span<const std::string_view> known);

    /// Takes a modifier. Returns whether it was present.
    bool take(std::string_view modifier);
    /// Takes a modifier. Rejects the instruction if it is not there.
    void need(std::string_view modifier);
    /// Returns whether a modifier is present and not taken.
    [[nodiscard]] bool has(std::string_view modifier) const;
    /// Takes the one of `modifiers` that is present and returns its index, or -1. Two of them are
    /// invalid.
    int take_one_of(std::initializer_list<std::string_view> modifiers);
    /// Takes the first modifier that names a type. Returns None if none is left.
    ptx::Type take_type();
    /// Takes a type. Refuses the instruction if there is none or it is not in the list.
    ptx::Type take_type_of(std::initializer_list<ptx::Type> allowed);
    /// Refuses an instruction without a known type.
    void reject_type();
    /// Takes the first remaining modifier of any kind. Returns an empty string if none is left.
    std::string_view take_any();
    /// Returns the first remaining modifier without taking it.
    [[nodiscard]] std::string_view peek() const;
    /// Takes .rn, .rz, .rm or .rp.
    Rounding take_rounding(bool* is_stated = nullptr);
    /// Whether an instruction states a scope: only with a memory order of several threads (not
    /// .weak or .volatile) and always with it, or as it likes.
    enum class Scope : std::uint8_t { WithOrder, Optional };

    /// Takes one of the memory orders and a scope. Returns whether the order is stronger than
    /// relaxed.
    bool take_order_and_scope(std::initializer_list<std::string_view> orders, Scope scope);

    /// The result of take_order_and_scope().
    struct Order {
        bool is_strong = false; // stronger than .weak: never part of a race
        bool acquires = false;
        bool releases = false;
        bool is_block_scope = false; // .cta
    };

    [[nodiscard]] const Order& order() const { return order_; }

    /// Takes an eviction priority of the first-level cache, which has no effect here. Returns
    /// whether there is one.
    bool take_priority();

    [[nodiscard]] std::size_t operand_count() const { return instruction_.operands.size(); }

    [[nodiscard]] const ptx::Operand& operand(std::size_t index) const {
        return instruction_.operands[index];
    }

    /// Ends the reading of modifiers. Refuses leftover modifiers and a wrong number of operands.
    /// Returns whether decoding may continue.
    [[nodiscard]] bool finish(std::size_t min_operands, std::size_t max_operands);

    [[nodiscard]] bool finish(std::size_t operands) { return finish(operands, operands); }

    /// Resolves operand `index` as a source of `type`.
    [[nodiscard]] bytecode::Operand source(std::size_t index, ptx::Type type);
    [[nodiscard]] bytecode::Operand source(const ptx::Operand& operand, ptx::Type type);
    [[nodiscard]] bytecode::Operand source(const ptx::Operand& operand, ptx::Type type,
                                           bytecode::Width width);
    /// Resolves operand `index` as a destination. A discarded one gets an unused register.
    [[nodiscard]] bytecode::Operand destination(std::size_t index, ptx::Type type);
    [[nodiscard]] bytecode::Operand destination(const ptx::Operand& operand, ptx::Type type);
    [[nodiscard]] bytecode::Operand destination(const ptx::Operand& operand, bytecode::Width width);
    /// Resolves a predicate source. Sets `bit` in `tag` if it is negated.
    [[nodiscard]] bytecode::Operand predicate(const ptx::Operand& operand, std::uint16_t& tag,
                                              std::uint16_t bit);

    /// Emits an instruction, or refuses it if no handler runs the form. Does nothing after a
    /// failure.
    void emit(const bytecode::Form& form, std::initializer_list<bytecode::Operand> destinations,
              std::initializer_list<bytecode::Operand> sources, std::uint16_t tag = 0);
    void emit(const bytecode::Form& form, std::span<const bytecode::Operand> destinations,
              std::span<const bytecode::Operand> sources, bytecode::Instruction rest);

    /// Refuses the instruction as unsupported: valid PTX that is not implemented here.
    void refuse(std::string_view reason);
    /// Refuses the instruction as invalid PTX.
    void reject(std::string_view reason);

    [[nodiscard]] bool has_failed() const { return has_failed_; }

    /// Returns whether finish() has found a modifier that nobody took and has not reported it,
    /// because there is no list of those that exist.
    [[nodiscard]] bool has_unreported() const { return has_unreported_; }

private:
    void note(std::string_view modifier);
    void refuse_leftover(std::string_view modifier);

    const ptx::Instruction& instruction_;
    Lowering& lowering_;
    std::uint64_t taken_ = 0; // bit i: modifier i is taken
    bool has_failed_ = false;
    bool has_unreported_ = false;
    Lists lists_;
    Order order_;
    std::vector<std::string_view> known_; // what a decoder has asked for; with Lists::Yes
};

[[nodiscard]] bool is_float(ptx::Type type) noexcept;

/// Returns whether rows describe an opcode.
[[nodiscard]] bool has_rows(std::string_view opcode);

// The decoders. Each handles the opcodes of one family.
void decode_move(Reader& reader);
void decode_address_conversion(Reader& reader);
void decode_rows(Reader& reader); // all opcodes that rows describe
void decode_lop3(Reader& reader);
void decode_convert(Reader& reader);
void decode_memory(Reader& reader);
void decode_video(Reader& reader);
void decode_hint(Reader& reader);
void decode_register_count(Reader& reader);
void decode_atomic(Reader& reader);
void decode_matrix(Reader& reader);
void decode_fence(Reader& reader);
void decode_membar(Reader& reader);
void decode_async_copy(Reader& reader);
void decode_async_arrive(Reader& reader); // the rest of a cp.async.mbarrier.arrive
void decode_mbarrier(Reader& reader);
void decode_cluster(Reader& reader);
void decode_launch_control(Reader& reader);
void decode_tensor_map(Reader& reader);
void decode_texture(Reader& reader);
void decode_texture_gather(Reader& reader);
void decode_image_query(Reader& reader);
void decode_reference_test(Reader& reader);
void decode_surface(Reader& reader);
void decode_warpgroup(Reader& reader);

/// Reads an instruction with `take`, which returns the result of finish(). Returns that. Reads it
/// again, for the message, if a modifier is left over.
template <typename Take>
[[nodiscard]] bool read(const ptx::Instruction& instruction, Lowering& lowering, Take take) {
    Reader reader(instruction, lowering, Reader::Lists::No);
    if (take(reader)) {
        return true;
    }
    if (reader.has_unreported()) {
        Reader again(instruction, lowering); // fails at the same place, with a list
        (void)take(again);
    }
    return false;
}

/// What the modifiers of ld, ldu and st say, except those of st.bulk.
struct MemoryAccess {
    ptx::Type type = ptx::Type::None;
    std::size_t count = 1; // of components
    bool is_vector = false;
    ptx::Space space = ptx::Space::None;
    bool reaches_cluster = true;      // an address in shared memory may be that of another block
    bool is_async = false;            // st.async
    bool tells_barrier = false;       // st.async with an mbarrier
    bool is_ordered = false;          // acquire or release
    bool is_read_only = false;        // .nc
    bool skips_cache = false;         // .cg or .cv
    bool has_hint = false;            // a cache policy follows as an operand
    bool has_second_priority = false; // an eviction priority of .L2
};

/// Takes the modifiers of a load or store and checks its operands against them. Returns whether
/// decoding may continue.
[[nodiscard]] bool take_memory_access(Reader& reader, MemoryAccess& access);

/// Rejects the instruction unless operand `index` is an address in brackets. Returns whether it is.
[[nodiscard]] bool need_address(Reader& reader, std::size_t index);

/// Rejects the instruction unless operand `index` is the constant `value`. Returns whether it is.
[[nodiscard]] bool need_constant(Reader& reader, std::size_t index, std::uint64_t value);

/// Rejects the instruction unless an offset in shared memory fits 32 bits. Returns whether it does.
[[nodiscard]] bool fits_shared(Reader& reader, std::int64_t offset);

/// Emits the delivery of announced bytes to the mbarrier at operand `index`.
void emit_delivery(Reader& reader, std::size_t index, ptx::Space space, bool reaches_cluster,
                   std::size_t bytes);

/// Decodes the rest of a cp.async.bulk copy and of a cp.reduce.async.bulk.
void decode_bulk_copy(Reader& reader);
void decode_bulk_reduction(Reader& reader);

/// Decodes the rest of a cp.async.bulk.tensor or cp.async.bulk.prefetch.tensor, or of a
/// cp.reduce.async.bulk.tensor.
void decode_tensor_copy(Reader& reader, bool reduces);

/// Decodes the rest of an st.bulk.
void decode_bulk_store(Reader& reader);

} // namespace cuprum::emulator::decoding
