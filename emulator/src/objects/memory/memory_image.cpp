// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/memory/memory_image.hpp"

#include "objects/memory/allocations.hpp"
#include "objects/memory/host_pages.hpp"
#include "objects/memory/pool.hpp"
#include "objects/memory/virtual_memory.hpp"
#include "objects/process/error.hpp"
#include "objects/process/shared_file.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <sys/mman.h>

namespace cuprum::emulator {

namespace {

constexpr std::uint64_t CHUNK_BYTES = std::uint64_t{2} << 20; // what is in memory twice at a time

constexpr std::uint64_t whole_pages(std::uint64_t bytes) {
    return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

bool is_zero_page(const std::byte* page) {
    static constexpr std::array<std::byte, PAGE_BYTES> zeros{};
    return std::memcmp(page, zeros.data(), PAGE_BYTES) == 0;
}

[[noreturn]] void refuse_shared(const std::string& what) {
    fail(CUDA_ERROR_NOT_SUPPORTED,
         "memory that processes share cannot be checkpointed: " + what +
             "; close the handles of other processes and free the memory first");
}

/// Throws if other processes can hold an allocation; returns whether it is device memory in pages
/// of the window. Mapped memory is found by its file instead.
bool is_in_window(const Allocation& memory) {
    switch (memory.kind) {
    case MemoryKind::Device:
        if (memory.file != nullptr) {
            refuse_shared(memory.to_text());
        }
        return true;
    case MemoryKind::Imported:
    case MemoryKind::Graphics:
    case MemoryKind::External:
        refuse_shared(memory.to_text());
    case MemoryKind::Pooled:
        if (memory.is_on_host || memory.is_managed()) {
            return false;
        }
        if (memory.pool->is_imported() ||
            memory.pool->properties().handleTypes != CU_MEM_HANDLE_TYPE_NONE) {
            refuse_shared(memory.to_text());
        }
        return true;
    case MemoryKind::Heap:
    case MemoryKind::Graph:
    case MemoryKind::Array:
        return true;
    case MemoryKind::Pinned:
    case MemoryKind::Managed:
    case MemoryKind::Registered:
    case MemoryKind::Mapped:
        return false;
    }
    return false; // not reached
}

/// Throws if other processes can hold the memory; returns whether it is a device's.
bool is_of_device(const PhysicalMemory& memory) {
    if (memory.device() < 0) {
        return false;
    }
    if (memory.is_imported() ||
        memory.properties().requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE) {
        refuse_shared("memory of " + std::to_string(memory.bytes()) + " bytes, made by " +
                      memory.origin().to_text("    "));
    }
    return true;
}

/// The data of a file, mapped for a copy.
class MappedFile {
public:
    explicit MappedFile(const PhysicalMemory& memory) : bytes_(memory.bytes()) {
        void* address = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED,
                               memory.file().descriptor(), SharedFile::DATA_OFFSET);
        if (address == MAP_FAILED) {
            fail(CUDA_ERROR_OUT_OF_MEMORY, "the system refused to map device memory for a copy");
        }
        base_ = reinterpret_cast<std::uint64_t>(address);
    }

    ~MappedFile() { ::munmap(reinterpret_cast<void*>(base_), bytes_); }

    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    [[nodiscard]] std::uint64_t base() const noexcept { return base_; }

private:
    std::uint64_t base_ = 0;
    std::uint64_t bytes_;
};

} // namespace

std::unique_ptr<MemoryImage> MemoryImage::save() {
    std::unique_ptr<MemoryImage> image(new MemoryImage);
    image->collect();
    if (image->bytes_ != 0) {
        // Pages come when they are touched, so zeros take no room.
        void* buffer = ::mmap(nullptr, image->bytes_, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (buffer == MAP_FAILED) {
            image->bytes_ = 0;
            fail(CUDA_ERROR_OUT_OF_MEMORY,
                 "the host has no room for the contents of device memory");
        }
        image->buffer_ = static_cast<std::byte*>(buffer);
    }
    // Whatever can fail comes before the first page moves.
    std::vector<std::unique_ptr<MappedFile>> files;
    for (Piece& piece : image->pieces_) {
        piece.kept.resize(piece.bytes / PAGE_BYTES);
        if (piece.file != nullptr) {
            files.push_back(std::make_unique<MappedFile>(*piece.file));
            piece.base = files.back()->base();
        }
    }
    for (Piece& piece : image->pieces_) {
        image->move_out(piece);
    }
    for (const auto& object : HandleTable::instance().all(HandleKind::Pool)) {
        static_cast<Pool&>(*object).discard_idle();
    }
    return image;
}

void MemoryImage::restore() {
    std::vector<std::unique_ptr<MappedFile>> files;
    for (Piece& piece : pieces_) {
        if (piece.file != nullptr) {
            files.push_back(std::make_unique<MappedFile>(*piece.file));
            piece.base = files.back()->base();
        }
    }
    for (const Piece& piece : pieces_) {
        move_back(piece);
    }
}

std::uint64_t MemoryImage::kept_bytes() const noexcept {
    std::uint64_t pages = 0;
    for (const Piece& piece : pieces_) {
        pages += static_cast<std::uint64_t>(std::ranges::count(piece.kept, true));
    }
    return pages * PAGE_BYTES;
}

MemoryImage::~MemoryImage() {
    if (bytes_ != 0) {
        ::munmap(buffer_, bytes_);
    }
}

void MemoryImage::add(Piece piece) {
    piece.offset = bytes_;
    bytes_ += piece.bytes;
    pieces_.push_back(std::move(piece));
}

void MemoryImage::collect() {
    for (const auto& memory : Allocations::instance().all()) {
        if (is_in_window(*memory)) {
            add({.base = memory->base, .bytes = whole_pages(memory->bytes)});
        }
    }
    for (const auto& object : HandleTable::instance().all(HandleKind::Physical)) {
        auto memory = std::static_pointer_cast<PhysicalMemory>(object);
        if (is_of_device(*memory)) {
            const std::uint64_t bytes = whole_pages(memory->bytes());
            add({.bytes = bytes, .file = std::move(memory)});
        }
    }
}

void MemoryImage::move_out(Piece& piece) {
    for (std::uint64_t chunk = 0; chunk < piece.bytes; chunk += CHUNK_BYTES) {
        const std::uint64_t end = std::min(chunk + CHUNK_BYTES, piece.bytes);
        for (std::uint64_t at = chunk; at < end; at += PAGE_BYTES) {
            const auto* page = reinterpret_cast<const std::byte*>(piece.base + at);
            if (!is_zero_page(page)) {
                std::memcpy(buffer_ + piece.offset + at, page, PAGE_BYTES);
                piece.kept[at / PAGE_BYTES] = true;
            }
        }
        // The memory of a file stays until it is cut out of the file, however it is mapped.
        ::madvise(reinterpret_cast<void*>(piece.base + chunk), end - chunk,
                  piece.file != nullptr ? MADV_REMOVE : MADV_DONTNEED);
    }
}

void MemoryImage::move_back(const Piece& piece) {
    for (std::uint64_t at = 0; at < piece.bytes; at += PAGE_BYTES) {
        if (piece.kept[at / PAGE_BYTES]) {
            std::byte* page = buffer_ + piece.offset + at;
            std::memcpy(reinterpret_cast<void*>(piece.base + at), page, PAGE_BYTES);
        }
        if ((at + PAGE_BYTES) % CHUNK_BYTES == 0) {
            const std::uint64_t chunk = at + PAGE_BYTES - CHUNK_BYTES;
            ::madvise(buffer_ + piece.offset + chunk, CHUNK_BYTES, MADV_DONTNEED);
        }
    }
}

} // namespace cuprum::emulator
