// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The contract between decoders and handlers. A form describes exactly one variant of an
// instruction. A selector returns the handler that runs it, or nullptr if there is none.
//
// The handler sources are compiled once per instruction-set level, each time in a namespace of its
// own. The decoders exist once; they reach the chosen level through the table `Selectors`. The
// comment of a form lists what its handler reads besides the operands (`tag`, `immediate`,
// `access_bytes`).

#pragma once

#include "bytecode/kernel.hpp"
#include "ptx/tree.hpp"

#include <cstdint>

namespace cuprum::emulator {

/// The four rounding directions, numbered as x86's MXCSR numbers them.
enum class Rounding : std::uint8_t { Nearest = 0, Down = 1, Up = 2, Zero = 3 };

/// Copies, selections and reads of special registers.
enum class MoveOp : std::uint8_t {
    Copy,         // dst[0] = src[0], `width`
    Pack,         // dst[0] of `bytes` from parts of `part_bytes` each in src (extra if more than 4)
    Unpack,       // the reverse
    Select,       // dst[0] = src[2] ? src[0] : src[1]; tag 1: the predicate is negated
    SelectBySign, // slct.s32: dst[0] = src[2] >= 0 ? src[0] : src[1]
    SelectByFloatSign, // slct.f32; tag 1: .ftz
    IsShared,          // isspacep: dst[0] is a predicate
    IsLocal,
    IsGlobal,
    IsConstant,
    IsParam,
    ParameterBase, // dst[0] = src[0] + host address of the launch's parameters
    Clock,         // %clock, or %clock64 if `width` is B64
    ClockHigh,     // upper half of %clock64
    GlobalTimer,   // nanoseconds; the low half if `width` is B32
    GlobalTimerHigh,
    ActiveMask,
    Nothing, // accepted and ignored: prefetch, discard, pmevent...
};

struct MoveForm {
    MoveOp op{};
    bytecode::Width width = bytecode::Width::B32;
    std::uint8_t part_bytes = 0;
    std::uint8_t bytes = 0;
};

/// Integer arithmetic.
enum class IntegerOp : std::uint8_t {
    Add,
    Sub,
    MulLo,
    MulHi,
    MulWide,
    MadLo,
    MadHi,
    MadWide,
    Mul24Lo,
    Mul24Hi,
    Mad24Lo,
    Mad24Hi,
    Div,
    Rem,
    Min,
    Max,
    MinRelu,
    MaxRelu,
    Abs,
    Neg,
    Sad,
    CarrylessMadLo, // clmad: product and sum of polynomials over GF(2)
    CarrylessMadHi,
};

struct IntegerForm {
    IntegerOp op{};
    ptx::Type type{}; // u16, s16, u32, s32, u64, s64; of the parts if `is_packed`
    bool is_saturating =
        false;              // .sat of s32 add, sub, mad.hi, mad24.hi; of u32 and packed add, sub
    bool is_packed = false; // u16x2, s16x2, u8x4, s8x4
};

/// dp4a and dp2a: `tag` bit 0: a is signed, bit 1: b is signed, bit 2: dp2a.hi.
struct DotForm {
    bool is_four_way = true;
};

/// Bitwise operations. Predicates, which are masks of 32 lanes, have their own operations.
enum class BitsOp : std::uint8_t {
    And,
    Or,
    Xor,
    Not,
    Cnot,
    Shl,
    ShrUnsigned,
    ShrSigned,
    FunnelLeftWrap,
    FunnelLeftClamp,
    FunnelRightWrap,
    FunnelRightClamp,
    Lop3, // `lut`
    Popc,
    Clz,
    BfindUnsigned,
    BfindSigned,
    BfindUnsignedShift,
    BfindSignedShift,
    Brev,
    BfeUnsigned,
    BfeSigned,
    Bfi,
    BmskClamp,
    BmskWrap,
    Fns,
    Prmt, // `mode`
    SzextClampUnsigned,
    SzextClampSigned,
    SzextWrapUnsigned,
    SzextWrapSigned,
    PredicateAnd, // tag bit 0: src[0] is negated, bit 1: src[1] is negated
    PredicateOr,
    PredicateXor,
    PredicateNot,
};

enum class PrmtMode : std::uint8_t { Index, F4e, B4e, Rc8, Ecl, Ecr, Rc16 };

struct BitsForm {
    BitsOp op{};
    std::uint8_t bits = 32; // 16, 32 or 64
    std::uint8_t lut = 0;
    PrmtMode mode = PrmtMode::Index;
};

/// Extended-precision arithmetic. The last source is the carry-in and dst[1] the carry-out; both
/// are predicates.
enum class CarryOp : std::uint8_t { Add, Sub, MadLo, MadHi };

struct CarryForm {
    CarryOp op{};
    ptx::Type type{}; // u32, s32, u64, s64
    bool reads_carry = false;
    bool writes_carry = false;
};

/// Floating-point arithmetic.
enum class FloatOp : std::uint8_t {
    Add,
    Sub,
    Mul,
    Fma,
    Div,
    Rcp,
    Sqrt,
    Rsqrt,
    Neg,
    Abs,
    Min,
    Max,
    CopySign, // dst = src[1] with the sign of src[0]
    Sin,
    Cos,
    Lg2,
    Ex2,
    Tanh,
    TestFinite, // testp: dst[0] is a predicate
    TestInfinite,
    TestNumber,
    TestNotANumber,
    TestNormal,
    TestSubnormal,
};

struct FloatForm {
    FloatOp op{};
    ptx::Type type{}; // f32, f64, f16, f16x2, bf16, bf16x2
    Rounding rounding = Rounding::Nearest;
    bool flushes = false;        // .ftz
    bool is_saturating = false;  // .sat
    bool is_approximate = false; // .approx of div
    bool is_relu = false;
    bool is_oob = false;           // .oob of fma: 0 if a factor is the out-of-bounds NaN
    bool keeps_nan = false;        // .NaN of min and max
    bool is_xorsign = false;       // .xorsign.abs of min and max
    std::uint8_t source_count = 2; // min and max can take 3
};

enum class Compare : std::uint8_t {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Equ,
    Neu,
    Ltu,
    Leu,
    Gtu,
    Geu,
    Num,
    Nan
};
enum class Combine : std::uint8_t { None, And, Or, Xor };

/// The kind of result that a comparison writes.
enum class CompareResult : std::uint8_t {
    Predicate, // dst[0]; setp: dst[1] gets the opposite if dst_count is 2
    Integer,   // set: all ones or 0
    Float32,   // set: 1.0f or 0
    Half,      // set: 1.0 or 0 in each half
    BFloat,
};

/// setp and set. Sources: src[0], src[1] and, if combined, the predicate src[2]. `tag`: bits 0-1:
/// Combine; bit 2: the predicate is negated; for halves also bits 8-11: the Compare, bit 12: .ftz.
/// set writes `immediate` where the comparison holds.
struct CompareForm {
    Compare compare{};
    ptx::Type type{};
    bool flushes = false;
    CompareResult result = CompareResult::Predicate;
};

/// The number formats that only cvt supports, beside the types of ptx::Type.
enum class Format : std::uint8_t {
    U8,
    S8,
    U16,
    S16,
    U32,
    S32,
    U64,
    S64,
    F16,
    BF16,
    F32,
    F64,
    TF32,
    E4M3,
    E5M2,
    E2M3,
    E3M2,
    E2M1,
    UE8M0,
};

/// Where cvt.rs finds the random bits of its two values, in src[2].
enum class RandomBits : std::uint8_t {
    None,      // not rounded randomly
    Halves,    // the first value uses the upper 16 bits, the second the lower 16
    UpperPair, // four values: the bits that the first two share, see convert_random.cpp
    LowerPair,
};

/// cvt. With two sources the result packs both, the first in the upper half. `tag` bit 0: .ftz; bit
/// 1: .sat. `immediate` is the whole form as returned by packed().
struct ConvertForm {
    Format from{};
    Format to{};
    bytecode::Width from_width = bytecode::Width::B32; // of the registers
    bytecode::Width to_width = bytecode::Width::B32;
    Rounding rounding = Rounding::Nearest;
    bool rounds_away = false;       // .rna: halfway cases away from zero
    bool rounds_to_integer = false; // .rni .rzi .rmi .rpi of float to float
    bool flushes = false;
    bool is_saturating = false;
    bool is_finite_saturating = false; // .satfinite
    bool is_relu = false;
    bool is_pair = false; // two values: from two sources, or from the halves of one
    RandomBits random = RandomBits::None;

    /// Returns the form as one number, for the handler that interprets it at run time.
    [[nodiscard]] constexpr std::int64_t packed() const {
        return static_cast<std::int64_t>(from) | static_cast<std::int64_t>(to) << 8 |
               static_cast<std::int64_t>(from_width) << 16 |
               static_cast<std::int64_t>(to_width) << 24 |
               static_cast<std::int64_t>(rounding) << 32 |
               static_cast<std::int64_t>(rounds_away) << 40 |
               static_cast<std::int64_t>(rounds_to_integer) << 41 |
               static_cast<std::int64_t>(flushes) << 42 |
               static_cast<std::int64_t>(is_saturating) << 43 |
               static_cast<std::int64_t>(is_finite_saturating) << 44 |
               static_cast<std::int64_t>(is_relu) << 45 | static_cast<std::int64_t>(is_pair) << 46 |
               static_cast<std::int64_t>(random) << 47;
    }
};

/// ld, st, ldu. The components are dst or src operands (in `extra` if there are more than 4).
/// src[0]: base address (lanes of `address_width`), followed by the values of a store; `immediate`:
/// offset; `tag`: number of components; `access_bytes`: size of a component.
struct MemoryForm {
    bool is_store = false;
    bool is_ordered = false;             // acquire or release
    bool is_signed = false;              // extend the sign of a narrow load
    ptx::Space space = ptx::Space::None; // None is generic
    std::uint8_t element_bytes = 4;
    bytecode::Width register_width = bytecode::Width::B32;
    bytecode::Width address_width = bytecode::Width::B64;
    std::uint8_t count = 1;    // of components
    bool is_read_only = false; // ld.global.nc: nothing writes this memory while the kernel runs
};

enum class AtomicOp : std::uint8_t {
    Add,
    Min,
    Max,
    Inc,
    Dec,
    And,
    Or,
    Xor,
    Exchange,
    CompareExchange,
};

/// atom, red. dst[0]: the old value (atom only); src[0]: base; src[1]: operand, or for cas the
/// value to compare with; src[2]: the new value of cas. `immediate`: offset; `tag` bit 0: the base
/// has 32-bit lanes.
struct AtomicForm {
    AtomicOp op{};
    ptx::Type type{};
    ptx::Space space = ptx::Space::None;
    bool returns = false;
};

enum class WarpOp : std::uint8_t {
    VoteAll, // dst[0], src[0] = predicate, src[1] = member mask; tag 1: the predicate is negated
    VoteAny,
    VoteUni,
    VoteBallot,
    ShuffleUp, // dst[0] (dst[1] = predicate), src = a, b, c, member mask
    ShuffleDown,
    ShuffleButterfly,
    ShuffleIndex,
    MatchAny, // dst[0], src[0] = a, src[1] = member mask; `width` of a
    MatchAll, // also dst[1] = predicate
    ReduxAdd, // dst[0], src[0] = a, src[1] = member mask
    ReduxMinUnsigned,
    ReduxMaxUnsigned,
    ReduxMinSigned,
    ReduxMaxSigned,
    ReduxAnd,
    ReduxOr,
    ReduxXor,
    ReduxMinFloat, // tag bit 0: .abs, bit 1: .NaN
    ReduxMaxFloat,
    Elect, // dst[0] = elected lane, dst[1] = predicate, src[0] = member mask
    Fence,
};

struct WarpForm {
    WarpOp op{};
    bytecode::Width width = bytecode::Width::B32;
    bool has_predicate = false;
};

/// What limits how many bytes a cp.async reads. It writes zeros for the rest.
enum class CopyLimit : std::uint8_t {
    None,
    Bytes,   // src[2]: how many bytes to read
    Ignored, // src[2], a predicate: read nothing if it is true
};

/// cp.async. src[0]: base in shared memory; `target`: signed offset from it; src[1]: base in global
/// memory; `immediate`: offset from it; `access_bytes`: how many bytes each lane copies.
struct CopyForm {
    static constexpr std::uint16_t NARROW_TO = 1;   // in `tag`: src[0] has 32-bit lanes
    static constexpr std::uint16_t NARROW_FROM = 2; // src[1] has 32-bit lanes
    static constexpr std::uint16_t IS_NEGATED = 4;  // the predicate is negated

    std::uint8_t bytes = 4; // 4, 8 or 16
    CopyLimit limit = CopyLimit::None;
};

/// cvt.pack: dst[0] = saturated src[0] and src[1], `bits` each, below src[2] (unless 16 bits).
struct PackForm {
    std::uint8_t bits = 16; // 2, 4, 8 or 16
    bool is_signed = false;
};

/// Brings the lanes of the linear register src[0], of this width, up to date.
struct SpreadForm {
    bytecode::Width width = bytecode::Width::B32;
};

/// Applies the collected reductions of the worker (interp/reductions.hpp) if they include a word
/// that the loads behind this instruction read. src[0]: base of 64 bits; `immediate`: offset of the
/// first byte that a lane reads; `extra`: how many bytes there are up to the last one.
struct SettleForm {
    ptx::Space space = ptx::Space::Global; // of the loads; None is generic
};

struct MatrixForm; // matrix_forms.hpp
struct SampleForm; // image_forms.hpp

namespace bytecode {

template <>
constexpr inline Family FAMILY_OF<MoveForm> = Family::Move;
template <>
constexpr inline Family FAMILY_OF<IntegerForm> = Family::Integer;
template <>
constexpr inline Family FAMILY_OF<DotForm> = Family::Dot;
template <>
constexpr inline Family FAMILY_OF<BitsForm> = Family::Bits;
template <>
constexpr inline Family FAMILY_OF<CarryForm> = Family::Carry;
template <>
constexpr inline Family FAMILY_OF<FloatForm> = Family::Float;
template <>
constexpr inline Family FAMILY_OF<CompareForm> = Family::Compare;
template <>
constexpr inline Family FAMILY_OF<ConvertForm> = Family::Convert;
template <>
constexpr inline Family FAMILY_OF<MemoryForm> = Family::Memory;
template <>
constexpr inline Family FAMILY_OF<AtomicForm> = Family::Atomic;
template <>
constexpr inline Family FAMILY_OF<WarpForm> = Family::Warp;
template <>
constexpr inline Family FAMILY_OF<CopyForm> = Family::Copy;
template <>
constexpr inline Family FAMILY_OF<PackForm> = Family::Pack;
template <>
constexpr inline Family FAMILY_OF<SpreadForm> = Family::Spread;
template <>
constexpr inline Family FAMILY_OF<SettleForm> = Family::Settle;

} // namespace bytecode

struct FusedSelectors;
struct LockstepSelectors;

/// The selectors of one instruction-set level.
struct Selectors {
    bytecode::Handler (*move)(const MoveForm&);
    bytecode::Handler (*integer)(const IntegerForm&);
    bytecode::Handler (*dot)(const DotForm&);
    bytecode::Handler (*bits)(const BitsForm&);
    bytecode::Handler (*carry)(const CarryForm&);
    bytecode::Handler (*floating)(const FloatForm&);
    bytecode::Handler (*compare)(const CompareForm&);
    bytecode::Handler (*convert)(const ConvertForm&);
    bytecode::Handler (*memory)(const MemoryForm&);
    bytecode::Handler (*atomic)(const AtomicForm&);
    bytecode::Handler (*warp)(const WarpForm&);
    bytecode::Handler (*matrix)(const MatrixForm&);
    bytecode::Handler (*copy)(const CopyForm&);
    bytecode::Handler (*pack)(const PackForm&);
    /// The most common forms of tex; texture::sample runs the others.
    bytecode::Handler (*texture)(const SampleForm&);

    // The same for linear registers (interp/linear.hpp); nullptr if there is no such variant.
    bytecode::Handler (*linear_move)(const MoveForm&);
    bytecode::Handler (*linear_integer)(const IntegerForm&);
    bytecode::Handler (*linear_bits)(const BitsForm&);
    bytecode::Handler (*linear_compare)(const CompareForm&);
    bytecode::Handler (*linear_convert)(const ConvertForm&);
    bytecode::Handler (*linear_memory)(const MemoryForm&);

    /// Writes the lanes of the linear register src[0] unless they are up to date.
    bytecode::Handler (*spread)(bytecode::Width);
    /// Runs SettleForm with a plain or a linear address; the latter is nullptr if there is none.
    bytecode::Handler settle;
    bytecode::Handler linear_settle;
    const FusedSelectors* fused;
    const LockstepSelectors* lockstep; // nullptr if the level has no linear registers
};

/// Returns the selectors for this machine, chosen once. CUPRUM_EMULATOR_ISA=v2|v3|v4 selects a
/// lower level.
[[nodiscard]] const Selectors& selectors() noexcept;

/// Returns the selectors of a level by name ("v2", "v3", "v4", "generic"), or nullptr if this
/// library does not contain them or this machine cannot run them.
[[nodiscard]] const Selectors* selectors_of(const char* level) noexcept;

} // namespace cuprum::emulator
