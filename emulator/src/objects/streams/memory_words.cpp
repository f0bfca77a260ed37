// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/streams/memory_words.hpp"

#include "check/written.hpp"
#include "objects/memory/address_space.hpp"
#include "objects/memory/allocations.hpp"
#include "objects/memory/host_pages.hpp"
#include "objects/memory/reach.hpp"
#include "objects/process/error.hpp"

#include <atomic>
#include <cstdint>
#include <string>
#include <type_traits>

namespace cuprum::emulator {

namespace {

void check_word(int device, CUdeviceptr address, std::size_t bytes, bool is_write) {
    require(address % bytes == 0, "the address is not aligned");
    const auto allocation = Allocations::instance().find(address);
    require(allocation != nullptr && Allocations::instance().bytes_from(address) >= bytes,
            "the address is not known memory");
    check_reach({.address = address, .bytes = bytes, .is_write = is_write}, *allocation, device);
}

void check_write(int device, CUdeviceptr address, unsigned flags, std::size_t bytes) {
    constexpr unsigned known = CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER;
    require((flags & ~known) == 0, "unknown flags");
    check_word(device, address, bytes, true);
}

/// Fails if a word is in device memory that was freed, or in registered memory that the program has
/// unmapped.
void check_there(CUdeviceptr address, std::size_t bytes, bool is_write, const Origin& by) {
    const bool is_registered = !AddressSpace::instance().contains(address);
    if (is_registered ? is_mapped(address, bytes)
                      : Allocations::instance().covers(address, bytes, is_write)) {
        return;
    }
    const std::string what = std::string(is_write ? "write of " : "wait for a value of ") +
                             std::to_string(bytes) + " bytes at";
    const std::string enqueued = by.function != nullptr ? by.to_text("    ") : "";
    fail(CUDA_ERROR_ILLEGAL_ADDRESS, is_registered ? describe_unmapped(what, address, enqueued)
                                                   : describe_freed(what, address, enqueued));
}

unsigned condition_of(unsigned flags) {
    return flags & ~static_cast<unsigned>(CU_STREAM_WAIT_VALUE_FLUSH);
}

void check_wait(int device, CUdeviceptr address, unsigned flags, std::size_t bytes) {
    require(condition_of(flags) <= CU_STREAM_WAIT_VALUE_NOR, "unknown flags");
    check_word(device, address, bytes, false);
}

template <typename Word>
void write_word(CUdeviceptr address, Word value, const Origin& by) {
    check_there(address, sizeof(Word), true, by);
    std::atomic_ref(*reinterpret_cast<Word*>(address)).store(value);
    check::mark_written(AddressSpace::instance().map(), address, sizeof(Word));
}

template <typename Word>
bool is_met(CUdeviceptr address, Word value, unsigned flags, const Origin& by) {
    check_there(address, sizeof(Word), false, by);
    const Word now = std::atomic_ref(*reinterpret_cast<Word*>(address)).load();
    switch (condition_of(flags)) {
    case CU_STREAM_WAIT_VALUE_GEQ:
        return static_cast<std::make_signed_t<Word>>(now - value) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
        return now == value;
    case CU_STREAM_WAIT_VALUE_AND:
        return (now & value) != 0;
    default:
        return static_cast<Word>(~(now | value)) != 0;
    }
}

} // namespace

void check_word_operation(const CUstreamBatchMemOpParams& item, int device) {
    switch (item.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        return check_wait(device, item.waitValue.address, item.waitValue.flags, sizeof(cuuint32_t));
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        return check_wait(device, item.waitValue.address, item.waitValue.flags, sizeof(cuuint64_t));
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        return check_write(device, item.writeValue.address, item.writeValue.flags,
                           sizeof(cuuint32_t));
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        return check_write(device, item.writeValue.address, item.writeValue.flags,
                           sizeof(cuuint64_t));
    case CU_STREAM_MEM_OP_BARRIER:
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
        return;
    default:
        fail(CUDA_ERROR_INVALID_VALUE, "unknown operation in the batch");
    }
}

bool is_wait(const CUstreamBatchMemOpParams& item) noexcept {
    return item.operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 ||
           item.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
}

bool is_reached(const CUstreamBatchMemOpParams& item, const Origin& by) {
    const auto& wait = item.waitValue;
    return item.operation == CU_STREAM_MEM_OP_WAIT_VALUE_32
               ? is_met<cuuint32_t>(wait.address, wait.value, wait.flags, by)
               : is_met<cuuint64_t>(wait.address, wait.value64, wait.flags, by);
}

void perform(const CUstreamBatchMemOpParams& item, const Origin& by) {
    if (item.operation == CU_STREAM_MEM_OP_WRITE_VALUE_32) {
        write_word(item.writeValue.address, item.writeValue.value, by);
    } else if (item.operation == CU_STREAM_MEM_OP_WRITE_VALUE_64) {
        write_word(item.writeValue.address, item.writeValue.value64, by);
    } // the order of a stream, or of a graph, is barrier enough
}

} // namespace cuprum::emulator
