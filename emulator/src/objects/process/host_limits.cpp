// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/process/host_limits.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>
#include <vector>

namespace cuprum::emulator {

namespace {

constexpr std::string_view CGROUP_ROOT = "/sys/fs/cgroup";
/// For "no limit", version 1 writes the largest multiple of a page.
constexpr std::uint64_t NO_MEMORY_LIMIT = std::uint64_t{1} << 62;
/// The size of the largest affinity mask to try.
constexpr int MAX_PROCESSORS = 1 << 16;

std::string_view trimmed(std::string_view text);
std::optional<std::uint64_t> parse_number(std::string_view text);
std::optional<std::string> read_whole_file(const std::string& path);
std::uint32_t processors_by_affinity();

template <typename T>
void lower(std::optional<T>& limit, std::optional<T> other) {
    if (other && (!limit || *other < *limit)) {
        limit = other;
    }
}

/// Where a hierarchy of control groups is mounted.
struct Mount {
    std::string_view controllers; // of version 1, as in "cpu,cpuacct"; empty for version 2
    std::string_view root;        // the group that the folder shows
    std::string_view folder;
};

/// Returns whether a list such as "cpu,cpuacct" has a word.
bool has_word(std::string_view list, std::string_view word) {
    while (!list.empty()) {
        const std::size_t comma = std::min(list.find(','), list.size());
        if (list.substr(0, comma) == word) {
            return true;
        }
        list.remove_prefix(std::min(comma + 1, list.size()));
    }
    return false;
}

/// Calls `visit` with each line of a text.
template <typename Visit>
void for_each_line(std::string_view text, Visit visit) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        visit(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

/// Takes the first word from a text.
std::string_view take_word(std::string_view& text) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return word;
}

/// Reads where control groups are mounted from the text of /proc/self/mountinfo.
std::vector<Mount> parse_mounts(std::string_view text) {
    std::vector<Mount> mounts;
    for_each_line(text, [&](std::string_view line) {
        // "31 23 0:28 <root> <folder> <options> [<more>] - <type> <source> <options>"
        const std::size_t dash = line.find(" - ");
        if (dash == line.npos) {
            return;
        }
        std::string_view after = line.substr(dash + 3);
        const std::string_view type = take_word(after);
        (void)take_word(after); // the source
        if (type != "cgroup" && type != "cgroup2") {
            return;
        }
        for (int i = 0; i < 3; ++i) {
            (void)take_word(line);
        }
        Mount mount;
        mount.root = take_word(line);
        mount.folder = take_word(line);
        mount.controllers = type == "cgroup" ? after : std::string_view{};
        mounts.push_back(mount);
    });
    return mounts;
}

/// Calls `visit` with the folder of a group and of each group above it, up to the mounted root.
///
/// A container often sees its own group as the root, while /proc/self/cgroup shows the name that
/// the host uses. Folders that do not exist are ignored.
template <typename Visit>
void for_each_folder(const std::vector<Mount>& mounts, std::string_view controller,
                     std::string_view group, Visit visit) {
    std::string folder(CGROUP_ROOT);
    folder += controller.empty() ? "" : "/" + std::string(controller);
    for (const Mount& mount : mounts) {
        if (controller.empty() ? mount.controllers.empty()
                               : has_word(mount.controllers, controller)) {
            folder = mount.folder;
            if (mount.root != "/" && group.starts_with(mount.root)) {
                group.remove_prefix(mount.root.size());
            }
            break;
        }
    }
    std::string path(group == "/" ? "" : group);
    for (;;) {
        visit(folder + path);
        if (path.empty()) {
            return;
        }
        path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
    }
}

/// Lowers the limits of memory to those of one group.
void lower_memory(CgroupLimits& limits, std::string_view limit_text, std::string_view usage_text,
                  std::string_view statistics) {
    const auto limit = parse_memory_limit(limit_text);
    lower(limits.memory_bytes, limit);
    const auto usage = parse_number(usage_text);
    if (!limit || !usage) {
        return;
    }
    const std::uint64_t cache = std::min(parse_file_cache(statistics), *usage);
    const std::uint64_t used = std::min(*usage - cache, *limit);
    if (!limits.room || *limit - used < limits.room->left_bytes) {
        limits.room = MemoryRoom{*limit, *limit - used};
    }
}

} // namespace

CgroupLimits read_cgroup_limits(const ReadFile& read_file) {
    CgroupLimits limits;
    const std::string mount_text = read_file("/proc/self/mountinfo").value_or("");
    const std::vector<Mount> mounts = parse_mounts(mount_text);
    const std::string groups = read_file("/proc/self/cgroup").value_or("");
    const auto text_of = [&](const std::string& path) { return read_file(path).value_or(""); };
    for_each_line(groups, [&](std::string_view line) {
        // Each line is "number:controllers:group"; version 2 has number 0 and no controllers.
        const std::size_t first = line.find(':');
        const std::size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
        if (second == line.npos) {
            return;
        }
        const std::string_view controllers = line.substr(first + 1, second - first - 1);
        const std::string_view group = line.substr(second + 1);
        if (controllers.empty()) {
            for_each_folder(mounts, "", group, [&](const std::string& folder) {
                lower(limits.quota_millis, parse_cpu_max(text_of(folder + "/cpu.max")));
                lower_memory(limits, text_of(folder + "/memory.max"),
                             text_of(folder + "/memory.current"), text_of(folder + "/memory.stat"));
            });
        }
        if (has_word(controllers, "memory")) {
            for_each_folder(mounts, "memory", group, [&](const std::string& folder) {
                lower_memory(limits, text_of(folder + "/memory.limit_in_bytes"),
                             text_of(folder + "/memory.usage_in_bytes"),
                             text_of(folder + "/memory.stat"));
            });
        }
        if (has_word(controllers, "cpu")) {
            for_each_folder(mounts, "cpu", group, [&](const std::string& folder) {
                lower(limits.quota_millis, parse_cpu_quota(text_of(folder + "/cpu.cfs_quota_us"),
                                                           text_of(folder + "/cpu.cfs_period_us")));
            });
        }
    });
    return limits;
}

std::optional<std::uint32_t> parse_cpu_max(std::string_view text) {
    text = trimmed(text);
    const std::size_t space = text.find(' ');
    return space == text.npos ? std::nullopt
                              : parse_cpu_quota(text.substr(0, space), text.substr(space + 1));
}

std::optional<std::uint32_t> parse_cpu_quota(std::string_view quota, std::string_view period) {
    const auto allowed = parse_number(quota); // "max" and -1 are no numbers
    const auto each = parse_number(period);
    if (!allowed || !each || *each == 0) {
        return std::nullopt;
    }
    const double millis = static_cast<double>(*allowed) * 1000.0 / static_cast<double>(*each);
    return static_cast<std::uint32_t>(
        std::clamp(std::round(millis), 1.0, static_cast<double>(UINT32_MAX)));
}

std::optional<std::uint64_t> parse_memory_limit(std::string_view text) {
    const auto bytes = parse_number(text);
    return bytes && *bytes < NO_MEMORY_LIMIT ? bytes : std::nullopt;
}

std::uint64_t parse_file_cache(std::string_view text) {
    std::uint64_t own = 0;
    std::uint64_t total = 0; // of version 1
    for_each_line(text, [&](std::string_view line) {
        const std::string_view name = take_word(line);
        if (name == "active_file" || name == "inactive_file") {
            own += parse_number(line).value_or(0);
        } else if (name == "total_active_file" || name == "total_inactive_file") {
            total += parse_number(line).value_or(0);
        }
    });
    return std::max(own, total);
}

ProcessorShare processor_share() {
    std::uint32_t count = processors_by_affinity();
    if (count == 0) {
        count = std::max(1U, std::thread::hardware_concurrency());
    }
    return {count, read_cgroup_limits(read_whole_file).quota_millis.value_or(0)};
}

std::uint32_t usable_processors() {
    const ProcessorShare share = processor_share();
    // A quota of 1.5 processors needs two workers.
    const std::uint32_t by_quota = share.quota_millis / 1000 + (share.quota_millis % 1000 != 0);
    return share.quota_millis == 0 ? share.processors : std::min(share.processors, by_quota);
}

std::uint64_t usable_memory_bytes() {
    const long pages = ::sysconf(_SC_PHYS_PAGES);
    const long page_bytes = ::sysconf(_SC_PAGE_SIZE);
    const std::uint64_t bytes =
        pages <= 0 || page_bytes <= 0
            ? 0
            : static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
    const std::uint64_t limit = read_cgroup_limits(read_whole_file).memory_bytes.value_or(0);
    return bytes == 0 || limit == 0 ? std::max(bytes, limit) : std::min(bytes, limit);
}

std::optional<MemoryRoom> memory_room() {
    return read_cgroup_limits(read_whole_file).room;
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\n";
    const std::size_t first = text.find_first_not_of(blanks);
    return first == text.npos ? std::string_view{}
                              : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
    text = trimmed(text);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_whole = !text.empty() && error == std::errc{} && end == text.data() + text.size();
    return is_whole ? std::optional(value) : std::nullopt;
}

std::optional<std::string> read_whole_file(const std::string& path) {
    std::ifstream file(path);
    if (!file) {
        return std::nullopt;
    }
    return std::string(std::istreambuf_iterator<char>(file), {});
}

/// Returns how many processors the affinity of this process allows, or 0 if unknown.
std::uint32_t processors_by_affinity() {
    for (int most = 1024; most <= MAX_PROCESSORS; most *= 4) {
        const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(
            CPU_ALLOC(most), [](cpu_set_t* memory) { CPU_FREE(memory); });
        const std::size_t bytes = CPU_ALLOC_SIZE(most);
        if (set != nullptr && ::sched_getaffinity(0, bytes, set.get()) == 0) {
            return static_cast<std::uint32_t>(CPU_COUNT_S(bytes, set.get()));
        }
    }
    return 0;
}

} // namespace

} // namespace cuprum::emulator
