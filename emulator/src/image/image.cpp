// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A fatbin is a 16-byte header (magic, version, size of the header, size of what follows) and a run
// of entries, each a header of 64 bytes or more and a payload:
//
//     +0  kind: 1 PTX, 2 ELF, 8 LTO-IR     +28 sm: 90 for sm_90
//     +4  size of this header, 32 bits     +40 flags, 64 bits: how the payload is compressed
//     +8  size of the payload, 64 bits     +56 size when decompressed, 64 bits
//     +16 size when compressed, 32 bits
//
// All little-endian, as are the hosts that CUDA runs on.

#include "image/image.hpp"

#include "image/formats.hpp"
#include "image/lz4.hpp"

#ifdef CUPRUM_EMULATOR_ZSTD
#include <zstd.h>
#endif

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace cuprum::emulator {

namespace {

constexpr std::string_view WRAPPER_MAGIC = "\xb1\x43\x62\x46";
constexpr std::string_view LTO_IR_MAGIC = "\xed\x43\x4e\x7f";

constexpr std::size_t ENTRY_HEADER_BYTES = 64;
constexpr std::uint16_t ENTRY_PTX = 1;
constexpr std::uint16_t ENTRY_ELF = 2;
constexpr std::uint16_t ENTRY_LTO_IR = 8;
constexpr std::uint64_t FLAG_LZ4 = 0x2000;
constexpr std::uint64_t FLAG_ZSTD = 0x8000;
constexpr std::uint64_t FLAG_ONE_DEVICE = 0x100000; // sm_90a: runs on exactly that device

/// Larger images are refused. Real ones are much smaller.
constexpr std::size_t MAX_IMAGE_BYTES = std::size_t{1} << 32;
constexpr std::size_t MAX_TEXT_BYTES = std::size_t{1} << 30;

/// The wrapper that host compilers put around an embedded fatbin.
struct Wrapper {
    std::uint32_t magic;
    std::uint32_t version;
    const void* data;
    const void* file_name;
};

/// One entry of a fatbin, checked: the payload lies within the image.
struct Entry {
    std::uint16_t kind = 0;
    std::uint32_t sm = 0;
    std::uint64_t flags = 0;
    std::uint64_t decompressed_size = 0;
    Bytes payload;

    [[nodiscard]] bool is_for_one_device() const noexcept { return (flags & FLAG_ONE_DEVICE) != 0; }
};

bool starts_with(const void* data, std::optional<std::size_t> size, std::string_view magic);
ImageResult read_text(const void* data, std::optional<std::size_t> size);
ImageResult read_wrapper(const void* data, std::optional<std::size_t> size,
                         std::uint32_t compute_capability);
ImageResult read_fatbin(const void* data, std::optional<std::size_t> size,
                        std::uint32_t compute_capability);
ImageResult read_elf(const void* data, std::optional<std::size_t> size);
ImageResult refuse(ImageResult result, ImageProblem problem, std::string message);

} // namespace

ImageResult read_image(const void* data, std::optional<std::size_t> size,
                       std::uint32_t compute_capability) {
    if (data == nullptr) {
        return refuse({}, ImageProblem::Malformed, "the image is a null pointer");
    }
    if (starts_with(data, size, WRAPPER_MAGIC)) {
        return read_wrapper(data, size, compute_capability);
    }
    if (starts_with(data, size, FATBIN_MAGIC)) {
        return read_fatbin(data, size, compute_capability);
    }
    if (starts_with(data, size, ELF_MAGIC)) {
        return read_elf(data, size);
    }
    if (starts_with(data, size, LTO_IR_MAGIC)) {
        return refuse({}, ImageProblem::Unsupported,
                      "the image is LTO-IR, which must be linked before it is loaded: use "
                      "nvJitLink with -lto -ptx");
    }
    if (starts_with(data, size, ARCHIVE_MAGIC)) {
        return refuse({}, ImageProblem::Unsupported,
                      "the image is an archive of object files, which must be linked before it is "
                      "loaded: use cuLinkAddData");
    }
    return read_text(data, size);
}

bool can_read_zstd() noexcept {
#ifdef CUPRUM_EMULATOR_ZSTD
    return true;
#else
    return false;
#endif
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

/// Compares byte by byte, so that it never reads beyond the NUL of a short text.
bool starts_with(const void* data, std::optional<std::size_t> size, std::string_view magic) {
    if (size && *size < magic.size()) {
        return false;
    }
    const char* const text = static_cast<const char*>(data);
    for (std::size_t i = 0; i < magic.size(); ++i) {
        if (text[i] != magic[i]) {
            return false;
        }
    }
    return true;
}

ImageResult refuse(ImageResult result, ImageProblem problem, std::string message) {
    result.ptx.reset();
    result.problem = problem;
    result.message = std::move(message);
    return result;
}

/// Explains how to add PTX to an image, for device `sm`, or for any device if it is 0.
std::string how_to_add_ptx(std::uint32_t sm) {
    const std::string arch = "compute_" + (sm == 0 ? std::string("XX") : std::to_string(sm));
    return "the emulated device runs PTX; add it: with nvcc, -gencode arch=" + arch +
           ",code=" + arch +
           "; with Cuprum, compile to \"ptx\", or to \"cubin\" for an emulated device, which keeps "
           "the PTX beside the machine code";
}

std::string machine_code_for(std::uint32_t sm) {
    return "machine code for " + (sm == 0 ? std::string("a GPU") : "sm_" + std::to_string(sm)) +
           ", which a CPU cannot run; " + how_to_add_ptx(sm);
}

// ---- text --------------------------------------------------------------------------------------

ImageResult read_text(const void* data, std::optional<std::size_t> size) {
    ImageResult result;
    const char* const text = static_cast<const char*>(data);
    const std::size_t limit = std::min(size.value_or(MAX_TEXT_BYTES), MAX_TEXT_BYTES);
    const std::size_t length = strnlen(text, limit);
    if (length == MAX_TEXT_BYTES) {
        return refuse(result, ImageProblem::Malformed,
                      "the image is neither a fatbin nor a cubin, and as PTX text it has no end");
    }
    result.size = length;
    if (length == 0) {
        return refuse(result, ImageProblem::Malformed, "the image is empty");
    }
    // The parser decides whether it is PTX, because it can name line and column.
    const auto first = static_cast<unsigned char>(text[0]);
    const bool is_blank = first == ' ' || (first >= '\t' && first <= '\r');
    if (!is_blank && (first < ' ' || first >= 0x7f)) {
        constexpr std::string_view HEX = "0123456789abcdef";
        return refuse(result, ImageProblem::Malformed,
                      std::string("the image is not PTX text, a fatbin or a cubin: it starts with "
                                  "byte 0x") +
                          HEX[first >> 4] + HEX[first & 15]);
    }
    result.kind = ImageKind::Ptx;
    result.ptx.emplace(text, length);
    return result;
}

// ---- ELF ---------------------------------------------------------------------------------------

/// Returns the device that a cubin is for, from its ELF header, or 0 if it is unknown.
std::uint32_t sm_of(Bytes elf) {
    constexpr std::size_t ABI_VERSION_OFFSET = 8;
    constexpr std::size_t FLAGS_OFFSET = 48;
    constexpr unsigned char FIRST_ABI_WITH_SM_IN_SECOND_BYTE = 8;
    const auto flags = load<std::uint32_t>(elf, FLAGS_OFFSET);
    return elf[ABI_VERSION_OFFSET] >= FIRST_ABI_WITH_SM_IN_SECOND_BYTE ? flags >> 8 & 0xff
                                                                       : flags & 0xff;
}

bool is_cubin(Bytes elf) {
    constexpr std::size_t CLASS_OFFSET = 4;
    constexpr std::size_t MACHINE_OFFSET = 18;
    constexpr unsigned char CLASS_64 = 2;
    return elf.size() >= ELF_HEADER_BYTES && elf[CLASS_OFFSET] == CLASS_64 &&
           load<std::uint16_t>(elf, MACHINE_OFFSET) == MACHINE_CUDA;
}

/// Returns the end of the last table of an ELF file, which is the end of the file. Returns 0 on
/// overflow.
std::size_t size_of_elf(Bytes elf) {
    struct Table {
        std::size_t offset, entry_size, count; // where the header holds each
    };

    constexpr Table SEGMENTS{32, 54, 56};
    constexpr Table SECTIONS{40, 58, 60};
    std::size_t size = ELF_HEADER_BYTES;
    for (const Table& table : {SEGMENTS, SECTIONS}) {
        const auto start = load<std::uint64_t>(elf, table.offset);
        const std::uint64_t bytes = std::uint64_t{load<std::uint16_t>(elf, table.entry_size)} *
                                    load<std::uint16_t>(elf, table.count);
        if (start > MAX_IMAGE_BYTES) {
            return 0;
        }
        size = std::max(size, static_cast<std::size_t>(start + bytes));
    }
    return size;
}

ImageResult read_elf(const void* data, std::optional<std::size_t> size) {
    ImageResult result;
    const Bytes elf(static_cast<const unsigned char*>(data), size.value_or(ELF_HEADER_BYTES));
    if (elf.size() < ELF_HEADER_BYTES) {
        return refuse(result, ImageProblem::Malformed,
                      "the image is an ELF file cut off within its header");
    }
    if (!is_cubin(elf)) {
        return refuse(result, ImageProblem::Malformed,
                      "the image is an ELF file, but not for a GPU: neither a host program nor an "
                      "object file can be loaded; cuLinkAddData takes object files");
    }
    result.kind = ImageKind::Cubin;
    result.has_cubin = true;
    result.cubin_sm = sm_of(elf);
    result.size = size ? *size : size_of_elf(elf);
    return refuse(result, ImageProblem::NoPtx,
                  "the image is a cubin: " + machine_code_for(result.cubin_sm));
}

// ---- fatbin ------------------------------------------------------------------------------------

ImageResult read_wrapper(const void* data, std::optional<std::size_t> size,
                         std::uint32_t compute_capability) {
    if (size) {
        // The wrapper holds an address, which is valid only in the program it was linked into.
        return refuse({}, ImageProblem::Malformed,
                      "the image is the wrapper of an embedded fatbin, which cannot be loaded from "
                      "a file: save the fatbin that it points to");
    }
    Wrapper wrapper;
    std::memcpy(&wrapper, data, sizeof(wrapper));
    if (wrapper.data == nullptr || !starts_with(wrapper.data, std::nullopt, FATBIN_MAGIC)) {
        return refuse({}, ImageProblem::Malformed,
                      "the image is the wrapper of an embedded fatbin, but points to none");
    }
    return read_fatbin(wrapper.data, std::nullopt, compute_capability);
}

/// Takes the next entry from `rest`. Returns false if it is malformed.
bool take_entry(Bytes& rest, Entry& entry) {
    if (rest.size() < ENTRY_HEADER_BYTES) {
        return false;
    }
    const auto header_size = load<std::uint32_t>(rest, 4);
    const auto payload_size = load<std::uint64_t>(rest, 8);
    const auto compressed_size = load<std::uint32_t>(rest, 16);
    if (header_size < ENTRY_HEADER_BYTES || header_size > rest.size() ||
        payload_size > rest.size() - header_size) {
        return false;
    }
    entry.kind = load<std::uint16_t>(rest, 0);
    entry.sm = load<std::uint32_t>(rest, 28);
    entry.flags = load<std::uint64_t>(rest, 40);
    entry.decompressed_size = load<std::uint64_t>(rest, 56);
    entry.payload = rest.subspan(header_size, payload_size);
    if ((entry.flags & (FLAG_LZ4 | FLAG_ZSTD)) != 0) {
        // The payload is padded; the compressed data in it is not.
        if (compressed_size > payload_size) {
            return false;
        }
        entry.payload = entry.payload.first(compressed_size);
    }
    rest = rest.subspan(header_size + payload_size);
    return true;
}

/// Returns whether `a` is the better entry for a device that can run both.
bool is_better(const Entry& a, const Entry& b, std::uint32_t compute_capability) {
    // PTX for one device only is the best choice for that device and the worst for others.
    const auto rank = [&](const Entry& entry) {
        const bool is_foreign = entry.is_for_one_device() && entry.sm != compute_capability;
        return std::pair(!is_foreign, std::pair(entry.sm, entry.is_for_one_device()));
    };
    return rank(a) > rank(b);
}

std::optional<std::string> decompress_zstd(Bytes payload, std::size_t size) {
#ifdef CUPRUM_EMULATOR_ZSTD
    // The frame also states the size. Check it before allocating memory.
    if (ZSTD_getFrameContentSize(payload.data(), payload.size()) != size) {
        return std::nullopt;
    }
    std::string out(size, '\0');
    const std::size_t written =
        ZSTD_decompress(out.data(), out.size(), payload.data(), payload.size());
    if (ZSTD_isError(written) != 0 || written != size) {
        return std::nullopt;
    }
    return out;
#else
    (void)payload, (void)size;
    return std::nullopt;
#endif
}

/// Stores the text of a PTX entry in `result`, or the reason why it is unusable.
ImageResult extract(ImageResult result, const Entry& entry) {
    const bool is_lz4 = (entry.flags & FLAG_LZ4) != 0;
    const bool is_zstd = (entry.flags & FLAG_ZSTD) != 0;
    const std::string name = "the PTX for sm_" + std::to_string(entry.sm) + " in the fatbin";
    if (is_zstd && !can_read_zstd()) {
        return refuse(std::move(result), ImageProblem::Unsupported,
                      name + " is compressed with zstd, which this build cannot read: build the "
                             "emulated device with libzstd, or pass --compress-mode=none to nvcc");
    }
    std::optional<std::string> text;
    if (!is_lz4 && !is_zstd) {
        text.emplace(reinterpret_cast<const char*>(entry.payload.data()), entry.payload.size());
    } else if (entry.decompressed_size <= MAX_TEXT_BYTES) {
        text = is_zstd ? decompress_zstd(entry.payload, entry.decompressed_size)
                       : decompress_lz4(entry.payload, entry.decompressed_size);
    }
    if (!text) {
        return refuse(std::move(result), ImageProblem::Malformed,
                      name + " is damaged: it does not decompress to its stated size, " +
                          std::to_string(entry.decompressed_size) + " bytes");
    }
    // It is a C string, followed by padding.
    text->resize(strnlen(text->data(), text->size()));
    result.ptx = std::move(text);
    result.ptx_sm = entry.sm;
    return result;
}

/// Returns "sm_90a" for PTX that stands for machine code of that architecture; else nothing.
std::string_view machine_of(std::string_view ptx) {
    const std::size_t mark = ptx.rfind(MACHINE_CODE_MARK);
    if (mark == std::string_view::npos || !ptx.ends_with('\n')) {
        return {};
    }
    ptx.remove_prefix(mark + MACHINE_CODE_MARK.size());
    return ptx.substr(0, ptx.find('\n'));
}

/// Refuses PTX that stands for machine code of devices other than this one. Machine code runs on
/// devices of its major version, from its minor version on; that of "sm_90a" on 9.0 alone.
ImageResult refuse_other_machine(ImageResult result, std::uint32_t compute_capability) {
    const std::string machine(machine_of(*result.ptx));
    constexpr std::size_t PREFIX = 3; // "sm_"
    std::uint32_t sm = 0;
    if (machine.size() <= PREFIX) {
        return result;
    }
    std::from_chars(machine.data() + PREFIX, machine.data() + machine.size(), sm);
    const bool is_exact = machine.ends_with('a');
    if (is_exact ? sm == compute_capability
                 : sm / 10 == compute_capability / 10 && sm <= compute_capability) {
        return result;
    }
    const std::string version = std::to_string(sm / 10) + "." + std::to_string(sm % 10);
    return refuse(
        std::move(result), ImageProblem::OtherDevice,
        "the image is a cubin for " + machine + ", and the emulated device is sm_" +
            std::to_string(compute_capability) + ": machine code for " + machine +
            " runs on compute capability " + version +
            (is_exact ? " alone" : " and on newer ones of " + std::to_string(sm / 10) + ".x") +
            "; compile for sm_" + std::to_string(compute_capability) + ", or load PTX instead");
}

ImageResult read_fatbin(const void* data, std::optional<std::size_t> size,
                        std::uint32_t compute_capability) {
    ImageResult result;
    result.kind = ImageKind::Fatbin;
    const auto* const start = static_cast<const unsigned char*>(data);
    if (size && *size < FATBIN_HEADER_BYTES) {
        return refuse(result, ImageProblem::Malformed, "the fatbin is cut off within its header");
    }
    const Bytes header(start, FATBIN_HEADER_BYTES);
    const auto header_size = load<std::uint16_t>(header, 6);
    const auto payload_size = load<std::uint64_t>(header, 8);
    const std::size_t available = size.value_or(MAX_IMAGE_BYTES);
    if (header_size < FATBIN_HEADER_BYTES || header_size > available ||
        payload_size > available - header_size) {
        return refuse(result, ImageProblem::Malformed,
                      "the fatbin says that it has " + std::to_string(payload_size) +
                          " bytes after its header, more than " +
                          (size ? "the image holds" : "any image can have"));
    }
    result.size = header_size + payload_size;
    Bytes rest = Bytes(start, result.size).subspan(header_size);
    std::vector<Entry> usable;
    std::uint32_t newer_sm = std::numeric_limits<std::uint32_t>::max();
    bool has_lto_ir = false;
    while (!rest.empty()) {
        Entry entry;
        if (!take_entry(rest, entry)) {
            return refuse(result, ImageProblem::Malformed,
                          "the fatbin is damaged: its entry at byte " +
                              std::to_string(result.size - rest.size()) + " does not fit into it");
        }
        has_lto_ir = has_lto_ir || entry.kind == ENTRY_LTO_IR;
        if (entry.kind == ENTRY_ELF && !result.has_cubin) {
            result.has_cubin = true;
            result.cubin_sm = entry.sm;
        } else if (entry.kind == ENTRY_PTX && entry.sm > compute_capability) {
            newer_sm = std::min(newer_sm, entry.sm);
        } else if (entry.kind == ENTRY_PTX) {
            usable.push_back(entry);
        }
    }
    std::ranges::stable_sort(usable, [&](const Entry& a, const Entry& b) {
        return is_better(a, b, compute_capability);
    });
    std::optional<ImageResult> refused;
    for (const Entry& entry : usable) {
        ImageResult read = extract(result, entry);
        if (read.ptx) {
            read = refuse_other_machine(std::move(read), compute_capability);
        }
        if (read.problem != ImageProblem::OtherDevice) {
            return read;
        }
        refused = refused ? std::move(refused) : std::move(read);
    }
    if (refused) {
        return std::move(*refused);
    }
    if (newer_sm != std::numeric_limits<std::uint32_t>::max()) {
        return refuse(result, ImageProblem::TooNew,
                      "the oldest PTX in the fatbin is for sm_" + std::to_string(newer_sm) +
                          ", and the emulated device is sm_" + std::to_string(compute_capability) +
                          ": compile for that, or raise the device's compute capability");
    }
    if (has_lto_ir && !result.has_cubin) {
        return refuse(
            result, ImageProblem::Unsupported,
            "the fatbin holds only LTO-IR: turn it into PTX with nvJitLink's options -lto "
            "-ptx, or compile to PTX: with nvcc, -gencode arch=compute_XX,code=compute_XX");
    }
    return refuse(result, ImageProblem::NoPtx,
                  result.has_cubin
                      ? "the fatbin holds only " + machine_code_for(result.cubin_sm)
                      : "the fatbin holds neither PTX nor machine code; " + how_to_add_ptx(0));
}

} // namespace

} // namespace cuprum::emulator
