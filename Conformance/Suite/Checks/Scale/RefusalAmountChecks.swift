internal import TidelineStore

extension Check {
    /// Many consecutive failures.
    static let scaleRefusals: [Check] = [
        Check(
            "SCA-031", "After 1,001 failures of each kind, reads, writes, and definitions succeed",
            why: "A lock, slot, or handle that one way to end a body does not release is used up after hundreds.",
            tier: .stress
        ) { context in
            let store = try context.store(.notes, holding: [["id": "a", "number": 1]])
            for refusal in RefusedCall.allCases {
                try refusal.repeated(1_001, in: store, context)
                try RefusedCall.expectWorking(store, context, after: refusal)
            }
        }
    ]
}

/// A way in which a call of a store fails.
enum RefusedCall: String, CaseIterable {
    case writeThatThrows, readThatThrows, scanThatThrows, invalidRow, unknownTable, unknownColumn, nestedWrite
    case invalidDefinition

    private struct Thrown: Error {}

    /// Makes the call many times. Each must fail with its error.
    func repeated(_ times: Int, in store: TracedStore, _ context: CheckContext) throws {
        for _ in 0..<times {
            do {
                try call(store.base)
            } catch is Thrown where code == nil {
                continue
            } catch let error as StoreError where error.code == code {
                continue
            } catch {
                throw CheckFailure(
                    "\(rawValue): expected \(code.map { "StoreError \($0)" } ?? "the body's error"), got \(error)")
            }
            throw CheckFailure("\(rawValue): nothing was thrown")
        }
    }

    /// The error's code, or `nil` for the error of a body.
    private var code: StoreError.Code? {
        switch self {
        case .writeThatThrows, .readThatThrows, .scanThatThrows: nil
        case .invalidRow, .unknownColumn: .invalidValue
        case .unknownTable: .noSuchTable
        case .nestedWrite: .busy
        case .invalidDefinition: .schemaMismatch
        }
    }

    private func call(_ store: some LocalStore) throws {
        switch self {
        case .writeThatThrows:
            try store.write { writer in
                try writer.upsert(["id": "b", "number": 2] as Row, into: "Note")
                throw Thrown()
            }
        case .readThatThrows: try store.read { _ in throw Thrown() }
        case .scanThatThrows: _ = try store.read { try $0.scan(TableQuery("Note")) { _ in throw Thrown() } }
        case .invalidRow: try store.write { try Self.upsertInvalid($0) }
        case .unknownTable: _ = try store.count(TableQuery("Nothing"))
        case .unknownColumn: _ = try store.count(TableQuery("Note", predicate: .column("nothing") == 1))
        case .nestedWrite: try store.write { _ in try store.write { _ in } }
        case .invalidDefinition: try store.define([TableSchema("Note", columns: [.double("number")])])
        }
    }

    private static func upsertInvalid(_ writer: some StoreWriter) throws {
        try writer.upsert(TableSchema.notes.packed([Row(id: .string(""))]), into: "Note")
    }

    /// Fails unless the store has its row and can be changed.
    static func expectWorking(_ store: TracedStore, _ context: CheckContext, after refusal: RefusedCall) throws {
        do {
            try context.expect(TableQuery("Note"), in: store, finds: ["a"])
            try store.put([["id": "b"]], into: "Note")
            try store.delete(ids: ["b"], from: "Note")
            try store.define([.notes, TableSchema(refusal.rawValue, columns: [.int("n")])])
        } catch let error as StoreError {
            throw CheckFailure("after many failures of the kind \(refusal.rawValue): \(error)")
        }
    }
}
