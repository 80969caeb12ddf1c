internal import Foundation
internal import Synchronization
package import TidelineConformance
package import TidelineStore

/// A complete store in plain Swift: sorted rows and indexes in memory, and a log of the commits in a file.
///
/// Without a flaw it keeps every promise of ``LocalStore``. With a flaw it makes that one mistake, in the place where
/// an author would.
package final class PlainStore: LocalStore {
    package let capabilities: StoreCapabilities
    let flaw: Flaw?
    private let opening: StoreOpening
    private let log: PlainLog
    private let gate: PlainGate
    private let committed: Mutex<PlainState>
    /// If the gate admits more than one writer, they still commit one at a time, each based on its own initial state.
    private let commits = NSLock()
    /// The uncommitted changes of the writer, for flawed readers.
    private let uncommitted = Mutex<PlainState?>(nil)
    private let memory: PlainMemory?
    private let commitCount = Atomic(0)

    /// Opens the store in a folder, or creates an empty one.
    package init(_ opening: StoreOpening, flaw: Flaw? = nil) throws {
        self.opening = opening
        self.flaw = flaw
        gate = PlainGate(flaw: flaw)
        let keeping: [Flaw] = [.queriesKeptForever, .repeatedAnswersKept, .timeLimitKept]
        memory = flaw.flatMap { keeping.contains($0) ? PlainMemory($0) : nil }
        log = try PlainLog(opening, flaw: flaw)
        var state = PlainState()
        do {
            try log.replay { state.apply($0, flaw: flaw) }
        } catch {
            // The first error is the one to report.
            try? log.close()
            throw error
        }
        if let flaw { flaw.reopen(&state) }
        committed = Mutex(state)
        var capabilities = StoreCapabilities(
            name: "plain", durability: .full, isReadOnly: opening.access == .readOnly, detectsBitFlips: true)
        flaw?.declare(&capabilities)
        self.capabilities = capabilities
    }

    /// Removes the store in a folder. The store must be closed.
    package static func destroy(in directory: String) throws {
        try PlainFile.remove("\(directory)/\(PlainLog.fileName)")
    }

    package func close() throws { try gate.close { try log.close() } }

    package func tables() throws -> [TableSchema] {
        if flaw == .tablesAfterClose { return committed.withLock { $0.schemas } }
        let schemas = try read { $0.session.state.schemas }
        return flaw?.listed(schemas) ?? schemas
    }

    package func read<T>(_ body: (PlainReader) throws -> T) throws -> T {
        try gate.beginRead()
        defer { gate.endRead() }
        let session = PlainSession(committed.withLock { $0 }, flaw: flaw, elsewhere: elsewhere)
        session.memory = memory
        defer { session.isOpen = false }
        return try body(PlainReader(session: session))
    }

    /// The state that the readers of a store without snapshots see.
    private var elsewhere: (() -> PlainState)? {
        switch flaw {
        case .snapshotMoves: { [self] in committed.withLock { $0 } }
        case .dirtyReads: { [self] in uncommitted.withLock { $0 } ?? committed.withLock { $0 } }
        default: nil
        }
    }

    package func write<T>(_ body: (PlainWriter) throws -> T) throws -> T {
        try transaction { session in
            if flaw == .bodyRunsTwice { _ = try? body(PlainWriter(session: session)) }
            session.externalCommitNumber = try externalCommitNumber()
            return try body(PlainWriter(session: session))
        }
    }

    package func define(_ tables: [TableSchema]) throws {
        if flaw == .definitionNotAtomic, tables.count > 1 {
            for table in tables { try define([table]) }
            return
        }
        let plan = try read { try PlainDefinition.changes(defining: tables, in: $0.session.state, flaw: flaw) }
        guard !plan.isEmpty else { return }
        try transaction { session in
            for change in try PlainDefinition.changes(defining: tables, in: session.state, flaw: flaw) {
                if flaw == .redefinitionLosesRows, case .define(let schema, _) = change {
                    session.state.tables[TableName(schema.name)] = nil
                }
                session.state.apply(change, flaw: flaw)
                session.changes.append(change)
            }
        }
    }

    /// The number of a flawed store; other stores cannot open the file.
    package func externalCommitNumber() throws -> UInt64? {
        flaw?.externalCommitNumber(after: commitCount.load(ordering: .relaxed))
    }

    // MARK: Transactions

    private func transaction<T>(_ body: (PlainSession) throws -> T) throws -> T {
        if flaw != .cancelledAfterCommit { try checkCancellation() }
        try gate.beginWrite()
        var isDone = false
        defer { if isDone || ![.lockKeptAfterFailure, .lockHeldForever].contains(flaw) { gate.endWrite() } }
        // The wait for the gate may have been long.
        if flaw != .cancelledAfterCommit { try checkCancellation() }
        guard opening.access != .readOnly || flaw == .readOnlyWrites else {
            throw StoreError(.readOnly, "the store was opened for reading only", path: log.path)
        }
        let session = makeWritingSession()
        defer { session.isOpen = false }
        let result = try run(body, session)
        if let failure = session.failure, flaw != .failedTransactionCommitted { throw failure }
        try commit(session)
        isDone = true
        if flaw == .cancelledAfterCommit { try checkCancellation() }
        return result
    }

    private func makeWritingSession() -> PlainSession {
        let snapshot = committed.withLock { $0 }
        let seesOwnWrites = flaw != .ownWritesUnseen
        let session = PlainSession(snapshot, flaw: flaw, elsewhere: seesOwnWrites ? nil : { snapshot })
        session.changed = { [self] state in
            if flaw == .dirtyReads { uncommitted.withLock { $0 = state } }
        }
        return session
    }

    private func run<T>(_ body: (PlainSession) throws -> T, _ session: PlainSession) throws -> T {
        defer { uncommitted.withLock { $0 = nil } }
        do {
            return try body(session)
        } catch {
            try rolledBack(session)
            if flaw == .bodyErrorReplaced { throw StoreError(.io, "the transaction failed", cause: error) }
            throw error
        }
    }

    /// Keeps the changes that remain after a body threw: none, unless rollback is flawed.
    private func rolledBack(_ session: PlainSession) throws {
        guard let flaw, let state = flaw.rolledBack(committed.withLock({ $0 }), session) else { return }
        committed.withLock { $0 = state }
    }

    private func commit(_ session: PlainSession) throws {
        guard !session.changes.isEmpty else { return }
        commits.lock()
        defer { commits.unlock() }
        try log.append(session.changes, to: session.start)
        commitCount.add(1, ordering: .relaxed)
        if flaw == .tablesCommittedOneByOne { publishTableByTable(session.state) }
        let state = flaw?.committed(session) ?? session.state
        committed.withLock { $0 = state }
    }

    private func publishTableByTable(_ state: PlainState) {
        for (name, table) in state.tables {
            committed.withLock { $0.tables[name] = table }
            Thread.sleep(forTimeInterval: 0.002)
        }
    }

    private func checkCancellation() throws(StoreError) {
        guard !Task.isCancelled else {
            throw StoreError(.cancelled, "the task was cancelled; nothing was written")
        }
    }
}

extension PlainState {
    /// The definitions, sorted by name.
    var schemas: [TableSchema] {
        tables.values.map(\.layout.schema).sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }
}
