internal import TidelineStore

extension Check {
    /// Readers and writers used after their bodies have returned.
    static let usedHandles: [Check] = [
        Check(
            "LIF-030", "A reader used after its body throws closed for every call",
            why: "It would read from a released snapshot: other rows, or freed memory."
        ) { context in
            let store = try context.store(.notes)
            try expectClosed(context, store.read { $0 })
            // Results that were cached during the body must not be returned either.
            try expectClosed(
                context,
                store.read { reader in
                    _ = (try reader.schema(of: "Note"), try reader.shape(of: "Note"))
                    _ = (try reader.row(in: "Note", id: "1"), try reader.count(TableQuery("Note")))
                    _ = try reader.rows(matching: TableQuery("Note"))
                    return reader
                })
        },
        Check("LIF-031", "A writer used after its body throws closed for reads") { context in
            let store = try context.store(.notes)
            try expectClosed(context, store.write { $0 })
        },
        Check("LIF-032", "A writer used after its body throws closed for changes and stores nothing") { context in
            let store = try context.store(.notes, holding: [["id": "1"]])
            let writer = try store.write { $0 }
            try expectNoWrites(context, writer)
            try context.expect(TableQuery("Note"), in: store, finds: ["1"], "the rows afterwards")
        },
        Check("LIF-033", "A writer whose body threw is also closed") { context in
            let store = try context.store(.notes)
            var kept: TracedWriter?
            try store.rollBack { kept = $0 }
            guard let kept else { throw CheckFailure("the body of a write was not called") }
            try expectNoWrites(context, kept)
            try expectClosed(context, kept)
        },
        Check(
            "LIF-034", "A retained reader or writer stays closed inside later reads and writes",
            why: "If a store reused its transactions, an old handle could see and change another's."
        ) { context in
            let store = try context.store(.notes)
            let reader = try store.read { $0 }
            let writer = try store.write { $0 }
            try store.read { _ in
                try expectClosed(context, reader)
                try expectClosed(context, writer)
            }
            try store.write { current in
                try current.upsert(["id": "1"], into: "Note")
                try expectClosed(context, reader)
                try expectNoWrites(context, writer)
            }
            try context.expect(TableQuery("Note"), in: store, finds: ["1"], "the rows afterwards")
        },
        Check("LIF-035", "A retained reader or writer is closed after the store is closed") { context in
            let store = try context.store(.notes)
            let reader = try store.read { $0 }
            let writer = try store.write { $0 }
            try store.close()
            try expectClosed(context, reader)
            try expectNoWrites(context, writer)
        },
    ]

    private static func expectClosed(_ context: CheckContext, _ reader: some StoreReader) throws {
        try context.expectError(.closed, "schema(of:) after the body") { _ = try reader.schema(of: "Note") }
        try context.expectError(.closed, "shape(of:) after the body") { _ = try reader.shape(of: "Note") }
        try context.expectError(.closed, "a lookup after the body") { _ = try reader.row(in: "Note", id: "1") }
        try context.expectError(.closed, "a query after the body") { _ = try reader.rows(matching: TableQuery("Note")) }
        try context.expectError(.closed, "a count after the body") { _ = try reader.count(TableQuery("Note")) }
    }

    private static func expectNoWrites(_ context: CheckContext, _ writer: some StoreWriter) throws {
        try context.expectError(.closed, "an upsert after the body") {
            var rows = PackedRows(shape: TableSchema.notes.makeShape())
            try rows.append(["id": "late"])
            try writer.upsert(rows, into: "Note")
        }
        try context.expectError(.closed, "a delete by id after the body") {
            _ = try writer.delete(ids: ["1"], from: "Note")
        }
        try context.expectError(.closed, "a delete by query after the body") {
            _ = try writer.delete(matching: TableQuery("Note"))
        }
    }
}
