internal import TidelineStore
internal import TidelineWire

extension ServerCheck {
    /// Rows that a server deletes and restores.
    static let deletes: [ServerCheck] = [
        ServerCheck(
            "SRV-501", "A deleted row is neither in lists nor found by its id",
            why: "Other clients and apps must not see it."
        ) { check in
            let rows = try await check.insert(texts: ["a", "b"])
            try await check.remove(rows[0].id)
            try await check.expect(check.list().ids, is: [rows[1].id], "the ids in the list")
            try await check.expect(check.lookup(rows[0].id), has: 404, 410, what: "a lookup of the deleted row")
        },
        ServerCheck(
            "SRV-502", "A deleted row is not counted, unless deleted rows are requested",
            why: "A pull ends when the count says that it has all rows.",
            needs: [.tombstones]
        ) { check in
            let rows = try await check.insert(texts: ["a", "b", "c"])
            try await check.remove(rows[0].id)
            try await check.expect(check.list(count: true).count, is: 2, "the count")
            try await check.expect(check.list(count: true, deleted: true).count, is: 3, "the count with deleted rows")
        },
        ServerCheck(
            "SRV-503", "A list with deleted rows contains them, marked as deleted",
            why: "Without it, a pull learns of no deletion. The original Node server needs softDelete for it."
        ) { check in
            let rows = try await check.insert(texts: ["a", "b"])
            try await check.remove(rows[0].id)
            let listed = try await check.list(order: [OrderTerm("id")], deleted: true)
            let found = Dictionary(listed.rows.map { ($0.id, $0.isDeleted) }) { first, _ in first }
            try check.expect(found, is: [rows[0].id: true, rows[1].id: false], "the member deleted of the rows, by id")
        },
        ServerCheck(
            "SRV-504", "A delete gives the row a later updatedAt and another version",
            why: "A client pulls what changed since its last timestamp. A deletion with an earlier one is not found.",
            needs: [.tombstones]
        ) { check in
            let row = try await check.insert()
            let changed = try await check.changed(row, ["text": "b"])
            // A client that has pulled another row since. A server of coarse timestamps may give it the same one.
            let other = try await check.insert()
            try await check.remove(row.id)
            let since = Value.timestamp(other.updatedAt ?? .min)
            let pulled = try await check.list(.compare("updatedAt", .greaterOrEqual, since), deleted: true)
            let found = pulled.rows.first { $0.id == row.id }
            try check.expect(found?.isDeleted, is: true, "whether the row is deleted, and changed since \(since)")
            try check.expect(found?.version != changed.version, "the version is still \(changed.version ?? "")")
        },
        ServerCheck(
            "SRV-505", "A delete with an earlier version in If-Match is answered with 412 and deletes nothing",
            why: "A row that another client has changed since is not deleted without asking."
        ) { check in
            let (row, newer) = try await check.changedRow()
            let stale = try await check.delete(row.id, version: row.version)
            try check.expect(stale, has: 412, what: "a delete with an earlier version")
            try await check.expect(check.found(row.id), shows: newer, "the row after the refused delete")
            try await check.expectSuccess(
                check.delete(row.id, version: newer.version), "a delete with the current version")
        },
        ServerCheck(
            "SRV-506", "The 412 to a delete contains the server's row",
            why: "It is what the conflict handler of the app receives.",
            tolerated: "Without a readable row, the client looks the row up"
        ) { check in
            let (row, newer) = try await check.changedRow()
            let stale = try await check.delete(row.id, version: row.version)
            try check.expect(stale, has: 412, what: "a delete with an earlier version")
            try check.expect(stale.row(), shows: newer, "the row in the 412")
        },
        ServerCheck(
            "SRV-507", "A delete of a row that does not exist, or is deleted, is answered with 404 or 410",
            why: "The client learns that the row was gone.",
            tolerated: "For a delete, a row that is gone is success in any case"
        ) { check in
            try await check.expect(
                check.delete(check.newID()), has: 404, 410, what: "a delete of a row that does not exist")
            let row = try await check.removedRow()
            try await check.expect(check.delete(row.id), has: 404, 410, what: "the second delete of a row")
        },
        ServerCheck(
            "SRV-508", "A deleted row is found by its id if deleted rows are requested",
            why: "A client looks up the row of a conflict.",
            tolerated: "The client then finds it by a list with a filter of its id", needs: [.tombstones]
        ) { check in
            let row = try await check.removedRow()
            let answer = try await check.lookup(row.id, deleted: true)
            try check.expect(answer, has: 200, what: "a lookup of a deleted row")
            try await check.mustHold {
                try check.expect(answer.row().isDeleted, "the row that is found is not marked as deleted")
            }
        },
        ServerCheck(
            "SRV-509", "A filter by id finds a deleted row if deleted rows are requested",
            why: "It is the lookup that every server supports.",
            needs: [.tombstones]
        ) { check in
            let row = try await check.removedRow()
            let found = try await check.list(.compare("id", .equal, .string(row.id)), deleted: true)
            try check.expect(found.rows.map(\.isDeleted), is: [true], "the member deleted of the rows with the id")
        },
        ServerCheck(
            "SRV-510", "An undelete restores the row with its content, a later updatedAt and another version",
            why: "A client restores a row that another has deleted, if its user decides so.",
            needs: [.tombstones]
        ) { check in
            let row = try await check.insert(["text": "a", "number": 4])
            try await check.remove(row.id)
            // A client that has pulled another row since.
            let other = try await check.insert()
            try await check.expectSuccess(check.undelete(row), "an undelete")
            let restored = try await check.found(row.id)
            try check.expect(restored.text, is: "a", "the text of the restored row")
            try check.expect(restored["number"], is: .int(4), "the number of the restored row")
            try check.expect(!restored.isDeleted, "the restored row is marked as deleted")
            try check.expect(restored.version != row.version, "the version is that of before the delete")
            let since = Value.timestamp(other.updatedAt ?? .min)
            let pulled = try await check.list(.compare("updatedAt", .greaterOrEqual, since))
            try check.expect(pulled.ids.contains(row.id), "the restored row has not changed since \(since)")
        },
        ServerCheck(
            "SRV-511", "An undelete with an earlier version in If-Match is answered with 412",
            why: "The client restores the deletion that it has seen, and no later one.",
            needs: [.tombstones]
        ) { check in
            let row = try await check.removedRow()
            let stale = try await check.undelete(row, version: row.version)
            try check.expect(stale, has: 412, what: "an undelete with the version of before the delete")
            try await check.expect(check.list().ids, is: [], "the ids in the list")
        },
    ]
}
