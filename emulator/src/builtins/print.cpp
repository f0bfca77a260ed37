// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// printf() in kernels.
//
// The compiler has packed the arguments into local memory, each at its natural alignment: 4 bytes
// for int and smaller, 8 for long, pointers and double. This file splits the format into
// conversions. The C library formats each one, with a length modifier that fits the host.

#include "builtins/builtins.hpp"
#include "builtins/memory.hpp"
#include "builtins/output.hpp"

#include <locale.h>

#include <bit>
#include <cstdio>
#include <cstring>
#include <sstream>

namespace cuprum::emulator::builtins {

using bytecode::Instruction;

namespace {

/// Larger widths and precisions are clamped: a kernel must not exhaust the host's memory.
constexpr int MAX_WIDTH = 4096;

/// The formatting of one call by one lane.
class Formatter {
public:
    Formatter(const WarpContext& warp, std::uint32_t lane, std::uint64_t arguments)
        : warp_(warp), lane_(lane), start_(arguments) {}

    /// Returns false if memory cannot be read; `bad_address` holds where.
    [[nodiscard]] bool run(std::string_view format);

    [[nodiscard]] const std::string& text() const { return text_; }

    [[nodiscard]] std::uint32_t argument_count() const { return count_; }

    std::uint64_t bad_address = 0;

private:
    bool convert(std::string_view& format);
    bool read_number(std::string_view& format, std::string& spec);
    bool read_argument(std::uint32_t bytes, std::uint64_t& value);
    template <typename Value>
    void append(const std::string& spec, Value value);

    const WarpContext& warp_;
    std::uint32_t lane_;
    std::uint64_t start_;
    std::uint64_t offset_ = 0;
    std::uint32_t count_ = 0;
    std::string text_;
};

bool is_one_of(char letter, std::string_view letters) {
    return letters.find(letter) != std::string_view::npos;
}

} // namespace

const Instruction* print(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    std::string all;
    for (; mask != 0; mask &= mask - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
        const std::uint64_t format_address = long_of(warp, at->src[0], lane);
        if (format_address == 0) {
            store_word(warp, at->dst[0], lane, ~0u); // as CUDA defines it
            continue;
        }
        Formatter formatter(warp, lane, long_of(warp, at->src[1], lane));
        const auto format = read_string(warp, lane, format_address, formatter.bad_address);
        if (!format || !formatter.run(*format)) {
            write_output(all);
            std::ostringstream detail;
            detail << "printf reads its format or an argument at 0x" << std::hex
                   << formatter.bad_address << ", which is not memory of this thread";
            return raise_fault(warp, at, FaultKind::IllegalAddress, lane, detail.str());
        }
        all += formatter.text();
        store_word(warp, at->dst[0], lane, formatter.argument_count());
    }
    write_output(all);
    return at + 1;
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

bool Formatter::run(std::string_view format) {
    while (!format.empty()) {
        const std::size_t percent = format.find('%');
        text_ += format.substr(0, percent);
        if (percent == std::string_view::npos) {
            break;
        }
        format.remove_prefix(percent + 1);
        if (!convert(format)) {
            return false;
        }
    }
    return true;
}

/// Formats one conversion, whose percent sign is already consumed, and moves `format` past it.
bool Formatter::convert(std::string_view& format) {
    const std::string_view whole = format;
    std::string spec = "%";
    while (!format.empty() && is_one_of(format.front(), "-+ #0")) {
        spec += format.front();
        format.remove_prefix(1);
    }
    if (!read_number(format, spec)) {
        return false;
    }
    if (!format.empty() && format.front() == '.') {
        spec += '.';
        format.remove_prefix(1);
        if (!read_number(format, spec)) {
            return false;
        }
    }
    std::string length;
    while (!format.empty() && is_one_of(format.front(), "hlLqjzt")) {
        length += format.front();
        format.remove_prefix(1);
    }
    if (format.empty()) {
        text_ += '%';
        text_ += whole; // the format ends inside a conversion: print it unchanged
        return true;
    }
    const char kind = format.front();
    format.remove_prefix(1);
    std::uint64_t value = 0;
    if (kind == '%') {
        text_ += '%';
    } else if (is_one_of(kind, "diouxX")) {
        const bool is_long = !length.empty() && length.front() != 'h';
        if (!read_argument(is_long ? 8 : 4, value)) {
            return false;
        }
        if (is_long) {
            append(spec + "ll" + kind, static_cast<long long>(value));
        } else {
            append(spec + length + kind, static_cast<int>(value));
        }
    } else if (is_one_of(kind, "fFeEgGaA")) {
        if (!read_argument(8, value)) {
            return false;
        }
        append(spec + kind, std::bit_cast<double>(value));
    } else if (kind == 'c') {
        if (!read_argument(4, value)) {
            return false;
        }
        append(spec + kind, static_cast<int>(value));
    } else if (kind == 'p') {
        if (!read_argument(8, value)) {
            return false;
        }
        append(spec + kind, reinterpret_cast<void*>(value));
    } else if (kind == 's') {
        if (!read_argument(8, value)) {
            return false;
        }
        if (value == 0) {
            append(spec + kind, "(null)");
        } else if (const auto string = read_string(warp_, lane_, value, bad_address)) {
            append(spec + kind, string->c_str());
        } else {
            return false;
        }
    } else if (kind == 'n') {
        return read_argument(8, value); // a device stores nothing for %n
    } else {
        text_ += '%';
        text_ += whole.substr(0, whole.size() - format.size());
    }
    return true;
}

/// Reads a width or precision, which may come from an argument.
bool Formatter::read_number(std::string_view& format, std::string& spec) {
    if (!format.empty() && format.front() == '*') {
        format.remove_prefix(1);
        std::uint64_t value = 0;
        if (!read_argument(4, value)) {
            return false;
        }
        const int number = static_cast<int>(value);
        if (number < 0 && spec.back() == '.') {
            spec.pop_back(); // treat it as missing
        } else {
            spec += std::to_string(number < -MAX_WIDTH  ? -MAX_WIDTH
                                   : number > MAX_WIDTH ? MAX_WIDTH
                                                        : number);
        }
        return true;
    }
    int number = 0;
    bool has_digits = false;
    while (!format.empty() && format.front() >= '0' && format.front() <= '9') {
        number = number > MAX_WIDTH ? number : number * 10 + (format.front() - '0');
        has_digits = true;
        format.remove_prefix(1);
    }
    if (has_digits) {
        spec += std::to_string(number > MAX_WIDTH ? MAX_WIDTH : number);
    }
    return true;
}

bool Formatter::read_argument(std::uint32_t bytes, std::uint64_t& value) {
    offset_ = (offset_ + bytes - 1) / bytes * bytes;
    const std::byte* at = locate(warp_, lane_, start_ + offset_, bytes);
    if (at == nullptr) {
        bad_address = start_ + offset_;
        return false;
    }
    value = 0;
    std::memcpy(&value, at, bytes);
    offset_ += bytes;
    ++count_;
    return true;
}

/// A scope in which this thread formats numbers as in C, whatever language the program uses.
class LocaleOfC {
public:
    [[nodiscard]] LocaleOfC() : before_(::uselocale(of_c())) {}

    ~LocaleOfC() { ::uselocale(before_); }

    LocaleOfC(const LocaleOfC&) = delete;
    LocaleOfC& operator=(const LocaleOfC&) = delete;

private:
    static locale_t of_c() {
        // If there is no memory for it, this is null, and uselocale() changes nothing.
        static const locale_t LOCALE = ::newlocale(LC_ALL_MASK, "C", nullptr);
        return LOCALE;
    }

    locale_t before_;
};

template <typename Value>
void Formatter::append(const std::string& spec, Value value) {
    const LocaleOfC locale;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" // composed above, one conversion
#pragma GCC diagnostic ignored "-Wformat-security"
    const int length = std::snprintf(nullptr, 0, spec.c_str(), value);
    if (length <= 0) {
        return;
    }
    const std::size_t before = text_.size();
    text_.resize(before + static_cast<std::size_t>(length) + 1);
    (void)std::snprintf(text_.data() + before, static_cast<std::size_t>(length) + 1, spec.c_str(),
                        value);
#pragma GCC diagnostic pop
    text_.pop_back();
}

} // namespace

} // namespace cuprum::emulator::builtins
