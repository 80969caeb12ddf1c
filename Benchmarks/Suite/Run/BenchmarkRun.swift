#if Commands
internal import TidelineStore
internal import TidelineSupport

/// A run: every workload, performed by each subject in turn, repeatedly.
package struct BenchmarkRun: Sendable {
    /// The settings of the run.
    package var settings: BenchmarkSettings
    /// The subjects to measure, with unique names.
    package var subjects: [BenchmarkSubject]
    /// The workloads for a number of rows, in order.
    package var workloads: @Sendable (_ rows: Int) -> [Workload]
    /// The directory of the databases.
    package var folder: BenchmarkFolder
    /// The directories of single subjects, by name, where they differ from ``folder``.
    package var folders: [String: BenchmarkFolder] = [:]
    /// Computes the correct answers; `nil` to compare the subjects with each other only.
    var reference: (@Sendable (_ rows: Int) -> BenchmarkSubject)?
    /// The free disk space.
    var diskSpace = DiskSpace()

    /// Above this number of rows the reference, which keeps every row in memory, is not used.
    private static let maxReferenceRows = 1_000_000

    /// Creates a run of all workloads that the settings select.
    package init(_ settings: BenchmarkSettings, subjects: [BenchmarkSubject], folder: BenchmarkFolder) {
        self.settings = settings
        self.subjects = subjects
        self.folder = folder
        reference = { .reference(settings, rows: $0) }
        workloads = { rows in Workload.all(settings, rows: rows).filter { $0.isQuick || !settings.isQuick } }
    }

    /// Removes the subjects that perform none of the workloads, so that reports omit them.
    package mutating func removeIdleSubjects() {
        let fields = Set(settings.rows.flatMap(workloads).map(\.field))
        subjects.removeAll { !fields.contains($0.field) }
    }

    /// Checks that the disk has enough free space.
    /// - Throws: ``BenchmarkError`` if it does not.
    package func confirmRoom() throws {
        let persistent = subjects.filter { $0.isPersistent && $0.field == .databases }
        for (path, members) in Dictionary(grouping: persistent, by: { folder(of: $0).path }) {
            let need = DiskSpace.need(settings, workloads: workloads, subjects: members.count)
            if let shortage = diskSpace.shortage(of: need, at: path) { throw BenchmarkError(shortage) }
        }
    }

    /// Performs the run on the calling thread and passes the results to a collector.
    ///
    /// The run continues after a subject fails, and stops early when the disk is full. The caller ends the directories.
    ///
    /// - Parameters:
    ///   - collector: Receives results after each round.
    ///   - isCancelled: Returns whether to stop; called between iterations.
    ///   - events: Receives progress events.
    package func run(
        _ collector: BenchmarkCollector, isCancelled: @escaping () -> Bool = { false },
        events: @escaping (BenchmarkEvent) -> Void = { _ in }
    ) {
        let context = RunContext(self, collector, total: totalWeight, isCancelled: isCancelled, events: events)
        let load = BackgroundLoad()
        defer { collector.put(otherProcessors: load?.processors) }
        do {
            for rows in settings.rows { try run(rows: rows, context) }
        } catch is CancellationError {
            collector.interrupt()
        } catch {
            collector.stop("\(error)")
        }
    }

    private func run(rows: Int, _ context: RunContext) throws {
        let subjects = self.subjects.map { Subject($0, folder: folder(of: $0)) }
        let reference = rows <= Self.maxReferenceRows ? reference.map { Subject($0(rows), folder: folder) } : nil
        defer { for subject in subjects + [reference].compactMap(\.self) { subject.end() } }
        let workloads = workloads(rows)
        for (position, workload) in workloads.enumerated() {
            let members = subjects.filter { $0.definition.field == workload.field }
            guard !members.isEmpty else { continue }
            try WorkloadRun(
                workload, rows: rows, subjects: members,
                reference: workload.field == .databases ? reference : nil, context: context
            ).run()
            let needed = tables(workloads[(position + 1)...])
            for table in tables(workloads[...position]) where !needed.contains(table) {
                for subject in subjects {
                    // The measurements are complete; if closing or compacting fails, only the size is missing.
                    if let size = try? subject.close(table, rows: rows) { context.collector.put(size) }
                }
                if let database = reference?.loaded[table] { reference?.discard(database) }
            }
        }
    }

    private func folder(of subject: BenchmarkSubject) -> BenchmarkFolder { folders[subject.name] ?? folder }

    /// The tables that workloads start with loaded.
    private func tables(_ workloads: ArraySlice<Workload>) -> [BenchmarkTable] {
        workloads.compactMap { if case .loaded(let table) = $0.start { table } else { nil } }.uniqued()
    }

    private var totalWeight: Int {
        settings.rows.reduce(0) { total, rows in
            let repetitions = workloads(rows).reduce(0) { count, workload in
                count + subjects.count { $0.field == workload.field } * (settings.warmUp + settings.repetitions)
            }
            return total + repetitions * RunContext.weight(rows)
        }
    }
}

extension BenchmarkSubject {
    /// The in-memory model as a subject.
    fileprivate static func reference(_ settings: BenchmarkSettings, rows: Int) -> BenchmarkSubject {
        BenchmarkSubject(
            name: "reference", kind: .other, engine: "reference", durability: .none, isPersistent: false
        ) { opening in
            ReferenceSession(source: settings.source(rows: rows, isIndexed: opening.table.isIndexed))
        }
    }
}

/// A progress event of a run.
package struct BenchmarkEvent: Sendable {
    /// The event.
    package var kind: Kind
    /// The completed share of the run, from 0 to 1, estimated from the numbers of rows and iterations.
    package var share: Double

    /// The kinds of events.
    package enum Kind: Sendable {
        /// Databases are being filled with a number of rows.
        case loading(rows: Int)
        /// A subject starts an iteration of a workload, with its number from 1; `nil` for a warm-up.
        case iteration(workload: String, subject: String, number: Int?)
        /// A workload is complete for a number of rows.
        case ended(WorkloadResult)
    }
}

/// An error of a run, a comparison, a report, or a page of JSON.
package struct BenchmarkError: Error, Sendable, CustomStringConvertible {
    /// The problem and its remedy.
    package let description: String

    /// Creates an error with a description.
    package init(_ description: String) { self.description = description }
}
#endif
