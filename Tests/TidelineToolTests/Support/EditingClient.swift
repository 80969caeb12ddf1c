#if Tool
import Foundation
import Tideline
import TidelineSQLite
import TidelineStore

@testable import TidelineTool

/// A client that edits, pushes and pulls at random, and knows all of its edits.
///
/// It changes rows of its own, in which `n` counts its edits, and adds marks to rows that all clients share.
actor EditingClient {
    static let table = "Shared"
    /// The ids of the rows that all clients change.
    static let commonIDs = (0..<4).map { "common-\($0)" }
    static let schemaFile = """
        tables:
          Shared:
            columns:
              n: int
              marks: json
        """

    /// The number of edits of each of its own rows, without those that it deleted.
    private(set) var edits: [String: Int64] = [:]
    /// The marks that it added to common rows.
    private(set) var marks: Set<String> = []
    private let number: Int
    private let client: SyncClient<SQLiteStore>
    private let table: SyncTable
    private var count = 0

    init(_ number: Int, of servers: SharedServers) throws {
        self.number = number
        var options = SyncOptions()
        options.retry = RetryPolicy(
            maximumAttempts: 3, initialDelay: .milliseconds(2), maximumDelay: .milliseconds(50))
        // Only its owner changes `n`, and only upward. After a lost response, the server's row can be the owner's
        // earlier one.
        options.conflictPolicy = .merge(["marks": .union], others: .greatest, deletions: .deleteWins)
        client = try SyncClient(
            url: "http://shared.example", store: try SQLiteStore.inMemory(), transport: servers, options: options)
        table = client.table(Self.table)
    }

    /// Defines the table. The first client inserts the common rows.
    func begin() async throws {
        try await client.define([TableSchema(Self.table, columns: [.int("n"), .json("marks")])])
        guard number == 0 else { return }
        for id in Self.commonIDs { try await table.insert(["id": .string(id), "marks": .json("[]")]) }
    }

    /// Edits, pushes or pulls.
    func act() async throws {
        count += 1
        switch Int.random(in: 0..<16) {
        case 0..<4:
            let id = "\(number)-\(count)"
            try await table.insert(["id": .string(id), "n": 0])
            edits[id] = 0
        case 4..<7:
            guard let id = edits.keys.randomElement(), let n = edits[id] else { return }
            try await table.update(id: id) { $0["n"] = .int(n + 1) }
            edits[id] = n + 1
        case 7:
            guard let id = edits.keys.randomElement() else { return }
            try await table.delete(id: id)
            edits[id] = nil
        case 8..<11:
            guard let id = Self.commonIDs.randomElement(), try await table.row(id: id) != nil else { return }
            let mark = "\(number)-\(count)"
            try await table.update(id: id) { row in row["marks"] = try .json(Self.json(Self.marks(of: row) + [mark])) }
            marks.insert(mark)
        case 11..<13: _ = try await unlessInterrupted { try await self.client.push() }
        default: _ = try await pull()
        }
    }

    /// Pushes until nothing is pending.
    func pushAll() async throws {
        for _ in 0..<100 {
            _ = try await unlessInterrupted { try await self.client.push() }
            if try await client.pendingOperationsCount == 0 { return }
        }
        throw ToolError("client \(number) cannot push: \(try await client.operationErrors())")
    }

    /// Pulls until nothing is new.
    ///
    /// A server's date has whole seconds, and a pull repeats the rows of its second.
    func pullAll() async throws {
        for _ in 0..<1_000 {
            if try await pull() == 0 { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw ToolError("client \(number) pulls the same rows again and again")
    }

    /// The rows of the client.
    func rows() async throws -> [Row] { try await table.rows().rows }

    /// Pulls rows with later timestamps than the last, without a look-back, in small pages. Returns the number of rows,
    /// or `nil` if no server could answer.
    private func pull() async throws -> Int? {
        let settings = PullSettings(pageSize: 20, lookback: .zero)
        return try await unlessInterrupted {
            try await self.client.pull(TableQuery(Self.table), queryID: "all", settings: settings).rowsPulled
        }
    }

    /// Returns `nil` if the servers, or the connection to one, ended the request. Any other error is a failure of the
    /// test.
    private func unlessInterrupted<T: Sendable>(_ body: @Sendable () async throws -> T) async throws -> T? {
        do {
            return try await body()
        } catch let error as SyncError
            where [.network, .serverFailed, .serverFailing, .completedWithErrors].contains(error.code)
        {
            // An operation that failed for another reason than the server's state stays pending, and ends the test
            // later.
            return nil
        }
    }

    /// Returns the marks in a row.
    static func marks(of row: Row) throws -> [String] {
        guard case .json(let text)? = row["marks"] else { return [] }
        return try JSONDecoder().decode([String].self, from: Data(text.utf8))
    }

    private static func json(_ marks: [String]) throws -> String {
        String(decoding: try JSONEncoder().encode(marks), as: UTF8.self)
    }
}
#endif
