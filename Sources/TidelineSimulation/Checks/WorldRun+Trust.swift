internal import Foundation
internal import HTTPTypes
internal import Synchronization
internal import Tideline
internal import TidelineStore

/// Checks of what a device takes from responses: only the server decides about a row.
extension WorldRun {
    /// Checks that the server has decided about the row of an error.
    func checkVerdict(of error: TableOperationError, _ device: Device) {
        checkDifference(of: error, device)
        let row = LocalRow(device: device.index, table: error.table, id: error.itemID)
        switch error.code {
        case .conflict:
            if error.isRowGone { checkGone(error.itemID, in: error.table, device) }
            // An edit can be in conflict with a row of a page.
            let version = error.serverItem?["version"]?.string
            let isShown =
                version.map { version in state.withLock { $0.shown[row]?.contains(version) == true } } ?? false
            if !isShown { checkVerdict(on: error.itemID, in: error.table, "conflict", device) }
        case .rejected:
            // One look-up of a push shows that the server is there, and a client also rejects what the server has
            // stored, such as a row with another identifier.
            let isThere = state.withLock { state in
                state.written.contains(row) || state.verdicts.contains { $0.device == device.index }
            }
            if !isThere { checkVerdict(on: error.itemID, in: error.table, "rejection", device) }
        default: break
        }
    }

    /// Records that the server has responded to a request of a device, and the versions of the rows that a page shows.
    func heard(_ response: TransportResponse, to message: Message) {
        guard let device = message.device, let table = message.table(in: world.schema) else { return }
        let status = response.response.status.code
        // A client of a custom dialect requests a page to find out whether the server is there, which no row has as its
        // name.
        let ids = message.id.map { [$0] } ?? (world.customServer == nil ? message.quotedTexts : [""])
        if message.request.method == .get, message.id == nil {
            let versions = versions(inPage: response, of: table)
            state.withLock { state in
                for (id, version) in versions {
                    state.shown[LocalRow(device: device, table: table, id: id), default: []].insert(version)
                }
            }
        }
        let rows = ids.map { LocalRow(device: device, table: table, id: $0) }
        guard !rows.isEmpty else { return }
        state.withLock { state in
            if message.request.method == .get || status >= 400 {
                state.verdicts.formUnion(rows)
            } else {
                state.written.formUnion(rows)
            }
        }
    }

    private func versions(inPage response: TransportResponse, of table: String) -> [(id: String, version: String)] {
        if let custom = world.customServer, let schema = world.schema.first(where: { $0.name == table }) {
            return custom.rows(response, schema).compactMap { row in
                row["version"]?.string.map { (row.idText, $0) }
            }
        }
        let page = try? JSONSerialization.jsonObject(with: Data(response.body))
        return (Self.rows(ofPage: page) ?? []).compactMap { row in
            guard let id = row["id"] as? String, let version = row["version"] as? String else { return nil }
            return (id, version)
        }
    }

    /// Checks that the server has refused a request for a row, or that the row was looked up.
    func checkVerdict(on id: String, in table: String, _ outcome: String, _ device: Device) {
        let row = LocalRow(device: device.index, table: table, id: id)
        guard !state.withLock({ $0.verdicts.contains(row) }) else { return }
        violated(
            "only the server decides about a row",
            "\(outcome) of \(table) \(id) on device \(device.index), about which the server said nothing")
    }

    /// Checks that a row that a device takes for deleted was deleted.
    func checkGone(_ id: String, in table: String, _ device: Device) {
        guard server.row(id, in: table) != nil, !withOracle({ $0.wasDeleted(id, in: table) }) else { return }
        violated(
            "only the server decides about a row",
            "device \(device.index) takes \(table) \(id) for deleted, which the server has never deleted")
    }

    /// Checks that nothing but a decision removes a local row that the server has.
    func checkRemovals(_ changes: [SimulatedStore.Change], on device: Device, decided: [String]) {
        // A pull of some rows may remove those that no longer match.
        if case .pull(_, _, isFiltered: true) = StepContext.current?.step.action { return }
        guard StepContext.resolution == nil else { return }
        for change in changes where change.after == nil && change.before != nil {
            let (id, table) = (change.id.text, change.table)
            guard !decided.contains(id), server.row(id, in: table) != nil,
                !withOracle({ $0.wasDeleted(id, in: table) })
            else { continue }
            violated(
                "only a decision removes a row that the server has",
                "device \(device.index) removed \(id) of \(table)")
        }
    }

    /// Inserts a row into each table of the server, which the syncs of all devices must fetch.
    func writeLastRows() throws -> [(table: String, id: String)] {
        try world.schema.map { table in
            let columns = table.columns.filter { column in !table.references.contains { $0.column == column.name } }
            let row = values("last", in: table.name, columns, of: 999_999_999_999)
            try serverEdit(table.name, "last", row, insert: true)
            return (table.name, "last")
        }
    }

    /// Checks that syncs have fetched rows, and have pushed all operations about which the server has not decided.
    func checkArrivals(of rows: [(table: String, id: String)]) throws {
        for device in devices {
            for (table, id) in rows where try device.row(id, in: table) == nil {
                violated("everything arrives by itself", "device \(device.index) did not fetch \(id) of \(table)")
            }
            let operations = try device.rows(of: SystemTables().operations)
            let decided = try device.rows(of: SystemTables().errors).filter { error in
                ["conflict", "rejected"].contains { error["properties"]?.json?.contains("\"code\":\"\($0)\"") == true }
            }
            // Rows wait for those that they reference.
            if !decided.isEmpty, world.schema.contains(where: { !$0.references.isEmpty }) { continue }
            for operation in operations where !decided.contains(where: { $0["operationId"] == operation["id"] }) {
                violated(
                    "everything arrives by itself",
                    "device \(device.index) did not push \(operation["itemId"]?.string ?? "") of "
                        + "\(operation["table"]?.string ?? "")")
            }
        }
    }

    /// Checks that the two rows of a conflict differ.
    private func checkDifference(of error: TableOperationError, _ device: Device) {
        guard error.code == .conflict, let item = error.item, let server = error.serverItem, !server.isTombstone,
            error.kind != .delete, let table = world.schema.first(where: { $0.name == error.table }),
            table.columns.allSatisfy({ item[$0.name] ?? .null == server[$0.name] ?? .null })
        else { return }
        violated(
            "equal rows are no conflict",
            "\(error.table) \(error.itemID) on device \(device.index): \(server.brief)")
    }

    /// Checks that nothing is left of the data of a user.
    func checkWipe(of device: Device) {
        let rows = world.schema.flatMap { table in (try? device.rows(of: table.name)) ?? [] }
        guard !rows.isEmpty || pendingCount(device) > 0 else { return }
        violated(
            "a wipe leaves nothing",
            "device \(device.index) has \(rows.count) rows and \(pendingCount(device)) operations")
    }

    /// Checks that a request has the token of the user who edited the row.
    func checkUser(of message: Message) {
        guard message.request.method != .get, let device = message.device,
            let (table, id) = message.row(in: world.schema),
            let author = state.withLock({ $0.authors[LocalRow(device: device, table: table, id: id)] })
        else { return }
        let field =
            world.customServer?.authentication(author.token)
            ?? HTTPField(name: .init("X-ZUMO-AUTH")!, value: author.token)
        let sent = message.request.headerFields[field.name]
        guard sent != field.value, message.sentAt > author.mark else { return }
        violated(
            "requests have the token of the user who edited the row",
            "device \(device) sent the edit of \(author.token) as \(sent ?? "nobody"): \(message)")
    }
}
