#if Tool
internal import Foundation
internal import JWTKit
internal import TidelineStore

/// A key that verifies the signatures of tokens, with one algorithm.
///
/// Each key is in a collection of its own: a collection of several keys uses its first key for a token that names no
/// key or an unknown one, and does not compare the algorithm that a token names with that of the key.
struct VerificationKey: Sendable {
    /// The key's identifier, or `nil` if it may verify a token with any identifier.
    let id: String?
    /// The name of the algorithm in a token's header, such as `RS256`.
    let algorithm: String
    private let collection: JWTKeyCollection

    /// The minimum length of a secret in bytes, that of the hash (RFC 7518, section 3.2).
    static let minimumSecretLength = 32

    /// Creates a key for HS256.
    ///
    /// - Parameter place: The file or the environment variable of the secret, for errors.
    init(secret: [UInt8], place: String) async throws {
        guard !secret.starts(with: Array("-----BEGIN".utf8)) else {
            throw ToolError("\(place) contains a key in PEM, not a secret; use --jwt-key for a public key")
        }
        guard secret.count >= Self.minimumSecretLength else {
            throw ToolError(
                "the secret in \(place) has \(secret.count) bytes; it must have at least \(Self.minimumSecretLength),"
                    + " for example those of: openssl rand -base64 48")
        }
        id = nil
        algorithm = "HS256"
        collection = await JWTKeyCollection().add(hmac: HMACKey(from: secret), digestAlgorithm: .sha256)
    }

    /// Creates a key for RS256 or ES256 from a public key in PEM.
    init(pem: String, file: String) async throws {
        id = nil
        guard !pem.contains("PRIVATE KEY") else {
            throw ToolError(
                "the file \(file) contains a private key, which a server must not have; write the public key with:"
                    + " openssl pkey -pubout -in \(file)")
        }
        if let key = try? Insecure.RSA.PublicKey(pem: pem) {
            algorithm = "RS256"
            collection = await JWTKeyCollection().add(rsa: key, digestAlgorithm: .sha256)
        } else if let key = try? ES256PublicKey(pem: pem) {
            algorithm = "ES256"
            collection = await JWTKeyCollection().add(ecdsa: key)
        } else {
            throw ToolError(
                "the file \(file) is not a public key in PEM (\"BEGIN PUBLIC KEY\"): RSA with at least 2048 bits for RS256,"
                    + " or P-256 for ES256")
        }
    }

    private init?(_ jwk: JWK) async {
        var jwk = jwk
        guard let algorithm = jwk.algorithm ?? jwk.usualAlgorithm else { return nil }
        id = jwk.keyIdentifier?.string
        self.algorithm = algorithm.rawValue
        jwk.algorithm = algorithm
        jwk.privateExponent = nil
        jwk.keyIdentifier = jwk.keyIdentifier ?? JWKIdentifier(string: "key")
        let collection = JWTKeyCollection()
        guard (try? await collection.add(jwk: jwk)) != nil, (try? await collection.getKey()) != nil else { return nil }
        self.collection = collection
    }

    /// The maximum number of keys in a set.
    static let maximumCount = 100

    /// Returns the keys of a JSON Web Key Set. Keys of other kinds, such as those for encryption, are ignored.
    ///
    /// - Parameter place: The file or URL of the set, for errors.
    static func keys(inSet json: [UInt8], place: String) async throws -> [VerificationKey] {
        let set: KeySet
        do {
            set = try JSONDecoder().decode(KeySet.self, from: Data(json))
        } catch {
            throw ToolError("\(place) is not a JSON Web Key Set, an object with an array \"keys\"")
        }
        guard set.keys.count <= maximumCount else {
            throw ToolError("the key set \(place) has \(set.keys.count) keys; at most \(maximumCount) are supported")
        }
        var keys: [VerificationKey] = []
        for entry in set.keys where entry.use ?? "sig" == "sig" {
            if let jwk = entry.jwk, let key = await VerificationKey(jwk) { keys.append(key) }
        }
        guard !keys.isEmpty else {
            throw ToolError("the key set \(place) contains no public key for signatures, such as RS256 or ES256")
        }
        return keys
    }

    /// Returns whether the key may verify a token.
    func matches(_ header: TokenHeader) -> Bool {
        guard header.algorithm.utf8.elementsEqual(algorithm.utf8) else { return false }
        guard let id, let wanted = header.keyID else { return true }
        return id.utf8.elementsEqual(wanted.utf8)
    }

    /// Returns the claims of a token, or `nil` if its signature is not by this key or its claims are not a JSON object.
    func claims(of token: String) async -> TokenClaims? {
        try? await collection.verify(token, as: TokenClaims.self)
    }
}

/// A JSON Web Key Set (RFC 7517), whose unknown keys do not make it unreadable.
private struct KeySet: Decodable {
    struct Entry: Decodable {
        let jwk: JWK?
        let use: String?

        private enum CodingKeys: CodingKey { case use }

        init(from decoder: any Decoder) throws {
            jwk = try? JWK(from: decoder)
            use = try? decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(String.self, forKey: .use)
        }
    }

    let keys: [Entry]
}

extension JWK {
    /// The algorithm of a key that names none.
    fileprivate var usualAlgorithm: Algorithm? {
        switch (keyType, curve?.rawValue) {
        case (.rsa, _): .rs256
        case (.ecdsa, "P-256"): .es256
        case (.ecdsa, "P-384"): .es384
        case (.ecdsa, "P-521"): .es512
        case (.octetKeyPair, _): .eddsa
        default: nil
        }
    }
}
#endif
