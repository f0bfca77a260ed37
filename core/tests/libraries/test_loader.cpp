// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The loader that all of CUDA's libraries share, tested with a table for the C library's libm.

#include "libraries/loader.hpp"
#include "support/expect_error.hpp"

#include <cuprum/error.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

namespace cuprum {

namespace {

constexpr std::array FILE_NAMES{"libm.so.6"};
int loads = 0;

} // namespace

namespace probe {

struct Table;
using Library = libraries::Loader<Table>;

struct Table {
    libraries::Entry<double(double)> floor{&libraries::Stub<Table, &Table::floor>::call, "floor"};
    libraries::Entry<double(double)> missing{&libraries::Stub<Table, &Table::missing>::call,
                                             "no_such_function_here"};
};

constexpr libraries::LibraryDescription DESCRIPTION{
    .request = {.name = "Probe",
                .file_names = FILE_NAMES,
                .variable = "CUPRUM_PROBE_LIBRARY",
                .advice = "install it"},
    .min_version = 12000,
    .version_of = [](const detail::SharedLibrary&) { return 12040; },
    .version_of_function = [](std::string_view) { return 13010; },
    .after_load = [](const detail::SharedLibrary&, int) { ++loads; }};

} // namespace probe

template <>
constinit const libraries::LibraryDescription libraries::Loader<probe::Table>::DESCRIPTION =
    probe::DESCRIPTION;

namespace {

TEST(LibraryLoader, finds_a_function_on_its_first_call) {
    EXPECT_EQ(probe::Library::table().floor(3.5), 3.0);
    EXPECT_EQ(probe::Library::table().floor(-0.5), -1.0);
    EXPECT_EQ(loads, 1);
    EXPECT_EQ(probe::Library::loaded().version, 12040);
    EXPECT_NE(probe::Library::loaded().file.path.find("libm.so.6"), std::string::npos);
    EXPECT_FALSE(probe::Library::loaded().build.empty());
}

TEST(LibraryLoader, a_missing_function_names_the_versions) {
    testing::expect_error<NotSupportedError>(
        [] { static_cast<void>(probe::Library::table().missing(1.0)); },
        {"no_such_function_here", "13.1", "12.4"});
}

TEST(LibraryLoader, a_library_that_is_too_old_is_not_found) {
    libraries::LibraryDescription newer = probe::DESCRIPTION;
    newer.min_version = 13000;
    testing::expect_error<LibraryNotFoundError>(
        [&] { static_cast<void>(libraries::load(newer)); },
        {"Probe", "version 12.4 is too old, 13.0 is needed", "install it"});
}

TEST(LibraryLoader, a_table_can_be_replaced_and_restored) {
    probe::Table fake = probe::Library::table();
    fake.floor = [](double value) { return -value; };
    EXPECT_FALSE(probe::Library::is_replaced());
    probe::Table* const before = probe::Library::exchange_table(&fake);
    EXPECT_TRUE(probe::Library::is_replaced());
    EXPECT_EQ(probe::Library::table().floor(3.5), -3.5);
    EXPECT_EQ(probe::Library::exchange_table(before), &fake);
    EXPECT_EQ(probe::Library::table().floor(3.5), 3.0);
}

} // namespace

} // namespace cuprum
