// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// cp.async, and the groups of cp.async.bulk. Every copy completes at once, so nothing ever waits
// for one. Instructions that manage groups of copies are checked but emit nothing.

#include "decode/reader.hpp"

#include <algorithm>
#include <limits>

namespace cuprum::emulator::decoding {

using bytecode::Operand;
using bytecode::Width;
using ptx::Space;
using ptx::Type;
using Kind = ptx::Operand::Kind;

namespace {

/// A wait that leaves more groups than this waits for nothing.
constexpr std::uint64_t MOST_GROUPS = 1u << 20;

/// Returns how many bytes a copy moves, as given by a literal operand; 0 if it is refused.
std::uint8_t copy_bytes(Reader& reader, bool bypasses_l1) {
    const ptx::Operand& size = reader.operand(2);
    if (size.kind == Kind::Integer && (size.bits == 4 || size.bits == 8 || size.bits == 16) &&
        (!bypasses_l1 || size.bits == 16)) {
        return static_cast<std::uint8_t>(size.bits);
    }
    reader.reject(bypasses_l1 ? "needs 16 as its third operand, the number of bytes"
                              : "needs 4, 8 or 16 as its third operand, the number of bytes");
    return 0;
}

void check_group_count(Reader& reader) {
    if (reader.finish(1) && reader.operand(0).kind != Kind::Integer) {
        reader.reject("needs a constant number of groups");
    }
}

void decode_bulk(Reader& reader) {
    if (reader.take("commit_group")) {
        if (reader.finish(0)) {
            reader.lowering().note_order({.commits_group = true});
        }
    } else if (reader.take("wait_group")) {
        reader.take("read");
        check_group_count(reader);
        if (!reader.has_failed()) {
            const auto kept = std::min<std::uint64_t>(reader.operand(0).bits, MOST_GROUPS);
            reader.lowering().note_order({.awaited_groups = static_cast<int>(kept)});
        }
    } else if (reader.has("tensor")) {
        decode_tensor_copy(reader, false);
    } else if (reader.take("prefetch")) {
        reader.need("L2");
        reader.need("global");
        reader.take_one_of({"L2::evict_last", "L2::evict_normal"});
        const std::size_t hints = reader.take("L2::cache_hint") ? 1 : 0;
        (void)(reader.finish(2 + hints) && need_address(reader, 0));
    } else {
        decode_bulk_copy(reader);
    }
}

void decode_copy(Reader& reader) {
    const int cache = reader.take_one_of({"ca", "cg"});
    const bool has_spaces =
        reader.take_one_of({"shared", "shared::cta"}) >= 0 && reader.take("global");
    if (cache < 0 || !has_spaces) {
        reader.reject("needs .ca or .cg, and copies from .global to .shared");
        return;
    }
    const bool has_hint = reader.take("L2::cache_hint");
    reader.take_one_of({"L2::64B", "L2::128B", "L2::256B"});
    const std::size_t hints = has_hint ? 1 : 0;
    if (!reader.finish(3 + hints, 4 + hints) || !need_address(reader, 0) ||
        !need_address(reader, 1)) {
        return;
    }
    CopyForm form;
    form.bytes = copy_bytes(reader, cache == 1);
    if (form.bytes == 0) {
        return;
    }
    const Address to = reader.lowering().address(reader.operand(0), Space::Shared);
    const Address from = reader.lowering().address(reader.operand(1), Space::Global);
    if (to.base.is_none() || from.base.is_none()) {
        return;
    }
    if (!fits_shared(reader, to.offset)) {
        return;
    }
    Operand sources[3] = {to.base, from.base};
    std::size_t count = 2;
    bytecode::Instruction rest;
    if (reader.operand_count() == 4 + hints) {
        const ptx::Operand& limit = reader.operand(3);
        if (reader.lowering().type_of(limit) == Type::Pred) {
            form.limit = CopyLimit::Ignored;
            sources[2] = reader.predicate(limit, rest.tag, CopyForm::IS_NEGATED);
        } else {
            form.limit = CopyLimit::Bytes;
            sources[2] = reader.source(limit, Type::U32);
        }
        count = 3;
    }
    rest.flags = bytecode::HAS_SIDE_EFFECT;
    rest.access_bytes = form.bytes;
    rest.immediate = from.offset;
    rest.target = static_cast<std::uint32_t>(to.offset);
    if (to.base_width == Width::B32) {
        rest.tag |= CopyForm::NARROW_TO;
    }
    if (from.base_width == Width::B32) {
        rest.tag |= CopyForm::NARROW_FROM;
    }
    if (!reader.has_failed()) {
        AccessNote read;
        read.address = from;
        read.space = Space::Global;
        read.bytes = form.bytes;
        if (form.limit == CopyLimit::Bytes) {
            read.size = sources[2];
        }
        if (form.limit != CopyLimit::Ignored) { // a predicate is not known yet
            reader.lowering().note_access(read);
        }
        AccessNote write;
        write.address = to;
        write.space = Space::Shared;
        write.kind = AccessNote::Kind::Write;
        write.bytes = form.bytes;
        reader.lowering().note_access(write);
    }
    reader.emit(form, {}, std::span(sources, count), rest);
}

} // namespace

bool need_address(Reader& reader, std::size_t index) {
    if (reader.operand(index).kind != Kind::Address) {
        reader.reject("needs an address in brackets as operand " + std::to_string(index + 1));
        return false;
    }
    return true;
}

bool need_constant(Reader& reader, std::size_t index, std::uint64_t value) {
    const ptx::Operand& operand = reader.operand(index);
    const bool is_good = operand.kind == Kind::Integer && operand.bits == value;
    if (!is_good) {
        reader.reject("needs the constant " + std::to_string(value) + " as operand " +
                      std::to_string(index + 1));
    }
    return is_good;
}

bool fits_shared(Reader& reader, std::int64_t offset) {
    if (offset < std::numeric_limits<std::int32_t>::min() ||
        offset > std::numeric_limits<std::int32_t>::max()) {
        reader.reject("has an offset outside shared memory");
        return false;
    }
    return true;
}

void decode_async_copy(Reader& reader) {
    const bool reduces = reader.take("reduce");
    if (!reader.take("async") || (reduces && !reader.take("bulk"))) {
        reader.refuse("is a kind of copy that is not supported here");
        return;
    }
    if (reduces && reader.has("tensor")) {
        decode_tensor_copy(reader, true);
    } else if (reduces) {
        decode_bulk_reduction(reader);
    } else if (reader.take("bulk")) {
        decode_bulk(reader);
    } else if (reader.take("commit_group") || reader.take("wait_all")) {
        (void)reader.finish(0);
    } else if (reader.take("wait_group")) {
        check_group_count(reader);
    } else if (reader.take("mbarrier")) {
        if (!reader.take("arrive")) {
            reader.reject("needs .arrive");
        }
        decode_async_arrive(reader);
    } else {
        decode_copy(reader);
    }
}

} // namespace cuprum::emulator::decoding
