// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// tex, tld4, txq, suld, sust, sured, suq and istypep.

#include "decode/reader.hpp"
#include "interp/texture.hpp"

#include <array>
#include <optional>
#include <vector>

namespace cuprum::emulator::decoding {

using bytecode::Operand;
using bytecode::Width;
using ptx::Type;

namespace {

using Kind = ptx::Operand::Kind;

/// Takes the geometry. Refuses the instruction if there is none that it supports.
std::optional<Geometry> take_geometry(Reader& reader, bool has_cubes) {
    if (reader.has("2dms") || reader.has("a2dms")) {
        reader.refuse("needs a multisampled array, which the driver API cannot create");
        return std::nullopt;
    }
    const int index = reader.take_one_of({"1d", "2d", "3d", "a1d", "a2d", "cube", "acube"});
    const auto geometry = static_cast<Geometry>(index);
    if (index < 0 || (!has_cubes && geometry >= Geometry::Cube)) {
        reader.reject("names no geometry that it supports");
        return std::nullopt;
    }
    return geometry;
}

/// The sources of an instruction as they are collected, and what its address operand contains.
class Sources {
public:
    explicit Sources(Reader& reader) : reader_(reader) {}

    /// Adds the handle of [handle, ...], and the sampler of [handle, sampler, ...] if there is one.
    /// Returns false after a refusal.
    bool add_handle(const ptx::Operand& operand, bool& has_sampler, std::size_t coordinates) {
        if (operand.kind != Kind::Address) {
            reader_.reject("needs an image in brackets");
            return false;
        }
        const Address address = reader_.lowering().address(operand, ptx::Space::Global);
        if (address.base.is_none()) {
            reader_.reject("has no image");
            return false;
        }
        if (address.base_width != Width::B64 || address.offset < 0 ||
            address.offset > std::int64_t{UINT32_MAX}) {
            reader_.reject("needs an image in a register of 64 bits or in a variable");
            return false;
        }
        offset = static_cast<std::uint32_t>(address.offset);
        all.push_back(address.base);
        has_sampler = operand.parts.size() == coordinates + 1;
        if (operand.parts.size() != coordinates && !has_sampler) {
            reader_.reject("has " + std::to_string(operand.parts.size() + 1) +
                           " parts in brackets");
            return false;
        }
        if (has_sampler) {
            all.push_back(reader_.source(operand.parts[0], Type::B64));
        }
        return !reader_.has_failed();
    }

    /// Adds the first `used` of the words of a vector that has 1, 2 or 4.
    bool add_vector(const ptx::Operand& operand, std::size_t used, Type type,
                    Type first_type = Type::None) {
        const std::size_t wanted = used == 3 ? 4 : used;
        const bool is_single = operand.kind != Kind::Vector;
        const std::size_t count = is_single ? 1 : operand.parts.size();
        if (count != wanted && !(used == 4 && count == 4)) {
            reader_.reject("needs a vector of " + std::to_string(wanted) + " words, found " +
                           std::to_string(count));
            return false;
        }
        for (std::size_t i = 0; i < used; ++i) {
            const ptx::Operand& part = is_single ? operand : operand.parts[i];
            all.push_back(
                reader_.source(part, i == 0 && first_type != Type::None ? first_type : type));
        }
        return !reader_.has_failed();
    }

    std::vector<Operand> all;
    std::uint32_t offset = 0; // to add to the handle, if that is an address

private:
    Reader& reader_;
};

/// Adds the coordinates: the last part of the address operand.
bool add_coordinates(Reader& reader, Sources& sources, const ptx::Operand& address,
                     Geometry geometry, Type type) {
    const std::size_t count = axes_of(geometry) + (has_layer(geometry) ? 1 : 0);
    (void)reader;
    return sources.add_vector(address.parts.back(), count, type,
                              has_layer(geometry) ? Type::U32 : Type::None);
}

/// Resolves the destinations of a load: a vector of `count` registers, or one register.
std::vector<Operand> destinations_of(Reader& reader, const ptx::Operand& operand, std::size_t count,
                                     Type type) {
    std::vector<Operand> result;
    const bool is_vector = operand.kind == Kind::Vector;
    if (is_vector ? operand.parts.size() != count : count != 1) {
        reader.reject("needs " + std::to_string(count) + " registers for its result");
        return result;
    }
    for (std::size_t i = 0; i < count; ++i) {
        result.push_back(reader.destination(is_vector ? operand.parts[i] : operand, type));
    }
    return result;
}

/// Takes the vector and the type of a result. Returns the number of registers, 0 after a refusal.
std::size_t take_sample_type(Reader& reader, SampleForm& form, Type& type) {
    const int vector = reader.take_one_of({"v2", "v4"});
    type = reader.take_type_of({Type::U32, Type::S32, Type::F32, Type::F16, Type::F16x2});
    form.type = type == Type::F32     ? SampleType::Float
                : type == Type::F16   ? SampleType::Half
                : type == Type::F16x2 ? SampleType::HalfPair
                                      : SampleType::Word;
    const bool is_pair = form.type == SampleType::HalfPair;
    if (vector != (is_pair ? 0 : 1)) {
        reader.reject(is_pair ? "needs .v2" : "needs .v4");
    }
    return reader.has_failed() ? 0 : is_pair ? 2 : 4;
}

/// Adds the level or the gradients. Returns the index of the next operand.
std::size_t add_level(Reader& reader, Sources& sources, const SampleForm& form, std::size_t next) {
    const unsigned axes = axes_of(form.geometry);
    if (form.level == LevelFrom::Operand && next < reader.operand_count()) {
        sources.all.push_back(
            reader.source(next, form.has_whole_coordinates ? Type::S32 : Type::F32));
        return next + 1;
    }
    if (form.level == LevelFrom::Gradients && next + 1 < reader.operand_count()) {
        sources.add_vector(reader.operand(next), axes, Type::F32);
        sources.add_vector(reader.operand(next + 1), axes, Type::F32);
        return next + 2;
    }
    if (form.level != LevelFrom::Nowhere) {
        reader.reject("has too few operands");
    }
    return next;
}

void add_offset_and_depth(Reader& reader, Sources& sources, SampleForm& form, std::size_t next) {
    const std::size_t count = reader.operand_count();
    if (next < count && reader.operand(next).kind == Kind::Vector) {
        if (form.geometry >= Geometry::Cube) {
            reader.reject("has offsets, which cubes cannot have");
            return;
        }
        form.has_offset = true;
        sources.add_vector(reader.operand(next), axes_of(form.geometry), Type::S32);
        ++next;
    }
    if (next < count) {
        // A depth to compare with, which matters only for depth textures. The driver API cannot
        // create those, and a GPU ignores the depth for all others.
        (void)reader.source(next, Type::F32);
        ++next;
    }
    if (next < count) {
        reader.reject("has " + std::to_string(count) + " operands, which are too many");
    }
}

void emit_sample(Reader& reader, SampleForm form, std::size_t results, Type type) {
    if (!reader.finish(2, 6)) {
        return;
    }
    Sources sources(reader);
    const ptx::Operand& address = reader.operand(1);
    bool has_sampler = false;
    if (!sources.add_handle(address, has_sampler, 1) ||
        !add_coordinates(reader, sources, address, form.geometry,
                         form.has_whole_coordinates ? Type::S32 : Type::F32)) {
        return;
    }
    form.has_sampler = has_sampler;
    const std::size_t next = add_level(reader, sources, form, 2);
    add_offset_and_depth(reader, sources, form, next);
    const ptx::Operand& target = reader.operand(0);
    form.tells_residency = target.kind == Kind::Pair;
    std::vector<Operand> destinations =
        destinations_of(reader, form.tells_residency ? target.parts[0] : target, results, type);
    if (form.tells_residency) {
        destinations.push_back(reader.destination(target.parts[1], Width::Predicate));
    }
    bytecode::Instruction rest;
    rest.flags = bytecode::HAS_SIDE_EFFECT; // it may report an invalid handle
    rest.immediate = packed_form(form);
    rest.target = sources.offset;
    reader.emit(form, destinations, sources.all, rest);
}

struct QueryName {
    std::string_view name;
    ImageQuery query;
};

constexpr std::array TEXTURE_QUERIES{
    QueryName{"width", ImageQuery::Width},
    QueryName{"height", ImageQuery::Height},
    QueryName{"depth", ImageQuery::Depth},
    QueryName{"channel_data_type", ImageQuery::ChannelType},
    QueryName{"channel_order", ImageQuery::ChannelOrder},
    QueryName{"normalized_coords", ImageQuery::IsNormalized},
    QueryName{"array_size", ImageQuery::Layers},
    QueryName{"num_mipmap_levels", ImageQuery::Levels},
    QueryName{"num_samples", ImageQuery::Samples},
    QueryName{"filter_mode", ImageQuery::Filter},
    QueryName{"addr_mode_0", ImageQuery::Mode0},
    QueryName{"addr_mode_1", ImageQuery::Mode1},
    QueryName{"addr_mode_2", ImageQuery::Mode2},
    QueryName{"force_unnormalized_coords", ImageQuery::ForcesUnnormalized},
};

constexpr std::array SURFACE_QUERIES{
    QueryName{"width", ImageQuery::Width},
    QueryName{"height", ImageQuery::Height},
    QueryName{"depth", ImageQuery::Depth},
    QueryName{"channel_data_type", ImageQuery::ChannelType},
    QueryName{"channel_order", ImageQuery::ChannelOrder},
    QueryName{"array_size", ImageQuery::Layers},
    QueryName{"memory_layout", ImageQuery::MemoryLayout},
};

/// Takes what a query asks for. Returns none if that is not known.
std::optional<ImageQuery> take_query(Reader& reader, std::span<const QueryName> names) {
    for (const QueryName& each : names) {
        if (reader.take(each.name)) {
            return each.query;
        }
    }
    reader.reject("asks for nothing that is known");
    return std::nullopt;
}

void emit_query(Reader& reader, QueryForm form) {
    reader.take_type_of({Type::B32});
    if (!reader.finish(form.has_level ? 3 : 2)) {
        return;
    }
    Sources sources(reader);
    bool has_sampler = false;
    if (!sources.add_handle(reader.operand(1), has_sampler, 0)) {
        return;
    }
    if (has_sampler) {
        reader.reject("takes one image");
        return;
    }
    if (form.has_level) {
        sources.all.push_back(reader.source(2, Type::U32));
    }
    bytecode::Instruction rest;
    rest.flags = bytecode::HAS_SIDE_EFFECT;
    rest.immediate = packed_form(form);
    rest.target = sources.offset;
    const Operand destination = reader.destination(0, Type::B32);
    reader.emit(FixedOp::TextureQuery, std::span(&destination, 1), sources.all, rest);
}

/// Takes the geometry and what happens outside. Returns false after a refusal.
bool take_surface(Reader& reader, SurfaceForm& form) {
    const std::optional<Geometry> geometry = take_geometry(reader, false);
    const int boundary = reader.take_one_of({"trap", "clamp", "zero"});
    if (boundary < 0) {
        reader.reject("needs .trap, .clamp or .zero");
    }
    if (!geometry || reader.has_failed()) {
        return false;
    }
    form.geometry = *geometry;
    form.boundary = static_cast<Boundary>(boundary);
    return true;
}

/// Emits an access. The address is operand `place`; the values are the other one.
void emit_surface(Reader& reader, const SurfaceForm& form, Type type, std::size_t place) {
    if (!reader.finish(2)) {
        return;
    }
    Sources sources(reader);
    const ptx::Operand& address = reader.operand(place);
    bool has_sampler = false;
    if (!sources.add_handle(address, has_sampler, 1)) {
        return;
    }
    if (has_sampler) {
        reader.reject("takes no sampler");
        return;
    }
    if (!add_coordinates(reader, sources, address, form.geometry, Type::S32)) {
        return;
    }
    const ptx::Operand& value = reader.operand(1 - place);
    std::vector<Operand> destinations;
    if (form.op == SurfaceOp::Load) {
        destinations = destinations_of(reader, value, form.count, type);
    } else if ((value.kind == Kind::Vector ? value.parts.size() : 1) != form.count) {
        reader.reject("needs " + std::to_string(form.count) + " values");
    } else {
        for (std::size_t i = 0; i < form.count; ++i) {
            const ptx::Operand& part = value.kind == Kind::Vector ? value.parts[i] : value;
            sources.all.push_back(reader.source(part, type));
        }
    }
    bytecode::Instruction rest;
    rest.flags = bytecode::HAS_SIDE_EFFECT;
    rest.immediate = packed_form(form);
    rest.target = sources.offset;
    rest.access_bytes = form.element_bytes;
    reader.emit(FixedOp::SurfaceAccess, destinations, sources.all, rest);
}

} // namespace

void decode_texture(Reader& reader) {
    SampleForm form;
    reader.take("base"); // the first level, which is what an instruction without a level reads
    form.level = reader.take("level")  ? LevelFrom::Operand
                 : reader.take("grad") ? LevelFrom::Gradients
                                       : LevelFrom::Nowhere;
    const std::optional<Geometry> geometry = take_geometry(reader, true);
    Type type{};
    const std::size_t results = take_sample_type(reader, form, type);
    const Type coordinates = reader.take_type_of({Type::S32, Type::F32});
    if (!geometry || reader.has_failed()) {
        return;
    }
    form.geometry = *geometry;
    form.has_whole_coordinates = coordinates == Type::S32;
    if (form.has_whole_coordinates && form.geometry >= Geometry::Cube) {
        reader.reject("needs coordinates of type .f32");
        return;
    }
    emit_sample(reader, form, results, type);
}

void decode_texture_gather(Reader& reader) {
    SampleForm form;
    const int component = reader.take_one_of({"r", "g", "b", "a"});
    const std::optional<Geometry> geometry = take_geometry(reader, true);
    Type type{};
    const std::size_t results = take_sample_type(reader, form, type);
    reader.take_type_of({Type::F32});
    if (!geometry || reader.has_failed()) {
        return;
    }
    form.geometry = *geometry;
    form.component = static_cast<std::uint8_t>(component);
    const bool is_half = form.type == SampleType::Half || form.type == SampleType::HalfPair;
    if (component < 0 || axes_of(form.geometry) == 1 || form.geometry == Geometry::Volume ||
        is_half) {
        reader.reject("needs a component, a plane or a cube, and results of 32 bits");
        return;
    }
    emit_sample(reader, form, results, type);
}

void decode_image_query(Reader& reader) {
    QueryForm form;
    form.is_surface = reader.opcode() == "suq";
    form.has_level = !form.is_surface && reader.take("level");
    const std::optional<ImageQuery> query =
        form.is_surface ? take_query(reader, SURFACE_QUERIES) : take_query(reader, TEXTURE_QUERIES);
    if (!query) {
        return;
    }
    form.query = *query;
    if (form.has_level && form.query > ImageQuery::Depth) {
        reader.reject("can ask for width, height and depth of a level");
        return;
    }
    emit_query(reader, form);
}

void decode_reference_test(Reader& reader) {
    const int type = reader.take_one_of({"texref", "samplerref", "surfref"});
    if (type < 0) {
        reader.reject("needs .texref, .samplerref or .surfref");
    }
    if (!reader.finish(2)) {
        return;
    }
    const Operand source = reader.source(1, Type::B64);
    const Operand destination = reader.destination(reader.operand(0), Width::Predicate);
    reader.emit(FixedOp::TextureIsType, {destination}, {source}, static_cast<std::uint16_t>(type));
}

void decode_surface(Reader& reader) {
    SurfaceForm form;
    const bool is_load = reader.opcode() == "suld";
    const bool is_reduction = reader.opcode() == "sured";
    const int kind = reader.take_one_of({"b", "p"});
    if (kind < 0 || (is_load && kind == 1)) {
        reader.reject(is_load ? "needs .b" : "needs .b or .p");
        return;
    }
    form.counts_texels = kind == 1;
    if (is_reduction) {
        const int operation = reader.take_one_of({"add", "min", "max", "and", "or"});
        if (operation < 0) {
            reader.reject("names no operation");
            return;
        }
        form.op = static_cast<SurfaceOp>(static_cast<int>(SurfaceOp::Add) + operation);
    } else {
        form.op = is_load              ? SurfaceOp::Load
                  : form.counts_texels ? SurfaceOp::StoreFormatted
                                       : SurfaceOp::Store;
    }
    if (is_load) { // what caches do has no effect here
        reader.take_one_of({"ca", "cg", "cs", "cv"});
    } else if (!is_reduction) {
        reader.take_one_of({"wb", "cg", "cs", "wt"});
    }
    const int vector = is_reduction ? -1 : reader.take_one_of({"v2", "v4"});
    form.count = vector < 0 ? 1 : vector == 0 ? 2 : 4;
    if (!take_surface(reader, form)) {
        return;
    }
    Type type{};
    if (form.counts_texels) {
        type = reader.take_type_of({Type::B32});
    } else if (is_reduction) {
        type = reader.take_type_of({Type::B32, Type::U32, Type::S32, Type::U64, Type::S64});
        const bool is_bitwise = form.op == SurfaceOp::And || form.op == SurfaceOp::Or;
        if (is_bitwise != (type == Type::B32)) {
            reader.reject("combines an operation with a type that it does not support");
        }
    } else {
        type = reader.take_type_of({Type::B8, Type::B16, Type::B32, Type::B64});
    }
    form.element_bytes = static_cast<std::uint8_t>(bits_of(type) / 8);
    form.is_signed = is_signed(type);
    if (form.element_bytes * form.count > 16) {
        reader.reject("accesses more than 16 bytes");
    }
    if (is_reduction && has_layer(form.geometry)) {
        reader.reject("has no form for layers");
    }
    emit_surface(reader, form, type, is_load ? 1 : 0);
}

} // namespace cuprum::emulator::decoding
