// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "sample.hpp"

#include <bit>

namespace cuprum::emulator::ptx {

using testing::HEAD;
using testing::parse_body;
using testing::parse_good;
using testing::SAMPLE;
using Kind = Operand::Kind;

namespace {

/// Returns the first statement of the only kernel, which must be an instruction.
const Instruction& first_of(const Module& module) {
    static const Instruction none;
    const auto& body = module.functions.at(0).body;
    EXPECT_FALSE(body.empty());
    return body.empty() ? none : body[0].instruction;
}

/// Returns the value of a constant operand written as `text`.
std::uint64_t value_of(std::string_view text) {
    const Module module = parse_body("mov.u64 %rd1, " + std::string(text) + ";");
    const auto& operands = first_of(module).operands;
    EXPECT_EQ(operands.size(), 2u);
    return operands.size() == 2 ? operands[1].bits : 0;
}

const Variable& variable_of(const Module& module, std::string_view name) {
    static const Variable none;
    for (const Variable& variable : module.variables) {
        if (variable.name == name) {
            return variable;
        }
    }
    ADD_FAILURE() << "no variable " << name;
    return none;
}

} // namespace

TEST(Parser, the_sample_has_all_its_parts) {
    const Module module = parse_good(SAMPLE);
    EXPECT_EQ(module.version_major, 9u);
    EXPECT_EQ(module.version_minor, 0u);
    EXPECT_EQ(module.target, (std::vector<std::string_view>{"sm_90a", "debug"}));
    EXPECT_EQ(module.target_sm(), 90u);
    EXPECT_EQ(module.address_size, 64u);
    EXPECT_EQ(module.functions.size(), 4u);
    EXPECT_EQ(module.variables.size(), 10u);
    ASSERT_EQ(module.aliases.size(), 1u);
    EXPECT_EQ(module.aliases[0].name, "also_helper");
    EXPECT_EQ(module.aliases[0].target, "helper");
    ASSERT_EQ(module.files.size(), 4u);
    EXPECT_EQ(module.files[1], "/src/sample.cu");
    EXPECT_TRUE(module.files[2].empty());
}

TEST(Parser, a_moved_module_keeps_its_text) {
    Module first = parse_body("ret;");
    const Module second = std::move(first);
    EXPECT_EQ(second.functions[0].name, "k");
    EXPECT_EQ(first_of(second).opcode, "ret");
}

TEST(Parser, functions_know_linkage_parameters_and_returns) {
    const Module module = parse_good(SAMPLE);
    const Function& printf = module.functions[0];
    EXPECT_EQ(printf.name, "vprintf");
    EXPECT_EQ(printf.linkage, Linkage::Extern);
    EXPECT_TRUE(printf.is_declaration);
    EXPECT_EQ(printf.returns.size(), 1u);
    EXPECT_EQ(printf.parameters.size(), 2u);
    EXPECT_TRUE(module.functions[1].directives.is_noreturn);
    const Function& helper = module.functions[2];
    EXPECT_FALSE(helper.is_entry);
    EXPECT_EQ(helper.returns.at(0).size_bytes(), 16u);
    EXPECT_EQ(helper.returns.at(0).alignment, 8u);
    EXPECT_EQ(helper.parameters.at(1).space, Space::Register);
    const Function& kernel = module.functions[3];
    EXPECT_TRUE(kernel.is_entry);
    EXPECT_EQ(kernel.linkage, Linkage::Visible);
    const Variable& out = kernel.parameters.at(0);
    EXPECT_TRUE(out.is_pointer);
    EXPECT_EQ(out.pointer_space, Space::Global);
    EXPECT_EQ(out.pointer_alignment, 16u);
    EXPECT_EQ(out.alignment, 0u);
    EXPECT_EQ(kernel.parameters.at(1).pointer_space, Space::None);
    EXPECT_EQ(kernel.parameters.at(2).size_bytes(), 12u);
}

TEST(Parser, the_declaration_of_an_external_function_needs_no_semicolon) {
    for (const std::string_view declaration :
         {".extern .func f (.param .b64 a)\n", ".extern .func (.param .b32 r) f (.param .b64 a)\n",
          ".extern .func f\n", ".extern .func f ()\n",
          ".extern .func f (.param .b64 a) .noreturn\n"}) {
        for (const std::string_view next :
             {".visible .entry k() { ret; }", ".entry k() { ret; }", ".func k() { ret; }",
              ".extern .func g (.param .b64 a);", ".extern .func g (.param .b64 a)\n",
              ".weak .func g() { ret; }", ".global .b32 v;", ".const .b32 v = 3;",
              ".shared .b32 v;", ".visible .global .b32 v;", ".common .global .b32 v;",
              ".global .texref t;", ".file 1 \"a.cu\"", ".pragma \"nounroll\";",
              ".section .debug_str { .b8 0 }", ";", "", "// the end"}) {
            const Module module =
                parse_good(std::string(HEAD) + std::string(declaration) + std::string(next));
            ASSERT_FALSE(module.functions.empty()) << declaration << next;
            EXPECT_EQ(module.functions[0].name, "f");
            EXPECT_TRUE(module.functions[0].is_declaration);
            EXPECT_EQ(module.functions[0].linkage, Linkage::Extern);
        }
    }
}

TEST(Parser, performance_directives_are_kept) {
    const Module module = parse_good(SAMPLE);
    const KernelDirectives& directives = module.functions[3].directives;
    EXPECT_EQ(directives.max_threads[0], 256u);
    EXPECT_EQ(directives.max_threads[2], 1u);
    EXPECT_EQ(directives.required_threads[0], 0u);
    EXPECT_EQ(directives.min_blocks_per_sm, 2u);
    EXPECT_EQ(directives.max_registers, 64u);
    EXPECT_EQ(directives.required_cluster[0], 2u);
    EXPECT_TRUE(directives.is_explicit_cluster);
    EXPECT_EQ(directives.max_cluster_rank, 8u);
}

TEST(Parser, an_extent_may_leave_out_dimensions) {
    const Module module = parse_good(std::string(HEAD) + ".entry k() .reqntid 64, 2 { ret; }");
    EXPECT_EQ(module.functions[0].directives.required_threads[0], 64u);
    EXPECT_EQ(module.functions[0].directives.required_threads[1], 2u);
    EXPECT_EQ(module.functions[0].directives.required_threads[2], 1u);
}

TEST(Parser, variables_know_space_size_and_alignment) {
    const Module module = parse_good(SAMPLE);
    const Variable& dynamic = variable_of(module, "dynamic");
    EXPECT_EQ(dynamic.space, Space::Shared);
    EXPECT_EQ(dynamic.linkage, Linkage::Extern);
    EXPECT_EQ(dynamic.dimensions, std::vector<std::uint64_t>{0});
    EXPECT_EQ(dynamic.size_bytes(), 0u);
    EXPECT_EQ(dynamic.effective_alignment(), 16u);
    EXPECT_TRUE(variable_of(module, "counter").is_managed);
    EXPECT_EQ(variable_of(module, "table").size_bytes(), 24u);
    const Variable& quad = variable_of(module, "quad");
    EXPECT_EQ(quad.linkage, Linkage::Common);
    EXPECT_EQ(quad.size_bytes(), 16u);
    EXPECT_EQ(quad.effective_alignment(), 16u);
    EXPECT_EQ(variable_of(module, "text").size_bytes(), 3u)
        << "an open array takes its list's size";
    EXPECT_EQ(variable_of(module, "old_texture").type, Type::TexRef);
    EXPECT_EQ(variable_of(module, "banked").initializer->bits, 32u);
}

TEST(Parser, initial_values_are_numbers_lists_and_addresses) {
    const Module module = parse_good(SAMPLE);
    const auto& pointers = variable_of(module, "pointers").initializer->items;
    ASSERT_EQ(pointers.size(), 3u);
    EXPECT_EQ(pointers[0].kind, Initializer::Kind::Symbol);
    EXPECT_EQ(pointers[1].symbol, "counter");
    EXPECT_EQ(pointers[1].bits, 4u);
    EXPECT_FALSE(pointers[1].is_generic);
    EXPECT_TRUE(pointers[2].is_generic);
    EXPECT_EQ(pointers[2].symbol, "table");
    EXPECT_EQ(pointers[2].bits, 8u);
    const auto& bytes = variable_of(module, "bytes").initializer->items;
    ASSERT_EQ(bytes.size(), 8u);
    EXPECT_EQ(bytes[1].mask, 0xff00u);
    EXPECT_EQ(bytes[2].mask, 0xff0000u);
    EXPECT_TRUE(bytes[2].is_generic);
    EXPECT_EQ(bytes[2].bits, 4u);
    EXPECT_EQ(bytes[7].bits, 15u);
    EXPECT_EQ(bytes[7].mask, 0u);
    const auto& table = variable_of(module, "table").initializer->items;
    ASSERT_EQ(table.size(), 2u);
    EXPECT_EQ(table[1].items.at(0).bits, 18u);
    EXPECT_EQ(table[1].items.at(1).bits, 3u);
    EXPECT_EQ(table[1].items.at(2).bits, ~std::uint64_t{0});
    const auto& coefficients = variable_of(module, "coefficients").initializer->items;
    EXPECT_EQ(coefficients.at(0).kind, Initializer::Kind::Float32);
    EXPECT_EQ(std::bit_cast<double>(coefficients.at(2).bits), -15.0);
    EXPECT_EQ(std::bit_cast<double>(coefficients.at(3).bits), 0.25);
}

TEST(Parser, one_directive_may_declare_several_registers) {
    const Module module = parse_body(".reg .pred %p<4>, q; .reg .b64 wide;");
    const auto& body = module.functions[0].body;
    ASSERT_EQ(body.size(), 3u);
    EXPECT_EQ(body[0].kind, Statement::Kind::Variable);
    EXPECT_EQ(body[0].variable->name, "%p");
    EXPECT_EQ(body[0].variable->register_count, 4u);
    EXPECT_EQ(body[1].variable->name, "q");
    EXPECT_EQ(body[1].variable->type, Type::Pred);
    EXPECT_EQ(body[1].variable->register_count, 0u);
    EXPECT_EQ(body[2].variable->type, Type::B64);
}

TEST(Parser, instructions_split_into_opcode_modifiers_and_operands) {
    const Module module = parse_body("@!%p1 mad.lo.s32 %r1, %r2, -3, %tid.x;");
    const Instruction& mad = first_of(module);
    ASSERT_TRUE(mad.guard);
    EXPECT_EQ(mad.guard->predicate, "%p1");
    EXPECT_TRUE(mad.guard->is_negated);
    EXPECT_EQ(mad.opcode, "mad");
    EXPECT_EQ(mad.modifiers, (std::vector<std::string_view>{"lo", "s32"}));
    ASSERT_EQ(mad.operands.size(), 4u);
    EXPECT_EQ(mad.operands[0].text, "%r1");
    EXPECT_EQ(mad.operands[2].kind, Kind::Integer);
    EXPECT_EQ(mad.operands[2].bits, static_cast<std::uint64_t>(-3));
    EXPECT_EQ(mad.operands[3].text, "%tid.x");
    EXPECT_EQ(mad.location.line, 6u);
    EXPECT_EQ(mad.location.column, 7u);
    EXPECT_EQ(mad.operands[1].location.column, 23u);
}

TEST(Parser, modifiers_with_double_colons_stay_one_word) {
    const Module module = parse_body("cp.async.bulk.tensor.2d.shared::cluster.mbarrier::complete_tx"
                                     "::bytes [%r1], [%rd1, {%r2, 3}], [%r4+8];");
    const Instruction& copy = first_of(module);
    EXPECT_EQ(copy.modifiers,
              (std::vector<std::string_view>{"async", "bulk", "tensor", "2d", "shared::cluster",
                                             "mbarrier::complete_tx::bytes"}));
    ASSERT_EQ(copy.operands.size(), 3u);
    EXPECT_EQ(copy.operands[1].kind, Kind::Address);
    EXPECT_EQ(copy.operands[1].text, "%rd1");
    ASSERT_EQ(copy.operands[1].parts.size(), 1u);
    EXPECT_EQ(copy.operands[1].parts[0].kind, Kind::Vector);
    EXPECT_EQ(copy.operands[1].parts[0].parts.at(1).bits, 3u);
    EXPECT_EQ(copy.operands[2].offset, 8);
}

TEST(Parser, addresses_have_a_base_an_offset_or_both) {
    const Module module =
        parse_body("x [%rd1], [%rd1+4], [%rd1+-4], [%rd1-4], [tile+4*(2+1)-2], [64], [-8];");
    const auto& operands = first_of(module).operands;
    const std::vector<std::pair<std::string_view, std::int64_t>> expected{
        {"%rd1", 0}, {"%rd1", 4}, {"%rd1", -4}, {"%rd1", -4}, {"tile", 10}, {"", 64}, {"", -8}};
    ASSERT_EQ(operands.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(operands[i].kind, Kind::Address) << i;
        EXPECT_EQ(operands[i].text, expected[i].first) << i;
        EXPECT_EQ(operands[i].offset, expected[i].second) << i;
    }
}

TEST(Parser, one_register_in_braces_is_that_register_for_loads_stores_and_moves) {
    // Triton writes scalar loads and stores this way, and ptxas takes them.
    const Module module =
        parse_body("ld.global.b32 { %r1 }, [%rd1];\nst.global.b32 [%rd1], { 5 };\n"
                   "mov.b32 {%r1}, %r2;\n"
                   "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2];");
    const auto& body = module.functions[0].body;
    ASSERT_EQ(body.size(), 4u);
    EXPECT_EQ(body[0].instruction.operands[0].kind, Kind::Name);
    EXPECT_EQ(body[0].instruction.operands[0].text, "%r1");
    EXPECT_EQ(body[0].instruction.operands[0].location.column, 17u);
    EXPECT_EQ(body[1].instruction.operands[1].kind, Kind::Integer);
    EXPECT_EQ(body[1].instruction.operands[1].bits, 5u);
    EXPECT_EQ(body[2].instruction.operands[0].kind, Kind::Name);
    EXPECT_EQ(body[3].instruction.operands[0].kind, Kind::Vector); // here the braces are needed
}

TEST(Parser, an_address_may_be_marked_as_unified) {
    const Module module = parse_body("ld.u32 %r1, [%rd1+4].unified, [%rd2];");
    const auto& operands = first_of(module).operands;
    ASSERT_EQ(operands.size(), 3u);
    EXPECT_TRUE(operands[1].is_unified);
    EXPECT_EQ(operands[1].offset, 4);
    EXPECT_FALSE(operands[2].is_unified);
}

TEST(Parser, operands_outside_brackets_have_every_form) {
    const Module module = parse_body("x p|q, _|q, p|_, {%r1, _}, !p, -%r2.h1, sym+8, sym-8, sym[3],"
                                     " _, 0f3F800000, 1.5, -0f3F800000;");
    const auto& operands = first_of(module).operands;
    ASSERT_EQ(operands.size(), 13u);
    EXPECT_EQ(operands[0].kind, Kind::Pair);
    EXPECT_EQ(operands[0].parts.at(1).text, "q");
    EXPECT_EQ(operands[1].parts.at(0).kind, Kind::Discarded);
    EXPECT_EQ(operands[2].parts.at(1).kind, Kind::Discarded);
    EXPECT_EQ(operands[3].kind, Kind::Vector);
    EXPECT_EQ(operands[3].parts.at(1).kind, Kind::Discarded);
    EXPECT_TRUE(operands[4].is_negated);
    EXPECT_FALSE(operands[4].is_minus);
    EXPECT_TRUE(operands[5].is_negated);
    EXPECT_TRUE(operands[5].is_minus);
    EXPECT_EQ(operands[5].text, "%r2.h1");
    EXPECT_EQ(operands[6].kind, Kind::WithOffset);
    EXPECT_EQ(operands[7].offset, -8);
    EXPECT_EQ(operands[8].kind, Kind::Element);
    EXPECT_EQ(operands[8].bits, 3u);
    EXPECT_EQ(operands[9].kind, Kind::Discarded);
    EXPECT_EQ(operands[10].kind, Kind::Float32);
    EXPECT_EQ(operands[10].bits, 0x3f800000u);
    EXPECT_EQ(operands[11].kind, Kind::Float64);
    EXPECT_EQ(operands[12].bits, 0xbf800000u);
}

TEST(Parser, constant_expressions_follow_the_rules_of_c) {
    EXPECT_EQ(value_of("1 + 2 * 3"), 7u);
    EXPECT_EQ(value_of("10 - 3 - 2"), 5u);
    EXPECT_EQ(value_of("(1 << 4) | 0x3"), 19u);
    EXPECT_EQ(value_of("7 % 4 + 7 %4"), 6u);
    EXPECT_EQ(value_of("~0 ^ 1"), ~std::uint64_t{1});
    EXPECT_EQ(value_of("!5 || !0 && 1"), 1u);
    EXPECT_EQ(value_of("1 < 2 == 1"), 1u);
    EXPECT_EQ(value_of("0 ? 3 : 1 ? 4 : 5"), 4u);
    EXPECT_EQ(value_of("WARP_SZ - 1"), 31u);
    EXPECT_EQ(value_of("-8 >> 1"), static_cast<std::uint64_t>(-4));
    EXPECT_EQ(value_of("(.u64)-8 >> 1"), 0x7ffffffffffffffcu);
    EXPECT_EQ(value_of("(.s64)(.u64)-8 >> 1"), static_cast<std::uint64_t>(-4));
    EXPECT_EQ(value_of("-9223372036854775808"), std::uint64_t{1} << 63);
    EXPECT_EQ(std::bit_cast<double>(value_of("1.5 + 2")), 3.5);
}

TEST(Parser, calls_have_lists_for_returns_and_arguments) {
    const Module module = parse_body("call.uni (r), f, (a, 4); call f; call (r), %rd1, (a), proto;"
                                     "call f, ();");
    const auto& body = module.functions[0].body;
    ASSERT_EQ(body.size(), 4u);
    const auto& full = body[0].instruction.operands;
    ASSERT_EQ(full.size(), 3u);
    EXPECT_EQ(full[0].kind, Kind::List);
    EXPECT_EQ(full[1].text, "f");
    EXPECT_EQ(full[2].parts.at(1).bits, 4u);
    EXPECT_EQ(body[1].instruction.operands.size(), 1u);
    EXPECT_EQ(body[2].instruction.operands.at(3).text, "proto");
    EXPECT_EQ(body[3].instruction.operands.at(1).kind, Kind::List);
    EXPECT_TRUE(body[3].instruction.operands[1].parts.empty());
}

TEST(Parser, labels_prototypes_and_targets_are_statements) {
    const Module module =
        parse_body("here: p: .callprototype (.param .b32 _) _ (.param .b64 _);\n"
                   "t: .branchtargets here, there;\nc: .calltargets f, g;\nthere: ret;");
    const auto& body = module.functions[0].body;
    ASSERT_EQ(body.size(), 6u);
    EXPECT_EQ(body[0].kind, Statement::Kind::Label);
    EXPECT_EQ(body[0].label, "here");
    EXPECT_EQ(body[1].kind, Statement::Kind::Prototype);
    EXPECT_EQ(body[1].prototype->name, "p");
    EXPECT_EQ(body[1].prototype->returns.at(0).type, Type::B32);
    EXPECT_EQ(body[1].prototype->parameters.at(0).name, "_");
    EXPECT_EQ(body[2].kind, Statement::Kind::Targets);
    EXPECT_EQ(body[2].targets->targets, (std::vector<std::string_view>{"here", "there"}));
    EXPECT_FALSE(body[2].targets->is_call);
    EXPECT_TRUE(body[3].targets->is_call);
    EXPECT_EQ(body[5].kind, Statement::Kind::Instruction);
}

TEST(Parser, nested_scopes_are_blocks) {
    const Module module = parse_body("{ .reg .b32 x; { mov.u32 x, 1; } } ret;");
    const auto& body = module.functions[0].body;
    ASSERT_EQ(body.size(), 2u);
    ASSERT_EQ(body[0].kind, Statement::Kind::Block);
    ASSERT_EQ(body[0].block.size(), 2u);
    ASSERT_EQ(body[0].block[1].kind, Statement::Kind::Block);
    EXPECT_EQ(body[0].block[1].block.at(0).instruction.opcode, "mov");
}

TEST(Parser, instructions_know_the_source_line_they_come_from) {
    const Module module = parse_good(
        std::string(HEAD) + ".entry a() { ret; .loc 1 10 5\n add; .loc 2 7 0, function_name "
                            "$L+4, inlined_at 1 10 5\n ret; } .entry b() { ret; }");
    const auto& body = module.functions[0].body;
    ASSERT_EQ(body.size(), 3u);
    EXPECT_EQ(body[0].instruction.source_line, 0u);
    EXPECT_EQ(body[1].instruction.source_line, 10u);
    EXPECT_EQ(body[1].instruction.source_file, 1u);
    EXPECT_EQ(body[2].instruction.source_line, 7u);
    EXPECT_EQ(body[2].instruction.source_file, 2u);
    EXPECT_EQ(module.functions[1].body.at(0).instruction.source_line, 0u);
}

TEST(Parser, carriage_returns_and_a_closing_nul_change_nothing) {
    std::string text;
    for (const char c : SAMPLE) {
        text += c == '\n' ? "\r\n" : std::string(1, c);
    }
    text.append(3, '\0');
    EXPECT_EQ(parse_good(text).functions.size(), 4u);
}

TEST(Parser, settings_of_a_sampler_are_kept) {
    const Module module = parse_good(".version 8.0\n.target sm_80\n.address_size 64\n"
                                     ".global .samplerref s = { filter_mode = linear, "
                                     "force_unnormalized_coords = 1 };\n");
    const auto& items = module.variables.at(0).initializer.value().items;
    ASSERT_EQ(items.size(), 2u);
    EXPECT_EQ(items[0].kind, Initializer::Kind::Setting);
    EXPECT_EQ(items[0].symbol, "filter_mode");
    EXPECT_EQ(items[0].word, "linear");
    EXPECT_EQ(items[1].symbol, "force_unnormalized_coords");
    EXPECT_TRUE(items[1].word.empty());
    EXPECT_EQ(items[1].bits, 1u);
}

TEST(Tree, types_have_names_and_sizes) {
    EXPECT_EQ(type_from(".bf16x2"), Type::BF16x2);
    EXPECT_EQ(type_from("b128"), Type::B128);
    EXPECT_EQ(type_from("global"), Type::None);
    EXPECT_EQ(type_from(""), Type::None);
    EXPECT_EQ(to_string(Type::SamplerRef), "samplerref");
    EXPECT_EQ(size_of(Type::B128), 16u);
    EXPECT_EQ(size_of(Type::Pred), 1u);
    EXPECT_EQ(size_of(Type::F16x2), 4u);
}

TEST(Tree, the_size_of_a_huge_array_does_not_wrap) {
    Variable variable;
    variable.type = Type::B64;
    variable.dimensions = {1ull << 40, 1ull << 40};
    EXPECT_EQ(variable.size_bytes(), SIZE_MAX);
}

} // namespace cuprum::emulator::ptx
