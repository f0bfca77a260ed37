// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A strided copy with as few driver calls as possible. Both arrays are read in the order in which
// the destination's axes lie in memory. Axes that one stride visits in both are merged. The
// innermost axis becomes the bytes of a row if it is contiguous in both. One of the remaining axes
// can be the rows and one the slices of a block; the others are loops.

#include "driver/current.hpp"
#include "driver/handle.hpp"
#include "memory/copies.hpp"
#include "stream/stream_state.hpp"

#include <cuprum/region.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace cuprum {

namespace {

using Index = StridedLayout::Index;

/// One axis that both arrays have, in bytes.
struct Axis {
    Index extent = 1;
    Index to = 0;   // stride in the destination
    Index from = 0; // stride in the source
};

/// A copy: rows of `width` bytes, and the axes around them, outermost first.
struct Plan {
    std::size_t width = 0; // bytes
    Index to_offset = 0;   // bytes
    Index from_offset = 0;
    std::vector<Axis> loops; // one piece for each combination of their indices
    Axis slices;             // of a piece; extent 1 if there are none
    Axis rows;
};

void check(const StridedLayout& to, const StridedLayout& from) {
    if (!std::ranges::equal(to.shape(), from.shape()) || to.itemsize() != from.itemsize()) {
        throw std::invalid_argument("the source has " + from.to_string() + ", the destination " +
                                    to.to_string() +
                                    ", expected the same shape and element size; broadcast or "
                                    "reshape one of them");
    }
    if (!to.is_unique()) {
        throw std::invalid_argument("elements of the destination share memory, or its strides "
                                    "interleave so that they might: it has " +
                                    to.to_string());
    }
}

/// Returns whether rows of two arrays with the same axes share a byte: whether some steps along the
/// axes bring the distance between two rows below their width.
///
/// Axes are sorted from the largest stride to the smallest, and each stride exceeds the reach of
/// the axes inside it. So at most two steps of an axis come near enough.
bool is_met(std::span<const Axis> axes, Index distance, Index width) {
    if (axes.empty()) {
        return std::abs(distance) < width;
    }
    Index reach = width - 1; // of the axes inside
    for (const Axis& axis : axes.subspan(1)) {
        reach += (axis.extent - 1) * axis.to;
    }
    const Axis& outer = axes.front();
    const Index nearest = -distance / outer.to;
    for (Index steps = nearest - 1; steps <= nearest + 1; ++steps) {
        const Index rest = distance + steps * outer.to;
        if (std::abs(steps) < outer.extent && std::abs(rest) <= reach &&
            is_met(axes.subspan(1), rest, width)) {
            return true;
        }
    }
    return false;
}

/// Refuses arrays that share memory. They may lie in each other's gaps if their strides are equal,
/// as two columns of a matrix do. Other ways to interleave are not analysed and are refused.
void refuse_overlap(CUdeviceptr destination, const StridedLayout& to, CUdeviceptr source,
                    const StridedLayout& from, const Plan& plan) {
    const auto range = [](CUdeviceptr base, const StridedLayout& layout) {
        const auto [lowest, highest] = layout.offset_bounds();
        const auto bytes = static_cast<Index>(layout.itemsize());
        return std::pair(static_cast<Index>(base) + lowest * bytes,
                         static_cast<Index>(base) + (highest + 1) * bytes);
    };
    const auto [to_begin, to_end] = range(destination, to);
    const auto [from_begin, from_end] = range(source, from);
    if (to_begin >= from_end || from_begin >= to_end) {
        return;
    }
    std::vector<Axis> axes = plan.loops;
    axes.push_back(plan.slices);
    axes.push_back(plan.rows);
    std::erase_if(axes, [](const Axis& axis) { return axis.extent == 1; });
    std::ranges::sort(axes, std::ranges::greater{}, &Axis::to);
    const bool is_alike =
        std::ranges::all_of(axes, [](const Axis& axis) { return axis.to == axis.from; });
    const Index distance = static_cast<Index>(destination) + plan.to_offset -
                           static_cast<Index>(source) - plan.from_offset;
    if (!is_alike || is_met(axes, distance, static_cast<Index>(plan.width))) {
        throw std::invalid_argument(
            std::string("source and destination overlap") +
            (is_alike ? "" : ", or their elements interleave so that they might") + ": bytes " +
            std::to_string(from_begin) + " to " + std::to_string(from_end) + " and " +
            std::to_string(to_begin) + " to " + std::to_string(to_end) +
            "; copy through another buffer");
    }
}

/// Returns whether an axis can be the rows of a block whose rows have this width.
bool can_be_rows(const Axis& axis, std::size_t width) {
    const auto fits = [width](Index stride) {
        return stride >= static_cast<Index>(width) &&
               stride <= static_cast<Index>(detail::MAX_PITCH_BYTES);
    };
    return fits(axis.to) && fits(axis.from);
}

/// Returns whether an axis can be the slices of a block with these rows.
bool can_be_slices(const Axis& axis, const Axis& rows) {
    const auto fits = [&rows](Index stride, Index pitch) {
        return stride >= pitch * rows.extent && stride % pitch == 0;
    };
    return fits(axis.to, rows.to) && fits(axis.from, rows.from);
}

/// Chooses rows and slices of a piece so that the fewest pieces remain.
void take_rows_and_slices(Plan& plan, std::vector<Axis>& axes) {
    const std::size_t none = axes.size();
    std::size_t rows = none;
    std::size_t slices = none;
    Index most = 1;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        if (!can_be_rows(axes[i], plan.width)) {
            continue;
        }
        for (std::size_t j = 0; j <= axes.size(); ++j) { // the last stands for no slices
            const bool has_slices = j != none && j != i && can_be_slices(axes[j], axes[i]);
            const Index count = axes[i].extent * (has_slices ? axes[j].extent : 1);
            if (count > most) {
                most = count;
                rows = i;
                slices = has_slices ? j : none;
            }
        }
    }
    const auto width = static_cast<Index>(plan.width);
    plan.rows = rows != none ? axes[rows] : Axis{1, width, width};
    plan.slices = slices != none
                      ? axes[slices]
                      : Axis{1, plan.rows.to * plan.rows.extent, plan.rows.from * plan.rows.extent};
    std::size_t index = 0;
    std::erase_if(axes, [&](const Axis&) {
        const std::size_t own = index++;
        return own == rows || own == slices;
    });
}

Plan make_plan(const StridedLayout& to, const StridedLayout& from) {
    const auto bytes = static_cast<Index>(to.itemsize());
    Plan plan{.width = to.itemsize(),
              .to_offset = to.slice_offset_in_bytes(),
              .from_offset = from.slice_offset_in_bytes(),
              .loops = {},
              .slices = {},
              .rows = {}};
    std::vector<Axis> axes;
    for (const int number : to.stride_order()) {
        const auto i = static_cast<std::size_t>(number);
        if (to.shape()[i] == 1) {
            continue; // an axis of one element may have any stride
        }
        Axis axis{to.shape()[i], to.strides()[i] * bytes, from.strides()[i] * bytes};
        if (axis.to < 0) { // reverse it in both arrays
            plan.to_offset += axis.to * (axis.extent - 1);
            plan.from_offset += axis.from * (axis.extent - 1);
            axis.to = -axis.to;
            axis.from = -axis.from;
        }
        if (!axes.empty() && axes.back().to == axis.to * axis.extent &&
            axes.back().from == axis.from * axis.extent) {
            axes.back() = {axes.back().extent * axis.extent, axis.to, axis.from};
        } else {
            axes.push_back(axis);
        }
    }
    if (!axes.empty() && axes.back().to == bytes && axes.back().from == bytes) {
        plan.width = static_cast<std::size_t>(axes.back().extent * bytes);
        axes.pop_back();
    }
    take_rows_and_slices(plan, axes);
    plan.loops = std::move(axes);
    return plan;
}

} // namespace

void copy_strided(CUdeviceptr destination, const StridedLayout& to, CUdeviceptr source,
                  const StridedLayout& from, const Stream& stream) {
    const detail::StreamState& queue = detail::open(stream);
    check(to, from);
    if (to.volume() == 0) {
        return;
    }
    const Plan plan = make_plan(to, from);
    refuse_overlap(destination, to, source, from, plan);
    std::size_t pieces = 1;
    for (const Axis& loop : plan.loops) {
        pieces *= static_cast<std::size_t>(loop.extent);
        if (pieces > MAX_STRIDED_COPY_CALLS) {
            throw std::invalid_argument(
                "the copy would take more than " + std::to_string(MAX_STRIDED_COPY_CALLS) +
                " pieces, since the axes lie in different orders: the destination has " +
                to.to_string() + ", the source " + from.to_string() +
                "; copy to the same order of axes and rearrange in a kernel");
        }
    }
    const auto size = [](Index number) { return static_cast<std::size_t>(number); };
    const RegionExtent extent{plan.width, size(plan.rows.extent), size(plan.slices.extent)};
    const driver::Current current(detail::context_of(queue));
    for (std::size_t piece = 0; piece < pieces; ++piece) {
        Index to_offset = plan.to_offset;
        Index from_offset = plan.from_offset;
        std::size_t rest = piece;
        for (std::size_t i = plan.loops.size(); i-- > 0;) {
            const auto index = static_cast<Index>(rest % size(plan.loops[i].extent));
            rest /= size(plan.loops[i].extent);
            to_offset += index * plan.loops[i].to;
            from_offset += index * plan.loops[i].from;
        }
        const detail::LinearMemory target{destination + static_cast<CUdeviceptr>(to_offset),
                                          size(plan.rows.to), size(plan.slices.to)};
        const detail::LinearMemory origin{source + static_cast<CUdeviceptr>(from_offset),
                                          size(plan.rows.from), size(plan.slices.from)};
        detail::copy_linear(target, origin, extent, queue.handle);
    }
}

} // namespace cuprum
