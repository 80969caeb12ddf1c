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
        PercentEncoding.parameters(of: link.prefix { $0 != "#" }).compactMap { parameter in
            guard let name = PercentEncoding.decode(parameter.name, plusIsSpace: true),
                ["$skip", "$top"].contains(name), let value = Int(parameter.value), value >= 0
            else { return nil }
            return (name, value)
        }
    }

    static func query(of target: String, replacing options: [(name: String, value: Int)]) -> String {
        let kept = PercentEncoding.parameters(of: target[...]).filter { parameter in
            let name = PercentEncoding.decode(parameter.name, plusIsSpace: true)
            return !options.contains { $0.name == name }
        }
        return (kept.map { PercentEncoding.repair($0.text.utf8) } + options.map { "\($0.name)=\($0.value)" })
            .joined(separator: "&")
    }
}
