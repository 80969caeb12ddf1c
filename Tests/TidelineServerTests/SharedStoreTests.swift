import Foundation
import HTTPTypes
import Synchronization
import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport
import TidelineWire

@testable import TidelineServer

/// Several services over one store, as in several processes.
struct SharedStoreTests {
    /// Creates a service with a store of its own over the same files if the engine can share them.
    private static func services(_ stores: StoreKind, _ count: Int, _ clock: ManualClock? = nil) throws
        -> [TableService<TestStore>]
    {
        let files = stores.sharesFiles ? try StoreFiles(stores) : nil
        let shared = try files?.open() ?? stores.makeStore()
        return try (0..<count).map { number in
            var options = TableServiceOptions()
            // Each clock is an hour behind the previous one.
            options.clock = {
                (clock?.now ?? .now).advanced(byTicks: Int64(number) * -3_600 * Timestamp.ticksPerSecond)
            }
            return try TableService(store: number == 0 ? shared : files?.open() ?? shared, options: options)
        }
    }

    @Test(arguments: StoreKind.served + StoreKind.sharing)
    func `no stamp is out of commit order, so a pull without look-back misses nothing`(_ stores: StoreKind) throws {
        let services = try Self.services(stores, 3)
        for service in services { #expect(service.send(.post, "/tables/T", #"{"n":0}"#).status == .created) }
        let done = Mutex(0)
        let seen = Mutex<[String: String]>([:])
        // The first four threads write, each with every service in turn, and the last pulls by stamps.
        DispatchQueue.concurrentPerform(iterations: 5) { thread in
            guard thread == 4 else {
                for number in 0..<40 {
                    let service = services[(thread + number) % 3]
                    let id = "\(thread)-\(number / 2)"
                    let answer =
                        number % 2 == 0
                        ? service.send(.post, "/tables/T", #"{"id":"\#(id)","n":\#(number)}"#)
                        : service.send(
                            number % 8 == 7 ? .delete : .patch, "/tables/T/\(id)",
                            number % 8 == 7 ? "" : #"{"n":\#(number)}"#)
                    #expect(answer.status.kind == .successful, "\(answer.text)")
                }
                done.withLock { $0 += 1 }
                return
            }
            var (token, isLast, service) = ("0001-01-01T00:00:00Z", false, 0)
            while true {
                let path =
                    "/tables/T?$filter=updatedAt%20gt%20datetimeoffset'\(token)'&$orderby=updatedAt&$top=7&__includeDeleted=true"
                service = (service + 1) % 3
                let rows = (try? services[service].rows(path: path)) ?? []
                seen.withLock { for row in rows { $0[row.idText] = row["version"]?.string } }
                if let last = rows.last?["updatedAt"]?.string { token = last }
                if rows.isEmpty, isLast { return }
                isLast = done.withLock { $0 } == 4
            }
        }
        let rows = try services[0].rows(of: "T")
        #expect(rows.count == 83)
        #expect(Set(rows.compactMap(\.updatedAt)).count == rows.count)
        #expect(
            seen.withLock { $0 }
                == Dictionary(uniqueKeysWithValues: rows.map { ($0.idText, $0["version"]?.string ?? "") }))
    }

    @Test(arguments: StoreKind.served + StoreKind.sharing)
    func `stamps increase regardless of the clock of the service`(_ stores: StoreKind) throws {
        let clock = ManualClock()
        let services = try Self.services(stores, 2, clock)
        var stamps: [Timestamp] = []
        for number in 0..<6 {
            let answer = services[number % 2].send(.post, "/tables/T", #"{"n":\#(number)}"#)
            stamps.append(try #require(try answer.row().updatedAt))
        }
        #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 })
        #expect(try #require(stamps.last) == clock.now.advanced(byTicks: 5))
    }

    @Test(arguments: StoreKind.served + StoreKind.sharing)
    func `a table or column that another service has created is found`(_ stores: StoreKind) throws {
        let services = try Self.services(stores, 2)
        #expect(services[1].send(.get, "/tables/T").text == "[]")
        #expect(services[0].send(.post, "/tables/T", #"{"id":"1","a":1}"#).status == .created)
        #expect(services[1].send(.get, "/tables/T/1").status == .ok)
        #expect(services[0].send(.patch, "/tables/T/1", #"{"b":2}"#).status == .ok)
        #expect(try services[1].rows(path: "/tables/T?$filter=b%20eq%202").map(\.idText) == ["1"])
        #expect(services[0].send(.patch, "/tables/T/1", #"{"c":3}"#).status == .ok)
        #expect(services[1].send(.patch, "/tables/T/1", #"{"c":4,"d":5}"#).status == .ok)
        #expect(try services[0].rows(path: "/tables/T?$select=d").first?["d"] == 5)
        #expect(services[1].send(.patch, "/tables/T/1", #"{"b":"text"}"#).status == .badRequest)
        #expect(services[0].send(.patch, "/tables/T/1", #"{"e":6}"#).status == .ok)
        // A replacement clears columns that only the other service has created.
        let row = try services[1].send(.put, "/tables/T/1", #"{"id":"1","a":9}"#, version: "3.0.0").row()
        #expect(row["a"] == 9)
        let stored = try #require(try services[0].rows(path: "/tables/T?$select=a,b,c,d,e").first)
        #expect(stored["a"] == 9)
        for column in ["b", "c", "d", "e"] { #expect(stored[column] == .null) }
    }

    @Test(arguments: StoreKind.served + StoreKind.sharing)
    func `services that add columns at the same time lose none`(_ stores: StoreKind) throws {
        let services = try Self.services(stores, 3)
        let finished = Mutex<[(id: String, column: String)]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for number in 0..<12 {
                let (id, column) = ("\(thread)-\(number)", "c\(thread)x\(number / 3)")
                let answer = services[(thread + number) % 3].send(
                    .post, "/tables/T", #"{"id":"\#(id)","\#(column)":1}"#)
                #expect(answer.status == .created, "\(answer.text)")
                finished.withLock { $0.append((id, column)) }
                // A row that was acknowledged is never seen without its column, by any service.
                let known = finished.withLock { $0[Int.random(in: 0..<$0.count)] }
                let row = try? services[number % 3].send(.get, "/tables/T/\(known.id)").row()
                #expect(row?[known.column] == 1, "\(known) \(row.debugDescription)")
            }
        }
        let rows = try services[0].rows(of: "T")
        for (id, column) in finished.withLock({ $0 }) { #expect(rows.first { $0.idText == id }?[column] == 1) }
    }

    @Test(arguments: StoreKind.served)
    func `a request that failed before another one has found the table is repeated`(_ stores: StoreKind) throws {
        let services = try Self.services(stores, 2)
        let request = HTTPRequest(.get, "/tables/T/1")
        let definitions = services[1].catalog.changes
        let outcome = Result { try services[1].step(to: request, body: [], caller: .anonymous) }.map { _ in
            TableResponse(.ok, json: [])
        }
        #expect(throws: RequestRejection.self) { try outcome.get() }
        #expect(services[0].send(.post, "/tables/T", #"{"id":"1"}"#).status == .created)
        #expect(services[1].send(.get, "/tables/T/1").status == .ok)
        #expect(services[1].answer(for: outcome, of: request, since: definitions, 1) == nil)
        let answer = services[1].answer(for: outcome, of: request, since: services[1].catalog.changes, 1)
        #expect(answer?.response.status == .notFound)
    }

    @Test(arguments: StoreKind.served)
    func `a column that a service has hidden before it ended is complete again`(_ stores: StoreKind) throws {
        let store = try stores.makeStore()
        let services = try (0..<2).map { _ in try TableService(store: store) }
        #expect(services[0].send(.post, "/tables/T", #"{"id":"1","a":1}"#).status == .created)
        let older = try #require(try store.appTables().first)
        #expect(services[0].send(.patch, "/tables/T/1", #"{"b":2}"#).status == .ok)
        // A service that defines the table as it was before, and ends.
        var other = older
        other.columns.append(.int("c"))
        try store.define([other])
        let row = try services[1].send(.get, "/tables/T/1").row()
        #expect(row["b"] == 2 && row["c"] == .null)
        try store.define([other])
        #expect(services[0].send(.patch, "/tables/T/1", #"{"c":3}"#).status == .ok)
        #expect(try services[1].rows(of: "T").first?["b"] == 2)
        try store.define([other])
        #expect(try TableService(store: store).rows(path: "/tables/T?$filter=b%20eq%202").count == 1)
    }

    @Test(arguments: StoreKind.served)
    func `the store of an earlier version continues at its greatest stamp`(_ stores: StoreKind) throws {
        let store = try stores.makeStore()
        let schema = TableSchema("T", columns: [.int("n")], systemColumns: .all, indexes: [["updatedAt"]])
        try store.define([schema, StoreRole.serverMark])
        let stamp = try #require(Timestamp("2031-01-01"))
        try store.write { writer in
            for (id, ticks) in [("1", 0), ("2", -10)] as [(String, Int64)] {
                let updated = Value.timestamp(stamp.advanced(byTicks: ticks))
                try writer.upsert(
                    ["id": .string(id), "n": 1, "updatedAt": updated, "version": "v", "deleted": false], into: "T")
            }
        }
        for tick in 1...3 {
            let service = try TableService(store: store)
            let answer = service.send(.post, "/tables/T", #"{"n":1,"c\#(tick)":1}"#)
            #expect(try answer.row().updatedAt == stamp.advanced(byTicks: Int64(tick)), "\(answer.text)")
        }
        #expect(try store.tables().contains { $0.name == StoreRole.serverMark.name && $0.isSystem })
    }

    @Test(arguments: StoreKind.served)
    func `the stamp of a row that was deleted for good is not used again`(_ stores: StoreKind) throws {
        let store = try stores.makeStore()
        let fixture = try ServiceFixture(stores, store: store, quirks: [.hardDelete])
        let stamp = try #require(try fixture.insert(#"{"id":"1"}"#).updatedAt)
        #expect(fixture.send(.delete, "/tables/Item/1").status == .ok)
        let next = try ServiceFixture(stores, store: store, quirks: [.hardDelete])
        next.clock.set("2020-01-01")
        #expect(try #require(try next.insert(#"{"id":"2"}"#).updatedAt) > stamp)
    }

    @Test(arguments: StoreKind.served)
    func `a name of no served table is looked up in the store and stays unknown`(_ stores: StoreKind) throws {
        let store = try stores.makeStore()
        let service = try TableService(store: store)
        try store.define([TableSchema("Other", columns: [])] + SystemTables().schemas)
        #expect(service.send(.get, "/tables/None/1").status == .notFound)
        for name in ["Other", StoreRole.serverMark.name, "MS_TableConfig"] {
            #expect(service.send(.get, "/tables/\(name)").status == .notFound, "\(name)")
            #expect(service.send(.post, "/tables/\(name)", #"{"id":"1"}"#).status == .badRequest, "\(name)")
        }
    }
}
