#if Commands
internal import TidelineStore

/// A subject and its databases during a run; used on the run's thread only.
final class Subject {
    /// An open database.
    struct Database {
        let session: any BenchmarkSession
        let directory: String
        let table: BenchmarkTable
    }

    let definition: BenchmarkSubject
    let folder: BenchmarkFolder
    /// The databases that contain all rows.
    private(set) var loaded: [BenchmarkTable: Database] = [:]

    init(_ definition: BenchmarkSubject, folder: BenchmarkFolder) {
        self.definition = definition
        self.folder = folder
    }

    var name: String { definition.name }

    /// Creates an empty database.
    func makeDatabase(_ table: BenchmarkTable) throws -> Database {
        let directory = try folder.makeDirectory(for: name)
        do { return try open(directory, table) } catch {
            folder.remove(directory)
            throw error
        }
    }

    /// Keeps a filled database. It is closed and opened first, so that pending work of the engine is done.
    func keep(_ database: Database) throws {
        guard definition.isPersistent else {
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

    /// Removes a database that is open or in an unknown state, and ignores errors.
    func discard(_ database: Database) {
        if loaded[database.table]?.directory == database.directory { loaded[database.table] = nil }
        try? database.session.close()
        folder.remove(database.directory)
    }

    /// Closes and removes a database.
    func remove(_ database: Database) throws {
        defer { folder.remove(database.directory) }
        try database.session.close()
    }

    /// Closes a loaded database and returns its size before and after compaction.
    func close(_ table: BenchmarkTable, rows: Int) throws -> DatabaseSize? {
        guard let database = loaded.removeValue(forKey: table) else { return nil }
        try database.session.close()
        guard definition.isPersistent else { return nil }
        var size = DatabaseSize(
            subject: name, rows: rows, isIndexed: table.isIndexed,
            bytes: FileSystem.size(ofFolder: database.directory))
        if let compact = definition.compact {
            try compact(database.directory)
            size.compactedBytes = FileSystem.size(ofFolder: database.directory)
        }
        folder.removeUnlessKept(database.directory)
        return size
    }

    /// Closes all databases and ignores errors.
    func end() {
        for database in loaded.values { try? database.session.close() }
        loaded = [:]
    }

    private func open(_ directory: String, _ table: BenchmarkTable) throws -> Database {
        let session = try definition.open(BenchmarkOpening(directory: directory, table: table))
        return Database(session: session, directory: directory, table: table)
    }
}

/// A table with all rows of a run, for the databases that workloads start with.
struct Fixture {
    let settings: BenchmarkSettings
    let rows: Int
    let table: BenchmarkTable

    /// The number of rows that are generated at a time, and the number of rows in a transaction.
    private static let (part, batch) = (50_000, 10_000)

    private typealias Loading = (subject: Subject, database: Subject.Database)

    /// Fills a database for each subject; the rows are generated once for all of them.
    /// - Parameters:
    ///   - checkCancellation: Throws if the run is cancelled.
    ///   - failed: Receives each subject whose database cannot be filled.
    func load(
        _ subjects: [Subject], checkCancellation: () throws -> Void, failed: (Subject, any Error) throws -> Void
    ) throws {
        var loading: [Loading] = []
        do {
            for subject in subjects {
                do { loading.append((subject, try subject.makeDatabase(table))) } catch {
                    try failed(subject, error)
                }
            }
            try fill(&loading, checkCancellation, failed)
            while let (subject, database) = loading.popLast() {
                do { try subject.keep(database) } catch { try failed(subject, error) }
            }
        } catch {
            for (subject, database) in loading { subject.discard(database) }
            throw error
        }
    }

    private func fill(
        _ loading: inout [Loading], _ checkCancellation: () throws -> Void,
        _ failed: (Subject, any Error) throws -> Void
    ) throws {
        let source = settings.source(rows: rows, isIndexed: table.isIndexed)
        for range in (0..<rows).parts(of: Self.part) {
            let batches = try source.batches(range, of: Self.batch)
            for (subject, database) in loading {
                try checkCancellation()
                do {
                    let answer = try database.session.perform(.upsert(batches))
                    guard answer.count == range.count else {
                        throw BenchmarkError("\(answer.count) of \(range.count) rows were stored")
                    }
                } catch {
                    loading.removeAll { $0.subject === subject }
                    subject.discard(database)
                    try failed(subject, error)
                }
            }
        }
    }
}
#endif
