// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Emits the instructions that only compute: the same results as the interpreter's handlers
// (interp/handlers), bit for bit.
//
// An instruction is emitted for all lanes of a gang as vectors or, if its sources are uniform, once
// as scalars; the code is the same. There is no control flow, and no instruction has an effect, so
// lanes that are not in the mask of a gang may compute anything.
//
// What must not be left to LLVM: conversions to integers that do not fit, shifts by the width or
// more, and division by zero are undefined there. The bits of a NaN are not determined there, so
// NaNs are made canonical by operations on integers.

#pragma once

#include "bytecode/forms.hpp"
#include "bytecode/kernel.hpp"

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>

#include <cstdint>
#include <string_view>

namespace cuprum::emulator::jit {

/// What the processor can do that code is made for.
struct Target {
    bool is_x86 = false;
    bool has_fma = false;    // and, on x86, AVX2 and F16C
    bool has_avx512 = false; // F, BW, DQ, VL
    // The processor treats subnormal numbers as zeros while the code runs (x86's FTZ and DAZ), so
    // that .ftz costs nothing. Only for code in which every instruction allows it
    // (ValueEmitter::allows_flushing).
    bool flushes = false;

    /// Returns the target of an instruction-set level: isa_v2, isa_v3, isa_v4, isa_generic.
    [[nodiscard]] static Target of(std::string_view level);
};

/// Emits instructions that only compute. Values are canonical: i1 for predicates, i32, i64 or i128
/// by the width of the register, or vectors of `lanes` of these. The bits above 8- and 16-bit
/// values are undefined, as in the interpreter.
class ValueEmitter {
public:
    /// With one lane, values are scalars.
    ValueEmitter(llvm::IRBuilder<>& ir, const bytecode::Kernel& kernel, unsigned lanes,
                 const Target& target);

    /// Returns source `index` of the instruction as a canonical value of this width. The further
    /// sources in Kernel::operands are counted behind Instruction::src_count.
    using Source = llvm::function_ref<llvm::Value*(unsigned index, bytecode::Width width)>;

    using Results = llvm::SmallVectorImpl<llvm::Value*>;

    /// Appends one value for each destination, those in Kernel::operands last; null for a
    /// destination that is absent. Returns false, having emitted nothing, if only the handler can
    /// run the instruction.
    ///
    /// Without `bits_escape`, a NaN of single precision need not be canonical: no reader of the
    /// result looks at its bits (reads_bits).
    bool emit(const bytecode::Instruction& at, Source source, Results& results,
              bool bits_escape = true);

    /// Returns whether emit() would succeed.
    [[nodiscard]] static bool can_emit(const bytecode::Instruction& at, const Target& target);

    /// Returns whether the code of an instruction gives the right results while the processor
    /// flushes subnormal numbers. Code of other families must not compute with floats itself.
    [[nodiscard]] static bool allows_flushing(const bytecode::Instruction& at,
                                              const Target& target);

    /// Returns whether a kernel has instructions with .ftz, and its code gives the right results
    /// while the processor flushes subnormal numbers (Target::flushes).
    [[nodiscard]] static bool can_flush(const bytecode::Kernel& kernel, const Target& target);

    /// Returns whether the result of an instruction depends on the bits of a NaN in its sources,
    /// beyond their being a NaN.
    [[nodiscard]] static bool reads_bits(const bytecode::Instruction& at);

private:
    using V = llvm::Value*;

    // ---- types and constants
    [[nodiscard]] llvm::Type* shaped(llvm::Type* scalar) const;
    [[nodiscard]] llvm::Type* integer(unsigned bits) const;
    [[nodiscard]] llvm::Type* single() const;
    [[nodiscard]] llvm::Type* real() const; // f64
    [[nodiscard]] V number(unsigned bits, std::uint64_t value) const;
    [[nodiscard]] V single_constant(float value) const;
    [[nodiscard]] V real_constant(double value) const;

    [[nodiscard]] V n32(std::uint32_t value) const { return number(32, value); }

    [[nodiscard]] V n64(std::uint64_t value) const { return number(64, value); }

    // ---- sources and results
    V word(unsigned index);      // of 32 bits
    V quad(unsigned index);      // of 64 bits
    V predicate(unsigned index); // not negated
    V as_single(V bits);
    V as_real(V bits);
    V bits_of(V value); // of a float
    void give(V value); // as integers
    [[nodiscard]] bytecode::Operand destination(unsigned index) const;

    // ---- integers
    V extend(V value, unsigned bits, bool is_signed); // from the low bits of a value
    V resize(V value, unsigned bits, bool is_signed);
    V select(V condition, V yes, V no);
    V intrinsic(llvm::Intrinsic::ID id, llvm::ArrayRef<V> arguments); // of the first one's type
    V high_product(V a, V b, unsigned bits, bool is_signed);
    V clamp(V value, std::int64_t least, std::int64_t most);
    V shift_left(V value, V amount);
    V shift_right(V value, V amount, bool is_signed);

    // ---- floats
    V flush(V value);         // subnormal f32 to zero
    V flush_operand(V value); // of arithmetic: unless the processor does that
    V canonical(V value);     // f32, whatever bits_escape is
    V escape(V value);        // canonical if the bits escape
    V saturate(V value);      // to [0, 1]; a NaN becomes 0
    V is_nan(V value);
    V fused(V a, V b, V c);
    V sum_to_odd(V product, V addend);
    V sum_error(V sum, V product, V addend);
    V round_to_integer(V value, Rounding rounding);

    /// Rounds the sum of a number of double precision and its error, if there is one, to single
    /// precision.
    V narrow(V value, V error, Rounding rounding);

    // ---- halves: as numbers of 16 bits, or in the low bits of 32
    V like(V value, std::uint64_t number); // a constant of the same type
    V widen_half(V bits, bool is_bfloat);
    V narrow_half(V value, bool is_bfloat, unsigned width); // makes a NaN canonical
    V flush_half(V bits, bool is_bfloat);
    V half_arithmetic(const FloatForm& form, V a, V b, V c);
    V half_extreme(const FloatForm& form, V a, V b);
    V fused_half(V a, V b, V c, bool is_bfloat); // rounded to odd
    V is_half_nan(V bits, bool is_bfloat);

    // ---- families
    [[nodiscard]] static bool flushes(const bytecode::Instruction& at); // has .ftz
    [[nodiscard]] static bool can_emit_move(const MoveForm& form);
    [[nodiscard]] static bool can_emit_float(const FloatForm& form, const Target& target);
    [[nodiscard]] static bool can_emit_half(const FloatForm& form);
    [[nodiscard]] static bool can_emit_convert(const ConvertForm& form);
    void emit_move(const MoveForm& form);
    void emit_pack_parts(const MoveForm& form);
    void emit_unpack(const MoveForm& form);
    void emit_integer(const IntegerForm& form);
    void emit_packed(const IntegerForm& form);
    V quotient_of(V a, V divisor, V shared, bool is_signed);
    void emit_divide(const IntegerForm& form, V a, V b);
    void emit_dot(const DotForm& form);
    void emit_carry(const CarryForm& form);
    void emit_pack(const PackForm& form);
    void emit_bits(const BitsForm& form);
    void emit_field(const BitsForm& form);
    V lop3(unsigned table, V a, V b, V c);
    V select_bytes(PrmtMode mode, V a, V b, V selector);
    [[nodiscard]] static unsigned byte_number(PrmtMode mode, unsigned selector, unsigned i);
    V low_ones(V count, unsigned bits);
    void emit_compare(const CompareForm& form);
    void emit_half_compare(const CompareForm& form);
    V compare_numbers(Compare compare, V a, V b);
    V combine(V result);
    void emit_convert(const ConvertForm& form);
    V integer_to_integer(const ConvertForm& form, V value);
    V integer_to_float(const ConvertForm& form, V value);
    V float_to_integer(const ConvertForm& form, V value);
    V float_to_float(const ConvertForm& form, V value);
    V to_half(const ConvertForm& form, V value);
    void emit_float(const FloatForm& form);
    void emit_half(const FloatForm& form);
    void emit_test(const FloatForm& form);
    V arithmetic(const FloatForm& form, V a, V b, V c);
    V compute(FloatOp op, V a, V b, V c, Rounding rounding);
    V compute_directed(FloatOp op, V a, V b, V c, Rounding rounding);
    V compute_with_avx512(FloatOp op, V a, V b, V c, Rounding rounding);
    V compute_in_double(FloatOp op, V a, V b, V c, Rounding rounding);
    bool is_never_zero_or_nan(V value);
    V flush_smallest_normal(FloatOp op, V result, V a, V b, V c, Rounding rounding);
    V extreme(const FloatForm& form, V a, V b);
    V change_sign(const FloatForm& form, V a);
    V approximate_quotient(const FloatForm& form, V a, V b);
    V function(const FloatForm& form, V a);
    V evaluate(FloatOp op, V a);
    V upper_half(FloatOp op, V a);
    V exp2_of(V x);
    V log2_of(V x);
    V sine_of(V x, bool is_cosine);
    V tanh_of(V x);
    V polynomial(V x, llvm::ArrayRef<double> coefficients);

    llvm::IRBuilder<>& ir_;
    const bytecode::Kernel& kernel_;
    unsigned lanes_;
    Target target_;

    // The instruction that is being emitted.
    const bytecode::Instruction* at_ = nullptr;
    Source* source_ = nullptr;
    Results* results_ = nullptr;
    bool bits_escape_ = true;
};

} // namespace cuprum::emulator::jit
