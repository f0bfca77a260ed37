// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The text of faults: what happened, in which thread of which block, at which line.

#include "bytecode/readable_name.hpp"
#include "interp/groups.hpp"
#include "interp/mbarrier.hpp"
#include "interp/probe.hpp"
#include "interp/warp.hpp"
#include "interp/warpgroup.hpp"

#include <cctype>
#include <sstream>
#include <string>

namespace cuprum::emulator {

using bytecode::Instruction;

namespace {

std::string_view name_of(FaultKind kind);
void write_place(std::ostream& out, const bytecode::Kernel& kernel, const Instruction& at);
void write_block(std::ostream& out, const BlockContext& block);
void write_lanes(std::ostream& out, std::uint32_t mask);
std::string text_at(const std::string& source, std::size_t offset);
void write_sites(std::ostream& out, const WarpContext& warp, std::string_view first);
void write_cluster_arrivals(std::ostream& out, const ClusterContext& cluster);
void write_group(std::ostream& out, const WarpContext& warp, const Group& group);

} // namespace

const Instruction* raise_fault(WarpContext& warp, const Instruction* at, FaultKind kind,
                               std::uint32_t lane, std::string detail) {
    warp.stop = Stop::Fault;
    BlockContext& block = *warp.block;
    if (block.fault.kind != FaultKind::None) {
        return nullptr; // only the first fault is reported
    }
    block.fault.kind = kind;
    block.fault.report = describe_finding(warp, at, kind, lane, detail);
    return nullptr;
}

std::string describe_finding(const WarpContext& warp, const Instruction* at, FaultKind kind,
                             std::uint32_t lane, std::string_view detail) {
    const BlockContext& block = *warp.block;
    std::ostringstream out;
    out << name_of(kind) << ": " << detail << "\n  in ";
    write_block(out, block);
    const std::uint32_t thread = warp.thread(lane);
    const std::uint32_t width = block.dimensions[0];
    const std::uint32_t height = block.dimensions[1];
    out << ", thread (" << thread % width << ", " << thread / width % height << ", "
        << thread / width / height << ")";
    write_place(out, *block.kernel, *at);
    return out.str();
}

std::string describe_place(const bytecode::Kernel& kernel, const Instruction& at) {
    std::ostringstream out;
    write_place(out, kernel, at);
    return out.str();
}

std::string text_of(const bytecode::Kernel& kernel, const Instruction& at) {
    if (at.line >= kernel.lines.size() || kernel.source == nullptr ||
        kernel.lines[at.line].text_offset >= kernel.source->size()) {
        return {};
    }
    return text_at(*kernel.source, kernel.lines[at.line].text_offset);
}

std::string describe_block(const BlockContext& block) {
    std::ostringstream out;
    out << "  in ";
    write_block(out, block);
    out << "\n" << describe_warps(block);
    return out.str();
}

std::string describe_warps(const BlockContext& block) {
    // Twice the number of warps in the largest block.
    constexpr std::uint32_t MOST_GROUPS = 64;
    std::ostringstream out;
    std::uint32_t count = 0;
    for (std::uint32_t w = 0; w < block.warp_count; ++w) {
        const WarpContext& warp = block.warps[w];
        if (warp.group_count == 0 && count++ < MOST_GROUPS) {
            out << (count != 1 ? "\n" : "") << "  warp " << w << ": has exited";
        }
        for (std::uint32_t i = 0; i < warp.group_count; ++i) {
            if (count++ < MOST_GROUPS) {
                out << (count != 1 ? "\n" : "") << "  warp " << w << ": ";
                write_group(out, warp, warp.groups[i]);
            }
        }
    }
    if (count > MOST_GROUPS) {
        out << "\n  and " << count - MOST_GROUPS << " more groups of lanes";
    }
    return out.str();
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

std::string_view name_of(FaultKind kind) {
    switch (kind) {
    case FaultKind::None:
        break;
    case FaultKind::IllegalAddress:
        return "illegal address";
    case FaultKind::MisalignedAddress:
        return "misaligned address";
    case FaultKind::InvalidAddressSpace:
        return "invalid address space";
    case FaultKind::IllegalInstruction:
        return "illegal instruction";
    case FaultKind::Trap:
        return "trap";
    case FaultKind::Assert:
        return "assertion failed";
    case FaultKind::Deadlock:
        return "deadlock";
    case FaultKind::DivergentBarrier:
        return "divergent barrier";
    case FaultKind::Timeout:
        return "timeout";
    case FaultKind::StackOverflow:
        return "stack overflow";
    case FaultKind::UninitializedRead:
        return "uninitialised read";
    case FaultKind::Race:
        return "race";
    }
    return "fault";
}

void write_block(std::ostream& out, const BlockContext& block) {
    out << "kernel " << bytecode::readable_name(block.kernel->name) << ", block (" << block.index[0]
        << ", " << block.index[1] << ", " << block.index[2] << ")";
}

/// Returns the instruction that starts at an offset of the PTX text, on one line.
std::string text_at(const std::string& source, std::size_t offset) {
    constexpr std::size_t MAX_TEXT_LENGTH = 160;
    std::string text;
    for (; offset < source.size() && text.size() < MAX_TEXT_LENGTH; ++offset) {
        const char c = source[offset];
        if (std::isspace(static_cast<unsigned char>(c)) == 0) {
            text += c;
        } else if (!text.empty() && text.back() != ' ') {
            text += ' ';
        }
        if (c == ';') {
            break;
        }
    }
    return text;
}

/// Writes the PTX line and, if known, the line of the source it was compiled from.
void write_place(std::ostream& out, const bytecode::Kernel& kernel, const Instruction& at) {
    if (at.line >= kernel.lines.size()) {
        return;
    }
    const bytecode::Line& line = kernel.lines[at.line];
    out << "\n  at PTX line " << line.ptx_line;
    if (const std::string text = text_of(kernel, at); !text.empty()) {
        out << ": " << text;
    }
    if (line.source_line != 0) {
        out << "\n  from ";
        if (kernel.files != nullptr && line.source_file < kernel.files->size() &&
            !(*kernel.files)[line.source_file].empty()) {
            out << (*kernel.files)[line.source_file] << ":" << line.source_line;
        } else {
            out << "source line " << line.source_line;
        }
    }
}

/// Writes a mask as ranges: "lanes 0-3, 7".
void write_lanes(std::ostream& out, std::uint32_t mask) {
    out << (std::popcount(mask) == 1 ? "lane " : "lanes ");
    bool is_first = true;
    for (std::uint32_t lane = 0; lane < bytecode::WARP_SIZE; ++lane) {
        if ((mask >> lane & 1) == 0) {
            continue;
        }
        std::uint32_t last = lane;
        while (last + 1 < bytecode::WARP_SIZE && (mask >> (last + 1) & 1) != 0) {
            ++last;
        }
        out << (is_first ? "" : ", ") << lane;
        if (last != lane) {
            out << "-" << last;
        }
        is_first = false;
        lane = last;
    }
}

/// Writes how many threads of a cluster have not arrived at its barrier.
void write_cluster_arrivals(std::ostream& out, const ClusterContext& cluster) {
    int arrived = 0;
    int live = 0;
    for (std::uint32_t rank = 0; rank < cluster.size; ++rank) {
        const BlockContext& block = *cluster.blocks[rank];
        for (std::uint32_t w = 0; w < block.warp_count; ++w) {
            live += std::popcount(groups::live(block.warps[w]));
            arrived += std::popcount(block.warps[w].cluster_arrived);
        }
    }
    out << arrived << " of " << live << " threads have arrived";
}

void write_group(std::ostream& out, const WarpContext& warp, const Group& group) {
    write_lanes(out, group.mask);
    const Instruction* at = warp.code + group.pc;
    switch (group.state) {
    case Stop::Barrier: {
        const Barrier& barrier = warp.block->barriers[group.barrier];
        out << " wait at barrier " << group.barrier << ", where " << barrier.arrived << " of "
            << (barrier.expected != 0 ? barrier.expected : warp.block->live_threads)
            << " threads have arrived";
        --at; // the counter of a waiting group is after the instruction it waits at
        break;
    }
    case Stop::Rendezvous: {
        std::uint32_t here = 0;
        for (std::uint32_t i = 0; i < warp.group_count; ++i) {
            const Group& other = warp.groups[i];
            if (other.state == Stop::Rendezvous && other.wait_mask == group.wait_mask) {
                here |= other.mask;
            }
        }
        out << " wait for ";
        write_lanes(out, group.wait_mask & groups::live(warp) & ~here);
        out << " of their member mask";
        --at;
        break;
    }
    case Stop::Cluster:
        out << " wait at the barrier of the cluster, where ";
        write_cluster_arrivals(out, *warp.block->cluster);
        --at;
        break;
    case Stop::Warpgroup:
        out << " wait at wgmma for " << warpgroup::describe_missing(warp);
        --at;
        break;
    case Stop::Mbarrier:
        // The group stands at the beginning of its loop. The registers surely hold what it waits
        // for only if the loop begins with the wait.
        if (at->form.is(FixedOp::MbarrierWait)) {
            out << " wait for " << mbarrier::describe(warp, group, at);
        } else {
            out << " wait for an mbarrier";
            while (!at->form.is(FixedOp::MbarrierWait)) {
                ++at;
            }
        }
        break;
    case Stop::Sleep:
        out << " sleep";
        write_place(out, *warp.block->kernel, *--at);
        if (warp.block->probe != nullptr) {
            write_sites(out, warp, "\n  in a loop that waits for ");
        }
        return;
    default:
        if (warp.block->probe != nullptr) {
            out << " repeat a loop";
            write_sites(out, warp, " that waits for ");
            return;
        }
        out << " can run";
        break;
    }
    write_place(out, *warp.block->kernel, *at);
}

/// Writes what the loop of a warp reads again and again.
void write_sites(std::ostream& out, const WarpContext& warp, std::string_view first) {
    constexpr std::size_t most = 4;
    std::size_t count = 0;
    const std::uint32_t number = warp.index + warp.block->cluster_rank * bytecode::WARP_SIZE;
    for (const Probe::Site& site : warp.block->probe->sites()) {
        if (site.warp != number || ++count > most) {
            continue;
        }
        out << (count == 1 ? first : "\n  and for ")
            << (site.text.empty() ? "a value in memory" : site.text);
        write_place(out, *warp.block->kernel, warp.code[site.pc]);
    }
}

} // namespace

} // namespace cuprum::emulator
