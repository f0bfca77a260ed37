// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// mov, selp, slct, cvta, isspacep, and hints, which have no effect here.

#include "decode/reader.hpp"
#include "interp/cluster.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace cuprum::emulator::decoding {

using bytecode::Operand;
using bytecode::Width;
using ptx::Type;
using Kind = ptx::Operand::Kind;

namespace {

struct ClockRegister {
    std::string_view name;
    MoveOp op;
    Width width;
};

/// Special registers whose value changes while a kernel runs.
constexpr std::array CLOCK_REGISTERS{
    ClockRegister{"%clock", MoveOp::Clock, Width::B32},
    ClockRegister{"%clock_hi", MoveOp::ClockHigh, Width::B32},
    ClockRegister{"%clock64", MoveOp::Clock, Width::B64},
    ClockRegister{"%globaltimer", MoveOp::GlobalTimer, Width::B64},
    ClockRegister{"%globaltimer_lo", MoveOp::GlobalTimer, Width::B32},
    ClockRegister{"%globaltimer_hi", MoveOp::GlobalTimerHigh, Width::B32},
};

/// Emits a read that must be repeated every time and stay in place.
void emit_volatile(Reader& reader, const MoveForm& form, Operand destination) {
    bytecode::Instruction rest;
    rest.flags = bytecode::HAS_SIDE_EFFECT;
    reader.emit(form, std::span(&destination, 1), {}, rest);
}

void decode_pack(Reader& reader, Type type) {
    const std::vector<ptx::Operand>& parts = reader.operand(1).parts;
    const unsigned bytes = bits_of(type) / 8;
    if (parts.size() != 2 && parts.size() != 4) {
        reader.reject("packs " + std::to_string(parts.size()) + " values; expected 2 or 4");
        return;
    }
    const unsigned part_bytes = bytes / static_cast<unsigned>(parts.size());
    const Type part_type = part_bytes == 8 ? Type::B64 : part_bytes == 4 ? Type::B32 : Type::B16;
    std::vector<Operand> sources;
    for (const ptx::Operand& part : parts) {
        sources.push_back(reader.source(part, part_type));
    }
    const Operand destination = reader.destination(0, type);
    reader.emit(MoveForm{.op = MoveOp::Pack,
                         .width = width_for(type),
                         .part_bytes = static_cast<std::uint8_t>(part_bytes),
                         .bytes = static_cast<std::uint8_t>(bytes)},
                std::span(&destination, 1), sources, {});
}

void decode_unpack(Reader& reader, Type type) {
    const std::vector<ptx::Operand>& parts = reader.operand(0).parts;
    const unsigned bytes = bits_of(type) / 8;
    if (parts.size() != 2 && parts.size() != 4) {
        reader.reject("unpacks " + std::to_string(parts.size()) + " values; expected 2 or 4");
        return;
    }
    const unsigned part_bytes = bytes / static_cast<unsigned>(parts.size());
    const Type part_type = part_bytes == 8 ? Type::B64 : part_bytes == 4 ? Type::B32 : Type::B16;
    const Operand source = reader.source(1, type);
    std::vector<Operand> destinations;
    for (const ptx::Operand& part : parts) {
        destinations.push_back(reader.destination(part, part_type));
    }
    reader.emit(MoveForm{.op = MoveOp::Unpack,
                         .width = width_for(type),
                         .part_bytes = static_cast<std::uint8_t>(part_bytes),
                         .bytes = static_cast<std::uint8_t>(bytes)},
                destinations, std::span(&source, 1), {});
}

/// Decodes mov.v2 and mov.v4. A later component may read what an earlier one writes.
void decode_vector(Reader& reader, Type type, std::size_t count) {
    const ptx::Operand& to = reader.operand(0);
    const ptx::Operand& from = reader.operand(1);
    for (const ptx::Operand* const operand : {&to, &from}) {
        if (operand->kind != Kind::Vector || operand->parts.size() != count) {
            reader.reject("needs vectors of " + std::to_string(count) + " components");
            return;
        }
    }
    const bytecode::Form copy = MoveForm{.op = MoveOp::Copy, .width = width_for(type)};
    std::vector<Operand> values;
    for (const ptx::Operand& part : from.parts) {
        const Operand source = reader.source(part, type);
        values.push_back(reader.lowering().temporary(width_for(type)));
        reader.emit(copy, {values.back()}, {source});
    }
    for (std::size_t i = 0; i < count; ++i) {
        if (to.parts[i].kind != Kind::Discarded) {
            reader.emit(copy, {reader.destination(to.parts[i], type)}, {values[i]});
        }
    }
}

/// Returns a predicate that tells whether an address belongs to a constant variable.
Operand is_constant(Reader& reader, Operand address) {
    Lowering& lowering = reader.lowering();
    Operand result = lowering.temporary(Width::Predicate);
    const Operand never = lowering.constant(0, Width::Predicate);
    reader.emit(MoveForm{.op = MoveOp::Copy, .width = Width::Predicate}, {result}, {never});
    for (const AddressRange& range : lowering.constant_memory()) {
        // base <= address < base + bytes, as one unsigned comparison
        const Operand offset = lowering.temporary(Width::B64);
        const Operand here = lowering.temporary(Width::Predicate);
        reader.emit(IntegerForm{.op = IntegerOp::Sub, .type = Type::U64}, {offset},
                    {address, range.base});
        reader.emit(CompareForm{.compare = Compare::Lt, .type = Type::U64}, {here},
                    {offset, lowering.constant(range.bytes, Width::B64)});
        const Operand either = lowering.temporary(Width::Predicate);
        reader.emit(BitsForm{.op = BitsOp::PredicateOr}, {either}, {result, here});
        result = either;
    }
    return result;
}

void decode_isspacep(Reader& reader) {
    const int space = reader.take_one_of({"shared", "shared::cta", "shared::cluster", "local",
                                          "global", "const", "param", "param::entry"});
    if (space < 0) {
        reader.reject("names no state space");
    }
    if (!reader.finish(2)) {
        return;
    }
    constexpr std::array OPS{MoveOp::IsShared, MoveOp::IsShared, MoveOp::IsShared,
                             MoveOp::IsLocal,  MoveOp::IsGlobal, MoveOp::IsConstant,
                             MoveOp::IsParam,  MoveOp::IsParam};
    const Operand source = reader.source(1, Type::U64);
    const Operand destination = reader.destination(0, Type::Pred);
    if (space <= 1) { // the block's own shared memory, not its cluster's
        reader.emit(FixedOp::IsOwnShared, {destination}, {source},
                    cluster::WIDE_ADDRESS | cluster::GENERIC);
        return;
    }
    const MoveOp op = OPS[static_cast<std::size_t>(space)];
    if (op == MoveOp::IsConstant) {
        reader.emit(MoveForm{.op = MoveOp::Copy, .width = Width::Predicate}, {destination},
                    {is_constant(reader, source)});
        return;
    }
    if (op == MoveOp::IsGlobal && !reader.lowering().constant_memory().empty()) {
        const Operand holds = reader.lowering().temporary(Width::Predicate);
        reader.emit(MoveForm{.op = op}, {holds}, {source});
        constexpr std::uint16_t SECOND_IS_NEGATED = 2;
        reader.emit(BitsForm{.op = BitsOp::PredicateAnd}, {destination},
                    {holds, is_constant(reader, source)}, SECOND_IS_NEGATED);
        return;
    }
    reader.emit(MoveForm{.op = op}, {destination}, {source});
}

/// Emits an instruction that does nothing, so that reports can name its place.
void emit_nothing(Reader& reader) {
    bytecode::Instruction rest;
    rest.flags = bytecode::HAS_SIDE_EFFECT;
    reader.emit(MoveForm{.op = MoveOp::Nothing}, {}, {}, rest);
}

void decode_prefetch(Reader& reader) {
    if (reader.opcode() == "prefetchu") {
        reader.need("L1");
    } else if (reader.take("tensormap")) {
        reader.take_one_of({"const", "param"});
    } else {
        const int level = reader.take_one_of({"L1", "L2", "L2::evict_last", "L2::evict_normal",
                                              "L1::32B", "L1::64B", "L1::128B", "L2::32B",
                                              "L2::64B", "L2::128B", "L2::256B"});
        const int space = reader.take_one_of({"global", "local"});
        reader.take("valid_addr");
        if (level < 0 || (level >= 2 && space == 1)) {
            reader.reject("needs .tensormap or a cache level: .L1 or .L2, or .L2::evict_last or "
                          ".L2::evict_normal of global memory");
        }
    }
    (void)(reader.finish(1) && need_address(reader, 0));
}

/// Decodes applypriority and discard.
void decode_line_hint(Reader& reader) {
    constexpr std::uint64_t LINE_BYTES = 128;
    reader.need(reader.opcode() == "discard" ? "L2" : "L2::evict_normal");
    reader.take("global");
    if (reader.opcode() == "applypriority" && reader.take("async")) { // of any size
        reader.need("bulk");
        reader.need("bulk_group");
        (void)(reader.finish(2) && need_address(reader, 0));
        return;
    }
    (void)(reader.finish(2) && need_address(reader, 0) && need_constant(reader, 1, LINE_BYTES));
}

/// Decodes createpolicy. A policy is only passed to memory accesses, which ignore it.
void decode_policy(Reader& reader) {
    const auto take_priority = [&](std::initializer_list<std::string_view> names) {
        return std::ranges::any_of(names, [&](std::string_view name) { return reader.take(name); });
    };
    const int kind = reader.take_one_of({"fractional", "range", "cvt"});
    bool is_good = kind >= 0;
    if (kind == 2) {
        is_good = reader.take("L2");
    } else {
        is_good = is_good && take_priority({"L2::evict_last", "L2::evict_normal", "L2::evict_first",
                                            "L2::evict_unchanged"});
        take_priority({"L2::evict_first", "L2::evict_unchanged"});
    }
    if (!is_good) {
        reader.reject("needs .fractional or .range and an eviction priority of .L2, or .cvt.L2");
    }
    if (kind == 1) {
        reader.take("global");
    }
    reader.take_type_of({Type::B64});
    const bool is_finished = kind == 0 ? reader.finish(1, 2) : reader.finish(kind == 1 ? 4 : 2);
    if (!is_finished || (kind == 1 && !need_address(reader, 1))) {
        return;
    }
    reader.emit(MoveForm{.op = MoveOp::Copy, .width = Width::B64},
                {reader.destination(0, Type::B64)}, {reader.lowering().constant(0, Width::B64)});
}

} // namespace

void decode_move(Reader& reader) {
    // The state space of the address does not matter: offsets in shared memory are the same for the
    // block and its cluster.
    const int vector = reader.take_one_of({"v2", "v4"});
    const Type type = reader.take_type_of({Type::B16, Type::B32, Type::B64, Type::B128, Type::U16,
                                           Type::U32, Type::U64, Type::S16, Type::S32, Type::S64,
                                           Type::F32, Type::F64, Type::Pred});
    if (!reader.finish(2)) {
        return;
    }
    if (vector >= 0) {
        decode_vector(reader, type, std::size_t{2} << vector);
        return;
    }
    const ptx::Operand& to = reader.operand(0);
    const ptx::Operand& from = reader.operand(1);
    if (to.kind == Kind::Vector && from.kind == Kind::Vector) {
        reader.reject("moves a vector to a vector");
        return;
    }
    if (from.kind == Kind::Vector) {
        decode_pack(reader, type);
        return;
    }
    if (to.kind == Kind::Vector) {
        decode_unpack(reader, type);
        return;
    }
    if (from.kind == Kind::Name) {
        for (const ClockRegister& clock : CLOCK_REGISTERS) {
            if (from.text == clock.name) {
                if (width_for(type) != clock.width) {
                    reader.reject("reads " + std::string(clock.name) + " at another width");
                    return;
                }
                emit_volatile(reader, {.op = clock.op, .width = clock.width},
                              reader.destination(0, type));
                return;
            }
        }
    }
    if (type == Type::Pred && from.kind == Kind::Name && from.text == "%is_explicit_cluster") {
        // A launch with clusters of one block is not distinguished from one without clusters.
        reader.emit(CompareForm{.compare = Compare::Ne, .type = Type::U32},
                    {reader.destination(0, type)},
                    {reader.lowering().special(bytecode::Special::ClusterNctarank),
                     reader.lowering().constant(1, Width::B32)});
        return;
    }
    if (type == Type::Pred) {
        std::uint16_t tag = 0;
        const Operand source = reader.predicate(from, tag, 1);
        const Operand destination = reader.destination(0, type);
        if (tag != 0) {
            // Use "not" without its tag 1, which would negate the source once more.
            reader.emit(BitsForm{.op = BitsOp::PredicateNot}, {destination}, {source});
        } else {
            reader.emit(MoveForm{.op = MoveOp::Copy, .width = Width::Predicate}, {destination},
                        {source});
        }
        return;
    }
    const Operand source = reader.source(1, type);
    const Operand destination = reader.destination(0, type);
    reader.emit(MoveForm{.op = MoveOp::Copy, .width = width_for(type)}, {destination}, {source});
}

void decode_address_conversion(Reader& reader) {
    if (reader.opcode() == "isspacep") {
        decode_isspacep(reader);
        return;
    }
    const bool is_to_space = reader.take("to");
    const int space = reader.take_one_of({"global", "const", "shared", "shared::cta",
                                          "shared::cluster", "local", "param", "param::entry"});
    if (space < 0) {
        reader.reject("names no state space");
    }
    reader.take_type_of({Type::U64});
    if (!reader.finish(2)) {
        return;
    }
    const Operand source = reader.source(1, Type::U64);
    const Operand destination = reader.destination(0, Type::U64);
    const MemoryMap& map = reader.lowering().memory();
    if (space <= 1) {
        reader.emit(MoveForm{.op = MoveOp::Copy, .width = Width::B64}, {destination}, {source});
    } else if (space >= 6) {
        if (is_to_space) {
            reader.refuse("is not supported: parameters have no window of their own");
            return;
        }
        reader.emit(MoveForm{.op = MoveOp::ParameterBase}, {destination}, {source});
    } else {
        const std::uint64_t base = space == 5 ? map.local_base : map.shared_base;
        const Operand offset = reader.lowering().constant(base, Width::B64);
        const IntegerOp op = is_to_space ? IntegerOp::Sub : IntegerOp::Add;
        reader.emit(IntegerForm{.op = op, .type = Type::U64}, {destination}, {source, offset});
    }
}

/// Decodes setmaxnreg. How many registers a warp has does not matter here.
void decode_register_count(Reader& reader) {
    constexpr std::uint64_t LEAST = 24;
    constexpr std::uint64_t MOST = 256;
    constexpr std::uint64_t UNIT = 8;
    const int change = reader.take_one_of({"inc", "dec"});
    if (!reader.take("sync") || !reader.take("aligned") || !reader.take("u32") || change < 0) {
        reader.reject("needs .inc or .dec, and .sync.aligned.u32");
    }
    if (!reader.finish(1)) {
        return;
    }
    const ptx::Operand& operand = reader.operand(0);
    const std::uint64_t count = operand.kind == Kind::Integer ? operand.bits : 0;
    if (count < LEAST || count > MOST || count % UNIT != 0) {
        reader.reject("needs a constant number of registers: a multiple of 8 from 24 to 256");
    }
    emit_nothing(reader);
}

/// Decodes hints about caches, power and scheduling, which never change results.
void decode_hint(Reader& reader) {
    const std::string_view opcode = reader.opcode();
    if (opcode == "createpolicy") {
        decode_policy(reader);
        return;
    }
    if (opcode == "griddepcontrol") {
        if (reader.take_one_of({"wait", "launch_dependents"}) < 0) {
            reader.reject("needs .wait or .launch_dependents");
        }
        (void)reader.finish(0);
    } else if (opcode == "pmevent") {
        reader.take("mask");
        (void)reader.finish(1);
    } else if (opcode == "prefetch" || opcode == "prefetchu") {
        decode_prefetch(reader);
    } else {
        decode_line_hint(reader);
    }
    emit_nothing(reader);
}

} // namespace cuprum::emulator::decoding
