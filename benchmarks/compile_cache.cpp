// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Measures compilations that the cache on disk answers. "…/file" only reads the cached file.
// "…/cuprum" is Program::compile() with the cache, which also computes the key, checks the file and
// creates the object code. "compile" is the compilation itself.

#include <cuprum/cuprum.hpp>

#include <benchmark/benchmark.h>

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <sys/stat.h>
#include <vector>

namespace {

/// A temporary folder, removed by the destructor.
struct Folder {
    Folder() {
        std::string name =
            (std::filesystem::temp_directory_path() / "cuprum-bench-XXXXXX").string();
        path = ::mkdtemp(name.data());
    }

    ~Folder() { std::filesystem::remove_all(path); }

    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    std::string path;
};

/// A program whose code is about `kernels` KiB, and its cached file.
struct Case {
    Case(const std::string& folder, int kernels) : cache(folder) {
        std::string source;
        for (int i = 0; i < kernels; ++i) {
            source += "extern \"C\" __global__ void kernel_" + std::to_string(i) +
                      "(float* x) { x[threadIdx.x] += " + std::to_string(i) + ".5f; }\n";
        }
        program =
            std::make_unique<cuprum::Program>(source, cuprum::ProgramOptions{.arch = "sm_90"});
        static_cast<void>(program->compile(cuprum::CodeType::Cubin, {.cache = &cache}));
        file = cache.file_of(program->cache_key(cuprum::CodeType::Cubin));
    }

    cuprum::FileStreamProgramCache cache;
    std::unique_ptr<cuprum::Program> program;
    std::string file;
};

void read_file(benchmark::State& state, const Case& use) {
    for (auto _ : state) {
        const int file = ::open(use.file.c_str(), O_RDONLY | O_CLOEXEC);
        struct stat status{};
        if (file < 0 || ::fstat(file, &status) != 0) {
            std::perror(use.file.c_str());
            std::exit(1);
        }
        std::vector<std::byte> bytes(static_cast<std::size_t>(status.st_size));
        if (::read(file, bytes.data(), bytes.size()) != status.st_size) {
            std::perror(use.file.c_str());
            std::exit(1);
        }
        ::close(file);
        benchmark::DoNotOptimize(bytes.data());
    }
}

void compile_cached(benchmark::State& state, Case& use) {
    for (auto _ : state) {
        benchmark::DoNotOptimize(
            use.program->compile(cuprum::CodeType::Cubin, {.cache = &use.cache}));
    }
}

void compile(benchmark::State& state, const Case& use) {
    for (auto _ : state) {
        benchmark::DoNotOptimize(use.program->compile(cuprum::CodeType::Cubin));
    }
}

} // namespace

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    const Folder folder;
    std::vector<std::unique_ptr<Case>> cases;
    for (const int kernels : {1, 50, 400}) {
        auto& use = *cases.emplace_back(std::make_unique<Case>(folder.path, kernels));
        const auto bytes = std::filesystem::file_size(use.file);
        const std::string name = std::to_string((bytes + 512) / 1024) + "_KiB";
        const auto add = [&](const char* side, auto run) {
            benchmark::RegisterBenchmark((name + side).c_str(), [&use,
                                                                 run](benchmark::State& state) {
                run(state, use);
            })->Unit(benchmark::kMicrosecond);
        };
        add("/file", read_file);
        add("/cuprum", compile_cached);
        if (kernels == 1) {
            add("/compile", compile);
        }
    }
    benchmark::RunSpecifiedBenchmarks();
    cases.clear();
}
