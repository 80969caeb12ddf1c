extension LinkHeader {
    /// Returns the header's value for the page after the requested one: the URL of the request with another `$skip`.
    ///
    /// The URL has no angle brackets, because the SDKs of Azure Mobile Apps read only this form.
    ///
    /// - Parameters:
    ///   - origin: The scheme and host, such as `http://localhost:8080`, or `nil` for a link relative to the host.
    ///   - target: The path and query of the request.
    package static func next(origin: String?, target: String, skip: Int) -> String {
        let path = PercentEncoding.repair(target.utf8.prefix { $0 != UInt8(ascii: "?") })
        let query = query(of: target, replacing: [("$skip", skip)])
        return "\(origin ?? "")\(path.hasPrefix("/") ? "" : "/")\(path)?\(query); rel=next"
    }

    /// Returns the member `nextLink` for the page after the requested one: the query of the request with another
    /// `$skip` and, if the request has one, another `$top`.
    package static func nextQuery(target: String, skip: Int, top: Int?) -> String {
        query(of: target, replacing: [("$skip", skip)] + (top.map { [("$top", $0)] } ?? []))
    }

    /// Returns the options `$skip` and `$top` in the query of a link, if they are numbers.
    static func paging(of link: String) -> [(name: String, value: Int)] {
        let query = link.prefix { $0 != "#" }.utf8.drop { $0 != UInt8(ascii: "?") }.dropFirst()
        return query.split(separator: UInt8(ascii: "&")).compactMap { parameter in
            let pair = parameter.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2, let name = PercentEncoding.decode(Substring(pair[0]), plusIsSpace: true),
                ["$skip", "$top"].contains(name), let value = Int(Substring(pair[1])), value >= 0
            else { return nil }
            return (name, value)
        }
    }

    static func query(of target: String, replacing options: [(name: String, value: Int)]) -> String {
        let parts = target.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        var parameters: [Substring.UTF8View] = []
        if parts.count == 2 { parameters = parts[1].split(separator: UInt8(ascii: "&")) }
        let kept = parameters.filter { parameter in
            let name = PercentEncoding.decode(
                Substring(parameter.prefix { $0 != UInt8(ascii: "=") }), plusIsSpace: true)
            return !options.contains { $0.name == name }
        }
        return (kept.map { PercentEncoding.repair($0) } + options.map { "\($0.name)=\($0.value)" })
            .joined(separator: "&")
    }
}
