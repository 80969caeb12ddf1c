internal import TidelineKeyValue
internal import TidelineStore

extension Check {
    /// The engine below a store, if the harness provides it: `OrderedKeyValueEngine`.
    static let engine: [Check] = [engineEntries, engineTransactions].flatMap { $0 }

    /// Keys, values, and ranges.
    private static let engineEntries: [Check] = [
        check("ENG-001", "Keys of any bytes are kept apart and in the order of unsigned bytes, a prefix first") { run in
            try run.engine.write { writer in
                for index in EngineRun.keys.indices.reversed() {
                    try writer.put(EngineRun.keys[index], EngineRun.value(index))
                }
                try run.expect(EngineRun.entries, in: writer, "in the transaction")
            }
            try run.expectEverywhere(EngineRun.entries)
            try run.engine.read { reader in
                for key in EngineRun.keys {
                    let other = try reader.value(key + [7])
                    try run.context.expect(other == nil, "the key \(key) followed by 7 has a value")
                }
            }
        },
        check(
            "ENG-002", "Keys of 4 bytes and of the maximum length are kept, and apart if only their last bytes differ"
        ) { run in
            let length = min(run.engine.maximumKeyLength, 20_000)
            try run.context.expect(length >= 128, "the maximum key length is less than 128")
            let stem = EngineRun.space + [UInt8](repeating: 0x78, count: length - 5)
            let entries = [EngineEntry(EngineRun.space, [1])] + (0..<9).map { EngineEntry(stem + [UInt8($0)], [2]) }
            try run.put(entries.reversed())
            try run.expectEverywhere(entries)
        },
        check("ENG-003", "An empty value is not the absence of a value, and values of any length are returned") { run in
            let lengths = [0, 1, 3, 2_000, 4_096, 65_536, 1_000_003]
            let entries = lengths.enumerated().map { index, length in
                EngineEntry(EngineRun.space + [UInt8(index)], (0..<length).map { UInt8(truncatingIfNeeded: $0 * 31) })
            }
            try run.put(entries)
            try run.expectEverywhere(entries)
            try run.put(entries.map { EngineEntry($0.key, []) })
            try run.expectEverywhere(entries.map { EngineEntry($0.key, []) })
        },
        check("ENG-004", "A range contains its lower bound and not its upper one, in both directions") { run in
            let stored = EngineRun.entries.enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
            try run.put(Array(stored.prefix(5)))
            func expectRanges(_ reader: some KeyValueSnapshot, _ place: String) throws {
                for lower in EngineRun.keys {
                    for upper in EngineRun.keys + [EngineRun.whole.upper] {
                        let range = KeyRange(from: lower, to: upper)
                        let inside = stored.filter { !$0.key.precedes(lower) && $0.key.precedes(upper) }
                        for descending in [false, true] {
                            let found = try reader.entries(in: range, descending: descending)
                            let expected = descending ? inside.reversed() : inside
                            try run.context.expect(
                                found == expected,
                                "\(place), the range from \(lower) to \(upper), descending \(descending)")
                        }
                    }
                }
            }
            try run.engine.write { writer in
                for entry in stored.dropFirst(5) { try writer.put(entry.key, entry.value) }
                try expectRanges(writer, "over entries of which some are not committed")
            }
            try run.engine.read { try expectRanges($0, "after the commit") }
        },
        check("ENG-005", "A scan of 1, 17, 1,001, and very many keys finds all of them, and stops where its body says")
        { run in
            for count in run.context.settings.amounts {
                let space: [UInt8] = [0, 0, 1, UInt8(truncatingIfNeeded: count)]
                let range = KeyRange(prefix: space)
                try run.engine.write { writer in
                    for number in 0..<count {
                        try writer.put(space + bytes((number * 7_919 + 3) % count), bytes(number))
                    }
                }
                try run.engine.read { reader in
                    for descending in [false, true] {
                        var number = descending ? count : -1
                        try reader.scan(range, descending: descending) { key, value in
                            number += descending ? -1 : 1
                            guard key.elementsEqual(space + bytes(number)) else {
                                throw CheckFailure("\(count) keys: another than \(number), descending \(descending)")
                            }
                            return .next
                        }
                        try run.context.expect(number, is: descending ? 0 : count - 1, "the last of \(count) keys")
                        let some = try reader.entries(in: range, descending: descending, limit: 3)
                        try run.context.expect(some.count, is: min(3, count), "the keys of a scan that was stopped")
                    }
                }
            }
        },
        check("ENG-006", "An error of a body is rethrown by get and scan, and the snapshot remains usable") { run in
            try run.put(EngineRun.entries)
            try run.engine.read { reader in
                for descending in [false, true] {
                    do {
                        try reader.scan(EngineRun.whole, descending: descending) { _, _ in throw Abort() }
                        throw CheckFailure("an error of a scan's body is not rethrown")
                    } catch is Abort {}
                }
                do {
                    _ = try EngineRun.keys[1].withUnsafeBytes { try reader.get($0) { _ in throw Abort() } }
                    throw CheckFailure("an error of the body of get is not rethrown")
                } catch is Abort {}
                try run.expect(EngineRun.entries, in: reader, "after the errors")
            }
        },
    ]

    /// Transactions and snapshots.
    private static let engineTransactions: [Check] = [
        check("ENG-010", "delete returns whether the key existed, also for changes of the same transaction") { run in
            let keys = (0..<4).map { EngineRun.space + [$0] }
            try run.put([EngineEntry(keys[0], [1]), EngineEntry(keys[1], [])])
            try run.engine.write { writer in
                var found = [try writer.delete(keys[0]), try writer.delete(keys[0]), try writer.delete(keys[1])]
                try writer.put(keys[2], [])
                found += [try writer.delete(keys[2]), try writer.delete(keys[2]), try writer.delete(keys[3])]
                try writer.put(keys[0], [2])
                try run.context.expect(found, is: [true, false, true, true, false, false], "what delete returned")
            }
            try run.expectEverywhere([EngineEntry(keys[0], [2])])
        },
        check(
            "ENG-011",
            "put(_:_:over:) asks about an existing value, replaces it if the answer is true, and returns whether the key is new"
        ) { run in
            let key = EngineRun.space + [1]
            for isCommitted in [false, true] {
                try run.engine.write { writer in
                    _ = try writer.delete(key)
                    if !isCommitted { try writer.put(key, [1]) }
                }
                if isCommitted { try run.put([EngineEntry(key, [1])]) }
                try run.engine.write { writer in
                    for (replaces, expected) in [(false, [1]), (true, [9])] as [(Bool, [UInt8])] {
                        var existing: [UInt8]?
                        let isNew = try writer.put(key, [9]) { value in
                            existing = Array(value)
                            return replaces
                        }
                        try run.context.expect(isNew, is: false, "whether a key that exists is new")
                        try run.context.expect(existing, is: [1], "the existing value")
                        try run.context.expect(writer.value(key), is: expected, "the value afterwards")
                    }
                    _ = try writer.delete(key)
                    let isNew = try writer.put(key, [3]) { _ in throw CheckFailure("a deleted key has a value") }
                    try run.context.expect(isNew, is: true, "whether a deleted key is new")
                }
                try run.expectEverywhere([EngineEntry(key, [3])])
            }
        },
        check("ENG-012", "A transaction sees its own changes in get and in scans, in both directions") { run in
            try run.put((0..<6).map { EngineEntry(EngineRun.space + [$0], [1]) })
            let expected = [
                EngineEntry(EngineRun.space + [0], [1]), EngineEntry(EngineRun.space + [2], [2, 2]),
                EngineEntry(EngineRun.space + [3], [3]), EngineEntry(EngineRun.space + [4], []),
                EngineEntry(EngineRun.space + [4, 0], [4]), EngineEntry(EngineRun.space + [7], [9]),
            ]
            try run.engine.write { writer in
                for number in [1, 3, 5] as [UInt8] { _ = try writer.delete(EngineRun.space + [number]) }
                for entry in expected.dropFirst().reversed() { try writer.put(entry.key, entry.value) }
                try writer.put(EngineRun.space + [6], [6])
                _ = try writer.delete(EngineRun.space + [6])
                try run.expect(expected, in: writer, "in the transaction")
            }
            try run.expectEverywhere(expected)
        },
        check("ENG-013", "A transaction whose body throws leaves nothing, and the next one works") { run in
            try run.put(EngineRun.entries)
            for _ in 0..<3 {
                try run.engine.rollBack { writer in
                    for key in EngineRun.keys { _ = try writer.delete(key) }
                    try writer.put(EngineRun.space + [9, 9, 9], [1])
                }
                try run.engine.read { try run.expect(EngineRun.entries, in: $0, "after a body that throws") }
            }
            try run.put([EngineEntry(EngineRun.space, [5])])
            try run.expectEverywhere([EngineEntry(EngineRun.space, [5])] + EngineRun.entries.dropFirst())
        },
        check("ENG-014", "A snapshot does not change, whatever is committed", needs: [.readersBesideWriter]) { run in
            try run.put(EngineRun.entries)
            let engine = run.engine
            try engine.read { reader in
                for round in 0..<20 {
                    try run.context.elsewhere("a commit during a read") {
                        try engine.write { writer in
                            for key in EngineRun.keys { try writer.put(key, [UInt8(round)]) }
                            _ = try writer.delete(EngineRun.keys[round])
                            try writer.put(EngineRun.space + [3, UInt8(round)], [])
                        }
                    }
                    try run.expect(EngineRun.entries, in: reader, "after \(round + 1) commits during the read")
                }
            }
        },
        check(
            "ENG-015",
            "commitNumber, if there is one, is greater after each commit with changes, and the same otherwise",
            why: "A store takes its cached definitions and counts for current as long as the number is the same."
        ) { run in
            func number() throws -> UInt64? { try run.engine.read { $0.commitNumber } }
            guard var last = try number() else { return }
            for round in 0..<20 {
                let (before, own) = try run.engine.write { writer in
                    if round % 2 == 0 {
                        try writer.put(EngineRun.space + [1], [UInt8(round)])
                    } else {
                        _ = try writer.delete(EngineRun.space + [1])
                    }
                    return (writer.commitNumber, writer.ownCommitNumber)
                }
                try run.context.expect(before, is: last, "the number in a transaction")
                let next = try number()
                try run.context.expect((next ?? 0) > last, "the number after a commit is \(next ?? 0), and was \(last)")
                if let own {
                    try run.context.expect(own, is: next, "ownCommitNumber, compared with the next commitNumber")
                }
                last = next ?? 0
                try run.engine.rollBack { try $0.put(EngineRun.space + [2], [1]) }
                try run.context.expect(number(), is: last, "the number after a body that throws")
            }
            try run.context.expect(run.engine.read { $0.commitNumber }, is: last, "the number of a second read")
        },
        check(
            "ENG-016", "An engine that remembers keys forgets those that are deleted or rolled back",
            why: "A store replaces the value of a remembered key without a lookup, and counts no new row."
        ) { run in
            let (kept, deleted) = (EngineRun.space + [1], EngineRun.space + [2])
            try run.put([EngineEntry(kept, [1]), EngineEntry(deleted, [1])])
            func expectForgotten(_ key: [UInt8], _ writer: some KeyValueTransaction, _ what: String) throws {
                let isRemembered = writer.remembersKeys && key.withUnsafeBytes { writer.remembers($0) }
                try run.context.expect(isRemembered, is: false, "whether \(what) is remembered")
            }
            try run.engine.write { writer in
                guard writer.remembersKeys else { return }
                for key in [kept, deleted] { key.withUnsafeBytes { writer.remember($0) } }
            }
            try run.engine.write { writer in
                _ = try writer.delete(deleted)
                try expectForgotten(deleted, writer, "a deleted key")
                try expectForgotten(EngineRun.space + [3], writer, "a key that never existed")
            }
            try run.engine.write { try expectForgotten(deleted, $0, "a key that was deleted before") }
            try run.engine.rollBack { writer in
                try writer.put(deleted, [2])
                if writer.remembersKeys { deleted.withUnsafeBytes { writer.remember($0) } }
            }
            try run.engine.write { try expectForgotten(deleted, $0, "a key whose transaction was rolled back") }
            try run.expectEverywhere([EngineEntry(kept, [1])])
        },
    ]

    /// Returns a check of the harness's engine.
    private static func check(
        _ id: String, _ promise: String, why explanation: String = "", needs: [CheckNeed] = [],
        _ body: @escaping @Sendable (EngineRun) throws -> Void
    ) -> Check {
        Check(id, promise, why: explanation, needs: [.engine] + needs) { context in
            let run = try EngineRun(context)
            defer { try? run.engine.close() }
            try body(run)
        }
    }

    private static func bytes(_ number: Int) -> [UInt8] {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: number).bigEndian) { Array($0) }
    }
}
