internal import TidelineStore

/// The result of a live query as its consumer knows it, to which deltas are applied.
struct ResultBuilder<Element: Sendable>: Sendable {
    private let table: String
    private let decode: @Sendable (Row) throws -> Element
    private var list: KeyedList<Element>?
    private var totalCount: Int?
    private var failures: [StoreError] = []
    /// The fingerprints of the rows that could not be decoded, by identity.
    private var failedRows: [Value: Int] = [:]

    init(table: String, decode: @escaping @Sendable (Row) throws -> Element) {
        self.table = table
        self.decode = decode
    }

    /// Applies a delivery and returns the update, or `nil` if the consumer sees no difference.
    ///
    /// - Throws: ``StoreError/Code/schemaMismatch`` of the closure that decodes rows.
    mutating func apply(_ delivery: Delivery) throws -> LiveUpdate<Element>? {
        let isFirst = list == nil
        failures = []
        let hadCount = totalCount
        totalCount = delivery.delta.matchingCount ?? totalCount
        let changes = try apply(delivery.delta)
        guard let list, isFirst || !changes.isEmpty || totalCount != hadCount || !failures.isEmpty else { return nil }
        return LiveUpdate(
            rows: LiveSnapshot(list: list), changes: changes, commit: delivery.commit, totalCount: totalCount,
            failures: failures)
    }

    private mutating func apply(_ delta: ResultDelta) throws -> LiveChanges {
        guard var whole = delta.whole else { return try change(delta.entries) }
        for entry in delta.entries.values {
            if let key = entry.old { whole.remove(key) }
            if let new = entry.new { whole.insert(new) }
        }
        return try replace(with: whole)
    }

    /// Changes single rows.
    private mutating func change(_ entries: [Value: ResultDelta.Entry]) throws -> LiveChanges {
        guard var new = list.take() else { return LiveChanges(removed: [], inserted: [], changed: []) }
        // Nothing is copied unless the consumer keeps an earlier snapshot, so positions are found before the change.
        let places = entries.values.map { entry in entry.old.flatMap { new.position(of: $0) } }
        for entry in entries.values { if let key = entry.old { new.remove(key) } }
        for (identity, entry) in entries {
            failedRows[identity] = nil
            if let row = entry.new, let element = try decoded(row) {
                new.insert(.init(key: row.key, element: element, fingerprint: row.fingerprint))
            }
        }
        var (removed, inserted, changed): ([Int], [Int], [LiveChanges.Pair]) = ([], [], [])
        for (entry, from) in zip(entries.values, places) {
            let to = (entry.new?.key).flatMap { new.position(of: $0) }
            switch (from, to) {
            case (let from?, let to?): changed.append(.init(from: from, to: to))
            case (let from?, nil): removed.append(from)
            case (nil, let to?): inserted.append(to)
            case (nil, nil): break
            }
        }
        list = new
        return LiveChanges(removed: removed, inserted: inserted, changed: changed)
    }

    /// Replaces all rows and compares them with those before.
    private mutating func replace(with rows: KeyedList<Row>) throws -> LiveChanges {
        let (old, earlierFailedRows) = (list, failedRows)
        failedRows = [:]
        var known: [Value: Int] = [:]
        for position in 0..<(old?.count ?? 0) { old.map { known[$0[position].key.identity] = position } }
        var entries: [KeyedList<Element>.Entry] = []
        entries.reserveCapacity(rows.count)
        var (inserted, changed): ([Int], [LiveChanges.Pair]) = ([], [])
        var position = 0
        for index in 0..<rows.count {
            let row = rows[index]
            let from = known.removeValue(forKey: row.key.identity)
            if from == nil, earlierFailedRows[row.key.identity] == row.fingerprint {
                failedRows[row.key.identity] = row.fingerprint
                continue
            }
            let before = from.flatMap { from in old.map { $0[from] } }
            let isSame = before?.fingerprint == row.fingerprint
            guard let element = try isSame ? before?.element : decoded(row) else {
                if let from { known[row.key.identity] = from }
                continue
            }
            entries.append(.init(key: row.key, element: element, fingerprint: row.fingerprint))
            if let from {
                if !isSame || before.map({ rows.order.areDifferent($0.key, row.key) }) ?? true {
                    changed.append(.init(from: from, to: position))
                }
            } else {
                inserted.append(position)
            }
            position += 1
        }
        list = KeyedList(order: rows.order, sorted: entries)
        return LiveChanges(removed: Array(known.values), inserted: inserted, changed: changed)
    }

    private mutating func decoded(_ row: KeyedList<Row>.Entry) throws -> Element? {
        do {
            return try decode(row.element)
        } catch let error as StoreError where error.code == .schemaMismatch {
            // It concerns the table, and therefore all rows.
            throw error
        } catch {
            failedRows[row.key.identity] = row.fingerprint
            failures.append(StoreError(undecodable: row.element, in: table, error))
            return nil
        }
    }
}

extension StoreError {
    /// Creates the error for a row that could not be decoded.
    init(undecodable row: Row, in table: String, _ error: any Error) {
        switch error {
        case let error as StoreError:
            self = error
            self.table = error.table ?? table
            id = error.id ?? row.idText
        case let error as DecodingError:
            self.init(undecodable: row, in: table, error)
        default:
            self.init(
                .invalidValue, "the row cannot be decoded: \(error)", table: table, id: row.idText, cause: error)
        }
    }

    private init(undecodable row: Row, in table: String, _ error: DecodingError) {
        let (type, context): (Any.Type?, DecodingError.Context?) =
            switch error {
            case .typeMismatch(let type, let context), .valueNotFound(let type, let context): (type, context)
            case .keyNotFound(_, let context), .dataCorrupted(let context): (nil, context)
            @unknown default: (nil, nil)
            }
        let target = type.map { " as \($0)" } ?? ""
        self.init(
            .invalidValue, "the row cannot be decoded\(target): \(context?.debugDescription ?? "\(error)")",
            table: table, column: context?.codingPath.first?.stringValue, id: row.idText, cause: error)
    }
}
