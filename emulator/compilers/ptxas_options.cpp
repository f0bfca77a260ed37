// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "compilers/ptxas_options.hpp"

#include "compilers/emulated_driver.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

namespace cuprum::emulator::compilers {

namespace {

struct Option {
    std::string_view name;       // without dashes
    std::string_view short_name; // without dashes
    bool has_value;
};

// All options of ptxas 12.4 to 13.x. Names and values are NVIDIA's.
constexpr std::array OPTIONS{
    Option{"Ofast-compile", "Ofc", true},
    Option{"allow-expensive-optimizations", "allow-expensive-optimizations", true},
    Option{"compile-as-tools-patch", "astoolspatch", false},
    Option{"compile-only", "c", false},
    Option{"compiler-annotations", "annotate", false},
    Option{"cloning", "cloning", true},
    Option{"def-load-cache", "dlcm", true},
    Option{"def-store-cache", "dscm", true},
    Option{"device-debug", "g", false},
    Option{"device-function-maxrregcount", "func-maxrregcount", true},
    Option{"device-stack-protector", "device-stack-protector", true},
    Option{"disable-optimizer-constants", "disable-optimizer-consts", false},
    Option{"disable-warnings", "w", false},
    Option{"dont-merge-basicblocks", "no-bb-merge", false},
    Option{"entry", "e", true},
    Option{"extensible-whole-program", "ewp", false},
    Option{"fmad", "fmad", true},
    Option{"force-load-cache", "flcm", true},
    Option{"force-store-cache", "fscm", true},
    Option{"g-tensor-memory-access-check", "g-tmem-access-check", false},
    Option{"generate-line-info", "lineinfo", false},
    Option{"gno-tensor-memory-access-check", "gno-tmem-access-check", false},
    Option{"gpu-name", "arch", true},
    Option{"help", "h", false},
    Option{"input-as-string", "ias", true},
    Option{"legacy-bar-warp-wide-behavior", "legacy-bar-warp-wide-behavior", false},
    Option{"list-version", "version-ls", false},
    Option{"machine", "m", true},
    Option{"make-errors-visible-at-exit", "make-errors-visible-at-exit", false},
    Option{"maxntid", "maxntid", true},
    Option{"maxrregcount", "maxrregcount", true},
    Option{"minnctapersm", "minnctapersm", true},
    Option{"opt-level", "O", true},
    Option{"optimize-float-atomics", "opt-fp-atomics", false},
    Option{"options-file", "optf", true},
    Option{"output-file", "o", true},
    Option{"override-directive-values", "override-directive-values", false},
    Option{"position-independent-code", "pic", true},
    Option{"preserve-relocs", "preserve-relocs", false},
    Option{"regAllocOptLevel", "regAllocOptLevel", true},
    Option{"register-usage-level", "regUsageLevel", true},
    Option{"return-at-end", "ret-end", false},
    Option{"sanitize", "sanitize", true},
    Option{"sp-bounds-check", "sp-bounds-check", false},
    Option{"split-compile", "split-compile", true},
    Option{"suppress-async-bulk-multicast-advisory-warning",
           "suppress-async-bulk-multicast-advisory-warning", false},
    Option{"suppress-debug-info", "suppress-debug-info", false},
    Option{"suppress-double-demote-warning", "suppress-double-demote-warning", false},
    Option{"suppress-sparse-mma-advisory-info", "suppress-sparse-mma-advisory-info", false},
    Option{"suppress-stack-size-warning", "suppress-stack-size-warning", false},
    Option{"uumn", "uumn", false},
    Option{"verbose", "v", false},
    Option{"version", "V", false},
    Option{"warn-on-double-precision-use", "warn-double-usage", false},
    Option{"warn-on-local-memory-usage", "warn-lmem-usage", false},
    Option{"warn-on-spills", "warn-spills", false},
    Option{"warning-as-error", "Werror", false},
};

const Option* find_option(std::string_view name) {
    const auto* const found = std::ranges::find_if(
        OPTIONS, [&](const Option& each) { return name == each.name || name == each.short_name; });
    return found != OPTIONS.end() ? found : nullptr;
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
    }
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
        const Option* option = find_option(name);
        if (option == nullptr && name.size() > 1 && !has_value && name[0] == 'O' &&
            std::isdigit(static_cast<unsigned char>(name[1])) != 0) { // -O3
            continue;
        }
        if (option == nullptr) {
            throw UsageError("Unknown option '" + argument.substr(argument.starts_with("--")) +
                             "'");
        }
        if (option->has_value && !has_value) {
            if (left.empty()) {
                throw UsageError("option '" + argument + "' needs a value");
            }
            value = std::move(left.back());
            left.pop_back();
        }
        if (option->name == "options-file") {
            auto more = read_options(value, bytes_left);
            left.insert(left.end(), more.rbegin(), more.rend());
            continue;
        }
        apply(options, option->name, value);
    }
    return options;
}

unsigned PtxasOptions::sm() const {
    return parse_architecture(architecture);
}

} // namespace cuprum::emulator::compilers
