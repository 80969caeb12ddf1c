internal import HTTPTypes

/// The identifier of a request, which the response and all log messages about the request contain.
enum RequestID {
    // The name consists of valid characters.
    static let field = HTTPField.Name("X-Request-ID")!

    /// Returns the identifier that the client has sent, or a new one if there is none that is safe to log.
    static func of(_ headers: HTTPFields) -> String {
        if let sent = headers[field], isSane(sent) { return sent }
        let number = UInt64.random(in: 1 << 60 ... .max)
        return String(number, radix: 16)
    }

    private static func isSane(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
