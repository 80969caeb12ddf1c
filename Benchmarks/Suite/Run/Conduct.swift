/// What the parts of a run have in common; it belongs to the run's thread.
final class Conduct {
    let settings: BenchmarkSettings
    let collector: BenchmarkCollector
    let room: DiskRoom
    private let isCancelled: () -> Bool
    private let note: (BenchmarkEvent) -> Void
    private let total: Int
    private var done = 0

    /// - Parameter total: The sum of what ``advance(by:)`` will be told.
    init(
        _ run: BenchmarkRun, _ collector: BenchmarkCollector, total: Int, isCancelled: @escaping () -> Bool,
        note: @escaping (BenchmarkEvent) -> Void
    ) {
        settings = run.settings
        room = run.room
        self.collector = collector
        self.total = total
        self.isCancelled = isCancelled
        self.note = note
    }

    /// - Throws: `CancellationError` when the run is to end.
    func confirm() throws { if isCancelled() { throw CancellationError() } }

    /// Tells what happens now.
    func tell(_ kind: BenchmarkEvent.Kind) {
        note(BenchmarkEvent(kind: kind, share: total > 0 ? min(Double(done) / Double(total), 1) : 1))
    }

    /// Counts a repetition over so many rows as done, or as not coming any more.
    func advance(by rows: Int) { done += Self.weight(rows) }

    /// What a repetition weighs: it takes some time however few rows there are.
    static func weight(_ rows: Int) -> Int { rows + 2_000 }
}
