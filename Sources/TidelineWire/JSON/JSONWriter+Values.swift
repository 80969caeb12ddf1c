internal import TidelineStore

extension JSONWriter {
    mutating func append(word: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
    }

    mutating func append(int value: Int64) {
        var text = String(value)
        text.withUTF8 { bytes.append(contentsOf: $0) }
    }

    mutating func append(double value: Double) {
        guard value.isFinite else {
            append(word: "null")
            return
        }
        // The shortest text that reads back as the same double. All of its forms (1.0, 1e+20, 5e-324, -0.0) are JSON.
        var text = value.description
        text.withUTF8 { bytes.append(contentsOf: $0) }
    }

    mutating func append(timestamp: Timestamp) {
        withUnsafeTemporaryAllocation(byteCount: 28, alignment: 1) { buffer in
            let length = timestamp.writeISO8601(into: buffer)
            bytes.append(UInt8(ascii: "\""))
            bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: buffer[..<length]))
            bytes.append(UInt8(ascii: "\""))
        }
    }

    mutating func appendBase64(_ content: UnsafeRawBufferPointer) {
        bytes.append(UInt8(ascii: "\""))
        Base64.encode(content, into: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes the text of a JSON value unchanged, or as a string if it is not valid JSON. In the latter case, a reader
    /// finds a value of the wrong type in one column instead of an invalid page.
    mutating func appendJSON(_ text: UnsafeRawBufferPointer) {
        if JSONScanner.isValid(text) {
            bytes.append(contentsOf: text)
        } else {
            appendText(text)
        }
    }

    /// Writes UTF-8 as a JSON string. Bytes that are not UTF-8, which only a damaged file contains, are written as
    /// U+FFFD.
    mutating func appendText(_ text: UnsafeRawBufferPointer) {
        bytes.append(UInt8(ascii: "\""))
        let view = ByteView(text)
        var start = 0
        var end = 0
        while true {
            end = PlainText.end(in: view, from: end)
            if end < text.count, text[end] >= 0x80 {
                let length = UTF8Check.sequenceLength(at: view.base + end, count: view.count - end)
                end += max(length, 1)
                if length > 0 { continue }
                bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: text[start..<(end - 1)]))
                bytes.append(contentsOf: "\u{FFFD}".utf8)
            } else {
                // A slice would be copied byte by byte.
                bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: text[start..<end]))
                guard end < text.count else { break }
                appendEscaped(text[end])
                end += 1
            }
            start = end
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func appendEscaped(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            bytes.append(UInt8(ascii: "\\"))
            bytes.append(byte)
        case 0x0A: append(word: "\\n")
        case 0x0D: append(word: "\\r")
        case 0x09: append(word: "\\t")
        default:
            append(word: "\\u00")
            bytes.append(byte >> 4 + 0x30)
            let low = byte & 0x0F
            bytes.append(low < 10 ? low + 0x30 : low - 10 + 0x61)
        }
    }
}
