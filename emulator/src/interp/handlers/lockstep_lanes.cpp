// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Arithmetic on plain registers of all warps of a block, or of a team of blocks: one handler visits
// the warps, instead of one call for each of them. These are the operations that short kernels use
// most. All others run warp by warp (lockstep::common_handler).

#include "interp/handlers/lockstep_lanes.hpp"

#include "interp/handlers/float_common.hpp"
#include "interp/handlers/select.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace whole {

namespace {

struct Add {
    static constexpr unsigned COUNT = 2;

    [[gnu::always_inline]] static Vector<float> apply(Vector<float> a, Vector<float> b) {
        return a + b;
    }
};

struct Sub {
    static constexpr unsigned COUNT = 2;

    [[gnu::always_inline]] static Vector<float> apply(Vector<float> a, Vector<float> b) {
        return a - b;
    }
};

struct Mul {
    static constexpr unsigned COUNT = 2;

    [[gnu::always_inline]] static Vector<float> apply(Vector<float> a, Vector<float> b) {
        return a * b;
    }
};

struct Fma {
    static constexpr unsigned COUNT = 3;

    [[gnu::always_inline]] static Vector<float> apply(Vector<float> a, Vector<float> b,
                                                      Vector<float> c) {
        return fused(a, b, c);
    }
};

/// dst[0] = Op(src[0 .. COUNT)) in each warp, all floats.
template <typename Op>
const Instruction* map_warps(Lockstep& block, const Instruction* at) {
    const auto compute = [](std::byte* to, auto... from) __attribute__((always_inline)) {
        Vector<float> results[CHUNKS<float>];
        for (unsigned chunk = 0; chunk < CHUNKS<float>; ++chunk) {
            results[chunk] = Op::apply(load<float>(from, chunk)...);
        }
        store_canonical(to, results);
    };
    WarpSource a(block, at->src[0]);
    WarpSource b(block, at->src[1]);
    if constexpr (Op::COUNT == 3) {
        WarpSource c(block, at->src[2]);
        for_each_warp_of(block, at->dst[0], compute, a, b, c);
    } else {
        for_each_warp_of(block, at->dst[0], compute, a, b);
    }
    return at + 1;
}

/// cvt.rn.f32.s32 in each warp.
const Instruction* convert_integers(Lockstep& block, const Instruction* at) {
    const auto convert = [](std::byte* to, const std::byte* from) __attribute__((always_inline)) {
        for (unsigned chunk = 0; chunk < CHUNKS<float>; ++chunk) {
            store<float>(to, chunk,
                         __builtin_convertvector(load<std::int32_t>(from, chunk), Vector<float>));
        }
    };
    WarpSource source(block, at->src[0]);
    for_each_warp_of(block, at->dst[0], convert, source);
    return at + 1;
}

} // namespace

} // namespace whole

bytecode::LockstepHandler select_lockstep_float(const FloatForm& form) {
    if (form.type != ptx::Type::F32 || form.rounding != Rounding::Nearest || form.flushes ||
        form.is_saturating || form.is_oob) {
        return nullptr;
    }
    switch (form.op) {
    case FloatOp::Add:
        return whole::map_warps<whole::Add>;
    case FloatOp::Sub:
        return whole::map_warps<whole::Sub>;
    case FloatOp::Mul:
        return whole::map_warps<whole::Mul>;
    case FloatOp::Fma:
        return form.is_relu ? nullptr : whole::map_warps<whole::Fma>;
    default:
        return nullptr;
    }
}

bytecode::LockstepHandler select_lockstep_conversion(const ConvertForm& form) {
    const bool is_plain = form.rounding == Rounding::Nearest && form.to == Format::F32 &&
                          form.from_width == Width::B32 && form.to_width == Width::B32 &&
                          !form.is_saturating && !form.flushes && !form.is_relu &&
                          !form.rounds_away && !form.is_pair && form.random == RandomBits::None;
    return is_plain && form.from == Format::S32 ? whole::convert_integers : nullptr;
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
