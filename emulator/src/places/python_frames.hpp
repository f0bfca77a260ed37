// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Which frames of Python are worth a line, and the text of faulthandler's dump.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cuprum::emulator::places {

/// Gathers the frames of a thread, innermost first, and keeps those that a report shows.
class PythonFrames {
public:
    /// Takes the next frame. Returns whether more are wanted.
    bool add(std::string_view file, int line, std::string_view function);

    /// Returns what is to be shown, one line per frame.
    [[nodiscard]] std::string to_text() const;

private:
    std::size_t seen_ = 0;
    std::vector<std::string> own_;       // of the program
    std::vector<std::string> installed_; // of packages and the standard library, before those
};

/// Reads the dump that the interpreter writes of a thread: a title, then lines such as
/// `  File "train.py", line 12 in load`. Characters beyond ASCII are escaped in it.
void read_dump(std::string_view dump, PythonFrames& frames);

} // namespace cuprum::emulator::places
