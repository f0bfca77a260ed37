// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "jit/address.hpp"

#include "bytecode/forms.hpp"

#include <algorithm>
#include <cstdlib>

namespace cuprum::emulator::jit {

using bytecode::Family;
using bytecode::Width;

namespace {

/// Longer chains of computations, and longer sums, are not followed.
constexpr std::uint32_t MAX_DEPTH = 32;
constexpr std::size_t MAX_SUMMANDS = 6;

/// Larger scales and offsets are not worth it, and could overflow.
constexpr std::int64_t MAX_SCALE = 1 << 20;
constexpr std::int64_t MAX_OFFSET = std::int64_t{1} << 40;

const bytecode::Form& form_of(const Graph& graph, const Node& node) {
    return graph.kernel->code[node.pc].form;
}

bool is_integer(const bytecode::Form& form, IntegerOp op) {
    return form.family() == Family::Integer && form.as<IntegerForm>().op == op &&
           !form.as<IntegerForm>().is_saturating && !form.as<IntegerForm>().is_packed;
}

bool is_copy(const bytecode::Form& form) {
    return form.family() == Family::Move && form.as<MoveForm>().op == MoveOp::Copy;
}

bool is_shift_left(const bytecode::Form& form) {
    return form.family() == Family::Bits && form.as<BitsForm>().op == BitsOp::Shl &&
           form.as<BitsForm>().bits != 16;
}

bool is_of_16_bits(const bytecode::Form& form) {
    return form.family() == Family::Integer && (form.as<IntegerForm>().type == ptx::Type::U16 ||
                                                form.as<IntegerForm>().type == ptx::Type::S16);
}

/// Multiplies a sum. Returns false if that gets too large.
bool multiply(Address& address, std::int64_t by) {
    if (std::abs(by) > MAX_SCALE || std::abs(address.scale) * std::abs(by) > MAX_SCALE ||
        std::abs(address.constant) > MAX_OFFSET) {
        return false;
    }
    address.constant *= by;
    address.scale *= by;
    for (Summand& summand : address.base) {
        if (std::abs(summand.factor) > MAX_SCALE) {
            return false;
        }
        summand.factor *= by;
    }
    for (std::int64_t& offset : address.offsets) {
        offset *= by;
        if (std::abs(offset) > MAX_OFFSET) {
            return false;
        }
    }
    return true;
}

} // namespace

Addresses::Addresses(const Graph& graph, Version version) : graph_(graph), version_(version) {
    find_probable();
}

const Address* Addresses::parts(std::uint32_t value, bool follows_phis) {
    Ref ref;
    ref.kind = Ref::Kind::Value;
    ref.value = value;
    return find(ref, follows_phis, 0);
}

const Address* Addresses::find(const Ref& ref, bool follows_phis, std::uint32_t depth) {
    if (ref.kind != Ref::Kind::Value || depth > MAX_DEPTH ||
        !graph_.lanes(ref.value, version_).is_varying()) {
        return nullptr;
    }
    auto& known = follows_phis ? parts_along_phis_ : parts_;
    auto found = known.find(ref.value);
    if (found == known.end()) {
        known.emplace(ref.value, std::nullopt); // a cycle has no parts
        std::optional<Address> address = split(ref.value, follows_phis, depth + 1);
        found = known.find(ref.value);
        found->second = std::move(address);
    }
    return found->second ? &*found->second : nullptr;
}

std::optional<Address> Addresses::split(std::uint32_t value, bool follows_phis,
                                        std::uint32_t depth) {
    const Value& it = graph_.values[value];
    if (it.kind == Value::Kind::Phi && follows_phis && it.width == Width::B64) {
        const MovingPhi* const moves = moving(value);
        if (moves == nullptr) {
            return std::nullopt;
        }
        Address address = moves->start;
        Summand distance;
        distance.phi = value;
        address.base.push_back(distance);
        return address;
    }
    if (it.kind != Value::Kind::Result) {
        return std::nullopt;
    }
    const Node& node = graph_.blocks[it.block].nodes[it.node];
    if (node.guard.kind != Ref::Kind::None) {
        return std::nullopt;
    }
    return it.width == Width::B64   ? split_long(node, follows_phis, depth)
           : it.width == Width::B32 ? split_word(node, depth)
                                    : std::nullopt;
}

std::optional<std::uint64_t> Addresses::known(const Node& node, std::size_t source) const {
    return known_bits(graph_, node.sources[source],
                      source_width(graph_.kernel->code[node.pc], source));
}

/// Adds a uniform value or a pattern. Returns false if it is neither.
bool Addresses::add(Address& address, const Ref& ref, std::int64_t factor) const {
    const Lanes of = lanes(ref);
    if (!of.is_uniform() && !of.is_pattern()) {
        return false;
    }
    if (of.is_pattern()) {
        address.offsets.resize(graph_.shape.lanes, 0);
        for (std::size_t lane = 0; lane < address.offsets.size(); ++lane) {
            address.offsets[lane] += factor * of.offsets[lane];
        }
    }
    Summand summand;
    summand.value = ref;
    summand.factor = factor;
    address.base.push_back(summand);
    return address.base.size() <= MAX_SUMMANDS;
}

/// Returns a source of 32 bits, extended and scaled.
std::optional<Address> Addresses::widened(const Node& node, std::size_t source, bool is_signed,
                                          std::int64_t scale) const {
    if (!lanes(node.sources[source]).is_varying() || std::abs(scale) > MAX_SCALE) {
        return std::nullopt;
    }
    Address address;
    address.index = node.sources[source];
    address.is_signed = is_signed;
    address.scale = scale;
    return address;
}

std::optional<Address> Addresses::split_long(const Node& node, bool follows_phis,
                                             std::uint32_t depth) {
    const bytecode::Form& form = form_of(graph_, node);
    const auto part = [&](std::size_t source) {
        return find(node.sources[source], follows_phis, depth);
    };
    if (is_copy(form)) {
        const Address* const of = part(0);
        return of == nullptr ? std::nullopt : std::optional(*of);
    }
    if (form.family() == Family::Convert) {
        const auto convert = form.as<ConvertForm>();
        const bool is_signed = convert.from == Format::S32;
        const bool is_long = convert.to == Format::S64 || convert.to == Format::U64;
        return is_long && (is_signed || convert.from == Format::U32) &&
                       convert.from_width == Width::B32 && !convert.is_saturating
                   ? widened(node, 0, is_signed, 1)
                   : std::nullopt;
    }
    const bool is_mad = is_integer(form, IntegerOp::MadWide);
    if (is_mad || is_integer(form, IntegerOp::MulWide)) {
        const bool is_signed = form.as<IntegerForm>().type == ptx::Type::S32;
        if (!is_signed && form.as<IntegerForm>().type != ptx::Type::U32) {
            return std::nullopt;
        }
        for (const std::size_t factor : {std::size_t{1}, std::size_t{0}}) {
            const auto bits = known(node, factor);
            if (!bits) {
                continue;
            }
            const auto word = static_cast<std::uint32_t>(*bits);
            const std::int64_t scale =
                is_signed ? static_cast<std::int32_t>(word) : static_cast<std::int64_t>(word);
            std::optional<Address> address = widened(node, 1 - factor, is_signed, scale);
            if (address && is_mad && !add(*address, node.sources[2], 1)) {
                return std::nullopt;
            }
            return address;
        }
        return std::nullopt;
    }
    if (is_shift_left(form) || is_integer(form, IntegerOp::MulLo)) {
        const Address* const of = part(0);
        const auto bits = known(node, 1);
        if (of == nullptr || !bits || *bits >= (is_shift_left(form) ? 20 : MAX_SCALE)) {
            return std::nullopt;
        }
        Address address = *of;
        return multiply(address, is_shift_left(form) ? std::int64_t{1} << *bits
                                                     : static_cast<std::int64_t>(*bits))
                   ? std::optional(std::move(address))
                   : std::nullopt;
    }
    const bool is_sum = is_integer(form, IntegerOp::Add);
    if (!is_sum && !is_integer(form, IntegerOp::Sub)) {
        return std::nullopt;
    }
    for (const std::size_t of : {std::size_t{0}, std::size_t{1}}) {
        const Address* const varying = part(of);
        if (varying == nullptr || (of == 1 && !is_sum)) {
            continue;
        }
        Address address = *varying;
        const std::int64_t sign = is_sum ? 1 : -1;
        const auto bits = known(node, 1 - of);
        const auto number = static_cast<std::int64_t>(bits.value_or(0));
        if (bits && number > -MAX_OFFSET && number < MAX_OFFSET &&
            std::abs(address.constant) < MAX_OFFSET) {
            address.constant += sign * number;
            return address;
        }
        if (add(address, node.sources[1 - of], sign)) {
            return address;
        }
        return std::nullopt;
    }
    return std::nullopt;
}

/// Takes apart what is computed modulo 2^32.
std::optional<Address> Addresses::split_word(const Node& node, std::uint32_t depth) {
    const bytecode::Form& form = form_of(graph_, node);
    if (is_of_16_bits(form)) {
        return std::nullopt;
    }
    const auto part = [&](std::size_t source) -> std::optional<Address> {
        const Ref& ref = node.sources[source];
        if (const Address* const address = find(ref, false, depth)) {
            return *address;
        }
        return widened(node, source, true, 1);
    };
    if (is_copy(form)) {
        return part(0);
    }
    if (is_shift_left(form)) {
        const auto bits = known(node, 1);
        std::optional<Address> address = part(0);
        return address && bits && *bits < 20 && multiply(*address, std::int64_t{1} << *bits)
                   ? address
                   : std::nullopt;
    }
    const bool is_sum = is_integer(form, IntegerOp::Add);
    if (is_sum || is_integer(form, IntegerOp::Sub)) {
        for (const std::size_t of : {std::size_t{0}, std::size_t{1}}) {
            if ((of == 1 && !is_sum) || !lanes(node.sources[of]).is_varying() ||
                lanes(node.sources[1 - of]).is_varying()) {
                continue;
            }
            std::optional<Address> address = part(of);
            const std::int64_t sign = is_sum ? 1 : -1;
            if (const auto bits = known(node, 1 - of); address && bits) {
                address->constant += sign * static_cast<std::int32_t>(*bits);
                return std::abs(address->constant) < MAX_OFFSET ? address : std::nullopt;
            }
            return address && add(*address, node.sources[1 - of], sign) ? address : std::nullopt;
        }
        return std::nullopt;
    }
    if (!is_integer(form, IntegerOp::MadLo) || !lanes(node.sources[2]).is_varying() ||
        !lanes(node.sources[0]).is_uniform() || !lanes(node.sources[1]).is_uniform()) {
        return std::nullopt;
    }
    std::optional<Address> address = part(2);
    if (address) {
        Summand product;
        product.value = node.sources[0];
        product.other = node.sources[1];
        address->base.push_back(product);
    }
    return address && address->base.size() <= MAX_SUMMANDS ? address : std::nullopt;
}

// ---- phis that move ----------------------------------------------------------------------------

const MovingPhi* Addresses::moving(std::uint32_t phi) {
    auto found = moving_.find(phi);
    if (found == moving_.end()) {
        moving_.emplace(phi, std::nullopt);
        std::optional<MovingPhi> moves = find_moving(phi, 0);
        found = moving_.find(phi);
        found->second = std::move(moves);
    }
    return found->second ? &*found->second : nullptr;
}

std::optional<MovingPhi> Addresses::find_moving(std::uint32_t phi, std::uint32_t depth) {
    const Value& value = graph_.values[phi];
    if (value.kind != Value::Kind::Phi || value.width != Width::B64 || value.inputs.size() != 2) {
        return std::nullopt;
    }
    const Block& block = graph_.blocks[value.block];
    if (block.loop == NONE || graph_.loops[block.loop].header != value.block) {
        return std::nullopt;
    }
    const std::size_t back = block.predecessors[1] == graph_.loops[block.loop].latch ? 1 : 0;
    Ref outside;
    outside.kind = Ref::Kind::Value;
    outside.value = value.inputs[1 - back];
    const Address* const start = find(outside, true, depth);
    if (start == nullptr) {
        return std::nullopt;
    }
    MovingPhi moves;
    moves.start = *start;
    Address steps; // only its sum is used
    std::uint32_t at = value.inputs[back];
    for (std::uint32_t length = 0; at != phi; ++length) {
        const Value& here = graph_.values[at];
        if (here.kind != Value::Kind::Result || length > MAX_DEPTH) {
            return std::nullopt;
        }
        const Node& node = graph_.blocks[here.block].nodes[here.node];
        const bytecode::Form& form = form_of(graph_, node);
        const bool is_sum = is_integer(form, IntegerOp::Add);
        const bool is_difference = is_integer(form, IntegerOp::Sub);
        if (node.guard.kind != Ref::Kind::None || !(is_sum || is_difference || is_copy(form))) {
            return std::nullopt;
        }
        std::size_t of = 0;
        if (is_sum && lanes(node.sources[0]).is_uniform()) {
            of = 1;
        }
        if (!is_copy(form)) {
            const std::int64_t sign = is_sum ? 1 : -1;
            const auto bits = known(node, 1 - of);
            const auto number = static_cast<std::int64_t>(bits.value_or(0));
            if (bits && number > -MAX_OFFSET && number < MAX_OFFSET) {
                moves.constant_step += sign * number;
            } else if (!lanes(node.sources[1 - of]).is_uniform() ||
                       !add(steps, node.sources[1 - of], sign)) {
                return std::nullopt;
            }
        }
        if (node.sources[of].kind != Ref::Kind::Value) {
            return std::nullopt;
        }
        at = node.sources[of].value;
    }
    moves.steps = std::move(steps.base);
    return moves;
}

// ---- what lanes probably are -------------------------------------------------------------------

const std::vector<std::int64_t>* Addresses::probable_offsets(std::uint32_t value) const {
    const auto found = probable_.find(value);
    return found == probable_.end() ? nullptr : &found->second;
}

bool Addresses::is_probably_adjacent(const Address& address, std::int64_t bytes) const {
    const auto index = probable(address.index);
    if (!index) {
        return false;
    }
    const auto offset = [&](std::size_t lane) {
        return (index->empty() ? 0 : (*index)[lane] * address.scale) +
               (address.offsets.empty() ? 0 : address.offsets[lane]);
    };
    for (std::size_t lane = 1; lane < graph_.shape.lanes; ++lane) {
        if (offset(lane) - offset(0) != static_cast<std::int64_t>(lane) * bytes) {
            return false;
        }
    }
    return true;
}

std::optional<Addresses::Offsets> Addresses::probable(const Ref& ref) const {
    const Lanes of = lanes(ref);
    if (!of.is_varying()) {
        return of.offsets;
    }
    const std::vector<std::int64_t>* const found =
        ref.kind == Ref::Kind::Value ? probable_offsets(ref.value) : nullptr;
    return found == nullptr ? std::nullopt : std::optional(*found);
}

std::optional<Addresses::Offsets> Addresses::probable_of_node(const Node& node) const {
    const bytecode::Form& form = form_of(graph_, node);
    std::vector<std::optional<Offsets>> sources;
    for (const Ref& ref : node.sources) {
        sources.push_back(probable(ref));
    }
    const bool are_all_known =
        std::ranges::all_of(sources, [](const auto& source) { return source.has_value(); });
    const bool are_all_same = are_all_known && std::ranges::all_of(sources, [](const auto& source) {
                                  return source->empty();
                              });
    switch (form.family()) {
    case Family::Move:
    case Family::Integer:
    case Family::Bits:
    case Family::Compare:
    case Family::Convert:
        break;
    default:
        return std::nullopt;
    }
    if (are_all_same && !sources.empty()) {
        return Offsets{};
    }
    const auto combine = [&](std::int64_t factor) {
        const auto lanes = static_cast<std::size_t>(graph_.shape.lanes);
        Offsets sum(lanes, 0);
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            sum[lane] = (sources[0]->empty() ? 0 : (*sources[0])[lane]) +
                        factor * (sources[1]->empty() ? 0 : (*sources[1])[lane]);
        }
        const bool is_zero = std::ranges::all_of(sum, [](std::int64_t x) { return x == 0; });
        return is_zero ? Offsets{} : sum;
    };
    if (form.family() == Family::Compare) {
        return are_all_known ? std::optional(Offsets{}) : std::nullopt;
    }
    if (form.family() == Family::Move) {
        const MoveOp op = form.as<MoveForm>().op;
        if (op == MoveOp::Copy) {
            return sources[0];
        }
        return op == MoveOp::Select && sources[0] == sources[1] ? sources[0] : std::nullopt;
    }
    if (form.family() == Family::Bits) {
        const BitsOp op = form.as<BitsForm>().op;
        return op == BitsOp::ShrSigned && sources[0] && known(node, 1) == 31
                   ? std::optional(Offsets{}) // all have the same sign
                   : std::nullopt;
    }
    if (form.family() != Family::Integer) {
        return std::nullopt;
    }
    switch (form.as<IntegerForm>().op) {
    case IntegerOp::Add:
        return are_all_known ? std::optional(combine(1)) : std::nullopt;
    case IntegerOp::Sub:
        return are_all_known ? std::optional(combine(-1)) : std::nullopt;
    case IntegerOp::Min:
    case IntegerOp::Max:
        // The one that varies is within its limits, mostly.
        return !are_all_known ? std::nullopt : sources[0]->empty() ? sources[1] : sources[0];
    case IntegerOp::Rem:
        return sources[0];
    case IntegerOp::MadLo:
        return are_all_known && sources[0]->empty() && sources[1]->empty() ? sources[2]
                                                                           : std::nullopt;
    default:
        return std::nullopt;
    }
}

void Addresses::find_probable() {
    for (const Block& block : graph_.blocks) {
        for (const Node& node : block.nodes) {
            if (!node.is_needed || node.results.empty() || node.results[0] == NONE ||
                node.guard.kind != Ref::Kind::None) {
                continue;
            }
            const std::uint32_t result = node.results[0];
            const Width width = graph_.values[result].width;
            if (!graph_.lanes(result, version_).is_varying() ||
                (width != Width::B32 && width != Width::Predicate)) {
                continue;
            }
            if (std::optional<Offsets> offsets = probable_of_node(node)) {
                probable_.emplace(result, std::move(*offsets));
            }
        }
    }
}

} // namespace cuprum::emulator::jit
