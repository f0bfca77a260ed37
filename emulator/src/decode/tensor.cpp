// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Tensor copies: cp.async.bulk.tensor, cp.reduce.async.bulk.tensor and their prefetch; and the
// instructions that change tensor maps.

#include "decode/reader.hpp"
#include "interp/bulk_copy.hpp"
#include "interp/cluster.hpp"
#include "interp/tensor_copy.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace cuprum::emulator::decoding {

using bytecode::Operand;
using bytecode::Width;
using ptx::Space;
using ptx::Type;
using Kind = ptx::Operand::Kind;

namespace {

/// The kind of tensor copy.
enum class Action : std::uint8_t { Load, Store, Reduce, Prefetch };

/// What the modifiers of a tensor copy say.
struct Form {
    Action action = Action::Load;
    std::uint32_t rank = 0;
    TensorAccess access = TensorAccess::Tile;
    bool is_multicast = false;
    bool has_hint = false;
    bool reaches_cluster = false; // the box may be in another block
    std::uint16_t operation = 0;
};

/// Takes the dimension: 1d to 5d.
std::uint32_t take_rank(Reader& reader) {
    const int index = reader.take_one_of({"1d", "2d", "3d", "4d", "5d"});
    if (index < 0) {
        reader.reject("needs a dimension: .1d to .5d");
    }
    return static_cast<std::uint32_t>(index + 1);
}

/// Takes the two memories. Sets whether the copy goes to global memory. Rejects other combinations.
void take_spaces(Reader& reader, Form& form) {
    const bool is_from_global = form.action == Action::Load;
    const std::string_view to = reader.take_any();
    const std::string_view from = reader.take_any();
    form.reaches_cluster = to == "shared::cluster";
    const bool fits = is_from_global
                          ? (to == "shared::cluster" || to == "shared::cta") && from == "global"
                          : to == "global" && from == "shared::cta";
    if (!fits) {
        reader.reject("copies between .global and .shared::cta or .shared::cluster only");
    }
}

void take_access(Reader& reader, Form& form) {
    const bool is_load = form.action == Action::Load || form.action == Action::Prefetch;
    if (reader.has("im2col::w") || reader.has("im2col::w::128")) {
        reader.refuse("is not supported here: wide im2col needs compute capability 10");
        return;
    }
    if (reader.take(is_load ? "im2col" : "im2col_no_offs")) {
        form.access = TensorAccess::Im2col;
        if (form.rank < 3) {
            reader.reject("needs .3d, .4d or .5d for im2col");
        }
    } else if (reader.take(is_load ? "tile::gather4" : "tile::scatter4")) {
        form.access = TensorAccess::FourRows;
        if (form.rank != 2) {
            reader.reject("needs .2d to list four rows");
        }
    } else {
        reader.take("tile");
    }
}

/// Resolves the coordinates in [map, {x, y}] and the offsets of im2col.
void add_coordinates(Reader& reader, const Form& form, std::size_t map_at, std::size_t offsets_at,
                     std::vector<Operand>& sources) {
    const bool is_listed = form.access == TensorAccess::FourRows;
    const std::size_t count = is_listed ? 5 : form.rank;
    const ptx::Operand& place = reader.operand(map_at);
    // A single coordinate may stand without braces.
    std::span<const ptx::Operand> parts = place.parts;
    if (parts.size() == 1 && parts[0].kind == Kind::Vector) {
        parts = parts[0].parts;
    }
    if (parts.size() != count) {
        reader.reject("needs " + std::to_string(count) + " coordinates, found " +
                      std::to_string(parts.size()));
        return;
    }
    for (const ptx::Operand& part : parts) {
        sources.push_back(reader.source(part, Type::S32));
    }
    if (offsets_at == 0) {
        return;
    }
    const ptx::Operand& listed = reader.operand(offsets_at);
    const std::span<const ptx::Operand> offsets = listed.kind == Kind::Vector
                                                      ? std::span<const ptx::Operand>(listed.parts)
                                                      : std::span<const ptx::Operand>(&listed, 1);
    if (offsets.size() != form.rank - 2) {
        reader.reject("needs " + std::to_string(form.rank - 2) + " offsets for im2col, found " +
                      std::to_string(offsets.size()));
        return;
    }
    for (const ptx::Operand& part : offsets) {
        sources.push_back(reader.source(part, Type::U16));
    }
}

std::uint16_t if_narrow(const Address& address, std::uint16_t bit) {
    return !address.base.is_none() && address.base_width == Width::B32 ? bit : std::uint16_t{0};
}

bool fits_32_bits(Reader& reader, std::int64_t offset) {
    if (offset < std::numeric_limits<std::int32_t>::min() ||
        offset > std::numeric_limits<std::int32_t>::max()) {
        reader.reject("has an offset that does not fit 32 bits");
        return false;
    }
    return true;
}

FixedOp op_of(const Form& form) {
    switch (form.action) {
    case Action::Load:
        return form.is_multicast ? FixedOp::TensorLoadMany : FixedOp::TensorLoad;
    case Action::Store:
        return FixedOp::TensorStore;
    case Action::Reduce:
        return FixedOp::TensorReduce;
    default:
        return FixedOp::TensorPrefetch;
    }
}

/// Reads the operands: [box], [map, coordinates], [mbarrier] for a load, the map first for a store.
/// Then the offsets, the mask of blocks and the cache policy follow.
void emit_copy(Reader& reader, const Form& form) {
    const bool is_load = form.action == Action::Load;
    const bool has_box = form.action != Action::Prefetch;
    const bool is_read = is_load || form.action == Action::Prefetch;
    const bool has_offsets = form.access == TensorAccess::Im2col && is_read;
    const std::size_t map_at = is_load ? 1 : 0;
    const std::size_t box_at = is_load ? 0 : 1;
    std::size_t next = is_load ? 3 : has_box ? 2 : 1;
    const std::size_t offsets_at = has_offsets ? next++ : 0;
    const std::size_t mask_at = form.is_multicast ? next++ : 0;
    next += form.has_hint ? 1 : 0;
    if (!reader.finish(next) || !need_address(reader, map_at) ||
        (has_box && !need_address(reader, box_at)) || (is_load && !need_address(reader, 2))) {
        return;
    }
    Lowering& lowering = reader.lowering();
    const Operand nothing = lowering.constant(0, Width::B64);
    Address box{.base = nothing};
    Address barrier{.base = nothing};
    const Address map = lowering.address(reader.operand(map_at), Space::None);
    if (has_box) {
        box = lowering.address(reader.operand(box_at), Space::Shared);
    }
    if (is_load) {
        barrier = lowering.address(reader.operand(2), Space::Shared);
    }
    if (map.base.is_none() || box.base.is_none() || barrier.base.is_none() ||
        !fits_shared(reader, box.offset) || !fits_shared(reader, barrier.offset) ||
        !fits_32_bits(reader, map.offset)) {
        return;
    }
    std::vector<Operand> sources{box.base, map.base, barrier.base, nothing};
    if (mask_at != 0) {
        sources[3] = reader.source(mask_at, Type::B16);
    }
    if (form.has_hint) { // resolve it, so that a wrong operand is found, and drop it
        (void)reader.source(next - 1, Type::B64);
    }
    add_coordinates(reader, form, map_at, offsets_at, sources);
    if (reader.has_failed()) {
        return;
    }
    bytecode::Instruction copy;
    copy.flags = bytecode::HAS_SIDE_EFFECT;
    copy.target = static_cast<std::uint32_t>(box.offset);
    copy.immediate = static_cast<std::int64_t>(static_cast<std::uint64_t>(map.offset) << 32 |
                                               static_cast<std::uint32_t>(barrier.offset));
    const std::uint32_t coordinates = form.access == TensorAccess::FourRows ? 5 : form.rank;
    copy.tag = static_cast<std::uint16_t>(
        if_narrow(box, tensor_copy::NARROW_SHARED) | if_narrow(map, tensor_copy::NARROW_MAP) |
        if_narrow(barrier, tensor_copy::NARROW_BARRIER) |
        (form.reaches_cluster ? REACHES_CLUSTER : 0) |
        static_cast<unsigned>(form.access) << tensor_copy::ACCESS_SHIFT |
        coordinates << tensor_copy::RANK_SHIFT | form.operation << tensor_copy::OPERATION_SHIFT);
    copy.form = op_of(form);
    copy.src_count = 4;
    std::copy_n(sources.begin(), 4, copy.src);
    copy.extra_src_count = static_cast<std::uint8_t>(sources.size() - 4);
    copy.extra = lowering.add_operands(std::span(sources).subspan(4));
    lowering.note_tensor_copy(copy);
    lowering.emit(copy);
    if (is_load) { // waiting on the mbarrier acquires the data
        lowering.note_order({.releases = true});
    }
}

void decode_replace(Reader& reader) {
    using tensor_map::Field;
    if (!reader.take("tile")) {
        reader.reject("needs .tile");
        return;
    }
    // In the order of tensor_map::Field.
    const int index = reader.take_one_of(
        {"global_address", "rank", "box_dim", "global_dim", "global_stride", "element_stride",
         "elemtype", "interleave_layout", "swizzle_mode", "fill_mode", "swizzle_atomicity"});
    if (index < 0) {
        reader.reject("names no field of a tensor map");
        return;
    }
    const auto field = static_cast<Field>(index);
    const int space = reader.take_one_of({"global", "shared::cta"});
    const bool is_wide = field == Field::GlobalAddress || field == Field::GlobalStride;
    const bool has_ordinal = field == Field::BoxDim || field == Field::GlobalDim ||
                             field == Field::GlobalStride || field == Field::ElementStride;
    if (!reader.take("b1024") || !reader.take(is_wide ? "b64" : "b32")) {
        reader.reject(is_wide ? "needs .b1024.b64" : "needs .b1024.b32");
        return;
    }
    if (!reader.finish(has_ordinal ? 3 : 2) || !need_address(reader, 0)) {
        return;
    }
    std::uint64_t ordinal = 0;
    if (has_ordinal) {
        const ptx::Operand& number = reader.operand(1);
        if (number.kind != Kind::Integer || number.bits >= TensorMap::MAXIMUM_RANK) {
            reader.reject("needs a constant from 0 to 4 as the number of the dimension");
            return;
        }
        ordinal = number.bits;
    }
    const bool is_shared = space == 1;
    const Space where = is_shared ? Space::Shared : space == 0 ? Space::Global : Space::None;
    const Address map = reader.lowering().address(reader.operand(0), where);
    const Operand value = reader.source(has_ordinal ? 2 : 1, is_wide ? Type::B64 : Type::B32);
    if (map.base.is_none() || reader.has_failed()) {
        return;
    }
    AccessNote note;
    note.address = map;
    note.space = where;
    note.kind = AccessNote::Kind::Write;
    note.bytes = 16;
    note.count = sizeof(TensorMap) / 16;
    note.is_strong = true;
    reader.lowering().note_access(note);
    bytecode::Instruction rest;
    rest.flags = bytecode::HAS_SIDE_EFFECT;
    rest.immediate = map.offset;
    rest.tag = static_cast<std::uint16_t>(if_narrow(map, tensor_map::NARROW_TO) |
                                          (is_wide ? tensor_map::WIDE_VALUE : 0) |
                                          (is_shared ? tensor_map::IN_SHARED : 0) |
                                          static_cast<unsigned>(index) << tensor_map::FIELD_SHIFT |
                                          ordinal << tensor_map::ORDINAL_SHIFT);
    const Operand sources[2] = {map.base, value};
    reader.emit(FixedOp::TensorMapReplace, {}, sources, rest);
}

/// tensormap.cp_fenceproxy: copies a map from shared to global memory for all lanes together.
void decode_map_copy(Reader& reader) {
    const bool is_known = reader.take("global") && reader.take("shared::cta") &&
                          reader.take("tensormap::generic") && reader.take("release");
    const int scope = reader.take_one_of({"cta", "cluster", "gpu", "sys"});
    if (!is_known || scope < 0 || !reader.take("sync") || !reader.take("aligned")) {
        reader.reject("needs .global.shared::cta.tensormap::generic.release, a scope and "
                      ".sync.aligned");
        return;
    }
    if (!reader.finish(3) || !need_address(reader, 0) || !need_address(reader, 1)) {
        return;
    }
    const ptx::Operand& size = reader.operand(2);
    if (size.kind != Kind::Integer || size.bits != sizeof(TensorMap)) {
        reader.reject("can copy nothing but 128 bytes");
        return;
    }
    const Address to = reader.lowering().address(reader.operand(0), Space::Global);
    const Address from = reader.lowering().address(reader.operand(1), Space::Shared);
    if (to.base.is_none() || from.base.is_none() || !fits_shared(reader, from.offset)) {
        return;
    }
    AccessNote note;
    note.address = from;
    note.space = Space::Shared;
    note.bytes = 16;
    note.count = sizeof(TensorMap) / 16;
    reader.lowering().note_access(note);
    note.address = to;
    note.space = Space::Global;
    note.kind = AccessNote::Kind::Write;
    note.is_strong = true; // all lanes write the same
    reader.lowering().note_access(note);
    bytecode::Instruction rest;
    rest.flags = bytecode::HAS_SIDE_EFFECT;
    rest.immediate = to.offset;
    rest.target = static_cast<std::uint32_t>(from.offset);
    rest.tag = static_cast<std::uint16_t>(if_narrow(to, tensor_map::NARROW_TO) |
                                          if_narrow(from, tensor_map::NARROW_FROM));
    const Operand sources[2] = {to.base, from.base};
    reader.emit(FixedOp::TensorMapCopy, {}, sources, rest);
    reader.lowering().note_order({.releases = true, .is_block_scope = scope == 0});
}

} // namespace

void decode_tensor_copy(Reader& reader, bool reduces) {
    Form form;
    const bool is_prefetch = !reduces && reader.take("prefetch");
    reader.take("tensor");
    form.rank = take_rank(reader);
    if (reader.has("cta_group::1") || reader.has("cta_group::2")) {
        reader.refuse("is not supported here: .cta_group needs compute capability 10");
        return;
    }
    if (is_prefetch) {
        form.action = Action::Prefetch;
        if (!reader.take("L2") || !reader.take("global")) {
            reader.reject("prefetches from .global to .L2 only");
        }
    } else {
        form.action = reduces                    ? Action::Reduce
                      : reader.has("bulk_group") ? Action::Store
                                                 : Action::Load;
        take_spaces(reader, form);
    }
    if (reduces) {
        const int op = reader.take_one_of({"add", "min", "max", "inc", "dec", "and", "or", "xor"});
        if (op < 0) {
            reader.reject("names no operation");
        }
        form.operation = static_cast<std::uint16_t>(op);
    }
    take_access(reader, form);
    if (!is_prefetch &&
        !reader.take(form.action == Action::Load ? "mbarrier::complete_tx::bytes" : "bulk_group")) {
        reader.reject("needs .mbarrier::complete_tx::bytes to shared memory and .bulk_group to "
                      "global memory");
    }
    form.is_multicast = form.action == Action::Load && reader.take("multicast::cluster");
    form.has_hint = reader.take("L2::cache_hint");
    if (!reader.has_failed()) {
        emit_copy(reader, form);
    }
}

void decode_tensor_map(Reader& reader) {
    if (reader.take("replace")) {
        decode_replace(reader);
    } else if (reader.take("cp_fenceproxy")) {
        decode_map_copy(reader);
    } else {
        reader.refuse("is not a supported operation on tensor maps");
    }
}

} // namespace cuprum::emulator::decoding
