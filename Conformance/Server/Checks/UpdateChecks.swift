internal import HTTPTypes
internal import TidelineStore
internal import TidelineWire

extension ServerCheck {
    /// Changes of rows, and their versions.
    static let updates: [ServerCheck] = [
        ServerCheck(
            "SRV-401", "Each row has a version, a text that is not empty",
            why: "A client bases each change on the version of the row that it has read."
        ) { check in
            let row = try await check.insert()
            let listed = try await check.list()
            for (row, name) in [(row, "an insert"), (try await check.found(row.id), "a lookup")]
                + listed.rows.map({ ($0, "a list") })
            {
                try check.expect(!(row.version ?? "").isEmpty, "the row in the response to \(name) has no version")
            }
        },
        ServerCheck(
            "SRV-402", "The ETag of a single row is strong, and is the row's version in quotes",
            why: "If-Match repeats it. A weak ETag never matches.",
            tolerated: "The client takes the version from the row"
        ) { check in
            let row = try await check.insert()
            let changed = try await check.update(row, ["text": "b"])
            for answer in [changed, try await check.lookup(row.id)] {
                let tag = answer.headers[.eTag] ?? "none"
                let version = try answer.row().version
                try check.expect(
                    answer.version == version, "\(answer.summary), with ETag \(tag) and version \(version ?? "none")")
            }
        },
        ServerCheck(
            "SRV-403", "Each change gives the row another version",
            why: "Otherwise a change of one client is invisible to the If-Match of another, and is overwritten."
        ) { check in
            var row = try await check.insert()
            var versions = [row.version]
            for text in ["b", "c", "c"] {
                row = try await check.changed(row, ["text": .string(text)])
                versions.append(row.version)
            }
            try check.expect(Set(versions).count, is: versions.count, "different versions of four states: \(versions)")
        },
        ServerCheck(
            "SRV-404", "No two rows have the same version",
            why: "A version that returns with other content, after a delete or a restore, cannot be recognized.",
            tolerated: "The client takes two states for the same only if version and updatedAt are equal"
        ) { check in
            let rows = try await check.insert(texts: ["a", "b", "c"])
            let versions = rows.map { $0.version ?? "" }
            try check.expect(Set(versions).count, is: rows.count, "different versions of three rows: \(versions)")
        },
        ServerCheck(
            "SRV-405", "An update changes the columns that it names and keeps the others",
            why: "Two clients change different columns of a row. In ZUMO 2 an update sends only what has changed.",
            needs: [.dialect(.zumo2)]
        ) { check in
            let row = try await check.insert(["text": "a", "number": 1, "done": true])
            let changed = try await check.changed(row, ["number": 2])
            try check.expect(changed["number"], is: .int(2), "the changed column")
            try check.expect(changed.text, is: "a", "a column that the update does not name")
            try check.expect(changed["done"], is: .bool(true), "a column that the update does not name")
        },
        ServerCheck(
            "SRV-406", "A PUT replaces the row: columns that the body omits become null",
            why: "In Datasync 3, a client clears a column in this way.",
            needs: [.dialect(.datasync3)]
        ) { check in
            let row = try await check.insert(["text": "a", "number": 1, "done": true])
            let changed = try await check.changed(row, ["text": .null, "number": 2])
            try check.expect(changed["number"], is: .int(2), "the changed column")
            try check.expect(changed["text"], is: nil, "the omitted column")
            try check.expect(changed["done"], is: .bool(true), "a column that is sent as it was")
        },
        ServerCheck(
            "SRV-407", "null clears a column",
            why: "An app that clears a field must find it empty on other devices."
        ) { check in
            let row = try await check.insert(["text": "a", "number": 1, "price": 1.5, "done": true])
            _ = try await check.changed(row, ["number": .null, "price": .null, "done": .null])
            let stored = try await check.found(row.id)
            for column in ["number", "price", "done"] { try check.expect(stored[column], is: nil, column) }
            try check.expect(stored.text, is: "a", "a column that is not cleared")
        },
        ServerCheck(
            "SRV-408", "An update with the current version in If-Match succeeds",
            why: "Every update of a sync table is sent in this way."
        ) { check in
            let row = try await check.insert()
            let answer = try await check.update(row, ["text": "b"], version: row.version)
            try check.expect(answer, has: 200, what: "an update with the current version")
            try check.expect(answer.row().text, is: "b", "the text in the response")
            try await check.expect(check.found(row.id), shows: answer.row(), "the row that is then found")
        },
        ServerCheck(
            "SRV-409", "An update with an earlier version in If-Match is answered with 412 and changes nothing",
            why: "This is how a client notices that another has changed the row. Without it, changes are lost silently."
        ) { check in
            let (row, newer) = try await check.changedRow()
            let stale = try await check.update(row, ["text": "c"], version: row.version)
            try check.expect(stale, has: 412, what: "an update with an earlier version")
            try await check.expect(check.found(row.id), shows: newer, "the row after the refused update")
        },
        ServerCheck(
            "SRV-410", "The 412 to an update contains the server's row",
            why: "It is what the conflict handler of the app receives.",
            tolerated: "Without a readable row, the client looks the row up"
        ) { check in
            let (row, newer) = try await check.changedRow()
            let stale = try await check.update(row, ["text": "c"], version: row.version)
            try check.expect(stale, has: 412, what: "an update with an earlier version")
            try check.expect(stale.row(), shows: newer, "the row in the 412")
        },
        ServerCheck(
            "SRV-411", "If-Match: * matches every row that exists",
            why: "HTTP says so.",
            tolerated: "The client sends no If-Match to change a row regardless of its version"
        ) { check in
            let row = try await check.insert()
            let answer = try await check.send(.delete, "/\(PercentEncoding.encode(row.id))", headers: [.ifMatch: "*"])
            try check.expectSuccess(answer, "a delete with If-Match: *")
        },
        ServerCheck(
            "SRV-412", "An update without If-Match succeeds regardless of the version",
            why: "A resolution that the client wins, and a remote table of an app, send it."
        ) { check in
            let (row, _) = try await check.changedRow()
            let answer = try await check.update(row, ["text": "c"])
            try check.expect(answer, has: 200, what: "an update without a version")
            try await check.expect(check.found(row.id).text, is: "c", "the text")
        },
        ServerCheck(
            "SRV-413", "An earlier version in the body, without If-Match, is answered with 409 or 412",
            why: "The original clients for JavaScript send it there.",
            tolerated: "The client sends the version in If-Match", needs: [.dialect(.zumo2)]
        ) { check in
            let (row, newer) = try await check.changedRow()
            let version = Value.string(row.version ?? "")
            var writer = JSONWriter()
            writer.append(Row(dictionaryLiteral: ("text", "c"), ("version", version)))
            let answer = try await check.send(
                .patch, "/\(PercentEncoding.encode(row.id))", body: String(decoding: writer.bytes, as: UTF8.self))
            try check.expect(answer, has: 409, 412, what: "an earlier version in the body")
            try await check.expect(check.found(row.id), shows: newer, "the row after the refused update")
        },
        ServerCheck(
            "SRV-414", "An update of a row that does not exist is answered with 404",
            why: "The client takes it for a conflict with a deletion. A server that inserts the row revives it."
        ) { check in
            let row = try await check.insert()
            let none = try ServerRow(json: Array(#"{"id":"\#(check.newID())"}"#.utf8))
            let answer = try await check.update(none, ["text": "b", "mark": .string(check.mark)])
            check.willRemove(none.id)
            try check.expect(answer, has: 404, 410, what: "an update of a row that does not exist")
            try await check.expect(check.list().ids, is: [row.id], "the ids in the list")
        },
        ServerCheck(
            "SRV-415", "An update of a deleted row is answered with 404 or 410",
            why: "The client takes it for a conflict with a deletion, which the app decides.",
            needs: [.tombstones]
        ) { check in
            let row = try await check.removedRow()
            for version in [nil, row.version] {
                let answer = try await check.update(row, ["text": "b"], version: version)
                let expected = version == nil ? [404, 410] : [404, 410, 412]
                try check.expect(expected.contains(answer.status), "an update of a deleted row: \(answer.summary)")
            }
            try await check.expect(check.list().ids, is: [], "the ids in the list")
        },
        ServerCheck(
            "SRV-416", "An update does not change createdAt",
            why: "Apps sort by it.",
            tolerated: "The client stores what the server returns"
        ) { check in
            let row = try await check.insert()
            if check.isDatasync, row["createdAt"] == nil {
                throw SkippedCheck(reason: "the server has no createdAt, as that of the Datasync toolkit")
            }
            let changed = try await check.changed(row, ["text": "b"])
            try check.expect(row["createdAt"] != nil, "the row has no createdAt")
            try check.expect(changed["createdAt"], is: row["createdAt"], "createdAt after an update")
        },
        ServerCheck(
            "SRV-417", "The body of an update cannot set updatedAt",
            why: "A change that is stamped in the past is hidden from all clients that have pulled since."
        ) { check in
            let row = try await check.insert()
            let stamp = "1999-12-31T23:59:59.000Z"
            let body = #"{"id":"\#(row.id)","mark":"\#(check.mark)","text":"b","updatedAt":"\#(stamp)"}"#
            _ = try await check.send(check.isDatasync ? .put : .patch, "/\(PercentEncoding.encode(row.id))", body: body)
            let stored = try await check.found(row.id)
            try check.expect(stored.updatedAt != Timestamp(stamp), "the stored updatedAt is that of the body")
        },
        ServerCheck(
            "SRV-418", "The ETag of a response to a change is not that of the row before",
            why: "A client that takes it for the version would be in conflict with its own change."
        ) { check in
            let answer = try await check.tryInsert(["text": "a"], id: check.newID())
            let row = try answer.row()
            let changed = try await check.update(row, ["text": "b"])
            let found = try await check.found(row.id)
            for (answer, row) in [(answer, row), (changed, found)] {
                guard let version = answer.version else { continue }
                try check.expect(version, is: row.version ?? "none", "the version in the ETag of \(answer.summary)")
            }
        },
    ]
}

extension ServerCheckContext {
    /// Changes columns of a row, and returns the row of the response.
    func changed(_ row: ServerRow, _ columns: Row, version: String? = nil) async throws -> ServerRow {
        let answer = try await update(row, columns, version: version)
        try expectSuccess(answer, "an update")
        return try answer.row()
    }

    /// Inserts a row and changes it, and returns both states.
    func changedRow() async throws -> (row: ServerRow, newer: ServerRow) {
        let row = try await insert()
        return (row, try await changed(row, ["text": "b"]))
    }

    /// Deletes a row, and fails unless the server does.
    func remove(_ id: String) async throws { try await expectSuccess(delete(id), "a delete") }

    /// Inserts a row and deletes it, and returns the row as it was.
    func removedRow() async throws -> ServerRow {
        let row = try await insert()
        try await remove(row.id)
        return row
    }
}
