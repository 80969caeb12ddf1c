internal import Foundation
internal import Synchronization

/// The clock by which a flawed store closes itself when it is idle. Tests let time pass on it.
package enum PlainClock {
    private static let passed = Mutex(Duration.zero)

    /// Lets time pass.
    package static func advance(by duration: Duration) { passed.withLock { $0 += duration } }

    static var now: Duration { passed.withLock { $0 } }
}
