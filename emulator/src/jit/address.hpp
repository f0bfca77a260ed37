// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Addresses that vary between lanes, taken apart: a uniform base of 64 bits, and an index of 32
// bits that varies. Gathers of a base and an index cost half as much as those of 64-bit addresses,
// and an index whose lanes are probably adjacent is worth a test when the code runs.
//
// All of this is exact: the sum is the address, modulo 2^64 for addresses of 64 bits and modulo
// 2^32 for those of 32 bits. Indices are extended only where the kernel extends them.

#pragma once

#include "jit/graph.hpp"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace cuprum::emulator::jit {

/// A uniform part of an address: `factor` times a value, of the width of the address.
struct Summand {
    // Of a pattern: its base. None: how far `phi` has moved.
    Ref value;
    Ref other; // unless None: the value is the product of both, modulo 2^32
    std::uint32_t phi = NONE;
    std::int64_t factor = 1;
};

/// base + constant + index * scale + offsets[lane]
struct Address {
    std::vector<Summand> base;
    std::int64_t constant = 0;
    Ref index;             // varying, 32 bits
    bool is_signed = true; // how the index is extended to the width of the address
    std::int64_t scale = 1;
    std::vector<std::int64_t> offsets; // one a lane, or none: all are 0
};

/// A phi of a loop that keeps the distances between its lanes: in every round, what it is in the
/// first round plus a uniform number, which is 0 in the first round and grows by `steps` with each
/// jump back. The indices of the first round so stay those of all rounds.
struct MovingPhi {
    Address start; // the input from outside the loop
    std::vector<Summand> steps;
    std::int64_t constant_step = 0;
};

/// Takes the addresses of one version apart. Refers to the graph.
class Addresses {
public:
    Addresses(const Graph& graph, Version version);

    /// Returns the parts of a varying value, or nullptr if they are not better than the value.
    /// Valid as long as this object.
    ///
    /// Its index and summands may be values that are not live any more where the address is used.
    /// With `follows_phis`, Summand::phi occurs.
    [[nodiscard]] const Address* parts(std::uint32_t value, bool follows_phis = false);

    /// Returns how a phi moves if it keeps the distances between its lanes, or nullptr.
    [[nodiscard]] const MovingPhi* moving(std::uint32_t phi);

    /// Returns by how much the lanes of a value of 32 bits or of a predicate probably differ from
    /// their base: what they do unless a minimum, a maximum, a selection or a remainder intervenes.
    /// Test it before relying on it. An empty list: they are probably the same. Nullptr: unknown.
    [[nodiscard]] const std::vector<std::int64_t>* probable_offsets(std::uint32_t value) const;

    /// Returns whether the lanes probably access adjacent elements of `bytes` bytes.
    [[nodiscard]] bool is_probably_adjacent(const Address& address, std::int64_t bytes) const;

private:
    using Offsets = std::vector<std::int64_t>;

    [[nodiscard]] std::optional<Address> split(std::uint32_t value, bool follows_phis,
                                               std::uint32_t depth);
    [[nodiscard]] const Address* find(const Ref& ref, bool follows_phis, std::uint32_t depth);
    [[nodiscard]] std::optional<MovingPhi> find_moving(std::uint32_t phi, std::uint32_t depth);
    [[nodiscard]] std::optional<Address> split_long(const Node& node, bool follows_phis,
                                                    std::uint32_t depth);
    [[nodiscard]] std::optional<Address> split_word(const Node& node, std::uint32_t depth);
    [[nodiscard]] std::optional<Address> widened(const Node& node, std::size_t source,
                                                 bool is_signed, std::int64_t scale) const;
    [[nodiscard]] bool add(Address& address, const Ref& ref, std::int64_t factor) const;
    [[nodiscard]] std::optional<std::uint64_t> known(const Node& node, std::size_t source) const;

    [[nodiscard]] Lanes lanes(const Ref& ref) const { return lanes_of(graph_, ref, version_); }

    void find_probable();
    [[nodiscard]] std::optional<Offsets> probable(const Ref& ref) const;
    [[nodiscard]] std::optional<Offsets> probable_of_node(const Node& node) const;

    const Graph& graph_;
    Version version_;
    std::unordered_map<std::uint32_t, std::optional<Address>> parts_;
    std::unordered_map<std::uint32_t, std::optional<Address>> parts_along_phis_;
    std::unordered_map<std::uint32_t, std::optional<MovingPhi>> moving_;
    std::unordered_map<std::uint32_t, Offsets> probable_;
};

} // namespace cuprum::emulator::jit
