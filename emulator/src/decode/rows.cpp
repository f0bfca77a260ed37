// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Decodes the instructions that rows describe (rows/row.hpp).
//
// Modifiers may come in any order, but types count from left to right.

#include "decode/reader.hpp"
#include "rows/all.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace cuprum::emulator::decoding {

using bytecode::Instruction;
using bytecode::Operand;
using bytecode::Width;
using ptx::Type;
using rows::Group;
using rows::Match;
using rows::Pattern;

namespace {

/// A row, ready to be compared with instructions.
struct Entry {
    Pattern pattern;
    std::string_view operands;
    std::string_view refusal;
    rows::Effect effect;
    const void* row;
    /// Returns the form, tag and immediate; nullptr if the decoder is written by hand.
    Instruction (*mean)(const void* row, const Match& match);
};

/// All rows by opcode.
class Entries {
public:
    Entries() {
        rows::for_each_list([&](const auto& list) { add(list); });
    }

    [[nodiscard]] std::span<const Entry> of(std::string_view opcode) const {
        const auto found = by_opcode_.find(opcode);
        return found != by_opcode_.end() ? std::span<const Entry>(found->second)
                                         : std::span<const Entry>();
    }

private:
    template <typename T, std::size_t COUNT>
    void add(const rows::Row<T> (&rows)[COUNT]) {
        for (const rows::Row<T>& row : rows) {
            Entry entry{Pattern(row.pattern), row.operands, row.refusal, row.effect, &row, nullptr};
            if (row.operation.is_set()) {
                entry.mean = [](const void* found, const Match& match) {
                    const rows::Meaning<T> meaning =
                        static_cast<const rows::Row<T>*>(found)->operation(match);
                    Instruction result;
                    result.form = meaning.form;
                    result.tag = meaning.tag;
                    result.immediate = meaning.immediate;
                    return result;
                };
            }
            for (const std::string_view opcode : entry.pattern.groups[0].words) {
                by_opcode_[opcode].push_back(entry);
            }
        }
    }

    std::unordered_map<std::string_view, std::vector<Entry>> by_opcode_;
};

const Entries& entries() {
    static const Entries all;
    return all;
}

/// The modifiers of an instruction that fit a row.
struct Fit {
    Match match;
    bool is_whole = false;               // all modifiers, and nothing is missing
    std::uint64_t taken = 0;             // bit i: modifier i
    std::vector<const Group*> missing{}; // groups that need a modifier and have none
};

std::size_t index_of(const std::vector<std::string_view>& words, std::string_view word) {
    return static_cast<std::size_t>(std::ranges::find(words, word) - words.begin());
}

/// Compares an instruction with a row. `stops`: at the first group without a modifier.
Fit compare(const Entry& entry, const Reader& reader, bool stops) {
    const std::span<const std::string_view> modifiers = reader.modifiers();
    const std::vector<Group>& groups = entry.pattern.groups;
    Fit fit{.match = Match(entry.pattern)};
    fit.match.choose(0, index_of(groups[0].words, reader.opcode()));
    std::size_t type_at = 0; // no type before it is free
    for (std::size_t i = 1; i < groups.size(); ++i) {
        const Group& group = groups[i];
        std::size_t at = group.has_types ? type_at : 0;
        std::size_t word = group.words.size();
        for (; at < modifiers.size(); ++at) {
            const bool is_candidate =
                (fit.taken >> at & 1) == 0 && rows::is_type(modifiers[at]) == group.has_types;
            word = is_candidate ? index_of(group.words, modifiers[at]) : group.words.size();
            if (word < group.words.size() || (is_candidate && group.has_types)) {
                break;
            }
        }
        type_at = group.has_types ? at + 1 : type_at;
        if (word < group.words.size()) {
            fit.taken |= std::uint64_t{1} << at;
            fit.match.choose(i, word);
        } else if (group.is_optional) {
            fit.match.choose(i, index_of(group.words, {}));
        } else if (stops) {
            return fit;
        } else {
            fit.missing.push_back(&group);
        }
    }
    const auto count = static_cast<std::size_t>(std::popcount(fit.taken));
    fit.is_whole = fit.missing.empty() && count == modifiers.size();
    return fit;
}

/// Appends words to a list, each once.
void collect(std::vector<std::string_view>& list, const Group& group) {
    for (const std::string_view word : group.words) {
        if (!word.empty() && std::ranges::find(list, word) == list.end()) {
            list.push_back(word);
        }
    }
}

/// Returns ".a, .b or .c".
std::string listed(const std::vector<std::string_view>& words, std::string_view last) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        text += i == 0 ? "" : i + 1 < words.size() ? ", " : std::string(last);
        text += '.' + std::string(words[i]);
    }
    return text;
}

void refuse_type(Reader& reader, std::string_view type,
                 const std::vector<std::string_view>& existing) {
    reader.refuse("has no form for type ." + std::string(type) + " here; those that exist are " +
                  listed(existing, ", "));
}

/// Refuses an instruction because of a modifier that no row of its opcode has. Returns whether
/// there is one.
bool refuse_unknown(Reader& reader, std::span<const Entry> candidates) {
    std::vector<std::string_view> known;
    std::vector<std::string_view> types;
    for (const Entry& entry : candidates) {
        for (std::size_t i = 1; i < entry.pattern.groups.size() && entry.refusal.empty(); ++i) {
            const Group& group = entry.pattern.groups[i];
            collect(group.has_types ? types : known, group);
        }
    }
    // An unknown type is the likeliest reason for unknown words.
    for (const std::string_view modifier : reader.modifiers()) {
        if (rows::is_type(modifier) && ptx::type_from(modifier) == Type::None &&
            std::ranges::find(types, modifier) == types.end()) {
            reader.refuse("has a type that is not supported here, ." + std::string(modifier) +
                          "; those that exist here are " + listed(types, ", "));
            return true;
        }
    }
    for (const std::string_view modifier : reader.modifiers()) {
        const bool is_type = rows::is_type(modifier);
        const auto& existing = is_type ? types : known;
        if (std::ranges::find(existing, modifier) != existing.end()) {
            continue;
        }
        if (is_type) {
            refuse_type(reader, modifier, types);
        } else {
            known.insert(known.end(), types.begin(), types.end());
            reader.refuse_word(modifier, known);
        }
        return true;
    }
    return false;
}

/// Refuses an instruction that lacks a modifier. `fits` are the best ones.
void refuse_missing(Reader& reader, const std::vector<Fit>& fits) {
    std::vector<std::string_view> words;
    for (const Fit& fit : fits) {
        collect(words, *fit.missing.front());
    }
    if (fits.front().missing.front()->has_types) {
        reader.reject("has no known type; those that exist here are " + listed(words, ", "));
        return;
    }
    std::string text = "needs " + listed(words, " or ");
    for (std::size_t i = 1; i < fits.front().missing.size() && fits.size() == 1; ++i) {
        std::vector<std::string_view> more;
        collect(more, *fits.front().missing[i]);
        text += ", and " + listed(more, " or ");
    }
    reader.reject(text);
}

/// Refuses an instruction because of modifiers that do not go together.
void refuse_combination(Reader& reader, const Fit& nearest) {
    const std::string_view left =
        reader.modifiers()[static_cast<std::size_t>(std::countr_one(nearest.taken))];
    for (const Group* group : nearest.missing) {
        if (group->has_types && rows::is_type(left)) {
            refuse_type(reader, left, group->words);
            return;
        }
    }
    const std::vector<Group>& groups = nearest.match.pattern().groups;
    std::string text(reader.opcode());
    for (std::size_t i = 1; i < groups.size(); ++i) {
        const std::string_view word = nearest.match.word(i);
        const bool is_missing =
            std::ranges::find(nearest.missing, &groups[i]) != nearest.missing.end();
        if (std::ranges::find(groups[i].words, left) != groups[i].words.end() && !word.empty() &&
            !is_missing) {
            reader.reject("has two modifiers that exclude each other, ." + std::string(word) +
                          " and ." + std::string(left));
            return;
        }
        text += word.empty() ? "" : '.' + std::string(word);
    }
    reader.reject("has no form with ." + std::string(left) +
                  " and its other modifiers; did you mean " + text + "?");
}

/// Refuses an instruction that no row has.
void explain(Reader& reader, std::span<const Entry> candidates) {
    // The nearest row has the most modifiers; the type counts most.
    std::vector<Fit> best;
    int most = 0;
    std::uint64_t types = 0;
    for (std::size_t i = 0; i < reader.modifiers().size(); ++i) {
        types |= std::uint64_t{rows::is_type(reader.modifiers()[i])} << i;
    }
    for (const Entry& entry : candidates) {
        Fit fit = compare(entry, reader, false);
        if (!entry.refusal.empty()) {
            if (fit.is_whole) {
                reader.reject(entry.refusal);
                return;
            }
            continue;
        }
        const int count = std::popcount(fit.taken) + std::popcount(fit.taken & types);
        if (count > most) {
            best.clear();
        }
        most = std::max(most, count);
        if (count == most) {
            best.push_back(std::move(fit));
        }
    }
    if (refuse_unknown(reader, candidates)) {
        return;
    }
    const auto taken = static_cast<std::size_t>(std::popcount(best.front().taken));
    if (taken == reader.modifiers().size()) {
        refuse_missing(reader, best);
    } else {
        const auto whole =
            std::ranges::find_if(best, [](const Fit& f) { return f.missing.empty(); });
        refuse_combination(reader, whole != best.end() ? *whole : best.front());
    }
}

/// Reads the operands of an instruction.
class Operands {
public:
    Operands(Reader& reader, Match& match, std::string_view kinds)
        : reader_(reader), match_(match) {
        const std::size_t space = kinds.find(' ');
        result_kinds_ = kinds.substr(1, space - 1); // without the '='
        source_kinds_ = kinds.substr(space + 1);
    }

    /// Returns how many operands the text shows.
    [[nodiscard]] std::size_t count() const { return count(result_kinds_) + count(source_kinds_); }

    /// Emits the instruction unless an operand is wrong.
    void emit(const Entry& entry) {
        if (!reader_.finish(count())) {
            return;
        }
        next_ = count(result_kinds_);
        for (std::size_t i = 0; i < source_kinds_.size(); ++i) {
            const char mark = i + 1 < source_kinds_.size() ? source_kinds_[i + 1] : ' ';
            add_source(source_kinds_[i], mark);
            i += is_mark(mark) ? 1 : 0;
        }
        next_ = 0;
        Instruction instruction = entry.mean(entry.row, match_);
        if (result_kinds_ == "v") {
            emit_halves(instruction.form);
            return;
        }
        for (const char kind : result_kinds_) {
            if (!is_mark(kind)) {
                add_result(kind);
            }
        }
        if (instruction.form.family() == bytecode::Family::Convert) {
            auto form = instruction.form.as<ConvertForm>();
            if (result_kinds_ == "T~") {
                form.from_width = source_width_;
                form.to_width = result_width_;
            }
            instruction.form = form;
            instruction.immediate = form.packed();
        }
        if (result_kinds_ == "V" && result_count_ == 2) {
            auto form = instruction.form.as<WarpForm>();
            form.has_predicate = true;
            instruction.form = form;
        }
        if (entry.effect == rows::Effect::Meets && !reader_.has_failed()) {
            reader_.lowering().emit_rendezvous(sources_[source_count_ - 1]);
        }
        instruction.flags = entry.effect == rows::Effect::Pure ? 0 : bytecode::HAS_SIDE_EFFECT;
        instruction.tag |= tag_;
        reader_.emit(instruction.form, std::span(results_, result_count_),
                     std::span(sources_, source_count_), instruction);
    }

private:
    static bool is_mark(char kind) { return (kind >= '0' && kind <= '9') || kind == '~'; }

    [[nodiscard]] std::size_t count(std::string_view kinds) const {
        return static_cast<std::size_t>(std::ranges::count_if(kinds, [&](char kind) {
            return !is_mark(kind) && kind != 'c' && (kind != 'b' || !match_['b'].empty());
        }));
    }

    /// Returns the type of a kind. Most instructions have one for all operands.
    Type type_of(char kind) {
        if (kind != last_kind_) {
            last_kind_ = kind;
            last_type_ = find_type(kind);
        }
        return last_type_;
    }

    [[nodiscard]] Type find_type(char kind) const {
        switch (kind) {
        case 'h':
            return Type::B16;
        case 'w':
        case 'V':
        case 'E':
            return Type::B32;
        case 'q':
        case 'v':
            return Type::B64;
        case 'i':
            return Type::S32;
        case 'f':
        case 'm':
            return Type::F32;
        case 'p':
        case 'P':
        case 'B':
            return Type::Pred;
        case 'D':
            return rows::doubled(match_.type().part);
        default:
            return rows::type_named(match_[kind]).part;
        }
    }

    /// Returns the width of a register, which may be wider than its type.
    [[nodiscard]] Width width_of(const ptx::Operand& operand, Type type) const {
        Lowering& lowering = reader_.lowering();
        return lowering.type_of(operand) == Type::None ? width_for(type)
                                                       : lowering.width_of(operand);
    }

    void add_source(char kind, char mark) {
        if (kind == 'b' && match_['b'].empty()) {
            return;
        }
        Operand& source = sources_[source_count_];
        source_count_ += kind != 'L' ? 1 : 0;
        if (kind == 'c') {
            source = reader_.lowering().carry_flag();
        } else if (kind == 'L') {
            take_literal(reader_.operand(next_++));
        } else if (kind == 'p' || kind == 'b') {
            const unsigned bit = kind == 'b' ? 2 : static_cast<unsigned>(mark - '0');
            source = reader_.predicate(reader_.operand(next_++), tag_,
                                       static_cast<std::uint16_t>(1u << bit));
        } else if (kind == 'v') {
            const Operand halves[2] = {temporary(), temporary()};
            const Operand both = reader_.source(next_++, Type::B64);
            reader_.emit(halves_form(MoveOp::Unpack), halves, std::span(&both, 1), {});
            source = halves[0];
            uppers_[source_count_ - 1] = halves[1];
        } else if (mark == '~') {
            const ptx::Operand& operand = reader_.operand(next_++);
            source_width_ = source_count_ == 1 ? width_of(operand, type_of(kind)) : source_width_;
            source = reader_.source(operand, type_of(kind), source_width_);
        } else {
            source = reader_.source(next_++, type_of(kind));
            source = kind == 'n' ? widened(source) : kind == 'm' ? magnitude(source) : source;
        }
    }

    [[nodiscard]] Operand temporary() const { return reader_.lowering().temporary(Width::B32); }

    [[nodiscard]] Operand widened(Operand source) const {
        const ConvertForm form{.from = match_['n'] == "f16" ? Format::F16 : Format::BF16,
                               .to = Format::F32};
        const Operand result = temporary();
        Instruction rest;
        rest.immediate = form.packed();
        reader_.emit(form, std::span(&result, 1), std::span(&source, 1), rest);
        return result;
    }

    [[nodiscard]] Operand magnitude(Operand source) const {
        const Operand result = temporary();
        reader_.emit(FloatForm{.op = FloatOp::Abs, .type = Type::F32}, {result}, {source});
        return result;
    }

    [[nodiscard]] static MoveForm halves_form(MoveOp op) {
        return {.op = op, .width = Width::B64, .part_bytes = 4, .bytes = 8};
    }

    /// Emits an operation for both halves of registers of 64 bits.
    void emit_halves(const bytecode::Form& form) {
        const Operand halves[2] = {temporary(), temporary()};
        reader_.emit(form, std::span(&halves[0], 1), std::span(sources_, source_count_), {});
        reader_.emit(form, std::span(&halves[1], 1), std::span(uppers_, source_count_), {});
        const Operand both = reader_.destination(std::size_t{0}, Type::B64);
        reader_.emit(halves_form(MoveOp::Pack), std::span(&both, 1), halves, {});
    }

    void take_literal(const ptx::Operand& operand) {
        if (operand.kind != ptx::Operand::Kind::Integer || operand.bits > 255) {
            reader_.reject("needs a literal from 0 to 255 as its table");
        }
        match_.literal = static_cast<std::uint8_t>(operand.bits);
    }

    void add_result(char kind) {
        if (kind == 'c') {
            results_[result_count_++] = reader_.lowering().carry_flag();
            return;
        }
        const ptx::Operand& operand = reader_.operand(next_++);
        const bool may_be_pair = kind == 'P' || kind == 'B' || kind == 'V' || kind == 'E';
        if ((kind == 'B' || kind == 'E') && operand.kind != ptx::Operand::Kind::Pair) {
            reader_.reject("needs two destinations");
        } else if (may_be_pair && operand.kind == ptx::Operand::Kind::Pair) {
            results_[result_count_++] = reader_.destination(operand.parts[0], type_of(kind));
            results_[result_count_++] = reader_.destination(operand.parts[1], Type::Pred);
        } else {
            result_width_ = result_kinds_.ends_with('~') ? width_of(operand, type_of(kind))
                                                         : width_for(type_of(kind));
            results_[result_count_++] = reader_.destination(operand, result_width_);
        }
    }

    Reader& reader_;
    Match& match_;
    std::string_view result_kinds_;
    std::string_view source_kinds_;
    std::size_t next_ = 0; // operand
    char last_kind_ = 0;
    Type last_type_ = Type::None;
    std::uint16_t tag_ = 0;
    Width source_width_ = Width::B32; // of kinds with a ~
    Width result_width_ = Width::B32;
    Operand sources_[4];
    Operand uppers_[4]; // of sources of kind v, whose lower halves are in sources_
    Operand results_[2];
    std::size_t source_count_ = 0;
    std::size_t result_count_ = 0;
};

} // namespace

bool has_rows(std::string_view opcode) {
    return !entries().of(opcode).empty();
}

void decode_rows(Reader& reader) {
    if (reader.has_failed()) {
        return;
    }
    const std::span<const Entry> candidates = entries().of(reader.opcode());
    const Entry* chosen = nullptr; // the first row that fits but for the number of operands
    for (const Entry& entry : candidates) {
        if (entry.mean == nullptr) {
            continue;
        }
        if (Fit fit = compare(entry, reader, true); fit.is_whole) {
            Operands operands(reader, fit.match, entry.operands);
            if (operands.count() == reader.operand_count()) {
                reader.take_all();
                operands.emit(entry);
                return;
            }
            chosen = chosen == nullptr ? &entry : chosen;
        }
    }
    if (chosen == nullptr) {
        explain(reader, candidates);
        return;
    }
    reader.take_all();
    Fit fit = compare(*chosen, reader, true);
    Operands(reader, fit.match, chosen->operands).emit(*chosen); // refuses the number of operands
}

} // namespace cuprum::emulator::decoding
