internal import TidelineSupport

/// A run: workloads, each done by every subject in turn, again and again.
public struct BenchmarkRun: Sendable {
    /// What is measured, and how.
    public var settings: BenchmarkSettings
    /// Who is measured; no two have the same name.
    public var subjects: [BenchmarkSubject]
    /// The workloads for a number of rows, in their order.
    public var workloads: @Sendable (_ rows: Int) -> [Workload]
    /// Where databases are.
    public var folder: BenchmarkFolder
    /// Where those of single subjects are, by name.
    public var folders: [String: BenchmarkFolder] = [:]
    /// Who knows the right answers; nil where they are compared among the subjects only.
    var reference: (@Sendable (_ rows: Int) -> BenchmarkSubject)?
    /// What is known of the disk.
    var room = DiskRoom()

    /// Above so many rows the reference, which keeps all in memory, is not asked.
    private static let mostReferenceRows = 1_000_000

    /// A run of all workloads that the settings ask for.
    public init(_ settings: BenchmarkSettings, subjects: [BenchmarkSubject], folder: BenchmarkFolder) {
        self.settings = settings
        self.subjects = subjects
        self.folder = folder
        reference = { .reference(settings, rows: $0) }
        workloads = { rows in Workload.all(settings, rows: rows).filter { $0.isQuick || !settings.isQuick } }
    }

    /// Leaves out subjects that none of the workloads is for, so that a report does not tell of them.
    public mutating func removeIdleSubjects() {
        let fields = Set(settings.rows.flatMap(workloads).map(\.field))
        subjects.removeAll { !fields.contains($0.field) }
    }

    /// Finds out whether the disk has room for it.
    /// - Throws: ``BenchmarkError`` when it has not.
    public func confirmRoom() throws {
        let persistent = subjects.filter { $0.isPersistent && $0.field == .databases }
        for (path, members) in Dictionary(grouping: persistent, by: { folder(of: $0).path }) {
            let need = DiskRoom.need(settings, workloads: workloads, subjects: members.count)
            if let lack = room.lack(of: need, at: path) { throw BenchmarkError("there is no room: \(lack)") }
        }
    }

    /// Does all of it, and blocks the thread until then; what it finds goes to the collector.
    ///
    /// A subject that fails is noted, and the others go on. The run ends early when the disk is full, which the report then
    /// says. The folders stay, for who made them to end them.
    ///
    /// - Parameters:
    ///   - collector: Takes what is found, round by round.
    ///   - isCancelled: Is asked between repetitions whether to end.
    ///   - events: Takes what happens as it happens.
    public func run(
        _ collector: BenchmarkCollector, isCancelled: @escaping () -> Bool = { false },
        events: @escaping (BenchmarkEvent) -> Void = { _ in }
    ) {
        let conduct = Conduct(self, collector, total: totalWeight, isCancelled: isCancelled, note: events)
        let load = OtherLoad()
        defer { collector.put(otherProcessors: load?.processors) }
        do {
            for rows in settings.rows { try run(rows: rows, conduct) }
        } catch is CancellationError {
            collector.interrupt()
        } catch {
            collector.stop("\(error)")
        }
    }

    private func run(rows: Int, _ conduct: Conduct) throws {
        let participants = subjects.map { Participant($0, folder: folder(of: $0)) }
        let reference =
            rows <= Self.mostReferenceRows ? reference.map { Participant($0(rows), folder: folder) } : nil
        defer { for participant in participants + [reference].compactMap(\.self) { participant.end() } }
        let workloads = workloads(rows)
        for (place, workload) in workloads.enumerated() {
            let members = participants.filter { $0.subject.field == workload.field }
            guard !members.isEmpty else { continue }
            try WorkloadRun(
                workload, rows: rows, participants: members,
                reference: workload.field == .databases ? reference : nil, conduct: conduct
            ).run()
            let needed = tables(workloads[(place + 1)...])
            for table in tables(workloads[...place]) where !needed.contains(table) {
                for participant in participants { finish(participant, table, rows: rows, conduct) }
                if let database = reference?.loaded[table] { reference?.discard(database) }
            }
        }
    }

    /// Ends the use of a loaded database.
    private func finish(_ participant: Participant, _ table: BenchmarkTable, rows: Int, _ conduct: Conduct) {
        // Every figure of it was had; where closing or compacting fails, there is no size.
        if let size = try? participant.close(table, rows: rows) { conduct.collector.put(size) }
    }

    private func folder(of subject: BenchmarkSubject) -> BenchmarkFolder { folders[subject.name] ?? folder }

    /// The tables that workloads begin with loaded.
    private func tables(_ workloads: ArraySlice<Workload>) -> [BenchmarkTable] {
        workloads.compactMap { if case .loaded(let table) = $0.start { table } else { nil } }.uniqued()
    }

    private var totalWeight: Int {
        settings.rows.reduce(0) { total, rows in
            let repetitions = workloads(rows).reduce(0) { count, workload in
                count + subjects.count { $0.field == workload.field } * (settings.warmUp + settings.repetitions)
            }
            return total + repetitions * Conduct.weight(rows)
        }
    }
}

extension BenchmarkSubject {
    /// The model, as a run takes part.
    fileprivate static func reference(_ settings: BenchmarkSettings, rows: Int) -> BenchmarkSubject {
        BenchmarkSubject(
            name: "reference", kind: .other, engine: "reference", durability: .none, isPersistent: false
        ) { opening in
            ReferenceSession(source: settings.source(rows: rows, isIndexed: opening.table.isIndexed))
        }
    }
}

/// What a run tells as it goes on.
public struct BenchmarkEvent: Sendable {
    /// What happened.
    public var kind: Kind
    /// How much of the run is done, from 0 to 1, as far as the numbers of rows and repetitions tell.
    public var share: Double

    /// What can happen.
    public enum Kind: Sendable {
        /// Databases are being filled with this many rows.
        case loading(rows: Int)
        /// A subject begins a repetition.
        case repetition(Repetition)
        /// A workload has ended for a number of rows.
        case ended(WorkloadResult)
    }

    /// A repetition that begins.
    public struct Repetition: Sendable {
        /// The workload's id.
        public var workload: String
        /// How many rows the table has.
        public var rows: Int
        /// The subject's name.
        public var subject: String
        /// Which one it is, from 1; nil for a warm-up.
        public var number: Int?
    }
}

/// Why a run cannot begin, or cannot go on.
public struct BenchmarkError: Error, Sendable, CustomStringConvertible {
    /// What is so and what to do, for a person.
    public let message: String

    /// An error with its message.
    public init(_ message: String) { self.message = message }

    public var description: String { message }
}
