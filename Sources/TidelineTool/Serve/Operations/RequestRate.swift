#if Serve
internal import NIOCore
internal import Synchronization

/// The limit on the requests of each address: a bucket of tokens that fills at the permitted rate.
final class RequestRate: Sendable {
    private struct Bucket {
        var tokens: Double
        var at: NIODeadline
    }

    /// The requests per second.
    private let rate: Double
    /// The requests at once after a pause.
    private let burst: Double
    private let buckets = Mutex<[String: Bucket]>([:])

    /// The number of addresses above which full buckets, which have the same effect as none, are removed.
    private static let maximumAddresses = 10_000

    init(requestsPerSecond: Int) {
        rate = Double(requestsPerSecond)
        burst = max(1, 2 * rate)
    }

    /// The number of addresses with a bucket.
    var addressCount: Int { buckets.withLock { $0.count } }

    /// Takes a token of an address.
    /// - Returns: The number of seconds until there is one, or `nil` if the request is permitted.
    func delay(of address: String, now: NIODeadline = .now()) -> Int? {
        buckets.withLock { buckets in
            if buckets.count >= Self.maximumAddresses, buckets[address] == nil {
                buckets = buckets.filter { filled($0.value, now) < burst }
            }
            var bucket = buckets[address] ?? Bucket(tokens: burst, at: now)
            bucket.tokens = filled(bucket, now)
            bucket.at = now
            defer { buckets[address] = bucket }
            guard bucket.tokens >= 1 else { return max(1, Int(((1 - bucket.tokens) / rate).rounded(.up))) }
            bucket.tokens -= 1
            return nil
        }
    }

    private func filled(_ bucket: Bucket, _ now: NIODeadline) -> Double {
        min(burst, bucket.tokens + Double((now - bucket.at).nanoseconds) / 1e9 * rate)
    }
}
#endif
