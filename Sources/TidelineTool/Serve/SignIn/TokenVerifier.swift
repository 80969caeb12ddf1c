#if Tool
internal import Foundation
internal import HTTPTypes
internal import TidelineServer
internal import TidelineStore

/// Finds out who sent a request, from the JSON Web Token in its headers.
struct TokenVerifier: Sendable {
    var keys: VerificationKeys
    /// The required issuer, or `nil` if any may issue tokens.
    var issuer: String?
    /// The audiences of which a token must name one; none if a token may be for any.
    var audiences: [String] = []
    /// How far the clocks of issuer and server may differ.
    var clockSkew = Duration.seconds(60)
    /// The claim with the user's identifier.
    var userClaim = "sub"
    /// Returns the current time.
    var now: @Sendable () -> Date = { Date() }

    /// The reason why a token is refused. It contains no part of the token.
    struct Refusal: Error {
        let reason: String
        /// Whether the token may be accepted later, because its key could not be looked up.
        let isTemporary: Bool

        init(_ reason: String, isTemporary: Bool = false) {
            self.reason = reason
            self.isTemporary = isTemporary
        }
    }

    /// Whether there are keys.
    var isReady: Bool { get async { await keys.isReady } }

    /// The maximum length of a token in bytes.
    static let maximumLength = 8 << 10

    /// Returns the sender of a request: anonymous without a token.
    ///
    /// - Throws: ``Refusal`` for a token that is not valid, even if the request does not need one.
    func caller(of headers: HTTPFields) async throws(Refusal) -> Caller {
        let prefix = "bearer "
        var tokens: [String] = []
        for value in headers[values: .authorization] {
            guard value.prefix(prefix.count).lowercased() == prefix else {
                throw Refusal("the header Authorization must contain Bearer and a token")
            }
            tokens.append(value.dropFirst(prefix.count).trimmingCharacters(in: .whitespaces))
        }
        tokens += headers[values: Self.zumoAuth]
        guard let token = tokens.first else { return .anonymous }
        guard tokens.allSatisfy({ $0.utf8.elementsEqual(token.utf8) }) else {
            throw Refusal("the headers Authorization and X-ZUMO-AUTH contain different tokens")
        }
        return try await caller(of: token)
    }

    private static let zumoAuth = HTTPField.Name("X-ZUMO-AUTH")!  // A valid name.

    private func caller(of token: String) async throws(Refusal) -> Caller {
        guard token.utf8.count <= Self.maximumLength else {
            throw Refusal("the token is longer than \(Self.maximumLength) bytes")
        }
        guard let header = TokenHeader(ofToken: token) else { throw Refusal("the token is malformed") }
        guard header.critical == nil else { throw Refusal("the token requires an extension that is not supported") }
        let (known, reads) = await keys.keys(for: header)
        if let verified = await claims(of: token, by: known) { return try caller(in: verified) }
        let found = await keys.lookUpKeys(for: header, after: reads)
        if let found, let verified = await claims(of: token, by: found) { return try caller(in: verified) }
        guard await !keys.mayBeFound(for: header) else {
            throw Refusal("the token's key cannot be looked up now; try again later", isTemporary: true)
        }
        guard !(found ?? known).isEmpty else {
            throw Refusal("the server has no key for the token's algorithm and key id")
        }
        throw Refusal("the token's signature is not valid, or its claims are not a JSON object")
    }

    private func claims(of token: String, by keys: [VerificationKey]) async -> TokenClaims? {
        for key in keys {
            if let claims = await key.claims(of: token) { return claims }
        }
        return nil
    }

    private func caller(in claims: TokenClaims) throws(Refusal) -> Caller {
        let time = now().timeIntervalSince1970
        let skew = clockSkew / .seconds(1)
        guard case .number(let end)? = claims.values["exp"] else { throw Refusal("the token has no expiration time") }
        guard time < end + skew else { throw Refusal("the token has expired") }
        switch claims.values["nbf"] {
        case nil: break
        case .number(let start)? where start - skew <= time: break
        default: throw Refusal("the token is not valid yet")
        }
        if let issuer {
            guard case .text(let named)? = claims.values["iss"], named.utf8.elementsEqual(issuer.utf8) else {
                throw Refusal("the token is from another issuer")
            }
        }
        if !audiences.isEmpty {
            let named: [String] =
                switch claims.values["aud"] {
                case .text(let audience): [audience]
                case .texts(let audiences): audiences
                default: []
                }
            guard audiences.contains(where: { audience in named.contains { $0.utf8.elementsEqual(audience.utf8) } })
            else {
                throw Refusal("the token is for another audience")
            }
        }
        guard let user = claims.user(in: userClaim) else {
            throw Refusal("the token has no user: the claim \(userClaim) must be a text of 1 to 255 characters")
        }
        // Beyond the range of timestamps, the sign-in does not end.
        let ticks = Int64(exactly: ((end + skew) * Double(Timestamp.ticksPerSecond)).rounded(.down))
        return .user(user, until: ticks.flatMap(Timestamp.init(ticks:)))
    }
}
#elseif Serve
internal import HTTPTypes
internal import TidelineServer

/// There are no verifiers without the trait `Tool`, and no requests from users.
enum TokenVerifier {
    struct Refusal: Error {
        let reason: String
        let isTemporary: Bool
    }

    var isReady: Bool { get async { switch self {} } }

    func caller(of headers: HTTPFields) async throws(Refusal) -> Caller { switch self {} }
}
#endif
