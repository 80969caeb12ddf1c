extension LinkHeader {
    /// Returns the header's value for the page after the requested one: the URL of the request with another `$skip`.
    ///
    /// - Parameters:
    ///   - origin: The scheme and host, such as `http://localhost:8080`, or `nil` for a link relative to the host.
    ///   - target: The path and query of the request.
    package static func next(origin: String?, target: String, skip: Int) -> String {
        let parts = target.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        var parameters: [Substring.UTF8View] = []
        if parts.count == 2 { parameters = parts[1].split(separator: UInt8(ascii: "&")) }
        let kept = parameters.filter { parameter in
            let name = parameter.prefix { $0 != UInt8(ascii: "=") }
            return PercentEncoding.decode(Substring(name), plusIsSpace: true) != "$skip"
        }
        let path = PercentEncoding.repair(target.utf8.prefix { $0 != UInt8(ascii: "?") })
        let query = (kept.map { PercentEncoding.repair($0) } + ["$skip=\(skip)"]).joined(separator: "&")
        return "<\(origin ?? "")\(path.hasPrefix("/") ? "" : "/")\(path)?\(query)>; rel=next"
    }
}
