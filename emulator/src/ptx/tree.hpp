// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The tree that the parser makes of a PTX module.
//
// It mirrors the text: names stay names, opcodes and their dotted suffixes stay text, and nothing
// is resolved or checked against an instruction table. Every node knows its location in the source,
// so that an error found later can name the line. Text views point into `Module::source`, which
// kernels share for their reports after the tree is freed.

#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::emulator::ptx {

/// A location in the source. Lines and columns count from 1; 0 means unknown.
struct Location {
    std::uint32_t line = 0;
    std::uint32_t column = 0;
};

/// The state spaces that a variable or an address can be in.
enum class Space : std::uint8_t {
    None, // not stated
    Register,
    Special,
    Constant,
    Global,
    Local,
    Param,
    Shared,
};

/// The fundamental types, as written.
enum class Type : std::uint8_t {
    None,
    B8,
    B16,
    B32,
    B64,
    B128,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    F16x2,
    BF16,
    BF16x2,
    F32,
    F64,
    Pred,
    TexRef,
    SamplerRef,
    SurfRef,
};

/// Returns the size of a value of this type in bytes (1 for Pred, 8 for references).
[[nodiscard]] std::size_t size_of(Type type) noexcept;

/// Returns the type that a suffix such as `.f32` or `f32` names, or None.
[[nodiscard]] Type type_from(std::string_view suffix) noexcept;

/// Returns the spelling of a type without the dot.
[[nodiscard]] std::string_view to_string(Type type) noexcept;

/// A version of the PTX ISA.
struct Version {
    std::uint32_t major = 0;
    std::uint32_t minor = 0;

    auto operator<=>(const Version&) const = default;
};

/// The newest PTX ISA whose instructions are all known, or refused by name.
constexpr Version NEWEST_KNOWN_VERSION{9, 4};

/// The scope in which a symbol is visible.
enum class Linkage : std::uint8_t { Internal, Visible, Extern, Weak, Common };

struct Operand;

/// One operand of an instruction.
struct Operand {
    enum class Kind : std::uint8_t {
        Name, // a register, variable, label, function or special register: `text` (with % and .x)
        Integer,    // `bits`, sign-extended to 64 bits when negative
        Float32,    // `bits` holds the 32 bits of a 0f literal
        Float64,    // `bits` holds the 64 bits of a 0d or decimal literal
        Address,    // [text + offset], or [offset] when `text` is empty; inner operand lists in
                    // `parts`
        Vector,     // {parts...}
        Pair,       // parts[0] | parts[1]: shfl, setp and tex with two destinations
        List,       // (parts...): arguments and return values of a call
        Discarded,  // _
        WithOffset, // text + offset outside brackets (an address constant), or text[index] with
                    // Element
        Element,    // text[bits]
    };

    Kind kind = Kind::Name;
    bool is_negated = false;    // !p for predicates, -x for names
    bool is_minus = false;      // is_negated was written '-', not '!'
    bool is_unified = false;    // Address: [a].unified
    std::string_view text;      // Name, Address, WithOffset, Element
    std::uint64_t bits = 0;     // Integer, Float32, Float64, Element
    std::int64_t offset = 0;    // Address, WithOffset
    std::vector<Operand> parts; // Vector, Pair, List; for Address: [a, {x, y}] forms (tex, tensor)
    Location location;
};

/// A guard `@p` or `@!p`.
struct Guard {
    std::string_view predicate;
    bool is_negated = false;
};

/// One instruction: `@p opcode.modifier.modifier operand, operand;`.
///
/// A call reads `(ret), callee, (arguments), prototype`: each parenthesis is a List operand, and
/// the parts that the source leaves out are left out here too.
struct Instruction {
    std::optional<Guard> guard;
    std::string_view opcode;                 // "mad", without modifiers
    std::vector<std::string_view> modifiers; // "lo", "s32": no dots; "shared::cta" stays one word
    std::vector<Operand> operands;
    Location location;
    std::uint32_t source_line = 0; // of the last .loc before it, 0 when there is none
    std::uint32_t source_file = 0; // index of a .file directive
};

/// The value of an initialised variable: a constant, the address of a symbol, a list, or a setting
/// of a sampler.
struct Initializer {
    enum class Kind : std::uint8_t { Integer, Float32, Float64, Symbol, List, Setting };

    Kind kind = Kind::Integer;
    std::uint64_t bits = 0;
    std::string_view
        symbol;            // Symbol: `symbol + bits`, or generic(symbol) + bits; Setting: its name
    std::string_view word; // Setting: `symbol = word`, or `symbol = bits` if empty
    bool is_generic = false; // Symbol: its generic address was asked for
    std::uint64_t mask = 0;  // Symbol: 0xff-style mask operator of byte initialisers, 0 for none
    std::vector<Initializer> items; // List
    Location location;
};

/// A variable, a parameter or a range of registers.
struct Variable {
    std::string_view name;
    Space space = Space::None;
    Type type = Type::None;
    std::uint32_t vector_width = 1;        // .v2, .v4
    std::uint32_t alignment = 0;           // 0: natural
    std::vector<std::uint64_t> dimensions; // empty: scalar; 0: unsized ([])
    std::uint32_t register_count = 0;      // `%r<5>` declares 5; 0 for a single name
    Linkage linkage = Linkage::Internal;
    bool is_managed = false;             // .attribute(.managed)
    bool is_pointer = false;             // kernel parameter marked .ptr
    Space pointer_space = Space::None;   // .ptr .global: what it points to; None: generic
    std::uint32_t pointer_alignment = 0; // .ptr .align 16: of what it points to; 0: not stated
    std::optional<Initializer> initializer;
    Location location;

    /// Returns the size in bytes of the whole variable, 0 when it is unsized.
    [[nodiscard]] std::size_t size_bytes() const noexcept;
    /// Returns the alignment in force.
    [[nodiscard]] std::size_t effective_alignment() const noexcept;
};

struct Statement;

/// `name: .callprototype (...) _ (...);`
struct CallPrototype {
    std::string_view name;
    std::vector<Variable> returns;
    std::vector<Variable> parameters;
    bool is_noreturn = false;
    Location location;
};

/// `name: .branchtargets a, b, c;` or `.calltargets`.
struct TargetList {
    std::string_view name;
    bool is_call = false;
    std::vector<std::string_view> targets;
    Location location;
};

/// A part that few statements have. It takes no room in the others.
template <typename T>
class Rare {
public:
    Rare() = default;

    Rare(const Rare& other) : value_(other.value_ ? std::make_unique<T>(*other.value_) : nullptr) {}

    Rare(Rare&&) noexcept = default;
    ~Rare() = default;

    Rare& operator=(const Rare& other) {
        *this = Rare(other);
        return *this;
    }

    Rare& operator=(Rare&&) noexcept = default;

    /// Returns whether the statement has the part.
    [[nodiscard]] bool has_value() const { return value_ != nullptr; }

    /// Makes the part if it is missing.
    [[nodiscard]] T& get() {
        if (value_ == nullptr) {
            value_ = std::make_unique<T>();
        }
        return *value_;
    }

    [[nodiscard]] T* operator->() { return &get(); }

    [[nodiscard]] T& operator*() { return get(); }

    /// The statement must have the part.
    [[nodiscard]] const T* operator->() const { return value_.get(); }

    [[nodiscard]] const T& operator*() const { return *value_; }

private:
    std::unique_ptr<T> value_;
};

/// One statement of a function body, in source order.
struct Statement {
    enum class Kind : std::uint8_t { Label, Instruction, Variable, Block, Prototype, Targets };

    Kind kind = Kind::Instruction;
    std::string_view label;        // Label
    Instruction instruction;       // Instruction
    Rare<Variable> variable;       // Variable: .reg, .local, .shared, .param inside a body
    std::vector<Statement> block;  // Block: a nested scope { ... }
    Rare<CallPrototype> prototype; // Prototype
    Rare<TargetList> targets;      // Targets
    Location location;
};

/// Performance directives of a kernel; zeros where not stated.
struct KernelDirectives {
    std::uint32_t max_threads[3] = {0, 0, 0};      // .maxntid
    std::uint32_t required_threads[3] = {0, 0, 0}; // .reqntid
    std::uint32_t min_blocks_per_sm = 0;           // .minnctapersm
    std::uint32_t max_registers = 0;               // .maxnreg
    std::uint32_t required_cluster[3] = {0, 0, 0}; // .reqnctapercluster
    std::uint32_t max_cluster_rank = 0;            // .maxclusterrank
    bool is_explicit_cluster = false;              // .explicitcluster
    bool is_noreturn = false;
};

/// A .entry or .func, declared or defined.
struct Function {
    std::string_view name;
    bool is_entry = false;
    bool is_declaration = false; // no body follows
    Linkage linkage = Linkage::Internal;
    std::vector<Variable> returns;
    std::vector<Variable> parameters;
    KernelDirectives directives;
    std::vector<Statement> body;
    Location location;
};

/// `.alias a, b;`
struct Alias {
    std::string_view name;
    std::string_view target;
    Location location;
};

/// A whole translation unit of PTX.
struct Module {
    std::shared_ptr<const std::string> source; // every view above points in here
    std::uint32_t version_major = 0;
    std::uint32_t version_minor = 0;
    std::vector<std::string_view> target; // "sm_90a", "texmode_independent", "debug"
    std::uint32_t address_size = 64;
    std::vector<Variable> variables; // module scope
    std::vector<Function> functions;
    std::vector<Alias> aliases;
    std::vector<std::string_view> files; // index = .file number; empty where none was given

    /// Returns the number in the target's name (90 for sm_90a), 0 when there is none.
    [[nodiscard]] std::uint32_t target_sm() const noexcept;

    /// Returns whether the module is of a later PTX ISA than NEWEST_KNOWN_VERSION. It may then use
    /// instructions that the decoders do not know.
    [[nodiscard]] bool is_newer_than_known() const noexcept {
        return Version{version_major, version_minor} > NEWEST_KNOWN_VERSION;
    }
};

} // namespace cuprum::emulator::ptx
