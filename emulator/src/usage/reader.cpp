// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "usage/reader.hpp"

#include "usage/record.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>

namespace cuprum::emulator::usage {

namespace {

/// How long a file may have its hidden name before it counts as left behind.
constexpr std::time_t LONGEST_CREATION_S = 60;

constexpr std::uint64_t LOWER_HALF = 0xffffffffU;

struct Descriptor {
    int number;

    explicit Descriptor(int descriptor) : number(descriptor) {}

    ~Descriptor() {
        if (number >= 0) {
            ::close(number);
        }
    }

    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
};

std::array<std::uint64_t, SLOT_COUNT> read_history(const History& history, std::uint64_t now_ns) {
    std::array<std::uint64_t, SLOT_COUNT> busy_ns{};
    const std::uint64_t last = now_ns >> SLOT_SHIFT;
    for (std::size_t index = 0; index < SLOT_COUNT; ++index) {
        const std::uint64_t period = last - (SLOT_COUNT - 1) + index;
        const std::uint64_t slot = history.slots[period % SLOT_COUNT].load();
        if (slot >> 32 == (period & LOWER_HALF)) {
            busy_ns[index] = (slot & LOWER_HALF) * BUSY_UNIT_NS;
        }
    }
    return busy_ns;
}

/// Adds the time that a worker has spent on what it still runs.
void add_running(DeviceUse& use, std::uint64_t begin_ns, std::uint64_t now_ns) {
    if (begin_ns >= now_ns) {
        return;
    }
    use.kernel_ns += now_ns - begin_ns;
    const std::uint64_t last = now_ns >> SLOT_SHIFT;
    for (std::size_t index = 0; index < SLOT_COUNT; ++index) {
        const std::uint64_t period = last - (SLOT_COUNT - 1) + index;
        const std::uint64_t from = std::max(begin_ns, period << SLOT_SHIFT);
        const std::uint64_t to = std::min(now_ns, (period + 1) << SLOT_SHIFT);
        use.kernel_history_ns[index] += to > from ? to - from : 0;
    }
}

ProcessUse digest(const Record& record, std::uint64_t now_ns) {
    ProcessUse process;
    process.pid = record.pid;
    process.worker_count = record.worker_count;
    for (std::size_t index = 0; index < record.device_count; ++index) {
        const DeviceRecord& from = record.devices[index];
        DeviceUse use;
        use.used_bytes = from.used_bytes.load();
        use.context_count = from.context_count.load();
        use.kernel_ns = from.kernel_ns.load();
        use.memory_ns = from.memory_ns.load();
        use.host_to_device_bytes = from.host_to_device_bytes.load();
        use.device_to_host_bytes = from.device_to_host_bytes.load();
        use.kernel_history_ns = read_history(from.kernels, now_ns);
        use.memory_history_ns = read_history(from.memory, now_ns);
        process.devices.push_back(use);
    }
    // One more than the workers: a waiting host thread may run a kernel too.
    const std::size_t slots = std::min<std::size_t>(record.worker_count + 1, MAX_WORKERS);
    for (std::size_t worker = 0; worker < slots; ++worker) {
        const std::uint64_t slot = record.workers[worker].load();
        const std::uint64_t device = (slot & ((1U << WORKER_DEVICE_BITS) - 1)) - 1;
        if (slot != 0 && device < process.devices.size()) {
            add_running(process.devices[device], slot >> WORKER_DEVICE_BITS, now_ns);
        }
    }
    return process;
}

/// Returns whether nobody holds the writer's lock.
bool is_abandoned(int file) {
    return ::flock(file, LOCK_SH | LOCK_NB) == 0; // closing the file gives the lock back
}

std::optional<ProcessUse> read_file(const Folder& folder, const char* name, std::uint64_t now_ns) {
    const Descriptor file(::openat(folder.descriptor(), name,
                                   O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    struct stat status{};
    if (file.number < 0 || ::fstat(file.number, &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_uid != ::geteuid()) {
        return std::nullopt;
    }
    if (is_abandoned(file.number)) {
        (void)::unlinkat(folder.descriptor(), name, 0);
        return std::nullopt;
    }
    const auto record = std::make_unique<Record>();
    if (status.st_size != sizeof(Record) ||
        ::pread(file.number, static_cast<void*>(record.get()), sizeof(Record), 0) !=
            static_cast<ssize_t>(sizeof(Record)) ||
        record->magic != RECORD_MAGIC || record->version != RECORD_VERSION ||
        record->bytes != sizeof(Record) || record->device_count > MAX_DEVICES ||
        record->worker_count == 0 || record->worker_count > MAX_WORKERS || record->pid <= 0) {
        return std::nullopt;
    }
    // A child that inherited the lock may outlive the process.
    if (start_ticks_of(record->pid) != record->start_ticks) {
        return std::nullopt;
    }
    return digest(*record, now_ns);
}

/// Removes a file that a process left behind while it created it.
void remove_hidden(const Folder& folder, const char* name) {
    const Descriptor file(
        ::openat(folder.descriptor(), name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    struct stat status{};
    if (file.number >= 0 && ::fstat(file.number, &status) == 0 && S_ISREG(status.st_mode) &&
        std::time(nullptr) - status.st_mtime > LONGEST_CREATION_S && is_abandoned(file.number)) {
        (void)::unlinkat(folder.descriptor(), name, 0);
    }
}

} // namespace

std::vector<ProcessUse> read_processes(const Folder& folder, std::uint64_t now_ns) {
    std::vector<ProcessUse> processes;
    const int copy = folder.descriptor() < 0
                         ? -1
                         : ::openat(folder.descriptor(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (copy < 0) {
        return processes;
    }
    const std::unique_ptr<DIR, int (*)(DIR*)> listing(::fdopendir(copy), &::closedir);
    if (listing == nullptr) {
        ::close(copy);
        return processes;
    }
    const std::string hidden = std::string(".") + RECORD_PREFIX;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is not shared
    while (const dirent* const entry = ::readdir(listing.get())) {
        const std::string_view name = entry->d_name;
        if (name.starts_with(RECORD_PREFIX)) {
            if (auto process = read_file(folder, entry->d_name, now_ns)) {
                processes.push_back(std::move(*process));
            }
        } else if (name.starts_with(hidden)) {
            remove_hidden(folder, entry->d_name);
        }
    }
    std::ranges::sort(processes, {}, &ProcessUse::pid);
    return processes;
}

std::uint64_t start_ticks_of(std::int32_t pid) {
    const std::string path = "/proc/" + std::to_string(pid) + "/stat";
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    char text[1024];
    const ssize_t length = file.number < 0 ? -1 : ::read(file.number, text, sizeof text - 1);
    if (length <= 0) {
        return 0;
    }
    text[length] = '\0';
    // The name in parentheses may contain anything; 19 fields lie between it and the start time.
    const char* at = std::strrchr(text, ')');
    for (int field = 0; at != nullptr && field < 20; ++field) {
        at = std::strchr(at + 1, ' ');
    }
    return at == nullptr ? 0 : std::strtoull(at + 1, nullptr, 10);
}

} // namespace cuprum::emulator::usage
