import Testing
import TidelineStore

@testable import Tideline

/// Rule P9: the stored lease of a push, and the wait for it.
@Suite("Stored lease")
struct StoredLeaseTests {
    private static let start = Timestamp(clampingTicks: 17_900_000_000_000_000)

    private static func lease(_ holder: String = "one", renewed seconds: Int64 = 0, for length: Int64 = 15)
        -> StoredLease
    {
        let renewed = at(seconds)
        return StoredLease(
            holder: holder, renewed: renewed, expires: renewed.advanced(byTicks: length * Timestamp.ticksPerSecond))
    }

    private static func at(_ seconds: Int64) -> Timestamp {
        start.advanced(byTicks: seconds * Timestamp.ticksPerSecond)
    }

    @Test("P9 a lease is held until it expires, and not if the clock was set back")
    func validity() {
        let lease = Self.lease()
        for seconds: Int64 in [0, 1, 14, -1, -15] { #expect(lease.isValid(at: Self.at(seconds)), "\(seconds)") }
        for seconds: Int64 in [15, 16, 1_000_000, -16, -31_536_000] {
            #expect(!lease.isValid(at: Self.at(seconds)), "\(seconds)")
        }
        for now in [Timestamp.min, .max] { #expect(!lease.isValid(at: now)) }
    }

    @Test("P9 a lease is read as it was stored, and a damaged one holds nobody up")
    func text() {
        let lease = Self.lease()
        #expect(StoredLease(text: lease.text) == lease)
        #expect(StoredLease(text: lease.text + " of a later version") == lease)
        for text in ["", "one", "one 1", "one x 2", "one 1 99999999999999999999", "  1 2"] {
            #expect(StoredLease(text: text) == nil, "\(text)")
        }
        let damaged = [(0, -15), (0, 0), (0, 3601), (0, Int64.max / Timestamp.ticksPerSecond)].map {
            Self.lease(renewed: $0.0, for: $0.1)
        }
        for lease in damaged + [StoredLease(holder: "one", renewed: .min, expires: .max)] {
            #expect(!lease.isValid(at: Self.at(0)), "\(lease)")
        }
    }

    @Test("P9 a lease that is not renewed for its duration is abandoned, and one that is renewed is not")
    func wait() {
        var wait = LeaseWait()
        let lease = Self.lease(for: 2)
        let pauses = Int(lease.duration / LeaseWait.interval)
        func isAbandoned(_ lease: StoredLease) -> Bool { wait.note(lease) }
        for _ in 0..<pauses { #expect(!isAbandoned(lease)) }
        #expect(isAbandoned(lease))
        for second: Int64 in 1...20 {
            for _ in 0..<pauses { #expect(!isAbandoned(Self.lease(renewed: second, for: 2))) }
        }
        let other = Self.lease("other", renewed: 20, for: 2)
        for _ in 0..<pauses { #expect(!isAbandoned(other)) }
        #expect(isAbandoned(other))
    }
}
