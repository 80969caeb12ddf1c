#if Tool
internal import Foundation
internal import JWTKit
internal import TidelineSupport

/// The header of a JSON Web Token, which is not verified.
struct TokenHeader: Decodable {
    let algorithm: String
    /// The identifier of the key, or `nil`.
    let keyID: String?
    /// Extensions that a recipient must understand. There are none that this server does.
    let critical: [String]?

    private enum CodingKeys: String, CodingKey {
        case algorithm = "alg"
        case keyID = "kid"
        case critical = "crit"
    }

    /// Parses the header of a token, or returns `nil` if the token is malformed.
    init?(ofToken token: String) {
        let parts = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, parts.allSatisfy({ $0.allSatisfy(\.isBase64URL) }) else { return nil }
        var text = String(Substring(parts[0])).replacing("-", with: "+").replacing("_", with: "/")
        text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        guard let json = Data(base64Encoded: text), let header = try? JSONDecoder().decode(Self.self, from: json) else {
            return nil
        }
        self = header
    }
}

extension UInt8 {
    fileprivate var isBase64URL: Bool { isASCIIAlphanumeric || "-_".utf8.contains(self) }
}

/// The claims of a token whose signature was verified.
///
/// Not the claims of jwt-kit: that of the audience traps on an empty array.
struct TokenClaims: JWTPayload {
    /// A claim as far as a server needs it.
    enum Claim: Codable, Sendable, Equatable {
        case text(String)
        case number(Double)
        case texts([String])
        case other

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                self = .text(text)
            } else if let number = try? container.decode(Double.self) {
                self = .number(number)
            } else if let texts = try? container.decode([String].self) {
                self = .texts(texts)
            } else {
                self = .other
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .number(let number): try container.encode(number)
            case .texts(let texts): try container.encode(texts)
            case .other: try container.encodeNil()
            }
        }
    }

    var values: [String: Claim]

    init(_ values: [String: Claim]) { self.values = values }
    init(from decoder: any Decoder) throws { values = try [String: Claim](from: decoder) }
    func encode(to encoder: any Encoder) throws { try values.encode(to: encoder) }

    /// Does nothing: ``TokenVerifier`` checks the claims, and names the reason of a refusal.
    func verify(using algorithm: some JWTAlgorithm) {}

    /// The user's identifier, or `nil` if the claim is not a text of 1 to 255 characters without control characters.
    func user(in claim: String) -> String? {
        guard case .text(let user)? = values[claim], (1...255).contains(user.unicodeScalars.count),
            !user.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { return nil }
        return user
    }
}
#endif
