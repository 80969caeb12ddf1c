internal import Foundation
internal import TidelineStore
internal import TidelineSupport

extension Check {
    /// Stores created by earlier releases.
    static let tableFixtures: [Check] = [
        Check(
            "TAB-201", "A store created by an earlier release opens with its rows and still works",
            why: "After an app update, the files are those of an earlier release, which added a small store to test."
        ) { context in
            for format in try context.fixtureNames() {
                let store = try context.openFixture(format)
                try context.expectFixture(in: store, format)
                try context.expectFixture(in: context.reopened(store), "\(format), reopened")
            }
        },
        Check("TAB-202", "A store created by an earlier release accepts new tables, columns, indexes, and rows") {
            context in
            for format in try context.fixtureNames() {
                let store = try context.openFixture(format)
                var table = FixtureContent.everything
                table.columns.append(.int("added"))
                table.indexes.append(["added", "int"])
                try store.define([table, .notes])
                try store.write { writer in
                    try writer.upsert(["id": "a", "added": 7], into: table.name)
                    try writer.upsert(["id": "new", "added": 7, "required": "new"], into: table.name)
                    try writer.upsert(["id": "1", "text": "note"], into: "Note")
                    try writer.delete(ids: ["b"], from: table.name)
                }
                let reopened = try context.reopened(store)
                let added = TableQuery(table.name, predicate: .column("added") == 7)
                try context.expect(added, in: reopened, finds: ["a", "new"], "\(format), by a new index")
                let small = TableQuery(table.name, predicate: .column("int") <= 1).order(by: "int")
                try context.expect(small, in: reopened, finds: ["d", "a"], "\(format), by an old index")
                var expected = FixtureContent.rows[table.name]?.first
                expected?["added"] = 7
                let row = try reopened.row(in: table.name, "a")
                try context.expect(row, is: expected, "\(format), an old row that was changed")
            }
        },
        Check(
            "TAB-205", "A store created by a later release is refused with newerFormat, each time it is opened",
            why: "After a downgrade, `corrupt` or `notAStore` would make an app delete the files of a later release."
        ) { context in
            let names = try context.fixtureNames(areNewer: true)
            guard !names.isEmpty else {
                throw NotDecidable("the fixtures have no store of a later format (\(CheckContext.newer)*)")
            }
            for format in names {
                try context.copyFixture(format)
                for attempt in 1...3 {
                    try context.expectError(.newerFormat, "opening \(format), attempt \(attempt)") {
                        _ = try context.open(format)
                    }
                }
                let open = try OpenFiles.below(context.folder(format))
                try context.expect(open, is: [], "the open files after \(format) was refused")
            }
        },
    ].needing(.persistence, .fixtures)
}

extension CheckContext {
    /// Returns the sorted formats for which there are stores, or those of later releases.
    fileprivate func fixtureNames(areNewer: Bool = false) throws -> [String] {
        let folder = harness.fixtures ?? ""
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let formats = names.filter { !$0.hasPrefix(".") && $0.hasPrefix(CheckContext.newer) == areNewer }.sorted()
        guard areNewer || !formats.isEmpty else {
            throw HarnessError("there are no stores from earlier releases in \(folder)")
        }
        return formats
    }

    /// The prefix of the names of stores that a later release would create.
    fileprivate static var newer: String { "newer-" }

    /// Copies the store in a format to the folder with its name.
    fileprivate func copyFixture(_ format: String) throws {
        let source = "\(harness.fixtures ?? "")/\(format)"
        do { try FileManager.default.copyItem(atPath: source, toPath: "\(directory)/\(format)") } catch {
            throw HarnessError("the store \(source) cannot be copied: \(error.reason)")
        }
    }

    /// Opens a copy of the store in a format.
    fileprivate func openFixture(_ format: String) throws -> TracedStore {
        try copyFixture(format)
        return try open(format)
    }

    /// Fails unless all data that the release stored is found by a scan, by every index, and by identifier.
    fileprivate func expectFixture(in store: TracedStore, _ format: String) throws {
        try expect(store.tables(), is: FixtureContent.tables, "\(format), the definitions")
        for table in FixtureContent.tables {
            let rows = FixtureContent.rows[table.name] ?? []
            let found = try store.allRows(table.name)
            try expect(found, are: rows, "\(format), the rows of \(table.name)")
            for index in table.indexes {
                var query = TableQuery(table.name)
                query.order = index.columns.map { OrderTerm($0) }
                try expect(query, in: store, over: rows, of: table)
            }
            for row in rows {
                guard let id = row.id else { continue }
                try expect(store.row(in: table.name, id), is: row, "\(format), the row of \(table.name) by its id")
            }
        }
    }
}
