// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/graphs/order_check.hpp"

#include "check/node_accesses.hpp"
#include "objects/graphs/graph_launch.hpp"
#include "objects/graphs/graph_memory.hpp"
#include "objects/memory/address_space.hpp"
#include "objects/memory/allocations.hpp"
#include "objects/process/log.hpp"

#include <algorithm>
#include <exception>
#include <sstream>
#include <string>
#include <utility>

namespace cuprum::emulator {

namespace {

using check::NodeRange;

/// The largest graph that is compared: the table of paths has a bit for each pair of nodes.
constexpr std::size_t MAX_CHECKED_STEPS = 8192;
/// The most rows of a copy or a fill that are looked at one by one.
constexpr std::uint64_t MAX_ROWS = 4096;

/// A range with the step that uses it.
struct StepRange {
    NodeRange range;
    std::uint32_t step = 0;
};

/// Adds the rows of one end of a copy. Very many rows count as one range only if they have no gaps.
void add_rows(std::vector<NodeRange>& ranges, const CopySide& side, const Copy& copy,
              bool is_write) {
    if (copy.height * copy.depth > MAX_ROWS) {
        if (side.pitch_bytes == copy.width_bytes &&
            (copy.depth == 1 || side.slice_bytes == side.pitch_bytes * copy.height)) {
            const std::uint64_t bytes = copy.width_bytes * copy.height * copy.depth;
            ranges.push_back({side.address, side.address + bytes, is_write});
        }
        return;
    }
    for (std::uint64_t slice = 0; slice < copy.depth; ++slice) {
        for (std::uint64_t row = 0; row < copy.height; ++row) {
            const std::uint64_t begin =
                side.address + slice * side.slice_bytes + row * side.pitch_bytes;
            ranges.push_back({begin, begin + copy.width_bytes, is_write});
        }
    }
}

/// Returns the memory that a step used, with what is embedded in it.
std::vector<NodeRange> ranges_of(const Step& step) {
    std::vector<NodeRange> ranges;
    if (!step.is_enabled) {
        return ranges;
    }
    if (step.accesses != nullptr) {
        ranges = step.accesses->ranges();
    } else if (const auto* copy = std::get_if<MemcpyParameters>(&step.parameters)) {
        add_rows(ranges, copy->copy.source, copy->copy, false);
        add_rows(ranges, copy->copy.destination, copy->copy, true);
    } else if (const auto* set = std::get_if<MemsetParameters>(&step.parameters)) {
        const Fill& fill = set->fill;
        Copy shape;
        shape.width_bytes = fill.width * fill.element_bytes;
        shape.height = fill.height;
        add_rows(ranges, {fill.address, fill.pitch_bytes, 0, CopyEnd::Device}, shape, true);
    } else if (const auto* alloc = std::get_if<AllocParameters>(&step.parameters)) {
        ranges.push_back(
            {alloc->memory->address(), alloc->memory->address() + alloc->memory->bytes(), true});
    } else if (const auto* free = std::get_if<FreeParameters>(&step.parameters)) {
        ranges.push_back(
            {free->memory->address(), free->memory->address() + free->memory->bytes(), true});
    }
    for (const auto& body : step.bodies) {
        for (std::size_t inner = 0; body->has_run() && inner < body->steps().size(); ++inner) {
            const auto more = ranges_of(*body->steps()[inner]);
            ranges.insert(ranges.end(), more.begin(), more.end());
        }
    }
    return ranges;
}

/// For each step, the steps that come before it on some path.
class Paths {
public:
    explicit Paths(const Schedule& schedule) : before_(schedule.steps().size()) {
        const std::size_t count = before_.size();
        for (std::size_t step = 0; step < count; ++step) {
            before_[step].resize(count);
            for (const std::uint32_t dependency : schedule.steps()[step]->dependencies) {
                before_[step][dependency] = true;
                for (std::size_t other = 0; other < dependency; ++other) {
                    if (before_[dependency][other]) {
                        before_[step][other] = true;
                    }
                }
            }
        }
    }

    /// Returns whether a path leads from one to the other. Steps are in topological order.
    [[nodiscard]] bool has(std::uint32_t one, std::uint32_t other) const {
        return before_[std::max(one, other)][std::min(one, other)];
    }

private:
    std::vector<std::vector<bool>> before_;
};

void report(const Schedule& schedule, const StepRange& one, const StepRange& other) {
    const StepRange& first = one.step < other.step ? one : other;
    const StepRange& second = one.step < other.step ? other : one;
    const std::uint64_t begin = std::max(one.range.begin, other.range.begin);
    const std::uint64_t end = std::min(one.range.end, other.range.end);
    const auto use = [](const StepRange& each) {
        return each.range.is_write ? " writes " : " reads ";
    };
    std::ostringstream text;
    text << "unordered nodes: " << schedule.describe(first.step) << "," << use(first) << end - begin
         << (end - begin == 1 ? " byte" : " bytes") << " at 0x" << std::hex << begin << std::dec
         << " that\n  " << schedule.describe(second.step) << "," << use(second)
         << "too, and no path of edges orders them; add a dependency between them"
         << Allocations::instance().describe(begin) << schedule.launch().describe_origin();
    warn(text.str());
}

/// Compares the steps of one level.
void check_level(Schedule& schedule) {
    if (schedule.steps().size() > MAX_CHECKED_STEPS || schedule.steps().size() < 2) {
        return;
    }
    std::vector<StepRange> all;
    for (std::uint32_t step = 0; step < schedule.steps().size(); ++step) {
        for (const NodeRange& range : ranges_of(*schedule.steps()[step])) {
            all.push_back({range, step});
        }
    }
    std::ranges::sort(all, {}, [](const StepRange& each) { return each.range.begin; });
    const Paths paths(schedule);
    std::vector<const StepRange*> open; // ranges that reach to the one that is looked at
    for (const StepRange& each : all) {
        std::erase_if(open,
                      [&](const auto* other) { return other->range.end <= each.range.begin; });
        for (const StepRange* const other : open) {
            if (other->step != each.step && (other->range.is_write || each.range.is_write) &&
                !paths.has(other->step, each.step) && schedule.note_pair(other->step, each.step)) {
                report(schedule, *other, each);
            }
        }
        open.push_back(&each);
    }
}

} // namespace

bool is_order_checked() noexcept {
    return (AddressSpace::instance().map().checks & CHECK_GRAPHS) != 0;
}

void forget_accesses(const Schedule& schedule) noexcept {
    schedule.for_each([](const Step& step) {
        if (step.accesses != nullptr) {
            step.accesses->clear();
        }
    });
}

void report_unordered(Schedule& schedule) noexcept {
    try {
        check_level(schedule);
        for (const auto& step : schedule.steps()) {
            for (const auto& body : step->bodies) {
                if (body->has_run()) {
                    report_unordered(*body);
                }
            }
        }
    } catch (const std::exception& error) {
        log(LogLevel::Error,
            std::string("the check of a graph failed, please report this: ") + error.what());
    }
}

} // namespace cuprum::emulator
