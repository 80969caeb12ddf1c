internal import TidelineStore

/// The form in which text is stored: PostgreSQL's `text` cannot contain U+0000.
///
/// U+0000 is stored as U+0001 U+0001 and U+0001 as U+0001 U+0002; all other text is stored unchanged. Stored texts are
/// equal, and ordered by their bytes, exactly as the texts that they stand for.
enum StoredText {
    private static let escape: UInt8 = 1

    /// Returns whether bytes are stored unchanged.
    static func isPlain(_ bytes: UnsafeRawBufferPointer) -> Bool { !bytes.contains { $0 <= escape } }

    /// Appends the stored form of a text.
    static func append(_ bytes: UnsafeRawBufferPointer, to stored: inout [UInt8]) {
        guard !isPlain(bytes) else { return stored.append(contentsOf: bytes) }
        for byte in bytes {
            if byte <= escape { stored.append(escape) }
            stored.append(byte <= escape ? byte + 1 : byte)
        }
    }

    /// Returns the text that a stored one stands for, or `nil` if none is stored this way.
    static func text(of stored: UnsafeRawBufferPointer) -> [UInt8]? {
        var text: [UInt8] = []
        var isEscaped = false
        for byte in stored {
            if isEscaped {
                guard byte == 1 || byte == 2 else { return nil }
                text.append(byte - 1)
                isEscaped = false
            } else if byte == escape {
                isEscaped = true
            } else {
                text.append(byte)
            }
        }
        return isEscaped ? nil : text
    }
}
