// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "compilers/ptxas_options.hpp"

#include "compilers/emulated_driver.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <sstream>
#include <string_view>

namespace cuprum::emulator::compilers {

namespace {

/// What the value of an option can be.
enum class Value : std::uint8_t {
    None, // the option has no value
    Text, // checked where it is used, if at all
    Number,
    Boolean,
    Registers,
    FastCompile,
    LoadCache,
    StoreCache,
    Sanitizer,
};

struct Option {
    std::string_view name;       // without dashes
    std::string_view short_name; // without dashes
    Value value;
};

// All options of ptxas 12.4 to 13.x. Names and values are NVIDIA's.
constexpr std::array OPTIONS{
    Option{"Ofast-compile", "Ofc", Value::FastCompile},
    Option{"allow-expensive-optimizations", "allow-expensive-optimizations", Value::Boolean},
    Option{"compile-as-tools-patch", "astoolspatch", Value::None},
    Option{"compile-only", "c", Value::None},
    Option{"compiler-annotations", "annotate", Value::None},
    Option{"cloning", "cloning", Value::Text},
    Option{"def-load-cache", "dlcm", Value::LoadCache},
    Option{"def-store-cache", "dscm", Value::StoreCache},
    Option{"device-debug", "g", Value::None},
    Option{"device-function-maxrregcount", "func-maxrregcount", Value::Registers},
    Option{"device-stack-protector", "device-stack-protector", Value::Boolean},
    Option{"disable-optimizer-constants", "disable-optimizer-consts", Value::None},
    Option{"disable-warnings", "w", Value::None},
    Option{"dont-merge-basicblocks", "no-bb-merge", Value::None},
    Option{"entry", "e", Value::Text},
    Option{"extensible-whole-program", "ewp", Value::None},
    Option{"fmad", "fmad", Value::Boolean},
    Option{"force-load-cache", "flcm", Value::LoadCache},
    Option{"force-store-cache", "fscm", Value::StoreCache},
    Option{"g-tensor-memory-access-check", "g-tmem-access-check", Value::None},
    Option{"generate-line-info", "lineinfo", Value::None},
    Option{"gno-tensor-memory-access-check", "gno-tmem-access-check", Value::None},
    Option{"gpu-name", "arch", Value::Text},
    Option{"help", "h", Value::None},
    Option{"input-as-string", "ias", Value::Text},
    Option{"legacy-bar-warp-wide-behavior", "legacy-bar-warp-wide-behavior", Value::None},
    Option{"list-version", "version-ls", Value::None},
    Option{"machine", "m", Value::Text},
    Option{"make-errors-visible-at-exit", "make-errors-visible-at-exit", Value::None},
    Option{"maxntid", "maxntid", Value::Text},
    Option{"maxrregcount", "maxrregcount", Value::Registers},
    Option{"minnctapersm", "minnctapersm", Value::Number},
    Option{"opt-level", "O", Value::Number},
    Option{"optimize-float-atomics", "opt-fp-atomics", Value::None},
    Option{"options-file", "optf", Value::Text},
    Option{"output-file", "o", Value::Text},
    Option{"override-directive-values", "override-directive-values", Value::None},
    Option{"position-independent-code", "pic", Value::Boolean},
    Option{"preserve-relocs", "preserve-relocs", Value::None},
    Option{"regAllocOptLevel", "regAllocOptLevel", Value::Number},
    Option{"register-usage-level", "regUsageLevel", Value::Number},
    Option{"return-at-end", "ret-end", Value::None},
    Option{"sanitize", "sanitize", Value::Sanitizer},
    Option{"sp-bounds-check", "sp-bounds-check", Value::None},
    Option{"split-compile", "split-compile", Value::Number},
    Option{"suppress-async-bulk-multicast-advisory-warning",
           "suppress-async-bulk-multicast-advisory-warning", Value::None},
    Option{"suppress-debug-info", "suppress-debug-info", Value::None},
    Option{"suppress-double-demote-warning", "suppress-double-demote-warning", Value::None},
    Option{"suppress-sparse-mma-advisory-info", "suppress-sparse-mma-advisory-info", Value::None},
    Option{"suppress-stack-size-warning", "suppress-stack-size-warning", Value::None},
    Option{"uumn", "uumn", Value::None},
    Option{"verbose", "v", Value::None},
    Option{"version", "V", Value::None},
    Option{"warn-on-double-precision-use", "warn-double-usage", Value::None},
    Option{"warn-on-local-memory-usage", "warn-lmem-usage", Value::None},
    Option{"warn-on-spills", "warn-spills", Value::None},
    Option{"warning-as-error", "Werror", Value::None},
};

const Option* find_option(std::string_view name) {
    const auto* const found = std::ranges::find_if(
        OPTIONS, [&](const Option& each) { return name == each.name || name == each.short_name; });
    return found != OPTIONS.end() ? found : nullptr;
}

bool is_number(std::string_view text) {
    int number = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && rest == end;
}

/// Returns why NVIDIA's program refuses a value, also of an option that has no effect here. Empty
/// if it does not.
std::string complaint_about(const Option& option, const std::string& value) {
    const auto is_one_of = [&](std::initializer_list<std::string_view> words) {
        return std::ranges::find(words, value) != words.end();
    };
    const std::string name(option.name);
    const std::string undefined = "Value '" + value + "' is not defined for option '" + name + "'";
    switch (option.value) {
    case Value::None:
    case Value::Text:
        break;
    case Value::Number:
        return is_number(value) ? "" : "'" + value + "': expected a number";
    case Value::Boolean:
        return is_one_of({"true", "false"}) ? "" : "'" + value + "': expected true or false";
    case Value::Registers:
        return is_number(value) || is_one_of({"archmax", "archmin"})
                   ? ""
                   : "Invalid value '" + value + "' for option '" + name + "'";
    case Value::FastCompile:
        return is_one_of({"0", "min", "mid", "max"}) ? "" : undefined;
    case Value::LoadCache:
        return is_one_of({"ca", "cg", "cs", "cv", "lu"}) ? "" : undefined;
    case Value::StoreCache:
        return is_one_of({"cg", "cs", "wb", "wt"}) ? "" : undefined;
    case Value::Sanitizer:
        return is_one_of({"memcheck", "threadsteer"}) ? "" : undefined;
    }
    return {};
}

std::vector<std::string> split(const std::string& list) {
    std::vector<std::string> items;
    std::istringstream stream(list);
    for (std::string item; std::getline(stream, item, ',');) {
        items.push_back(item);
    }
    return items;
}

void check_architecture(const std::string& name) {
    if (parse_architecture(name) == 0) {
        throw UsageError("Value '" + name + "' is not defined for option 'gpu-name'");
    }
}

/// What files of options may hold, all together. One may name itself.
constexpr std::size_t MOST_OPTION_BYTES = std::size_t{1} << 20;

/// Reads the arguments in a file of options; they are separated by white space. Takes its size from
/// the bytes that are left for such files.
std::vector<std::string> read_options(const std::string& path, std::size_t& bytes_left) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        throw UsageError("Could not open input file '" + path + "'");
    }
    std::string text(bytes_left, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (text.size() >= bytes_left) {
        throw UsageError("options files hold more than " + std::to_string(MOST_OPTION_BYTES) +
                         " bytes; does '" + path + "' name itself?");
    }
    // An empty file counts too, so that no chain of files is endless.
    bytes_left -= text.size() + 1;
    std::istringstream words(text);
    return {std::istream_iterator<std::string>(words), {}};
}

void apply(PtxasOptions& options, std::string_view name, const std::string& value) {
    if (name == "gpu-name") {
        check_architecture(value);
        options.architecture = value;
    } else if (name == "output-file") {
        options.output = value;
    } else if (name == "input-as-string") {
        options.texts.push_back(value);
    } else if (name == "entry") {
        for (std::string& entry : split(value)) {
            options.entries.push_back(std::move(entry));
        }
    } else if (name == "machine" && value != "64") {
        throw UsageError("Value '" + value + "' is not defined for option 'machine'");
    } else if (name == "maxrregcount") {
        std::from_chars(value.data(), value.data() + value.size(), options.max_registers);
    } else if (name == "opt-level") {
        options.is_optimized = value != "0";
    } else if (name == "maxntid" || name == "minnctapersm" || name == "sanitize" ||
               name == "override-directive-values") {
        options.without_effect.emplace_back(name);
    }
    options.is_debug |= name == "device-debug";
    options.has_no_warnings |= name == "disable-warnings";
    options.is_relocatable |= name == "compile-only";
    options.is_verbose |= name == "verbose";
    options.asks_for_help |= name == "help";
    options.asks_for_version |= name == "version";
    options.asks_for_ptx_versions |= name == "list-version";
}

} // namespace

PtxasOptions PtxasOptions::parse(const std::vector<std::string>& arguments) {
    PtxasOptions options;
    std::vector<std::string> left(arguments.rbegin(), arguments.rend()); // the next one is last
    std::size_t bytes_left = MOST_OPTION_BYTES;
    while (!left.empty()) {
        const std::string argument = std::move(left.back());
        left.pop_back();
        if (argument.size() < 2 || argument[0] != '-') {
            options.files.push_back(argument);
            continue;
        }
        std::string name = argument.substr(argument.starts_with("--") ? 2 : 1);
        std::string value;
        bool has_value = false;
        if (const std::size_t equals = name.find('='); equals != std::string::npos) {
            value = name.substr(equals + 1);
            name.resize(equals);
            has_value = true;
        }
        if (name.starts_with('O') && !has_value && find_option(name) == nullptr) { // -O3
            value = name.substr(1);
            name.resize(1);
            has_value = true;
        } else if (name == "O" && !has_value) { // no value follows, unlike after --opt-level
            continue;
        }
        const Option* const option = find_option(name);
        if (option == nullptr) {
            throw UsageError("Unknown option '" + argument.substr(argument.starts_with("--")) +
                             "'");
        }
        if (option->value == Value::None && has_value) {
            throw UsageError("no argument expected after '" +
                             argument.substr(0, argument.find('=')) + "'");
        }
        if (option->value != Value::None && !has_value) {
            if (left.empty()) {
                throw UsageError("option '" + argument + "' needs a value");
            }
            value = std::move(left.back());
            left.pop_back();
        }
        if (const std::string complaint = complaint_about(*option, value); !complaint.empty()) {
            throw UsageError(complaint);
        }
        if (option->name == "options-file") {
            auto more = read_options(value, bytes_left);
            left.insert(left.end(), more.rbegin(), more.rend());
            continue;
        }
        apply(options, option->name, value);
    }
    if (options.is_debug && options.is_optimized) {
        throw UsageError("Optimized debugging not supported");
    }
    return options;
}

unsigned PtxasOptions::sm() const {
    return parse_architecture(architecture);
}

} // namespace cuprum::emulator::compilers
