// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "check/written.hpp"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>

namespace cuprum::emulator::check {

namespace {

/// From this size on, whole pages are returned to the system instead of being cleared.
constexpr std::uint64_t LARGE_BYTES = std::uint64_t{1} << 20;
constexpr std::uint64_t PAGE_BYTES = 4096;
/// Up to this size the stores are atomic, because kernels on several workers may write and read the
/// flags at once. No single instruction of a kernel writes more bytes than this.
constexpr std::uint64_t SHARED_BYTES = 16384;

/// Returns the flags of a range, or nullptr if the range is not tracked.
std::atomic<std::uint8_t>* account_of(const MemoryMap& map, std::uint64_t address,
                                      std::uint64_t bytes) {
    const std::uint64_t offset = address - map.memory_base;
    return map.initialized != nullptr && offset < map.memory_bytes &&
                   bytes <= map.memory_bytes - offset
               ? map.initialized + offset
               : nullptr;
}

void set(std::atomic<std::uint8_t>* account, std::uint64_t bytes, std::uint8_t value) {
    if (bytes > SHARED_BYTES) {
        std::memset(static_cast<void*>(account), value, bytes);
        return;
    }
    using Word [[gnu::may_alias]] = std::uint64_t;
    constexpr std::uint64_t ones = ~std::uint64_t{0} / 0xff;
    std::uint64_t at = 0;
    const auto is_aligned = [&] {
        return reinterpret_cast<std::uintptr_t>(account + at) % sizeof(Word) == 0;
    };
    for (; at < bytes && !is_aligned(); ++at) {
        account[at].store(value, std::memory_order_relaxed);
    }
    for (; bytes - at >= sizeof(Word); at += sizeof(Word)) {
        __atomic_store_n(reinterpret_cast<Word*>(account + at), ones * value, __ATOMIC_RELAXED);
    }
    for (; at < bytes; ++at) {
        account[at].store(value, std::memory_order_relaxed);
    }
}

} // namespace

void mark_written(const MemoryMap& map, std::uint64_t address, std::uint64_t bytes) noexcept {
    if (std::atomic<std::uint8_t>* const account = account_of(map, address, bytes)) {
        set(account, bytes, 1);
    }
}

void forget_written(const MemoryMap& map, std::uint64_t address, std::uint64_t bytes) noexcept {
    std::atomic<std::uint8_t>* const account = account_of(map, address, bytes);
    if (account == nullptr) {
        return;
    }
    if (bytes < LARGE_BYTES) {
        set(account, bytes, 0);
        return;
    }
    const auto begin = reinterpret_cast<std::uint64_t>(account);
    const std::uint64_t first_page = (begin + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    const std::uint64_t last_page = (begin + bytes) / PAGE_BYTES * PAGE_BYTES;
    set(account, first_page - begin, 0);
    ::madvise(reinterpret_cast<void*>(first_page), last_page - first_page, MADV_DONTNEED);
    set(account + (last_page - begin), begin + bytes - last_page, 0);
}

void copy_written(const MemoryMap& map, std::uint64_t to, std::uint64_t from,
                  std::uint64_t bytes) noexcept {
    std::atomic<std::uint8_t>* const target = account_of(map, to, bytes);
    const std::atomic<std::uint8_t>* const source = account_of(map, from, bytes);
    if (target != nullptr && source != nullptr) {
        std::memmove(static_cast<void*>(target), static_cast<const void*>(source), bytes);
    }
}

bool are_written(const MemoryMap& map, std::uint64_t address, std::uint64_t bytes) noexcept {
    const std::atomic<std::uint8_t>* const account = account_of(map, address, bytes);
    if (account == nullptr) {
        return true;
    }
    using Word [[gnu::may_alias]] = std::uint64_t;
    constexpr std::uint64_t ones = ~std::uint64_t{0} / 0xff;
    for (std::uint64_t at = 0; at < bytes;) {
        const bool is_word = reinterpret_cast<std::uintptr_t>(account + at) % sizeof(Word) == 0 &&
                             bytes - at >= sizeof(Word);
        if (is_word ? __atomic_load_n(reinterpret_cast<const Word*>(account + at),
                                      __ATOMIC_RELAXED) != ones
                    : account[at].load(std::memory_order_relaxed) == 0) {
            return false;
        }
        at += is_word ? sizeof(Word) : 1;
    }
    return true;
}

bool is_unwritten(const MemoryMap& map, std::uint64_t address, std::uint32_t bytes) noexcept {
    const std::atomic<std::uint8_t>* const account = account_of(map, address, bytes);
    return account != nullptr &&
           std::none_of(account, account + bytes, [](const std::atomic<std::uint8_t>& byte) {
               return byte.load(std::memory_order_relaxed) != 0;
           });
}

} // namespace cuprum::emulator::check
