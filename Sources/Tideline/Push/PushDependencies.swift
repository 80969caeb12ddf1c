internal import Synchronization
internal import TidelineStore

/// Finds the operations that a push must send before another one because of references between tables.
///
/// - A row is inserted or restored before the rows that reference it are inserted or updated.
/// - A row is deleted after the rows that reference it on the server are deleted, or reference it no longer.
///
/// An operation is checked in the transaction that would send it, with the local row as it is then. Only the claims of
/// a push use this type, one at a time.
final class PushDependencies: Sendable {
    private let operations: OperationStore
    private let graph: ReferenceGraph
    private let index = Mutex(Index())

    /// The pending operations of rows that reference others on the server, or may do so.
    ///
    /// The index is built when a push first deletes a row of a referenced table. It has the numbers of operations by a
    /// hash of the row that they reference, and may have too many: each operation is read again when it is used.
    private struct Index {
        /// The newest operation that was read, or `nil` if the index is not built.
        var last: Int64?
        var numbers: [Int: ArraySlice<Int64>] = [:]

        mutating func add(_ number: Int64, _ targets: [RowName]) {
            for hash in targets.map(\.hashValue) where numbers[hash]?.last != number {
                numbers[hash, default: []].append(number)
            }
        }

        func number(_ hash: Int, at position: Int) -> Int64? {
            guard let found = numbers[hash], found.indices.contains(position) else { return nil }
            return found[position]
        }

        /// Removes an operation that no longer exists, if it is the first. The push sends most of them in their order.
        mutating func removeFirst(of hash: Int, at position: Int) {
            if numbers[hash]?.startIndex == position { numbers[hash]?.removeFirst() }
        }
    }

    init(_ graph: ReferenceGraph, operations: OperationStore) {
        self.graph = graph
        self.operations = operations
    }

    /// Returns an operation that must succeed before this one is sent, or `nil` if there is none.
    ///
    /// - Parameters:
    ///   - operation: The oldest operation of its row.
    ///   - snapshot: The local row.
    ///   - isIgnored: Whether an operation is not to be waited for.
    func first(
        before operation: TableOperation, snapshot: Row?, in reader: some StoreReader,
        unless isIgnored: (Int64) -> Bool
    ) throws -> TableOperation? {
        if operation.kind == .delete {
            let deleted = RowName(table: operation.table, itemKey: operation.itemKey)
            return try firstReferencing(deleted, in: reader, unless: isIgnored)
        }
        let references = graph.references(of: operation.table)
        guard !references.isEmpty, let snapshot else { return nil }
        for target in try targets(of: snapshot, references, in: reader) {
            let pending = try operations.operations(of: target.table, key: target.itemKey.text, in: reader)
            guard let first = pending.first, pending.contains(where: \.createsRow), first.id != operation.id,
                !isIgnored(first.id)
            else { continue }
            return first
        }
        return nil
    }

    /// Returns the rows that a row references.
    private func targets(
        of row: Row, _ references: [ReferenceGraph.Reference], in reader: some StoreReader
    ) throws -> [RowName] {
        try references.compactMap { reference in
            guard let id = row[reference.column]?.string, let schema = try reader.schemaIfDefined(of: reference.target)
            else { return nil }
            return RowName(table: reference.target, itemKey: schema.itemKey(id))
        }
    }

    // MARK: Deletes

    /// Returns the first pending operation that deletes a row which references `deleted`, or removes the reference.
    private func firstReferencing(
        _ deleted: RowName, in reader: some StoreReader, unless isIgnored: (Int64) -> Bool
    ) throws -> TableOperation? {
        guard !graph.references(to: deleted.table).isEmpty else { return nil }
        try readNewOperations(in: reader)
        let hash = deleted.hashValue
        var position = index.withLock { $0.numbers[hash]?.startIndex ?? 0 }
        while let number = index.withLock({ $0.number(hash, at: position) }) {
            defer { position += 1 }
            guard let operation = try operations.operation(number, in: reader) else {
                index.withLock { $0.removeFirst(of: hash, at: position) }
                continue
            }
            guard try removesReference(operation, to: deleted, in: reader),
                // An earlier operation of the row is sent first.
                let first = try operations.operations(of: operation.table, key: operation.itemKey, in: reader).first,
                !isIgnored(first.id)
            else { continue }
            return first
        }
        return nil
    }

    /// Returns whether an operation removes a reference to a row that the server's row has or may have.
    private func removesReference(
        _ operation: TableOperation, to deleted: RowName, in reader: some StoreReader
    ) throws -> Bool {
        guard RowName(table: operation.table, itemKey: operation.itemKey) != deleted,
            let schema = try reader.schemaIfDefined(of: operation.table)
        else { return false }
        let references = graph.references(of: operation.table)
        func isReferenced(by row: Row) throws -> Bool {
            try targets(of: row, references, in: reader).contains(deleted)
        }
        guard try rowsOnServer(operation, RowCodec(schema: schema)).contains(where: isReferenced) else { return false }
        guard operation.kind != .delete, let local = try reader.row(in: operation.table, id: operation.itemID) else {
            return true
        }
        return try !isReferenced(by: local)
    }

    /// Returns the contents that the server's row has or may have: the base row, what was sent, and what was deleted.
    private func rowsOnServer(_ operation: TableOperation, _ codec: RowCodec) throws -> [Row] {
        try ([operation.base, operation.deletedItem].compactMap(\.self) + operation.sent).map { json in
            var row = try codec.row(json)
            row.id = .string(operation.itemID)
            return row
        }
    }

    /// Adds the operations to the index that were made since it was last used, or all if it is not built.
    private func readNewOperations(in reader: some StoreReader) throws {
        let tables = Set(graph.references.map(\.table))
        var last = index.withLock { $0.last } ?? 0
        try operations.forEach(after: last, in: reader) { operation in
            last = operation.id
            guard tables.contains(operation.table), operation.mayBeOnServer,
                let schema = try reader.schemaIfDefined(of: operation.table)
            else { return }
            let references = graph.references(of: operation.table)
            let targets = try rowsOnServer(operation, RowCodec(schema: schema))
                .flatMap { try self.targets(of: $0, references, in: reader) }
            index.withLock { $0.add(operation.id, targets) }
        }
        index.withLock { $0.last = last }
    }
}

extension TableOperation {
    /// Whether the operation creates its row on the server.
    fileprivate var createsRow: Bool { kind == .insert || restores }

    /// Whether the server has or may have the row of the operation.
    fileprivate var mayBeOnServer: Bool { base != nil || deletedItem != nil || !sent.isEmpty }
}
