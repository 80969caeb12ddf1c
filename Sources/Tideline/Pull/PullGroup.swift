internal import Synchronization
internal import TidelineStore

/// Several pulls side by side, a limited number at a time.
///
/// Each pull has at most one request in flight, and keeps at most ``PullSettings/pagesPerTransaction`` pages and the
/// one that it fetches.
struct PullGroup<Store: LocalStore>: Sendable {
    let puller: Puller<Store>
    let subscriptions: [SyncSubscription]
    let settings: PullSettings

    /// Runs the pulls in the order of the subscriptions. After a failure that concerns all of them, such as one of the
    /// sign-in, the others are cancelled; rows that they have received are stored. After one of the network, those that
    /// run continue, and the others begin if one of them succeeds, because a single table may be the reason. After a
    /// request without a response of the service, only a later success shows that the network is there.
    ///
    /// - Returns: The results, in the order of the subscriptions.
    func run() async -> [Result<PullResult, SyncError>] {
        var results: [Int: Result<PullResult, SyncError>] = [:]
        await withTaskGroup(of: (Int, Result<PullResult, SyncError>).self) { group in
            var (next, hasSucceeded, hasFailed) = (0, false, false)
            func addNext(_ group: inout TaskGroup<(Int, Result<PullResult, SyncError>)>) {
                while next < subscriptions.count, next - results.count < max(settings.maxInFlight, 1),
                    hasSucceeded || !hasFailed
                {
                    let index = next
                    next += 1
                    group.addTask { (index, await pull(subscriptions[index])) }
                }
            }
            addNext(&group)
            while let (index, result) = await group.next() {
                results[index] = result
                switch result {
                case .success: hasSucceeded = true
                case .failure(let error) where Self.concernsAll(error): group.cancelAll()
                case .failure(let error) where error.code == .network:
                    hasFailed = true
                    hasSucceeded = hasSucceeded && error.isOfService
                case .failure: break
                }
                addNext(&group)
            }
        }
        return subscriptions.indices.map { results[$0] ?? .failure(SyncError(.cancelled, "the task was cancelled")) }
    }

    private static func concernsAll(_ error: SyncError) -> Bool {
        error.asksForPause || [.authentication, .otherServer, .otherUser].contains(error.code)
    }

    private func pull(_ subscription: SyncSubscription) async -> Result<PullResult, SyncError> {
        do {
            return .success(
                try await puller.pull(subscription.query, queryID: subscription.queryID, settings: settings))
        } catch {
            return .failure(SyncError.wrapping(error))
        }
    }
}

/// Adds up the progress of pulls side by side.
private final class PullProgressSum: Sendable {
    private struct Key: Hashable {
        var table: String
        var queryID: String?
    }

    private let pulls = Mutex<[Key: PullProgress]>([:])

    /// Replaces the progress of one pull and passes on the sum. The total is known if that of each pull so far is.
    func add(_ progress: PullProgress, passingTo continuation: AsyncStream<PullProgress>.Continuation?) {
        pulls.withLock { pulls in
            pulls[Key(table: progress.table, queryID: progress.queryID)] = progress
            var sum = progress
            sum.rowsPulled = pulls.values.reduce(0) { $0 + $1.rowsPulled }
            sum.pages = pulls.values.reduce(0) { $0 + $1.pages }
            let totals = pulls.values.compactMap(\.total)
            sum.total = totals.count == pulls.count ? totals.reduce(0, +) : nil
            // Within the lock, so that the sums arrive in the order of the changes.
            continuation?.yield(sum)
        }
    }
}

extension Puller {
    /// Pulls several tables in order of priority, without pushing before.
    ///
    /// - Returns: The results, in the order of the subscriptions.
    func pull(
        _ subscriptions: [SyncSubscription], settings: PullSettings, progress: AsyncStream<PullProgress>.Continuation?
    ) async -> [Result<PullResult, SyncError>] {
        let ordered = subscriptions.indices.sorted {
            (-subscriptions[$0].priority, $0) < (-subscriptions[$1].priority, $1)
        }
        var own = settings
        let sum = PullProgressSum()
        own.onProgress = { step in
            settings.onProgress?(step)
            sum.add(step, passingTo: progress)
        }
        let results = await PullGroup(puller: self, subscriptions: ordered.map { subscriptions[$0] }, settings: own)
            .run()
        let byIndex = Dictionary(uniqueKeysWithValues: zip(ordered, results))
        return subscriptions.indices.compactMap { byIndex[$0] }
    }
}
