// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "jit/object_cache.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <sys/stat.h>
#include <type_traits>
#include <utility>

namespace cuprum::emulator::jit {

namespace {

/// Change the number when keys or files change their meaning.
constexpr std::string_view MARK = "cuprum compiled kernel 1\n";
constexpr std::uint64_t MAX_FILE_BYTES = std::uint64_t{64} << 20;
constexpr const char* UNFINISHED = "new-"; // how the names of unfinished files begin
constexpr std::time_t STALE_AFTER_S = 3600;

/// Collects values as bytes.
class Writer {
public:
    template <typename T>
        requires std::is_arithmetic_v<T> || std::is_enum_v<T>
    void add(T value) {
        text_.append(reinterpret_cast<const char*>(&value), sizeof value);
    }

    void add(std::string_view bytes) {
        add(bytes.size());
        text_.append(bytes);
    }

    void add(const std::vector<std::uint32_t>& values) {
        add(std::string_view(reinterpret_cast<const char*>(values.data()),
                             values.size() * sizeof(std::uint32_t)));
    }

    [[nodiscard]] std::string take() { return std::move(text_); }

private:
    std::string text_;
};

/// Reads what a Writer has written. Throws std::out_of_range at the end.
class Reader {
public:
    explicit Reader(std::string_view text) : text_(text) {}

    template <typename T>
    [[nodiscard]] T read() {
        const std::string_view bytes = take(sizeof(T));
        T value;
        std::memcpy(&value, bytes.data(), sizeof value);
        return value;
    }

    [[nodiscard]] std::string_view bytes() { return take(read<std::size_t>()); }

    [[nodiscard]] std::vector<std::uint32_t> values() {
        const std::string_view all = bytes();
        std::vector<std::uint32_t> result(all.size() / sizeof(std::uint32_t));
        std::memcpy(result.data(), all.data(), result.size() * sizeof(std::uint32_t));
        return result;
    }

private:
    [[nodiscard]] std::string_view take(std::size_t count) {
        const std::string_view part = text_.substr(at_);
        if (count > part.size()) {
            throw std::out_of_range("the end of a compiled kernel");
        }
        at_ += count;
        return part.substr(0, count);
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

void add_instruction(Writer& key, const bytecode::Instruction& at) {
    key.add(at.guard.bits);
    key.add(at.flags);
    key.add(at.dst_count);
    key.add(at.src_count);
    key.add(at.access_bytes);
    for (const bytecode::Operand& operand : at.dst) {
        key.add(operand.bits);
    }
    for (const bytecode::Operand& operand : at.src) {
        key.add(operand.bits);
    }
    key.add(at.immediate);
    key.add(at.target);
    key.add(at.extra);
    key.add(at.extra_dst_count);
    key.add(at.extra_src_count);
    key.add(at.tag);
    static_assert(std::is_trivially_copyable_v<bytecode::Form>);
    key.add(std::string_view(reinterpret_cast<const char*>(&at.form), sizeof at.form));
}

std::string text_of(const Object& object) {
    Writer text;
    text.add(object.lanes);
    text.add(object.site_count);
    text.add(object.flushes);
    text.add(object.entries.size());
    for (const Entry& entry : object.entries) {
        text.add(entry.pc);
        text.add(entry.waiting);
        text.add(entry.linear_slots);
    }
    text.add(object.accesses.size());
    for (const AccessInfo& access : object.accesses) {
        text.add(access.pc);
        text.add(access.site);
        text.add(access.unit_shift);
        text.add(access.span);
        text.add(access.is_write);
    }
    text.add(
        std::string_view(reinterpret_cast<const char*>(object.code.data()), object.code.size()));
    return text.take();
}

Object object_of(std::string_view text) {
    Reader reader(text);
    Object object;
    object.lanes = reader.read<std::uint32_t>();
    object.site_count = reader.read<std::uint32_t>();
    object.flushes = reader.read<bool>();
    const auto entry_count = reader.read<std::size_t>();
    for (std::size_t i = 0; i < entry_count; ++i) {
        Entry& entry = object.entries.emplace_back();
        entry.pc = reader.read<std::uint32_t>();
        entry.waiting = reader.values();
        entry.linear_slots = reader.values();
    }
    const auto access_count = reader.read<std::size_t>();
    for (std::size_t i = 0; i < access_count; ++i) {
        AccessInfo& access = object.accesses.emplace_back();
        access.pc = reader.read<std::uint32_t>();
        access.site = reader.read<std::uint32_t>();
        access.unit_shift = reader.read<std::uint32_t>();
        access.span = reader.read<std::uint32_t>();
        access.is_write = reader.read<std::uint32_t>();
    }
    const std::string_view code = reader.bytes();
    object.code.resize(code.size());
    std::memcpy(object.code.data(), code.data(), code.size());
    return object;
}

std::string_view view_of(const Digest& digest) {
    return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

/// A descriptor that is closed with this object.
class File {
public:
    explicit File(int descriptor) noexcept : descriptor_(descriptor) {}

    File(const File&) = delete;
    File& operator=(const File&) = delete;

    ~File() {
        if (descriptor_ >= 0) {
            ::close(descriptor_);
        }
    }

    [[nodiscard]] int get() const noexcept { return descriptor_; }

private:
    int descriptor_;
};

/// Returns the contents of a file of this user that nobody else can write; nothing if there is
/// none, and why it cannot be used in `problem`.
std::optional<std::string> read_file(int folder, const std::string& name, std::string& problem) {
    const File file(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    struct stat status{};
    if (file.get() < 0 || ::fstat(file.get(), &status) != 0) {
        problem = errno == ENOENT ? "" : std::strerror(errno);
        return std::nullopt;
    }
    if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid() ||
        (status.st_mode & (S_IWGRP | S_IWOTH)) != 0 || status.st_nlink != 1) {
        problem = "it is not a file that only this user can write";
        return std::nullopt;
    }
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (size > MAX_FILE_BYTES) {
        problem = "it is too large";
        return std::nullopt;
    }
    std::string text(size, '\0');
    for (std::size_t done = 0; done < text.size();) {
        const ssize_t count = ::read(file.get(), text.data() + done, text.size() - done);
        if (count <= 0) {
            problem = "it cannot be read";
            return std::nullopt;
        }
        done += static_cast<std::size_t>(count);
    }
    (void)::futimens(file.get(), nullptr); // it is used: make_room() removes others first
    return text;
}

} // namespace

std::string key_of(const Request& request, const std::string& build) {
    const bytecode::Kernel& kernel = *request.kernel;
    Writer key;
    key.add(build);
    key.add(PLUGIN_LAYOUT);
    key.add(std::string_view(request.level));
    key.add(request.is_thorough);
    key.add(request.shape.lanes);
    key.add(request.shape.has_whole_rows);
    key.add(request.shape.has_one_row);
    key.add(request.shape.has_small_grid);
    key.add(std::string_view(kernel.name));
    key.add(kernel.code.size());
    for (const bytecode::Instruction& at : kernel.code) {
        add_instruction(key, at);
    }
    key.add(kernel.operands.size());
    for (const bytecode::Operand& operand : kernel.operands) {
        key.add(operand.bits);
    }
    key.add(std::string_view(reinterpret_cast<const char*>(kernel.constant_bank.get()),
                             kernel.constant_bank == nullptr ? 0 : kernel.constant_bytes));
    key.add(kernel.symbol_slots.size());
    for (const bytecode::SymbolSlot& slot : kernel.symbol_slots) {
        key.add(slot.offset);
        key.add(slot.width);
        key.add(slot.symbol);
        key.add(slot.addend);
    }
    key.add(kernel.branch_targets);
    key.add(kernel.linear_slots);
    for (const auto* const specials :
         {&kernel.launch_specials, &kernel.block_specials, &kernel.warp_specials}) {
        key.add(specials->size());
        for (const bytecode::SpecialSlot& slot : *specials) {
            key.add(slot.special);
            key.add(slot.offset);
            key.add(slot.width);
            key.add(slot.is_linear);
        }
    }
    key.add(kernel.parameter_slots.size());
    for (const bytecode::ParameterSlot& slot : kernel.parameter_slots) {
        key.add(slot.parameter_offset);
        key.add(slot.size_bytes);
        key.add(slot.is_signed);
        key.add(slot.offset);
        key.add(slot.width);
    }
    key.add(kernel.slot_ranges.size());
    for (const bytecode::SlotRange& range : kernel.slot_ranges) {
        key.add(range.begin);
        key.add(range.end);
        key.add(range.width);
        key.add(range.is_linear);
    }
    for (const std::uint32_t number : {kernel.frame_bytes,
                                       kernel.launch_bytes,
                                       kernel.block_bytes,
                                       kernel.first_effect,
                                       kernel.skipped_bytes,
                                       kernel.static_shared_bytes,
                                       kernel.hidden_shared_bytes,
                                       kernel.parameter_bytes,
                                       kernel.parameter_copy_bytes,
                                       kernel.parameter_copy_offset,
                                       kernel.reserved_shared_bytes,
                                       kernel.reserved_shared_offset,
                                       kernel.local_bytes,
                                       kernel.constant_memory_bytes,
                                       kernel.target_sm,
                                       kernel.max_frames,
                                       kernel.return_slot,
                                       kernel.required_threads[0],
                                       kernel.required_threads[1],
                                       kernel.required_threads[2],
                                       kernel.max_threads[0],
                                       kernel.max_threads[1],
                                       kernel.max_threads[2]}) {
        key.add(number);
    }
    std::vector<std::pair<std::uint64_t, std::uint32_t>> functions(kernel.functions.begin(),
                                                                   kernel.functions.end());
    std::ranges::sort(functions);
    key.add(functions.size());
    for (const auto& [address, first] : functions) {
        key.add(address);
        key.add(first);
    }
    return key.take();
}

ObjectCache::ObjectCache(std::string folder, Digest (*digest)(std::string_view bytes),
                         std::uint64_t max_bytes)
    : folder_(std::move(folder), "CUPRUM_EMULATOR_JIT_CACHE"), digest_(digest),
      max_bytes_(max_bytes) {}

std::string ObjectCache::name_of(const std::string& key) const {
    static constexpr std::string_view digits = "0123456789abcdef";
    std::string name;
    for (const std::uint8_t byte : digest_(key)) {
        name += digits[byte >> 4];
        name += digits[byte & 15];
    }
    return name;
}

std::optional<Object> ObjectCache::load(const std::string& key, std::string& note) {
    const std::string name = name_of(key);
    std::string why;
    const std::optional<std::string> file = read_file(folder_.descriptor(), name, why);
    if (file.has_value()) {
        const std::size_t header = MARK.size() + sizeof(Digest);
        const std::string_view text = *file;
        if (text.size() >= header && text.starts_with(MARK)) {
            const std::string_view contents = text.substr(header);
            const Digest wanted = digest_(std::string(key).append(contents));
            if (text.substr(MARK.size(), sizeof(Digest)) == view_of(wanted)) {
                try {
                    return object_of(contents);
                } catch (const std::out_of_range&) { // NOLINT(bugprone-empty-catch)
                }
            }
        }
        why = "it is damaged";
    }
    if (!why.empty()) {
        note = folder_.path() + "/" + name + " is not used: " + why;
        remove(key);
    }
    return std::nullopt;
}

std::string ObjectCache::store(const std::string& key, const Object& object) {
    const std::string contents = text_of(object);
    std::string text(MARK);
    text += view_of(digest_(std::string(key).append(contents)));
    text += contents;
    if (text.size() > std::min(MAX_FILE_BYTES, max_bytes_)) {
        return {};
    }
    if (std::string problem = write(name_of(key), text); !problem.empty()) {
        return folder_.path() + " cannot be written: " + problem;
    }
    const std::lock_guard lock(mutex_);
    if (used_bytes_.has_value()) {
        *used_bytes_ += text.size();
    }
    if (!used_bytes_.has_value() || *used_bytes_ > max_bytes_) {
        make_room();
    }
    return {};
}

std::string ObjectCache::write(const std::string& name, const std::string& text) const {
    static std::atomic<std::uint64_t> count{0};
    std::timespec now{};
    (void)::clock_gettime(CLOCK_REALTIME, &now);
    const std::string unfinished = UNFINISHED + std::to_string(::getpid()) + "-" +
                                   std::to_string(now.tv_nsec) + "-" + std::to_string(++count);
    const int folder = folder_.descriptor();
    std::string problem;
    {
        const File file(::openat(folder, unfinished.c_str(),
                                 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                                 S_IRUSR | S_IWUSR));
        if (file.get() < 0) {
            return std::strerror(errno);
        }
        for (std::size_t done = 0; done < text.size() && problem.empty();) {
            const ssize_t bytes = ::write(file.get(), text.data() + done, text.size() - done);
            problem = bytes <= 0 ? std::strerror(errno) : "";
            done += bytes <= 0 ? 0 : static_cast<std::size_t>(bytes);
        }
    }
    if (problem.empty() && ::renameat(folder, unfinished.c_str(), folder, name.c_str()) != 0) {
        problem = std::strerror(errno);
    }
    if (!problem.empty()) {
        (void)::unlinkat(folder, unfinished.c_str(), 0);
    }
    return problem;
}

void ObjectCache::remove(const std::string& key) noexcept {
    (void)::unlinkat(folder_.descriptor(), name_of(key).c_str(), 0);
}

/// Measures the folder, and removes the files that were not used for longest if it is too large.
void ObjectCache::make_room() {
    struct Entry {
        std::string name;
        std::time_t used;
        std::uint64_t bytes;
    };

    DIR* const listing =
        ::fdopendir(::openat(folder_.descriptor(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (listing == nullptr) {
        return;
    }
    std::vector<Entry> entries;
    std::uint64_t bytes = 0;
    const std::time_t now = std::time(nullptr);
    while (const dirent* const each = ::readdir(listing)) {
        struct stat status{};
        if (::fstatat(folder_.descriptor(), each->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(status.st_mode)) {
            continue;
        }
        if (std::string_view(each->d_name).starts_with(UNFINISHED)) {
            if (now - status.st_mtime > STALE_AFTER_S) { // of a process that has died
                (void)::unlinkat(folder_.descriptor(), each->d_name, 0);
            }
            continue;
        }
        entries.push_back(
            {each->d_name, status.st_mtime, static_cast<std::uint64_t>(status.st_size)});
        bytes += entries.back().bytes;
    }
    ::closedir(listing);
    if (bytes > max_bytes_) {
        std::ranges::sort(entries, {}, &Entry::used);
        for (const Entry& entry : entries) {
            if (bytes <= max_bytes_ / 4 * 3) {
                break;
            }
            (void)::unlinkat(folder_.descriptor(), entry.name.c_str(), 0);
            bytes -= entry.bytes;
        }
    }
    used_bytes_ = bytes;
}

std::string object_cache_folder() {
    const auto variable = [](const char* name) {
        const char* const text = ::secure_getenv(name);
        return std::string(text == nullptr ? "" : text);
    };
    if (std::string chosen = variable("CUPRUM_EMULATOR_JIT_CACHE"); !chosen.empty()) {
        return chosen == "off" ? "" : chosen;
    }
    constexpr const char* name = "/cuprum/compiled-kernels";
    if (const std::string caches = variable("XDG_CACHE_HOME"); caches.starts_with('/')) {
        return caches + name;
    }
    const std::string home = variable("HOME");
    return home.starts_with('/') ? home + "/.cache" + name : "";
}

} // namespace cuprum::emulator::jit
