// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// cvt between integers, f32, f64, f16, bf16 and tf32. Conversions to integers clamp.

#include "jit_llvm/emit_values.hpp"

#include <llvm/IR/Intrinsics.h>

#include <cmath>

namespace cuprum::emulator::jit {

using bytecode::Width;

namespace {

bool is_integer(Format format) {
    return format <= Format::S64;
}

bool is_signed(Format format) {
    return format == Format::S8 || format == Format::S16 || format == Format::S32 ||
           format == Format::S64;
}

bool is_half(Format format) {
    return format == Format::F16 || format == Format::BF16;
}

unsigned bits_of_format(Format format) {
    switch (format) {
    case Format::U8:
    case Format::S8:
        return 8;
    case Format::U16:
    case Format::S16:
    case Format::F16:
    case Format::BF16:
        return 16;
    case Format::U64:
    case Format::S64:
    case Format::F64:
        return 64;
    default:
        return 32;
    }
}

unsigned lane_bits(Width width) {
    return static_cast<unsigned>(width) * 8;
}

/// Returns the bounds of a format of fewer than 64 bits.
std::int64_t least_of(Format format) {
    return is_signed(format) ? -(std::int64_t{1} << (bits_of_format(format) - 1)) : 0;
}

std::int64_t most_of(Format format) {
    return (std::int64_t{1} << (bits_of_format(format) - (is_signed(format) ? 1 : 0))) - 1;
}

} // namespace

bool ValueEmitter::can_emit_convert(const ConvertForm& form) {
    if (form.random != RandomBits::None || form.from >= Format::TF32 || form.to > Format::TF32) {
        return false;
    }
    if (is_integer(form.to)) {
        return true;
    }
    if (form.to == Format::TF32) {
        return form.rounds_away && !form.is_finite_saturating;
    }
    if (is_integer(form.from)) {
        // Rounded once where the intermediate f64 is exact.
        const bool is_small = bits_of_format(form.from) < 64;
        const bool is_half_exact = bits_of_format(form.from) <= 16;
        return !form.is_saturating &&
               (form.rounding == Rounding::Nearest ? is_half_exact || !is_half(form.to)
                                                   : is_small && !is_half(form.to));
    }
    if (form.rounds_to_integer) {
        return form.from == form.to && !is_half(form.from);
    }
    if (form.is_finite_saturating) {
        return false;
    }
    if (is_half(form.to)) {
        const bool is_plain = !form.is_saturating && !form.flushes;
        return is_plain && form.from == Format::F32 &&
               (form.rounding == Rounding::Nearest ||
                (form.to == Format::BF16 && form.rounding == Rounding::Zero));
    }
    if (is_half(form.from)) {
        return form.to == Format::F32 && !form.is_pair && form.rounding == Rounding::Nearest;
    }
    return form.rounding == Rounding::Nearest || (form.to == Format::F32 && !form.flushes);
}

/// Returns the bits of a register, as wide as an integer type needs at least.
ValueEmitter::V ValueEmitter::integer_to_integer(const ConvertForm& form, V value) {
    const bool from_signed = is_signed(form.from);
    const bool to_signed = is_signed(form.to);
    const unsigned from = bits_of_format(form.from);
    const unsigned to = bits_of_format(form.to);
    const unsigned width = lane_bits(form.to_width);
    const unsigned common = std::max({lane_bits(form.from_width), width, from == 64 ? 64u : 32u});
    if (!form.is_saturating) {
        // What lies above the source is not needed if the result has no more bits.
        value = to <= from ? value
                           : extend(value, std::min(from, value->getType()->getScalarSizeInBits()),
                                    from_signed);
        value = resize(value, common, from_signed);
        return resize(extend(value, to, to_signed), width, to_signed);
    }
    value = resize(extend(value, from, from_signed), common, from_signed);
    const auto bound = [&](std::uint64_t number_of) { return number(common, number_of); };
    const std::uint64_t most =
        to == 64 ? (to_signed ? ~0ull >> 1 : ~0ull) : static_cast<std::uint64_t>(most_of(form.to));
    const bool reaches =
        from_signed ? from - 1 > to - (to_signed ? 1 : 0) : from > to - (to_signed ? 1 : 0);
    if (from_signed) {
        const std::int64_t least =
            to == 64 && to_signed ? std::int64_t(1ull << 63) : least_of(form.to);
        value = intrinsic(llvm::Intrinsic::smax, {value, bound(static_cast<std::uint64_t>(least))});
        if (reaches) {
            value = intrinsic(llvm::Intrinsic::smin, {value, bound(most)});
        }
    } else if (reaches) {
        value = intrinsic(llvm::Intrinsic::umin, {value, bound(most)});
    }
    return resize(extend(value, to, to_signed), width, to_signed);
}

ValueEmitter::V ValueEmitter::integer_to_float(const ConvertForm& form, V value) {
    const bool from_signed = is_signed(form.from);
    value = extend(value, bits_of_format(form.from), from_signed);
    const auto convert = [&](llvm::Type* type) {
        return from_signed ? ir_.CreateSIToFP(value, type) : ir_.CreateUIToFP(value, type);
    };
    if (form.to == Format::F64) {
        return convert(real());
    }
    if (form.to == Format::F32) {
        return form.rounding == Rounding::Nearest ? convert(single())
                                                  : narrow(convert(real()), nullptr, form.rounding);
    }
    return narrow_half(convert(single()), form.to == Format::BF16, 32);
}

/// A NaN gives 0, or only the top bit if either side has 64 bits.
ValueEmitter::V ValueEmitter::float_to_integer(const ConvertForm& form, V value) {
    const bool to_signed = is_signed(form.to);
    const unsigned to = bits_of_format(form.to);
    const unsigned width = lane_bits(form.to_width);
    const unsigned computed = to == 64 ? 64 : 32;
    // The conversion to an integer truncates.
    const V rounded =
        form.rounding == Rounding::Zero ? value : round_to_integer(value, form.rounding);
    const auto bound = [&](double limit) {
        return value->getType()->getScalarType()->isDoubleTy()
                   ? real_constant(limit)
                   : single_constant(static_cast<float>(limit));
    };
    const double limit = std::ldexp(1.0, static_cast<int>(computed - (to_signed ? 1 : 0)));
    const std::uint64_t most = ~std::uint64_t{0} >> (64 - computed + (to_signed ? 1 : 0));
    V result = nullptr;
    if (to_signed) {
        result = ir_.CreateFPToSI(rounded, integer(computed));
        result = select(ir_.CreateFCmpOLT(rounded, bound(-limit)), number(computed, ~most), result);
        result = select(is_nan(value), number(computed, 0), result);
    } else {
        result = ir_.CreateFPToUI(rounded, integer(computed));
        const V is_positive = ir_.CreateFCmpOGE(rounded, bound(0.0));
        result = select(is_positive, result, number(computed, 0));
    }
    result = select(ir_.CreateFCmpOGE(rounded, bound(limit)), number(computed, most), result);
    if (to < 32) {
        result = to_signed ? clamp(result, least_of(form.to), most_of(form.to))
                           : intrinsic(llvm::Intrinsic::umin,
                                       {result, n32(static_cast<std::uint32_t>(most_of(form.to)))});
    }
    if (to == 64 || form.from == Format::F64) {
        const V nan = extend(number(computed, std::uint64_t{1} << (to - 1)), to, to_signed);
        result = select(is_nan(value), nan, result);
    }
    return resize(result, width, to_signed);
}

/// f32 to f16 or bf16.
ValueEmitter::V ValueEmitter::to_half(const ConvertForm& form, V value) {
    const bool is_bfloat = form.to == Format::BF16;
    V result = nullptr;
    if (form.rounding == Rounding::Zero) {
        result = select(is_nan(value), n32(0x7fffu), ir_.CreateLShr(bits_of(value), n32(16)));
    } else {
        result = narrow_half(value, is_bfloat, 32);
    }
    if (form.is_relu) { // a NaN has no sign here, and stays
        result = select(ir_.CreateICmpUGE(result, n32(0x8000u)), n32(0), result);
    }
    return result;
}

ValueEmitter::V ValueEmitter::float_to_float(const ConvertForm& form, V value) {
    const bool to_single = form.to == Format::F32;
    const bool is_same = form.from == form.to;
    if (form.flushes && form.from == Format::F32) {
        const bool is_copy = is_same && !form.rounds_to_integer;
        value = is_copy ? flush(value) : flush_operand(value);
    }
    V result = value;
    if (form.rounds_to_integer) {
        result = round_to_integer(value, form.rounding);
        result = to_single ? escape(result) : result;
    } else if (is_same) {
        result = form.flushes && to_single ? escape(value) : value;
    } else if (form.from == Format::F32) {
        result = ir_.CreateFPExt(form.flushes ? canonical(value) : value, real());
    } else if (form.from == Format::F64) {
        if (form.flushes && !target_.flushes) {
            // 24 bits below the smallest normal number are flushed, even if the coarser grid of
            // subnormal numbers would round them up to that number.
            const V is_tiny = ir_.CreateFCmpOLT(intrinsic(llvm::Intrinsic::fabs, {value}),
                                                real_constant(0x1p-126 - 0x1p-151));
            value = select(is_tiny, ir_.CreateFMul(value, real_constant(0.0)), value);
        }
        result = narrow(value, nullptr, form.rounding);
    }
    if (form.is_saturating) {
        result = saturate(result);
    }
    return form.flushes && to_single ? flush_operand(result) : result;
}

void ValueEmitter::emit_convert(const ConvertForm& form) {
    const unsigned width = lane_bits(form.to_width);
    const auto source = [&](unsigned index) { return (*source_)(index, form.from_width); };
    if (is_integer(form.from)) {
        give(is_integer(form.to)
                 ? integer_to_integer(form, source(0))
                 : resize(bits_of(integer_to_float(form, source(0))), width, false));
        return;
    }
    const auto number_of = [&](unsigned index) -> V {
        const V bits = source(index);
        if (is_half(form.from)) {
            const V value = widen_half(resize(bits, 32, false), form.from == Format::BF16);
            return value;
        }
        return form.from == Format::F64 ? as_real(bits) : as_single(resize(bits, 32, false));
    };
    const V value = number_of(0);
    if (is_integer(form.to)) {
        give(float_to_integer(form, form.flushes && form.from == Format::F32 ? flush_operand(value)
                                                                             : value));
        return;
    }
    if (form.to == Format::TF32) { // halfway cases away from zero
        const V bits = bits_of(value);
        const V rounded = select(is_nan(value), bits, ir_.CreateAdd(bits, n32(0x1000u)));
        give(resize(ir_.CreateAnd(rounded, n32(0xffffe000u)), width, false));
        return;
    }
    V result = nullptr;
    if (is_half(form.to)) {
        result = to_half(form, value);
        if (form.is_pair) { // the first source in the upper half
            result = ir_.CreateOr(ir_.CreateShl(result, n32(16)), to_half(form, number_of(1)));
        }
    } else if (is_half(form.from)) {
        const bool is_plain = !form.is_saturating && !form.flushes;
        result = form.from == Format::BF16 && is_plain ? value : canonical(value);
        result = form.is_saturating ? saturate(result) : result;
        result = bits_of(form.flushes ? flush(result) : result);
    } else {
        result = bits_of(float_to_float(form, value));
    }
    give(resize(result, width, false));
}

} // namespace cuprum::emulator::jit
