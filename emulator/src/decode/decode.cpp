// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "decode/decode.hpp"

#include "decode/reader.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace cuprum::emulator {

namespace {

using Decoder = void (*)(decoding::Reader&);

struct Entry {
    std::string_view opcode;
    Decoder decoder;
};

using namespace decoding;

/// The data instructions that rows do not describe, or not alone, in alphabetical order for the
/// binary search.
constexpr std::array ENTRIES{
    Entry{"applypriority", decode_hint},
    Entry{"atom", decode_atomic},
    Entry{"clusterlaunchcontrol", decode_launch_control},
    Entry{"cp", decode_async_copy},
    Entry{"createpolicy", decode_hint},
    Entry{"cvt", decode_convert},
    Entry{"cvta", decode_address_conversion},
    Entry{"discard", decode_hint},
    Entry{"fence", decode_fence},
    Entry{"getctarank", decode_cluster},
    Entry{"griddepcontrol", decode_hint},
    Entry{"isspacep", decode_address_conversion},
    Entry{"istypep", decode_reference_test},
    Entry{"ld", decode_memory},
    Entry{"ldmatrix", decode_matrix},
    Entry{"ldu", decode_memory},
    Entry{"lop3", decode_lop3},
    Entry{"mapa", decode_cluster},
    Entry{"mbarrier", decode_mbarrier},
    Entry{"membar", decode_membar},
    Entry{"mma", decode_matrix},
    Entry{"mov", decode_move},
    Entry{"movmatrix", decode_matrix},
    Entry{"pmevent", decode_hint},
    Entry{"prefetch", decode_hint},
    Entry{"prefetchu", decode_hint},
    Entry{"red", decode_atomic},
    Entry{"setmaxnreg", decode_register_count},
    Entry{"st", decode_memory},
    Entry{"stmatrix", decode_matrix},
    Entry{"suld", decode_surface},
    Entry{"suq", decode_image_query},
    Entry{"sured", decode_surface},
    Entry{"sust", decode_surface},
    Entry{"tensormap", decode_tensor_map},
    Entry{"tex", decode_texture},
    Entry{"tld4", decode_texture_gather},
    Entry{"txq", decode_image_query},
    Entry{"vabsdiff", decode_video},
    Entry{"vabsdiff2", decode_video},
    Entry{"vabsdiff4", decode_video},
    Entry{"vadd", decode_video},
    Entry{"vadd2", decode_video},
    Entry{"vadd4", decode_video},
    Entry{"vavrg2", decode_video},
    Entry{"vavrg4", decode_video},
    Entry{"vmad", decode_video},
    Entry{"vmax", decode_video},
    Entry{"vmax2", decode_video},
    Entry{"vmax4", decode_video},
    Entry{"vmin", decode_video},
    Entry{"vmin2", decode_video},
    Entry{"vmin4", decode_video},
    Entry{"vset", decode_video},
    Entry{"vset2", decode_video},
    Entry{"vset4", decode_video},
    Entry{"vshl", decode_video},
    Entry{"vshr", decode_video},
    Entry{"vsub", decode_video},
    Entry{"vsub2", decode_video},
    Entry{"vsub4", decode_video},
    Entry{"wgmma", decode_warpgroup},
    Entry{"wmma", decode_matrix},
};

static_assert(std::is_sorted(ENTRIES.begin(), ENTRIES.end(),
                             [](const Entry& a, const Entry& b) { return a.opcode < b.opcode; }));

/// A real instruction that is not supported here, and the feature that it belongs to.
struct Refusal {
    std::string_view opcode;
    std::string_view feature;
};

constexpr std::array REFUSALS{
    Refusal{"fabric", "copies between GPUs over NVLink's fabric"},
    Refusal{"multimem", "multicast memory"},
    Refusal{"spcompress", "sparse matrices of compute capability 10.7"},
    Refusal{"spdecompress", "sparse matrices of compute capability 10.7"},
    Refusal{"tcgen05", "tensor cores of compute capability 10"},
};

} // namespace

void decode(const ptx::Instruction& instruction, Lowering& lowering) {
    Reader reader(instruction, lowering, Reader::Lists::No); // as read() does
    const auto* const found = std::lower_bound(
        ENTRIES.begin(), ENTRIES.end(), instruction.opcode,
        [](const Entry& entry, std::string_view opcode) { return entry.opcode < opcode; });
    if (found == ENTRIES.end() || found->opcode != instruction.opcode) {
        if (has_rows(instruction.opcode)) {
            decode_rows(reader);
            return;
        }
        const auto* const refusal =
            std::find_if(REFUSALS.begin(), REFUSALS.end(),
                         [&](const Refusal& each) { return each.opcode == instruction.opcode; });
        if (refusal != REFUSALS.end()) {
            reader.refuse("is not supported here: it belongs to " + std::string(refusal->feature));
        } else {
            const auto [major, minor] = ptx::NEWEST_KNOWN_VERSION;
            reader.reject("is not an instruction of PTX ISA " + std::to_string(major) + "." +
                          std::to_string(minor) + ", the newest version known here");
        }
        return;
    }
    found->decoder(reader);
    if (reader.has_unreported()) {
        Reader again(instruction, lowering); // fails at the same place, with a list
        found->decoder(again);
    }
}

bytecode::Width width_for(ptx::Type type) noexcept {
    using bytecode::Width;
    using ptx::Type;
    switch (type) {
    case Type::Pred:
        return Width::Predicate;
    case Type::B64:
    case Type::U64:
    case Type::S64:
    case Type::F64:
    case Type::TexRef:
    case Type::SamplerRef:
    case Type::SurfRef:
        return Width::B64;
    case Type::B128:
        return Width::B128;
    default:
        return Width::B32;
    }
}

} // namespace cuprum::emulator
