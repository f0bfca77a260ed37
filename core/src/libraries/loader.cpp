// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "libraries/loader.hpp"

#include "support/file.hpp"

#include <cuprum/error.hpp>

namespace cuprum::libraries {

namespace {

std::string version_text(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

} // namespace

LoadedLibrary load(const LibraryDescription& description) {
    LoadedLibrary library;
    library.file = description.load_file == nullptr ? load_library(description.request)
                                                    : description.load_file(description.request);
    library.version = description.version_of == nullptr ? description.min_version
                                                        : description.version_of(library.file);
    if (library.version < description.min_version) {
        throw LibraryNotFoundError(description.request.name,
                                   {library.file.path + ": version " +
                                    version_text(library.version) + " is too old, " +
                                    version_text(description.min_version) + " is needed"},
                                   description.request.advice);
    }
    // Read now: the file may be replaced while the process runs.
    library.build = detail::file_identity(library.file.path);
    if (description.after_load != nullptr) {
        description.after_load(library.file, library.version);
    }
    return library;
}

void* find_function(const LibraryDescription& description, const LoadedLibrary& library,
                    const char* name) {
    if (void* const address = library.file.find(name)) {
        return address;
    }
    const int needed = description.version_of_function == nullptr
                           ? description.min_version
                           : description.version_of_function(name);
    throw NotSupportedError(name, needed, library.version);
}

} // namespace cuprum::libraries
