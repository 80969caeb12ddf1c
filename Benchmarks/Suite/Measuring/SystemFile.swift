internal import Foundation

/// The files in which Linux tells of itself and its processes; elsewhere there are none.
enum SystemFile {
    /// All of a file; nil where there is none.
    static func text(_ path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }

    /// What stands behind a name at the beginning of a line.
    static func value(_ name: String, in path: String) -> Substring? {
        text(path)?.split(separator: "\n").first { $0.hasPrefix(name) }?.dropFirst(name.count)
    }

    /// The number behind a name at the beginning of a line, without its unit.
    static func number(_ name: String, in path: String) -> Int? {
        value(name, in: path)?.split { $0 == " " || $0 == "\t" }.first.flatMap { Int($0) }
    }
}
