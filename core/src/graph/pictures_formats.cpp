// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Pictures as text: the language of Graphviz, and a tree for terminals.

#include "graph/pictures.hpp"

#include <algorithm>
#include <string_view>

namespace cuprum::detail {

namespace {

/// How a kind of node looks.
struct Look {
    const char* shape;
    const char* colour;
};

Look look_of(GraphNodeType type) {
    switch (type) {
    case GraphNodeType::Kernel:
        return {"box", "#cfe3f7"};
    case GraphNodeType::Memcpy:
        return {"box", "#d8f0d2"};
    case GraphNodeType::Memset:
        return {"box", "#eef7cf"};
    case GraphNodeType::MemAlloc:
    case GraphNodeType::MemFree:
        return {"box", "#f7e9cf"};
    case GraphNodeType::Host:
        return {"box", "#f3d9ec"};
    case GraphNodeType::WaitEvent:
    case GraphNodeType::EventRecord:
        return {"ellipse", "#e6e6e6"};
    case GraphNodeType::Conditional:
        return {"diamond", "#fbd9c9"};
    case GraphNodeType::Graph:
        return {"folder", "#e4dcf5"};
    default:
        return {"ellipse", "#ffffff"};
    }
}

/// Writes a text so that it can stand between quotes.
std::string escaped(std::string_view text) {
    std::string result;
    for (const char character : text) {
        if (character == '"' || character == '\\') {
            result += '\\';
        }
        result += static_cast<unsigned char>(character) < ' ' ? ' ' : character;
    }
    return result;
}

/// Writes a graph and the graphs below it. Numbers go over the whole picture.
class DotWriter {
public:
    std::string write(const GraphPicture& picture) {
        text_ += "digraph cuprum {\n"
                 "  compound=true; rankdir=TB; fontname=\"Helvetica\"; fontsize=11;\n"
                 "  node [fontname=\"Helvetica\", fontsize=11, style=\"rounded,filled\", "
                 "color=\"#555555\"];\n"
                 "  edge [color=\"#555555\", arrowsize=0.7, fontname=\"Helvetica\", "
                 "fontsize=9];\n";
        write_graph(picture, "  ");
        text_ += "}\n";
        return std::move(text_);
    }

private:
    /// Writes the nodes and edges of a graph. Returns the number of its first node.
    std::size_t write_graph(const GraphPicture& picture, const std::string& indent) {
        std::vector<std::size_t> numbers;
        for (const NodePicture& node : picture.nodes) {
            numbers.push_back(next_++);
            write_node(node, numbers.back(), indent);
        }
        if (picture.nodes.empty()) {
            numbers.push_back(next_++);
            text_ += indent + name_of(numbers.back()) +
                     " [label=\"(empty)\", shape=plaintext, style=\"\"];\n";
        }
        for (std::size_t i = 0; i < picture.nodes.size(); ++i) {
            for (const std::size_t from : picture.nodes[i].predecessors) {
                const bool is_early = std::ranges::find(picture.nodes[i].early_starts, from) !=
                                      picture.nodes[i].early_starts.end();
                text_ += indent + name_of(numbers[from]) + " -> " + name_of(numbers[i]) +
                         (is_early ? " [style=dashed, label=\"may start early\"]" : "") + ";\n";
            }
        }
        for (std::size_t i = 0; i < picture.nodes.size(); ++i) {
            for (const GraphPicture& child : picture.nodes[i].children) {
                write_child(child, numbers[i], indent);
            }
        }
        return numbers.front();
    }

    void write_node(const NodePicture& node, std::size_t number, const std::string& indent) {
        const Look look = look_of(node.text.type);
        text_ += indent + name_of(number) + " [label=\"" + escaped(node.text.title);
        for (const std::string& detail : node.text.details) {
            text_ += "\\n" + escaped(detail);
        }
        text_ += std::string("\", shape=") + look.shape + ", fillcolor=\"" + look.colour + "\"];\n";
    }

    void write_child(const GraphPicture& child, std::size_t parent, const std::string& indent) {
        const std::string cluster = "cluster_" + std::to_string(clusters_++);
        text_ += indent + "subgraph " + cluster + " {\n" + indent + "  label=\"" +
                 escaped(child.label) + "\"; style=\"rounded\"; color=\"#999999\";\n";
        const std::size_t first = write_graph(child, indent + "  ");
        text_ += indent + "}\n" + indent + name_of(parent) + " -> " + name_of(first) +
                 " [lhead=" + cluster + ", style=dotted, arrowhead=none];\n";
    }

    static std::string name_of(std::size_t number) { return "n" + std::to_string(number); }

    std::string text_;
    std::size_t next_ = 0;
    std::size_t clusters_ = 0;
};

std::string count_text(std::size_t count, const char* what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::size_t edge_count(const GraphPicture& picture) {
    std::size_t count = 0;
    for (const NodePicture& node : picture.nodes) {
        count += node.predecessors.size();
    }
    return count;
}

/// Writes the lines of a tree.
class TreeWriter {
public:
    std::string write(const GraphPicture& picture) {
        text_ = "graph: " + summary(picture) + "\n";
        write_nodes(picture, "", "");
        return std::move(text_);
    }

private:
    void write_nodes(const GraphPicture& picture, const std::string& indent,
                     const std::string& number) {
        for (std::size_t i = 0; i < picture.nodes.size(); ++i) {
            const NodePicture& node = picture.nodes[i];
            const bool is_last = i + 1 == picture.nodes.size();
            const std::string own = number + std::to_string(i + 1);
            text_ += indent + (is_last ? "└─ " : "├─ ") + own + "  " + to_line(node.text);
            const char* separator = "  after ";
            for (const std::size_t from : node.predecessors) {
                const bool is_early =
                    std::ranges::find(node.early_starts, from) != node.early_starts.end();
                text_ += separator + number + std::to_string(from + 1) +
                         (is_early ? " (may start early)" : "");
                separator = ", ";
            }
            text_ += "\n";
            const std::string inside = indent + (is_last ? "   " : "│  ");
            for (std::size_t j = 0; j < node.children.size(); ++j) {
                const GraphPicture& child = node.children[j];
                const bool is_last_child = j + 1 == node.children.size();
                text_ += inside + (is_last_child ? "└─ " : "├─ ") + child.label + ": " +
                         summary(child) + "\n";
                // Branches are numbered only if there are several.
                const std::string prefix =
                    node.children.size() > 1 ? own + "." + std::to_string(j) + "." : own + ".";
                write_nodes(child, inside + (is_last_child ? "   " : "│  "), prefix);
            }
        }
    }

    static std::string summary(const GraphPicture& picture) {
        return count_text(picture.nodes.size(), "node") + ", " +
               count_text(edge_count(picture), "edge") +
               (picture.has_cycle ? "; it has a cycle, whose nodes come last and can never run"
                                  : "");
    }

    std::string text_;
};

} // namespace

std::string to_dot(const GraphPicture& picture) {
    return DotWriter().write(picture);
}

std::string to_text(const GraphPicture& picture) {
    return TreeWriter().write(picture);
}

} // namespace cuprum::detail
