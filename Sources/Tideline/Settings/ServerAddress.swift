internal import TidelineStore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The parsed address of a server.
package struct ServerAddress: Sendable, Hashable {
    package var scheme: String
    /// The host, with the port if there is one.
    package var authority: String
    /// The path without a trailing slash; empty for the root.
    package var path: String
    /// The query that is added to every request, percent-encoded; empty if there is none.
    package var query: String

    /// The address as text, without the query, which may contain a key.
    package var text: String { "\(scheme)://\(authority)\(path)" }

    package init(_ text: String) throws {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            ["http", "https"].contains(scheme), let host = parts.percentEncodedHost, !host.isEmpty,
            parts.user == nil, parts.fragment == nil,
            parts.port.map({ (1...65535).contains($0) }) ?? true
        else {
            // Text before an @ may be a password.
            let address = text.prefix { $0 != "?" }
            let shown = address.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
            throw SyncError(
                .invalidArgument,
                "\(shown.debugDescription) is not a valid server address; use the form https://example.org/app, "
                    + "without a user or fragment")
        }
        self.scheme = scheme
        authority = parts.port.map { "\(host):\($0)" } ?? host
        var path = parts.percentEncodedPath
        while path.hasSuffix("/") { path.removeLast() }
        self.path = path
        query = parts.percentEncodedQuery ?? ""
    }

    /// Returns the path and query of a request for a target relative to this address.
    ///
    /// A query parameter of the address is not repeated if the target already has it, as in a link that the server made
    /// from an earlier request.
    package func pathAndQuery(of target: String) -> String {
        guard !query.isEmpty else { return "\(path)/\(target)" }
        let own = target.split(separator: "?", maxSplits: 1).dropFirst().first?.split(separator: "&") ?? []
        let missing = query.split(separator: "&").filter { !own.contains($0) }.joined(separator: "&")
        guard !missing.isEmpty else { return "\(path)/\(target)" }
        return "\(path)/\(target)\(target.contains("?") ? "&" : "?")\(missing)"
    }

    /// Returns the target, relative to this address, of a link that the server sent: relative, with a leading slash, or
    /// absolute.
    ///
    /// - Throws: ``SyncError`` with code invalidAnswer for a link to another scheme, host, or port, or to a path that
    ///   is not below this address. A request for it would show the user's token to others.
    func target(following link: String) throws(SyncError) -> String {
        var other = self
        var rest = link[...]
        if let scheme = ["http", "https"].first(where: { rest.lowercased().hasPrefix("\($0)://") }) {
            other.scheme = scheme
            rest = rest.dropFirst(scheme.count + 3)
            other.authority = String(rest.prefix { $0 != "/" && $0 != "?" })
            rest = rest.dropFirst(other.authority.count)
        } else if !rest.hasPrefix("/") {
            return link
        }
        guard other.identity == identity, rest.hasPrefix("\(path)/") else {
            throw SyncError(
                .invalidAnswer,
                "the server sent the link \(link.prefix { $0 != "?" }.prefix(300).debugDescription), which is not below its "
                    + "address \(text)")
        }
        return String(rest.dropFirst(path.count + 1))
    }
}

extension ServerAddress {
    /// The normalized address, which is equal for two clients of the same server.
    ///
    /// It consists of the scheme and host in lower case (the host without a trailing dot), the port unless it is the
    /// default port of the scheme, and the path as written. The scheme is significant because a server without
    /// encryption can be impersonated. The query is not included because it may contain a key.
    var identity: String {
        var authority = authority.asciiLowercased
        let port = scheme == "https" ? ":443" : ":80"
        if authority.hasSuffix(port) { authority.removeLast(port.count) }
        if authority.hasSuffix(".") { authority.removeLast() }
        return "\(scheme)://\(authority)\(path)"
    }
}
