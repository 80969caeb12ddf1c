internal import Testing
public import TidelineKeyValue
public import TidelineStore

/// Stores with a name that is not in Unicode's normalization form C, which earlier versions accepted.
public enum EarlierNames {
    /// A name in form C.
    public static let name = "caf\u{E9}"
    /// The same name in the form in which an earlier version stored it.
    public static let stored = "cafe\u{301}"
    /// Definitions of which one each follows the other: with the name as that of the table, a column, and a column that
    /// is no longer defined.
    public static let definitions: [[TableSchema]] = [
        [TableSchema(name, columns: [.int("n")])],
        [TableSchema("t", columns: [.int("n"), .int(name)], indexes: [[name]])],
        [TableSchema("t", columns: [.int("n"), .int(name)]), TableSchema("t", columns: [.int("n")])],
    ]

    /// Creates a store with a row of the table.
    public static func fill(_ store: some LocalStore, _ definitions: [TableSchema]) throws {
        for schema in definitions { try store.define([schema]) }
        try store.write { try $0.upsert(["id": "1", "n": 1], into: definitions[0].name) }
    }

    /// Expects that opening a store with the stored name is refused with an error that says how to rename.
    public static func expectRefusal(_ definitions: [TableSchema], opening: () throws -> Void) {
        let error = expectError(.schemaMismatch, opening)
        let isTable = definitions[0].name == name
        #expect(error?.table == definitions[0].name && error?.column == (isTable ? nil : name))
        let message = error?.message ?? ""
        let parts = [
            isTable ? "the table name" : "the column name", #""cafe\u{0301}""#, #""caf\u{00E9}""#, "new store",
        ]
        for part in parts { #expect(message.contains(part), "\(message)") }
        #expect(error?.path != nil)
    }
}

extension KeyValueStore {
    /// Replaces a name in the stored definitions, so that the store is one of an earlier version.
    public func replaceStoredName(_ name: String, with other: String) throws {
        try withEngine { engine throws in
            try engine.write { transaction throws in
                let definitions = KeyRange(prefix: [0, 0, 0, 0, UInt8(ascii: "t")])
                for entry in try transaction.entries(in: definitions) {
                    let text = entry.value.replacing(Array(name.utf8), with: Array(other.utf8))
                    try transaction.put(entry.key, text)
                }
            }
        }
    }
}
