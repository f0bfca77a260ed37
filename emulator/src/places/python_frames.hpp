// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Selects the Python frames that a report shows, and parses faulthandler's dump.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cuprum::emulator::places {

/// The frames of a thread, innermost first, reduced to those that a report shows.
class PythonFrames {
public:
    /// Adds the next frame. Returns whether more frames are wanted.
    bool add(std::string_view file, int line, std::string_view function);

    /// Returns the frames to show, one line per frame.
    [[nodiscard]] std::string to_text() const;

private:
    std::size_t seen_ = 0;
    std::vector<std::string> own_;       // of the program
    std::vector<std::string> installed_; // of packages that the program called
};

/// Parses the interpreter's dump of a thread: a title, then one line per frame, such as
/// `  File "train.py", line 12 in load`. Non-ASCII characters are escaped.
void read_dump(std::string_view dump, PythonFrames& frames);

} // namespace cuprum::emulator::places
