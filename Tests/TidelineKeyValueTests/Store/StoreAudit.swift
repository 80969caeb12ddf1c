import Testing
import TidelineStore

@testable import TidelineKeyValue

/// Verifies from the engine's entries that a store contains exactly what its definitions require.
struct StoreAudit<Snapshot: KeyValueSnapshot> {
    private let map: KeyMap<Snapshot>
    private let comment: Comment

    /// Verifies all entries of an engine.
    static func run<Engine: OrderedKeyValueEngine>(_ engine: Engine, _ comment: Comment = "") throws
    where Engine.Snapshot == Snapshot {
        try engine.read { snapshot throws in
            let map = KeyMap(snapshot, OverflowKey(maximum: engine.maximumKeyLength))
            let audit = StoreAudit(map: map, comment: comment)
            #expect(try map.checkFormat(for: engine), comment)
            let catalog = try map.catalog()
            for table in catalog.all { try audit.expectSoundness(of: table) }
            let spaces = catalog.all.flatMap(\.definition.spaces)
            #expect(Set(spaces).count == spaces.count, comment)
            for number in 1...catalog.nextSpace where !spaces.contains(KeySpace(number: number)) {
                try #expect(audit.entries(in: KeySpace(number: number)).isEmpty, comment)
            }
            try snapshot.scan(KeyRange(from: [0, 0, 0, 0], to: [255, 255, 255, 255]), descending: false) { key, _ in
                if key.count > engine.maximumKeyLength { Issue.record("a key has \(key.count) bytes") }
                return .next
            }
        }
    }

    private func entries(in space: KeySpace) throws -> [(key: [UInt8], value: [UInt8])] {
        var entries: [(key: [UInt8], value: [UInt8])] = []
        try map.scan(space.range, descending: false) { key, value in
            entries.append((Array(key), Array(value)))
            return .next
        }
        return entries
    }

    private func expectSoundness(of table: StoredTable) throws {
        var cursor = RowCursor(table)
        var expected: [[[UInt8]]] = table.indexes.map { _ in [] }
        let rows = try entries(in: table.rows)
        for row in rows {
            try row.key.withUnsafeBytes { key in
                try row.value.withUnsafeBytes { value in try cursor.point(key: key, value: value) }
                var own = KeyBuilder(table.rows)
                cursor.view.withIDBytes { own.append(id: $0, of: table.ids) }
                #expect(own.bytes == row.key, comment)
            }
            for (number, index) in table.indexes.enumerated() {
                expected[number].append(Self.key(of: cursor.view, in: index, of: table))
            }
        }
        #expect(try map.rowCount(of: table) == rows.count, comment)
        for (index, keys) in zip(table.indexes, expected) {
            let found = try entries(in: index.space)
            let isSame = found.map(\.key) == keys.sorted { $0.lexicographicallyPrecedes($1) }
            if !isSame {
                Issue.record("the index \(index.columns) of \(table.name) is not that of the rows; \(comment)")
            }
            #expect(found.allSatisfy { $0.value.isEmpty }, comment)
        }
    }

    /// Computes the key independently of the store's own code.
    private static func key(of row: borrowing RowView, in index: StoredIndex, of table: StoredTable) -> [UInt8] {
        var key = KeyBuilder(index.space)
        for name in index.columns {
            let value = row[name] ?? .null
            if name == "id", case .string(let text) = value, table.ids == .folded {
                key.append(.string(text.asciiLowercased))
            } else {
                key.append(value)
            }
        }
        _ = key.append(id: row.id, of: table.ids)
        return key.bytes
    }
}

extension OrderedKeyValueEngine {
    /// Verifies the store in this engine.
    func audit(_ comment: Comment = "") throws { try StoreAudit<Snapshot>.run(self, comment) }
}
