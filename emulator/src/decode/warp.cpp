// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Operations between the lanes of a warp.

#include "decode/reader.hpp"

namespace cuprum::emulator::decoding {

using bytecode::Operand;
using bytecode::Width;
using ptx::Type;

namespace {

void emit_warp(Reader& reader, const WarpForm& form, std::span<const Operand> destinations,
               std::span<const Operand> sources, std::uint16_t tag) {
    if (reader.has_failed()) {
        return;
    }
    reader.lowering().emit_rendezvous(sources.back());
    bytecode::Instruction rest;
    rest.tag = tag;
    rest.flags = bytecode::HAS_SIDE_EFFECT;
    reader.emit(form, destinations, sources, rest);
}

void need_sync(Reader& reader) {
    if (!reader.take("sync")) {
        reader.refuse("without .sync is not supported: compute capability 7.0 removed it");
    }
}

void decode_vote(Reader& reader) {
    constexpr WarpOp OPS[] = {WarpOp::VoteAll, WarpOp::VoteAny, WarpOp::VoteUni,
                              WarpOp::VoteBallot};
    need_sync(reader);
    const int op = reader.take_one_of({"all", "any", "uni", "ballot"});
    if (op < 0) {
        reader.reject("names no mode");
        return;
    }
    const Type type = reader.take_type_of({op == 3 ? Type::B32 : Type::Pred});
    if (!reader.finish(3)) {
        return;
    }
    std::uint16_t tag = 0;
    const Operand sources[2] = {reader.predicate(reader.operand(1), tag, 1),
                                reader.source(2, Type::B32)};
    const Operand destination = reader.destination(0, type);
    emit_warp(reader, {.op = OPS[op]}, std::span(&destination, 1), sources, tag);
}

void decode_shuffle(Reader& reader) {
    constexpr WarpOp OPS[] = {WarpOp::ShuffleUp, WarpOp::ShuffleDown, WarpOp::ShuffleButterfly,
                              WarpOp::ShuffleIndex};
    need_sync(reader);
    const int op = reader.take_one_of({"up", "down", "bfly", "idx"});
    if (op < 0) {
        reader.reject("names no mode");
        return;
    }
    reader.take_type_of({Type::B32});
    if (!reader.finish(5)) {
        return;
    }
    const Operand sources[4] = {reader.source(1, Type::B32), reader.source(2, Type::B32),
                                reader.source(3, Type::B32), reader.source(4, Type::B32)};
    const ptx::Operand& to = reader.operand(0);
    Operand destinations[2];
    const bool is_pair = to.kind == ptx::Operand::Kind::Pair;
    destinations[0] = reader.destination(is_pair ? to.parts[0] : to, Type::B32);
    if (is_pair) {
        destinations[1] = reader.destination(to.parts[1], Type::Pred);
    }
    emit_warp(reader, {.op = OPS[op], .has_predicate = is_pair},
              std::span(destinations, is_pair ? 2 : 1), sources, 0);
}

void decode_match(Reader& reader) {
    const int op = reader.take_one_of({"any", "all"});
    if (op < 0) {
        reader.reject("needs .any or .all");
    }
    need_sync(reader);
    const Type type = reader.take_type_of({Type::B32, Type::B64});
    if (!reader.finish(3)) {
        return;
    }
    const Operand sources[2] = {reader.source(1, type), reader.source(2, Type::B32)};
    const ptx::Operand& to = reader.operand(0);
    const bool is_pair = to.kind == ptx::Operand::Kind::Pair;
    if (is_pair && op == 0) {
        reader.reject("has no predicate result");
        return;
    }
    Operand destinations[2];
    destinations[0] = reader.destination(is_pair ? to.parts[0] : to, Type::B32);
    if (is_pair) {
        destinations[1] = reader.destination(to.parts[1], Type::Pred);
    }
    emit_warp(reader,
              {.op = op == 0 ? WarpOp::MatchAny : WarpOp::MatchAll,
               .width = width_for(type),
               .has_predicate = is_pair},
              std::span(destinations, is_pair ? 2 : 1), sources, 0);
}

void decode_redux(Reader& reader) {
    need_sync(reader);
    const int op = reader.take_one_of({"add", "min", "max", "and", "or", "xor"});
    if (op < 0) {
        reader.reject("names no operation");
        return;
    }
    std::uint16_t tag = 0;
    const bool is_abs = reader.take("abs");
    const bool keeps_nan = reader.take("NaN");
    const Type type = reader.take_type_of({Type::U32, Type::S32, Type::B32, Type::F32});
    tag = static_cast<std::uint16_t>(static_cast<unsigned>(is_abs) |
                                     static_cast<unsigned>(keeps_nan) << 1);
    WarpOp warp_op = WarpOp::ReduxAdd;
    if (op == 1) {
        warp_op = type == Type::F32   ? WarpOp::ReduxMinFloat
                  : type == Type::S32 ? WarpOp::ReduxMinSigned
                                      : WarpOp::ReduxMinUnsigned;
    } else if (op == 2) {
        warp_op = type == Type::F32   ? WarpOp::ReduxMaxFloat
                  : type == Type::S32 ? WarpOp::ReduxMaxSigned
                                      : WarpOp::ReduxMaxUnsigned;
    } else if (op > 2) {
        warp_op = op == 3 ? WarpOp::ReduxAnd : op == 4 ? WarpOp::ReduxOr : WarpOp::ReduxXor;
    }
    const bool is_bitwise = op > 2;
    if ((type == Type::F32 && (op == 0 || is_bitwise)) || (type == Type::B32) != is_bitwise ||
        (tag != 0 && type != Type::F32)) {
        reader.reject("combines an operation with a type that it does not support");
    }
    if (!reader.finish(3)) {
        return;
    }
    const Operand sources[2] = {reader.source(1, type), reader.source(2, Type::B32)};
    const Operand destination = reader.destination(0, type);
    emit_warp(reader, {.op = warp_op}, std::span(&destination, 1), sources, tag);
}

void decode_elect(Reader& reader) {
    need_sync(reader);
    if (!reader.finish(2)) {
        return;
    }
    const ptx::Operand& to = reader.operand(0);
    if (to.kind != ptx::Operand::Kind::Pair) {
        reader.reject("needs two destinations, a lane and a predicate");
        return;
    }
    const Operand source = reader.source(1, Type::B32);
    const Operand destinations[2] = {reader.destination(to.parts[0], Type::B32),
                                     reader.destination(to.parts[1], Type::Pred)};
    emit_warp(reader, {.op = WarpOp::Elect}, destinations, std::span(&source, 1), 0);
}

} // namespace

void decode_warp(Reader& reader) {
    const std::string_view opcode = reader.opcode();
    if (opcode == "vote") {
        decode_vote(reader);
    } else if (opcode == "shfl") {
        decode_shuffle(reader);
    } else if (opcode == "match") {
        decode_match(reader);
    } else if (opcode == "redux") {
        decode_redux(reader);
    } else if (opcode == "elect") {
        decode_elect(reader);
    } else {
        reader.take_type_of({Type::B32});
        if (!reader.finish(1)) {
            return;
        }
        const Operand destination = reader.destination(0, Type::B32);
        bytecode::Instruction rest;
        rest.flags = bytecode::HAS_SIDE_EFFECT;
        reader.emit(MoveForm{.op = MoveOp::ActiveMask}, std::span(&destination, 1), {}, rest);
    }
}

} // namespace cuprum::emulator::decoding
