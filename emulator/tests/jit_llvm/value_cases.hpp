// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Every form of the instructions that only compute, each as an instruction on the same slots.

#pragma once

#include "bytecode/forms.hpp"
#include "decode/select.hpp"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace cuprum::emulator::test {

/// A slot holds 32 lanes of up to 128 bits. Sources come first, then destinations.
constexpr std::uint32_t SLOT_BYTES = 512;
constexpr std::uint32_t SOURCES = 4;
constexpr std::uint32_t DESTINATIONS = 4;

/// What kind of numbers a source should hold.
enum class Numbers : std::uint8_t { Integers, Amounts, Singles, Reals, Halves, BFloats };

struct ValueCase {
    std::string name;
    bytecode::Instruction at;
    Numbers numbers = Numbers::Integers;
    unsigned result_bits = 64; // of each destination; what is above is undefined
};

class ValueCases {
public:
    ValueCases() {
        add_moves();
        add_integers();
        add_bits();
        add_floats();
        add_comparisons();
        add_conversions();
    }

    std::vector<ValueCase> cases;

private:
    using Type = ptx::Type;
    using Width = bytecode::Width;

    ValueCase* add(const std::string& name, const bytecode::Form& form, Numbers numbers,
                   unsigned source_count, unsigned result_bits = 64,
                   unsigned destination_count = 1) {
        const bytecode::Handler handler = plain_handler(form);
        if (handler == nullptr) {
            return nullptr;
        }
        ValueCase one{.name = name, .at = {}, .numbers = numbers, .result_bits = result_bits};
        one.at.form = form;
        one.at.handler = handler;
        one.at.src_count = static_cast<std::uint8_t>(source_count);
        one.at.dst_count = static_cast<std::uint8_t>(destination_count);
        for (std::uint32_t i = 0; i < SOURCES; ++i) {
            one.at.src[i] = {bytecode::Bank::Registers, i * SLOT_BYTES};
        }
        for (std::uint32_t i = 0; i < DESTINATIONS; ++i) {
            one.at.dst[i] = {bytecode::Bank::Registers, (SOURCES + i) * SLOT_BYTES};
        }
        cases.push_back(std::move(one));
        return &cases.back();
    }

    ValueCase* add(const std::string& name, const bytecode::Form& form, Numbers numbers,
                   unsigned source_count, unsigned result_bits, unsigned destination_count,
                   std::uint16_t tag, std::int64_t immediate = 0) {
        ValueCase* const one =
            add(name, form, numbers, source_count, result_bits, destination_count);
        if (one != nullptr) {
            one->at.tag = tag;
            one->at.immediate = immediate;
        }
        return one;
    }

    static std::string number(unsigned value) { return " " + std::to_string(value); }

    template <typename T>
    static std::string of(T value) {
        return number(static_cast<unsigned>(value));
    }

    static std::string of(Type type) { return " " + std::string(ptx::to_string(type)); }

    void add_moves() {
        for (const Width width : {Width::Predicate, Width::B32, Width::B64, Width::B128}) {
            add("copy" + of(width), MoveForm{.op = MoveOp::Copy, .width = width}, Numbers::Integers,
                1);
        }
        for (const Width width : {Width::B32, Width::B64, Width::B128}) {
            for (const std::uint16_t tag : {0, 1}) {
                add("select" + of(width), MoveForm{.op = MoveOp::Select, .width = width},
                    Numbers::Integers, 3, 64, 1, tag);
            }
        }
        for (const Width width : {Width::B32, Width::B64}) {
            add("slct", MoveForm{.op = MoveOp::SelectBySign, .width = width}, Numbers::Integers, 3);
            for (const std::uint16_t tag : {0, 1}) {
                add("slct.f32", MoveForm{.op = MoveOp::SelectByFloatSign, .width = width},
                    Numbers::Singles, 3, 64, 1, tag);
            }
        }
        for (const unsigned bytes : {2, 4, 8, 16}) {
            for (const unsigned part : {1, 2, 4, 8}) {
                const unsigned count = bytes / part;
                if (part >= bytes || count > 4) {
                    continue;
                }
                MoveForm form{.width = bytes == 16  ? Width::B128
                                       : bytes == 8 ? Width::B64
                                                    : Width::B32,
                              .part_bytes = static_cast<std::uint8_t>(part),
                              .bytes = static_cast<std::uint8_t>(bytes)};
                form.op = MoveOp::Pack;
                add("pack" + number(bytes) + number(part), form, Numbers::Integers, count,
                    bytes * 8);
                form.op = MoveOp::Unpack;
                add("unpack" + number(bytes) + number(part), form, Numbers::Integers, 1, part * 8,
                    count);
            }
        }
        for (const MoveOp op :
             {MoveOp::IsShared, MoveOp::ParameterBase, MoveOp::Clock, MoveOp::ActiveMask}) {
            add("move" + of(op), MoveForm{.op = op}, Numbers::Integers, 1);
        }
    }

    static unsigned bits_of(Type type) { return static_cast<unsigned>(ptx::size_of(type)) * 8; }

    void add_integers() {
        for (unsigned op = 0; op <= static_cast<unsigned>(IntegerOp::CarrylessMadHi); ++op) {
            for (const Type type : {Type::U8, Type::S8, Type::U16, Type::S16, Type::U32, Type::S32,
                                    Type::U64, Type::S64}) {
                for (const bool is_saturating : {false, true}) {
                    for (const bool is_packed : {false, true}) {
                        const IntegerForm form{.op = static_cast<IntegerOp>(op),
                                               .type = type,
                                               .is_saturating = is_saturating,
                                               .is_packed = is_packed};
                        const bool is_small = bits_of(type) == 8;
                        const bool is_wide =
                            form.op == IntegerOp::MulWide || form.op == IntegerOp::MadWide;
                        if ((is_packed ? bits_of(type) > 16 : is_small)) {
                            continue;
                        }
                        add("integer" + number(op) + of(type) + (is_saturating ? " sat" : "") +
                                (is_packed ? " packed" : ""),
                            form, Numbers::Integers, 3, is_packed || is_wide ? 64 : bits_of(type));
                    }
                }
            }
        }
        for (std::uint16_t tag = 0; tag < 4; ++tag) {
            add("dp4a" + number(tag), DotForm{true}, Numbers::Integers, 3, 32, 1, tag);
        }
        for (std::uint16_t tag = 0; tag < 8; ++tag) {
            add("dp2a" + number(tag), DotForm{false}, Numbers::Integers, 3, 32, 1, tag);
        }
        for (const CarryOp op : {CarryOp::Add, CarryOp::Sub, CarryOp::MadLo, CarryOp::MadHi}) {
            for (const Type type : {Type::U32, Type::S32, Type::U64, Type::S64}) {
                for (unsigned flags = 1; flags < 4; ++flags) {
                    const CarryForm form{.op = op,
                                         .type = type,
                                         .reads_carry = (flags & 1) != 0,
                                         .writes_carry = (flags & 2) != 0};
                    add("carry" + of(op) + of(type) + number(flags), form, Numbers::Integers, 4, 64,
                        form.writes_carry ? 2 : 1);
                }
            }
        }
        for (const std::uint8_t bits : {2, 4, 8, 16}) {
            for (const bool is_signed : {false, true}) {
                add("cvt.pack" + number(bits), PackForm{bits, is_signed}, Numbers::Integers,
                    bits == 16 ? 2 : 3);
            }
        }
    }

    void add_bits() {
        for (unsigned op = 0; op <= static_cast<unsigned>(BitsOp::PredicateNot); ++op) {
            const auto bits_op = static_cast<BitsOp>(op);
            for (const std::uint8_t bits : {16, 32, 64}) {
                const bool is_shift = bits_op == BitsOp::Shl || bits_op == BitsOp::ShrUnsigned ||
                                      bits_op == BitsOp::ShrSigned || bits_op == BitsOp::Cnot;
                const bool is_logic = op <= static_cast<unsigned>(BitsOp::Not);
                const bool is_field = bits_op >= BitsOp::Popc && bits_op <= BitsOp::Bfi;
                if (bits_op == BitsOp::Lop3 || bits_op == BitsOp::Prmt ||
                    (bits == 16 && !is_shift && !is_logic) ||
                    (bits == 64 && !is_shift && !is_logic && !is_field)) {
                    continue;
                }
                for (std::uint16_t tag = 0; tag < (bits_op >= BitsOp::PredicateAnd ? 4 : 1);
                     ++tag) {
                    add("bits" + number(op) + number(bits) + number(tag),
                        BitsForm{.op = bits_op, .bits = bits},
                        is_logic ? Numbers::Integers : Numbers::Amounts, 4, bits == 16 ? 16 : 64, 1,
                        tag);
                }
            }
        }
        for (unsigned lut = 0; lut < 256; ++lut) {
            add("lop3" + number(lut),
                BitsForm{.op = BitsOp::Lop3, .lut = static_cast<std::uint8_t>(lut)},
                Numbers::Integers, 3);
        }
        for (const PrmtMode mode : {PrmtMode::Index, PrmtMode::F4e, PrmtMode::B4e, PrmtMode::Rc8,
                                    PrmtMode::Ecl, PrmtMode::Ecr, PrmtMode::Rc16}) {
            add("prmt" + of(mode), BitsForm{.op = BitsOp::Prmt, .mode = mode}, Numbers::Integers,
                3);
        }
    }

    static Numbers numbers_of(Type type) {
        switch (type) {
        case Type::F32:
            return Numbers::Singles;
        case Type::F64:
            return Numbers::Reals;
        case Type::F16:
        case Type::F16x2:
            return Numbers::Halves;
        case Type::BF16:
        case Type::BF16x2:
            return Numbers::BFloats;
        default:
            return Numbers::Integers;
        }
    }

    void add_float(const FloatForm& form) {
        const bool is_half = form.type != Type::F32 && form.type != Type::F64;
        const bool is_bfloat = form.type == Type::BF16 || form.type == Type::BF16x2;
        if (is_bfloat && form.flushes && form.op != FloatOp::Ex2) {
            return; // not in PTX
        }
        std::string name = "float" + of(form.op) + of(form.type) + " r" + of(form.rounding);
        name += form.flushes ? " ftz" : "";
        name += form.is_saturating ? " sat" : "";
        name += form.is_approximate ? " approx" : "";
        name += form.is_relu ? " relu" : "";
        name += form.is_oob ? " oob" : "";
        name += form.keeps_nan ? " NaN" : "";
        name += form.is_xorsign ? " xorsign" : "";
        const bool is_pair = form.type == Type::F16x2 || form.type == Type::BF16x2;
        add(name, form, numbers_of(form.type), 3, is_half && !is_pair ? 16 : 64);
    }

    void add_floats() {
        for (unsigned op = 0; op <= static_cast<unsigned>(FloatOp::TestSubnormal); ++op) {
            for (const Type type :
                 {Type::F32, Type::F64, Type::F16, Type::F16x2, Type::BF16, Type::BF16x2}) {
                const bool is_full = type == Type::F32 || type == Type::F64;
                FloatForm form{.op = static_cast<FloatOp>(op), .type = type};
                const bool is_sum = op <= static_cast<unsigned>(FloatOp::Fma);
                const bool rounds = op <= static_cast<unsigned>(FloatOp::Sqrt);
                const bool is_extreme = form.op == FloatOp::Min || form.op == FloatOp::Max;
                for (unsigned flags = 0; flags < 32; ++flags) {
                    form.flushes = (flags & 1) != 0;
                    if (is_extreme) {
                        form.keeps_nan = (flags & 2) != 0;
                        form.is_xorsign = (flags & 4) != 0;
                        form.source_count = (flags & 8) != 0 ? 3 : 2;
                        if ((flags & 16) != 0 || (form.source_count == 3 && type != Type::F32) ||
                            (type == Type::F64 && flags != 0)) {
                            continue;
                        }
                        add_float(form);
                        continue;
                    }
                    form.is_saturating = (flags & 2) != 0;
                    form.is_approximate = (flags & 4) != 0;
                    form.is_relu = (flags & 8) != 0;
                    form.is_oob = (flags & 16) != 0;
                    if ((form.is_saturating && !is_sum) ||
                        (form.is_approximate && (form.op != FloatOp::Div || type != Type::F32)) ||
                        ((form.is_relu || form.is_oob) && (is_full || form.op != FloatOp::Fma))) {
                        continue;
                    }
                    for (const Rounding rounding :
                         {Rounding::Nearest, Rounding::Down, Rounding::Up, Rounding::Zero}) {
                        form.rounding = rounding;
                        if (rounding == Rounding::Nearest ||
                            (rounds && is_full && !form.is_approximate)) {
                            add_float(form);
                        }
                    }
                }
            }
        }
    }

    void add_comparisons() {
        for (unsigned compare = 0; compare <= static_cast<unsigned>(Compare::Nan); ++compare) {
            for (const Type type : {Type::B16, Type::U16, Type::S16, Type::B32, Type::U32,
                                    Type::S32, Type::B64, Type::U64, Type::S64, Type::F32,
                                    Type::F64, Type::F16, Type::F16x2, Type::BF16, Type::BF16x2}) {
                const bool is_half =
                    numbers_of(type) == Numbers::Halves || numbers_of(type) == Numbers::BFloats;
                for (const bool flushes : {false, true}) {
                    if (flushes && type != Type::F32 && !is_half) {
                        continue;
                    }
                    for (const CompareResult result :
                         {CompareResult::Predicate, CompareResult::Integer}) {
                        const CompareForm form{.compare = static_cast<Compare>(compare),
                                               .type = type,
                                               .flushes = flushes,
                                               .result = result};
                        // All ways to combine would be many: one for each operator and type.
                        const unsigned how = (compare + static_cast<unsigned>(type)) % 7;
                        auto tag = static_cast<std::uint16_t>(
                            how == 0 ? 0 : 1 + (how - 1) % 3 + (how > 3 ? 4 : 0));
                        tag |= is_half ? static_cast<std::uint16_t>(compare << 8 |
                                                                    (flushes ? 1u << 12 : 0u))
                                       : 0;
                        const unsigned count = result == CompareResult::Predicate ? 2 : 1;
                        add("compare" + number(compare) + of(type) + (flushes ? " ftz" : "") +
                                of(result),
                            form, numbers_of(type), 3, 64, count, tag, 0x3c003f80);
                    }
                }
            }
        }
    }

    static Numbers numbers_of(Format format) {
        switch (format) {
        case Format::F32:
            return Numbers::Singles;
        case Format::F64:
            return Numbers::Reals;
        case Format::F16:
            return Numbers::Halves;
        case Format::BF16:
            return Numbers::BFloats;
        default:
            return Numbers::Integers;
        }
    }

    void add_conversion(const ConvertForm& form, unsigned source_count) {
        std::string name = "cvt" + of(form.from) + of(form.to) + " r" + of(form.rounding);
        name += form.rounds_away ? " rna" : "";
        name += form.rounds_to_integer ? " rni" : "";
        name += form.flushes ? " ftz" : "";
        name += form.is_saturating ? " sat" : "";
        name += form.is_finite_saturating ? " satfinite" : "";
        name += form.is_relu ? " relu" : "";
        name += form.is_pair ? " pair" : "";
        name += " w" + of(form.from_width) + of(form.to_width);
        add(name, form, numbers_of(form.from), source_count, 64, 1,
            static_cast<std::uint16_t>((form.flushes ? 1 : 0) | (form.is_saturating ? 2 : 0)),
            form.packed());
    }

    static bool is_integer(Format format) { return format <= Format::S64; }

    static Width natural(Format format) {
        return format == Format::U64 || format == Format::S64 || format == Format::F64 ? Width::B64
                                                                                       : Width::B32;
    }

    void add_conversions() {
        for (unsigned from = 0; from <= static_cast<unsigned>(Format::UE8M0); ++from) {
            for (unsigned to = 0; to <= static_cast<unsigned>(Format::UE8M0); ++to) {
                ConvertForm form{.from = static_cast<Format>(from), .to = static_cast<Format>(to)};
                form.from_width = natural(form.from);
                form.to_width = natural(form.to);
                add_conversions_of(form);
            }
        }
    }

    void add_conversions_of(ConvertForm form) {
        const bool from_integer = is_integer(form.from);
        const bool to_integer = is_integer(form.to);
        const bool has_single = form.from == Format::F32 || form.to == Format::F32;
        const bool to_half = form.to == Format::F16 || form.to == Format::BF16;
        const bool is_small = form.from > Format::TF32 || form.to > Format::TF32;
        if (form.from == Format::TF32 || (is_small && (from_integer || to_integer)) ||
            (form.to == Format::TF32 && form.from != Format::F32)) {
            return;
        }
        if (from_integer && to_integer) {
            add_conversion(form, 1);
            form.is_saturating = true;
            add_conversion(form, 1);
            form.from_width = Width::B64; // registers may be wider than their values
            add_conversion(form, 1);
            form.to_width = Width::B64;
            add_conversion(form, 1);
            form.is_saturating = false;
            add_conversion(form, 1);
            return;
        }
        const bool both_float = !from_integer && !to_integer;
        for (const Rounding rounding :
             {Rounding::Nearest, Rounding::Down, Rounding::Up, Rounding::Zero}) {
            form.rounding = rounding;
            for (const bool flushes : {false, true}) {
                form.flushes = flushes;
                for (const bool is_saturating : {false, true}) {
                    form.is_saturating = is_saturating;
                    if ((flushes && (!has_single || is_small || form.to == Format::TF32)) ||
                        (is_saturating && (to_integer || is_small || form.to == Format::TF32))) {
                        continue;
                    }
                    if (both_float && form.from == form.to) {
                        form.rounds_to_integer = true;
                        add_conversion(form, 1);
                        form.rounds_to_integer = false;
                        if (rounding != Rounding::Nearest) {
                            continue;
                        }
                    }
                    add_conversion(form, 1);
                }
            }
            form.flushes = false;
            form.is_saturating = false;
            if (form.from == Format::F32 && (to_half || form.to == Format::TF32)) {
                for (unsigned flags = 1; flags < 8; ++flags) {
                    form.is_relu = (flags & 1) != 0;
                    form.is_finite_saturating = (flags & 2) != 0;
                    form.is_pair = (flags & 4) != 0;
                    if (!form.is_pair || to_half) {
                        add_conversion(form, form.is_pair ? 2 : 1);
                    }
                }
                form.is_relu = false;
                form.is_finite_saturating = false;
                form.is_pair = false;
            }
        }
        form.rounding = Rounding::Nearest;
        if (form.to == Format::TF32) {
            form.rounds_away = true;
            add_conversion(form, 1);
        }
        if (is_small) {
            form.is_pair = true;
            form.is_finite_saturating = form.to > Format::TF32;
            add_conversion(form, form.from == Format::F32 ? 2 : 1);
        }
    }
};

} // namespace cuprum::emulator::test
