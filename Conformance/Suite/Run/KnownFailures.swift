internal import Foundation

/// The checks that a store is known to fail, each with the reason.
///
/// As a file it has a line for each: the check's id, of one store only `STORE/ID`, and the reason; what follows a `#` is
/// a comment.
///
/// ```text
/// # id      reason
/// FIL-031   our engine compares text by the system's locale; issue 12
/// lmdb/LIF-009  two processes are refused on this file system
/// ```
public struct KnownFailures: Sendable, Hashable {
    private var reasons: [String: String] = [:]

    /// None.
    public init() {}

    /// Those of a text.
    /// - Throws: ``ParsingError``, naming the line, for an id that does not exist, one that comes twice, or a line without
    ///   a reason.
    public init(parsing text: String) throws {
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let content = line.prefix { $0 != "#" }.trimmingCharacters(in: .whitespaces)
            if content.isEmpty { continue }
            try add(content, line: index + 1)
        }
    }

    /// Those of a file in UTF-8.
    /// - Throws: ``ParsingError``; what reading the file throws.
    public init(file: String) throws {
        try self.init(parsing: String(contentsOfFile: file, encoding: .utf8))
    }

    private mutating func add(_ content: String, line: Int) throws {
        let parts = content.split(maxSplits: 1, whereSeparator: \.isWhitespace)
        let id = String(parts[0])
        guard parts.count == 2 else { throw ParsingError(line: line, message: "\(id) has no reason") }
        let check = id.split(separator: "/").last.map(String.init) ?? id
        guard Check.named(check) != nil else {
            throw ParsingError(line: line, message: "no check is called \(check)")
        }
        let key = id.uppercased()
        guard reasons[key] == nil else { throw ParsingError(line: line, message: "\(id) comes twice") }
        reasons[key] = parts[1].trimmingCharacters(in: .whitespaces)
    }

    /// A result in the light of what is known.
    package func judged(_ result: CheckResult, store: String) -> CheckResult {
        let keys = ["\(store)/\(result.id)".uppercased(), result.id.uppercased()]
        guard let reason = keys.lazy.compactMap({ reasons[$0] }).first else { return result }
        var judged = result
        switch result.status {
        case .failed: judged.status = .knownFailure
        case .passed: judged.status = .unexpectedPass
        default: return result
        }
        judged.reason = reason
        return judged
    }

    /// A line of a list of known failures that cannot be understood.
    public struct ParsingError: Error, CustomStringConvertible {
        /// Which line, from 1.
        public let line: Int
        /// What is wrong with it.
        public let message: String
        /// Both.
        public var description: String { "line \(line): \(message)" }
    }
}
