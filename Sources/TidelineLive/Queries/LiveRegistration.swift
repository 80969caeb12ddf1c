package import TidelineStore

/// One running live query: its compiled form, what the store knows of its result, and the changes for its consumer.
package final class LiveRegistration: Sendable {
    /// The elements that the consumer receives.
    package enum Content: Sendable {
        /// The rows, and the number of matching rows if the query requests it.
        case rows
        /// The number of matching rows.
        case count
    }

    /// The time until a query whose store is busy is started again.
    package static let busyPause = Duration.milliseconds(45)

    package let query: TableQuery
    let content: Content
    let mailbox = Mailbox()
    /// Changed only while the hub's commit lock is held.
    private let state = LockedValue<State?>(nil)

    /// The result as of the last transaction.
    struct State: Sendable {
        let plan: QueryPlan
        /// The number of matching rows, if the consumer receives it.
        var matchingCount: Int?
        /// The first rows in order, for a query with a limit or a skip.
        var window: ResultWindow?
        /// The time that reading the whole result took.
        var readTime = Duration.zero
    }

    package init(_ query: TableQuery, _ content: Content = .rows) {
        self.query = query
        self.content = content
    }

    /// The result as of the last transaction, to which a transaction that fails returns.
    var current: State? { state.withLock { $0 } }
    func restore(_ earlier: State?) { state.withLock { $0 = earlier } }

    /// Compiles the query and reads its whole result.
    ///
    /// - Throws: The errors of a query.
    func read(_ definition: ObservedDefinition, in reader: some StoreReader) throws -> ResultDelta {
        var new = State(plan: try QueryPlan(query, definition))
        var delta = ResultDelta()
        let start = ContinuousClock.now
        switch content {
        case .count: new.matchingCount = try reader.count(query)
        case .rows:
            let reading = try ResultWindow.read(query, new.plan, in: reader)
            new.matchingCount = reading.matchingCount
            delta.whole = reading.window.result
            if query.isWindow { new.window = reading.window }
        }
        delta.matchingCount = new.matchingCount
        new.readTime = .now - start
        state.withLock { [new] in $0 = new }
        return delta
    }

    /// Applies the changes of a transaction to the result.
    ///
    /// - Parameter rows: The changed rows that the query may match, before or after the transaction.
    func apply(_ rows: [Int], of changes: TableChanges, in reader: some StoreReader) throws -> ResultDelta {
        var delta = ResultDelta()
        guard var new = current else { return delta }
        var windowChanges: [(old: RowOrder.Key?, new: KeyedList<Row>.Entry?)] = []
        let plan = new.plan
        var difference = 0
        for row in rows {
            let old = try changes.withBefore(row) { try plan.matches($0) ? plan.order.key(of: $0) : nil } ?? nil
            let later = try changes.withAfter(row) { try plan.matches($0) ? plan.entry(of: $0) : nil } ?? nil
            difference += (later == nil ? 0 : 1) - (old == nil ? 0 : 1)
            guard old != nil || later != nil, content == .rows else { continue }
            if let old, let later, plan.selects, !plan.order.areDifferent(old, later.key),
                changes.withBefore(row, { plan.entry(of: $0).element }) == later.element
            {
                // The change is in other columns.
                continue
            }
            if new.window == nil {
                delta.add(old: old, new: later)
            } else {
                windowChanges.append((old, later))
            }
        }
        if difference != 0, let count = new.matchingCount {
            new.matchingCount = count + difference
            delta.matchingCount = new.matchingCount
        }
        if !windowChanges.isEmpty {
            try new.window?.apply(windowChanges, to: &delta) {
                var rows = query
                rows.includesTotalCount = false
                return try ResultWindow.read(rows, plan, in: reader).window
            }
        }
        state.withLock { [new] in $0 = new }
        return delta
    }
}
