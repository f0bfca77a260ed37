// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// ldmatrix, stmatrix, movmatrix, wmma.load and wmma.store: matrices between memory and registers.

#include "interp/handlers/access.hpp"
#include "interp/handlers/matrix_common.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

/// A tile has 8 x 8 elements of 16 bits. One register of 32 lanes is a tile, row by row.
constexpr unsigned TILE_ROWS = 8;
constexpr std::uint32_t TILE_ROW_BYTES = 16;

void transpose_tile(const std::uint16_t* from, std::uint16_t* to) {
    for (unsigned row = 0; row < TILE_ROWS; ++row) {
        for (unsigned column = 0; column < TILE_ROWS; ++column) {
            to[column * TILE_ROWS + row] = from[row * TILE_ROWS + column];
        }
    }
}

/// Finds all rows of tiles, except those whose lane is not running. Returns false after a fault.
bool resolve_rows(WarpContext& warp, const Instruction* at, std::uint32_t mask, Space space,
                  bool is_write, std::byte** rows, unsigned tile_rows = TILE_ROWS) {
    const unsigned count = at->tag & MATRIX_COUNT;
    const std::uint32_t needed = mask & (FULL_MASK >> (WARP_SIZE - count * tile_rows));
    const Addresses addresses = addresses_of(warp, at, (at->tag & MATRIX_NARROW_ADDRESS) != 0);
    return resolve_lanes(warp, at, needed, space, addresses, TILE_ROW_BYTES, is_write, false, rows);
}

template <Space SPACE>
const Instruction* load_tiles(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    std::byte* rows[WARP_SIZE] = {};
    if (!resolve_rows(warp, at, mask, SPACE, false, rows)) {
        return nullptr;
    }
    const unsigned count = at->tag & MATRIX_COUNT;
    for (unsigned tile = 0; tile < count; ++tile) {
        alignas(VECTOR_BYTES) std::uint16_t elements[TILE_ROWS * TILE_ROWS] = {};
        alignas(VECTOR_BYTES) std::uint16_t transposed[TILE_ROWS * TILE_ROWS];
        for (unsigned row = 0; row < TILE_ROWS; ++row) {
            if (rows[tile * TILE_ROWS + row] != nullptr) {
                __builtin_memcpy(elements + row * TILE_ROWS, rows[tile * TILE_ROWS + row],
                                 TILE_ROW_BYTES);
            }
        }
        const bool is_transposed = (at->tag & MATRIX_TRANSPOSED) != 0;
        if (is_transposed) {
            transpose_tile(elements, transposed);
        }
        alignas(VECTOR_BYTES) std::uint32_t lanes[WARP_SIZE];
        __builtin_memcpy(lanes, is_transposed ? transposed : elements, sizeof lanes);
        store_lanes<std::uint32_t>(locate(warp, at->dst[tile]), lanes, mask);
    }
    return at + 1;
}

template <Space SPACE>
const Instruction* store_tiles(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    std::byte* rows[WARP_SIZE] = {};
    if (!resolve_rows(warp, at, mask, SPACE, true, rows)) {
        return nullptr;
    }
    const unsigned count = at->tag & MATRIX_COUNT;
    for (unsigned tile = 0; tile < count; ++tile) {
        std::uint16_t elements[TILE_ROWS * TILE_ROWS];
        __builtin_memcpy(elements, locate(warp, any_source(warp, at, 1 + tile)), sizeof elements);
        if ((at->tag & MATRIX_TRANSPOSED) != 0) {
            std::uint16_t transposed[TILE_ROWS * TILE_ROWS];
            transpose_tile(elements, transposed);
            __builtin_memcpy(elements, transposed, sizeof elements);
        }
        for (unsigned row = 0; row < TILE_ROWS; ++row) {
            if (rows[tile * TILE_ROWS + row] != nullptr) {
                __builtin_memcpy(rows[tile * TILE_ROWS + row], elements + row * TILE_ROWS,
                                 TILE_ROW_BYTES);
            }
        }
    }
    return at + 1;
}

// ---- tiles of bytes ----------------------------------------------------------------------------
//
// Rows have 16 elements. Let g = lane / 4. For a tile of eight rows, a lane's register holds four
// adjacent elements of row g. A transposed tile of 16 rows has two registers per lane: four
// adjacent elements of column g, and four of column g + 8. stmatrix transposes tiles of 16 rows and
// 8 columns in the layout of accumulators: a register holds two adjacent elements of row g and two
// of row g + 8.

constexpr unsigned BYTES_IN_ROW = 16;

/// Expands the 16 elements of a row to bytes.
void unpack_row(const std::byte* from, unsigned bits, std::uint8_t* to) {
    std::uint8_t bytes[TILE_ROW_BYTES + 1] = {}; // one extra byte, so that two can always be read
    __builtin_memcpy(bytes, from, TILE_ROW_BYTES);
    for (unsigned i = 0; i < BYTES_IN_ROW; ++i) {
        const unsigned first = i * bits;
        const unsigned pair = bytes[first / 8] | unsigned{bytes[first / 8 + 1]} << 8;
        to[i] = static_cast<std::uint8_t>(pair >> first % 8 & ((1u << bits) - 1));
    }
}

template <Space SPACE>
const Instruction* load_bytes(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const bool is_transposed = (at->tag & MATRIX_TRANSPOSED) != 0;
    const unsigned tile_rows = is_transposed ? 2 * TILE_ROWS : TILE_ROWS;
    const unsigned bits = ((at->tag & MATRIX_INNER) >> MATRIX_INNER_SHIFT) * 2;
    std::byte* rows[WARP_SIZE] = {};
    if (!resolve_rows(warp, at, mask, SPACE, false, rows, tile_rows)) {
        return nullptr;
    }
    const unsigned count = at->tag & MATRIX_COUNT;
    for (unsigned tile = 0; tile < count; ++tile) {
        alignas(VECTOR_BYTES) std::uint8_t image[2 * TILE_ROWS][BYTES_IN_ROW] = {};
        for (unsigned row = 0; row < tile_rows; ++row) {
            if (rows[tile * tile_rows + row] != nullptr) {
                unpack_row(rows[tile * tile_rows + row], bits, image[row]);
            }
        }
        alignas(VECTOR_BYTES) std::uint32_t lanes[2][WARP_SIZE];
        if (!is_transposed) {
            __builtin_memcpy(lanes[0], image, sizeof lanes[0]);
            store_lanes<std::uint32_t>(locate(warp, at->dst[tile]), lanes[0], mask);
            continue;
        }
        for (unsigned half = 0; half < 2; ++half) {
            for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
                std::uint8_t bytes[4];
                for (unsigned i = 0; i < 4; ++i) {
                    bytes[i] = image[lane % 4 * 4 + i][lane / 4 + half * TILE_ROWS];
                }
                __builtin_memcpy(&lanes[half][lane], bytes, sizeof bytes);
            }
            store_lanes<std::uint32_t>(locate(warp, at->dst[2 * tile + half]), lanes[half], mask);
        }
    }
    return at + 1;
}

template <Space SPACE>
const Instruction* store_bytes(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    std::byte* rows[WARP_SIZE] = {};
    if (!resolve_rows(warp, at, mask, SPACE, true, rows)) {
        return nullptr;
    }
    const unsigned count = at->tag & MATRIX_COUNT;
    for (unsigned tile = 0; tile < count; ++tile) {
        const auto* const lanes = lanes_of<std::uint32_t>(warp, any_source(warp, at, 1 + tile));
        std::uint8_t image[TILE_ROWS][BYTES_IN_ROW];
        for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
            for (unsigned i = 0; i < 4; ++i) {
                image[lane % 4 * 2 + i % 2][lane / 4 + i / 2 * TILE_ROWS] =
                    static_cast<std::uint8_t>(lanes[lane] >> (8 * i));
            }
        }
        for (unsigned row = 0; row < TILE_ROWS; ++row) {
            if (rows[tile * TILE_ROWS + row] != nullptr) {
                __builtin_memcpy(rows[tile * TILE_ROWS + row], image[row], TILE_ROW_BYTES);
            }
        }
    }
    return at + 1;
}

const Instruction* transpose(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    std::uint16_t elements[TILE_ROWS * TILE_ROWS];
    std::uint16_t transposed[TILE_ROWS * TILE_ROWS];
    __builtin_memcpy(elements, locate(warp, at->src[0]), sizeof elements);
    transpose_tile(elements, transposed);
    alignas(VECTOR_BYTES) std::uint32_t lanes[WARP_SIZE];
    __builtin_memcpy(lanes, transposed, sizeof lanes);
    store_lanes<std::uint32_t>(locate(warp, at->dst[0]), lanes, mask);
    return at + 1;
}

/// Moves an image from or to memory, line by line. All lanes give the same address and stride, so
/// those of the first are used. Returns false after a fault, before anything is written.
template <Space SPACE, typename Element, bool IS_WRITE>
bool move_image(WarpContext& warp, const Instruction* at, std::uint32_t mask, Element* image) {
    constexpr unsigned MAX_LINES = 32;
    const unsigned tag = at->tag;
    const auto lane = static_cast<unsigned>(__builtin_ctz(mask));
    const std::uint64_t stride_bytes =
        std::uint64_t{lanes_of<std::uint32_t>(warp, at->src[1])[lane]} * sizeof(Element) >>
        (tag >> MATRIX_STRIDE_SHIFT);
    const bool is_transposed = (tag & MATRIX_TRANSPOSED) != 0;
    const unsigned outer = 1u << (tag & MATRIX_OUTER);
    const unsigned inner = 1u << ((tag & MATRIX_INNER) >> MATRIX_INNER_SHIFT);
    const unsigned lines = is_transposed ? inner : outer;
    const unsigned length = is_transposed ? outer : inner;
    const auto line_bytes = static_cast<std::uint32_t>(length * sizeof(Element));
    std::uint64_t address = addresses_of(warp, at, (tag & MATRIX_NARROW_ADDRESS) != 0)[lane];
    std::byte* hosts[MAX_LINES];
    for (unsigned line = 0; line < lines; ++line, address += stride_bytes) {
        AccessProblem problem = AccessProblem::Misaligned;
        hosts[line] = nullptr;
        if (address % sizeof(Element) == 0) {
            hosts[line] = resolve_range<SPACE>(warp, address, line_bytes, IS_WRITE);
            const MemoryMap& map = *warp.block->memory;
            const bool is_shared =
                SPACE == Space::Shared ||
                (SPACE == Space::None && address - map.shared_base < map.shared_bytes);
            problem = is_shared ? AccessProblem::BeyondShared : AccessProblem::Unmapped;
        }
        if (hosts[line] == nullptr) {
            (void)raise_access_fault(warp, at, lane, problem, address, line_bytes, IS_WRITE);
            return false;
        }
    }
    for (unsigned line = 0; line < lines; ++line) {
        auto* const memory = reinterpret_cast<typename Aliased<Element>::Value*>(hosts[line]);
        const unsigned first = is_transposed ? line : line * inner;
        const unsigned step = is_transposed ? inner : 1;
        for (unsigned i = 0; i < length; ++i) {
            Element& element = image[first + i * step];
            if constexpr (IS_WRITE) {
                memory[i] = element;
            } else {
                element = memory[i];
            }
        }
    }
    return true;
}

template <typename Element>
constexpr unsigned IMAGE_ELEMENTS = MAX_IMAGE_WORDS * 4 / sizeof(Element);

template <typename Element>
unsigned image_words(const Instruction* at, unsigned word_bytes) {
    const unsigned tag = at->tag;
    const unsigned elements =
        1u << ((tag & MATRIX_OUTER) + ((tag & MATRIX_INNER) >> MATRIX_INNER_SHIFT));
    return elements * static_cast<unsigned>(sizeof(Element)) / word_bytes;
}

template <typename Element>
struct WordOf {
    using Type = std::uint32_t;
};

template <>
struct WordOf<std::uint64_t> {
    using Type = std::uint64_t;
};

template <Space SPACE, typename Element>
const Instruction* load_fragment(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    using Word = typename WordOf<Element>::Type;
    alignas(VECTOR_BYTES) Element image[IMAGE_ELEMENTS<Element>];
    if (!move_image<SPACE, Element, false>(warp, at, mask, image)) {
        return nullptr;
    }
    alignas(VECTOR_BYTES) Word words[MAX_IMAGE_WORDS];
    const unsigned count = image_words<Element>(at, sizeof(Word));
    __builtin_memcpy(words, image, count * sizeof(Word));
    scatter_words<Word>(warp, at, at->dst_count + at->extra_dst_count, count,
                        (at->tag & MATRIX_PAIRED) != 0, words, mask);
    return at + 1;
}

template <Space SPACE, typename Element>
const Instruction* store_fragment(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    using Word = typename WordOf<Element>::Type;
    alignas(VECTOR_BYTES) Element image[IMAGE_ELEMENTS<Element>];
    alignas(VECTOR_BYTES) Word words[MAX_IMAGE_WORDS];
    const unsigned count = image_words<Element>(at, sizeof(Word));
    gather_words<Word>(warp, at, 2, count, (at->tag & MATRIX_PAIRED) != 0, words);
    __builtin_memcpy(image, words, count * sizeof(Word));
    return move_image<SPACE, Element, true>(warp, at, mask, image) ? at + 1 : nullptr;
}

unsigned element_bytes(MatrixElement element) {
    switch (element) {
    case MatrixElement::F64:
        return 8;
    case MatrixElement::F32:
    case MatrixElement::TF32:
    case MatrixElement::S32:
        return 4;
    case MatrixElement::F16:
    case MatrixElement::BF16:
        return 2;
    default:
        return 1;
    }
}

template <Space SPACE>
Handler select_fragment(const MatrixForm& form) {
    const bool is_load = form.op == MatrixOp::Load;
    switch (element_bytes(form.a)) {
    case 8:
        return is_load ? load_fragment<SPACE, std::uint64_t> : store_fragment<SPACE, std::uint64_t>;
    case 4:
        return is_load ? load_fragment<SPACE, std::uint32_t> : store_fragment<SPACE, std::uint32_t>;
    case 2:
        return is_load ? load_fragment<SPACE, std::uint16_t> : store_fragment<SPACE, std::uint16_t>;
    default:
        return is_load ? load_fragment<SPACE, std::uint8_t> : nullptr;
    }
}

} // namespace

Handler select_matrix_move(const MatrixForm& form) {
    const bool is_shared = form.space == Space::Shared;
    switch (form.op) {
    case MatrixOp::LoadTiles:
        return is_shared ? load_tiles<Space::Shared> : load_tiles<Space::None>;
    case MatrixOp::StoreTiles:
        return is_shared ? store_tiles<Space::Shared> : store_tiles<Space::None>;
    case MatrixOp::LoadBytes:
        return is_shared ? load_bytes<Space::Shared> : load_bytes<Space::None>;
    case MatrixOp::StoreBytes:
        return is_shared ? store_bytes<Space::Shared> : store_bytes<Space::None>;
    case MatrixOp::TransposeTile:
        return transpose;
    case MatrixOp::Load:
    case MatrixOp::Store:
        return is_shared                     ? select_fragment<Space::Shared>(form)
               : form.space == Space::Global ? select_fragment<Space::Global>(form)
                                             : select_fragment<Space::None>(form);
    default:
        return nullptr;
    }
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
