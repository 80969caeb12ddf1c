internal import HTTPTypes

/// Percent-encoding of parts of a URL.
package enum PercentEncoding {
    /// Returns the text with all characters except letters, digits, `-`, `.`, `_` and `~` encoded, for use in a path or
    /// query.
    package static func encode(_ text: some StringProtocol) -> String {
        if text.utf8.allSatisfy(\.isUnreserved) { return String(text) }
        return encode(text.utf8) { $0.isUnreserved }
    }

    /// Returns the encoded text of a query value. Leaves some allowed characters unencoded that are frequent in OData,
    /// so that the URL is readable.
    static func encodeValue(_ text: String) -> String {
        encode(text.utf8) { $0.isUnreserved || readableInValue.contains($0) }
    }

    /// Returns a part of a URL with invalid characters encoded and all others, including `%`, unchanged.
    static func repair(_ bytes: some Sequence<UInt8>) -> String {
        encode(bytes) { $0 > 0x20 && $0 < 0x7F && !forbiddenInURL.contains($0) }
    }

    private static let readableInValue = Array("(),:$*!/@".utf8)
    private static let forbiddenInURL = Array("\"#<>\\^`{|}".utf8)
    private static let digits = Array("0123456789ABCDEF".utf8)

    private static func encode(_ bytes: some Sequence<UInt8>, isPlain: (UInt8) -> Bool) -> String {
        var text: [UInt8] = []
        for byte in bytes {
            if isPlain(byte) {
                text.append(byte)
            } else {
                text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the decoded text, or `nil` if a `%` is not followed by two hexadecimal digits or the result is not
    /// UTF-8.
    ///
    /// - Parameter plusIsSpace: Whether `+` is decoded as a space, as servers do in a query, but not in a path.
    static func decode(_ text: some StringProtocol, plusIsSpace: Bool) -> String? {
        var decoded: [UInt8] = []
        var bytes = text.utf8.makeIterator()
        while let byte = bytes.next() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = bytes.next()?.hexadecimalDigit, let low = bytes.next()?.hexadecimalDigit else {
                    return nil
                }
                decoded.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace:
                decoded.append(0x20)
            default:
                decoded.append(byte)
            }
        }
        return String(validating: decoded, as: UTF8.self)
    }

    /// Returns the decoded text of a request.
    ///
    /// - Throws: ``RequestRejection`` with status 400 if ``decode(_:plusIsSpace:)`` returns `nil`.
    static func decoded(_ text: Substring, plusIsSpace: Bool = true) throws(RequestRejection) -> String {
        guard let decoded = decode(text, plusIsSpace: plusIsSpace) else {
            throw RequestRejection(
                .badRequest, "\(String(text.prefix(100)).debugDescription) is not percent-encoded UTF-8")
        }
        return decoded
    }

    /// Returns the parameters in the query of a URL: each as it is, and its name and value, which is empty if it has
    /// none. Nothing is decoded.
    static func parameters(of url: Substring) -> [(text: Substring, name: Substring, value: Substring)] {
        url.utf8.drop { $0 != UInt8(ascii: "?") }.dropFirst().split(separator: UInt8(ascii: "&")).map { text in
            let name = text.prefix { $0 != UInt8(ascii: "=") }
            return (Substring(text), Substring(name), Substring(text[name.endIndex...].dropFirst()))
        }
    }
}

extension UInt8 {
    /// Whether a URL has this byte unencoded in each of its parts: an ASCII letter or digit, `-`, `.`, `_`, or `~`.
    var isUnreserved: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: false
        }
    }
}
