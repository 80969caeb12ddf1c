#if Tool
import Foundation
import Synchronization
import Testing
import Tideline
import TidelineStore
import TidelineTestSupport

@testable import TidelineTool

/// Several processes of `tideline serve` over one store, and clients that edit, push and pull by stamps, without a
/// look-back, while processes are killed. A round has one to three kills at random, after which all clients must equal
/// the server.
@Suite("Servers that share a store", .serialized, .timeLimit(.minutes(60)))
struct SharedServeTests {
    @Test(
        "With two servers that are killed, nothing is missed, lost or doubled", arguments: [StoreEngine.sqlite, .lmdb])
    func embedded(engine: StoreEngine) async throws {
        let tool = try Tool()
        let servers = try SharedServers(tool, location: tool.location(engine, "server"), count: 2)
        defer { servers.stop() }
        try await SharedRounds(servers).run { try servers.killOne() }
    }

    @Test(
        "With four servers over PostgreSQL, all of which are killed, nothing is missed, lost or doubled",
        .enabled(if: DatabaseServer.isInstalled, "PostgreSQL's server is not installed (package postgresql)"))
    func postgresql() async throws {
        let tool = try Tool()
        let database = try DatabaseServer()
        defer { database.end() }
        let servers = try SharedServers(tool, location: database.location, count: 4)
        defer { servers.stop() }
        try await SharedRounds(servers).run {
            switch Int.random(in: 0..<4) {
            case 0:
                try database.kill()
                try database.restart()
            case 1:
                try database.killOneProcess()
                try database.awaitConnection()
            default: try servers.killOne()
            }
        }
    }

    @Test(
        "If the primary is killed and its replica promoted, no acknowledged row is lost",
        .enabled(if: DatabaseServer.isInstalled, "PostgreSQL's server is not installed (package postgresql)"))
    func promoted() async throws {
        for _ in 0..<SharedRounds.rounds { try await promote() }
    }

    private func promote() async throws {
        let tool = try Tool()
        let primary = try DatabaseServer()
        defer { primary.end() }
        let replica = try DatabaseServer(following: primary)
        defer { replica.end() }
        try primary.commitOnReplica()
        let servers = try SharedServers(tool, location: primary.location(or: replica), count: 2)
        defer { servers.stop() }
        let isPromoted = Mutex(false)
        // The second round runs on the replica alone.
        try await SharedRounds(servers, rounds: 2).run {
            guard !isPromoted.withLock({ $0 }) else { return try servers.killOne() }
            isPromoted.withLock { $0 = true }
            try primary.kill()
            #expect(try replica.run("SELECT pg_promote()") == ["t"])
        }
        #expect(isPromoted.withLock { $0 })
    }
}

/// The rounds of one test.
private struct SharedRounds {
    static let rounds = setting("TIDELINE_KILL_ROUNDS") ?? 2
    private static let clients = setting("TIDELINE_KILL_CLIENTS") ?? 16
    /// The number of steps of each client in a round.
    private static let steps = setting("TIDELINE_KILL_STEPS") ?? 24

    let servers: SharedServers
    let rounds: Int

    init(_ servers: SharedServers, rounds: Int = Self.rounds) {
        self.servers = servers
        self.rounds = rounds
    }

    /// Runs all rounds.
    ///
    /// - Parameter disturb: Kills a process, and starts another one in its place.
    func run(_ disturb: @escaping @Sendable () throws -> Void) async throws {
        let clients = try (0..<Self.clients).map { try EditingClient($0, of: servers) }
        for client in clients { try await client.begin() }
        try await heal(clients)
        for round in 1...rounds {
            try await edit(clients, disturb)
            try await heal(clients)
            try await compare(clients, "round \(round)")
        }
    }

    private func edit(_ clients: [EditingClient], _ disturb: @escaping @Sendable () throws -> Void) async throws {
        let done = Steps()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in clients {
                group.addTask {
                    for _ in 0..<Self.steps {
                        try await client.act()
                        done.count.withLock { $0 += 1 }
                    }
                }
            }
            let moments = (1...Int.random(in: 1...3)).map { _ in Int.random(in: 0..<Self.clients * Self.steps) }
            group.addTask {
                for moment in moments.sorted() {
                    try await suspendUntil("\(moment) steps") { done.count.withLock { $0 } >= moment }
                    try await RawConnection.blocking(disturb)
                }
            }
            try await group.waitForAll()
        }
    }

    /// Pushes all changes, and then pulls them.
    private func heal(_ clients: [EditingClient]) async throws {
        for step in [{ try await $0.pushAll() }, { try await $0.pullAll() }]
            as [@Sendable (EditingClient) async throws -> Void]
        {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for client in clients { group.addTask { try await step(client) } }
                try await group.waitForAll()
            }
        }
    }

    private func compare(_ clients: [EditingClient], _ round: String) async throws {
        let stored = try await servers.rows()
        #expect(Set(stored.compactMap { $0["updatedAt"]?.timestamp }).count == stored.count, "\(round): stamps differ")
        #expect(Set(stored.compactMap { $0["version"]?.string }).count == stored.count, "\(round): versions differ")
        let rows = stored.filter { $0["deleted"]?.bool != true }
        var (edits, marks) = ([String: Int64](), [String]())
        for client in clients {
            edits.merge(await client.edits) { $1 }
            marks += await client.marks
        }
        let common = rows.filter { EditingClient.commonIDs.contains($0.idText) }
        #expect(common.count == EditingClient.commonIDs.count, "\(round)")
        #expect(try common.flatMap { try EditingClient.marks(of: $0) }.sorted() == marks.sorted(), "\(round)")
        let own = rows.filter { !EditingClient.commonIDs.contains($0.idText) }
        #expect(own.count == edits.count, "\(round)")
        for row in own { #expect(row["n"]?.int == edits[row.idText], "\(round): row \(row.idText)") }
        let content = Dictionary(uniqueKeysWithValues: rows.map { ($0.idText, Self.content($0)) })
        for client in clients {
            let local = try await client.rows()
            #expect(local.count == rows.count, "\(round)")
            for row in local { #expect(Self.content(row) == content[row.idText], "\(round): row \(row.idText)") }
        }
    }

    private static func content(_ row: Row) -> [Value?] {
        ["n", "marks", "version", "createdAt", "updatedAt"].map { row[$0] }
    }
}

/// The number of steps that clients have finished.
private final class Steps: Sendable {
    let count = Mutex(0)
}

extension DatabaseServer {
    /// Returns a location in this database or, if this server does not accept writes, in that of another one.
    fileprivate func location(or other: DatabaseServer) -> String {
        "postgresql:host=\(folder),,\(other.folder),dbname=postgres,user=postgres,target_session_attrs=read-write"
    }

    /// Makes commits wait until a replica has written them to its disk.
    fileprivate func commitOnReplica() throws {
        try waitUntil("a replica that follows") {
            try run("SELECT state FROM pg_stat_replication") == ["streaming"]
        }
        for sql in ["ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()"] {
            try #require(try run(sql) != nil)
        }
        try waitUntil("a synchronous replica") {
            try run("SELECT sync_state FROM pg_stat_replication") == ["sync"]
        }
    }
}
#endif
