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
    /// The number of times that commits of other stores were read.
    private let foreignCommits = Atomic(0)
    private let isShared: Bool
    /// The time of the last call, in a flawed store.
    private let lastUse = Mutex(PlainClock.now)
    /// The bytes that a flawed store keeps of each commit.
    private let kept = Mutex<[[UInt8]]>([])

    /// Opens the store in a folder, or creates an empty one.
    ///
    /// - Parameter isShared: Whether several stores and processes may open the folder at once; by default if the flaw
    ///   is one of sharing.
    package init(_ opening: StoreOpening, flaw: Flaw? = nil, isShared: Bool = false) throws {
        self.opening = opening
        self.flaw = flaw
        self.isShared = isShared || flaw?.isOfSharing == true
        gate = PlainGate(flaw: flaw)
        let keeping: [Flaw] = [.queriesKeptForever, .repeatedAnswersKept, .timeLimitKept, .countsKept]
        memory = flaw.flatMap { keeping.contains($0) ? PlainMemory($0) : nil }
        log = try PlainLog(opening, flaw: flaw, isShared: self.isShared)
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
            name: "plain", durability: .full, isReadOnly: opening.access == .readOnly, detectsBitFlips: true,
            limitsQueryTime: true)
        capabilities.sharesFilesWithProcesses = self.isShared
        flaw?.declare(&capabilities)
        self.capabilities = capabilities
    }

    /// Removes the store in a folder. The store must be closed.
    package static func destroy(in directory: String, flaw: Flaw? = nil) throws {
        try PlainFile.remove("\(directory)/\(PlainLog.fileName)")
        if flaw == .signalFileKept { return }
        unlink("\(directory)/\(PlainLog.fileName)\(Self.signalSuffix)")
    }

    package func close() throws { try gate.close { try log.close() } }

    package func tables() throws -> [TableSchema] {
        if flaw == .tablesAfterClose { return committed.withLock { $0.schemas } }
        let schemas = try read { $0.session.state.schemas }
        return flaw?.listed(schemas) ?? schemas
    }

    package func read<T>(_ body: (PlainReader) throws -> T) throws -> T {
        try wakeUp()
        try gate.beginRead()
        defer { gate.endRead() }
        try readOthers()
        let session = PlainSession(committed.withLock { $0 }, flaw: flaw, elsewhere: elsewhere)
        session.memory = memory
        defer { session.isOpen = false }
        return try body(PlainReader(session: session))
    }

    /// The state that the readers of a store without snapshots see.
    private var elsewhere: (() -> PlainState)? {
        switch flaw {
        case .snapshotMoves: { [self] in committed.withLock { $0 } }
        case .nestedReadSeesWrite where gate.isWriting, .dirtyReads:
            { [self] in uncommitted.withLock { $0 } ?? committed.withLock { $0 } }
        default: nil
        }
    }

    package func write<T>(_ body: (PlainWriter) throws -> T) throws -> T {
        try transaction { session in
            if flaw == .bodyRunsTwice { _ = try? body(PlainWriter(session: session)) }
            session.externalCommitNumber = currentExternalCommitNumber
            return try body(PlainWriter(session: session))
        }
    }

    package func redefine(_ body: (PlainWriter) throws -> [TableSchema]) throws {
        if [.redefinitionInTwoWrites, .definitionNotAtomic, .longDefinitionInParts].contains(flaw) {
            let tables = try write(body)
            return try define(tables)
        }
        try transaction { session in
            let tables = try body(PlainWriter(session: session))
            try apply(flaw == .redefinitionIgnored ? [] : tables, in: session)
            flaw?.redefined(session)
        }
    }

    package func define(_ tables: [TableSchema]) throws {
        if tables.count > 1, flaw == .definitionNotAtomic || flaw == .longDefinitionInParts && rowCount > 10_000 {
            for table in tables { try define([table]) }
            return
        }
        let plan = try read { try PlainDefinition.changes(defining: tables, in: $0.session.state, flaw: flaw) }
        guard !plan.isEmpty else { return }
        try transaction { session in try apply(tables, in: session) }
    }

    private var rowCount: Int { committed.withLock { $0.tables.values.reduce(0) { $0 + $1.rows.count } } }

    private func apply(_ tables: [TableSchema], in session: PlainSession) throws {
        if flaw == .tablesLimited, session.state.tables.count >= 90 {
            throw StoreError(.full, "there are 90 tables")
        }
        if flaw == .indexChangesLimited, commitCount.load(ordering: .relaxed) > 400 {
            throw StoreError(.full, "there were 400 changes of definitions")
        }
        for change in try PlainDefinition.changes(defining: tables, in: session.state, flaw: flaw) {
            if flaw == .redefinitionLosesRows, case .define(let schema, _) = change {
                session.state.tables[schema.name] = nil
            }
            session.state.apply(change, flaw: flaw)
            session.changes.append(change)
        }
    }

    package var externalCommits: ExternalCommits? {
        guard isShared || flaw == .externalNumberWithoutSharing else { return nil }
        return ExternalCommits(signalPath: isShared ? signalPath : nil) { [self] in
            if flaw != .externalNumberAfterClose { try gate.beginRead() }
            defer { if flaw != .externalNumberAfterClose { gate.endRead() } }
            try readOthers()
            return currentExternalCommitNumber ?? 0
        }
    }

    private var currentExternalCommitNumber: UInt64? {
        let (own, foreign) = (commitCount.load(ordering: .relaxed), foreignCommits.load(ordering: .relaxed))
        return flaw?.externalCommitNumber(own: own, foreign: foreign) ?? (isShared ? UInt64(foreign) : nil)
    }

    private var signalPath: String {
        flaw == .signalPathDiffers ? "\(log.path).\(UUID().uuidString)" : "\(log.path)\(Self.signalSuffix)"
    }

    private static let signalSuffix = "-signal"

    /// Applies the commits of other stores over the same file.
    private func readOthers() throws {
        guard isShared, flaw != .readOnlyFrozen || opening.access != .readOnly else { return }
        commits.lock()
        defer { commits.unlock() }
        var state = committed.withLock { $0 }
        var hasAdded = false
        guard
            try log.replayOthers({ change in
                hasAdded = hasAdded || !change.isRemoval
                state.apply(change, flaw: flaw)
            })
        else { return }
        committed.withLock { $0 = state }
        if hasAdded || flaw != .foreignDeletionsUnseen { foreignCommits.add(1, ordering: .relaxed) }
    }

    // MARK: Transactions

    private func transaction<T>(_ body: (PlainSession) throws -> T) throws -> T {
        if flaw != .cancelledAfterCommit { try checkCancellation() }
        try wakeUp()
        try gate.beginWrite()
        var isDone = false
        defer { if isDone || ![.lockKeptAfterFailure, .lockHeldForever].contains(flaw) { gate.endWrite() } }
        // The wait for the gate may have been long.
        if flaw != .cancelledAfterCommit { try checkCancellation() }
        guard opening.access != .readOnly || flaw == .readOnlyWrites else {
            throw StoreError(.readOnly, "the store was opened for reading only", path: log.path)
        }
        if isShared {
            try log.lock()
            try readOthers()
        }
        defer { if isShared { log.unlock() } }
        let session = makeWritingSession()
        defer { session.isOpen = false }
        let result = try run(body, session)
        if let failure = session.failure, flaw != .failedTransactionCommitted { throw failure }
        try commit(session)
        isDone = true
        if flaw == .cancelledAfterCommit { try checkCancellation() }
        return result
    }

    private func wakeUp() throws {
        guard flaw == .idleStoreCloses else { return }
        let idle = lastUse.withLock { last in
            defer { last = PlainClock.now }
            return PlainClock.now - last
        }
        guard idle < .seconds(600) else { throw StoreError(.closed, "the store was idle") }
    }

    private func makeWritingSession() -> PlainSession {
        let snapshot = committed.withLock { $0 }
        let seesOwnWrites = flaw != .ownWritesUnseen
        let session = PlainSession(snapshot, flaw: flaw, elsewhere: seesOwnWrites ? nil : { snapshot })
        session.changed = { [self] state in
            if flaw == .dirtyReads || flaw == .nestedReadSeesWrite { uncommitted.withLock { $0 = state } }
        }
        return session
    }

    private func run<T>(_ body: (PlainSession) throws -> T, _ session: PlainSession) throws -> T {
        defer { uncommitted.withLock { $0 = nil } }
        do {
            return try body(session)
        } catch {
            gate.noteFailure()
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
        do {
            try log.append(session.changes, to: session.start)
        } catch {
            if let left = flaw?.leftBehind(by: session) { try? log.append(left, to: session.start) }
            throw error
        }
        commitCount.add(1, ordering: .relaxed)
        if flaw == .commitsKept { kept.withLock { $0.append([UInt8](repeating: 1, count: 65_536)) } }
        if flaw == .longCommitsAreExternal, session.changes.count > 1_000 { foreignCommits.add(1, ordering: .relaxed) }
        if flaw == .tablesCommittedOneByOne { publishTableByTable(session.state) }
        memory?.forgetCounts()
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
        guard !Task.isCancelled else { throw StoreError(.cancelled, "the task was cancelled; nothing was written") }
    }
}

extension PlainState {
    /// The definitions, sorted by name.
    var schemas: [TableSchema] {
        tables.values.map(\.layout.schema).sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }
}
