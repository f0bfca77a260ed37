// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// clusterlaunchcontrol.

#include "interp/launch_control.hpp"

#include "decode/reader.hpp"

#include <array>

namespace cuprum::emulator::decoding {

using bytecode::Operand;
using bytecode::Width;
using ptx::Space;
using ptx::Type;

namespace {

void decode_try_cancel(Reader& reader) {
    const bool is_async = reader.take("async");
    const Space space = reader.take("shared::cta") ? Space::Shared : Space::None;
    const bool tells_barrier = reader.take("mbarrier::complete_tx::bytes");
    const bool is_to_all = reader.take("multicast::cluster::all");
    reader.take_type_of({Type::B128});
    if (!is_async || !tells_barrier) {
        reader.reject("needs .async and .mbarrier::complete_tx::bytes");
    }
    if (!reader.finish(2) || !need_address(reader, 0) || !need_address(reader, 1)) {
        return;
    }
    Lowering& lowering = reader.lowering();
    const Address answer = lowering.address(reader.operand(0), space);
    const Address barrier = lowering.address(reader.operand(1), space);
    if (answer.base.is_none() || barrier.base.is_none() || !fits_shared(reader, answer.offset) ||
        !fits_shared(reader, barrier.offset)) {
        return;
    }
    AccessNote write;
    write.address = answer;
    write.space = space;
    write.kind = AccessNote::Kind::Write;
    write.bytes = launch_control::ANSWER_BYTES;
    if (is_to_all && space == Space::Shared) {
        constexpr std::uint64_t all_blocks = 0xffff;
        write.size = lowering.constant(launch_control::ANSWER_BYTES, Width::B32);
        write.blocks = lowering.constant(all_blocks, Width::B32);
    }
    lowering.note_access(write);
    lowering.note_order({.releases = true}); // waiting on the mbarrier acquires the answer
    const Operand sources[2] = {answer.base, barrier.base};
    bytecode::Instruction rest;
    rest.flags = bytecode::HAS_SIDE_EFFECT;
    rest.target = static_cast<std::uint32_t>(answer.offset);
    rest.extra = static_cast<std::uint32_t>(barrier.offset);
    rest.tag |= answer.base_width == Width::B32 ? launch_control::NARROW_ANSWER : 0;
    rest.tag |= barrier.base_width == Width::B32 ? launch_control::NARROW_BARRIER : 0;
    rest.tag |= space == Space::None ? launch_control::GENERIC : 0;
    rest.tag |= is_to_all ? launch_control::TO_ALL : 0;
    reader.emit(FixedOp::TryCancel, {}, sources, rest);
}

/// Returns the four words of the answer in operand 1.
std::array<Operand, 4> answer_words(Reader& reader) {
    std::array<Operand, 4> words;
    for (Operand& word : words) {
        word = reader.lowering().temporary(Width::B32);
    }
    const Operand answer = reader.source(1, Type::B128);
    reader.emit(MoveForm{.op = MoveOp::Unpack, .width = Width::B128, .part_bytes = 4, .bytes = 16},
                words, std::span(&answer, 1), {});
    return words;
}

void decode_query(Reader& reader) {
    const bool asks_whether = reader.take("is_canceled");
    const int index = reader.take_one_of(
        {"get_first_ctaid::x", "get_first_ctaid::y", "get_first_ctaid::z", "get_first_ctaid"});
    const bool takes_all = index == 3 && reader.take("v4");
    if (asks_whether == (index >= 0) || (index == 3) != takes_all) {
        reader.reject("needs .is_canceled, or .get_first_ctaid with a component or .v4");
        return;
    }
    reader.take_type_of({asks_whether ? Type::Pred : Type::B32});
    reader.take_type_of({Type::B128});
    if (!reader.finish(2)) {
        return;
    }
    const std::array<Operand, 4> words = answer_words(reader);
    const bytecode::Form copy = MoveForm{.op = MoveOp::Copy, .width = Width::B32};
    if (asks_whether) {
        reader.emit(CompareForm{.compare = Compare::Ne, .type = Type::U32},
                    {reader.destination(0, Type::Pred)},
                    {words[0], reader.lowering().constant(0, Width::B32)});
        return;
    }
    if (!takes_all) {
        reader.emit(copy, {reader.destination(0, Type::B32)},
                    {words[static_cast<std::size_t>(index) + 1]});
        return;
    }
    const std::vector<ptx::Operand>& parts = reader.operand(0).parts;
    if (reader.operand(0).kind != ptx::Operand::Kind::Vector || parts.size() != 4) {
        reader.reject("needs four registers in braces");
        return;
    }
    for (std::size_t i = 0; i < 3; ++i) { // the value of the fourth is unspecified
        reader.emit(copy, {reader.destination(parts[i], Type::B32)}, {words[i + 1]});
    }
}

} // namespace

void decode_launch_control(Reader& reader) {
    if (reader.take("try_cancel")) {
        decode_try_cancel(reader);
    } else if (reader.take("query_cancel")) {
        decode_query(reader);
    } else {
        reader.reject("needs .try_cancel or .query_cancel");
    }
}

} // namespace cuprum::emulator::decoding
