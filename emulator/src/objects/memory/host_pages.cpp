// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/memory/host_pages.hpp"

#include "objects/memory/host_room.hpp"
#include "objects/process/error.hpp"
#include "objects/process/host_limits.hpp"

#include <sched.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <linux/futex.h>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <sys/syscall.h>

namespace cuprum::emulator {

bool is_mapped(std::uint64_t address, std::uint64_t bytes) noexcept {
    static const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    const std::uint64_t first = address / page_bytes * page_bytes;
    // An asynchronous msync() only checks what is mapped.
    return ::msync(reinterpret_cast<void*>(first), address - first + bytes, MS_ASYNC) == 0;
}

namespace {

/// Returns whether all pages of a range are known to be writable. Adds 0 to a word of each, in the
/// system, which returns an error where the process would crash.
bool is_writable(std::uint64_t address, std::uint64_t bytes) {
    static std::uint32_t nobody_waits_here = 0;
    constexpr std::uint32_t add_zero = FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_LT, 0);
    for (std::uint64_t page = address / PAGE_BYTES * PAGE_BYTES; page < address + bytes;
         page += PAGE_BYTES) {
        if (::syscall(SYS_futex, &nobody_waits_here, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, nullptr,
                      page, add_zero) < 0) {
            return false;
        }
    }
    return true;
}

} // namespace

Permission permission_of_process(std::uint64_t address, std::uint64_t bytes) {
    if (!is_mapped(address, bytes)) {
        return Permission::None;
    }
    // The list below has a line for each mapping of the process: too long to read for each of many
    // buffers. It serves for large ones, and for what is not writable.
    constexpr std::uint64_t most_tried_bytes = std::uint64_t{4} << 20;
    if (bytes <= most_tried_bytes && is_writable(address, bytes)) {
        return Permission::ReadWrite;
    }
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> maps(std::fopen("/proc/self/maps", "re"),
                                                               &std::fclose);
    Permission permission = Permission::ReadWrite; // also if the system does not report it
    char line[512];
    bool is_start = true; // of a line: long file names may make a line longer than the buffer
    while (maps != nullptr && std::fgets(line, sizeof line, maps.get()) != nullptr) {
        std::uint64_t first = 0;
        std::uint64_t end = 0;
        char can_read = '-';
        char can_write = '-';
        const bool is_range = is_start && std::sscanf(line, "%" SCNx64 "-%" SCNx64 " %c%c", &first,
                                                      &end, &can_read, &can_write) == 4;
        is_start = false;
        for (const char* at = line; *at != '\0'; ++at) {
            is_start = *at == '\n';
        }
        if (!is_range || end <= address) {
            continue;
        }
        if (first >= address + bytes) {
            break; // lines are sorted by address
        }
        if (can_read != 'r') {
            return Permission::None;
        }
        if (can_write != 'w') {
            permission = Permission::Read;
        }
    }
    return permission;
}

bool is_host_node(int number) {
    const std::string folder = "/sys/devices/system/node/node" + std::to_string(number);
    return number == 0 || (number > 0 && ::access(folder.c_str(), F_OK) == 0);
}

int current_host_node() {
    unsigned processor = 0;
    unsigned node = 0;
    return ::getcpu(&processor, &node) == 0 ? static_cast<int>(node) : 0;
}

void check_host_holds(std::uint64_t bytes, std::uint64_t more_bytes) {
    static const std::uint64_t host_bytes = usable_memory_bytes();
    if (bytes > host_bytes + more_bytes) {
        fail(CUDA_ERROR_OUT_OF_MEMORY, "asked for " + std::to_string(bytes) +
                                           " bytes of host memory; there are " +
                                           std::to_string(host_bytes + more_bytes));
    }
    if (const std::string problem = host_room::find_problem(0, bytes); !problem.empty()) {
        fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory: " + problem);
    }
}

} // namespace cuprum::emulator
