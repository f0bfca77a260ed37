// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "decode/reader.hpp"

#include "decode/select.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>
#include <vector>

namespace cuprum::emulator::decoding {

using bytecode::Operand;
using bytecode::Width;
using ptx::Type;

namespace {

/// Compares two modifiers. They are so short that a call of memcmp() takes longer.
bool is_equal(std::string_view a, std::string_view b) noexcept {
    if (a.size() != b.size()) {
        return false;
    }
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i] != b[i]) {
            return false;
        }
    }
    return true;
}

/// Returns how many letters must be inserted, removed or replaced to turn one word into another.
std::size_t count_changes(std::string_view from, std::string_view to) {
    std::vector<std::size_t> row(to.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < from.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < to.size(); ++j) {
            const std::size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row[to.size()];
}

} // namespace

Reader::Reader(const ptx::Instruction& instruction, Lowering& lowering, Lists lists)
    : instruction_(instruction), lowering_(lowering), lists_(lists) {
    // The set of taken modifiers is one 64-bit word; no instruction comes near that many.
    if (instruction.modifiers.size() > 64) {
        reject("has too many modifiers");
    }
}

std::string Reader::name() const {
    std::string result(instruction_.opcode);
    for (const std::string_view modifier : instruction_.modifiers) {
        result += '.';
        result += modifier;
    }
    return result;
}

void Reader::note(std::string_view modifier) {
    if (lists_ == Lists::Yes && std::ranges::find(known_, modifier) == known_.end()) {
        known_.push_back(modifier);
    }
}

void Reader::need(std::string_view modifier) {
    if (!take(modifier)) {
        reject("needs ." + std::string(modifier));
    }
}

bool Reader::take(std::string_view modifier) {
    note(modifier);
    for (std::size_t i = 0; i < std::min<std::size_t>(instruction_.modifiers.size(), 64); ++i) {
        if ((taken_ >> i & 1) == 0 && is_equal(instruction_.modifiers[i], modifier)) {
            taken_ |= std::uint64_t{1} << i;
            return true;
        }
    }
    return false;
}

bool Reader::has(std::string_view modifier) const {
    for (std::size_t i = 0; i < std::min<std::size_t>(instruction_.modifiers.size(), 64); ++i) {
        if ((taken_ >> i & 1) == 0 && is_equal(instruction_.modifiers[i], modifier)) {
            return true;
        }
    }
    return false;
}

int Reader::take_one_of(std::initializer_list<std::string_view> modifiers) {
    int found = -1;
    int index = 0;
    for (const std::string_view modifier : modifiers) {
        if (take(modifier)) {
            if (found >= 0) {
                reject("has two modifiers that exclude each other, ." +
                       std::string(modifiers.begin()[found]) + " and ." + std::string(modifier));
            }
            found = index;
        }
        ++index;
    }
    return found;
}

Type Reader::take_type() {
    for (std::size_t i = 0; i < std::min<std::size_t>(instruction_.modifiers.size(), 64); ++i) {
        if ((taken_ >> i & 1) == 0) {
            if (const Type type = ptx::type_from(instruction_.modifiers[i]); type != Type::None) {
                taken_ |= std::uint64_t{1} << i;
                return type;
            }
        }
    }
    return Type::None;
}

Type Reader::take_type_of(std::initializer_list<Type> allowed) {
    for (const Type each : allowed) {
        note(ptx::to_string(each));
    }
    const Type type = take_type();
    if (type == Type::None) {
        reject_type();
    } else if (std::find(allowed.begin(), allowed.end(), type) == allowed.end()) {
        refuse("has no form for type ." + std::string(ptx::to_string(type)) + " here");
    }
    return type;
}

void Reader::reject_type() {
    // Packed types of later compute capabilities (.e4m3x4) are real, and no instruction here has
    // them.
    for (const std::string_view modifier : instruction_.modifiers) {
        const std::size_t count_at = modifier.rfind('x');
        if (count_at != std::string_view::npos && count_at + 2 == modifier.size() &&
            std::isdigit(static_cast<unsigned char>(modifier.back())) != 0) {
            refuse("has a type that is not supported here, ." + std::string(modifier));
            return;
        }
    }
    reject("has no known type");
}

std::string_view Reader::take_any() {
    const std::string_view result = peek();
    if (!result.empty()) {
        take(result);
    }
    return result;
}

std::string_view Reader::peek() const {
    for (std::size_t i = 0; i < std::min<std::size_t>(instruction_.modifiers.size(), 64); ++i) {
        if ((taken_ >> i & 1) == 0) {
            return instruction_.modifiers[i];
        }
    }
    return {};
}

Rounding Reader::take_rounding(bool* is_stated) {
    const int index = take_one_of({"rn", "rm", "rp", "rz"});
    if (is_stated != nullptr) {
        *is_stated = index >= 0;
    }
    return index < 0 ? Rounding::Nearest : static_cast<Rounding>(index);
}

bool Reader::take_order_and_scope(std::initializer_list<std::string_view> orders, Scope rule) {
    constexpr std::string_view NAMES[] = {"weak",    "relaxed", "volatile",
                                          "acquire", "release", "acq_rel"};
    const int given = take_one_of(orders);
    const int order =
        given < 0 ? -1 : static_cast<int>(std::ranges::find(NAMES, orders.begin()[given]) - NAMES);
    const int scope = take_one_of({"cta", "cluster", "gpu", "sys"});
    const bool has_threads = order >= 0 && order != 0 && order != 2;
    // Another order is a modifier that is left over, and says more than its scope.
    const bool has_other =
        given < 0 && std::ranges::any_of(NAMES, [&](std::string_view name) { return has(name); });
    if (rule == Scope::WithOrder && has_threads != (scope >= 0) && !has_other) {
        reject(has_threads ? "needs a scope: .cta, .cluster, .gpu or .sys"
                           : "has a scope without a memory order that needs one");
    }
    order_ = {.is_strong = order >= 1,
              .acquires = order == 3 || order >= 5,
              .releases = order >= 4,
              .is_block_scope = scope == 0};
    return order >= 3;
}

bool Reader::take_priority() {
    return take_one_of({"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first",
                        "L1::evict_last", "L1::no_allocate"}) >= 0;
}

void Reader::refuse_leftover(std::string_view modifier) {
    if (lists_ == Lists::No) {
        has_failed_ = has_unreported_ = true;
        return;
    }
    refuse_word(modifier, known_);
}

void Reader::refuse_word(std::string_view modifier, std::span<const std::string_view> known) {
    std::string text;
    std::string_view nearest;
    std::size_t least = modifier.size(); // as many changes make any word of it
    for (const std::string_view each : known) {
        text += (text.empty() ? "." : ", .") + std::string(each);
        if (const std::size_t changes = count_changes(modifier, each); changes < least) {
            least = changes;
            nearest = each;
        }
    }
    constexpr std::size_t most_changes = 2;
    refuse("has a modifier that is not known here, ." + std::string(modifier) +
           (text.empty() ? "; it has no modifiers" : "; those that exist here are " + text) +
           (least <= most_changes && !nearest.empty()
                ? "; did you mean ." + std::string(nearest) + "?"
                : ""));
}

bool Reader::finish(std::size_t min_operands, std::size_t max_operands) {
    if (const std::string_view left = peek(); !left.empty() && !has_failed_) {
        refuse_leftover(left);
    }
    const std::size_t count = operand_count();
    if ((count < min_operands || count > max_operands) && !has_failed_) {
        reject("has " + std::to_string(count) + " operands; expected " +
               std::to_string(min_operands) +
               (min_operands == max_operands ? "" : " to " + std::to_string(max_operands)));
    }
    return !has_failed_;
}

Operand Reader::source(std::size_t index, Type type) {
    return source(operand(index), type);
}

Operand Reader::source(const ptx::Operand& operand, Type type) {
    return source(operand, type, width_for(type));
}

Operand Reader::source(const ptx::Operand& operand, Type type, Width width) {
    const Operand result = lowering_.source(operand, width, type);
    has_failed_ |= result.is_none();
    return result;
}

Operand Reader::destination(std::size_t index, Type type) {
    return destination(operand(index), width_for(type));
}

Operand Reader::destination(const ptx::Operand& operand, Type type) {
    return destination(operand, width_for(type));
}

Operand Reader::destination(const ptx::Operand& operand, Width width) {
    if (operand.kind == ptx::Operand::Kind::Discarded) {
        return lowering_.temporary(width);
    }
    const Operand result = lowering_.destination(operand, width);
    has_failed_ |= result.is_none();
    return result;
}

Operand Reader::predicate(const ptx::Operand& operand, std::uint16_t& tag, std::uint16_t bit) {
    const Predicate result = lowering_.predicate(operand);
    has_failed_ |= result.operand.is_none();
    if (result.is_negated) {
        tag |= bit;
    }
    return result.operand;
}

void Reader::emit(const bytecode::Form& form, std::initializer_list<Operand> destinations,
                  std::initializer_list<Operand> sources, std::uint16_t tag) {
    bytecode::Instruction rest;
    rest.tag = tag;
    emit(form, std::span(destinations.begin(), destinations.size()),
         std::span(sources.begin(), sources.size()), rest);
}

void Reader::emit(const bytecode::Form& form, std::span<const Operand> destinations,
                  std::span<const Operand> sources, bytecode::Instruction rest) {
    if (has_failed_) {
        return;
    }
    if (!is_supported(form)) {
        refuse("is a form that is not supported here");
        return;
    }
    rest.form = form;
    const bool fits = destinations.size() <= 4 && sources.size() <= 4;
    if (fits) {
        rest.dst_count = static_cast<std::uint8_t>(destinations.size());
        rest.src_count = static_cast<std::uint8_t>(sources.size());
        std::copy(destinations.begin(), destinations.end(), rest.dst);
        std::copy(sources.begin(), sources.end(), rest.src);
    } else {
        // The first four of each kind stay in the instruction; the rest go to the kernel's list.
        const std::size_t own_dst = std::min<std::size_t>(destinations.size(), 4);
        const std::size_t own_src = std::min<std::size_t>(sources.size(), 4);
        constexpr std::size_t most_further = UINT8_MAX; // of extra_dst_count and extra_src_count
        if (std::max(destinations.size() - own_dst, sources.size() - own_src) > most_further) {
            refuse("has too many operands");
            return;
        }
        std::copy_n(destinations.begin(), own_dst, rest.dst);
        std::copy_n(sources.begin(), own_src, rest.src);
        rest.dst_count = static_cast<std::uint8_t>(own_dst);
        rest.src_count = static_cast<std::uint8_t>(own_src);
        std::vector<Operand> further(destinations.begin() + static_cast<std::ptrdiff_t>(own_dst),
                                     destinations.end());
        rest.extra_dst_count = static_cast<std::uint8_t>(further.size());
        further.insert(further.end(), sources.begin() + static_cast<std::ptrdiff_t>(own_src),
                       sources.end());
        rest.extra_src_count = static_cast<std::uint8_t>(further.size() - rest.extra_dst_count);
        rest.extra = lowering_.add_operands(further);
    }
    lowering_.emit(rest);
}

void Reader::refuse(std::string_view reason) {
    if (!has_failed_) {
        lowering_.unsupported("'" + name() + "' " + std::string(reason));
    }
    has_failed_ = true;
}

void Reader::reject(std::string_view reason) {
    if (!has_failed_) {
        lowering_.invalid("'" + name() + "' " + std::string(reason));
    }
    has_failed_ = true;
}

bool is_float(Type type) noexcept {
    switch (type) {
    case Type::F16:
    case Type::F16x2:
    case Type::BF16:
    case Type::BF16x2:
    case Type::F32:
    case Type::F64:
        return true;
    default:
        return false;
    }
}

} // namespace cuprum::emulator::decoding
