#if Serve
internal import Foundation
internal import HTTPTypes

/// Refuses the requests of web pages to a server without a sign-in that listens on this machine only.
///
/// A browser on this machine sends the requests of any page that it shows. A page of another origin is recognized by
/// the header Origin, and one whose name was made to refer to this machine (DNS rebinding) by the header Host.
struct LocalPageGuard: Sendable {
    /// The host under which a proxy serves the server, if it is known.
    private let publicHost: String?
    /// The origin of the web pages there, as browsers send it.
    private let publicOrigin: String?

    /// Creates a guard, or `nil` for a server that other machines can reach.
    init?(host: String, publicURL: String?) {
        guard Self.isLocal(host) else { return nil }
        publicHost = publicURL.flatMap { URLComponents(string: $0)?.host?.lowercased() }
        publicOrigin = publicURL.flatMap(Self.origin)
    }

    /// Returns the reason for which a request is refused, or `nil`.
    func refusal(of head: HTTPRequest) -> String? {
        let authority = head.authority ?? ""
        guard let name = Self.name(in: authority), Self.isLocal(name) || name == publicHost else {
            return
                "the host \(authority.debugDescription) is not this machine; use localhost, or name the host that a "
                + "proxy serves in --public-url"
        }
        guard let origin = head.headerFields[.origin] else { return nil }
        let own = "://\(authority)"
        // A proxy may replace the host by the address of the server.
        guard origin == "http\(own)" || origin == "https\(own)" || origin == publicOrigin else {
            return "a web page of the origin \(origin.debugDescription) cannot use a server without a sign-in"
        }
        return nil
    }

    /// Returns the scheme and authority of a URL, without the default port.
    private static func origin(of url: String) -> String? {
        guard var components = URLComponents(string: url.lowercased()) else { return nil }
        if components.port == (components.scheme == "https" ? 443 : 80) { components.port = nil }
        components.path = ""
        return components.string
    }

    /// Returns the name or address in the authority of a URL, without the port.
    private static func name(in authority: String) -> String? {
        guard let components = URLComponents(string: "http://\(authority)"), components.user == nil,
            components.path.isEmpty, components.query == nil, components.fragment == nil
        else { return nil }
        return components.host?.trimmingCharacters(in: ["[", "]"]).lowercased()
    }

    private static func isLocal(_ host: String) -> Bool {
        LoopbackHost.contains(host) || host.lowercased().hasSuffix(".localhost")
    }
}
#endif
