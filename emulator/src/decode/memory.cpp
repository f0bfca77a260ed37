// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Loads, stores, atomics and fences.

#include "decode/reader.hpp"
#include "interp/cluster.hpp"

#include <iterator>
#include <vector>

namespace cuprum::emulator::decoding {

using bytecode::Operand;
using bytecode::Width;
using ptx::Space;
using ptx::Type;
using Kind = ptx::Operand::Kind;

namespace {

/// Bits of the tag that handlers/access.hpp reads.
constexpr std::uint16_t NARROW_ADDRESS = 0x100;
constexpr std::uint16_t NARROW_ATOMIC_ADDRESS = 1;

/// The state space of an address.
struct Where {
    Space space = Space::None;
    bool reaches_cluster = true; // if it is shared memory, it may be that of another block
};

Where take_space(Reader& reader) {
    constexpr Space SPACES[] = {Space::Constant, Space::Global, Space::Local,
                                Space::Param,    Space::Param,  Space::Param,
                                Space::Shared,   Space::Shared, Space::Shared};
    const int index =
        reader.take_one_of({"const", "global", "local", "param", "param::entry", "param::func",
                            "shared", "shared::cta", "shared::cluster"});
    const bool reaches_cluster = index < 0 || index + 1 == std::ssize(SPACES);
    return {index < 0 ? Space::None : SPACES[index], reaches_cluster};
}

bool is_address(Reader& reader, std::size_t index) {
    if (reader.operand(index).kind != Kind::Address) {
        reader.reject("needs an address in brackets as operand " + std::to_string(index + 1));
        return false;
    }
    return true;
}

/// The way in which a store or a reduction is asynchronous. It completes at once in any case.
enum class Async : std::uint8_t {
    No,
    TellsBarrier, // in shared memory of the cluster
    Releases,     // in global memory
};

/// Takes the modifiers of st.async and red.async.
Async take_async(Reader& reader) {
    if (!reader.take("async")) {
        return Async::No;
    }
    return reader.take("mbarrier::complete_tx::bytes") ? Async::TellsBarrier : Async::Releases;
}

/// Rejects an asynchronous access whose completion could not be observed.
void check_async(Reader& reader, Async async, Space space) {
    if (async == Async::Releases &&
        (!reader.order().releases || (space != Space::None && space != Space::Global))) {
        reader.reject("needs .mbarrier::complete_tx::bytes, or .release to .global");
    }
}

AtomicOp atomic_op(int index) {
    constexpr AtomicOp OPS[] = {
        AtomicOp::Add, AtomicOp::Min, AtomicOp::Max, AtomicOp::Inc,      AtomicOp::Dec,
        AtomicOp::And, AtomicOp::Or,  AtomicOp::Xor, AtomicOp::Exchange, AtomicOp::CompareExchange};
    return OPS[index];
}

void note_atomic(Reader& reader, const AtomicForm& form, const Address& address,
                 bool reaches_cluster, std::size_t count) {
    const Reader::Order& order = reader.order();
    if (order.releases) {
        reader.lowering().note_order({.releases = true, .is_block_scope = order.is_block_scope});
    }
    AccessNote note;
    note.address = address;
    note.space = form.space;
    note.reaches_cluster = reaches_cluster;
    note.kind = AccessNote::Kind::ReadWrite;
    note.bytes = bits_of(form.type) / 8;
    note.count = static_cast<std::uint32_t>(count);
    note.is_strong = true;
    reader.lowering().note_access(note);
}

/// Returns whether several operands can be combined with exact results before memory is read.
bool can_combine(const AtomicForm& form) {
    switch (form.op) {
    case AtomicOp::Add:
    case AtomicOp::Min:
    case AtomicOp::Max:
    case AtomicOp::And:
    case AtomicOp::Or:
    case AtomicOp::Xor:
        return form.type == Type::B32 || form.type == Type::U32 || form.type == Type::S32 ||
               form.type == Type::B64 || form.type == Type::U64 || form.type == Type::S64;
    default:
        return false;
    }
}

/// Emits one atomic per element of a vector. Each element is atomic; the whole need not be.
void emit_vector(Reader& reader, const AtomicForm& form, const Address& address,
                 std::size_t count) {
    const std::size_t bytes = bits_of(form.type) / 8;
    const bool is_known = form.type == Type::F32 || form.type == Type::F16 ||
                          form.type == Type::BF16 || form.type == Type::F16x2 ||
                          form.type == Type::BF16x2;
    if (!is_known || count * bytes > 16 || form.space == Space::Shared) {
        reader.reject("has no vector form of this kind");
        return;
    }
    const std::size_t first = form.returns ? 1 : 0;
    const ptx::Operand& value = reader.operand(first + 1);
    const ptx::Operand& result = reader.operand(0);
    if (value.kind != Kind::Vector || value.parts.size() != count ||
        (form.returns && (result.kind != Kind::Vector || result.parts.size() != count))) {
        reader.reject("needs vectors of " + std::to_string(count) + " registers");
        return;
    }
    note_atomic(reader, form, address, false, count);
    // A later element may read the register that an earlier one writes.
    std::vector<Operand> results;
    for (std::size_t i = 0; i < count; ++i) {
        const Operand sources[2] = {address.base, reader.source(value.parts[i], form.type)};
        bytecode::Instruction rest;
        rest.immediate =
            static_cast<std::int64_t>(static_cast<std::uint64_t>(address.offset) + i * bytes);
        rest.access_bytes = static_cast<std::uint8_t>(bytes);
        rest.flags = bytecode::HAS_SIDE_EFFECT;
        rest.tag = address.base_width == Width::B32 ? NARROW_ATOMIC_ADDRESS : 0;
        if (form.returns) {
            results.push_back(reader.lowering().temporary(width_for(form.type)));
        }
        reader.emit(form, std::span(results).last(form.returns ? 1 : 0), sources, rest);
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
        reader.emit(MoveForm{.op = MoveOp::Copy, .width = width_for(form.type)},
                    {reader.destination(result.parts[i], form.type)}, {results[i]});
    }
}

} // namespace

namespace {

void note_access(Reader& reader, const MemoryForm& form, const Address& address,
                 bool reaches_cluster, std::size_t count, std::span<const Operand> sources) {
    if (reader.has_failed()) {
        return;
    }
    const Reader::Order& order = reader.order();
    if (order.releases) {
        reader.lowering().note_order({.releases = true, .is_block_scope = order.is_block_scope});
    }
    AccessNote note;
    note.address = address;
    note.space = form.space;
    note.reaches_cluster = reaches_cluster;
    note.kind = form.is_store ? AccessNote::Kind::Write : AccessNote::Kind::Read;
    note.bytes = form.element_bytes;
    note.count = static_cast<std::uint32_t>(count);
    note.is_strong = order.is_strong;
    note.value_width = form.register_width;
    if (form.is_store) {
        note.values = sources.subspan(1);
    }
    reader.lowering().note_access(note);
}

/// Returns whether a weak access may happen before a reduction to device memory that its thread has
/// executed already. A load of device memory may if it is to other words.
bool may_pass(const MemoryForm& form) {
    switch (form.space) {
    case Space::Global:
    case Space::None:
        return !form.is_store && form.address_width == Width::B64;
    default:
        return true;
    }
}

void emit_fence(Reader& reader) {
    bytecode::Instruction rest;
    rest.flags = bytecode::HAS_SIDE_EFFECT;
    reader.emit(WarpForm{.op = WarpOp::Fence}, {}, {}, rest);
}

} // namespace

void decode_memory(Reader& reader) {
    MemoryForm form;
    form.is_store = reader.opcode() == "st";
    if (form.is_store && reader.take("bulk")) {
        decode_bulk_store(reader);
        return;
    }
    const Async async = form.is_store ? take_async(reader) : Async::No;
    const bool tells_barrier = async == Async::TellsBarrier;
    const bool is_ldu = reader.opcode() == "ldu";
    form.is_ordered = reader.take_order_and_scope();
    const Where where = take_space(reader);
    form.space = where.space;
    check_async(reader, async, form.space);
    if (!form.is_store && !is_ldu) {
        form.is_read_only = reader.take("nc");
        reader.take("proxy::readonly");
        reader.take("unified");
    }
    const bool skips_cache = reader.has("cg") || reader.has("cv");
    reader.take_cache_hints();
    const bool has_hint = reader.take("L2::cache_hint");
    const int vector = reader.take_one_of({"v2", "v4", "v8"});
    const std::size_t count = vector < 0 ? 1 : std::size_t{2} << vector;
    const Type type = reader.take_type();
    if (type == Type::None || type == Type::Pred) {
        reader.reject("needs a type that memory can hold");
    }
    if (form.is_store && (form.space == Space::Constant || form.space == Space::Param)) {
        reader.reject("writes to a state space that cannot be written");
    }
    if (!reader.finish(has_hint || tells_barrier ? 3 : 2)) {
        return;
    }
    const std::size_t address_index = form.is_store ? 0 : 1;
    const ptx::Operand& value = reader.operand(1 - address_index);
    if (!is_address(reader, address_index)) {
        return;
    }
    const bool is_vector = value.kind == Kind::Vector;
    if (is_vector != (vector >= 0) || (is_vector && value.parts.size() != count)) {
        reader.reject("needs " + std::to_string(count) + " registers");
        return;
    }
    const std::span<const ptx::Operand> parts = is_vector
                                                    ? std::span<const ptx::Operand>(value.parts)
                                                    : std::span<const ptx::Operand>(&value, 1);
    const auto element_bytes = static_cast<std::uint8_t>(bits_of(type) / 8);
    if (element_bytes * count > 32) {
        reader.reject("moves more than 32 bytes per thread");
        return;
    }
    // A register may be wider than the element. Parts that are not registers (literals, _) take the
    // width of one that is.
    Width width = width_for(type);
    for (const ptx::Operand& part : parts) {
        if (reader.lowering().type_of(part) != Type::None) {
            width = reader.lowering().width_of(part);
        }
    }
    form.is_signed = is_signed(type);
    form.element_bytes = element_bytes;
    form.register_width = width;
    form.count = static_cast<std::uint8_t>(count);
    const Address address = reader.lowering().address(reader.operand(address_index), form.space);
    form.address_width = address.base_width;
    if (address.base.is_none()) {
        return;
    }
    std::vector<Operand> destinations;
    std::vector<Operand> sources{address.base};
    for (const ptx::Operand& part : parts) {
        if (form.is_store) {
            const bool is_register = reader.lowering().type_of(part) != Type::None;
            sources.push_back(reader.lowering().source(
                part, width, is_register || width == width_for(type) ? type : Type::B64));
        } else {
            destinations.push_back(reader.destination(part, width));
        }
        if ((form.is_store ? sources : destinations).back().is_none()) {
            return;
        }
    }
    bytecode::Instruction rest;
    rest.immediate = address.offset;
    rest.access_bytes = element_bytes;
    rest.tag = static_cast<std::uint16_t>(count);
    if (address.base_width == Width::B32) {
        rest.tag |= NARROW_ADDRESS;
    }
    rest.tag |= where.reaches_cluster ? REACHES_CLUSTER : 0;
    if (form.is_store || reader.order().is_strong) { // strong loads happen, used or not
        rest.flags = bytecode::HAS_SIDE_EFFECT;
    }
    if (!reader.order().is_strong && !skips_cache && async == Async::No && may_pass(form)) {
        rest.flags |= bytecode::CAN_WAIT; // for the pass find_last_reductions
    }
    note_access(reader, form, address, where.reaches_cluster, count, sources);
    // Loads that extend their elements have no ordered handlers, so they need a separate fence.
    const bool needs_fence =
        !form.is_store && form.is_ordered && element_bytes != static_cast<std::uint8_t>(width);
    form.is_ordered = form.is_ordered && !needs_fence;
    reader.emit(form, destinations, sources, rest);
    if (needs_fence) {
        emit_fence(reader);
    }
    if (tells_barrier) {
        emit_delivery(reader, 2, form.space, where.reaches_cluster, element_bytes * count);
    }
    if (!form.is_store && reader.order().is_strong) {
        // This is how a thread waits for another one, with any memory order.
        reader.lowering().note_order(
            {.acquires = true, .is_block_scope = reader.order().is_block_scope});
    }
}

void decode_atomic(Reader& reader) {
    AtomicForm form;
    form.returns = reader.opcode() == "atom";
    const Async async = form.returns ? Async::No : take_async(reader);
    const bool tells_barrier = async == Async::TellsBarrier;
    const bool is_ordered = reader.take_order_and_scope();
    const Where where = take_space(reader);
    form.space = where.space;
    check_async(reader, async, form.space);
    const int op =
        reader.take_one_of({"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"});
    if (op < 0) {
        reader.reject("names no operation");
        return;
    }
    form.op = atomic_op(op);
    const bool keeps_subnormals = reader.take("noftz");
    const bool has_hint = reader.take("L2::cache_hint");
    const int vector = reader.take_one_of({"v2", "v4", "v8"});
    form.type = reader.take_type_of({Type::B16, Type::B32, Type::B64, Type::B128, Type::U32,
                                     Type::U64, Type::S32, Type::S64, Type::F16, Type::F16x2,
                                     Type::BF16, Type::BF16x2, Type::F32, Type::F64});
    if (keeps_subnormals && form.type == Type::F32 && form.space != Space::Shared) {
        reader.refuse("keeps subnormal numbers, but adders of global memory flush them here: leave "
                      ".noftz out");
    }
    if (form.space != Space::None && form.space != Space::Global && form.space != Space::Shared) {
        reader.reject("uses a state space without atomics");
    }
    const std::size_t first = form.returns ? 1 : 0;
    const std::size_t values = form.op == AtomicOp::CompareExchange ? 2 : 1;
    if (!reader.finish(first + 1 + values + (has_hint || tells_barrier ? 1 : 0)) ||
        !is_address(reader, first)) {
        return;
    }
    const Address address = reader.lowering().address(reader.operand(first), form.space);
    if (address.base.is_none()) {
        return;
    }
    if (vector >= 0) {
        emit_vector(reader, form, address, std::size_t{2} << vector);
        reader.lowering().note_order(
            {.acquires = true, .is_block_scope = reader.order().is_block_scope});
        return;
    }
    Operand sources[3] = {address.base};
    for (std::size_t i = 0; i < values; ++i) {
        sources[1 + i] = reader.source(first + 1 + i, form.type);
    }
    bytecode::Instruction rest;
    rest.immediate = address.offset;
    rest.access_bytes = static_cast<std::uint8_t>(bits_of(form.type) / 8);
    rest.flags = bytecode::HAS_SIDE_EFFECT;
    if (!is_ordered && !tells_barrier && form.space == Space::Global && can_combine(form)) {
        rest.flags |= bytecode::CAN_WAIT; // the pass find_last_reductions decides
    }
    rest.tag = address.base_width == Width::B32 ? NARROW_ATOMIC_ADDRESS : 0;
    rest.tag |= where.reaches_cluster ? REACHES_CLUSTER : 0;
    Operand destination;
    if (form.returns) {
        destination = reader.destination(0, form.type);
    }
    if (reader.has_failed()) {
        return;
    }
    note_atomic(reader, form, address, where.reaches_cluster, 1);
    reader.emit(form, std::span(&destination, form.returns ? 1 : 0), std::span(sources, 1 + values),
                rest);
    if (tells_barrier) {
        emit_delivery(reader, 2, form.space, where.reaches_cluster, rest.access_bytes);
        return;
    }
    reader.lowering().note_order(
        {.acquires = true, .is_block_scope = reader.order().is_block_scope});
}

void decode_fence(Reader& reader) {
    // All fences are full fences here; their kind and scope matter only to the checks. For the
    // checks a fence releases but does not acquire. A fence orders nothing without a strong access
    // that sees a value set by another thread, and that access counts as an acquire by itself.
    const bool is_block_scope = reader.has("cta");
    const bool fences_proxy = reader.has("proxy") && !reader.has("global") &&
                              (reader.has("async") || reader.has("async::generic"));
    while (!reader.take_any().empty()) {
    }
    if (!reader.finish(0, 2)) {
        return;
    }
    emit_fence(reader);
    reader.lowering().note_order(
        {.releases = true, .is_block_scope = is_block_scope, .fences_proxy = fences_proxy});
}

} // namespace cuprum::emulator::decoding
