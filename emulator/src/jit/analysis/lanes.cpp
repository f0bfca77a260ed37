// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// How the lanes of a result differ, from those of its sources.
//
// The base of a pattern or of a uniform result is what the instruction computes from the bases of
// its sources. One case is different: `or` and `xor` with a constant that is smaller than the
// alignment change the offsets alone.

#include "bytecode/forms.hpp"
#include "jit/analysis/internal.hpp"
#include "ptx/type_sizes.hpp"

#include <algorithm>
#include <bit>

namespace cuprum::emulator::jit {

using bytecode::Family;
using bytecode::Instruction;
using bytecode::Special;
using bytecode::Width;

namespace {

Lanes uniform(std::uint64_t alignment = 1, std::uint64_t most = UNBOUNDED) {
    Lanes lanes;
    lanes.kind = Lanes::Kind::Uniform;
    lanes.alignment = std::min(alignment, MAX_ALIGNMENT);
    lanes.most = most;
    return lanes;
}

Lanes varying() {
    return Lanes::varying();
}

Lanes pattern(std::vector<std::int64_t> offsets, std::uint64_t alignment) {
    Lanes lanes = uniform(alignment);
    if (std::ranges::any_of(offsets, [](std::int64_t offset) { return offset != 0; })) {
        lanes.kind = Lanes::Kind::Pattern;
        lanes.offsets = std::move(offsets);
    }
    return lanes;
}

/// Lanes::symmetry of lanes that are all the same.
constexpr std::uint8_t WHOLE_SYMMETRY = bytecode::WARP_SIZE - 1;

/// The greatest number of 32 bits that is the same with a sign.
constexpr std::uint64_t MAX_UNSIGNED_INDEX = 0x7fffffffu;

/// Returns the largest power of two that divides a number.
std::uint64_t alignment_of(std::uint64_t bits) {
    return bits == 0 ? MAX_ALIGNMENT : std::min(bits & (~bits + 1), MAX_ALIGNMENT);
}

/// Returns what is known of a uniform value that stands in a bank.
Lanes lanes_of_bank(const Graph& graph, bytecode::Operand operand) {
    const auto& slots = operand.bank() == bytecode::Bank::Launch ? graph.kernel->launch_specials
                                                                 : graph.kernel->block_specials;
    const auto found = std::ranges::find(slots, operand.offset(), &bytecode::SpecialSlot::offset);
    if ((operand.bank() != bytecode::Bank::Launch && operand.bank() != bytecode::Bank::Block) ||
        found == slots.end()) {
        return uniform();
    }
    switch (found->special) {
    case Special::NtidX:
        return uniform(graph.shape.has_whole_rows ? graph.shape.lanes : 1, MAX_BLOCK_SIZE);
    case Special::NtidY:
    case Special::NtidZ:
        return uniform(1, MAX_BLOCK_SIZE);
    case Special::NctaidX:
    case Special::CtaidX:
        return uniform(1, MAX_UNSIGNED_INDEX);
    case Special::NctaidY:
    case Special::NctaidZ:
    case Special::CtaidY:
    case Special::CtaidZ:
        return uniform(1, 0xffffu);
    default:
        return uniform();
    }
}

/// Returns the lanes of a constant that differs between the lanes of a warp.
Lanes lanes_of_constant(const Graph& graph, const Ref& ref) {
    const std::uint32_t lanes = graph.shape.lanes;
    const auto value = [&](std::uint32_t lane) {
        return static_cast<std::int64_t>(constant_of(graph, ref, Width::B32, lane));
    };
    std::vector<std::int64_t> offsets(lanes);
    std::uint64_t alignment = MAX_ALIGNMENT;
    std::uint64_t most = 0;
    for (std::uint32_t lane = 0; lane < bytecode::WARP_SIZE; ++lane) {
        const std::uint32_t first = lane / lanes * lanes;
        const std::int64_t offset = value(lane) - value(first);
        if (first == 0) {
            offsets[lane] = offset;
        } else if (offset != offsets[lane - first]) {
            return varying(); // the gangs of a warp differ
        }
        alignment = std::min(alignment, alignment_of(static_cast<std::uint64_t>(value(first))));
        most = std::max(most, constant_of(graph, ref, Width::B32, lane));
    }
    Lanes found = pattern(std::move(offsets), alignment);
    found.most = most;
    return found;
}

/// Returns whether all offsets are below the alignment: they only fill in bits that are 0 in the
/// base.
bool is_low(const Lanes& lanes) {
    return std::ranges::all_of(lanes.offsets, [&](std::int64_t offset) {
        return offset >= 0 && offset < static_cast<std::int64_t>(lanes.alignment);
    });
}

} // namespace

bool never_wraps(const Lanes& lanes) {
    // A base that some lane has is as small as they are.
    const auto is_small = [&] {
        return lanes.most <= MAX_UNSIGNED_INDEX && std::ranges::min(lanes.offsets) == 0;
    };
    return lanes.is_uniform() || (lanes.is_pattern() && (is_low(lanes) || is_small()));
}

Lanes lanes_of(const Graph& graph, const Ref& ref, Version version) {
    switch (ref.kind) {
    case Ref::Kind::Value:
        return graph.lanes(ref.value, version);
    case Ref::Kind::Constant: {
        // The low bits are the same at any width.
        const std::uint64_t bits = constant_of(graph, ref, Width::B32);
        return uniform(alignment_of(bits), bits <= MAX_UNSIGNED_INDEX ? bits : UNBOUNDED);
    }
    case Ref::Kind::Lanes:
        return lanes_of_constant(graph, ref);
    case Ref::Kind::Bank:
        return lanes_of_bank(graph, ref.operand);
    default:
        return uniform();
    }
}

namespace analysis {

namespace {

/// Computes the lanes of one result.
class Rule {
public:
    Rule(const Graph& graph, const Node& node, Version version)
        : graph_(graph), node_(node), instruction_(graph.kernel->code[node.pc]) {
        for (const Ref& ref : node.sources) {
            sources_.push_back(lanes_of(graph, ref, version));
        }
    }

    [[nodiscard]] Lanes result(std::size_t index) const;

    /// Returns Lanes::symmetry of a result that varies.
    [[nodiscard]] std::uint8_t symmetry() const;

private:
    [[nodiscard]] bool are_all_uniform() const {
        return std::ranges::all_of(sources_, &Lanes::is_uniform);
    }

    [[nodiscard]] Lanes other() const { return are_all_uniform() ? uniform() : varying(); }

    [[nodiscard]] Lanes move(const MoveForm& form) const;
    [[nodiscard]] Lanes integer(const IntegerForm& form) const;
    [[nodiscard]] Lanes bits(const BitsForm& form) const;
    [[nodiscard]] Lanes bitwise(const BitsForm& form) const;
    [[nodiscard]] Lanes insertion() const;
    [[nodiscard]] Lanes convert(const ConvertForm& form) const;
    [[nodiscard]] Lanes compare(const CompareForm& form) const;
    [[nodiscard]] Lanes load(const MemoryForm& form) const;
    [[nodiscard]] Lanes warp(const WarpForm& form) const;

    [[nodiscard]] const Lanes& source(std::size_t index) const { return sources_[index]; }

    [[nodiscard]] bool is_affine(std::size_t index) const {
        return source(index).is_uniform() || source(index).is_pattern();
    }

    [[nodiscard]] std::optional<std::uint64_t> known(std::size_t index) const {
        return known_bits(graph_, node_.sources[index], source_width(instruction_, index));
    }

    [[nodiscard]] std::int64_t offset(std::size_t index, std::size_t lane) const {
        return source(index).is_pattern() ? source(index).offsets[lane] : 0;
    }

    /// Returns a pattern whose offsets are computed from those of the sources.
    template <typename Compute>
    [[nodiscard]] Lanes from_offsets(std::uint64_t alignment, Compute compute) const {
        std::vector<std::int64_t> offsets(graph_.shape.lanes);
        for (std::size_t lane = 0; lane < offsets.size(); ++lane) {
            offsets[lane] = compute(lane);
            // Far ones would overflow in what is computed from them.
            if (std::abs(offsets[lane]) > MAX_OFFSET) {
                return varying();
            }
        }
        return pattern(std::move(offsets), alignment);
    }

    [[nodiscard]] std::uint8_t butterfly(std::size_t shuffled, std::size_t other) const;
    [[nodiscard]] std::uint32_t original(std::uint32_t value) const;
    [[nodiscard]] Lanes product(std::size_t left, std::size_t right, bool is_signed) const;
    [[nodiscard]] Lanes sum(const Lanes& left, const Lanes& right, std::int64_t factor) const;

    static constexpr std::int64_t MAX_OFFSET = std::int64_t{1} << 31;

    const Graph& graph_;
    const Node& node_;
    const Instruction& instruction_;
    std::vector<Lanes> sources_;
};

bool is_64_bits(ptx::Type type) {
    return type == ptx::Type::U64 || type == ptx::Type::S64 || type == ptx::Type::B64;
}

bool is_32_bits(ptx::Type type) {
    return type == ptx::Type::U32 || type == ptx::Type::S32 || type == ptx::Type::B32;
}

/// Returns a known number as its type has it.
std::int64_t number_of(std::uint64_t bits, bool is_64, bool is_signed) {
    if (is_64) {
        return static_cast<std::int64_t>(bits);
    }
    const auto word = static_cast<std::uint32_t>(bits);
    return is_signed ? static_cast<std::int32_t>(word) : static_cast<std::int64_t>(word);
}

Lanes Rule::result(std::size_t index) const {
    if (std::ranges::any_of(
            sources_, [](const Lanes& lanes) { return lanes.kind == Lanes::Kind::Unknown; })) {
        return {};
    }
    const bytecode::Form& form = instruction_.form;
    switch (form.family()) {
    case Family::Move:
        return move(form.as<MoveForm>());
    case Family::Integer:
        return integer(form.as<IntegerForm>());
    case Family::Bits:
        return bits(form.as<BitsForm>());
    case Family::Convert:
        return convert(form.as<ConvertForm>());
    case Family::Compare:
        return compare(form.as<CompareForm>());
    case Family::Memory:
        return load(form.as<MemoryForm>());
    case Family::Warp:
        return index == 0 ? warp(form.as<WarpForm>()) : varying();
    case Family::Dot:
    case Family::Carry:
    case Family::Float:
    case Family::Pack:
        return other();
    case Family::Fixed:
        switch (form.as<FixedOp>()) {
        case FixedOp::ReadClock32: // all lanes read it at the same time
        case FixedOp::ReadClock64:
        case FixedOp::ReadTimer32:
        case FixedOp::ReadTimer64:
            return uniform();
        default:
            return varying();
        }
    default:
        return varying();
    }
}

/// Returns what a value is a copy of.
std::uint32_t Rule::original(std::uint32_t value) const {
    for (;;) {
        const Value& it = graph_.values[value];
        if (it.kind != Value::Kind::Result) {
            return value;
        }
        const Node& node = graph_.blocks[it.block].nodes[it.node];
        const bytecode::Form& form = graph_.kernel->code[node.pc].form;
        if (form.family() != Family::Move || form.as<MoveForm>().op != MoveOp::Copy ||
            node.guard.kind != Ref::Kind::None || node.sources[0].kind != Ref::Kind::Value) {
            return value;
        }
        value = node.sources[0].value;
    }
}

/// Returns the bit in which a butterfly shuffle exchanges lanes, if one source is what the other
/// one is in the lanes across.
std::uint8_t Rule::butterfly(std::size_t shuffled, std::size_t other) const {
    const Ref& ref = node_.sources[shuffled];
    if (ref.kind != Ref::Kind::Value || node_.sources[other].kind != Ref::Kind::Value) {
        return 0;
    }
    const Value& value = graph_.values[original(ref.value)];
    if (value.kind != Value::Kind::Result) {
        return 0;
    }
    const Node& from = graph_.blocks[value.block].nodes[value.node];
    const bytecode::Form& form = graph_.kernel->code[from.pc].form;
    if (form.family() != Family::Warp || form.as<WarpForm>().op != WarpOp::ShuffleButterfly ||
        from.guard.kind != Ref::Kind::None || from.sources[0].kind != Ref::Kind::Value ||
        original(from.sources[0].value) != original(node_.sources[other].value)) {
        return 0;
    }
    const auto distance = known_bits(graph_, from.sources[1], Width::B32);
    const auto control = known_bits(graph_, from.sources[2], Width::B32);
    return distance && control && (*control & 0x1f1f) == 0x1f && std::has_single_bit(*distance) &&
                   *distance < bytecode::WARP_SIZE
               ? static_cast<std::uint8_t>(*distance)
               : std::uint8_t{0};
}

std::uint8_t Rule::symmetry() const {
    if (graph_.shape.lanes != bytecode::WARP_SIZE) {
        return 0;
    }
    const auto of = [](const Lanes& lanes) {
        if (!lanes.is_pattern()) {
            return lanes.is_uniform() ? WHOLE_SYMMETRY : lanes.symmetry;
        }
        std::uint8_t bits = WHOLE_SYMMETRY;
        for (std::size_t lane = 0; lane < lanes.offsets.size(); ++lane) {
            for (std::size_t bit = 1; bit < bytecode::WARP_SIZE; bit *= 2) {
                if (lanes.offsets[lane] != lanes.offsets[lane ^ bit]) {
                    bits &= static_cast<std::uint8_t>(~bit);
                }
            }
        }
        return bits;
    };
    const auto of_all = [&] {
        std::uint8_t bits = WHOLE_SYMMETRY;
        for (const Lanes& lanes : sources_) {
            bits &= of(lanes);
        }
        return bits;
    };
    // Sources can be exchanged without any change of the result.
    bool is_symmetric = false;
    const bytecode::Form& form = instruction_.form;
    switch (form.family()) {
    case Family::Warp:
        return form.as<WarpForm>().op == WarpOp::ShuffleButterfly && sources_[1].is_uniform() &&
                       (known(2).value_or(0) & 0x1f1f) == 0x1f
                   ? of(sources_[0])
                   : std::uint8_t{0};
    case Family::Float: {
        const auto about = form.as<FloatForm>();
        is_symmetric =
            about.type == ptx::Type::F32 && (about.op == FloatOp::Add || about.op == FloatOp::Mul ||
                                             about.op == FloatOp::Min || about.op == FloatOp::Max);
        break;
    }
    case Family::Integer: {
        const IntegerOp op = form.as<IntegerForm>().op;
        is_symmetric = op == IntegerOp::Add || op == IntegerOp::MulLo || op == IntegerOp::Min ||
                       op == IntegerOp::Max;
        break;
    }
    case Family::Bits: {
        const BitsOp op = form.as<BitsForm>().op;
        is_symmetric = op == BitsOp::And || op == BitsOp::Or || op == BitsOp::Xor;
        break;
    }
    case Family::Move:
    case Family::Convert:
    case Family::Compare:
    case Family::Dot:
    case Family::Pack:
        break;
    default:
        return 0;
    }
    std::uint8_t bits = of_all();
    if (is_symmetric && sources_.size() == 2) {
        bits |= butterfly(0, 1);
        bits |= butterfly(1, 0);
    }
    return bits;
}

Lanes Rule::move(const MoveForm& form) const {
    switch (form.op) {
    case MoveOp::Copy:
        return form.width == Width::B32 || form.width == Width::B64 ? source(0) : other();
    case MoveOp::Select:
        return source(2).is_uniform() ? meet(source(0), source(1)) : varying();
    case MoveOp::Clock:
    case MoveOp::ClockHigh:
    case MoveOp::GlobalTimer:
    case MoveOp::GlobalTimerHigh:
    case MoveOp::ActiveMask:
        return uniform();
    default:
        return other();
    }
}

Lanes Rule::sum(const Lanes& left, const Lanes& right, std::int64_t factor) const {
    const auto offset_of = [](const Lanes& lanes, std::size_t lane) {
        return lanes.is_pattern() ? lanes.offsets[lane] : 0;
    };
    if (left.is_varying() || right.is_varying()) {
        return varying();
    }
    return from_offsets(std::min(left.alignment, right.alignment), [&](std::size_t lane) {
        return offset_of(left, lane) + factor * offset_of(right, lane);
    });
}

Lanes Rule::product(std::size_t left, std::size_t right, bool is_signed) const {
    if (source(left).is_uniform() && source(right).is_uniform()) {
        return uniform(source(left).alignment * source(right).alignment);
    }
    for (const auto& [of, by] : {std::pair(left, right), std::pair(right, left)}) {
        const auto bits = known(by);
        if (bits && source(of).is_pattern()) {
            const std::int64_t factor =
                number_of(*bits, source_width(instruction_, by) == Width::B64, is_signed);
            if (std::abs(factor) > MAX_OFFSET) {
                return varying();
            }
            return from_offsets(source(of).alignment * alignment_of(*bits), [&](std::size_t lane) {
                return std::abs(offset(of, lane)) > MAX_OFFSET ? MAX_OFFSET + 1
                                                               : offset(of, lane) * factor;
            });
        }
    }
    return varying();
}

Lanes Rule::integer(const IntegerForm& form) const {
    const bool is_64 = is_64_bits(form.type);
    if (form.is_saturating || form.is_packed || (!is_64 && !is_32_bits(form.type))) {
        return other();
    }
    const bool has_sign = is_signed(form.type);
    switch (form.op) {
    case IntegerOp::Add:
        return sum(source(0), source(1), 1);
    case IntegerOp::Sub:
        return sum(source(0), source(1), -1);
    case IntegerOp::Neg:
        return sum(uniform(MAX_ALIGNMENT), source(0), -1);
    case IntegerOp::MulLo:
    case IntegerOp::MulWide:
        return product(0, 1, has_sign || form.op == IntegerOp::MulLo);
    case IntegerOp::MadLo:
    case IntegerOp::MadWide:
        return sum(product(0, 1, has_sign || form.op == IntegerOp::MadLo), source(2), 1);
    case IntegerOp::Min:
    case IntegerOp::Max:
        return are_all_uniform() ? uniform(std::min(source(0).alignment, source(1).alignment))
                                 : varying();
    case IntegerOp::Div:
    case IntegerOp::Rem: {
        const auto divisor = known(1);
        if ((has_sign && source(0).most > MAX_UNSIGNED_INDEX) || !divisor ||
            !std::has_single_bit(*divisor) || !source(0).is_pattern() || !is_low(source(0))) {
            return other();
        }
        const auto by = static_cast<std::int64_t>(*divisor);
        const std::uint64_t alignment = source(0).alignment;
        if (form.op == IntegerOp::Rem) {
            return from_offsets(alignment >= *divisor ? MAX_ALIGNMENT : alignment,
                                [&](std::size_t lane) { return offset(0, lane) & (by - 1); });
        }
        return alignment < *divisor ? varying()
                                    : from_offsets(
                                          alignment / *divisor,
                                          [&](std::size_t lane) { return offset(0, lane) / by; });
    }
    default:
        return other();
    }
}

/// and, or, xor.
Lanes Rule::bitwise(const BitsForm& form) const {
    const bool is_and = form.op == BitsOp::And;
    if (are_all_uniform()) {
        return uniform(is_and ? std::max(source(0).alignment, source(1).alignment)
                              : std::min(source(0).alignment, source(1).alignment));
    }
    for (const auto& [of, by] : {std::pair(0, 1), std::pair(1, 0)}) {
        const auto bits = known(static_cast<std::size_t>(by));
        const auto place = static_cast<std::size_t>(of);
        const Lanes& lanes = source(place);
        const Lanes& aligned = source(static_cast<std::size_t>(by));
        if (!is_and && lanes.is_pattern() && aligned.is_uniform() &&
            lanes.most < aligned.alignment && std::ranges::min(lanes.offsets) == 0) {
            return sum(lanes, aligned, 1); // they have no bits in common
        }
        if (!bits || !lanes.is_pattern() || !is_low(lanes)) {
            continue;
        }
        // A lane's offset and the base have no bits in common.
        const auto mask = static_cast<std::int64_t>(*bits);
        if (is_and) {
            return from_offsets(*bits < lanes.alignment
                                    ? MAX_ALIGNMENT
                                    : std::max(lanes.alignment, alignment_of(*bits)),
                                [&](std::size_t lane) { return offset(place, lane) & mask; });
        }
        if (*bits < lanes.alignment) {
            return from_offsets(lanes.alignment, [&](std::size_t lane) {
                return form.op == BitsOp::Or ? offset(place, lane) | mask
                                             : offset(place, lane) ^ mask;
            });
        }
    }
    return varying();
}

/// bfi: the lower bits of the first source are put into the second one.
Lanes Rule::insertion() const {
    const auto position = known(2);
    const auto length = known(3);
    if (!position || !length || *position + *length != 32 || !is_affine(0) || !is_affine(1)) {
        return other();
    }
    const std::int64_t limit = std::int64_t{1} << *position;
    // Of the second source, only the bits below the position stay.
    bool is_kept = true;
    for (std::size_t lane = 0; lane < graph_.shape.lanes; ++lane) {
        is_kept &= offset(1, lane) >= 0 && offset(1, lane) < limit;
    }
    if (!source(1).is_uniform() && !(is_kept && source(1).alignment >= std::uint64_t(limit))) {
        return varying();
    }
    return from_offsets(std::min(source(0).alignment << *position, source(1).alignment),
                        [&](std::size_t lane) {
                            return std::abs(offset(0, lane)) > MAX_OFFSET >> *position
                                       ? MAX_OFFSET + 1
                                       : offset(0, lane) * limit + offset(1, lane);
                        });
}

Lanes Rule::bits(const BitsForm& form) const {
    if (form.bits == 16) {
        return other();
    }
    switch (form.op) {
    case BitsOp::And:
    case BitsOp::Or:
    case BitsOp::Xor:
        return bitwise(form);
    case BitsOp::Bfi:
        return form.bits == 32 ? insertion() : other();
    case BitsOp::Shl: {
        const auto count = known(1);
        if (!source(1).is_uniform() || !is_affine(0)) {
            return varying();
        }
        if (!count) {
            return source(0).is_uniform() ? uniform(source(0).alignment) : varying();
        }
        if (*count >= 31) {
            return other();
        }
        return from_offsets(std::min(source(0).alignment << *count, MAX_ALIGNMENT),
                            [&](std::size_t lane) {
                                return std::abs(offset(0, lane)) > MAX_OFFSET >> *count
                                           ? MAX_OFFSET + 1
                                           : offset(0, lane) * (std::int64_t{1} << *count);
                            });
    }
    case BitsOp::ShrUnsigned:
    case BitsOp::ShrSigned: {
        const auto count = known(1);
        if (!count || !is_affine(0) || *count > 30 || !is_low(source(0))) {
            return other();
        }
        if (source(0).alignment >> *count == 0) { // what differs is shifted out
            return uniform();
        }
        return from_offsets(source(0).alignment >> *count,
                            [&](std::size_t lane) { return offset(0, lane) >> *count; });
    }
    default:
        return other();
    }
}

Lanes Rule::convert(const ConvertForm& form) const {
    // Registers may be wider than the number in them; such conversions extend in another way.
    const auto is_whole = [](Format format, Width width) {
        return ((format == Format::U32 || format == Format::S32) && width == Width::B32) ||
               ((format == Format::U64 || format == Format::S64) && width == Width::B64);
    };
    return is_whole(form.from, form.from_width) && is_whole(form.to, form.to_width) &&
                   !form.is_saturating
               ? source(0)
               : other();
}

Lanes Rule::compare(const CompareForm& form) const {
    if (are_all_uniform()) {
        return uniform();
    }
    const bool is_order = form.compare == Compare::Lt || form.compare == Compare::Ge;
    const bool is_integer = is_64_bits(form.type) || is_32_bits(form.type);
    if (!is_order || !is_integer || !source(0).is_pattern() || !source(1).is_uniform() ||
        !is_low(source(0)) || (sources_.size() > 2 && !source(2).is_uniform())) {
        return varying();
    }
    // The lanes lie between two multiples of a power of two, and the limit is such a multiple.
    const std::uint64_t last = static_cast<std::uint64_t>(std::ranges::max(source(0).offsets));
    const std::uint64_t unit = std::bit_ceil(last + 1);
    return unit <= source(0).alignment && unit <= source(1).alignment ? uniform() : varying();
}

Lanes Rule::load(const MemoryForm& form) const {
    // Every thread has its own local memory, which generic addresses reach too.
    const bool is_shared_by_all =
        form.space == ptx::Space::Global || form.space == ptx::Space::Shared ||
        form.space == ptx::Space::Constant ||
        (form.space == ptx::Space::None && graph_.kernel->local_bytes == 0);
    return is_shared_by_all && source(0).is_uniform() ? uniform() : varying();
}

Lanes Rule::warp(const WarpForm& form) const {
    // Lanes with the same member mask get the same result, if a gang is a warp.
    if (graph_.shape.lanes != bytecode::WARP_SIZE || !sources_.back().is_uniform()) {
        return varying();
    }
    switch (form.op) {
    case WarpOp::VoteAll:
    case WarpOp::VoteAny:
    case WarpOp::VoteUni:
    case WarpOp::VoteBallot:
    case WarpOp::MatchAll:
    case WarpOp::ReduxAdd:
    case WarpOp::ReduxMinUnsigned:
    case WarpOp::ReduxMaxUnsigned:
    case WarpOp::ReduxMinSigned:
    case WarpOp::ReduxMaxSigned:
    case WarpOp::ReduxAnd:
    case WarpOp::ReduxOr:
    case WarpOp::ReduxXor:
    case WarpOp::ReduxMinFloat:
    case WarpOp::ReduxMaxFloat:
    case WarpOp::Elect:
        return uniform();
    default:
        return varying();
    }
}

} // namespace

Lanes meet(const Lanes& left, const Lanes& right) {
    if (left.kind == Lanes::Kind::Unknown) {
        return right;
    }
    if (right.kind == Lanes::Kind::Unknown) {
        return left;
    }
    if (left.kind != right.kind || left.offsets != right.offsets) {
        Lanes both = varying();
        both.most = std::max(left.most, right.most);
        if (!left.is_pattern() && !right.is_pattern()) {
            both.symmetry = left.is_uniform() ? right.symmetry : left.symmetry;
        }
        return both;
    }
    Lanes both = left;
    both.symmetry = left.symmetry & right.symmetry;
    both.most = std::max(left.most, right.most);
    both.alignment = std::min(left.alignment, right.alignment);
    return both;
}

Lanes lanes_of_result(const Graph& graph, const Node& node, std::size_t result, Version version) {
    const Rule rule(graph, node, version);
    Lanes lanes = rule.result(result);
    if (result == 0 && lanes.kind != Lanes::Kind::Unknown) {
        lanes.most = most_of_result(graph, node, version);
        if (lanes.most == 0) {
            lanes = uniform(MAX_ALIGNMENT, 0);
        }
    }
    if (lanes.is_varying() && result == 0 && version == Version::Full) {
        lanes.symmetry = rule.symmetry();
    }
    return lanes;
}

Lanes lanes_of_entry(const Graph& graph, const Value& value) {
    if (value.block != NONE) {
        return varying();
    }
    const Shape& shape = graph.shape;
    const auto& specials = graph.kernel->warp_specials;
    const auto found = std::ranges::find(specials, value.slot, &bytecode::SpecialSlot::offset);
    if (found == specials.end()) {
        return varying();
    }
    switch (found->special) {
    case Special::TidX: {
        if (!shape.has_whole_rows && !shape.has_one_row) {
            Lanes lanes = varying();
            lanes.most = MAX_BLOCK_SIZE - 1;
            return lanes;
        }
        std::vector<std::int64_t> offsets(shape.lanes);
        for (std::size_t lane = 0; lane < offsets.size(); ++lane) {
            offsets[lane] = static_cast<std::int64_t>(lane);
        }
        Lanes lanes = pattern(std::move(offsets), shape.lanes);
        lanes.most = MAX_BLOCK_SIZE - 1;
        return lanes;
    }
    case Special::TidY:
    case Special::TidZ: {
        Lanes lanes = shape.has_one_row      ? uniform(MAX_ALIGNMENT)
                      : shape.has_whole_rows ? uniform()
                                             : varying();
        lanes.most = shape.has_one_row ? 0 : MAX_BLOCK_SIZE - 1;
        return lanes;
    }
    case Special::WarpId:
        return uniform();
    default:
        return varying();
    }
}

} // namespace analysis

} // namespace cuprum::emulator::jit
