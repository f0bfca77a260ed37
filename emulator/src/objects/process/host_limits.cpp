// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/process/host_limits.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>

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

/// Calls `visit` with the folder of a group and of each group above it, up to `root`.
///
/// A container often sees its own group as the root, while /proc/self/cgroup shows the name that
/// the host uses. Folders that do not exist are ignored.
template <typename Visit>
void for_each_folder(const std::string& root, std::string_view group, Visit visit) {
    std::string path(group == "/" ? "" : group);
    for (;;) {
        visit(root + path);
        if (path.empty()) {
            return;
        }
        path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
    }
}

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

} // namespace

CgroupLimits read_cgroup_limits(const ReadFile& read_file) {
    CgroupLimits limits;
    const std::string groups = read_file("/proc/self/cgroup").value_or("");
    std::string_view left = groups;
    while (!left.empty()) {
        // Each line is "number:controllers:group"; version 2 has number 0 and no controllers.
        const std::size_t end = std::min(left.find('\n'), left.size());
        const std::string_view line = left.substr(0, end);
        left.remove_prefix(std::min(end + 1, left.size()));
        const std::size_t first = line.find(':');
        const std::size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
        if (second == line.npos) {
            continue;
        }
        const std::string_view controllers = line.substr(first + 1, second - first - 1);
        const std::string_view group = line.substr(second + 1);
        const auto number_in = [&](const std::string& path) {
            return read_file(path).value_or("");
        };
        if (controllers.empty()) {
            for_each_folder(std::string(CGROUP_ROOT), group, [&](const std::string& folder) {
                lower(limits.processors, parse_cpu_max(number_in(folder + "/cpu.max")));
                lower(limits.memory_bytes, parse_memory_limit(number_in(folder + "/memory.max")));
            });
            continue;
        }
        const std::string root = std::string(CGROUP_ROOT) + "/";
        if (has_word(controllers, "memory")) {
            for_each_folder(root + "memory", group, [&](const std::string& folder) {
                lower(limits.memory_bytes,
                      parse_memory_limit(number_in(folder + "/memory.limit_in_bytes")));
            });
        }
        if (has_word(controllers, "cpu")) {
            for_each_folder(root + "cpu", group, [&](const std::string& folder) {
                lower(limits.processors, parse_cpu_quota(number_in(folder + "/cpu.cfs_quota_us"),
                                                         number_in(folder + "/cpu.cfs_period_us")));
            });
        }
    }
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
    const std::uint64_t whole = *allowed / *each + (*allowed % *each != 0 ? 1 : 0);
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(whole, 1, UINT32_MAX));
}

std::optional<std::uint64_t> parse_memory_limit(std::string_view text) {
    const auto bytes = parse_number(text);
    return bytes && *bytes < NO_MEMORY_LIMIT ? bytes : std::nullopt;
}

std::uint32_t usable_processors() {
    std::uint32_t count = processors_by_affinity();
    if (count == 0) {
        count = std::max(1U, std::thread::hardware_concurrency());
    }
    return std::min(count, read_cgroup_limits(read_whole_file).processors.value_or(count));
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
