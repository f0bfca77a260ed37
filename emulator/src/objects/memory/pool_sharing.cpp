// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Sharing pools and their allocations with other processes.

#include "objects/memory/address_space.hpp"
#include "objects/memory/host_pages.hpp"
#include "objects/memory/pool.hpp"
#include "objects/process/error.hpp"

#include <algorithm>
#include <bit>

namespace cuprum::emulator {

/// The contents of CUmemPoolPtrExportData.
struct Pool::ExportedPointer {
    SharedToken pool{};
    ExportRecord record;
    std::uint32_t place = 0; // of the record in the table
    std::uint32_t unused[3]{};
};

namespace {

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t step) {
    return (value + step - 1) / step * step;
}

} // namespace

int Pool::export_descriptor() const {
    require(file_ != nullptr && !is_imported_,
            "the pool was not made by this process with "
            "CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, so that it cannot be exported");
    return file_->duplicate();
}

CUmemPoolPtrExportData Pool::export_pointer(const Allocation& allocation) {
    require(file_ != nullptr && !is_imported_,
            "the memory is not of a pool that this process made to be shared");
    constexpr std::uint64_t places =
        (SharedFile::DATA_OFFSET - sizeof(SharedHeader)) / sizeof(ExportRecord);
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(allocation.base);
    require(found != blocks_.end(), "the memory has been freed");
    Block& block = *found->second;
    ExportedPointer exported;
    exported.pool = file_->header().token;
    if (block.exported) {
        exported.place = *block.exported;
        if (file_->read_table(exported.place * sizeof(ExportRecord), &exported.record,
                              sizeof(ExportRecord)) &&
            exported.record.offset == block.file_offset) {
            return std::bit_cast<CUmemPoolPtrExportData>(exported);
        }
    }
    if (free_records_.empty()) {
        if (record_count_ == places) {
            fail(CUDA_ERROR_OUT_OF_MEMORY, "too many allocations of the pool are exported");
        }
        exported.place = record_count_;
    } else {
        exported.place = free_records_.back();
    }
    exported.record = {next_serial_, block.file_offset, allocation.bytes, 0};
    file_->write_table(exported.place * sizeof(ExportRecord), &exported.record,
                       sizeof(ExportRecord));
    ++next_serial_;
    if (free_records_.empty()) {
        ++record_count_;
    } else {
        free_records_.pop_back();
    }
    block.exported = exported.place;
    return std::bit_cast<CUmemPoolPtrExportData>(exported);
}

std::shared_ptr<Allocation> Pool::import_pointer(const CUmemPoolPtrExportData& data) {
    require(is_imported_, "the pool is not an imported one");
    const auto exported = std::bit_cast<ExportedPointer>(data);
    require(exported.pool == file_->header().token, "the memory is of another pool");
    // The other process may have written anything, so map only what is inside the file.
    ExportRecord record;
    require(exported.record.serial != 0 &&
                file_->read_table(std::uint64_t{exported.place} * sizeof(ExportRecord), &record,
                                  sizeof record) &&
                record == exported.record,
            "the memory is not exported, or it has been freed");
    const std::uint64_t available = file_->data_bytes();
    require(record.bytes != 0 && record.offset % PAGE_BYTES == 0 && record.offset <= available &&
                record.bytes <= available - record.offset,
            "the memory does not lie in the pool");
    const std::uint64_t mapped = round_up(record.bytes, PAGE_BYTES);

    auto allocation = std::make_shared<Allocation>();
    allocation->base = AddressSpace::instance().take(record.bytes);
    allocation->bytes = record.bytes;
    allocation->kind = MemoryKind::Pooled;
    allocation->device = std::max(device(), 0);
    allocation->pool = shared_from_this();
    allocation->is_on_host = device() < 0;
    try {
        AddressSpace::map_file(allocation->base, mapped, file_->descriptor(),
                               SharedFile::DATA_OFFSET + record.offset);
        Allocations::instance().add(allocation);
    } catch (...) {
        AddressSpace::unmap_file(allocation->base, mapped);
        AddressSpace::instance().give_back(allocation->base, allocation->bytes);
        throw;
    }
    Allocations::open(*allocation);
    const std::lock_guard lock(mutex_);
    used_bytes_ += allocation->bytes;
    used_high_bytes_ = std::max(used_high_bytes_, used_bytes_);
    return allocation;
}

/// Ends the export of a block that is being freed. The caller holds the lock.
void Pool::withdraw(Block& block) {
    if (block.exported) {
        constexpr ExportRecord none;
        file_->write_table(*block.exported * sizeof(ExportRecord), &none, sizeof none);
        free_records_.push_back(*block.exported);
        block.exported.reset();
    }
}

void Pool::unmap_import(const Allocation& allocation) noexcept {
    AddressSpace::unmap_file(allocation.base, round_up(allocation.bytes, PAGE_BYTES));
    AddressSpace::instance().give_back(allocation.base, allocation.bytes);
    Allocations::instance().forget(allocation);
    const std::lock_guard lock(mutex_);
    used_bytes_ -= allocation.bytes;
}

} // namespace cuprum::emulator
