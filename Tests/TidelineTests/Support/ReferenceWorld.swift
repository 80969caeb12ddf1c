import Foundation
import HTTPTypes
import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// A world with tables that reference each other, and a server that enforces the references: it refuses a row whose
/// parent it does not have, and the delete of a row that others reference.
struct ReferenceWorld: Sendable {
    /// Folders in folders, with lists, with items.
    static let schemas = [
        TableSchema(
            "Item", columns: [.string("text"), .string("listId")],
            references: [ForeignKey(column: "listId", table: "List")]),
        TableSchema(
            "List", columns: [.string("text"), .string("folderId")],
            references: [ForeignKey(column: "folderId", table: "Folder")]),
        TableSchema(
            "Folder", columns: [.string("text"), .string("parentId")],
            references: [ForeignKey(column: "parentId", table: "Folder")]),
    ]

    let world: World
    let client: Client
    private let all = SharedValue<[String]>([])
    private let allRefused = SharedValue<[String]>([])
    private let currentFault = SharedValue<Fault?>(nil)

    /// Returns the fault of a request such as `insert List a`, before the server checks it.
    typealias Fault = @Sendable (String) async -> FaultyTransport<TestStore>.Fault?

    init(_ stores: StoreKind, configure: (inout SyncOptions) -> Void = { _ in }) async throws {
        world = try World(stores) { $0.schemas = Self.schemas }
        client = try await world.makeClient(configure: configure)
        try await client.client.define(Self.schemas)
        client.transport.inspect { [world, all, allRefused, currentFault] request, body in
            guard let change = Change(request, body) else { return nil }
            all.update { $0.append(change.description) }
            if let found = await currentFault.value?(change.description) { return found }
            if (try? change.isAllowed(by: world.serverStore)) == true { return nil }
            allRefused.update { $0.append(change.description) }
            return .answer(.answer(400))
        }
    }

    /// The requests that change rows, in the order in which they reach the server: `insert List a`.
    var requests: [String] { all.value }
    /// The requests that the server refused because of a reference.
    var refused: [String] { allRefused.value }

    func clear() { all.value = [] }
    func fault(_ fault: Fault?) { currentFault.value = fault }
    /// Answers a request such as `insert List a` with the given status.
    func refuse(_ request: String, _ status: Int) { fault { $0 == request ? .answer(.answer(status)) : nil } }

    /// Runs an action once, before the server receives the first request that changes a row.
    func onFirst(_ body: @escaping @Sendable () async throws -> Void) {
        let once = Once()
        fault { _ in
            guard once.first() else { return nil }
            fault(nil)
            await #expect(throws: Never.self) { try await body() }
            return nil
        }
    }

    /// Expects that the queue is empty, and that the server refused nothing because of a reference.
    func expectFinished(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        #expect(refused.isEmpty, sourceLocation: sourceLocation)
        #expect(try await queue().isEmpty, sourceLocation: sourceLocation)
    }

    func table(_ name: String) -> SyncTable { client.client.table(name) }

    /// Makes changes in order: `insert Item i l` (in the list `l`), `move Item i m`, `move Item i` (out of its list),
    /// `delete List l`, separated by semicolons.
    func change(_ changes: String) async throws {
        for words in changes.split(separator: "; ").map({ $0.split(separator: " ").map(String.init) }) {
            let (table, id) = (self.table(words[1]), words[2])
            let parent: Row = [Self.parentColumn(words[1]): words.count > 3 ? .string(words[3]) : .null]
            switch words[0] {
            case "insert": try await table.insert(Row(id: .string(id)).merging(parent).merging(["text": .string(id)]))
            case "move": try await table.update(Row(id: .string(id)).merging(parent))
            default: try await table.delete(id: id)
            }
        }
    }

    /// Makes another client that has inserted the list `l` on the server.
    func insertElsewhere() async throws {
        let other = try await world.makeClient()
        try await other.client.define(Self.schemas)
        try await other.client.table("List").insert(["id": "l", "text": "theirs"])
        try await other.context.push()
    }

    @discardableResult
    func push(_ maxInFlight: Int = 8) async throws -> PushResult {
        try await client.context.push(settings: PushSettings(maxInFlight: maxInFlight))
    }

    /// Returns the queue in the form `insert List a`.
    func queue() async throws -> [String] {
        try await client.context.pendingOperations().map { "\($0.kind) \($0.table) \($0.itemID)" }
    }

    func serverRow(_ id: String, in table: String) throws -> Row? {
        let row = try world.serverStore.read { try $0.row(in: table, id: id) }
        return row?["deleted"]?.bool == true ? nil : row
    }

    static func parentColumn(_ table: String) -> String {
        schemas.first { $0.name == table }?.references.first?.column ?? ""
    }

    /// A request that changes a row.
    private struct Change: CustomStringConvertible {
        var kind: OperationKind
        var table: String
        var id: String
        /// The parent that the request names.
        var parent: String?

        init?(_ request: HTTPRequest, _ body: String) {
            let path = (request.path ?? "").split(separator: "?")[0].split(separator: "/").map(String.init)
            let object = (try? JSONSerialization.jsonObject(with: Data(body.utf8))) as? [String: Any] ?? [:]
            switch request.method {
            case .get: return nil
            case .delete: kind = .delete
            default: kind = request.createsRow ? .insert : .update
            }
            guard path.count >= 2, let id = path.count > 2 ? path[2] : object["id"] as? String else { return nil }
            (table, self.id) = (path[1], id)
            parent = object[ReferenceWorld.parentColumn(table)] as? String
        }

        var description: String { "\(kind) \(table) \(id)" }

        func isAllowed(by store: TestStore) throws -> Bool {
            try store.read { reader in
                func exists(_ query: TableQuery) throws -> Bool {
                    try reader.count(query.filter(.column("deleted") != true)) > 0
                }
                for schema in ReferenceWorld.schemas {
                    for reference in schema.references {
                        if kind == .delete, reference.table == table,
                            try exists(TableQuery(schema.name).filter(.column(reference.column) == .value(id)))
                        {
                            return false
                        }
                        if kind != .delete, schema.name == table, let parent, parent != id,
                            try !exists(TableQuery(reference.table).filter(.column("id") == .value(parent)))
                        {
                            return false
                        }
                    }
                }
                return true
            }
        }
    }
}
