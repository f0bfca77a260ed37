// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "program/cache/load.hpp"
#include "program/code/padded_code.hpp"

#include <cuprum/program_cache.hpp>

#include <exception>
#include <new>
#include <string>

namespace cuprum::detail {

/// A cache whose failures are not errors: a program that did not ask for a cache compiles anyway.
///
/// It forgives every exception, std::bad_alloc too: the compilation that follows needs no cache,
/// and throws by itself if there really is no memory left.
class ForgivingCache final : public ProgramCache {
public:
    explicit ForgivingCache(ProgramCache& cache) : cache_(cache) {}

    [[nodiscard]] std::optional<std::vector<std::byte>> get(std::string_view key) override {
        return forgive([&] { return cache_.get(key); });
    }

    /// Does the same as detail::load() for the wrapped cache.
    [[nodiscard]] std::optional<PaddedCode> load(std::string_view key) {
        return forgive([&] { return detail::load(cache_, key); });
    }

    void put(std::string_view key, std::span<const std::byte> code) override {
        forgive([&] {
            cache_.put(key, code);
            return true;
        });
    }

    bool remove(std::string_view key) override { return cache_.remove(key); }

    std::size_t count() override { return cache_.count(); }

    void clear() override { cache_.clear(); }

    /// Returns the first failure; empty if there was none.
    [[nodiscard]] const std::string& trouble() const noexcept { return trouble_; }

private:
    template <typename Action>
    auto forgive(const Action& action) -> decltype(action()) {
        try {
            return action();
        } catch (const std::bad_alloc&) {
            note("out of memory"); // short enough to need no allocation
        } catch (const std::exception& error) {
            note(error.what());
        } catch (...) {
            note("it threw something that is not a std::exception");
        }
        return {};
    }

    void note(const char* failure) {
        if (trouble_.empty()) {
            trouble_ = failure;
        }
    }

    ProgramCache& cache_;
    std::string trouble_;
};

} // namespace cuprum::detail
