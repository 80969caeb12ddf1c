internal import Foundation
internal import TidelineStore

extension Flaw {
    /// Returns the path of the file, or `nil` for the default path.
    func path(in directory: String) -> String? {
        guard self == .pathDecoded else { return nil }
        return "\(directory.removingPercentEncoding ?? directory)/\(PlainLog.fileName)"
    }

    /// Returns the changes of a commit that are written.
    func logged(_ changes: [PlainChange]) -> [PlainChange] {
        switch self {
        case .changesCutAtThousand: return Array(changes.prefix(1_000))
        case .deletesNotLogged:
            return changes.filter { if case .remove = $0 { false } else { true } }
        case .secondTableNotLogged:
            let tables = changes.compactMap { if case .put(let name, _) = $0 { name } else { nil } }
            return changes.filter { if case .put(let name, _) = $0 { name == tables.first } else { true } }
        case .systemMarkLost, .indexesNotLogged:
            return changes.map { change in
                guard case .define(var schema, let stored) = change else { return change }
                if self == .systemMarkLost { schema.isSystem = false } else { schema.indexes = [] }
                return .define(schema, stored: stored)
            }
        case .fileCutsInstants, .fileLosesNegativeZero, .fileReadsEmptyAsNull, .fileEndsTextAtNUL,
            .fileIntegersThroughDouble:
            return changes.map { change in
                guard case .put(let table, var row) = change else { return change }
                row.values = row.values.map(logged)
                return .put(table: table, row)
            }
        case .definitionsNotLogged:
            return changes.filter { if case .define(let schema, _) = $0 { schema.isSystem } else { true } }
        default: return changes
        }
    }

    /// Returns the definitions that remain of a transaction that cannot be written, or `nil` if none remain.
    func leftBehind(by session: PlainSession) -> [PlainChange]? {
        guard self == .failedDefinitionKeepsIndex else { return nil }
        var left: [PlainChange] = []
        for case .define(let schema, _) in session.changes {
            guard let layout = session.start.tables[schema.name]?.layout else { continue }
            var old = layout.schema
            old.indexes = schema.indexes
            left.append(.define(old, stored: layout.stored))
        }
        return left.isEmpty ? nil : left
    }

    /// Whether the record of a commit is synced.
    func syncs(_ record: [UInt8], isReopened: Bool) -> Bool {
        switch self {
        case .longCommitNotSynced: record.count < 1 << 14
        case .reopenedNotSynced: !isReopened
        default: true
        }
    }

    /// Whether a long log is compacted. The others are not, so that they keep what a flaw has written.
    func compacts(_ state: PlainState) -> Bool {
        self == .replacedRowsKept && state.tables.values.allSatisfy { $0.rows.count == 0 }
    }

    private func logged(_ value: Value) -> Value {
        switch (self, value) {
        case (.fileCutsInstants, .timestamp(let instant)): .timestamp(instant.flooredToMillisecond)
        case (.fileLosesNegativeZero, .double(0)): .double(0)
        case (.fileReadsEmptyAsNull, .string("")), (.fileReadsEmptyAsNull, .bytes([])): .null
        case (.fileEndsTextAtNUL, .string(let text)): .string(text.endingAtNUL)
        case (.fileIntegersThroughDouble, .int(let number)): .int(Int64(clamping: Int128(Double(number))))
        default: value
        }
    }

    /// Changes the tables when the file is opened.
    func reopen(_ state: inout PlainState) {
        guard self == .indexLostOnReopen else { return }
        for name in state.tables.keys {
            for index in state.tables[name]?.indexes.indices ?? 0..<0 { state.tables[name]?.indexes[index].removeAll() }
        }
    }

    /// Whether the flaw is one of a store whose files several stores can open at once.
    var isOfSharing: Bool { Self.ofSharing.contains(self) }

    private static let ofSharing = Set(BrokenStore.sharing.map(\.flaw))
        .union([.ownCommitsAreExternal, .externalCommitsUnseen])

    /// The external commit number after the given numbers of commits, or `nil` for the correct one.
    func externalCommitNumber(own: Int, foreign: Int) -> UInt64? {
        switch self {
        case .externalNumberWithoutSharing, .externalCommitsUnseen: 0
        case .ownCommitsAreExternal: UInt64(own + foreign)
        default: nil
        }
    }

    /// Changes the capabilities that the store declares.
    func declare(_ capabilities: inout StoreCapabilities) {
        switch self {
        case .idLimitOverstated: capabilities.maximumIDLength = 1_000
        case .tableLimitNotKept: capabilities.maximumTablesAndIndexes = 450
        case .infinityDeclaredOff: capabilities.storesInfinity = false
        case .nanDeclaredOff: capabilities.storesNaN = false
        case .persistenceDeclaredOff: capabilities.isPersistent = false
        case .readOnlyNotDeclared: capabilities.isReadOnly = false
        default: break
        }
    }
}
