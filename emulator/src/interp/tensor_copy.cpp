// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "interp/tensor_copy.hpp"

#include "interp/access_fault.hpp"
#include "interp/bulk_common.hpp"
#include "interp/bulk_reduce.hpp"
#include "interp/cluster.hpp"
#include "interp/mbarrier.hpp"
#include "interp/tensor_values.hpp"
#include "interp/warp.hpp"

#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <string>

namespace cuprum::emulator {

using bytecode::Instruction;

namespace {

using tensor_copy::Request;

/// The alignment of a box in shared memory.
constexpr std::uint32_t BOX_ALIGNMENT = 128;
constexpr std::uint32_t MAP_ALIGNMENT = 64;
/// A swizzle moves pieces of this size or a multiple of it.
constexpr std::uint32_t PIECE_BYTES = 16;
/// The widest row: 256 slices of 32 bytes.
constexpr std::uint32_t MAX_ROW_BYTES = 8192;

/// Why a request cannot be served.
enum class MapProblem : std::uint8_t {
    None,
    Misaligned,
    Unmapped,
    InBlock,
    NoMap,
    Rank,
    Access,
    Fields,  // a dimension of the box is 0, or a field has an unknown value
    Row,     // a row does not start at a multiple of 16 bytes
    Width,   // a row does not have a multiple of 16 bytes, or more than the swizzle allows
    Before,  // a store starts before the tensor
    Pixel,   // an im2col walk starts outside the box of pixels
    Padding, // an im2col store into a box of pixels that starts before the tensor
    Element, // an element type or a layout that is not supported
};

/// A granule of device memory that a copy may access; most rows lie in the one of the row before.
struct MappedGranule {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;

    [[nodiscard]] bool contains(std::uint64_t address, std::uint32_t bytes) const {
        return address >= begin && address < end && bytes <= end - address;
    }
};

/// Shared memory of one block, seen as a box.
class SharedBox {
public:
    /// `place` is the host address of the box, which starts at `address` in its block.
    SharedBox(std::byte* place, std::uint32_t address, const TensorMap& map)
        : origin_(place - address), address_(address), swizzle_(SharedSwizzle::of(map)) {}

    [[nodiscard]] bool is_plain() const { return swizzle_.is_none(); }

    /// Returns the place of a row; only if the box is plain.
    [[nodiscard]] std::byte* at(std::uint32_t begin) const { return origin_ + address_ + begin; }

    /// Copies a row into the box. Its size is a multiple of 16 bytes.
    void put(std::uint32_t begin, const std::byte* from, std::uint32_t bytes) const {
        for_each_piece(begin, bytes, [&](std::byte* piece, std::uint32_t at, bool is_flipped) {
            copy_piece(piece, from + at, is_flipped);
        });
    }

    /// Copies a row out of the box. Its size is a multiple of 16 bytes.
    void get(std::uint32_t begin, std::byte* to, std::uint32_t bytes) const {
        for_each_piece(begin, bytes, [&](std::byte* piece, std::uint32_t at, bool is_flipped) {
            copy_piece(to + at, piece, is_flipped);
        });
    }

private:
    static constexpr std::uint32_t LINE_BYTES = 128;

    static void copy_piece(std::byte* to, const std::byte* from, bool is_flipped) {
        constexpr std::size_t half = PIECE_BYTES / 2;
        if (is_flipped) {
            std::memcpy(to, from + half, half);
            std::memcpy(to + half, from, half);
        } else {
            std::memcpy(to, from, PIECE_BYTES);
        }
    }

    /// Calls `visit` for the pieces of a row with their places in the row. The swizzle of a line of
    /// 128 bytes is one number, which is combined with the place in the line.
    template <typename Visit>
    void for_each_piece(std::uint32_t begin, std::uint32_t bytes, Visit visit) const {
        std::uint32_t address = address_ + begin;
        for (std::uint32_t done = 0; done < bytes;) {
            std::byte* const line = origin_ + (address & ~(LINE_BYTES - 1));
            const std::uint32_t start = address % LINE_BYTES;
            const std::uint32_t exchanged = address >> swizzle_.shift & swizzle_.mask;
            const std::uint32_t count = std::min(bytes - done, LINE_BYTES - start);
            const bool is_flipped = swizzle_.flips && (address / LINE_BYTES & 1) != 0;
            for (std::uint32_t i = 0; i < count; i += PIECE_BYTES) {
                visit(line + ((start + i) ^ exchanged), done + i, is_flipped);
            }
            address += count;
            done += count;
        }
    }

    std::byte* origin_;
    std::uint32_t address_;
    SharedSwizzle swizzle_;
};

MapProblem find_request(const WarpContext& warp, const Instruction* at, std::uint32_t lane,
                        Request& request);
bool has_valid_fields(const TensorMap& map, TensorAccess access);
MapProblem find_place_problem(const Request& request, bool is_store);
bool need_request(WarpContext& warp, const Instruction* at, std::uint32_t lane, Request& request);
std::byte* need_shared(WarpContext& warp, const Instruction* at, std::uint32_t lane,
                       const Request& request, std::uint64_t address, std::uint32_t bytes,
                       bool is_write, Reach reach);
bool need_row(WarpContext& warp, const Instruction* at, std::uint32_t lane, const Request& request,
              MappedGranule& known, std::uint64_t address, std::uint32_t bytes, bool is_write);
bool load_box(WarpContext& warp, const Instruction* at, std::uint32_t lane, const Request& request,
              std::uint64_t shared, std::uint64_t barrier, Reach reach);
std::string through(const Request& request);
std::string describe_row(const Request& request);
std::string describe_start(const Request& request);

/// Calls `visit` for the request of each lane. Returns the next instruction, or nullptr after a
/// fault.
template <typename Visit>
const Instruction* for_each_request(WarpContext& warp, const Instruction* at, std::uint32_t mask,
                                    Visit visit) {
    Request request;
    for (; mask != 0; mask &= mask - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
        if (!need_request(warp, at, lane, request) || !visit(lane, request)) {
            return nullptr;
        }
    }
    return at + 1;
}

} // namespace

namespace tensor_copy {

const Instruction* load(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    return for_each_request(warp, at, mask, [&](std::uint32_t lane, const Request& request) {
        return load_box(warp, at, lane, request, request.shared, request.barrier, reach_of(*at));
    });
}

const Instruction* load_many(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    return for_each_request(warp, at, mask, [&](std::uint32_t lane, const Request& request) {
        const BlockContext& block = *warp.block;
        for (std::uint32_t ranks = request.blocks; ranks != 0; ranks &= ranks - 1) {
            const auto rank = static_cast<std::uint32_t>(std::countr_zero(ranks));
            if (!load_box(warp, at, lane, request, same_place_in(block, rank, request.shared),
                          same_place_in(block, rank, request.barrier), Reach::Cluster)) {
                return false;
            }
        }
        return true;
    });
}

const Instruction* store(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    return for_each_request(warp, at, mask, [&](std::uint32_t lane, const Request& request) {
        const TensorBox box(request.map, request.place, request.access);
        std::byte* const place =
            need_shared(warp, at, lane, request, request.shared, box.extent(), false, Reach::Block);
        if (place == nullptr) {
            return false;
        }
        const SharedBox from(place, static_cast<std::uint32_t>(request.shared), request.map);
        MappedGranule known;
        return box.for_each_row([&](const TensorRow& row) {
            if (row.bytes == 0) {
                return true;
            }
            // Nothing is skipped: a store does not start before the tensor.
            const std::uint32_t bytes = box.stored_bytes(row);
            if (!need_row(warp, at, lane, request, known, row.address, bytes, true)) {
                return false;
            }
            auto* const to = reinterpret_cast<std::byte*>(row.address);
            if (from.is_plain()) {
                std::memcpy(to, from.at(row.begin), bytes);
            } else {
                from.get(row.begin, to, bytes);
            }
            return true;
        });
    });
}

const Instruction* reduce(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const auto operation = static_cast<bulk_copy::Operation>(at->tag >> OPERATION_SHIFT & 7);
    return for_each_request(warp, at, mask, [&](std::uint32_t lane, const Request& request) {
        const std::optional<Reduction> reduction = reduction_of(operation, request.map.element);
        if (!reduction) {
            (void)raise_fault(warp, at, FaultKind::IllegalInstruction, lane,
                              "this reduction does not exist for the elements of its tensor" +
                                  through(request));
            return false;
        }
        const TensorBox box(request.map, request.place, request.access);
        std::byte* const place =
            need_shared(warp, at, lane, request, request.shared, box.extent(), false, Reach::Block);
        if (place == nullptr) {
            return false;
        }
        const SharedBox from(place, static_cast<std::uint32_t>(request.shared), request.map);
        MappedGranule known;
        return box.for_each_row([&](const TensorRow& row) {
            if (row.bytes == 0) {
                return true;
            }
            const std::uint32_t bytes = box.stored_bytes(row);
            if (!need_row(warp, at, lane, request, known, row.address, bytes, true)) {
                return false;
            }
            std::byte whole[MAX_ROW_BYTES];
            const std::byte* values = whole;
            if (from.is_plain()) {
                values = from.at(row.begin);
            } else {
                from.get(row.begin, whole, bytes);
            }
            combine_elements(operation, reduction->type, reinterpret_cast<std::byte*>(row.address),
                             values, bytes, reduction->flushes);
            return true;
        });
    });
}

const Instruction* prefetch(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    return for_each_request(
        warp, at, mask, [](std::uint32_t /*lane*/, const Request& /*request*/) { return true; });
}

std::optional<Request> request_of(const WarpContext& warp, const Instruction* at,
                                  std::uint32_t lane) {
    Request request;
    if (find_request(warp, at, lane, request) != MapProblem::None) {
        return std::nullopt;
    }
    return request;
}

} // namespace tensor_copy

// ---- helpers -----------------------------------------------------------------------------------

namespace {

/// Reads the map at a generic address. The map of a kernel parameter lies in the copy of the
/// parameters, which is in shared memory.
MapProblem read_map(const WarpContext& warp, std::uint64_t address, TensorMap& map) {
    const BlockContext& block = *warp.block;
    const MemoryMap& memory = *block.memory;
    if (address % MAP_ALIGNMENT != 0) {
        return MapProblem::Misaligned;
    }
    const void* bytes = reinterpret_cast<const void*>(address);
    if (const std::uint64_t offset = address - memory.shared_base; offset < memory.shared_bytes) {
        const bytecode::Kernel& kernel = *block.kernel;
        const std::uint64_t parameter = offset - kernel.parameter_copy_offset;
        if (parameter > kernel.parameter_copy_bytes ||
            sizeof map > kernel.parameter_copy_bytes - parameter) {
            return MapProblem::InBlock;
        }
        bytes = block.shared + offset;
    } else if (address - memory.local_base < memory.local_bytes) {
        return MapProblem::InBlock; // a parameter that is not a __grid_constant__ is copied there
    } else if (!bulk_copy::is_device_memory(memory, address, sizeof map, false)) {
        return MapProblem::Unmapped;
    }
    std::memcpy(&map, bytes, sizeof map);
    return map.is_valid() ? MapProblem::None : MapProblem::NoMap;
}

MapProblem find_request(const WarpContext& warp, const Instruction* at, std::uint32_t lane,
                        Request& request) {
    using namespace tensor_copy;
    const bytecode::Operand* const listed = warp.block->kernel->operands.data() + at->extra;
    const std::uint32_t rank = at->tag >> RANK_SHIFT & 7;
    request.access = static_cast<TensorAccess>(at->tag >> ACCESS_SHIFT & 3);
    request.map_address = bulk_copy::address_of(warp, at->src[1], at->immediate >> 32,
                                                (at->tag & NARROW_MAP) != 0, lane);
    if (const MapProblem problem = read_map(warp, request.map_address, request.map);
        problem != MapProblem::None) {
        return problem;
    }
    const bool is_listed = request.access == TensorAccess::FourRows;
    if (request.map.rank != (is_listed ? 2 : rank)) {
        return MapProblem::Rank;
    }
    const bool is_tiled = request.map.mode == TensorMapMode::Tiled;
    if (is_tiled == (request.access == TensorAccess::Im2col)) {
        return MapProblem::Access;
    }
    if (!has_valid_fields(request.map, request.access)) {
        return MapProblem::Fields;
    }
    request.place = {};
    for (std::uint32_t i = 0; i < rank; ++i) {
        request.place.coordinates[i] = bulk_copy::lane_of<std::int32_t>(warp, listed[i], lane);
    }
    for (std::uint32_t i = rank; i < at->extra_src_count; ++i) {
        request.place.offsets[i - rank] =
            static_cast<std::uint16_t>(bulk_copy::lane_of<std::uint32_t>(warp, listed[i], lane));
    }
    request.shared = bulk_copy::address_of(warp, at->src[0], static_cast<std::int32_t>(at->target),
                                           (at->tag & NARROW_SHARED) != 0, lane);
    request.barrier =
        bulk_copy::address_of(warp, at->src[2], static_cast<std::int32_t>(at->immediate),
                              (at->tag & NARROW_BARRIER) != 0, lane);
    request.blocks = bulk_copy::lane_of<std::uint32_t>(warp, at->src[3], lane) & 0xffff;
    const bool is_store = at->form.is(FixedOp::TensorStore) || at->form.is(FixedOp::TensorReduce);
    return find_place_problem(request, is_store);
}

/// Returns whether the fields have values that the driver functions and tensormap.replace can write
/// together. A kernel may change the fields one by one, or write all 128 bytes itself.
bool has_valid_fields(const TensorMap& map, TensorAccess access) {
    constexpr std::uint32_t MAX_BOX = 256;
    bool is_valid =
        map.element <= TensorElement::B6x16Padded && map.interleave <= TensorInterleave::Bytes32 &&
        map.swizzle <= TensorSwizzle::Bytes128 && map.swizzle_atom <= TensorSwizzleAtom::Bytes64;
    if (access == TensorAccess::Im2col) {
        return is_valid && map.channels_per_pixel != 0;
    }
    for (std::uint32_t i = 0; i < map.rank; ++i) {
        is_valid = is_valid && map.box[i] != 0 && map.box[i] <= MAX_BOX;
    }
    return is_valid;
}

/// Returns why the coordinates do not suit the map. These are the rules of an H200.
MapProblem find_place_problem(const Request& request, bool is_store) {
    const TensorMap& map = request.map;
    const auto& at = request.place.coordinates;
    const bool is_im2col = request.access == TensorAccess::Im2col;
    const bool is_padded =
        map.element == TensorElement::B4x16Padded || map.element == TensorElement::B6x16Padded;
    if (is_padded) {
        return MapProblem::Element;
    }
    if (map.interleave == TensorInterleave::None) {
        const std::uint32_t bits = element_bits(map.element);
        const std::uint32_t row_bits = bits * (is_im2col ? map.channels_per_pixel : map.box[0]);
        if (std::int64_t{at[0]} * bits % (8 * PIECE_BYTES) != 0) {
            return MapProblem::Row;
        }
        if (row_bits % (8 * PIECE_BYTES) != 0 || row_bits / 8 > MAX_ROW_BYTES ||
            (swizzle_span(map) != 0 && row_bits / 8 > swizzle_span(map))) {
            return MapProblem::Width;
        }
    }
    for (std::uint32_t i = 0; is_im2col && i + 2 < map.rank; ++i) {
        const std::uint32_t dimension = first_spatial(map) + i;
        const std::int64_t last =
            static_cast<std::int64_t>(map.dimension(dimension)) - 1 + map.upper_corner[i];
        if (is_store && map.lower_corner[i] < 0) {
            return MapProblem::Padding;
        }
        if (at[dimension] < map.lower_corner[i] || at[dimension] > last) {
            return MapProblem::Pixel;
        }
    }
    if (is_store && std::ranges::any_of(at, [](std::int32_t each) { return each < 0; })) {
        return MapProblem::Before;
    }
    return MapProblem::None;
}

bool need_request(WarpContext& warp, const Instruction* at, std::uint32_t lane, Request& request) {
    const auto fail = [&](FaultKind kind, const std::string& detail) {
        (void)raise_fault(warp, at, kind, lane, detail);
        return false;
    };
    char address[32];
    switch (const MapProblem problem = find_request(warp, at, lane, request)) {
    case MapProblem::None:
        return true;
    case MapProblem::Unmapped:
        (void)raise_access_fault(warp, at, lane, AccessProblem::Unmapped, request.map_address,
                                 sizeof(TensorMap), false, "\n  expected a tensor map there");
        return false;
    case MapProblem::Rank:
        return fail(FaultKind::IllegalInstruction,
                    "a tensor copy with " + std::to_string(at->tag >> tensor_copy::RANK_SHIFT & 7) +
                        " coordinates does not suit the rank of its tensor map" + through(request));
    case MapProblem::Access:
        return fail(FaultKind::IllegalInstruction,
                    std::string(request.access == TensorAccess::Im2col
                                    ? "a tensor copy in im2col mode needs a map for im2col"
                                    : "a tensor copy of tiles needs a tiled map") +
                        through(request));
    case MapProblem::Fields:
        return fail(FaultKind::IllegalInstruction,
                    "the tensor map has a field that no tensor copy allows: a box needs 1 to 256 "
                    "elements in each dimension; set them all after a change of the rank" +
                        through(request));
    case MapProblem::Row:
        return fail(FaultKind::IllegalInstruction, describe_row(request) + through(request));
    case MapProblem::Width:
        return fail(FaultKind::IllegalInstruction,
                    "the rows of the box have no multiple of 16 bytes, or more than the span of "
                    "the swizzle" +
                        through(request));
    case MapProblem::Before:
        return fail(FaultKind::IllegalInstruction, describe_start(request) + through(request));
    case MapProblem::Pixel:
        return fail(FaultKind::IllegalInstruction,
                    "the coordinates of the first pixel are outside the box of pixels" +
                        through(request));
    case MapProblem::Padding:
        return fail(FaultKind::IllegalInstruction,
                    "a store in im2col mode needs a box of pixels that starts at 0 or later" +
                        through(request));
    case MapProblem::Element:
        return fail(
            FaultKind::IllegalInstruction,
            "the emulated device does not support tensor copies with gaps between elements" +
                through(request));
    default:
        std::snprintf(address, sizeof address, "0x%" PRIx64, request.map_address);
        if (problem == MapProblem::Misaligned) {
            return fail(FaultKind::MisalignedAddress,
                        std::string("the tensor map at ") + address +
                            " is misaligned: the address must be a multiple of 64");
        }
        if (problem == MapProblem::InBlock) {
            return fail(FaultKind::InvalidAddressSpace,
                        std::string("the tensor map at ") + address +
                            " is in shared or local memory; it must be a kernel parameter "
                            "(__grid_constant__), or in global or constant memory");
        }
        return fail(FaultKind::IllegalInstruction,
                    std::string("the 128 bytes at ") + address +
                        " are no tensor map: cuTensorMapEncode* has not written them, or other "
                        "data has replaced a part");
    }
}

std::byte* need_shared(WarpContext& warp, const Instruction* at, std::uint32_t lane,
                       const Request& request, std::uint64_t address, std::uint32_t bytes,
                       bool is_write, Reach reach) {
    const bool is_swizzled = request.map.swizzle != TensorSwizzle::None;
    if (address % BOX_ALIGNMENT != 0) {
        (void)raise_access_fault(warp, at, lane, AccessProblem::Misaligned, address, BOX_ALIGNMENT,
                                 is_write, through(request).c_str());
        return nullptr;
    }
    // A swizzle may move the end of the box within its line.
    const std::uint32_t whole =
        is_swizzled ? (bytes + BOX_ALIGNMENT - 1) / BOX_ALIGNMENT * BOX_ALIGNMENT : bytes;
    std::byte* const place = find_shared(*warp.block, address, whole, reach);
    if (place == nullptr) {
        (void)raise_access_fault(warp, at, lane, AccessProblem::BeyondShared, address, whole,
                                 is_write, through(request).c_str());
    }
    return place;
}

bool need_row(WarpContext& warp, const Instruction* at, std::uint32_t lane, const Request& request,
              MappedGranule& known, std::uint64_t address, std::uint32_t bytes, bool is_write) {
    const MemoryMap& map = *warp.block->memory;
    if (known.contains(address, bytes)) {
        return true;
    }
    if (bulk_copy::is_device_memory(map, address, bytes, is_write)) {
        if (map.is_mapped(address, address, is_write)) {
            known.begin = map.memory_base +
                          ((address - map.memory_base) >> map.granule_shift << map.granule_shift);
            known.end = known.begin + (std::uint64_t{1} << map.granule_shift);
        }
        return true;
    }
    (void)raise_access_fault(warp, at, lane, AccessProblem::Unmapped, address, bytes, is_write,
                             through(request).c_str());
    return false;
}

bool load_box(WarpContext& warp, const Instruction* at, std::uint32_t lane, const Request& request,
              std::uint64_t shared, std::uint64_t barrier, Reach reach) {
    const TensorMap& map = request.map;
    const TensorBox box(map, request.place, request.access);
    std::byte* const place =
        need_shared(warp, at, lane, request, shared, box.extent(), true, reach);
    if (place == nullptr) {
        return false;
    }
    const SharedBox to(place, static_cast<std::uint32_t>(shared % CLUSTER_WINDOW_BYTES), map);
    const std::uint32_t row_bytes = box.row_bytes();
    const std::uint64_t fill = fill_of(map);
    const Conversion conversion = conversion_of(map.element);
    MappedGranule known;
    const bool is_done = box.for_each_row([&](const TensorRow& row) {
        if (row.bytes != 0 &&
            !need_row(warp, at, lane, request, known, row.address, row.bytes, false)) {
            return false;
        }
        const auto* const from = reinterpret_cast<const std::byte*>(row.address);
        const bool is_whole = row.bytes == row_bytes && conversion == nullptr;
        if (is_whole && to.is_plain()) {
            std::memcpy(to.at(row.begin), from, row_bytes);
        } else if (is_whole) {
            to.put(row.begin, from, row_bytes);
        } else {
            std::byte parts[MAX_ROW_BYTES];
            std::byte* const whole = to.is_plain() ? to.at(row.begin) : parts;
            if (row.bytes != row_bytes) {
                for (std::uint32_t done = 0; done < row_bytes; done += sizeof fill) {
                    std::memcpy(whole + done, &fill, sizeof fill);
                }
            }
            std::memcpy(whole + row.skipped, from, row.bytes);
            if (conversion != nullptr) {
                conversion(whole + row.skipped, row.bytes);
            }
            if (!to.is_plain()) {
                to.put(row.begin, whole, row_bytes);
            }
        }
        return true;
    });
    return is_done && mbarrier::deliver(warp, at, lane, barrier, box.bytes(), reach);
}

std::string describe_row(const Request& request) {
    const std::int32_t coordinate = request.place.coordinates[0];
    const std::int64_t bits = std::int64_t{coordinate} * element_bits(request.map.element);
    return "coordinate 0 is " + std::to_string(coordinate) + ", so that rows start at byte " +
           std::to_string(bits / 8) + "; expected a multiple of 16 bytes";
}

std::string describe_start(const Request& request) {
    const auto& all = request.place.coordinates;
    const auto* const found = std::ranges::find_if(all, [](std::int32_t each) { return each < 0; });
    return "coordinate " + std::to_string(found - all.begin()) + " is " + std::to_string(*found) +
           "; only loads may start before the tensor";
}

/// Names the map of a request, on a line of its own.
std::string through(const Request& request) {
    char address[32];
    std::snprintf(address, sizeof address, "0x%" PRIx64, request.map_address);
    return std::string("\n  through the tensor map at ") + address + ": " + describe(request.map);
}

} // namespace

} // namespace cuprum::emulator
