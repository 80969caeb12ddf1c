internal import Tideline
internal import TidelineStore

extension SimulatedWorld {
    /// Changes the dialect, the tables, the conflict policy, the settings of pushes, and the numbers of services and of
    /// clients, as a seed determines, and adds proxies, edits in transactions, and a sync that runs itself.
    ///
    /// Of 192 seeds in a row, each has another combination.
    package mutating func vary(by seed: UInt64) {
        if seed % 2 == 1 { dialect = .datasync3 }
        if seed / 2 % 2 == 0 {
            schema = Self.referencingTables
        } else {
            schema[0].columns.append(.double("price"))
            earlierSchema = schema
            earlierSchema?[0].columns.removeAll { $0.name == "done" }
        }
        switch seed / 4 % 4 {
        case 0: options.conflictPolicy = .merge(others: .client)
        case 1: options.conflictPolicy = .clientWins
        case 2: options.conflictPolicy = .serverWins
        default: break
        }
        push.maxInFlight = [8, 1, 3][Int(seed / 16 % 3)]
        if seed / 48 % 2 == 1 { services = 4 }
        if seed / 96 % 2 == 1 { clientsPerStore = 2 }
        steps = 32
        hasProxies = true
        let tables = schema
        action("transaction", weight: 15) { try await $0.editRows(of: tables) }
        action("sync itself", weight: 10) { device in
            let subscriptions = tables.map { SyncSubscription($0.name, interval: .seconds(15)) }
            try await device.sync(subscriptions, for: .seconds(device.random(in: 1..<100)))
        }
    }

    /// Tables whose rows reference rows of other tables and of their own.
    private static var referencingTables: [TableSchema] {
        [
            TableSchema(
                "Item", columns: [.string("title"), .string("list")],
                references: [ForeignKey(column: "list", table: "List")]),
            TableSchema(
                "List", columns: [.int("rank"), .string("parent")],
                references: [ForeignKey(column: "parent", table: "List")]),
        ]
    }
}

extension SimulatedDevice {
    /// Changes up to four rows of any tables in one transaction, which sometimes throws at its end.
    ///
    /// No row is changed twice, because the model sees a transaction as a whole: a row that is deleted and inserted
    /// again would look like an update, although it is restored if others have deleted it.
    fileprivate func editRows(of tables: [TableSchema]) async throws {
        struct Refusal: Error {}
        var edits: [(table: TableSchema, id: String, isDelete: Bool)] = []
        for _ in 0..<random(in: 1..<5) {
            let (table, id) = (tables[random(in: 0..<tables.count)], "r\(random(in: 1..<4))")
            if edits.contains(where: { $0.table.name == table.name && $0.id == id }) { continue }
            edits.append((table, id, isDelete: random(in: 0..<5) == 0))
        }
        let (number, isRefused) = (random(in: 1..<1_000_000), random(in: 0..<5) == 0)
        do {
            try await transaction { [edits] transaction in
                for (table, id, isDelete) in edits {
                    let row = try transaction.row(id: id, in: table.name)
                    if isDelete {
                        if row != nil { try transaction.delete(id: id, from: table.name) }
                        continue
                    }
                    var edit: Row = ["id": .string(id)]
                    for column in table.columns where !table.references.contains(where: { $0.column == column.name }) {
                        switch column.type {
                        case .string: edit[column.name] = .string("t\(number)")
                        case .int: edit[column.name] = .int(Int64(number))
                        default: break
                        }
                    }
                    if row == nil {
                        try transaction.insert(edit, into: table.name)
                    } else {
                        try transaction.update(edit, in: table.name)
                    }
                }
                if isRefused { throw Refusal() }
            }
        } catch is Refusal {
            // Nothing was changed.
        }
    }
}
