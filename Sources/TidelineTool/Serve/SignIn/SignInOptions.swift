#if Serve
internal import ArgumentParser
internal import Foundation
internal import Logging
internal import NIOCore
internal import TidelineSupport

/// The options of `tideline serve` for the sign-in of users.
struct SignInOptions: ParsableArguments {
    /// The environment variable with the secret for HS256.
    static let secretVariable = "TIDELINE_JWT_SECRET"

    @Option(
        help: ArgumentHelp(
            "Accept tokens that are signed with the secret in this file (HS256), of at least 32 bytes.",
            discussion:
                "A line break at the end is ignored. The environment variable \(secretVariable) is an alternative.",
            valueName: "file"))
    var jwtSecretFile: String?

    @Option(
        name: .customLong("jwt-key"),
        help: ArgumentHelp(
            "Accept tokens that are signed with the private key of this public key, in PEM (RS256 or ES256).",
            discussion: "May be repeated.", valueName: "file"))
    var jwtKeys: [String] = []

    @Option(
        help: ArgumentHelp(
            "Accept tokens that are signed with a key of this JSON Web Key Set. Requires an issuer and an audience.",
            discussion: "It is read again every 10 minutes, and when a token names an unknown key. A URL is read "
                + "without a proxy: https_proxy and NO_PROXY have no effect.",
            valueName: "file or URL"))
    var jwks: String?

    @Option(help: ArgumentHelp("The issuer that tokens must name.", valueName: "text"))
    var jwtIssuer: String?

    @Option(
        name: .customLong("jwt-audience"),
        help: ArgumentHelp(
            "The audience that tokens must name.", discussion: "May be repeated to accept several.", valueName: "text"))
    var jwtAudiences: [String] = []

    @Option(help: ArgumentHelp("The claim with the identifier of the user.", valueName: "name"))
    var jwtUserClaim = "sub"

    @Option(
        help: ArgumentHelp(
            "The maximum difference between the clocks of issuer and server, in seconds.", valueName: "seconds"))
    var jwtClockSkew = 60

    @Flag(
        help: ArgumentHelp(
            "Listen on addresses other than this machine without a sign-in.",
            discussion: "For a server that only a proxy with its own sign-in can reach."))
    var allowAnonymous = false

    private var secretFromEnvironment: String? { ProcessInfo.processInfo.environment[Self.secretVariable] }

    /// Whether users can sign in.
    var isEnabled: Bool {
        jwtSecretFile != nil || !jwtKeys.isEmpty || jwks != nil || secretFromEnvironment != nil
    }

    func validate() throws {
        guard (0...3_600).contains(jwtClockSkew) else {
            throw ValidationError("--jwt-clock-skew must be from 0 to 3600 seconds, not \(jwtClockSkew).")
        }
        guard !jwtUserClaim.isEmpty else { throw ValidationError("--jwt-user-claim must not be empty.") }
        guard jwks == nil || jwtIssuer != nil && !jwtAudiences.isEmpty else {
            throw ValidationError(
                "--jwks needs --jwt-issuer and --jwt-audience, or the tokens of other services with the same keys would be"
                    + " accepted.")
        }
        guard isEnabled || jwtIssuer == nil && jwtAudiences.isEmpty else {
            throw ValidationError(
                "--jwt-issuer and --jwt-audience have no effect without a key; add --jwt-secret-file, --jwt-key, or --jwks."
            )
        }
        guard jwtSecretFile == nil || secretFromEnvironment == nil else {
            throw ValidationError(
                "--jwt-secret-file and the environment variable \(Self.secretVariable) are both set; use one.")
        }
    }

    /// Checks that a server that other machines reach has a sign-in.
    func validate(host: String) throws {
        guard !isEnabled, !allowAnonymous, !LoopbackHost.contains(host) else { return }
        throw ValidationError(
            "--host \(host) lets other machines read and change all tables without a sign-in. Add --jwt-secret-file, "
                + "--jwt-key, or --jwks for a sign-in, or --allow-anonymous if a proxy in front of the server has one.")
    }

    /// Returns the verifier of tokens, or `nil` without a sign-in.
    ///
    /// - Throws: ``ToolError`` for a key that cannot be read.
    func makeVerifier(logger: Logger) async throws -> TokenVerifier? {
        guard isEnabled else { return nil }
        #if Tool
        var fixed: [VerificationKey] = []
        if let path = jwtSecretFile {
            let secret = Self.trimmed(try InputFile.read(path, maximumSize: 64 << 10))
            fixed.append(try await VerificationKey(secret: secret, place: "the file \(path)"))
        }
        if let secret = secretFromEnvironment {
            let (bytes, place) = (Array(secret.utf8), "the environment variable \(Self.secretVariable)")
            fixed.append(try await VerificationKey(secret: Self.trimmed(bytes), place: place))
            // An issuer that reads the same variable may sign with its line break.
            if bytes != Self.trimmed(bytes) { fixed.append(try await VerificationKey(secret: bytes, place: place)) }
        }
        for path in jwtKeys {
            let pem = String(decoding: try InputFile.read(path, maximumSize: 64 << 10), as: UTF8.self)
            fixed.append(try await VerificationKey(pem: pem, file: path))
        }
        let keys = VerificationKeys(fixed, source: try jwks.map(KeySetSource.init), logger: logger)
        try await keys.read()
        return TokenVerifier(
            keys: keys, issuer: jwtIssuer, audiences: jwtAudiences, clockSkew: .seconds(jwtClockSkew),
            userClaim: jwtUserClaim)
        #else
        exitForMissingTrait("Tool")
        #endif
    }

    /// Returns a secret without line breaks at its end.
    private static func trimmed(_ secret: [UInt8]) -> [UInt8] {
        var secret = secret
        while let last = secret.last, [0x0A, 0x0D].contains(last) { secret.removeLast() }
        return secret
    }
}

/// The addresses that only this machine reaches.
enum LoopbackHost {
    /// Returns whether a host is one of them: `localhost`, `127.0.0.0/8`, or `::1`.
    static func contains(_ host: String) -> Bool {
        let host = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        guard host.lowercased() != "localhost" else { return true }
        switch try? SocketAddress(ipAddress: host, port: 0) {
        case .v4(let address): return UInt32(bigEndian: address.address.sin_addr.s_addr) >> 24 == 127
        case .v6: return host == "::1"
        default: return false
        }
    }
}
#endif
