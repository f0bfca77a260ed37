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

/// The way in which a store or a reduction is asynchronous. It completes at once in any case.
enum class Async : std::uint8_t {
    No,
    TellsBarrier, // in shared memory of the cluster
    Releases,     // in global memory
};

/// Takes the modifiers of st.async and red.async, and their memory order. `barrier_order` is the
/// one that an access with an mbarrier may state.
Async take_async(Reader& reader, std::string_view barrier_order) {
    if (!reader.take("async")) {
        return Async::No;
    }
    if (reader.take("mbarrier::complete_tx::bytes")) {
        reader.take_order_and_scope({barrier_order}, Reader::Scope::Optional);
        return Async::TellsBarrier;
    }
    reader.take("mmio");
    reader.take_order_and_scope({"release"}, Reader::Scope::Optional);
    return Async::Releases;
}

/// Rejects an asynchronous access whose completion could not be observed.
void check_async(Reader& reader, Async async, const Where& where) {
    const bool is_generic = where.space == Space::None;
    if (async == Async::Releases &&
        (!reader.order().releases || (!is_generic && where.space != Space::Global))) {
        reader.reject("needs .mbarrier::complete_tx::bytes, or .release to .global");
    }
    if (async == Async::TellsBarrier &&
        !(is_generic || (where.space == Space::Shared && where.reaches_cluster))) {
        reader.reject("needs an mbarrier in .shared::cluster");
    }
}

AtomicOp atomic_op(int index) {
    constexpr AtomicOp OPS[] = {
        AtomicOp::Add, AtomicOp::Min, AtomicOp::Max, AtomicOp::Inc,      AtomicOp::Dec,
        AtomicOp::And, AtomicOp::Or,  AtomicOp::Xor, AtomicOp::Exchange, AtomicOp::CompareExchange};
    return OPS[index];
}

/// Takes the type of an atomic operation.
Type take_atomic_type(Reader& reader, AtomicOp op, bool is_vector) {
    using enum Type;
    switch (op) {
    case AtomicOp::Add:
        return is_vector ? reader.take_type_of({F32, F16, BF16, F16x2, BF16x2})
                         : reader.take_type_of({U32, S32, U64, F32, F64, F16, BF16, F16x2, BF16x2});
    case AtomicOp::Min:
    case AtomicOp::Max:
        return is_vector ? reader.take_type_of({F16, BF16, F16x2, BF16x2})
                         : reader.take_type_of({U32, S32, U64, S64});
    case AtomicOp::Inc:
    case AtomicOp::Dec:
        return reader.take_type_of({U32});
    case AtomicOp::Exchange:
        return reader.take_type_of({B32, B64, B128});
    case AtomicOp::CompareExchange:
        return reader.take_type_of({B16, B32, B64, B128});
    default:
        return reader.take_type_of({B32, B64});
    }
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

/// Takes the memory order of ld or st, and rejects orders that its state space does not have.
void take_order(Reader& reader, bool is_store, Space space) {
    constexpr auto with_order = Reader::Scope::WithOrder;
    const bool is_device = reader.take("mmio");
    const bool is_good_for_device =
        reader.has("sys") && !reader.has("weak") && !reader.has("volatile");
    const bool is_volatile = reader.has("volatile");
    if (is_store) {
        reader.take_order_and_scope({"weak", "relaxed", "volatile", "release"}, with_order);
    } else {
        reader.take_order_and_scope({"weak", "relaxed", "volatile", "acquire"}, with_order);
    }
    if (is_device && (!is_good_for_device || (space != Space::None && space != Space::Global))) {
        reader.reject("has .mmio, which needs a memory order with .sys, and .global");
    }
    const bool is_of_thread = space == Space::Local && !is_volatile;
    if (reader.order().is_strong &&
        (is_of_thread || space == Space::Constant || space == Space::Param)) {
        reader.reject("states a memory order in a state space of one thread or of constants");
    }
}

/// Takes what a load or store says about caches. It has no effect here, except on .nc.
void take_caches(Reader& reader, bool is_store, MemoryAccess& access) {
    const bool is_global = access.space == Space::None || access.space == Space::Global;
    const int cache = is_store ? reader.take_one_of({"wb", "cg", "cs", "wt"})
                               : reader.take_one_of({"ca", "cg", "cs", "lu", "cv"});
    access.skips_cache = !is_store && (cache == 1 || cache == 4);
    access.is_read_only = !is_store && reader.take("nc");
    if (access.is_read_only && (access.space != Space::Global || cache > 2)) {
        reader.reject("has .nc, which needs .global and no cache operator but .ca, .cg or .cs");
    }
    if (reader.order().is_strong && (cache >= 0 || access.is_read_only)) {
        reader.reject("states a memory order and how to use caches");
    }
    if (is_global) {
        const bool is_kept = reader.take_priority();
        access.has_second_priority =
            reader.take_one_of({"L2::evict_last", "L2::evict_normal", "L2::evict_first"}) >= 0;
        access.has_hint = reader.take("L2::cache_hint");
        if (!is_store) {
            reader.take_one_of({"L2::64B", "L2::128B", "L2::256B"});
            reader.take("proxy::readonly");
        }
        if (is_kept && cache > 0 && !is_store) {
            reader.reject("has two rules for the first-level cache");
        }
    }
}

} // namespace

bool take_memory_access(Reader& reader, MemoryAccess& access) {
    const bool is_store = reader.opcode() == "st";
    const bool is_ldu = reader.opcode() == "ldu";
    const Async async = is_store ? take_async(reader, "weak") : Async::No;
    const Where where = take_space(reader);
    access.space = where.space;
    access.reaches_cluster = where.reaches_cluster;
    access.is_async = async != Async::No;
    access.tells_barrier = async == Async::TellsBarrier;
    check_async(reader, async, where);
    if (is_ldu) {
        if (access.space != Space::None && access.space != Space::Global) {
            reader.reject("loads from .global only");
        }
    } else if (!access.is_async) {
        take_order(reader, is_store, access.space);
        take_caches(reader, is_store, access);
    }
    access.is_ordered = reader.order().acquires || reader.order().releases;
    const int vector = reader.take_one_of({"v2", "v4", "v8"});
    access.is_vector = vector >= 0;
    access.count = vector < 0 ? 1 : std::size_t{2} << vector;
    access.type = reader.take_type_of({Type::B8, Type::B16, Type::B32, Type::B64, Type::B128,
                                       Type::U8, Type::U16, Type::U32, Type::U64, Type::S8,
                                       Type::S16, Type::S32, Type::S64, Type::F32, Type::F64});
    if (is_store && access.space == Space::Constant) {
        reader.reject("writes to a state space that cannot be written");
    }
    if (!reader.finish(access.has_hint || access.tells_barrier ? 3 : 2)) {
        return false;
    }
    const std::size_t address_index = is_store ? 0 : 1;
    const ptx::Operand& value = reader.operand(1 - address_index);
    if (!need_address(reader, address_index)) {
        return false;
    }
    const bool is_vector = value.kind == Kind::Vector;
    if (is_vector != access.is_vector || (is_vector && value.parts.size() != access.count)) {
        reader.reject("needs " + std::to_string(access.count) +
                      (access.count == 1 ? " register" : " registers"));
        return false;
    }
    constexpr std::size_t most_bytes = 16;
    const std::size_t bytes = bits_of(access.type) / 8;
    const bool is_wide = bytes * access.count == 2 * most_bytes && (bytes == 4 || bytes == 8) &&
                         (access.space == Space::None || access.space == Space::Global);
    if (access.has_second_priority && !is_wide) {
        reader.reject("has an eviction priority of .L2, which needs 32 bytes per thread");
        return false;
    }
    if (bytes * access.count > most_bytes && !is_wide) {
        reader.reject("moves more than 16 bytes per thread; 32 are possible with .global and "
                      "eight values of 32 or four of 64 bits");
        return false;
    }
    return true;
}

void decode_memory(Reader& reader) {
    MemoryForm form;
    form.is_store = reader.opcode() == "st";
    if (form.is_store && reader.take("bulk")) {
        decode_bulk_store(reader);
        return;
    }
    MemoryAccess access;
    if (!take_memory_access(reader, access)) {
        return;
    }
    if (form.is_store && access.space == Space::Param) {
        reader.reject("writes to a state space that cannot be written");
        return;
    }
    form.is_ordered = access.is_ordered;
    form.space = access.space;
    form.is_read_only = access.is_read_only;
    const Type type = access.type;
    const std::size_t count = access.count;
    const std::size_t address_index = form.is_store ? 0 : 1;
    const ptx::Operand& value = reader.operand(1 - address_index);
    const std::span<const ptx::Operand> parts = access.is_vector
                                                    ? std::span<const ptx::Operand>(value.parts)
                                                    : std::span<const ptx::Operand>(&value, 1);
    const auto element_bytes = static_cast<std::uint8_t>(bits_of(type) / 8);
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
    rest.tag |= access.reaches_cluster ? REACHES_CLUSTER : 0;
    if (form.is_store || reader.order().is_strong) { // strong loads happen, used or not
        rest.flags = bytecode::HAS_SIDE_EFFECT;
    }
    if (!reader.order().is_strong && !access.skips_cache && !access.is_async && may_pass(form)) {
        rest.flags |= bytecode::CAN_WAIT; // for the pass find_last_reductions
    }
    note_access(reader, form, address, access.reaches_cluster, count, sources);
    // Loads that extend their elements have no ordered handlers, so they need a separate fence.
    const bool needs_fence =
        !form.is_store && form.is_ordered && element_bytes != static_cast<std::uint8_t>(width);
    form.is_ordered = form.is_ordered && !needs_fence;
    reader.emit(form, destinations, sources, rest);
    if (needs_fence) {
        emit_fence(reader);
    }
    if (access.tells_barrier) {
        emit_delivery(reader, 2, form.space, access.reaches_cluster, element_bytes * count);
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
    const Async async = form.returns ? Async::No : take_async(reader, "relaxed");
    const bool tells_barrier = async == Async::TellsBarrier;
    constexpr auto optional = Reader::Scope::Optional;
    if (form.returns) {
        reader.take_order_and_scope({"relaxed", "acquire", "release", "acq_rel"}, optional);
    } else if (async == Async::No) {
        reader.take_order_and_scope({"relaxed", "release"}, optional);
    }
    const bool is_ordered = reader.order().acquires || reader.order().releases;
    const Where where = take_space(reader);
    form.space = where.space;
    check_async(reader, async, where);
    if (tells_barrier && !reader.order().is_strong) {
        reader.reject("needs .relaxed");
    }
    const int op =
        reader.take_one_of({"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"});
    if (op < 0) {
        reader.reject("names no operation");
        return;
    }
    form.op = atomic_op(op);
    if (!form.returns && (form.op == AtomicOp::Exchange || form.op == AtomicOp::CompareExchange)) {
        reader.reject("returns nothing, and there is no such reduction");
    }
    const bool keeps_subnormals = reader.take("noftz");
    const bool has_hint = !tells_barrier && reader.take("L2::cache_hint");
    const int vector = reader.take_one_of({"v2", "v4", "v8"});
    form.type = take_atomic_type(reader, form.op, vector >= 0);
    if (keeps_subnormals && form.type == Type::F32 && form.space != Space::Shared) {
        reader.refuse("keeps subnormal numbers, but adders of global memory flush them here: leave "
                      ".noftz out");
    }
    const bool is_half =
        bits_of(form.type) == 16 || form.type == Type::F16x2 || form.type == Type::BF16x2;
    const bool is_half_float = is_half && is_float(form.type);
    if (is_half_float != keeps_subnormals && form.type != Type::F32) {
        reader.reject(is_half_float ? "needs .noftz for halves"
                                    : "has .noftz, which its type does not have");
    }
    if (tells_barrier && form.type != Type::B32 && form.type != Type::U32 &&
        form.type != Type::S32 && !(form.type == Type::U64 && form.op == AtomicOp::Add)) {
        reader.reject("has a type that no reduction with an mbarrier has");
    }
    if (form.space != Space::None && form.space != Space::Global && form.space != Space::Shared) {
        reader.reject("uses a state space without atomics");
    }
    const std::size_t first = form.returns ? 1 : 0;
    const std::size_t values = form.op == AtomicOp::CompareExchange ? 2 : 1;
    if (!reader.finish(first + 1 + values + (has_hint || tells_barrier ? 1 : 0)) ||
        !need_address(reader, first)) {
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

namespace {

/// All fences are full fences here; their kind and scope matter only to the checks. For the checks
/// a fence releases but does not acquire. A fence orders nothing without a strong access that sees
/// a value set by another thread, and that access counts as an acquire by itself.
void finish_fence(Reader& reader, bool is_block_scope, bool fences_proxy) {
    if (reader.has_failed()) {
        return;
    }
    emit_fence(reader);
    reader.lowering().note_order(
        {.releases = true, .is_block_scope = is_block_scope, .fences_proxy = fences_proxy});
}

/// Takes the scope of a fence. Returns whether it is .cta.
bool take_scope(Reader& reader) {
    const int scope = reader.take_one_of({"cta", "cluster", "gpu", "sys"});
    if (scope < 0) {
        reader.reject("needs a scope: .cta, .cluster, .gpu or .sys");
    }
    return scope == 0;
}

/// Decodes fence.proxy and membar.proxy.
void decode_proxy_fence(Reader& reader) {
    const int kind = reader.take_one_of({"alias", "async", "tensormap::generic", "async::generic"});
    const bool is_of_fabric = kind == 0 && reader.take("generic::fabric");
    bool is_block_scope = false;
    bool fences_proxy = kind == 1 || kind == 3;
    std::size_t operands = 0;
    if (kind < 0) {
        reader.reject("needs a proxy: .alias, .async, .async::generic or .tensormap::generic");
    } else if (kind == 0) {
        if (reader.take_one_of({"acquire", "release"}) >= 0) {
            is_block_scope = take_scope(reader);
        } else if (is_of_fabric) {
            reader.reject("needs .acquire or .release");
        }
    } else if (kind == 1) {
        const int space = reader.take_one_of({"global", "shared::cta", "shared::cluster"});
        fences_proxy = space != 0;
    } else if (kind == 2) {
        const int order = reader.take_one_of({"release", "acquire"});
        is_block_scope = take_scope(reader);
        if (order < 0) {
            reader.reject("needs .release or .acquire");
        }
        operands = order == 1 ? 2 : 0;
    } else if (kind == 3) {
        const int order = reader.take_one_of({"acquire", "release"});
        const bool is_restricted =
            order == 0
                ? reader.take("sync_restrict::shared::cluster")
                : order == 1 && reader.take_one_of({"sync_restrict::shared::cta",
                                                    "sync_restrict::shared::cluster::read"}) >= 0;
        if (!is_restricted) {
            reader.reject("needs .acquire.sync_restrict::shared::cluster, or .release with "
                          ".sync_restrict::shared::cta or .sync_restrict::shared::cluster::read");
        }
        reader.need("cluster");
    }
    if (reader.finish(operands) && operands == 2) {
        constexpr std::uint64_t map_bytes = 128;
        (void)(need_address(reader, 0) && need_constant(reader, 1, map_bytes));
    }
    finish_fence(reader, is_block_scope, fences_proxy);
}

} // namespace

void decode_fence(Reader& reader) {
    if (reader.take("proxy")) {
        decode_proxy_fence(reader);
        return;
    }
    bool is_block_scope = false;
    if (reader.take("mbarrier_init")) {
        reader.need("release");
        reader.need("cluster");
    } else {
        const int order = reader.take_one_of({"sc", "acq_rel", "acquire", "release"});
        if (order >= 2 && reader.take(order == 2 ? "sync_restrict::shared::cluster"
                                                 : "sync_restrict::shared::cta")) {
            reader.need("cluster");
        } else {
            is_block_scope = take_scope(reader);
        }
    }
    (void)reader.finish(0);
    finish_fence(reader, is_block_scope, false);
}

void decode_membar(Reader& reader) {
    if (reader.take("proxy")) {
        decode_proxy_fence(reader);
        return;
    }
    const int level = reader.take_one_of({"cta", "gl", "sys"});
    if (level < 0) {
        reader.reject("needs a level: .cta, .gl or .sys");
    }
    (void)reader.finish(0);
    finish_fence(reader, level == 0, false);
}

} // namespace cuprum::emulator::decoding
