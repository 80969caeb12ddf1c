#if Tool
import Foundation
import HTTPTypes
import JWTKit
import Logging
import Synchronization
import Testing
import TidelineServer
import TidelineTestSupport

@testable import TidelineTool

private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

/// Tokens with real signatures, valid and not.
@Suite("Tokens", .timeLimit(.minutes(15)))
struct TokenVerifierTests {
    private static func verifier(_ keys: [VerificationKey]) -> TokenVerifier {
        TokenVerifier(keys: VerificationKeys(keys, logger: logger))
    }

    private static func secretVerifier() async throws -> TokenVerifier {
        verifier([try await VerificationKey(secret: Array(TokenMaker.secret.utf8), place: "secret")])
    }

    private static func headers(_ token: String) -> HTTPFields { [.authorization: "Bearer \(token)"] }

    private func user(_ token: String, _ verifier: TokenVerifier) async throws -> String? {
        try await verifier.caller(of: Self.headers(token)).userID
    }

    /// Returns the reason why a token is refused.
    private func refusal(_ token: String, _ verifier: TokenVerifier) async throws -> String {
        let refusal = try await #require(
            #expect(throws: TokenVerifier.Refusal.self) { try await verifier.caller(of: Self.headers(token)) })
        #expect(!refusal.reason.contains(token) && refusal.reason.utf8.count < 200)
        return refusal.reason
    }

    @Test("A token signed with the secret, an RSA key, or an EC key names its user")
    func algorithms() async throws {
        let maker = try TokenMaker()
        let verifier = Self.verifier([
            try await VerificationKey(secret: Array(TokenMaker.secret.utf8), place: "secret"),
            try await VerificationKey(pem: maker.rsa.publicKey.pemRepresentation, file: "rsa.pem"),
            try await VerificationKey(pem: maker.ec.publicKey.pemRepresentation, file: "ec.pem"),
        ])
        for token in [
            try await TokenMaker.hs256(), try await maker.rs256(), try await maker.es256(),
            try await maker.rs256(kid: "any"),
        ] {
            #expect(try await user(token, verifier) == "alice")
            #expect(try await verifier.caller(of: [.authorization: "bearer  \(token) "]).userID == "alice")
            let zumo: HTTPFields = [HTTPField.Name("X-ZUMO-AUTH")!: token]
            #expect(try await verifier.caller(of: zumo).userID == "alice")
            var both = Self.headers(token)
            both.append(HTTPField(name: HTTPField.Name("X-ZUMO-AUTH")!, value: token))
            #expect(try await verifier.caller(of: both).userID == "alice")
        }
        #expect(try await verifier.caller(of: [:]).userID == nil)
        // Keys of others.
        let other = try TokenMaker()
        for token in [
            try await other.rs256(), try await other.es256(),
            try await TokenMaker.hs256(secret: String(TokenMaker.secret.reversed())),
        ] {
            #expect(try await refusal(token, verifier).contains("signature"))
        }
    }

    @Test("A token whose header names no algorithm, or another one than the key's, is refused")
    func algorithmConfusion() async throws {
        let maker = try TokenMaker()
        let pem = maker.rsa.publicKey.pemRepresentation
        let verifier = Self.verifier([
            try await VerificationKey(pem: pem, file: "rsa.pem"),
            try await VerificationKey(pem: maker.ec.publicKey.pemRepresentation, file: "ec.pem"),
        ])
        // A secret that everyone knows: the public key, in each form.
        for secret in [pem, pem + "\n", pem.replacing("\n", with: ""), maker.ec.publicKey.pemRepresentation] {
            #expect(try await refusal(TokenMaker.hs256(secret: secret), verifier).contains("no key"))
        }
        let claims = #"{"sub":"alice","exp":99999999999}"#
        for name in ["none", "None", "NONE", "", "HS256", "HS384", "RS384", "PS256", "EdDSA", "rs256"] {
            let header = #"{"alg":"\#(name)","typ":"JWT"}"#
            #expect(try await refusal(TokenMaker.token(header: header, claims: claims), verifier).contains("no key"))
        }
        // Valid signatures under the header of another algorithm, which the signature covers or not.
        let parts = try await maker.rs256().split(separator: ".").map(String.init)
        for header in [#"{"alg":"none"}"#, #"{"alg":"HS256"}"#, #"{"alg":"ES256"}"#, #"{"alg":"RS256","x":1}"#] {
            let token = "\(TokenMaker.base64URL(Array(header.utf8))).\(parts[1]).\(parts[2])"
            _ = try await refusal(token, verifier)
        }
        let none = try await JWTKeyCollection().addUnsecuredNone().sign(TokenMaker.claims())
        #expect(try await refusal(none, verifier).contains("no key"))
        // A known signature with other claims.
        let changed = "\(parts[0]).\(TokenMaker.base64URL(Array(claims.utf8))).\(parts[2])"
        #expect(try await refusal(changed, verifier).contains("signature"))
        #expect(try await refusal("\(parts[0]).\(parts[1]).", verifier).contains("signature"))
    }

    @Test("A key for signatures is not taken from the wrong file")
    func keyFiles() async throws {
        let maker = try TokenMaker()
        func refuse(_ part: String, _ make: () async throws -> VerificationKey) async throws {
            let error = try await #require(#expect(throws: ToolError.self) { try await make() })
            #expect(error.message.contains(part), "\(error.message)")
        }
        for pem in [maker.rsa.pemRepresentation, maker.ec.pemRepresentation] {
            try await refuse("private key") { try await VerificationKey(pem: pem, file: "f") }
        }
        for pem in [maker.rsa.publicKey.pemRepresentation, maker.ec.publicKey.pemRepresentation] {
            try await refuse("--jwt-key") { try await VerificationKey(secret: Array(pem.utf8), place: "f") }
        }
        try await refuse("at least 32") { try await VerificationKey(secret: Array("short".utf8), place: "f") }
        try await refuse("at least 32") { try await VerificationKey(secret: [], place: "f") }
        for pem in [
            "", "x", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----", String(repeating: "-", count: 9),
        ] {
            try await refuse("not a public key") { try await VerificationKey(pem: pem, file: "f") }
        }
        let p384 = ES384PrivateKey().publicKey.pemRepresentation
        try await refuse("P-256") { try await VerificationKey(pem: p384, file: "f") }
    }

    private typealias Claims = [String: TokenClaims.Claim?]

    private static let validClaims: Claims = [
        "exp": .number(1_000_001), "iss": .text("https://issuer"), "aud": .text("todo"),
    ]

    /// Returns a verifier that checks all claims, at second 1,000,000.
    private static func claimVerifier() async throws -> TokenVerifier {
        var verifier = try await secretVerifier()
        verifier.now = { Date(timeIntervalSince1970: 1_000_000) }
        verifier.issuer = "https://issuer"
        verifier.audiences = ["todo", "web"]
        return verifier
    }

    private static func token(_ changes: Claims) async throws -> String {
        try await TokenMaker.hs256(TokenMaker.claims(validClaims.merging(changes) { $1 }))
    }

    @Test("Claims are checked: time with clock skew, issuer, audience, and user")
    func claims() async throws {
        let verifier = try await Self.claimVerifier()
        for changes: Claims in [
            [:], ["exp": .number(999_941)], ["nbf": .number(1_000_060)], ["nbf": .number(-1e300)],
            ["aud": .texts(["x", "web"])], ["exp": .number(1e300)],
        ] {
            #expect(try await user(Self.token(changes), verifier) == "alice", "\(changes)")
        }
        let refused: [(Claims, String)] = [
            (["exp": .number(999_940)], "expired"), (["exp": .number(-1e300)], "expired"),
            (["exp": nil], "no expiration"), (["exp": .text("2000000")], "no expiration"),
            (["nbf": .number(1_000_061)], "not valid yet"), (["nbf": .text("0")], "not valid yet"),
            (["iss": .text("https://issuer/")], "issuer"), (["iss": nil], "issuer"),
            (["iss": .texts(["https://issuer"])], "issuer"), (["aud": nil], "audience"),
            (["aud": .texts([])], "audience"), (["aud": .text("to")], "audience"), (["aud": .number(1)], "audience"),
            (["sub": nil], "claim sub"), (["sub": .text("")], "claim sub"), (["sub": .number(1)], "claim sub"),
            (["sub": .texts(["alice"])], "claim sub"), (["sub": .text("a\u{0}b")], "claim sub"),
            (["sub": .text(String(repeating: "a", count: 256))], "claim sub"),
        ]
        for (changes, part) in refused {
            #expect(try await refusal(Self.token(changes), verifier).contains(part), "\(changes)")
        }
    }

    @Test("A caller has the token's expiration with the clock skew, and the user of the claim that is configured")
    func caller() async throws {
        var verifier = try await Self.claimVerifier()
        // With the clock skew of 60 seconds.
        let end = try await verifier.caller(of: Self.headers(Self.token([:]))).expiration
        #expect(end.map { Int($0.ticks) } == 10_000_610_000_000)
        let endless = try await Self.token(["exp": .number(1e300)])
        #expect(try await verifier.caller(of: Self.headers(endless)).expiration == nil)
        verifier.userClaim = "oid"
        #expect(try await user(Self.token(["oid": .text("42"), "sub": nil]), verifier) == "42")
        #expect(try await refusal(Self.token([:]), verifier).contains("claim oid"))
    }

    @Test("A malformed token is refused, whatever it is")
    func malformed() async throws {
        let verifier = try await Self.secretVerifier()
        let token = try await TokenMaker.hs256()
        let parts = token.split(separator: ".").map(String.init)
        let deep = String(repeating: #"{"a":"#, count: 1_000) + "1" + String(repeating: "}", count: 1_000)
        for text in [
            "", ".", "..", "...", "a.b", "a.b.c", "\(token).x", "\(parts[0])..\(parts[2])", "é.é.é", parts[0],
            TokenMaker.token(header: "[]", claims: "{}"), TokenMaker.token(header: deep, claims: "{}"),
            TokenMaker.token(header: #"{"alg":1}"#, claims: "{}"),
            TokenMaker.token(header: #"{"alg":"HS256","crit":["exp"]}"#, claims: "{}"),
            String(repeating: "a", count: 100_000), token + String(repeating: "a", count: 10_000), "\(token)=", "\u{0}",
        ] {
            _ = try await refusal(text, verifier)
        }
        for claims in ["", "[]", "null", "1", "{", deep, #"{"sub":"alice","exp":1e999}"#, #"{"aud":[],"sub":{}}"#] {
            _ = try await refusal(Self.signed(claims), verifier)
        }
        for _ in 0..<2_000 {
            var bytes = Array(token.utf8)
            bytes[Int.random(in: 0..<bytes.count)] = UInt8.random(in: 0x21...0x7E)
            let text = String(decoding: bytes, as: UTF8.self)
            // The last character of a signature has bits without a meaning.
            guard text.dropLast() != token.dropLast() else { continue }
            _ = try await refusal(text, verifier)
        }
        #expect(try await user(token, verifier) == "alice")
    }

    /// Returns a token with claims as they are, and a valid signature.
    private static func signed(_ claims: String) async throws -> String {
        let text = TokenMaker.token(header: #"{"alg":"HS256"}"#, claims: claims).dropLast()
        let key = try await JWTKeyCollection().add(hmac: HMACKey(from: TokenMaker.secret), digestAlgorithm: .sha256)
            .getKey()
        return "\(text).\(TokenMaker.base64URL(try key.sign(Array(text.utf8))))"
    }

    @Test("Headers with another scheme, or with different tokens, are refused")
    func headers() async throws {
        let verifier = try await Self.secretVerifier()
        let token = try await TokenMaker.hs256()
        let other = try await TokenMaker.hs256(TokenMaker.claims(["sub": .text("bob")]))
        let zumo = HTTPField.Name("X-ZUMO-AUTH")!
        for fields: [(HTTPField.Name, String)] in [
            [(.authorization, "Basic YTpi")], [(.authorization, token)], [(.authorization, "Bearer")],
            [(.authorization, "")], [(.authorization, "Bearer \(token)"), (zumo, other)],
            [(.authorization, "Bearer \(token)"), (.authorization, "Bearer \(other)")], [(zumo, "")], [(zumo, "x")],
        ] {
            var headers = HTTPFields()
            for (name, value) in fields { headers.append(HTTPField(name: name, value: value)) }
            await #expect(throws: TokenVerifier.Refusal.self) { try await verifier.caller(of: headers) }
        }
    }
}

/// Key sets that change.
@Suite("Key sets", .timeLimit(.minutes(15)))
struct KeySetTests {
    /// A clock that moves only when it is set.
    private final class Clock: Sendable {
        private let time = Mutex(ContinuousClock.now)
        var now: ContinuousClock.Instant { time.withLock { $0 } }
        func advance(by duration: Duration) { time.withLock { $0 += duration } }
    }

    private func user(_ token: String, _ verifier: TokenVerifier) async -> String? {
        try? await verifier.caller(of: [.authorization: "Bearer \(token)"]).userID
    }

    @Test("Keys that are not for signatures are ignored, and a set without others is an error")
    func otherKeys() async throws {
        let maker = try TokenMaker()
        let other: [[String: String]] = [
            ["kty": "oct", "k": TokenMaker.base64URL(Array(TokenMaker.secret.utf8)), "alg": "HS256"], ["kty": "RSA"],
            ["kty": "new"], [:], try maker.rsaJWK(kid: "enc", more: ["use": "enc"]),
            try maker.rsaJWK(kid: "oaep", more: ["alg": "RSA-OAEP"]),
            ["kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"],
        ]
        for set in [other, []] {
            await #expect(throws: ToolError.self) {
                try await VerificationKey.keys(inSet: TokenMaker.keySet(set), place: "f")
            }
        }
        for text in ["", "[]", "{}", #"{"keys":1}"#, #"{"keys":[1]}"#] {
            await #expect(throws: ToolError.self) {
                try await VerificationKey.keys(inSet: Array(text.utf8), place: "f")
            }
        }
        let keys = try await VerificationKey.keys(
            inSet: TokenMaker.keySet(other + [maker.rsaJWK(kid: "a"), maker.ecJWK(kid: nil, more: ["use": "sig"])]),
            place: "f")
        #expect(keys.map(\.algorithm) == ["RS256", "ES256"])
        let verifier = TokenVerifier(keys: VerificationKeys(keys, logger: logger))
        #expect(await user(try await maker.rs256(kid: "a"), verifier) == "alice")
        #expect(await user(try await maker.rs256(), verifier) == "alice")
        #expect(await user(try await maker.es256(kid: "any"), verifier) == "alice")
        #expect(await user(try await maker.rs256(kid: "enc"), verifier) == nil)
        #expect(await user(try await TokenMaker.hs256(), verifier) == nil)
    }

    /// The keys of two makers, and a verifier that reads those that a server publishes.
    private struct World {
        let old: TokenMaker
        let new: TokenMaker
        let server: DocumentServer
        let clock = Clock()
        let verifier: TokenVerifier

        /// Publishes the old key, unless the server is down.
        init(isDown: Bool = false, fixed: [VerificationKey] = []) async throws {
            (old, new) = (try TokenMaker(), try TokenMaker())
            server = try await DocumentServer(TokenMaker.keySet([old.rsaJWK(kid: "1")]))
            if isDown { server.serve([], status: .internalServerError) }
            let source = try KeySetSource(server.url)
            let keys = VerificationKeys(fixed, source: source, logger: logger) { [clock] in clock.now }
            verifier = TokenVerifier(keys: keys)
            try await keys.read()
        }

        func publish(_ keys: [[String: String]]) throws { server.serve(try TokenMaker.keySet(keys)) }
    }

    @Test("A key that is rotated is found at once, and invented keys cause at most one request in 30 seconds")
    func rotation() async throws {
        let world = try await World()
        let (verifier, server) = (world.verifier, world.server)
        #expect(await user(try await world.old.rs256(kid: "1"), verifier) == "alice")
        #expect(server.requests == 1)
        try world.publish([world.old.rsaJWK(kid: "1"), world.new.ecJWK(kid: "2")])
        let token = try await world.new.es256(kid: "2")
        #expect(await user(token, verifier) == nil)
        #expect(server.requests == 1)
        world.clock.advance(by: VerificationKeys.unknownKeyInterval)
        let found = await users(token, verifier)
        #expect(found.count == 20 && found.allSatisfy { $0 == "alice" })
        #expect(server.requests == 2)
        for requests in 2...3 {
            for number in 0..<20 {
                #expect(await user(try await world.new.es256(kid: "invented \(number)"), verifier) == nil)
            }
            #expect(server.requests == requests)
            world.clock.advance(by: VerificationKeys.unknownKeyInterval)
        }
        try await server.stop()
    }

    /// Returns the users of requests at the same time.
    private func users(_ token: String, _ verifier: TokenVerifier) async -> [String?] {
        await withTaskGroup(of: String?.self) { group in
            for _ in 0..<20 { group.addTask { await user(token, verifier) } }
            var users: [String?] = []
            for await user in group { users.append(user) }
            return users
        }
    }

    @Test("A removed key is no longer accepted after the interval, and no request uses keys that are too old")
    func removal() async throws {
        let world = try await World()
        let (verifier, server) = (world.verifier, world.server)
        let token = try await world.new.es256(kid: "2")
        try world.publish([world.old.rsaJWK(kid: "1"), world.new.ecJWK(kid: "2")])
        world.clock.advance(by: VerificationKeys.unknownKeyInterval)
        #expect(await user(token, verifier) == "alice")
        // The request that finds out the removal of a key may still be accepted.
        try world.publish([world.new.ecJWK(kid: "2")])
        world.clock.advance(by: VerificationKeys.interval)
        _ = await user(token, verifier)
        try await suspendUntil("the removal of a key") {
            await user(try await world.old.rs256(kid: "1"), verifier) == nil
        }
        #expect(server.requests == 3)
        // After a long time without requests, no request uses the keys of before.
        try world.publish([world.old.rsaJWK(kid: "1")])
        world.clock.advance(by: VerificationKeys.interval * 2)
        let found = await users(token, verifier)
        #expect(found.count == 20 && found.allSatisfy { $0 == nil })
        #expect(server.requests == 4)
        try world.publish([world.new.ecJWK(kid: "2")])
        world.clock.advance(by: VerificationKeys.unknownKeyInterval)
        #expect(await user(token, verifier) == "alice")
        try await server.stop()
    }

    @Test("A set that cannot be read leaves the last keys valid")
    func unreadableSets() async throws {
        let world = try await World()
        let token = try await world.old.rs256(kid: "1")
        for (body, status) in [("", 500), ("{}", 200), (#"{"keys":[]}"#, 200)] {
            world.server.serve(Array(body.utf8), status: .init(statusCode: status))
            let requests = world.server.requests
            world.clock.advance(by: VerificationKeys.interval)
            #expect(await user(token, world.verifier) == "alice")
            // The request before may not have ended, so that the first use of the token joined it.
            try await suspendUntil("the request") {
                _ = await user(token, world.verifier)
                return world.server.requests == requests + 1
            }
            #expect(await user(token, world.verifier) == "alice")
        }
        try await world.server.stop()
    }

    private func refusal(_ token: String, _ verifier: TokenVerifier) async -> TokenVerifier.Refusal? {
        do throws(TokenVerifier.Refusal) {
            _ = try await verifier.caller(of: [.authorization: "Bearer \(token)"])
            return nil
        } catch { return error }
    }

    @Test("A user is asked for a new sign-in only if the set was read after a token named the key")
    func unknownKeys() async throws {
        let world = try await World()
        let (rotated, invented) = (try await world.new.es256(kid: "2"), try await world.new.es256(kid: "3"))
        try world.publish([world.old.rsaJWK(kid: "1"), world.new.ecJWK(kid: "2")])
        for token in [rotated, invented] { #expect(await refusal(token, world.verifier)?.isTemporary == true) }
        #expect(world.server.requests == 1)
        // No rotation brings a key for another algorithm with the same id, or without an id.
        for token in [try await world.new.es256(kid: "1"), try await world.new.es256()] {
            #expect(await refusal(token, world.verifier)?.isTemporary == false)
        }
        world.clock.advance(by: VerificationKeys.unknownKeyInterval)
        for _ in 0..<2 {
            #expect(await refusal(invented, world.verifier)?.isTemporary == false)
            #expect(await user(rotated, world.verifier) == "alice")
        }
        #expect(world.server.requests == 2)
        try await world.server.stop()
    }

    @Test("A server starts without its identity provider, and asks for no new sign-in until it has read the keys")
    func unreachableProvider() async throws {
        let world = try await World(isDown: true)
        let (verifier, server) = (world.verifier, world.server)
        let token = try await world.old.rs256(kid: "1")
        #expect(await refusal(token, verifier)?.isTemporary == true)
        #expect(await !verifier.isReady)
        #expect(server.requests == 1)
        try world.publish([world.old.rsaJWK(kid: "1")])
        world.clock.advance(by: VerificationKeys.retryInterval)
        try await suspendUntil("the keys to be read") { await verifier.isReady }
        #expect(await user(token, verifier) == "alice")
        #expect(server.requests == 2)

        // The provider is down while it rotates its keys.
        server.serve([], status: .serviceUnavailable)
        let rotated = try await world.new.es256(kid: "2")
        world.clock.advance(by: VerificationKeys.unknownKeyInterval)
        #expect(await refusal(rotated, verifier)?.isTemporary == true)
        #expect(await user(token, verifier) == "alice")
        #expect(await verifier.isReady)
        try world.publish([world.new.ecJWK(kid: "2")])
        world.clock.advance(by: VerificationKeys.retryInterval)
        #expect(await user(rotated, verifier) == "alice")
        world.clock.advance(by: VerificationKeys.unknownKeyInterval)
        #expect(await refusal(try await world.new.es256(kid: "3"), verifier)?.isTemporary == false)
        try await server.stop()
    }

    @Test("A key in PEM, which fits every key id, neither stands for a key of the set nor waits for it")
    func keyInPEM() async throws {
        let own = try TokenMaker()
        let fixed = [
            try await VerificationKey(pem: own.rsa.publicKey.pemRepresentation, file: "own.pem"),
            try await VerificationKey(secret: Array(TokenMaker.secret.utf8), place: "secret"),
        ]
        let world = try await World(isDown: true, fixed: fixed)
        let (verifier, server) = (world.verifier, world.server)
        let tokens = [try await world.old.rs256(kid: "1"), try await world.old.rs256()]
        for token in tokens { #expect(await refusal(token, verifier)?.isTemporary == true) }
        world.clock.advance(by: VerificationKeys.retryInterval)
        for token in [try await own.rs256(kid: "own"), try await own.rs256(), try await TokenMaker.hs256()] {
            #expect(await user(token, verifier) == "alice")
        }
        // A set has no secrets.
        let otherSecret = try await TokenMaker.hs256(secret: String(TokenMaker.secret.reversed()))
        #expect(await refusal(otherSecret, verifier)?.isTemporary == false)
        #expect(server.requests == 1)
        try world.publish([world.old.rsaJWK(kid: "1")])
        for token in tokens { #expect(await user(token, verifier) == "alice") }
        #expect(server.requests == 2)

        try world.publish([world.new.rsaJWK(kid: "2")])
        let rotated = try await world.new.rs256(kid: "2")
        #expect(await refusal(rotated, verifier)?.isTemporary == true)
        world.clock.advance(by: VerificationKeys.unknownKeyInterval)
        #expect(await user(rotated, verifier) == "alice")
        server.serve([], status: .serviceUnavailable)
        world.clock.advance(by: VerificationKeys.unknownKeyInterval)
        #expect(await refusal(try await world.old.rs256(kid: "3"), verifier)?.isTemporary == true)
        #expect(await refusal(try await world.old.rs256(kid: "2"), verifier)?.isTemporary == false)
        try await server.stop()
    }

    @Test("A key set must be on this machine or come over TLS, and a file must be readable at start")
    func sources() async throws {
        for text in [
            "http://example.com/keys", "http://10.0.0.1/keys", "http://127.0.0.1.example.com/", "ftp://127.0.0.1/",
            "https://", "https://user:secret@example.com/", "http://127.1@example.com/",
        ] {
            #expect(throws: ToolError.self, "\(text)") { try KeySetSource(text) }
        }
        let keys = VerificationKeys([], source: try KeySetSource("/nowhere/keys.json"), logger: logger)
        let error = try await #require(#expect(throws: ToolError.self) { try await keys.read() })
        #expect(error.message.contains("/nowhere/keys.json"))
    }
}
#endif
