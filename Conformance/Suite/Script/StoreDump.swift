internal import TidelineStore

/// The contents of a store as text that is the same for every store: definitions, then rows by identifier.
struct StoreDump: Equatable {
    private let lines: [String]

    /// Reads the contents of a store.
    init(of store: some LocalStore) throws {
        let schemas = try store.tables()
        lines = try store.read { reader in
            try schemas.flatMap { try StoreDump.lines($0, reader.allRows($0.name)) }
        }
    }

    /// Reads the contents of a model.
    init(of model: StoreModel) throws {
        lines = model.schemas.flatMap { StoreDump.lines($0, model.rows($0.name)) }
    }

    /// The 64-bit FNV-1a hash of the text, used to compare dumps from different machines.
    var digest: String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for line in lines {
            for byte in line.utf8 + [0x0A] { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        }
        return String(hash, radix: 16)
    }

    /// Returns the first line that differs from the expected one.
    func difference(_ expected: StoreDump) -> String {
        for (line, right) in zip(lines, expected.lines) where line != right {
            return "found \(line), expected \(right)"
        }
        return "found \(lines.count) lines, expected \(expected.lines.count)"
    }

    private static func lines(_ schema: TableSchema, _ rows: [Row]) -> [String] {
        [schema.swiftSource]
            + rows.map { row in
                let names = row.columnNames.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
                let columns = names.map { "\($0.swiftSource): \((row[$0] ?? .null).swiftSource)" }
                return "\((row.id ?? .string("")).swiftSource) \(columns.joined(separator: ", "))"
            }
    }
}
