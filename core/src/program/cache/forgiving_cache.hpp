// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "program/cache/load.hpp"
#include "program/padded_code.hpp"

#include <cuprum/program_cache.hpp>

#include <string>
#include <system_error>

namespace cuprum::detail {

/// A cache whose trouble with files is a warning: programs that did not ask for a cache are
/// compiled all the same.
class ForgivingCache final : public ProgramCache {
public:
    explicit ForgivingCache(ProgramCache& cache) : cache_(cache) {}

    [[nodiscard]] std::optional<std::vector<std::byte>> get(std::string_view key) override {
        try {
            return cache_.get(key);
        } catch (const std::system_error& error) {
            note(error);
            return std::nullopt;
        }
    }

    /// Does what detail::load() does for the cache behind it.
    [[nodiscard]] std::optional<PaddedCode> load(std::string_view key) {
        try {
            return detail::load(cache_, key);
        } catch (const std::system_error& error) {
            note(error);
            return std::nullopt;
        }
    }

    void put(std::string_view key, std::span<const std::byte> code) override {
        try {
            cache_.put(key, code);
        } catch (const std::system_error& error) {
            note(error);
        }
    }

    bool remove(std::string_view key) override { return cache_.remove(key); }

    std::size_t count() override { return cache_.count(); }

    void clear() override { cache_.clear(); }

    /// Returns what went wrong; empty if nothing did.
    [[nodiscard]] const std::string& trouble() const noexcept { return trouble_; }

private:
    void note(const std::system_error& error) { trouble_ = error.what(); }

    ProgramCache& cache_;
    std::string trouble_;
};

} // namespace cuprum::detail
