internal import TidelineStore

/// The rules for the ids of synchronized rows.
package enum ItemID {
    /// Checks the id of a new row. It must have 1 to 255 characters (Unicode scalars), and must not be blank, `.` or
    /// `..`. It must not contain control characters, `"`, `+`, `?`, `\`, `/` or a backtick.
    ///
    /// - Throws: ``WireError/Code/invalidID``, with the id and the violated rule.
    package static func validate(_ id: String) throws(WireError) {
        guard let fault = fault(in: id) else { return }
        throw WireError(.invalidID, "an id \(fault)", id: String(id.prefix(300)))
    }

    /// Checks the id of an existing row. Other clients or SQL statements may have created ids that a new row must not
    /// have. Only ids that no path can contain, even percent-encoded, are rejected: an empty id, `.` and `..`.
    ///
    /// - Throws: ``WireError/Code/invalidID``, with the id and the violated rule.
    package static func validateExisting(_ id: String) throws(WireError) {
        guard !id.isEmpty else { throw WireError(.invalidID, "an id must not be empty", id: id) }
        guard id != ".", id != ".." else { throw WireError(.invalidID, "an id must not be . or ..", id: id) }
    }

    /// Whether an identifier consists of ASCII characters that are always valid, which is true of most identifiers.
    private static func isPlain(_ id: String) -> Bool {
        let isPlain = id.utf8.withContiguousStorageIfAvailable { bytes in
            // Two dots are a path.
            bytes.count > 2 && bytes.count <= 255 && bytes.allSatisfy { $0.isUnreserved }
        }
        return isPlain ?? false
    }

    private static func fault(in id: String) -> String? {
        if isPlain(id) { return nil }
        let scalars = id.unicodeScalars
        if scalars.isEmpty { return "must not be empty" }
        if scalars.count > 255 { return "must not have more than 255 characters" }
        if scalars.allSatisfy(\.properties.isWhitespace) { return "must not be blank" }
        if id == "." || id == ".." { return "must not be . or .." }
        for scalar in scalars {
            switch scalar {
            case "\"", "+", "?", "\\", "/", "`": return "must not contain \(scalar)"
            case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}": return "must not contain control characters"
            default: break
            }
        }
        return nil
    }

    /// Whether a text is a UUID as in RFC 9562: 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12.
    package static func isUUID(_ text: String) -> Bool {
        let groups = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return groups.map(\.count) == [8, 4, 4, 4, 12]
            && groups.allSatisfy { $0.allSatisfy { $0.hexadecimalDigit != nil } }
    }

    /// Returns a new id: a random UUID (version 4) in lower case.
    package static func random(using generator: inout some RandomNumberGenerator) -> String {
        // Generate two words instead of single bytes, because the system's generator makes a system call for each
        // value.
        let words: [UInt64] = [generator.next(), generator.next()]
        return String(unsafeUninitializedCapacity: 36) { text in
            var length = 0
            func append(_ byte: UInt8) {
                text[length] = byte
                length += 1
            }
            for index in 0..<16 {
                var byte = UInt8(truncatingIfNeeded: words[index / 8] >> (index % 8 * 8))
                if index == 6 { byte = byte & 0x0F | 0x40 }
                if index == 8 { byte = byte & 0x3F | 0x80 }
                if (4...10).contains(index), index.isMultiple(of: 2) { append(UInt8(ascii: "-")) }
                append(hexadecimalDigits[Int(byte >> 4)])
                append(hexadecimalDigits[Int(byte & 15)])
            }
            return length
        }
    }

    private static let hexadecimalDigits = Array("0123456789abcdef".utf8)

    /// Returns a new id from the system's random numbers. See ``random(using:)``.
    package static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        return random(using: &generator)
    }
}
