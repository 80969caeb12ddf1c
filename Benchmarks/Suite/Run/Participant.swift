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
