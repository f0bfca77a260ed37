// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Input and output are files in memory, not pipes: no side can block the other, and a program that
// ends early raises no SIGPIPE here.

#include "support/run_program.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>

namespace cuprum::detail {

namespace {

using Time = std::chrono::steady_clock;

constexpr auto POLL_INTERVAL = std::chrono::milliseconds(2);

/// A file in memory.
class MemoryFile {
public:
    MemoryFile() : descriptor_(::memfd_create("cuprum", MFD_CLOEXEC)) {
        if (descriptor_ < 0) {
            throw std::system_error(errno, std::generic_category(), "memfd_create failed");
        }
    }

    ~MemoryFile() { ::close(descriptor_); }

    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

    void write(std::string_view text) const {
        while (!text.empty()) {
            const ssize_t count = ::write(descriptor_, text.data(), text.size());
            if (count < 0 && errno != EINTR) {
                throw std::system_error(errno, std::generic_category(), "write failed");
            }
            text.remove_prefix(count > 0 ? static_cast<std::size_t>(count) : 0);
        }
        ::lseek(descriptor_, 0, SEEK_SET);
    }

    [[nodiscard]] std::string read() const {
        struct stat status = {};
        if (::fstat(descriptor_, &status) != 0) {
            return {};
        }
        std::string text(static_cast<std::size_t>(status.st_size), '\0');
        std::size_t size = 0;
        while (size < text.size()) {
            const ssize_t count = ::pread(descriptor_, text.data() + size, text.size() - size,
                                          static_cast<off_t>(size));
            if (count < 0 && errno == EINTR) {
                continue;
            }
            if (count <= 0) {
                break;
            }
            size += static_cast<std::size_t>(count);
        }
        text.resize(size);
        return text;
    }

private:
    int descriptor_;
};

/// What posix_spawn does to the descriptors of a new process.
class FileActions {
public:
    FileActions() { ::posix_spawn_file_actions_init(&actions_); }

    ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }

    FileActions(const FileActions&) = delete;
    FileActions& operator=(const FileActions&) = delete;

    void connect(const MemoryFile& file, int target) {
        ::posix_spawn_file_actions_adddup2(&actions_, file.descriptor(), target);
    }

    [[nodiscard]] const posix_spawn_file_actions_t* get() const noexcept { return &actions_; }

private:
    posix_spawn_file_actions_t actions_ = {};
};

/// Waits for a process until a point in time. Returns whether it has ended.
bool wait_until(pid_t process, Time::time_point deadline, int& status) {
    while (true) {
        const pid_t ended = ::waitpid(process, &status, WNOHANG);
        // Other code of the program may wait for all children, and have taken this one.
        if (ended == process || (ended < 0 && errno != EINTR)) {
            return true;
        }
        if (Time::now() >= deadline) {
            return false;
        }
        std::this_thread::sleep_for(POLL_INTERVAL);
    }
}

} // namespace

std::string find_program(const std::string& name, std::vector<std::string>& tried) {
    const char* const path = ::secure_getenv("PATH");
    std::string_view rest = path != nullptr ? path : "";
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find(':'), rest.size());
        const std::string folder(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (!folder.starts_with('/')) {
            continue;
        }
        tried.push_back(folder);
        std::string file = folder + "/" + name;
        struct stat status = {};
        if (::stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
            ::access(file.c_str(), X_OK) == 0) {
            return file;
        }
    }
    return {};
}

ProgramRun run_program(const std::string& path, const std::vector<std::string>& arguments,
                       std::string_view input, std::chrono::milliseconds limit) {
    const MemoryFile in;
    const MemoryFile out;
    const MemoryFile errors;
    in.write(input);
    FileActions actions;
    actions.connect(in, STDIN_FILENO);
    actions.connect(out, STDOUT_FILENO);
    actions.connect(errors, STDERR_FILENO);
    std::vector<std::string> words{path};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    pointers.reserve(words.size() + 1);
    for (std::string& word : words) {
        pointers.push_back(word.data());
    }
    pointers.push_back(nullptr);
    pid_t process = 0;
    const int failure =
        ::posix_spawn(&process, path.c_str(), actions.get(), nullptr, pointers.data(), environ);
    if (failure != 0) {
        throw std::runtime_error(path +
                                 " cannot be started: " + std::generic_category().message(failure));
    }
    ProgramRun run;
    int status = 0;
    if (!wait_until(process, Time::now() + limit, status)) {
        run.is_timed_out = true;
        ::kill(process, SIGKILL);
        while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
        }
    }
    run.exit_code = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
    run.output = out.read();
    run.errors = errors.read();
    return run;
}

} // namespace cuprum::detail
