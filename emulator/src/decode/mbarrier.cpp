// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// mbarrier.

#include "interp/mbarrier.hpp"

#include "decode/reader.hpp"

#include <algorithm>
#include <iterator>

namespace cuprum::emulator::decoding {

using bytecode::Operand;
using bytecode::Width;
using ptx::Space;
using ptx::Type;

namespace {

/// Takes .layout::v0, the layout of all mbarriers here. Refuses the other one.
void take_layout(Reader& reader) {
    if (reader.take_one_of({"layout::v0", "layout::v1"}) == 1) {
        reader.refuse("uses .layout::v1: mbarriers that report errors are not supported here");
    }
}

/// Where an mbarrier is.
struct Where {
    Space space = Space::None;
    bool reaches_cluster = true; // it may be in another block
};

/// Which mbarriers an instruction may name by a shared address.
enum class Of : std::uint8_t { Block, Cluster };

/// Takes the parts that nearly all forms have: order, scope, space and type.
Where take_common(Reader& reader, std::initializer_list<std::string_view> orders, Of of) {
    if (reader.has("gpu") || reader.has("sys")) {
        reader.reject("has a scope that is wider than a cluster");
    }
    reader.take_order_and_scope(orders, Reader::Scope::WithOrder);
    const int shared = of == Of::Cluster
                           ? reader.take_one_of({"shared", "shared::cta", "shared::cluster"})
                           : reader.take_one_of({"shared", "shared::cta"});
    reader.take_type_of({Type::B64});
    return {shared >= 0 ? Space::Shared : Space::None, shared < 0 || shared == 2};
}

void emit(Reader& reader, FixedOp op, std::size_t address_at, const Where& where,
          std::span<const Operand> destinations, Operand operand, std::uint16_t tag) {
    if (reader.has_failed() || !need_address(reader, address_at)) {
        return;
    }
    const Address address = reader.lowering().address(reader.operand(address_at), where.space);
    if (address.base.is_none()) {
        return;
    }
    const Operand sources[2] = {address.base, operand};
    bytecode::Instruction rest;
    rest.immediate = address.offset;
    rest.flags = bytecode::HAS_SIDE_EFFECT;
    rest.tag = tag;
    if (address.base_width == Width::B32) {
        rest.tag |= mbarrier_tag::NARROW_ADDRESS;
    }
    if (where.space == Space::None) {
        rest.tag |= mbarrier_tag::GENERIC;
    }
    if (where.reaches_cluster) {
        rest.tag |= REACHES_CLUSTER;
    }
    const bool is_wait = op == FixedOp::MbarrierWait;
    if (!is_wait) {
        reader.lowering().note_order({.releases = true});
    }
    if (op == FixedOp::MbarrierInit || op == FixedOp::MbarrierInvalidate) {
        AccessNote note;
        note.address = address;
        note.space = where.space;
        note.reaches_cluster = where.reaches_cluster;
        note.kind = AccessNote::Kind::Write;
        note.bytes = 8;
        note.is_strong = true;
        reader.lowering().note_access(note);
    }
    reader.emit(op, destinations, std::span(sources, operand.is_none() ? 1 : 2), rest);
    if (is_wait && !reader.has_failed()) {
        reader.lowering().note_order({.acquires = true});
        rest.form = op;
        std::copy(std::begin(sources), std::end(sources), rest.src);
        rest.dst[0] = destinations[0];
        reader.lowering().note_wait(rest);
    }
}

void decode_arrive(Reader& reader, std::uint16_t tag) {
    if (reader.take("expect_tx")) {
        tag |= mbarrier_tag::EXPECTS_TX;
    }
    if ((tag & mbarrier_tag::EXPECTS_TX) == 0 && reader.take("noComplete")) {
        tag |= mbarrier_tag::NO_COMPLETE;
    }
    const bool is_plain = (tag & mbarrier_tag::NO_COMPLETE) != 0; // only of the block
    if (is_plain && reader.has("cluster")) {
        reader.reject("has .noComplete, which is only for threads of the block");
    }
    const Where where = is_plain ? take_common(reader, {"release"}, Of::Block)
                                 : take_common(reader, {"release", "relaxed"}, Of::Cluster);
    if (where.space == Space::Shared && where.reaches_cluster && reader.operand_count() != 0 &&
        reader.operand(0).kind != ptx::Operand::Kind::Discarded) {
        reader.reject("needs _ as its result: an mbarrier of .shared::cluster returns no state");
    }
    const bool needs_operand = (tag & (mbarrier_tag::EXPECTS_TX | mbarrier_tag::NO_COMPLETE)) != 0;
    if (!reader.finish(needs_operand ? 3 : 2, 3)) {
        return;
    }
    const Operand destination = reader.destination(0, Type::B64);
    const Operand operand = reader.operand_count() == 3 ? reader.source(2, Type::U32)
                                                        : reader.lowering().constant(1, Width::B32);
    emit(reader, FixedOp::MbarrierArrive, 1, where, std::span(&destination, 1), operand, tag);
}

void decode_wait(Reader& reader, bool has_hint) {
    const std::uint16_t tag = reader.take("parity") ? mbarrier_tag::PARITY : 0;
    reader.take("phase_type::primary"); // the only phase of mbarriers of layout v0
    if (reader.operand_count() != 0 && reader.operand(0).kind == ptx::Operand::Kind::Pair) {
        reader.refuse("reads a report: mbarriers that report errors are not supported here");
    }
    const Where where = take_common(reader, {"acquire", "relaxed"}, Of::Block);
    if (!reader.finish(3, has_hint ? 4 : 3)) {
        return;
    }
    // The operand for the maximum sleep time is only a hint: resolve it and drop it.
    if (reader.operand_count() == 4) {
        (void)reader.source(3, Type::U32);
    }
    const Operand destination = reader.destination(0, Type::Pred);
    const Operand operand = reader.source(2, tag != 0 ? Type::U32 : Type::B64);
    emit(reader, FixedOp::MbarrierWait, 1, where, std::span(&destination, 1), operand, tag);
}

void decode_with_operand(Reader& reader, FixedOp op) {
    const Where where = op == FixedOp::MbarrierInit ? take_common(reader, {}, Of::Block)
                                                    : take_common(reader, {"relaxed"}, Of::Cluster);
    if (reader.finish(2)) {
        emit(reader, op, 0, where, {}, reader.source(1, Type::U32), 0);
    }
}

/// Decodes check_layout. No mbarrier here has layout v1, because its initialisation is refused.
void decode_check_layout(Reader& reader) {
    const int layout = reader.take_one_of({"layout::v0", "layout::v1"});
    if (layout < 0) {
        reader.reject("needs .layout::v0 or .layout::v1");
    }
    const Where where = take_common(reader, {}, Of::Cluster);
    if (!reader.finish(2)) {
        return;
    }
    const Operand destination = reader.destination(0, Type::Pred);
    emit(reader, FixedOp::MbarrierCheck, 1, where, {}, {}, 0);
    reader.emit(
        MoveForm{.op = MoveOp::Copy, .width = Width::Predicate}, {destination},
        {reader.lowering().constant(layout == 0 ? ~std::uint64_t{0} : 0, Width::Predicate)});
}

} // namespace

void decode_mbarrier(Reader& reader) {
    if (reader.take("init")) {
        take_layout(reader);
        decode_with_operand(reader, FixedOp::MbarrierInit);
    } else if (reader.take("inval")) {
        const Where where = take_common(reader, {}, Of::Block);
        if (reader.finish(1)) {
            emit(reader, FixedOp::MbarrierInvalidate, 0, where, {}, {}, 0);
        }
    } else if (reader.take("arrive")) {
        decode_arrive(reader, 0);
    } else if (reader.take("arrive_drop")) {
        decode_arrive(reader, mbarrier_tag::DROPS);
    } else if (reader.take("test_wait")) {
        decode_wait(reader, false);
    } else if (reader.take("try_wait")) {
        decode_wait(reader, true);
    } else if (reader.take("expect_tx")) {
        decode_with_operand(reader, FixedOp::MbarrierExpect);
    } else if (reader.take("complete_tx")) {
        decode_with_operand(reader, FixedOp::MbarrierComplete);
    } else if (reader.take("check_layout")) {
        decode_check_layout(reader);
    } else if (reader.take("pending_count")) {
        take_layout(reader);
        reader.take_type_of({Type::B64});
        if (reader.finish(2)) {
            reader.emit(FixedOp::MbarrierPendingCount, {reader.destination(0, Type::U32)},
                        {reader.source(1, Type::B64)});
        }
    } else {
        reader.refuse("is not a supported mbarrier operation");
    }
}

void emit_delivery(Reader& reader, std::size_t index, Space space, bool reaches_cluster,
                   std::size_t bytes) {
    emit(reader, FixedOp::MbarrierComplete, index, {space, reaches_cluster}, {},
         reader.lowering().constant(bytes, Width::B32), 0);
}

void decode_async_arrive(Reader& reader) {
    // The copies that this arrival tracks are done. Without .noinc, the pending count grows by one
    // before the arrival and drops by one after it, so nothing changes.
    const bool counts = reader.take("noinc");
    const Where where = take_common(reader, {}, Of::Block);
    if (!reader.finish(1)) {
        return;
    }
    if (counts) {
        emit(reader, FixedOp::MbarrierArrive, 0, where, {},
             reader.lowering().constant(1, Width::B32), 0);
    } else {
        emit(reader, FixedOp::MbarrierCheck, 0, where, {}, {}, 0);
    }
}

} // namespace cuprum::emulator::decoding
