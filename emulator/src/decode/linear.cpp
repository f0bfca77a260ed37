// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Finds the linear handler that matches a plain one, by selecting both with the same form.

#include "decode/linear.hpp"

#include "bytecode/forms.hpp"
#include "interp/control.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace cuprum::emulator {

using bytecode::Handler;
using bytecode::Width;
using ptx::Type;

namespace {

/// The bits of a load's or store's tag that count elements, as in handlers/access.hpp.
constexpr std::uint16_t COMPONENTS_MASK = 0xff;

/// The linear handlers of one instruction-set level.
class Variants {
public:
    explicit Variants(const Selectors& level) : level_(level) {
        add_moves();
        add_integers();
        add_bits();
        add_compares();
        add_conversions();
        add_memory();
    }

    [[nodiscard]] LinearVariant find(const bytecode::Instruction& instruction) const {
        const auto found = variants_.find(instruction.handler);
        if (found != variants_.end()) {
            // Linear handlers move one element per lane.
            const bool fits = found->second.kind == LinearKind::Address
                                  ? (instruction.tag & COMPONENTS_MASK) == 1
                                  : instruction.tag == 0;
            return fits ? found->second : LinearVariant{};
        }
        const auto conversion = conversions_.find({instruction.handler, instruction.immediate});
        return conversion != conversions_.end() ? conversion->second : LinearVariant{};
    }

private:
    void add(Handler plain, Handler linear, LinearKind kind) {
        if (plain != nullptr && linear != nullptr) {
            variants_.emplace(plain, LinearVariant{kind, linear});
        }
    }

    void add_moves() {
        for (const Width width : {Width::B32, Width::B64}) {
            const MoveForm form{.op = MoveOp::Copy, .width = width};
            const Handler linear = level_.linear_move(form);
            add(level_.move(form), linear, LinearKind::Compute);
            add(control::copy_handler(static_cast<std::uint32_t>(width)), linear,
                LinearKind::Compute);
        }
    }

    void add_integers() {
        for (const Type type : {Type::U32, Type::S32, Type::U64, Type::S64}) {
            for (const IntegerOp op : {IntegerOp::Add, IntegerOp::Sub, IntegerOp::MulLo,
                                       IntegerOp::MadLo, IntegerOp::MulWide, IntegerOp::MadWide}) {
                const bool is_wide = op == IntegerOp::MulWide || op == IntegerOp::MadWide;
                if (is_wide && (type == Type::U64 || type == Type::S64)) {
                    continue;
                }
                const IntegerForm form{.op = op, .type = type};
                add(level_.integer(form), level_.linear_integer(form), LinearKind::Compute);
            }
        }
    }

    void add_bits() {
        for (const std::uint8_t bits : {std::uint8_t{32}, std::uint8_t{64}}) {
            for (const BitsOp op : {BitsOp::And, BitsOp::Or, BitsOp::Xor, BitsOp::Shl,
                                    BitsOp::ShrUnsigned, BitsOp::ShrSigned}) {
                const BitsForm form{.op = op, .bits = bits};
                add(level_.bits(form), level_.linear_bits(form), LinearKind::Compute);
            }
        }
    }

    void add_compares() {
        for (const Type type : {Type::U32, Type::S32, Type::U64, Type::S64}) {
            for (const Compare compare :
                 {Compare::Eq, Compare::Ne, Compare::Lt, Compare::Le, Compare::Gt, Compare::Ge}) {
                const CompareForm form{.compare = compare, .type = type};
                add(level_.compare(form), level_.linear_compare(form), LinearKind::Compare);
            }
        }
    }

    void add_conversions() {
        // One plain handler may serve several forms, so the form is part of the key.
        for (const Format from : {Format::U32, Format::S32, Format::U64, Format::S64}) {
            for (const Format to : {Format::U32, Format::S32, Format::U64, Format::S64}) {
                const auto width = [](Format format) {
                    const bool is_wide = format == Format::U64 || format == Format::S64;
                    return is_wide ? Width::B64 : Width::B32;
                };
                const ConvertForm form{
                    .from = from, .to = to, .from_width = width(from), .to_width = width(to)};
                const Handler linear = level_.linear_convert(form);
                if (linear != nullptr) {
                    conversions_.emplace(std::pair{level_.convert(form), form.packed()},
                                         LinearVariant{LinearKind::Compute, linear});
                }
            }
        }
    }

    void add_memory() {
        using ptx::Space;
        for (const bool is_store : {false, true}) {
            for (const bool is_signed : {false, true}) {
                for (const Space space : {Space::Global, Space::Shared, Space::None}) {
                    for (const std::uint8_t bytes : {1, 2, 4, 8}) {
                        const MemoryForm form{.is_store = is_store,
                                              .is_signed = is_signed,
                                              .space = space,
                                              .element_bytes = bytes,
                                              .register_width =
                                                  bytes == 8 ? Width::B64 : Width::B32};
                        add(level_.memory(form), level_.linear_memory(form), LinearKind::Address);
                    }
                }
            }
        }
    }

    const Selectors& level_;
    std::unordered_map<Handler, LinearVariant> variants_;
    std::map<std::pair<Handler, std::int64_t>, LinearVariant> conversions_;
};

/// Returns the variants of the current level. Tests change the level, so there is a set for each.
const Variants& variants() {
    static std::mutex mutex;
    static std::map<const Selectors*, std::unique_ptr<Variants>> all;
    const std::lock_guard lock(mutex);
    std::unique_ptr<Variants>& mine = all[&selectors()];
    if (!mine) {
        mine = std::make_unique<Variants>(selectors());
    }
    return *mine;
}

} // namespace

LinearVariant linear_variant(const bytecode::Instruction& instruction) {
    return variants().find(instruction);
}

Handler spread_handler(Width width) {
    return selectors().spread(width);
}

} // namespace cuprum::emulator
