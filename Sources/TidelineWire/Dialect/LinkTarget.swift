internal import TidelineStore

/// The target of a link from a server, if the link may be followed.
///
/// Each request contains a token, so a link to another origin is never followed. If the link has no port, the base
/// URL's port applies.
enum LinkTarget {
    /// Returns the path and query of a link, relative to the base URL, with characters that are invalid in a URL
    /// encoded.
    ///
    /// - Throws: ``WireError/Code/invalidRequest`` if the link leaves the base URL's scheme, host, port or path.
    static func target(of link: String, base: BaseURL) throws(WireError) -> String {
        let text = link.prefix { $0 != "#" }
        let (scheme, authority, path) = try parts(of: String(text), base: base)
        guard scheme == base.scheme.asciiLowercased, sameOrigin(authority, base) else {
            throw foreign(link, "leads to another scheme or host")
        }
        let root = base.path.hasSuffix("/") ? base.path : base.path + "/"
        guard path.utf8.starts(with: root.utf8) else { throw foreign(link, "leads outside the base URL's path") }
        let target = PercentEncoding.repair(path.utf8.dropFirst(root.utf8.count))
        let segments = target.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: false)
        for segment in segments {
            let decoded = PercentEncoding.decode(segment, plusIsSpace: false)
            guard let decoded, !decoded.isEmpty, decoded != ".", decoded != ".." else {
                throw foreign(link, "has an invalid path")
            }
        }
        return target
    }

    /// Returns the path and query of the page after a request, relative to the base URL.
    ///
    /// A server behind a proxy does not know its own address: its link may lack the port, or lead to another port or
    /// path of the same host. Then the request is repeated with the link's `$skip` and `$top`.
    ///
    /// - Parameter request: The path and query of the request, relative to the base URL; empty if it is not known.
    /// - Throws: As ``target(of:base:)``, for a link to another scheme or host and for one without `$skip`.
    static func target(of link: String, after request: String, base: BaseURL) throws(WireError) -> String {
        let paging = LinkHeader.paging(of: link)
        let isRepeatable = !request.isEmpty && paging.contains { $0.name == "$skip" } && isOfSameHost(link, base)
        guard isRepeatable else { return try target(of: link, base: base) }
        if let target = try? target(of: link, base: base), path(of: target) == path(of: request) { return target }
        return "\(request.prefix { $0 != "?" })?\(LinkHeader.query(of: request, replacing: paging))"
    }

    private static func path(of target: String) -> String? {
        PercentEncoding.decode(target.prefix { $0 != "?" }, plusIsSpace: false)
    }

    private static func isOfSameHost(_ link: String, _ base: BaseURL) -> Bool {
        guard let link = try? parts(of: String(link.prefix { $0 != "#" }), base: base) else { return false }
        return link.scheme == base.scheme.asciiLowercased
            && hostAndPort(link.authority).host == hostAndPort(base.authority).host
    }

    private static func parts(
        of link: String, base: BaseURL
    ) throws(WireError) -> (scheme: String, authority: String, path: String) {
        if link.hasPrefix("/"), !link.hasPrefix("//") { return (base.scheme.asciiLowercased, base.authority, link) }
        guard let separator = link.firstRange(of: "://") else { throw foreign(link, "is not a URL") }
        let scheme = String(link[..<separator.lowerBound]).asciiLowercased
        let rest = link[separator.upperBound...]
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        return (scheme, String(rest[..<end]), String(rest[end...]))
    }

    private static func sameOrigin(_ authority: String, _ base: BaseURL) -> Bool {
        let (link, own) = (hostAndPort(authority), hostAndPort(base.authority))
        guard link.host == own.host, !link.host.isEmpty, !link.host.contains("@") else { return false }
        let standard = base.scheme.asciiLowercased == "https" ? "443" : "80"
        return link.port == nil || link.port == own.port ?? standard
    }

    /// Returns the host in lower case and the port, or `nil` if there is no port. A colon in `[…]` is part of an IPv6
    /// address.
    private static func hostAndPort(_ authority: String) -> (host: String, port: String?) {
        let lowered = authority.asciiLowercased
        guard let colon = lowered.lastIndex(of: ":"), !lowered[colon...].contains("]") else { return (lowered, nil) }
        let port = lowered[lowered.index(after: colon)...]
        return (String(lowered[..<colon]), port.isEmpty ? nil : String(port))
    }

    private static func foreign(_ link: String, _ fault: String) -> WireError {
        WireError(.invalidRequest, "the server's link to the next page \(fault): \(link.prefix(300).debugDescription)")
    }
}
