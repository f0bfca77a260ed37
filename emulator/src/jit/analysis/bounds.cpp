// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// How large the values of integer instructions can be, as unsigned numbers. Where a value is known
// to be below 2^31 it has no sign, and its bits above the bound are zeros: so `i / 32` of an index
// is a shift, and `row * 64 | lane` a sum.

#include "bytecode/forms.hpp"
#include "jit/analysis/internal.hpp"
#include "ptx/type_sizes.hpp"

#include <algorithm>
#include <bit>

namespace cuprum::emulator::jit::analysis {

using bytecode::Bank;
using bytecode::Family;
using bytecode::Special;
using bytecode::Width;

namespace {

constexpr std::uint64_t MOST32 = 0xffffffffu;
constexpr std::uint64_t MOST_SIGNED32 = 0x7fffffffu;

/// Returns the greatest number with as many bits.
std::uint64_t all_bits_of(std::uint64_t most) {
    return most == 0 ? 0 : ~std::uint64_t{0} >> std::countl_zero(most);
}

/// What instructions compute from sources that are not greater than given bounds.
class Bound {
public:
    Bound(const Graph& graph, const Node& node, Version version)
        : graph_(graph), node_(node), instruction_(graph.kernel->code[node.pc]), version_(version) {
    }

    [[nodiscard]] std::uint64_t of_result() const;

private:
    [[nodiscard]] std::optional<std::uint64_t> known(std::size_t index) const {
        return known_bits(graph_, node_.sources[index], source_width(instruction_, index));
    }

    [[nodiscard]] std::uint64_t source(std::size_t index) const {
        const auto bits = known(index);
        return bits ? *bits
                    : std::min(lanes_of(graph_, node_.sources[index], version_).most,
                               limit_of(source_width(instruction_, index)));
    }

    [[nodiscard]] static std::uint64_t limit_of(Width width) {
        return width == Width::B32 ? MOST32 : UNBOUNDED;
    }

    /// Returns a sum or product, or the limit if it can be greater than that.
    [[nodiscard]] static std::uint64_t within(unsigned __int128 value, std::uint64_t limit) {
        return value <= limit ? static_cast<std::uint64_t>(value) : limit;
    }

    [[nodiscard]] std::uint64_t product() const;
    [[nodiscard]] std::uint64_t integer(const IntegerForm& form) const;
    [[nodiscard]] std::uint64_t bits(const BitsForm& form) const;
    [[nodiscard]] std::uint64_t convert(const ConvertForm& form) const;
    [[nodiscard]] bool is_special(std::size_t index, Bank bank, Special x) const;

    const Graph& graph_;
    const Node& node_;
    const bytecode::Instruction& instruction_;
    Version version_;
};

/// Returns whether a source is the x, y or z of this special register. `x` is the first of three.
bool Bound::is_special(std::size_t index, Bank bank, Special x) const {
    const Ref& ref = node_.sources[index];
    const auto& slots =
        bank == Bank::Block ? graph_.kernel->block_specials : graph_.kernel->launch_specials;
    const auto first = static_cast<std::uint8_t>(x);
    return ref.kind == Ref::Kind::Bank && ref.operand.bank() == bank &&
           std::ranges::any_of(slots, [&](const bytecode::SpecialSlot& slot) {
               const auto special = static_cast<std::uint8_t>(slot.special);
               return slot.offset == ref.operand.offset() && special >= first &&
                      special < first + 3;
           });
}

/// Of the first two sources, in full width.
std::uint64_t Bound::product() const {
    const bool is_index = (is_special(0, Bank::Block, Special::CtaidX) &&
                           is_special(1, Bank::Launch, Special::NtidX)) ||
                          (is_special(1, Bank::Block, Special::CtaidX) &&
                           is_special(0, Bank::Launch, Special::NtidX));
    if (is_index && graph_.shape.has_small_grid) {
        return MOST_SIGNED32 - MAX_BLOCK_SIZE;
    }
    return within(static_cast<unsigned __int128>(source(0)) * source(1), UNBOUNDED);
}

std::uint64_t Bound::integer(const IntegerForm& form) const {
    if (form.is_saturating || form.is_packed || form.type == ptx::Type::U16 ||
        form.type == ptx::Type::S16) {
        return UNBOUNDED;
    }
    const bool has_sign = is_signed(form.type);
    const bool is_64 = form.type == ptx::Type::U64 || form.type == ptx::Type::S64;
    const bool is_wide = form.op == IntegerOp::MulWide || form.op == IntegerOp::MadWide;
    const std::uint64_t limit = is_64 || is_wide ? UNBOUNDED : MOST32;
    const std::uint64_t positive = is_64 ? UNBOUNDED >> 1 : MOST_SIGNED32;
    const auto has_no_sign = [&](std::size_t index) {
        return !has_sign || source(index) <= positive;
    };
    switch (form.op) {
    case IntegerOp::Add:
        return within(static_cast<unsigned __int128>(source(0)) + source(1), limit);
    case IntegerOp::MulLo:
        return within(product(), limit);
    case IntegerOp::MadLo:
        return within(static_cast<unsigned __int128>(product()) + source(2), limit);
    case IntegerOp::MulWide:
    case IntegerOp::MadWide:
        if (!has_no_sign(0) || !has_no_sign(1)) {
            return UNBOUNDED;
        }
        return form.op == IntegerOp::MulWide
                   ? product()
                   : within(static_cast<unsigned __int128>(product()) + source(2), UNBOUNDED);
    case IntegerOp::Div:
    case IntegerOp::Rem: {
        const auto divisor = known(1);
        if (!has_no_sign(0) || !divisor || *divisor == 0 || !has_no_sign(1)) {
            return limit;
        }
        return form.op == IntegerOp::Div ? source(0) / *divisor : std::min(source(0), *divisor - 1);
    }
    case IntegerOp::Min:
        return has_no_sign(0) && has_no_sign(1) ? std::min(source(0), source(1)) : limit;
    case IntegerOp::Max:
        if (has_no_sign(0) && has_no_sign(1)) {
            return std::max(source(0), source(1));
        }
        return has_no_sign(0) || has_no_sign(1) ? positive : limit;
    default:
        return limit;
    }
}

std::uint64_t Bound::bits(const BitsForm& form) const {
    if (form.bits != 32 && form.bits != 64) {
        return UNBOUNDED;
    }
    const std::uint64_t limit = form.bits == 32 ? MOST32 : UNBOUNDED;
    switch (form.op) {
    case BitsOp::And:
        return std::min(source(0), source(1));
    case BitsOp::Or:
    case BitsOp::Xor:
        return all_bits_of(source(0) | source(1));
    case BitsOp::Shl: {
        const auto count = known(1);
        return count && *count < form.bits
                   ? within(static_cast<unsigned __int128>(source(0)) << *count, limit)
                   : limit;
    }
    case BitsOp::ShrSigned:
    case BitsOp::ShrUnsigned: {
        if (form.op == BitsOp::ShrSigned && source(0) > limit >> 1) {
            return limit;
        }
        const auto count = known(1);
        return count ? (*count < form.bits ? source(0) >> *count : 0) : source(0);
    }
    case BitsOp::BfeUnsigned: {
        const auto length = known(2);
        return length && *length < form.bits ? (std::uint64_t{1} << *length) - 1 : limit;
    }
    case BitsOp::Bfi: {
        const auto position = known(2);
        const auto length = known(3);
        if (!position || !length || *position >= form.bits || *length > form.bits - *position) {
            return limit;
        }
        const std::uint64_t field =
            std::min(source(0), *length == 64 ? UNBOUNDED : (std::uint64_t{1} << *length) - 1);
        return std::min(limit, all_bits_of(field << *position | source(1)));
    }
    case BitsOp::Popc:
    case BitsOp::Clz:
        return form.bits;
    default:
        return UNBOUNDED;
    }
}

std::uint64_t Bound::convert(const ConvertForm& form) const {
    if (form.is_saturating || form.to > Format::S64) {
        return UNBOUNDED;
    }
    const bool is_to_64 = form.to == Format::U64 || form.to == Format::S64;
    const bool is_to_32 = form.to == Format::U32 || form.to == Format::S32;
    const std::uint64_t limit = is_to_64 ? UNBOUNDED : is_to_32 ? MOST32 : 0;
    switch (form.from) {
    case Format::U8:
        return limit == 0 ? UNBOUNDED : 0xffu;
    case Format::U16:
        return limit == 0 ? UNBOUNDED : 0xffffu;
    case Format::U32:
    case Format::S32:
    case Format::U64:
    case Format::S64: {
        const bool is_from_64 = form.from == Format::U64 || form.from == Format::S64;
        const std::uint64_t most = source(0);
        const bool has_sign = form.from == Format::S32 && is_to_64 && most > MOST_SIGNED32;
        return limit == 0 || has_sign || form.from_width != (is_from_64 ? Width::B64 : Width::B32)
                   ? UNBOUNDED
                   : (most <= limit ? most : limit);
    }
    default:
        return UNBOUNDED;
    }
}

std::uint64_t Bound::of_result() const {
    const bytecode::Form& form = instruction_.form;
    switch (form.family()) {
    case Family::Move:
        switch (form.as<MoveForm>().op) {
        case MoveOp::Copy:
            return source(0);
        case MoveOp::Select:
            return std::max(source(0), source(1));
        default:
            return UNBOUNDED;
        }
    case Family::Integer:
        return integer(form.as<IntegerForm>());
    case Family::Bits:
        return bits(form.as<BitsForm>());
    case Family::Convert:
        return convert(form.as<ConvertForm>());
    case Family::Memory: {
        const auto memory = form.as<MemoryForm>();
        return memory.is_store || memory.is_signed || memory.element_bytes > 2
                   ? UNBOUNDED
                   : (1u << memory.element_bytes * 8u) - 1;
    }
    default:
        return UNBOUNDED;
    }
}

} // namespace

std::uint64_t most_of_result(const Graph& graph, const Node& node, Version version) {
    return Bound(graph, node, version).of_result();
}

} // namespace cuprum::emulator::jit::analysis
