internal import Foundation
internal import TidelineStore

/// The time limit for waiting for other processes.
struct Deadline {
    private let start = ContinuousClock.now
    private let timeout: Duration

    /// Creates a deadline that starts now.
    init(after timeout: Duration) { self.timeout = timeout }

    /// Repeats `attempt` after a random pause as long as it fails with an error that may pass and there is time left.
    func retrying<T>(
        while mayPass: (StoreError) -> Bool, _ attempt: () throws(StoreError) -> T
    ) throws(StoreError) -> T {
        while true {
            do {
                return try attempt()
            } catch {
                guard mayPass(error), start.duration(to: .now) < timeout else { throw error }
                // No signal tells when the other transaction has ended. The pause differs, so that two do not meet
                // again.
                Thread.sleep(forTimeInterval: .random(in: 0.001...0.02))
            }
        }
    }
}
