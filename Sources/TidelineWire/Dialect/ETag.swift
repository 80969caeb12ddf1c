/// Conversion of row versions to and from the format of the headers `ETag` and `If-Match`.
package enum ETag {
    /// Returns the version in quotes, with each `"` in it escaped as `\"`.
    package static func quote(_ version: String) -> String {
        var bytes: [UInt8] = [UInt8(ascii: "\"")]
        for byte in version.utf8 {
            if byte == UInt8(ascii: "\"") { bytes.append(UInt8(ascii: "\\")) }
            bytes.append(byte)
        }
        bytes.append(UInt8(ascii: "\""))
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the unescaped version in a strong ETag. The quotes are optional, because some servers omit them.
    ///
    /// Returns `nil` for a weak ETag (`W/"…"`), which comes with lists and errors and is not a version, for an empty
    /// ETag, and for text that is not an ETag.
    package static func version(fromETag text: String) -> String? {
        let bytes = Array(text.utf8.trimmingBlanks)
        let quote = UInt8(ascii: "\"")
        guard bytes.contains(quote) else { return unquoted(bytes) }
        guard bytes.count > 2, bytes.first == quote, bytes.last == quote else { return nil }
        return unescaped(bytes[1..<(bytes.count - 1)])
    }

    /// Returns a version without quotes. Accepts the characters that may appear between the quotes of an ETag.
    private static func unquoted(_ bytes: [UInt8]) -> String? {
        guard !bytes.isEmpty, !bytes.starts(with: Array("W/".utf8)), bytes != [UInt8(ascii: "*")] else { return nil }
        guard bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func unescaped(_ bytes: ArraySlice<UInt8>) -> String {
        var version: [UInt8] = []
        for byte in bytes {
            // Each quote in the version was escaped, so a backslash before a quote is not part of the version.
            if byte == UInt8(ascii: "\""), version.last == UInt8(ascii: "\\") { version.removeLast() }
            version.append(byte)
        }
        return String(decoding: version, as: UTF8.self)
    }
}

/// The header `If-Match`: the row versions that a request accepts.
package enum IfMatch: Sendable, Hashable {
    /// `*`: any existing row.
    case any
    /// One of the given versions.
    case versions([String])

    /// Whether a row with the given version may be changed.
    package func allows(_ version: String?) -> Bool {
        switch self {
        case .any: true
        case .versions(let versions):
            // Compared by bytes: a version is opaque.
            version.map { version in versions.contains { $0.utf8.elementsEqual(version.utf8) } } ?? false
        }
    }

    /// Parses the header's value, a list of ETags. Skips weak ETags, because they never match.
    ///
    /// - Throws: ``WireError/Code/invalidRequest`` if the text is not such a list.
    package init(_ text: String) throws(WireError) {
        let bytes = Array(text.utf8.trimmingBlanks)
        if bytes == [UInt8(ascii: "*")] {
            self = .any
        } else if let versions = Self.list(bytes) {
            self = .versions(versions)
        } else if let version = ETag.version(fromETag: text), Array(ETag.quote(version).utf8) == bytes {
            // A version that ends with a backslash is ambiguous in a list, but not on its own.
            self = .versions([version])
        } else {
            throw WireError(.invalidRequest, "If-Match must be * or a list of versions in quotes")
        }
    }

    private static func list(_ bytes: [UInt8]) -> [String]? {
        var versions: [String] = []
        var rest = bytes[...]
        let quote = UInt8(ascii: "\"")
        while true {
            let isWeak = rest.starts(with: "W/".utf8)
            if isWeak { rest = rest.dropFirst(2) }
            guard rest.first == quote else { return nil }
            let end = rest.indices.dropFirst().first { rest[$0] == quote && rest[$0 - 1] != UInt8(ascii: "\\") }
            guard let end else { return nil }
            if !isWeak, let version = ETag.version(fromETag: String(decoding: rest[...end], as: UTF8.self)) {
                versions.append(version)
            }
            rest = rest[(end + 1)...].drop { $0.isBlank }
            guard let separator = rest.first else { return versions }
            guard separator == UInt8(ascii: ",") else { return nil }
            rest = rest.dropFirst().drop { $0.isBlank }
        }
    }
}

extension UInt8 {
    /// Whether this is a space or a tab.
    var isBlank: Bool { self == 0x20 || self == 0x09 }
}

extension BidirectionalCollection<UInt8> {
    /// The bytes without spaces and tabs at both ends.
    var trimmingBlanks: SubSequence {
        guard let first = firstIndex(where: { !$0.isBlank }), let last = lastIndex(where: { !$0.isBlank }) else {
            return self[endIndex..<endIndex]
        }
        return self[first...last]
    }
}
