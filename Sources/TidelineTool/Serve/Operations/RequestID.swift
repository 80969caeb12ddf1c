#if Serve
internal import HTTPTypes
internal import TidelineSupport

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
            && text.utf8.allSatisfy { $0.isASCIIAlphanumeric || "-._".utf8.contains($0) }
    }
}

/// The trace of which a request is a part, as in the W3C recommendation "Trace Context".
enum TraceParent {
    // The name consists of valid characters.
    private static let field = HTTPField.Name("traceparent")!

    /// Returns the identifier of the trace, which logs of several services have in common, or `nil` if the client or a
    /// proxy has sent none.
    static func traceID(in headers: HTTPFields) -> String? {
        let parts = headers[field]?.split(separator: "-", omittingEmptySubsequences: false) ?? []
        guard parts.count >= 4, parts[0].utf8.count == 2, parts[1].utf8.count == 32,
            parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }),
            parts[1].contains(where: { $0 != "0" })
        else { return nil }
        return String(parts[1])
    }
}
#endif
