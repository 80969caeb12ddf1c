import Foundation
import Testing
import Tideline
import TidelineMemory
import TidelineStore

/// The dialect against a real Kinto server.
@Suite(
    .serialized, .timeLimit(.minutes(10)),
    .enabled(if: !Backend.available.isEmpty, "KINTO_PYTHON does not name a Python with the package kinto"))
struct KintoDialectTests {
    @Test(
        "Rows, with all types, renamed fields, and null, reach the server and another device",
        arguments: Backend.available)
    func twoDevices(_ backend: Backend) async throws {
        let scene = try await Scene(backend)
        let (one, two) = (try await scene.device(), try await scene.device())
        let row: Row = [
            "id": "A_a-1", "text": "é\u{1F600}\"\n", "count": Int64.max, "weight": 0.1, "done": true,
            "due": Timestamp(milliseconds: 1_795_799_290_922).map { .timestamp($0) } ?? .null,
            "tags": Value.json(#"{"a":[1,2.5,null],"b":"x"}"#), "edition": 3,
        ]
        try await one.todos.insert(row)
        try await one.todos.insert(["id": "a_a-1", "text": "differs in case", "weight": 2.0])
        try await one.client.push()
        try await two.pull()
        let read = try #require(try await two.todos.row(id: "A_a-1"))
        for (column, value) in row.values { #expect(read[column] == value, "\(column)") }
        #expect(try await two.todos.row(id: "a_a-1")?["weight"] == 2.0)
        try await two.todos.update(["id": "A_a-1", "text": "two", "done": Value.null])
        try await two.todos.delete(id: "a_a-1")
        try await two.client.push()
        try await one.pull()
        #expect(try await one.texts() == ["A_a-1": "two"])
        let changed = try #require(try await one.todos.row(id: "A_a-1"))
        #expect(changed["done"] == .null && changed["count"] == .int(.max) && changed["edition"] == 3)
        await #expect(throws: SyncError.self) { try await one.todos.insert(["id": "_a", "text": "no"]) }
    }

    @Test("The client of the article synchronizes", arguments: Backend.available)
    func article(_ backend: Backend) async throws {
        let server = try KintoServer.shared(backend)
        for path in ["buckets/notes", "buckets/notes/collections/Note"] { try await server.send(.put, path) }
        let client = try await makeClient(url: server.addresses.direct, store: MemoryStore())
        try await client.table("Note").insert(["id": "a", "text": "one", "edition": 2])
        try await client.push()
        let response = try await server.send(.get, "buckets/notes/collections/Note/records/a")
        #expect(String(decoding: response.body, as: UTF8.self).contains(#""version":2"#))
    }

    @Test(
        "Fields named deleted and version are the app's own, unless the record is a tombstone",
        arguments: Backend.available)
    func ownFields(_ backend: Backend) async throws {
        let scene = try await Scene(backend)
        let device = try await scene.device()
        try await scene.put("a", #""deleted":true,"version":7,"text":"one""#)
        try await scene.put("b", #""text":"two""#)
        try await device.pull()
        #expect(try await device.texts() == ["a": "one", "b": "two"])
        #expect(try await device.todos.row(id: "a")?["edition"] == 7)
        try await scene.delete("b")
        try await device.pull()
        #expect(try await device.texts() == ["a": "one"])
    }

    /// A change of a device and one of another app, with the expected text of the record; `nil` if there is none.
    static let conflicts: [(mine: String?, theirs: String?, isInsert: Bool, policy: ConflictPolicy, text: String?)] = [
        ("mine", "theirs", false, .serverWins, "theirs"), ("mine", "theirs", false, .clientWins, "mine"),
        ("mine", "theirs", true, .serverWins, "theirs"), ("mine", "theirs", true, .clientWins, "mine"),
        ("mine", nil, false, .serverWins, nil), ("mine", nil, false, .clientWins, "mine"),
        (nil, "theirs", false, .serverWins, "theirs"), (nil, "theirs", false, .clientWins, nil),
        (nil, nil, false, .manual, nil),
    ]

    @Test(
        "A change of a record that another app has changed is a conflict, for the policy", arguments: Backend.available)
    func conflicts(_ backend: Backend) async throws {
        let scene = try await Scene(backend)
        for (index, conflict) in Self.conflicts.enumerated() {
            let (id, device) = ("r\(index)", try await scene.device(policy: conflict.policy))
            if !conflict.isInsert {
                try await scene.put(id, #""text":"one""#)
                try await device.pull()
            }
            switch conflict.mine {
            case let text? where conflict.isInsert: try await device.todos.insert(["id": id, "text": text])
            case let text?: try await device.todos.update(["id": id, "text": text])
            case nil: try await device.todos.delete(id: id)
            }
            if let text = conflict.theirs {
                try await scene.put(id, #""text":"\#(text)""#)
            } else {
                try await scene.delete(id)
            }
            try await device.client.push()
            try await device.pull()
            #expect(try await device.texts()[id] == conflict.text, "\(conflict)")
            #expect(try await scene.texts()[id] == conflict.text, "\(conflict)")
        }
        // A row that was deleted is inserted again.
        let device = try await scene.device()
        try await device.pull()
        try await device.todos.insert(["id": "r4", "text": "again"])
        try await device.client.push()
        #expect(try await scene.texts()["r4"] == "again")
    }

    @Test("Many records arrive in pages while others write", arguments: Backend.available)
    func pages(_ backend: Backend) async throws {
        let scene = try await Scene(backend)
        let count = Int(ProcessInfo.processInfo.environment["TIDELINE_KINTO_RECORDS"] ?? "") ?? 600
        for first in stride(from: 0, to: count, by: 25) {
            let requests = (first..<first + 25).map {
                #"{"path":"/\#(scene.collection)/records/r\#($0)","method":"PUT","body":{"data":{"text":"\#($0)"}}}"#
            }
            try await scene.server.send(.post, "batch", #"{"requests":[\#(requests.joined(separator: ","))]}"#)
        }
        let device = try await scene.device()
        async let writer: Void = {
            for index in 0..<60 {
                try await scene.put("r\(index * 47 % count)", #""text":"changed""#)
                if index.isMultiple(of: 3) { try await scene.delete("r\((index * 47 + 1) % count)") }
                try await scene.put("new\(index)", #""text":"new""#)
            }
        }()
        try await device.pull(100)
        try await writer
        try await device.pull(100)
        #expect(try await device.texts() == (try await scene.texts()))
    }

    @Test("A record that appears with an earlier stamp is found by the next pull", arguments: Backend.available)
    func lateStamp(_ backend: Backend) async throws {
        let scene = try await Scene(backend)
        let device = try await scene.device()
        try await scene.put("a", #""text":"one""#)
        try await device.pull()
        let stamp = Int64(Date().timeIntervalSince1970 * 1_000) - 3_000
        try await scene.put("late", #""text":"late","last_modified":\#(stamp)"#)
        try await device.pull()
        #expect(try await device.texts() == ["a": "one", "late": "late"])
    }

    @Test("Lost answers lose and double nothing", arguments: Backend.available)
    func lostAnswers(_ backend: Backend) async throws {
        let scene = try await Scene(backend)
        try await scene.put("shared", #""text":"0","count":0,"weight":0.5"#)
        let devices = [try await scene.device(isCut: true), try await scene.device(isCut: true)]
        for device in devices { try await device.settle() }
        for round in 1...4 {
            for (index, device) in devices.enumerated() {
                try await device.todos.insert(["id": "d\(index)r\(round)", "text": "\(round)"])
                try await device.todos.update(
                    index == 0 ? ["id": "shared", "text": "\(round)"] : ["id": "shared", "count": round])
                if round > 2 { try await device.todos.delete(id: "d\(index)r\(round - 2)") }
                try await device.settle()
            }
        }
        let expected = ["shared": "4", "d0r3": "3", "d0r4": "4", "d1r3": "3", "d1r4": "4"]
        for device in devices {
            try await device.settle()
            #expect(try await device.texts() == expected)
            #expect(try await device.todos.row(id: "shared")?["count"] == 4)
        }
        #expect(try await scene.texts() == expected)
    }

    @Test("A server that is killed loses and doubles nothing", arguments: Backend.databases)
    func killed(_ backend: Backend) async throws {
        let scene = try await Scene(backend)
        let device = try await scene.device()
        var expected: [String: String] = [:]
        for kill in 1...3 {
            for index in 1...40 {
                try await device.todos.insert(["id": "k\(kill)r\(index)", "text": "one"])
                expected["k\(kill)r\(index)"] = "one"
            }
            async let end: Void = device.settle()
            try scene.server.run("kill")
            try await end
        }
        #expect(try await scene.texts() == expected)
        #expect(try await device.texts() == expected)
    }

    @Test("Two devices whose batches collide lose and double nothing", arguments: Backend.available)
    func batches(_ backend: Backend) async throws {
        let scene = try await Scene(backend)
        let devices = [try await scene.device(), try await scene.device()]
        for round in 0..<4 {
            for (number, device) in devices.enumerated() {
                for index in 0..<50 {
                    try await device.todos.insert(["id": "d\(number)r\(round)i\(index)", "text": "one"])
                }
            }
            async let first: Void = devices[0].settle(maxInFlight: 25)
            async let second: Void = devices[1].settle(maxInFlight: 25)
            _ = try await (first, second)
        }
        let expected = Set((0..<400).map { "d\($0 / 200)r\($0 / 50 % 4)i\($0 % 50)" })
        #expect(Set(try await scene.texts().keys) == expected)
        for device in devices {
            try await device.pull()
            #expect(Set(try await device.texts().keys) == expected)
        }
    }

    @Test("A record that the database cannot store fails alone", arguments: Backend.databases)
    func unstorable(_ backend: Backend) async throws {
        let scene = try await Scene(backend)
        let device = try await scene.device()
        for id in ["a", "b", "c", "d"] {
            try await device.todos.insert(["id": .string(id), "text": id == "c" ? "\0" : "one"])
        }
        // The server asks for a longer pause than this client makes, so that the first pushes end there.
        for _ in 1...5 where try await device.client.pendingOperationsCount > 1 { _ = try? await device.pushErrors() }
        #expect(try await device.pushErrors() == [.serverFailed])
        #expect(try await scene.texts().keys.sorted() == ["a", "b", "d"])
        #expect(try await device.client.pendingOperationsCount == 1)
    }

    @Test("A change is signaled, also one before the first signal", arguments: Backend.available)
    func signals(_ backend: Backend) async throws {
        let scene = try await Scene(backend)
        let device = try await scene.device()
        try await device.client.start([SyncSubscription("Todo", interval: nil)])
        for id in ["a", "b", "c"] {
            try await scene.put(id, #""text":"one""#)
            while try await device.texts()[id] == nil { try await Task.sleep(for: .milliseconds(20)) }
        }
        await device.client.stop()
    }

    @Test("Without permission nothing is sent or lost, and the message says why", arguments: Backend.available)
    func permissions(_ backend: Backend) async throws {
        let scene = try await Scene(backend)
        for (user, code, text) in [
            ("bob:x", SyncError.Code.rejected, "cannot access"), (nil, .authentication, "Please authenticate"),
        ] {
            let device = try await scene.device(user)
            try await device.todos.insert(["id": "a", "text": "mine"])
            let error = await #expect(throws: SyncError.self) { try await device.client.push() }
            let pulled = await #expect(throws: SyncError.self) {
                try await device.client.pull(Scene.all, settings: PullSettings(whenPushFails: .pullOthers))
            }
            #expect(pulled?.code == code || pulled?.code == .completedWithErrors, "\(String(describing: pulled))")
            let messages = try await device.client.operationErrors().map(\.message) + [error?.message ?? ""]
            #expect(messages.contains { $0.contains(text) }, "\(messages)")
            #expect(try await device.client.pendingOperationsCount == 1)
        }
        #expect(try await scene.texts().isEmpty)
    }

    @Test(
        "A collection that was deleted costs no edit, and its rows leave once there is another",
        arguments: Backend.available)
    func deletedCollection(_ backend: Backend) async throws {
        let scene = try await Scene(backend)
        let device = try await scene.device(policy: .serverWins)
        for id in ["a", "b", "c"] { try await scene.put(id, #""text":"one""#) }
        try await device.pull()
        try await scene.server.send(.delete, scene.collection)
        try await device.todos.update(["id": "a", "text": "mine"])
        try await device.todos.delete(id: "b")
        try await device.todos.insert(["id": "d", "text": "mine"])
        let errors = try await device.pushErrors()
        #expect(errors == [.serverFailed, .serverFailed, .serverFailed])
        await #expect(throws: SyncError.self) { try await device.pull() }
        #expect(try await device.texts() == ["a": "mine", "c": "one", "d": "mine"])
        try await scene.server.send(.put, scene.collection)
        try await scene.put("e", #""text":"new""#)
        try await device.pull(removesLeavers: true)
        // The update was of a record that is gone, so the server wins.
        #expect(try await device.texts() == ["d": "mine", "e": "new"])
        #expect(try await scene.texts() == ["d": "mine", "e": "new"])
    }

    @Test("A server that was restored from a backup is pulled from its first record", arguments: Backend.databases)
    func restored(_ backend: Backend) async throws {
        let scene = try await Scene(backend)
        let device = try await scene.device()
        try await scene.put("a", #""text":"one""#)
        try await device.pull()
        let place = "parent_id = '/buckets/\(scene.bucket)/collections/Todo' AND resource_name = 'record'"
        try scene.server.run("sql ALTER TABLE objects DISABLE TRIGGER USER")
        try scene.server.run(
            "sql UPDATE objects SET last_modified = last_modified - interval '1 day', data = '{\"text\":\"old\"}' WHERE \(place)"
        )
        try scene.server.run(
            "sql UPDATE timestamps SET last_modified = last_modified - interval '1 day' WHERE \(place)")
        try scene.server.run("sql ALTER TABLE objects ENABLE TRIGGER USER")
        try await device.pull()
        #expect(try await device.texts() == ["a": "old"])
    }
}
