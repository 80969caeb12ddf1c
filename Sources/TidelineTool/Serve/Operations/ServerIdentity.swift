#if Serve
internal import NIOSSL
internal import Synchronization

/// The certificate and private key with which a server speaks TLS. They can be replaced while it runs.
final class ServerIdentity: Sendable {
    private let certificate: String
    private let key: String
    private let protocols: [String]
    private let current: Mutex<NIOSSLContext>

    /// Reads the files, in PEM format: the server's certificate, followed by those of its issuers, and the private key.
    /// - Throws: ``ToolError``, naming the file.
    init(certificate: String, key: String, allowsHTTP2: Bool) throws {
        self.certificate = certificate
        self.key = key
        protocols = (allowsHTTP2 ? [Self.http2] : []) + ["http/1.1"]
        current = Mutex(try Self.read(certificate, key, protocols))
    }

    /// The name of HTTP/2 over TLS.
    static let http2 = "h2"

    /// The context for new connections.
    var context: NIOSSLContext { current.withLock { $0 } }

    /// Reads the files again. After an error, the previous certificate remains in use.
    func reload() throws {
        let context = try Self.read(certificate, key, protocols)
        current.withLock { $0 = context }
    }

    private static func read(
        _ certificate: String, _ key: String, _ protocols: [String]
    ) throws -> NIOSSLContext {
        let chain: [NIOSSLCertificateSource]
        do {
            chain = try NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) }
        } catch {
            throw ToolError("the certificate \(certificate) cannot be read as PEM: \(error)")
        }
        do {
            let key = try NIOSSLPrivateKey(file: key, format: .pem)
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain, privateKey: .privateKey(key))
            configuration.minimumTLSVersion = .tlsv12
            configuration.applicationProtocols = protocols
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw ToolError(
                "the private key \(key) cannot be read as PEM or does not belong to the certificate: \(error)")
        }
    }
}
#endif
