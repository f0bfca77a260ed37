// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/cache/key.hpp"

#include "device/device_kind.hpp"
#include "program/cache/dependencies.hpp"
#include "program/cache/digest.hpp"
#include "program/cache/toolchain.hpp"
#include "program/nvvm/libdevice.hpp"
#include "program/source/include_directives.hpp"
#include "program/source/includes.hpp"

#include <cuprum/error.hpp>
#include <cuprum/program.hpp>
#include <cuprum/program_cache.hpp>

#include <algorithm>
#include <stdexcept>

namespace cuprum {

namespace {

// Change it when the meaning of a key's parts or of the cached bytes changes, so that older files
// are not read as new ones.
constexpr const char* SCHEMA = "cuprum program cache 6";

[[nodiscard]] std::string libdevice_digest();
[[nodiscard]] std::string_view name_of(std::string_view option);
[[nodiscard]] bool reads_files(std::string_view option);

} // namespace

std::string make_program_cache_key(const ProgramCacheKeyParts& parts) {
    return detail::make_key(parts, detail::SourceFacts(parts.code),
                            detail::toolchain_of(parts.language));
}

detail::SourceFacts::SourceFacts(std::string_view code)
    : digest(sha256(code)), may_read_files(may_include(code)) {}

std::string detail::make_key(const ProgramCacheKeyParts& parts, const SourceFacts& facts,
                             std::string_view toolchain) {
    Sha256 hash;
    hash.add_field(SCHEMA);
    hash.add_field(toolchain);
    hash.add_field(to_string(parts.language));
    hash.add_field(to_string(parts.target));
    // A cubin for an emulated device also holds its PTX.
    const bool is_fat = parts.target == CodeType::Cubin && driver::is_device_emulated();
    hash.add_field(is_fat ? "fat" : "plain");
    hash.add_field(facts.digest);
    hash.add_field(parts.name);
    const auto add_all = [&hash](const char* label, const auto& texts, const auto& add) {
        hash.add_field(label);
        hash.add_field(std::to_string(texts.size()));
        for (const auto& text : texts) {
            add(text);
        }
    };
    const auto add_text = [&hash](const std::string& text) { hash.add_field(text); };
    const auto add_pair = [&hash](const std::pair<std::string, std::string>& pair) {
        hash.add_field(pair.first);
        hash.add_field(pair.second);
    };
    add_all("options", parts.compiler_options, add_text);
    std::vector<std::string> names(parts.name_expressions.begin(), parts.name_expressions.end());
    std::sort(names.begin(), names.end());
    add_all("names", names, add_text);
    add_all("sources", parts.extra_sources, add_pair);
    add_all("headers", parts.headers, add_pair);
    hash.add_field(parts.uses_libdevice ? libdevice_digest() : "");
    hash.add_field(parts.uses_default_include_path ? "" : "no default headers");
    const bool has_includes =
        parts.language == SourceType::Cxx &&
        (facts.may_read_files || !parts.headers.empty() || !parts.included_files.empty());
    hash.add_field(has_includes ? default_headers_fingerprint() : "");
    hash.add_field(parts.included_files);
    hash.add_field(parts.extra_digest.has_value() ? "digest" : "");
    hash.add_field(parts.extra_digest.value_or(std::string_view()));
    return hash.finish();
}

void check_cacheable(SourceType language, const ProgramOptions& options, bool has_extra_digest) {
    const auto reject = [has_extra_digest](const std::string& what) {
        if (!has_extra_digest) {
            throw std::invalid_argument(what + ", whose contents the cache key does not cover; "
                                               "pass extra_digest, a digest of those contents");
        }
    };
    for (const std::string& option : options.ptxas_options) {
        if (reads_files(option)) {
            reject("ProgramOptions ptxas_options has \"" + option + "\", which names a file");
        }
    }
    if (language != SourceType::Cxx) {
        return; // the options below are for NVRTC. Linkers write to their logs only.
    }
    const auto reject_output = [](const std::string& what) {
        throw std::invalid_argument(what + " writes a file, a side effect that a cache hit would "
                                           "skip; compile without a cache");
    };
    for (const auto& [field, is_set] :
         {std::pair{"create_pch", options.create_pch.has_value()},
          std::pair{"time", options.time.has_value()},
          std::pair{"fdevice_time_trace", options.fdevice_time_trace.has_value()}}) {
        if (is_set) {
            reject_output(std::string("ProgramOptions ") + field);
        }
    }
    for (const std::string& option : options.extra) {
        const std::string_view name = name_of(option);
        if (name == "create-pch" || name == "time" || name == "fdevice-time-trace") {
            reject_output("ProgramOptions extra has \"" + option + "\", which");
        }
    }
    for (const auto& [field, is_set] : {std::pair{"pch", options.pch.value_or(false)},
                                        std::pair{"use_pch", options.use_pch.has_value()},
                                        std::pair{"pch_dir", options.pch_dir.has_value()}}) {
        if (is_set) {
            reject(std::string("ProgramOptions ") + field + " names files");
        }
    }
    for (const std::string& option : options.extra) {
        if (reads_files(option)) {
            reject("ProgramOptions extra has \"" + option +
                   "\", which may name files (use include_path and pre_include)");
        }
    }
}

std::string included_files_digest(std::string_view code, const ProgramOptions& options) {
    return detail::dependency_digest(code, options);
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

/// Returns a digest of libdevice, made once; a fixed text if it cannot be found.
std::string libdevice_digest() {
    try {
        static const std::string digest = detail::sha256(nvvm::libdevice());
        return digest;
    } catch (const LibraryNotFoundError&) {
        return "libdevice is absent";
    }
}

/// Returns an option without its dashes and its value.
std::string_view name_of(std::string_view option) {
    option.remove_prefix(std::min(option.find_first_not_of('-'), option.size()));
    return option.substr(0, option.find('='));
}

/// Returns whether an option, of NVRTC or passed on to ptxas, makes it read further files.
bool reads_files(std::string_view option) {
    const std::string_view name = name_of(option);
    return option.starts_with("-I") || name == "include-path" || name == "include" ||
           name == "pre-include" || name.starts_with("pch") || name == "use-pch" ||
           option.find("-options-file") != std::string_view::npos ||
           option.find("-optf") != std::string_view::npos;
}

} // namespace

} // namespace cuprum
