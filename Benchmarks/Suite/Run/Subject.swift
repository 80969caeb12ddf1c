internal import TidelineStore

/// A subject in a run, with its databases; it belongs to the run's thread.
final class Participant {
    /// An open database.
    struct Database {
        let session: any BenchmarkSession
        let directory: String
        let table: BenchmarkTable
    }

    let subject: BenchmarkSubject
    let folder: BenchmarkFolder
    /// The databases that hold all rows.
    private(set) var loaded: [BenchmarkTable: Database] = [:]

    init(_ subject: BenchmarkSubject, folder: BenchmarkFolder) {
        self.subject = subject
        self.folder = folder
    }

    /// A new, empty database.
    func makeDatabase(_ table: BenchmarkTable) throws -> Database {
        let directory = try folder.makeDirectory(for: subject.name)
        do { return try open(directory, table) } catch {
            folder.remove(directory)
            throw error
        }
    }

    /// Keeps a database that was filled, closed and opened again, so that what its engine does after a great change is done.
    func keep(_ database: Database) throws {
        guard subject.isPersistent else {
            loaded[database.table] = database
            return
        }
        do {
            try database.session.close()
            loaded[database.table] = try open(database.directory, database.table)
        } catch {
            folder.remove(database.directory)
            throw error
        }
    }

    /// Removes a database that is open, or whose state is not known any more.
    func discard(_ database: Database) {
        if loaded[database.table]?.directory == database.directory { loaded[database.table] = nil }
        // What had to be told of it was told.
        try? database.session.close()
        folder.remove(database.directory)
    }

    /// Closes and removes a database that is not needed any more.
    func remove(_ database: Database) throws {
        defer { folder.remove(database.directory) }
        try database.session.close()
    }

    /// Closes a loaded database and finds out its size, before and after it is compacted.
    func close(_ table: BenchmarkTable, rows: Int) throws -> DatabaseSize? {
        guard let database = loaded.removeValue(forKey: table) else { return nil }
        try database.session.close()
        guard subject.isPersistent else { return nil }
        var size = DatabaseSize(
            subject: subject.name, rows: rows, isIndexed: table.isIndexed,
            bytes: FileSize.bytes(inFolder: database.directory))
        if let compact = subject.compact {
            try compact(database.directory)
            size.compactedBytes = FileSize.bytes(inFolder: database.directory)
        }
        folder.removeUnlessKept(database.directory)
        return size
    }

    /// Closes all databases, whatever they say: the run is over.
    func end() {
        for database in loaded.values { try? database.session.close() }
        loaded = [:]
    }

    private func open(_ directory: String, _ table: BenchmarkTable) throws -> Database {
        let session = try subject.open(BenchmarkOpening(directory: directory, table: table))
        return Database(session: session, directory: directory, table: table)
    }
}

/// Fills new databases with all rows of a run, which are made only once for all of them.
struct Loading {
    let settings: BenchmarkSettings
    let rows: Int
    let table: BenchmarkTable

    /// How many rows are made at a time, and how many a transaction takes.
    private static let (part, batch) = (50_000, 10_000)

    /// Fills a database for each participant.
    /// - Parameters:
    ///   - confirm: Is asked again and again whether to go on, and throws if not.
    ///   - failed: Takes those that cannot be filled.
    func load(
        _ participants: [Participant], confirm: () throws -> Void, failed: (Participant, any Error) throws -> Void
    ) throws {
        var filling: [(participant: Participant, database: Participant.Database)] = []
        do {
            for participant in participants {
                do { filling.append((participant, try participant.makeDatabase(table))) } catch {
                    try failed(participant, error)
                }
            }
            try fill(&filling, confirm, failed)
            while let (participant, database) = filling.popLast() {
                do { try participant.keep(database) } catch { try failed(participant, error) }
            }
        } catch {
            for (participant, database) in filling { participant.discard(database) }
            throw error
        }
    }

    private func fill(
        _ filling: inout [(participant: Participant, database: Participant.Database)], _ confirm: () throws -> Void,
        _ failed: (Participant, any Error) throws -> Void
    ) throws {
        let source = settings.source(rows: rows, isIndexed: table.isIndexed)
        for start in stride(from: 0, to: rows, by: Self.part) {
            let range = start..<min(start + Self.part, rows)
            let batches = try source.batches(range, of: Self.batch)
            for (participant, database) in filling {
                try confirm()
                do {
                    let answer = try database.session.perform(.upsert(batches), noting: LatencySink())
                    guard answer.count == range.count else {
                        throw BenchmarkError("of \(range.count) rows \(answer.count) were stored")
                    }
                } catch {
                    filling.removeAll { $0.participant === participant }
                    participant.discard(database)
                    try failed(participant, error)
                }
            }
        }
    }
}
