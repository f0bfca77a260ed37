// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Turns the body of a kernel into bytecode with virtual registers.
//
// Data instructions go to decode(). Control flow, barriers, parameters and calls are lowered here.
// Calls are inlined if possible: the callee's body is lowered again at the call, with its own
// registers and local memory. A .param variable that carries arguments becomes registers if all
// accesses to it agree on offset and size. If they do not, it becomes bytes of local memory.
//
// Functions that cannot be inlined (recursive, called indirectly, very large) are lowered once,
// after the kernel. Their results and arguments lie at the beginning of an activation's local
// memory. The caller copies arguments there before the call and copies results back after it.

#pragma once

#include "builtins/builtins.hpp"
#include "decode/decode.hpp"
#include "passes/banks.hpp"
#include "passes/build.hpp"
#include "passes/parameter_uses.hpp"
#include "passes/scope.hpp"

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace cuprum::emulator::decoding {
class Reader;
}

namespace cuprum::emulator::passes {

/// The lowering of one kernel. Implements what decoders can request.
class FunctionLowering final : public Lowering {
public:
    explicit FunctionLowering(KernelBuild& build);

    /// Lowers the whole kernel. Errors go to the build's diagnostics.
    void run();

    // ---- for decoders (lower_operands.cpp)
    [[nodiscard]] bytecode::Operand source(const ptx::Operand& operand, bytecode::Width width,
                                           ptx::Type type) override;
    [[nodiscard]] bytecode::Operand destination(const ptx::Operand& operand,
                                                bytecode::Width width) override;
    [[nodiscard]] Predicate predicate(const ptx::Operand& operand) override;
    [[nodiscard]] Address address(const ptx::Operand& operand, ptx::Space space) override;
    [[nodiscard]] bytecode::Width width_of(const ptx::Operand& operand) override;
    [[nodiscard]] bytecode::Operand temporary(bytecode::Width width) override;
    [[nodiscard]] bytecode::Operand constant(std::uint64_t bits, bytecode::Width width) override;
    [[nodiscard]] bytecode::Operand lane_constant(std::span<const std::uint32_t> lanes) override;
    [[nodiscard]] bytecode::Operand special(bytecode::Special special) override;
    void emit(bytecode::Instruction instruction) override;
    [[nodiscard]] std::uint32_t add_operands(std::span<const bytecode::Operand> operands) override;
    void emit_rendezvous(bytecode::Operand member_mask) override;
    void note_access(const AccessNote& note) override;
    void note_order(const OrderNote& note) override;
    void note_tensor_copy(const bytecode::Instruction& copy) override;
    void note_wait(const bytecode::Instruction& wait) override;
    void unsupported(std::string what) override;
    void invalid(std::string what) override;
    [[nodiscard]] const MemoryMap& memory() const override;
    [[nodiscard]] std::vector<AddressRange> constant_memory() override;
    [[nodiscard]] std::string_view target() const override;
    [[nodiscard]] ptx::Type type_of(const ptx::Operand& operand) override;

private:
    /// The state of the function being lowered, for example where `ret` goes.
    struct Frame {
        const ptx::Function* function = nullptr;
        std::optional<std::uint32_t> return_label{}; // none unless the function is inlined
        bytecode::Operand stack_top{};  // how many bytes alloca has taken; none unless it is used
        std::uint32_t stack_offset = 0; // of the alloca area in local memory
    };

    /// The parameters and results of a callee.
    struct Signature {
        std::span<const ptx::Variable> returns;
        std::span<const ptx::Variable> parameters;
    };

    // ---- statements and declarations (lower_body.cpp)
    void declare_kernel_parameters();
    void lower_function(const ptx::Function& function);

    /// Returns whether this is the kernel's own activation, not that of a called function.
    [[nodiscard]] bool is_in_kernel() const { return frames_.front().function->is_entry; }

    void lower_statements(std::span<const ptx::Statement> statements);
    void declare_variable(const ptx::Variable& variable, ParameterUses::ByName& uses);
    void declare_register(const ptx::Variable& variable);
    void lower_instruction(const ptx::Instruction& written);
    bool lower_own(const ptx::Instruction& instruction);
    void finish_shared_memory();
    void complain(ptx::Problem problem, std::string what);
    [[nodiscard]] std::uint64_t place_shared(const ptx::Variable& variable);
    [[nodiscard]] std::uint32_t place_hidden_shared(std::uint32_t size_bytes);
    [[nodiscard]] bytecode::Operand reserved_shared(std::string_view part, bytecode::Width width);
    [[nodiscard]] std::uint32_t place_local(std::uint64_t size_bytes, std::uint64_t alignment);

    // ---- names (lower_operands.cpp)
    [[nodiscard]] const Symbol* find(std::string_view name);
    [[nodiscard]] Symbol make_register(ptx::Type type);

    // ---- registers of several components (lower_vectors.cpp)
    [[nodiscard]] Symbol make_vector(std::string_view name, ptx::Type type, std::uint32_t width);
    [[nodiscard]] const Symbol* find_component(std::string_view name);
    [[nodiscard]] bool take_apart(ptx::Operand& operand);
    [[nodiscard]] const ptx::Instruction& without_vectors(const ptx::Instruction& instruction);

    // ---- elements of arrays (lower_elements.cpp)
    [[nodiscard]] const ptx::Instruction* without_elements(const ptx::Instruction& instruction,
                                                           bool& has_scope);
    void compute_element(const ptx::Operand& element, std::uint64_t bytes, bytecode::Width width,
                         bool is_generic);

    [[nodiscard]] bytecode::Operand new_register(bytecode::Width width, ptx::Type type);
    [[nodiscard]] bytecode::Operand register_source(const Symbol& symbol, std::string_view name,
                                                    bytecode::Width width);
    [[nodiscard]] bytecode::Operand symbol_address(std::string_view name, std::int64_t addend,
                                                   bytecode::Width width, bool is_generic);
    [[nodiscard]] bytecode::Operand literal(const ptx::Operand& operand, bytecode::Width width,
                                            ptx::Type type);
    /// Returns the operand of a special register, or none if the name is not one.
    [[nodiscard]] bytecode::Operand special_register(std::string_view name, bytecode::Width width);
    [[nodiscard]] bytecode::Operand special_value(bytecode::Special special, bytecode::Width width);
    [[nodiscard]] bytecode::Operand warp_special(bytecode::Special special, bytecode::Width width);
    [[nodiscard]] bytecode::Operand local_address(std::uint64_t offset, bytecode::Width width,
                                                  bool is_generic);

    // ---- checks (lower_checks.cpp)
    void note_meeting(bytecode::Operand members);
    void note_membership(bytecode::Operand members);
    void note_local_write(std::uint32_t offset, std::uint64_t bytes, bool is_of_callee);
    void emit_check(FixedOp op, std::uint32_t target = 0);

    // ---- the registers of wgmma (lower_group_checks.cpp)
    void note_products(const ptx::Instruction& instruction);
    void note_order(const ptx::Instruction& instruction);
    [[nodiscard]] std::optional<std::uint32_t> tracked_register(std::string_view name);
    void note_use(const ptx::Operand& operand, std::uint16_t use);
    void emit_use(std::uint32_t first, std::uint32_t count, std::uint16_t use, std::uint32_t other);
    void emit_check_of_members(FixedOp op, bytecode::Operand members);
    [[nodiscard]] std::vector<bool> used_results();
    [[nodiscard]] bool only_replaces();
    void emit_access_check(const AccessNote& note, bool passes_on);
    void add_values(bytecode::Instruction& look, unsigned& tag, const AccessNote& note);

    // ---- control flow (lower_control.cpp)
    bool lower_control(const ptx::Instruction& instruction);
    void lower_branch(const ptx::Instruction& instruction);
    void lower_sleep(const ptx::Instruction& instruction);
    void lower_indexed_branch(const ptx::Instruction& instruction);
    void lower_return();
    void lower_exit();
    void lower_barrier(const ptx::Instruction& instruction);
    void lower_cluster_barrier(decoding::Reader& reader);
    [[nodiscard]] static bool take_block_barrier(decoding::Reader& reader,
                                                 bytecode::Instruction& barrier, std::size_t& first,
                                                 bool& has_count);
    [[nodiscard]] static bool has_valid_barrier(decoding::Reader& reader, std::size_t first,
                                                bool has_count, bool is_arrival);
    void emit_meeting(bytecode::Operand member_mask, std::uint16_t tag);
    void emit_branch(std::uint32_t label, bytecode::Operand guard, bool is_negated);
    void emit_copy(bytecode::Operand to, bytecode::Operand from, bytecode::Width width);
    [[nodiscard]] std::optional<std::uint32_t> label_of(const ptx::Operand& operand);
    [[nodiscard]] std::uint32_t new_label();
    void place_label(std::uint32_t label);

    // ---- memory from the stack (lower_stack.cpp)
    void begin_stack();
    bool lower_stack(const ptx::Instruction& instruction);

    // ---- parameters (lower_parameters.cpp)
    bool lower_parameter_access(const ptx::Instruction& instruction);
    void load_kernel_parameter(const ptx::Instruction& instruction, const Symbol& parameter);
    void access_storage(const ptx::Instruction& instruction, const ParameterStorage& storage,
                        bool is_load);
    void convert_parameter(const ptx::Instruction& access, const ptx::Operand& value,
                           bytecode::Operand word, bool is_load);
    void decode_in_space(const ptx::Instruction& instruction, std::string_view space);
    [[nodiscard]] std::shared_ptr<const ParameterStorage>
    make_storage(const ptx::Variable& variable, ParameterUse& use);

    // ---- calls (lower_calls.cpp)
    void lower_call(const ptx::Instruction& instruction);
    void lower_indirect_call(const ptx::Operand& callee, const ptx::Operand* prototype,
                             std::span<const ptx::Operand> returns,
                             std::span<const ptx::Operand> arguments);
    void inline_call(const ptx::Function& callee, std::span<const ptx::Operand> returns,
                     std::span<const ptx::Operand> arguments);
    void emit_call(bytecode::Instruction call, const Signature& signature,
                   std::span<const ptx::Operand> returns, std::span<const ptx::Operand> arguments);
    void emit_transfer(FixedOp op, const ptx::Variable& formal, const ptx::Operand& actual,
                       std::uint32_t callee_offset);
    [[nodiscard]] std::uint32_t require_function(const ptx::Function& function);

    // ---- what is passed without a .param variable (lower_arguments.cpp)
    [[nodiscard]] std::shared_ptr<const ParameterStorage>
    spill(const ptx::Variable& formal, const ptx::Operand& actual, bool is_argument);
    void fetch_spilled(const ParameterStorage& storage, bytecode::Operand to,
                       bytecode::Width width);
    void bind_vector(const ptx::Variable& formal, const ptx::Operand& actual, const Symbol& vector,
                     std::vector<std::pair<Symbol, bytecode::Operand>>* results);

    // ---- functions that the device provides (lower_builtins.cpp)
    void lower_builtin(const builtins::Builtin& builtin, std::span<const ptx::Operand> returns,
                       std::span<const ptx::Operand> arguments);
    [[nodiscard]] const ParameterStorage* storage_of(const ptx::Operand& actual);

    KernelBuild& build_;
    Banks banks_;
    Scopes scopes_;
    ParameterUses parameter_uses_;
    std::vector<Frame> frames_;
    const ptx::Instruction* current_ = nullptr;
    bytecode::Operand guard_; // of the current instruction
    bool is_guard_negated_ = false;
    bool has_line_ = false;           // the current instruction has an entry in Kernel::lines
    bool is_copy_ = false;            // the current instruction is a plain mov
    bool has_vectors_ = false;        // a vector register has been declared
    ptx::Instruction apart_;          // the current instruction with its vectors split
    ptx::Instruction with_addresses_; // the current instruction without elements of arrays

    std::unordered_map<const ptx::Variable*, std::uint64_t> shared_offsets_;
    // Registers, by function, that are used in a computation; see used_results().
    std::unordered_map<const ptx::Function*, std::unordered_set<std::string_view>> used_registers_;
    // How often a function names each register; see only_replaces().
    std::unordered_map<const ptx::Function*, std::unordered_map<std::string_view, std::uint32_t>>
        mentions_;
    // The registers that wgmma names, and the number of each one that the kernel has.
    std::unordered_map<const ptx::Function*, std::unordered_set<std::string_view>> group_names_;
    std::unordered_map<std::uint32_t, std::uint32_t> group_numbers_;
    std::uint64_t shared_bytes_ = 0;
    std::uint64_t dynamic_shared_alignment_ = 0; // 0: no dynamic array is used
    std::map<bytecode::Special, bytecode::Operand> warp_specials_;
    std::uint64_t local_bytes_ = 0;               // of the activation being lowered
    std::vector<const ptx::Function*> functions_; // functions that are called, not inlined
    bool may_call_all_ = false; // these include all functions whose address is taken
};

/// Returns the offsets of a function's results and then its parameters in its activation. The last
/// value is the end offset.
[[nodiscard]] std::vector<std::uint32_t> abi_offsets(std::span<const ptx::Variable> returns,
                                                     std::span<const ptx::Variable> parameters);

/// Returns whether a modifier names parameter space: "param", "param::entry" or "param::func".
[[nodiscard]] bool is_param_modifier(std::string_view modifier);

/// The element type of a memory access and the number of elements.
struct AccessShape {
    ptx::Type type = ptx::Type::None;
    std::uint32_t count = 1;
};

/// Derives the shape from the modifiers of a load or store.
[[nodiscard]] AccessShape access_shape(const ptx::Instruction& instruction);

/// Returns where an instruction, with its guard, starts in the module's source.
[[nodiscard]] std::uint32_t text_offset_of(const ptx::Instruction& instruction,
                                           const ptx::Module& module);

} // namespace cuprum::emulator::passes
