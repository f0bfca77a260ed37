// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// cp.async.bulk and cp.reduce.async.bulk between global memory and the shared memory of a block or
// of its cluster, and st.bulk.

#include "decode/reader.hpp"
#include "interp/bulk_copy.hpp"

#include <optional>

namespace cuprum::emulator::decoding {

using bytecode::Operand;
using bytecode::Width;
using ptx::Space;
using ptx::Type;

namespace {

/// The memories that a bulk operation reads and writes.
struct Ends {
    bool is_to_global = false;
    bool is_from_shared = false;
    bool reaches_cluster = false; // the target may be in another block
};

/// Takes the memory order, the two spaces and the completion mechanism. Returns none if the
/// combination is unknown.
std::optional<Ends> take_ends(Reader& reader) {
    reader.take_order_and_scope({"weak", "relaxed"}, Reader::Scope::Optional);
    const std::string_view to = reader.take_any();
    const std::string_view from = reader.take_any();
    Ends ends;
    ends.is_to_global = to == "global";
    ends.is_from_shared = from == "shared::cta";
    ends.reaches_cluster = to == "shared::cluster";
    const bool is_to_shared = ends.reaches_cluster || to == "shared::cta";
    const bool is_known = ends.is_to_global
                              ? ends.is_from_shared
                              : is_to_shared && (from == "global" || ends.reaches_cluster);
    if (!is_known || (!ends.is_from_shared && from != "global") ||
        !reader.take(ends.is_to_global ? "bulk_group" : "mbarrier::complete_tx::bytes")) {
        return std::nullopt;
    }
    return ends;
}

std::uint16_t narrow(const Address& address, std::uint16_t bit) {
    return address.base_width == Width::B32 ? bit : std::uint16_t{0};
}

std::uint16_t cluster_bit(const Ends& ends) {
    return ends.reaches_cluster ? bulk_copy::IN_CLUSTER : std::uint16_t{0};
}

/// Describes to the checks what a bulk operation reads and writes. `about` gives the size and how
/// the target is accessed. `read_size` is how much it reads, if that is less.
void note_bulk(Lowering& lowering, const AccessNote& about, const Address& to, const Address& from,
               const Address& barrier, const Ends& ends, Operand read_size = {}) {
    AccessNote read;
    read.address = from;
    read.space = ends.is_from_shared ? Space::Shared : Space::Global;
    read.size = read_size.is_none() ? about.size : read_size;
    // A copy within shared memory ends with a phase of its mbarrier, and not with a group.
    read.is_async = ends.is_from_shared && ends.is_to_global;
    lowering.note_access(read);
    AccessNote write = about;
    write.address = to;
    write.space = ends.is_to_global ? Space::Global : Space::Shared;
    write.reaches_cluster = ends.reaches_cluster;
    write.is_async = !ends.is_to_global && about.kind == AccessNote::Kind::Write;
    write.barrier = barrier;
    lowering.note_access(write);
    if (!ends.is_to_global) { // waiting on the mbarrier acquires the data
        lowering.note_order({.releases = true});
    }
}

/// Emits an operation with the operands [to], [from], size and, unless the target is global memory,
/// [mbarrier].
void emit_bulk(Reader& reader, const Ends& ends, FixedOp op, Operand size, std::uint16_t tag,
               const AccessNote& about) {
    if (!need_address(reader, 0) || !need_address(reader, 1) ||
        (!ends.is_to_global && !need_address(reader, 3))) {
        return;
    }
    Lowering& lowering = reader.lowering();
    // The handlers call the two places "shared" and "global"; the second may be shared as well.
    const std::size_t shared_at = ends.is_to_global ? 1 : 0;
    const bool is_within_shared = !ends.is_to_global && ends.is_from_shared;
    const Address shared = lowering.address(reader.operand(shared_at), Space::Shared);
    const Address other = lowering.address(reader.operand(1 - shared_at),
                                           is_within_shared ? Space::Shared : Space::Global);
    Address barrier;
    if (!ends.is_to_global) {
        barrier = lowering.address(reader.operand(3), Space::Shared);
    }
    if (shared.base.is_none() || other.base.is_none() ||
        (!ends.is_to_global && barrier.base.is_none()) || !fits_shared(reader, shared.offset) ||
        !fits_shared(reader, barrier.offset)) {
        return;
    }
    const Operand sources[4] = {shared.base, other.base, size, barrier.base};
    bytecode::Instruction rest;
    rest.flags = bytecode::HAS_SIDE_EFFECT;
    rest.immediate = other.offset;
    rest.target = static_cast<std::uint32_t>(shared.offset);
    rest.extra = static_cast<std::uint32_t>(barrier.offset);
    rest.tag = static_cast<std::uint16_t>(
        tag | cluster_bit(ends) | narrow(shared, bulk_copy::NARROW_SHARED) |
        narrow(barrier, bulk_copy::NARROW_BARRIER) | narrow(other, bulk_copy::NARROW_GLOBAL));
    if (reader.has_failed()) {
        return;
    }
    note_bulk(lowering, about, ends.is_to_global ? other : shared,
              ends.is_to_global ? shared : other, barrier, ends);
    reader.emit(op, {}, std::span(sources, ends.is_to_global ? 3 : 4), rest);
}

/// Emits a copy to shared memory with the operands [to], [from], size, left, right, [mbarrier]. It
/// does not read the first `left` and the last `right` bytes.
void emit_trimmed(Reader& reader, const Ends& ends, Operand size, const AccessNote& about) {
    if (!need_address(reader, 0) || !need_address(reader, 1) || !need_address(reader, 5)) {
        return;
    }
    Lowering& lowering = reader.lowering();
    const Address to = lowering.address(reader.operand(0), Space::Shared);
    const Address from = lowering.address(reader.operand(1), Space::Global);
    const Address barrier = lowering.address(reader.operand(5), Space::Shared);
    const Operand left = reader.source(3, Type::U32);
    const Operand right = reader.source(4, Type::U32);
    if (reader.has_failed() || to.base.is_none() || from.base.is_none() || barrier.base.is_none() ||
        !fits_shared(reader, to.offset) || !fits_shared(reader, barrier.offset)) {
        return;
    }
    const auto compute = [&](IntegerOp op, Width width, std::initializer_list<Operand> sources) {
        const Operand result = lowering.temporary(width);
        reader.emit(IntegerForm{.op = op, .type = Type::U32}, {result}, sources);
        return result;
    };
    // What it reads begins `left` bytes later and is shorter.
    Address read_from = from;
    read_from.base = from.base_width == Width::B64
                         ? compute(IntegerOp::MadWide, Width::B64,
                                   {left, lowering.constant(1, Width::B32), from.base})
                         : compute(IntegerOp::Add, Width::B32, {left, from.base});
    const Operand unread = compute(IntegerOp::Add, Width::B32, {left, right});
    const Operand read_size = compute(IntegerOp::Sub, Width::B32, {size, unread});
    // The handler takes the size and both trims in one operand.
    // Each trim has 16 bits of it; larger ones are wrong whatever they are.
    const Operand most = lowering.constant(UINT16_MAX, Width::B32);
    const Operand trims = compute(IntegerOp::MadLo, Width::B32,
                                  {compute(IntegerOp::Min, Width::B32, {right, most}),
                                   lowering.constant(1u << 16, Width::B32),
                                   compute(IntegerOp::Min, Width::B32, {left, most})});
    const Operand packed = lowering.temporary(Width::B64);
    reader.emit(MoveForm{.op = MoveOp::Pack, .width = Width::B64, .part_bytes = 4, .bytes = 8},
                {packed}, {size, trims});
    note_bulk(lowering, about, to, read_from, barrier, ends, read_size);
    const Operand sources[4] = {to.base, from.base, packed, barrier.base};
    bytecode::Instruction rest;
    rest.flags = bytecode::HAS_SIDE_EFFECT;
    rest.immediate = from.offset;
    rest.target = static_cast<std::uint32_t>(to.offset);
    rest.extra = static_cast<std::uint32_t>(barrier.offset);
    rest.tag = static_cast<std::uint16_t>(cluster_bit(ends) | narrow(to, bulk_copy::NARROW_SHARED) |
                                          narrow(barrier, bulk_copy::NARROW_BARRIER) |
                                          narrow(from, bulk_copy::NARROW_GLOBAL));
    reader.emit(FixedOp::BulkToSharedTrimmed, {}, sources, rest);
}

static_assert(static_cast<unsigned>(Type::SurfRef) < 32, "a type must fit into the tag");

/// Returns the handler's number for an operation and a type; none if they do not fit.
std::optional<std::uint16_t> reduction_of(Reader& reader, bool is_to_global) {
    const int op = reader.take_one_of({"add", "min", "max", "inc", "dec", "and", "or", "xor"});
    const bool has_noftz = reader.take("noftz");
    const Type type = reader.take_type_of({Type::F16, Type::BF16, Type::B32, Type::U32, Type::S32,
                                           Type::B64, Type::U64, Type::S64, Type::F32, Type::F64});
    if (op < 0) {
        reader.reject("names no operation");
        return std::nullopt;
    }
    const bool is_bitwise = op >= 5;
    const bool counts = op == 3 || op == 4;
    const bool is_half = type == Type::F16 || type == Type::BF16;
    const bool fits = is_bitwise ? type == Type::B32 || type == Type::B64
                      : counts   ? type == Type::U32
                      : op == 0  ? type != Type::B32 && type != Type::B64
                                 : !(type == Type::B32 || type == Type::B64 || type == Type::F32 ||
                                    type == Type::F64);
    const bool fits_shared_memory = bits_of(type) == 32 || (op == 0 && type == Type::U64);
    if (has_noftz && op == 0 && type == Type::F32) {
        reader.refuse("keeps subnormal numbers, but adders of global memory flush them here: leave "
                      ".noftz out");
        return std::nullopt;
    }
    if (!fits || has_noftz != (is_half && op == 0) ||
        (!is_to_global && (!fits_shared_memory || is_float(type)))) {
        reader.reject("combines an operation with a type that it does not support");
        return std::nullopt;
    }
    return static_cast<std::uint16_t>(static_cast<unsigned>(op) << 8 | static_cast<unsigned>(type)
                                                                           << 11);
}

} // namespace

void decode_bulk_copy(Reader& reader) {
    const std::optional<Ends> ends = take_ends(reader);
    if (!ends) {
        reader.refuse("is a kind of bulk copy that is not supported here");
        return;
    }
    const bool is_multicast =
        !ends->is_to_global && !ends->is_from_shared && reader.take("multicast::cluster");
    const std::size_t hints = reader.take("L2::cache_hint") ? 1 : 0;
    const bool is_masked = ends->is_to_global && reader.take("cp_mask");
    const bool is_trimmed =
        !ends->is_to_global && !ends->is_from_shared && reader.take("ignore_oob");
    if (reader.order().is_strong) {
        reader.take_type_of({Type::B128}); // how much of it is atomic
    }
    if (!reader.finish((ends->is_to_global ? 3 : 4) + (is_multicast || is_masked ? 1 : 0) +
                       (is_trimmed ? 2 : 0) + hints)) {
        return;
    }
    Operand size = reader.source(2, Type::U32);
    AccessNote about;
    about.kind = AccessNote::Kind::Write;
    about.size = size;
    about.is_strong = reader.order().is_strong;
    if (is_trimmed) {
        emit_trimmed(reader, *ends, size, about);
        return;
    }
    FixedOp op = ends->is_to_global     ? FixedOp::BulkToGlobal
                 : ends->is_from_shared ? FixedOp::BulkBetweenShared
                                        : FixedOp::BulkToShared;
    if (is_multicast || is_masked) {
        // The size and the mask (of blocks or of bytes) are packed into one operand.
        const Operand parts[2] = {size, reader.source(is_masked ? 3 + hints : 4, Type::B16)};
        if (is_masked) { // masked-out bytes may lie outside the allocation or belong to others
            about.size = reader.lowering().temporary(Width::B32);
            about.is_strong = true;
            reader.emit(FixedOp::BulkMaskedExtent, {about.size}, {parts[0], parts[1]});
        } else {
            about.blocks = parts[1];
        }
        size = reader.lowering().temporary(Width::B64);
        reader.emit(MoveForm{.op = MoveOp::Pack, .width = Width::B64, .part_bytes = 4, .bytes = 8},
                    std::span(&size, 1), parts, {});
        op = is_masked ? FixedOp::BulkToGlobalMasked : FixedOp::BulkToMany;
    }
    emit_bulk(reader, *ends, op, size, 0, about);
}

void decode_bulk_reduction(Reader& reader) {
    const std::optional<Ends> ends = take_ends(reader);
    if (!ends || !ends->is_from_shared) {
        reader.refuse("is a kind of bulk reduction that is not supported here");
        return;
    }
    const std::size_t hints = reader.take("L2::cache_hint") ? 1 : 0;
    const std::optional<std::uint16_t> tag = reduction_of(reader, ends->is_to_global);
    if (!tag || !reader.finish((ends->is_to_global ? 3 : 4) + hints)) {
        return;
    }
    AccessNote about;
    about.kind = AccessNote::Kind::ReadWrite;
    about.is_strong = true;
    about.size = reader.source(2, Type::U32);
    emit_bulk(reader, *ends, FixedOp::BulkReduce, about.size,
              static_cast<std::uint16_t>(*tag | (ends->is_to_global ? bulk_copy::TO_GLOBAL : 0)),
              about);
}

void decode_bulk_store(Reader& reader) {
    reader.take("weak");
    const Space space = reader.take("shared::cta") ? Space::Shared : Space::None;
    if (!reader.finish(3) || !need_address(reader, 0)) {
        return;
    }
    Lowering& lowering = reader.lowering();
    const ptx::Operand& value = reader.operand(2);
    if (value.kind != ptx::Operand::Kind::Integer || value.bits != 0) {
        reader.reject("can store nothing but 0");
        return;
    }
    const Address to = lowering.address(reader.operand(0), space);
    const Operand bytes = reader.source(1, Type::B64);
    if (to.base.is_none() || !fits_shared(reader, to.offset) || reader.has_failed()) {
        return;
    }
    const Operand size = lowering.temporary(Width::B32);
    reader.emit(MoveForm{.op = MoveOp::Unpack, .width = Width::B64, .part_bytes = 4, .bytes = 8},
                {size, lowering.temporary(Width::B32)}, {bytes});
    AccessNote write;
    write.address = to;
    write.space = space;
    write.kind = AccessNote::Kind::Write;
    write.size = size;
    lowering.note_access(write);
    const Operand sources[2] = {to.base, bytes};
    bytecode::Instruction rest;
    rest.flags = bytecode::HAS_SIDE_EFFECT;
    rest.target = static_cast<std::uint32_t>(to.offset);
    rest.tag = static_cast<std::uint16_t>(narrow(to, bulk_copy::NARROW_SHARED) |
                                          (space == Space::None ? bulk_copy::GENERIC : 0));
    reader.emit(FixedOp::BulkClear, {}, sources, rest);
}

} // namespace cuprum::emulator::decoding
