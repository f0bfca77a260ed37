// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Asks all questions, or the groups that the arguments name, each in a child process.

#include "answers.hpp"

#include <unistd.h>

#include <cstring>
#include <sys/wait.h>

namespace {

constexpr unsigned LONGEST_S = 60;

void run(const answers::Group& group) {
    std::printf("== %s\n", group.name);
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        alarm(LONGEST_S);
        group.ask();
        std::fflush(stdout);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) {
        std::printf("(the process ended by signal %d)\n", WTERMSIG(status));
        std::fflush(stdout);
    }
}

} // namespace

int main(int count, char** arguments) {
    using namespace answers;
    for (const auto* groups :
         {&ARRAYS, &CALLS, &CAPTURES, &COPIES, &OBJECTS, &REFERENCES, &MAPPINGS}) {
        for (const Group& group : *groups) {
            bool is_wanted = count < 2;
            for (int index = 1; index < count; ++index) {
                is_wanted = is_wanted || std::strcmp(arguments[index], group.name) == 0;
            }
            if (is_wanted) {
                run(group);
            }
        }
    }
    return 0;
}
