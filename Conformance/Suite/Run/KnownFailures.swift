internal import Foundation

/// The checks that a store is known to fail, each with a reason.
///
/// A file of known failures has one line for each: the check's identifier, or `STORE/ID` for one store only, and the
/// reason. A `#` begins a comment. A reason that begins with `(may fail)` marks a check that does not fail every time:
/// it may also pass.
///
/// ```text
/// # id      reason
/// FIL-031   our engine compares text by the system's locale; issue 12
/// lmdb/LIF-009  two processes are refused on this file system
/// CON-012   (may fail) the file system of the build machine sometimes stalls
/// ```
public struct KnownFailures: Sendable, Hashable {
    private static let mark = "(may fail)"
    private var reasons: [String: String] = [:]

    /// Creates an empty list.
    public init() {}

    /// Parses a list.
    /// - Throws: ``ParsingError`` with the line number for an identifier that does not exist or is duplicated, or for a
    ///   line without a reason.
    public init(parsing text: String) throws {
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let content = line.prefix { $0 != "#" }.trimmingCharacters(in: .whitespaces)
            if content.isEmpty { continue }
            try add(content, line: index + 1)
        }
    }

    /// Parses the list in a UTF-8 file.
    /// - Throws: ``ParsingError``, and errors from reading the file.
    public init(file: String) throws {
        try self.init(parsing: String(contentsOfFile: file, encoding: .utf8))
    }

    private mutating func add(_ content: String, line: Int) throws {
        let parts = content.split(maxSplits: 1, whereSeparator: \.isWhitespace)
        let id = String(parts[0])
        guard parts.count == 2, parts[1].trimmingCharacters(in: .whitespaces) != Self.mark else {
            throw ParsingError(line: line, message: "\(id) has no reason")
        }
        let check = id.split(separator: "/").last.map(String.init) ?? id
        guard Check.named(check) != nil else {
            throw ParsingError(line: line, message: "there is no check \(check)")
        }
        let key = id.uppercased()
        guard reasons[key] == nil else { throw ParsingError(line: line, message: "\(id) is listed twice") }
        reasons[key] = parts[1].trimmingCharacters(in: .whitespaces)
    }

    /// Returns the result adjusted for known failures.
    package func judged(_ result: CheckResult, store: String) -> CheckResult {
        let keys = ["\(store)/\(result.id)".uppercased(), result.id.uppercased()]
        guard let reason = keys.lazy.compactMap({ reasons[$0] }).first else { return result }
        var judged = result
        switch result.status {
        case .failed: judged.status = .knownFailure
        case .passed where reason.hasPrefix(Self.mark): return result
        case .passed: judged.status = .unexpectedPass
        default: return result
        }
        judged.reason = reason
        return judged
    }

    /// A line of a list of known failures that cannot be parsed.
    public struct ParsingError: Error, CustomStringConvertible {
        /// The line number, from 1.
        public let line: Int
        /// The problem with the line.
        public let message: String
        /// The line number and the message.
        public var description: String { "line \(line): \(message)" }
    }
}
