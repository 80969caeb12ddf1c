internal import Foundation
internal import Synchronization
internal import TidelineStore

/// An error with an identity, distinguishable from equal errors.
private final class Marked: Error {}

extension Check {
    /// Calls of the bodies of reads and writes.
    static let transactionBodies: [Check] = [
        Check(
            "TRN-015", "A body's error, of the store or another type, is rethrown unchanged",
            why: "Callers catch their own errors; a wrapped or replaced error is not caught."
        ) { context in
            let store = try ThreeTables.store(context)
            let marked = Marked()
            try expectThrown(marked, "a write") { try store.write { _ in throw marked } }
            try expectThrown(marked, "a write with changes") {
                try store.write { writer in
                    try writer.delete(matching: TableQuery("Note"))
                    throw marked
                }
            }
            try expectThrown(marked, "a read") { try store.read { _ in throw marked } }
            do {
                try store.write { _ in throw CancellationError() }
                throw CheckFailure("a body that throws CancellationError: nothing was thrown")
            } catch is CancellationError {}
            let own = try context.expectError(.full, "a body that throws a store's error", table: "T", column: "c") {
                try store.write { _ in throw StoreError(.full, "mine", table: "T", column: "c") }
            }
            try context.expect(own.message, is: "mine", "the message of the rethrown error")
        },
        Check("TRN-016", "An error thrown in the body of a lookup or scan is rethrown, and the reader still works") {
            context in
            let store = try ThreeTables.store(context)
            let marked = Marked()
            try store.read { reader in
                try expectThrown(marked, "scan") { try reader.scan(TableQuery("TodoItem")) { _ in throw marked } }
                try expectThrown(marked, "withRow") { try reader.withRow(in: "Note", id: "a") { _ in throw marked } }
                try context.expect(reader.count(TableQuery("TodoItem")), is: 4, "count after the errors")
                try context.expect(.notes, in: reader, holds: ThreeTables.rows(.notes), "after the errors")
            }
        },
        Check("TRN-017", "The result of a body is returned, including nil") { context in
            let store = try ThreeTables.store(context)
            try context.expect(store.count(TableQuery("Note")), is: 3, "the value of a read")
            try context.expect(store.delete(ids: ["a"], from: "Note"), is: 1, "the value of a write")
            let none: Int?? = try store.write { _ in .some(.none) }
            try context.expect(
                none == .some(.none), "a write whose body returns nil returns \(CheckContext.text(none))")
        },
        Check(
            "TRN-018", "A body runs exactly once, on the calling thread, before the call returns",
            why: "A store that retries a body when its engine is busy repeats the body's side effects."
        ) { context in
            let store = try ThreeTables.store(context)
            let caller = pthread_self()
            var calls: [String] = []
            try store.read { _ in calls.append(pthread_equal(caller, pthread_self()) != 0 ? "read" : "read elsewhere") }
            try store.write { writer in
                calls.append(pthread_equal(caller, pthread_self()) != 0 ? "write" : "write elsewhere")
                try writer.upsert(["id": "a", "number": 5], into: "Note")
            }
            try store.rollBack { _ in
                calls.append(pthread_equal(caller, pthread_self()) != 0 ? "throwing" : "throwing elsewhere")
            }
            try context.expect(calls, is: ["read", "write", "throwing"], "the calls of the three bodies")
        },
        Check(
            "TRN-019", "A write within a write on the same thread throws busy, and the outer one is unaffected",
            why: "Both would wait for each other forever; a nested one that takes part commits or rolls back too much."
        ) { context in
            let store = try ThreeTables.store(context)
            try store.write { writer in
                try writer.upsert(["id": "a", "number": 5], into: "Note")
                try context.expectError(.busy, "a write within a write") {
                    try store.put(["id": "inner"], into: "Note")
                }
                try writer.upsert(["id": "b", "number": 6], into: "Note")
            }
            let numbers = try store.read { try $0.allRows("Note").map { $0["number"] } }
            try context.expect(numbers, is: [5, 6, 3], "the numbers of notes a, b, c after the outer write")
        },
        Check(
            "TRN-020", "A write within a read on the same thread throws busy or commits; it does not hang",
            why: "A writer that must wait for readers would wait for itself."
        ) { context in
            let store = try ThreeTables.store(context)
            var hasWritten = true
            try store.read { reader in
                let before = try reader.allRows("Note")
                do {
                    try store.put(["id": "d", "number": 4], into: "Note")
                } catch let error as StoreError where error.code == .busy {
                    hasWritten = false
                }
                try context.expect(reader.allRows("Note"), are: before, "the read after the write within it")
            }
            let count = try store.count(TableQuery("Note"))
            try context.expect(count, is: hasWritten ? 4 : 3, "the notes after the write within a read")
        },
        Check("TRN-021", "A write without changes succeeds") { context in
            let store = try ThreeTables.store(context)
            try store.write { _ in }
            try store.put([Row](), into: "Note")
            try store.write { _ = try $0.count(TableQuery("Note")) }
            try store.rollBack { _ in }
            try context.expectAsFilled(store, "after writes without changes")
        },
        Check(
            "TRN-063", "A body that throws is not run again, whatever its error code, and the error is rethrown",
            why: "A store that retries when its engine is busy may mistake the body's error for the engine's."
        ) { context in
            let store = try ThreeTables.store(context)
            let codes: [StoreError.Code] = [
                .busy, .locked, .io, .full, .corrupt, .notAStore, .readOnly, .closed, .cancelled, .schemaMismatch,
                .unsupported,
            ]
            for code in codes {
                var calls = 0
                try context.expectError(code, "a read whose body throws \(code)", table: "mine") {
                    try store.read { _ in
                        calls += 1
                        throw StoreError(code, "mine", table: "mine")
                    }
                }
                try context.expectError(code, "a write whose body throws \(code)", table: "mine") {
                    try store.write { writer in
                        calls += 1
                        try writer.upsert(["id": "d", "number": 4], into: "Note")
                        throw StoreError(code, "mine", table: "mine")
                    }
                }
                try context.expect(calls, is: 2, "the calls of a read's and a write's body that throw \(code)")
            }
            try context.expectAsFilled(store, "after the errors")
        },
    ]

    private static func expectThrown<T>(_ marked: Marked, _ what: String, _ call: () throws -> T) throws {
        do {
            _ = try call()
        } catch let error as Marked where error === marked {
            return
        } catch {
            throw CheckFailure("\(what): expected the body's own error, but \(type(of: error)) was thrown: \(error)")
        }
        throw CheckFailure("\(what): nothing was thrown although the body threw")
    }
}
