// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A main function for fuzzers without libFuzzer: in the tests, and in `make fuzz` without clang.
//
// It accepts the libFuzzer options that tools/fuzz uses. It runs every given file, then mutated
// inputs until the time or the number of runs is used up. It does not measure coverage; it mutates
// good inputs in ways that often break readers of binary formats. If an input ends the process or
// takes too long, the input is saved as a file.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <sys/time.h>
#include <vector>

extern "C" {
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
[[gnu::weak]] std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                                  std::size_t max_size, unsigned seed);
std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);
[[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)());
}

namespace {

using Input = std::vector<std::uint8_t>;
using Clock = std::chrono::steady_clock;

struct Options {
    long runs = -1; // in addition to the given files; -1 for no limit
    long max_total_time = 0;
    long timeout = 10;
    long rss_limit_mb = 2048;
    std::size_t max_len = 4096;
    unsigned seed = 1;
    std::string artifact_prefix = "./";
    std::vector<std::filesystem::path> places;
};

// The signal handlers read these.
const Input* current = nullptr;
volatile std::sig_atomic_t run_number = 0;
volatile std::sig_atomic_t watched_run = -1;
long seconds_on_it = 0;
long max_seconds = 10;
std::string artifact_path;
std::mt19937 randomness;

/// Returns a number below `end`, which is not 0.
std::size_t below(std::size_t end) {
    return randomness() % end;
}

/// Saves the running input. Uses only functions that a signal handler may call.
void keep_current() {
    const Input* const input = current;
    current = nullptr;
    if (input == nullptr) {
        return;
    }
    const int file = ::open(artifact_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || ::write(file, input->data(), input->size()) < 0) {
        return;
    }
    ::close(file);
    constexpr std::string_view words = "[fuzz] the input was saved as ";
    const bool is_said = ::write(STDERR_FILENO, words.data(), words.size()) > 0 &&
                         ::write(STDERR_FILENO, artifact_path.data(), artifact_path.size()) > 0 &&
                         ::write(STDERR_FILENO, "\n", 1) > 0;
    static_cast<void>(is_said);
}

void on_fatal_signal(int number) {
    keep_current();
    ::signal(number, SIG_DFL);
    ::raise(number);
}

void on_second(int /*number*/) {
    if (watched_run != run_number) {
        watched_run = run_number;
        seconds_on_it = 0;
        return;
    }
    if (++seconds_on_it >= max_seconds && current != nullptr) {
        constexpr std::string_view words = "[fuzz] the input takes too long\n";
        static_cast<void>(!::write(STDERR_FILENO, words.data(), words.size()));
        keep_current();
        ::_exit(70);
    }
}

void install_handlers() {
    for (const int number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
        // A sanitizer's own handler prints a better report, so do not replace it.
        if (__sanitizer_set_death_callback == nullptr || number == SIGABRT) {
            ::signal(number, on_fatal_signal);
        }
    }
    if (__sanitizer_set_death_callback != nullptr) {
        __sanitizer_set_death_callback(keep_current);
    }
    struct sigaction action{};
    action.sa_handler = on_second;
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGALRM, &action, nullptr);
    itimerval every{};
    every.it_interval.tv_sec = every.it_value.tv_sec = 1;
    ::setitimer(ITIMER_REAL, &every, nullptr);
}

long peak_megabytes() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
}

void run(const Input& input, const Options& options) {
    // An allocation of the exact size lets sanitizers detect reads past its end.
    const Input exact(input.begin(), input.end());
    current = &exact;
    run_number = run_number + 1;
    LLVMFuzzerTestOneInput(exact.data(), exact.size());
    if (peak_megabytes() > options.rss_limit_mb) {
        std::fprintf(stderr, "[fuzz] the process uses more than %ld MB\n", options.rss_limit_mb);
        std::abort();
    }
    current = nullptr;
}

Options read_options(int count, char** words) {
    Options options;
    for (int i = 1; i < count; ++i) {
        const std::string_view word = words[i];
        if (!word.starts_with('-')) {
            options.places.emplace_back(word);
            continue;
        }
        const std::size_t equals = word.find('=');
        const std::string_view name = word.substr(1, equals - 1);
        const std::string value(equals == std::string_view::npos ? "" : word.substr(equals + 1));
        const long number = std::strtol(value.c_str(), nullptr, 10);
        if (name == "runs") {
            options.runs = number;
        } else if (name == "max_total_time") {
            options.max_total_time = number;
        } else if (name == "timeout") {
            options.timeout = number;
        } else if (name == "rss_limit_mb") {
            options.rss_limit_mb = number;
        } else if (name == "max_len") {
            options.max_len = static_cast<std::size_t>(std::max(number, 1L));
        } else if (name == "seed") {
            options.seed = static_cast<unsigned>(number);
        } else if (name == "artifact_prefix") {
            options.artifact_prefix = value;
        } // ignore libFuzzer's other options
    }
    return options;
}

std::vector<Input> read_inputs(const Options& options) {
    std::vector<std::filesystem::path> paths;
    for (const auto& place : options.places) {
        if (std::filesystem::is_directory(place)) {
            for (const auto& entry : std::filesystem::recursive_directory_iterator(place)) {
                if (entry.is_regular_file()) {
                    paths.push_back(entry.path());
                }
            }
        } else if (std::filesystem::exists(place)) {
            paths.push_back(place);
        } else {
            std::fprintf(stderr, "[fuzz] %s does not exist\n", place.c_str());
            std::exit(2);
        }
    }
    std::ranges::sort(paths);
    std::vector<Input> inputs;
    for (const auto& path : paths) {
        std::ifstream file(path, std::ios::binary);
        inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    return inputs;
}

/// Returns a number at the edge of some range.
std::uint64_t boundary_number() {
    constexpr std::array<std::uint64_t, 15> NUMBERS{
        0,      1,      2,          7,          8,           0x7f,       0x80, 0xff,
        0x7fff, 0xffff, 0x7fffffff, 0xffffffff, 0x100000000, ~0ULL >> 1, ~0ULL};
    const std::uint64_t number = NUMBERS[below(NUMBERS.size())];
    return below(4) == 0 ? number + randomness() % 17 - 8 : number;
}

/// Makes one change. The input never grows beyond `max_size`.
void change(Input& input, std::size_t max_size) {
    const auto at = [&](std::size_t offset) {
        return input.begin() + static_cast<std::ptrdiff_t>(offset);
    };
    const std::size_t kind = input.empty() ? 3 : below(8);
    switch (kind) {
    case 0:
        input[below(input.size())] ^= static_cast<std::uint8_t>(1u << below(8));
        break;
    case 1:
        input[below(input.size())] = static_cast<std::uint8_t>(randomness());
        break;
    case 2: { // overwrite with a number of 1, 2, 4 or 8 bytes
        const std::uint64_t number = boundary_number();
        const std::size_t bytes = std::min(std::size_t{1} << below(4), input.size());
        std::memcpy(input.data() + below(input.size() - bytes + 1), &number, bytes);
        break;
    }
    case 3: { // insert random bytes
        const std::size_t bytes = 1 + below(16);
        if (input.size() + bytes <= max_size) {
            Input piece(bytes);
            std::ranges::generate(piece, [] { return static_cast<std::uint8_t>(randomness()); });
            const std::size_t offset = below(input.size() + 1);
            input.insert(at(offset), piece.begin(), piece.end());
        }
        break;
    }
    case 4: { // remove a piece
        const std::size_t from = below(input.size());
        const std::size_t bytes = 1 + below(std::min<std::size_t>(input.size() - from, 64));
        input.erase(at(from), at(from + bytes));
        break;
    }
    case 5: { // copy a piece over another
        const std::size_t from = below(input.size());
        const std::size_t to = below(input.size());
        const std::size_t bytes = below(input.size() - std::max(from, to) + 1);
        std::memmove(input.data() + to, input.data() + from, bytes);
        break;
    }
    case 6: // cut off the end
        input.resize(below(input.size() + 1));
        break;
    default: { // duplicate a piece
        const std::size_t from = below(input.size());
        const std::size_t bytes = 1 + below(std::min<std::size_t>(input.size() - from, 256));
        if (input.size() + bytes <= max_size) {
            const Input piece(at(from), at(from + bytes));
            input.insert(at(from), piece.begin(), piece.end());
        }
        break;
    }
    }
}

void mutate(Input& input, std::size_t max_size) {
    if (LLVMFuzzerCustomMutator != nullptr) {
        const std::size_t before = input.size();
        input.resize(std::max(max_size, before));
        input.resize(LLVMFuzzerCustomMutator(input.data(), before, input.size(),
                                             static_cast<unsigned>(randomness())));
        return;
    }
    for (std::size_t left = 1 + below(6); left != 0; --left) {
        change(input, max_size);
    }
}

} // namespace

std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size) {
    Input input(data, data + size);
    change(input, max_size);
    const std::size_t length = std::min(input.size(), max_size);
    std::copy_n(input.begin(), length, data);
    return length;
}

int main(int count, char** words) {
    const Options options = read_options(count, words);
    randomness.seed(options.seed);
    max_seconds = options.timeout;
    artifact_path = options.artifact_prefix + "input-" + std::to_string(::getpid());
    install_handlers();

    const Clock::time_point begin = Clock::now();
    std::vector<Input> pool = read_inputs(options);
    for (const Input& input : pool) {
        run(input, options);
    }
    const std::size_t given = pool.size();
    std::erase_if(pool, [&](const Input& input) { return input.size() > options.max_len; });
    if (pool.empty()) {
        pool.emplace_back();
    }
    const std::size_t good = pool.size();
    constexpr std::size_t MAX_STRAYS = 256; // mutated inputs that are mutated further
    const auto is_over = [&](long done) {
        return (options.runs >= 0 && done >= options.runs) ||
               (options.max_total_time > 0 &&
                Clock::now() - begin >= std::chrono::seconds(options.max_total_time));
    };
    long done = 0;
    while (!is_over(done)) {
        Input input = pool[below(pool.size())];
        mutate(input, options.max_len);
        run(input, options);
        ++done;
        if (below(8) == 0) {
            if (pool.size() < good + MAX_STRAYS) {
                pool.push_back(std::move(input));
            } else {
                pool[good + below(MAX_STRAYS)] = std::move(input);
            }
        }
    }
    std::fprintf(
        stderr, "[fuzz] %zu files and %ld changed inputs in %lld s, %ld MB at most\n", given, done,
        static_cast<long long>(
            std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin).count()),
        peak_megabytes());
    return 0;
}
