#if Tool
internal import Foundation
internal import HTTPTypes
internal import Logging
internal import Tideline
internal import TidelineAsyncHTTPClient

/// The keys of a server: fixed ones, and those of a key set, which its owner changes from time to time.
///
/// The key set is read again at intervals, and for a token that no known key verifies, unless the key that it names is
/// known, but then not more often than ``unknownKeyInterval``, so that tokens with invented keys cause no load. A key
/// is missing only if a token named it before the last read began: until then, it can be new. Other requests wait for
/// the key set only after twice the interval without a request, in which a key may have been removed long ago. If it
/// cannot be read, its last keys stay valid, and it is read again after ``retryInterval``, for a token that no known
/// key verifies.
actor VerificationKeys {
    /// The time after which a key set is read again.
    static let interval = Duration.seconds(600)
    /// The minimum time between two reads for tokens whose keys are unknown.
    static let unknownKeyInterval = Duration.seconds(30)
    /// The minimum time between two reads if the first one has failed.
    static let retryInterval = Duration.seconds(5)

    private let fixed: [VerificationKey]
    private let source: KeySetSource?
    private let now: @Sendable () -> ContinuousClock.Instant
    private let logger: Logger
    private var fetched: [VerificationKey] = [] { didSet { reads += 1 } }
    /// The number of times that the set was read.
    private var reads = 0
    private var lastRead: ContinuousClock.Instant?
    private var reading: Task<Void, Never>?
    /// Whether the keys are too old to be used before the read in progress ends.
    private var isOutdated = false
    /// Whether the last read of the key set has failed, so that a key that is not found can exist.
    private var isFailing = false
    /// The identifiers of unknown keys that tokens have named since the last read began, up to ``maximumWanted``.
    private var wanted: Set<String> = []
    /// Those named or known before the last read, which has not found them unless they are known now.
    private var missing: Set<String> = []

    private static let maximumWanted = 100

    /// - Parameter now: Returns the current time.
    init(
        _ fixed: [VerificationKey], source: KeySetSource? = nil, logger: Logger,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.fixed = fixed
        self.source = source
        self.logger = logger
        self.now = now
    }

    /// Reads the key set for the first time. An identity provider that cannot be reached is asked again later.
    ///
    /// - Throws: ``ToolError`` for a file that cannot be read.
    func read() async throws {
        guard let source else { return }
        switch source {
        case .file:
            lastRead = now()
            fetched = try await source.keys()
        case .url: await startReading()?.value
        }
    }

    /// Whether the key set was ever read. If not, it is read in the background.
    var isReady: Bool {
        guard source != nil, fetched.isEmpty else { return true }
        if isDue(after: Self.retryInterval) { startReading() }
        return false
    }

    /// Returns the known keys that may verify a token, and the number of reads of the key set so far.
    func keys(for header: TokenHeader) async -> (keys: [VerificationKey], reads: Int) {
        if isDue(after: Self.interval) {
            isOutdated = isDue(after: Self.interval * 2)
            startReading()
        }
        if isOutdated { await reading?.value }
        return (matching(header), reads)
    }

    /// Returns the keys that may verify a token that those of ``keys(for:)`` do not verify, after reading the key set
    /// if the token's key is not known and the last read is not too recent.
    ///
    /// - Parameter reads: The number of reads at that time.
    /// - Returns: The keys, or `nil` if the key set was not read since.
    func lookUpKeys(for header: TokenHeader, after reads: Int) async -> [VerificationKey]? {
        if !isKnown(header) {
            if let id = header.keyID, wanted.count < Self.maximumWanted { wanted.insert(id) }
            let interval = isFailing ? Self.retryInterval : Self.unknownKeyInterval
            if isDue(after: interval) || reading != nil { await startReading()?.value }
        }
        return self.reads == reads ? nil : matching(header)
    }

    /// Returns whether the key of a token that no known key verifies may be found later. A key set that changes gets
    /// keys with new identifiers.
    func mayBeFound(for header: TokenHeader) -> Bool {
        guard source != nil, !isKnown(header) else { return false }
        guard !isFailing else { return true }
        guard let id = header.keyID, !(fixed + fetched).contains(where: { $0.id == id }) else { return false }
        return !missing.contains(id)
    }

    /// Returns whether a token's own key is known: the key that it names, or a secret, because a set contains none. A
    /// key in PEM fits every identifier, and may not be the token's.
    private func isKnown(_ header: TokenHeader) -> Bool {
        matching(header).contains { $0.algorithm == "HS256" || $0.id != nil && header.keyID != nil }
    }

    private func matching(_ header: TokenHeader) -> [VerificationKey] {
        (fixed + fetched).filter { $0.matches(header) }
    }

    private func isDue(after interval: Duration) -> Bool {
        source != nil && (lastRead.map { now() - $0 >= interval } ?? true)
    }

    /// Reads the key set, or joins the read in progress.
    @discardableResult
    private func startReading() -> Task<Void, Never>? {
        if let reading { return reading }
        guard let source else { return nil }
        lastRead = now()
        let sought = wanted.union(fetched.compactMap(\.id))
        wanted = []
        let task = Task {
            do {
                fetched = try await source.keys()
                (missing, isFailing) = (sought, false)
            } catch {
                isFailing = true
                logger.warning(
                    "cannot read the key set; its last keys stay valid", metadata: ["reason": "\(error)"])
            }
            (reading, isOutdated) = (nil, false)
        }
        reading = task
        return task
    }
}

/// A file or URL with a JSON Web Key Set.
enum KeySetSource: Sendable {
    case file(String)
    case url(URL)

    /// The maximum size of a key set in bytes.
    static let maximumSize = 1 << 20
    /// The time limit for reading a key set from a URL.
    private static let timeout = Duration.seconds(10)

    /// - Throws: ``ToolError`` for a URL without encryption to another machine: whoever changes the response could sign
    ///   in as anyone.
    init(_ text: String) throws {
        guard text.contains("://") else {
            self = .file(text)
            return
        }
        guard let url = URL(string: text), let host = url.host(), !host.isEmpty else {
            throw ToolError("--jwks \(text) is not a URL")
        }
        guard url.user == nil else { throw ToolError("--jwks must not contain a user name or a password") }
        guard url.scheme == "https" || url.scheme == "http" && LoopbackHost.contains(host) else {
            throw ToolError("--jwks \(text) must begin with https:// (http:// only for this machine)")
        }
        self = .url(url)
    }

    func keys() async throws -> [VerificationKey] {
        switch self {
        case .file(let path):
            return try await VerificationKey.keys(
                inSet: InputFile.read(path, maximumSize: Self.maximumSize), place: path)
        case .url(let url):
            return try await VerificationKey.keys(inSet: response(url), place: url.absoluteString)
        }
    }

    private func response(_ url: URL) async throws -> [UInt8] {
        var options = AsyncHTTPClientTransport.Options()
        options.maximumBodySize = Self.maximumSize
        var request = HTTPRequest(url: url)
        request.headerFields[.accept] = "application/json"
        do {
            let answer = try await AsyncHTTPClientTransport(options: options)
                .send(request, body: nil, timeout: Self.timeout)
            guard answer.response.status == .ok else {
                throw ToolError("the response has the status \(answer.response.status.code)")
            }
            return answer.body
        } catch {
            throw ToolError("the key set \(url.absoluteString) cannot be read: \(error)")
        }
    }
}

extension HTTPRequest {
    fileprivate init(url: URL) {
        let port = url.port.map { ":\($0)" } ?? ""
        let path = url.path(percentEncoded: true)
        self.init(
            method: .get, scheme: url.scheme, authority: (url.host(percentEncoded: true) ?? "") + port,
            path: (path.isEmpty ? "/" : path) + (url.query(percentEncoded: true).map { "?\($0)" } ?? ""))
    }
}
#endif
