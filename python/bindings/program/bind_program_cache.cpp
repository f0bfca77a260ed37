// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "memory/host_memory.hpp"
#include "program/cache_argument.hpp"
#include "program/code_type.hpp"
#include "program/program_options.hpp"
#include "support/class.hpp"
#include "support/compatibility.hpp"

#include <cuprum/linker.hpp>
#include <cuprum/program.hpp>
#include <cuprum/program_cache.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <vector>

namespace cuprum::python {

using namespace nb::literals;

namespace {

/// A cache written in Python.
class PythonCache final : public ProgramCache {
public:
    explicit PythonCache(nb::handle cache) : cache_(cache) {}

    std::optional<std::vector<std::byte>> get(std::string_view key) override;
    void put(std::string_view key, std::span<const std::byte> code) override;

    // Compiling needs no more than the two above.
    bool remove(std::string_view) override { return false; }

    std::size_t count() override { return 0; }

    void clear() override {}

private:
    nb::handle cache_; // alive for the call
};

template <typename Cache>
void bind_methods(Class<Cache, ProgramCache>& type);
void check_presence_as_reference(nb::handle options, bool has_extra_digest);
[[nodiscard]] nb::bytes key_of(nb::handle code, nb::handle code_type, nb::handle target,
                               nb::handle options, const std::vector<std::string>& flags,
                               const std::vector<std::string>& names, nb::handle extra_digest);

} // namespace

void bind_program_cache(nb::module_& module) {
    const Class<ProgramCache> base(module, "ProgramCache");
    Class<InMemoryProgramCache, ProgramCache> memory(module, "InMemoryCache");
    memory.constructor([](InMemoryProgramCache* self, std::optional<std::size_t> max_size_bytes) {
        new (self) InMemoryProgramCache(max_size_bytes);
    });
    bind_methods(memory);
    Class<FileStreamProgramCache, ProgramCache> files(module, "FileStreamCache");
    files.constructor(
        [](FileStreamProgramCache* self, nb::handle path, std::optional<std::size_t> max_bytes) {
            const auto folder =
                path.is_none() ? std::nullopt : std::optional(path_argument(path, "path"));
            const nb::gil_scoped_release unlocked;
            new (self) FileStreamProgramCache(folder, max_bytes);
        });
    bind_methods(files);
    files.property("path",
                   [](const FileStreamProgramCache& self) { return path_object(self.path()); });
    files.method("file_of", [](const FileStreamProgramCache& self, const nb::bytes& key) {
        return path_object(self.file_of({key.c_str(), key.size()}));
    });
    function(module, "set_default_cache", [](nb::handle cache) {
        std::shared_ptr<ProgramCache> shared;
        if (!cache.is_none()) {
            // The core's share of the Python object.
            PyObject* const owner = cache.inc_ref().ptr();
            shared = {nb::cast<ProgramCache*>(cache), [owner](ProgramCache*) {
                          const nb::gil_scoped_acquire locked;
                          Py_DECREF(owner);
                      }};
        }
        const nb::gil_scoped_release unlocked;
        set_default_program_cache(std::move(shared));
    });
    function(module, "ptx_options", [](nb::handle options) {
        const LinkerOptions linked = program_options(options).to_linker();
        linked.check_honoured(Linker::which_backend());
        return linked.to_nvjitlink();
    });
    function<check_presence_as_reference>(module, "check_cache_options");
    function<key_of>(module, "program_cache_key");
}

CacheArgument::CacheArgument(nb::handle cache) {
    if (cache.is_none()) {
        return;
    }
    const nb::module_ caches = nb::module_::import_("cuprum._program_cache");
    if (!nb::isinstance(cache, nb::object(caches.attr("ProgramCacheResource")))) {
        raise_error(PyExc_TypeError,
                    "cache must be a ProgramCacheResource or None, got " + type_label(cache));
    }
    // A derived class may override methods, so those are called.
    for (const char* name : {"FileStreamProgramCache", "InMemoryProgramCache"}) {
        if (cache.type().is(nb::object(caches.attr(name)))) {
            cache_ = nb::cast<ProgramCache*>(nb::object(cache.attr("_core")));
            return;
        }
    }
    adapter_ = std::make_unique<PythonCache>(cache);
    cache_ = adapter_.get();
}

void check_as_reference(const ProgramOptions& options, SourceType language, bool has_extra_digest) {
    if (has_extra_digest || !compatibility::needs_extra_digest_for_files()) {
        return;
    }
    const bool is_cxx = language == SourceType::Cxx;
    const char* const field =
        is_cxx && !options.include_path.empty()                                 ? "include_path"
        : is_cxx && !options.pre_include.empty()                                ? "pre_include"
        : is_cxx && options.name.find_first_of("/\\") != std::string::npos      ? "name"
        : language == SourceType::Nvvm && options.use_libdevice.value_or(false) ? "use_libdevice"
                                                                                : nullptr;
    if (field != nullptr) {
        raise_error(PyExc_ValueError, std::string("ProgramOptions ") + field +
                                          " names files or has a directory component; pass "
                                          "extra_digest, a digest of the contents of those files");
    }
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

std::optional<std::vector<std::byte>> PythonCache::get(std::string_view key) {
    const nb::gil_scoped_acquire locked;
    const nb::object code = cache_.attr("get")(nb::bytes(key.data(), key.size()));
    if (code.is_none()) {
        return std::nullopt;
    }
    const HostMemory memory(code, HostMemory::Access::Read, "what the cache returned");
    const auto* const begin = static_cast<const std::byte*>(memory.data());
    return std::vector<std::byte>(begin, begin + memory.size());
}

void PythonCache::put(std::string_view key, std::span<const std::byte> code) {
    const nb::gil_scoped_acquire locked;
    nb::object cache = nb::borrow(cache_);
    cache[nb::bytes(key.data(), key.size())] = nb::bytes(code.data(), code.size());
}

template <typename Cache>
void bind_methods(Class<Cache, ProgramCache>& type) {
    static constexpr auto view = [](const nb::bytes& key) {
        return std::string_view(key.c_str(), key.size());
    };
    type.method("get", [](Cache& self, const nb::bytes& key) -> std::optional<nb::bytes> {
        auto code = without_gil([&] { return self.get(view(key)); });
        if (!code.has_value()) {
            return std::nullopt;
        }
        return nb::bytes(code->data(), code->size());
    });
    type.method("put", [](Cache& self, const nb::bytes& key, nb::handle code) {
        const HostMemory memory(code, HostMemory::Access::Read, "code");
        const nb::gil_scoped_release unlocked;
        self.put(view(key), {static_cast<const std::byte*>(memory.data()), memory.size()});
    });
    type.method("remove", [](Cache& self, const nb::bytes& key) {
        const nb::gil_scoped_release unlocked;
        return self.remove(view(key));
    });
    type.template method<&Cache::count>("count", RELEASES_GIL);
    type.template method<&Cache::clear>("clear", RELEASES_GIL);
    type.template method<&Cache::bytes>("size_bytes", RELEASES_GIL);
}

/// Refuses, for programs that expect it, options that are merely present: `time=False` too.
void check_presence_as_reference(nb::handle options, bool has_extra_digest) {
    if (!compatibility::follows_reference()) {
        return;
    }
    const auto refuse = [options](const char* name, const char* reason) {
        if (!nb::object(options.attr(name)).is_none()) {
            raise_error(PyExc_ValueError, std::string("ProgramOptions ") + name + reason);
        }
    };
    for (const char* name : {"create_pch", "time", "fdevice_time_trace"}) {
        refuse(name, " has a side effect that a cache hit would skip; compile without a cache");
    }
    if (has_extra_digest) {
        return;
    }
    constexpr const char* UNCOVERED = " names files, whose contents the cache key does not cover; "
                                      "pass extra_digest, a digest of those contents";
    for (const char* name : {"use_pch", "pch_dir"}) {
        refuse(name, UNCOVERED);
    }
    for (const char* name : {"include_path", "pre_include"}) {
        const nb::object value = options.attr(name);
        const bool is_text = PyUnicode_Check(value.ptr()) != 0;
        if (is_text || (PySequence_Check(value.ptr()) != 0 && nb::len(value) > 0)) {
            refuse(name, UNCOVERED);
        }
    }
}

nb::bytes key_of(nb::handle code, nb::handle code_type, nb::handle target, nb::handle options,
                 const std::vector<std::string>& flags, const std::vector<std::string>& names,
                 nb::handle extra_digest) {
    const std::string language = text_argument(code_type, "code_type");
    std::string source;
    if (PyByteArray_Check(code.ptr()) != 0) {
        const HostMemory memory(code, HostMemory::Access::Read, "code");
        source.assign(static_cast<const char*>(memory.data()), memory.size());
    } else {
        source = text_argument(code, "code");
    }
    const SourceType type = language == "c++"   ? SourceType::Cxx
                            : language == "ptx" ? SourceType::Ptx
                                                : SourceType::Nvvm;
    const ProgramOptions how = program_options(options);
    std::optional<std::string> digest;
    if (!extra_digest.is_none()) {
        digest = text_argument(extra_digest, "extra_digest");
    }
    check_as_reference(how, type, digest.has_value());
    check_cacheable(type, how, digest.has_value());
    std::string files;
    if (type == SourceType::Cxx && !digest.has_value()) {
        const nb::gil_scoped_release unlocked;
        files = included_files_digest(source, how);
    }
    ProgramCacheKeyParts parts{
        .code = source,
        .language = type,
        .target = code_type_from(text_argument(target, "target_type")).value_or(CodeType::Cubin),
        .compiler_options = flags,
        .name = how.name,
        .name_expressions = names,
        .headers = how.headers,
        .uses_default_include_path = how.default_include_path.value_or(true),
        .included_files = files};
    if (type == SourceType::Nvvm) { // the others do not look at these
        parts.extra_sources = how.extra_sources;
        parts.uses_libdevice = how.use_libdevice.value_or(false);
    }
    if (digest.has_value()) {
        parts.extra_digest = *digest;
    }
    const nb::gil_scoped_release unlocked;
    const std::string key = make_program_cache_key(parts);
    const nb::gil_scoped_acquire locked;
    return nb::bytes(key.data(), key.size());
}

} // namespace

} // namespace cuprum::python
