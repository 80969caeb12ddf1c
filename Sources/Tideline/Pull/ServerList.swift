internal import TidelineStore

/// The identifiers and versions of the rows that match a query on the server.
struct ServerList: Sendable {
    /// The versions of the rows, or `nil` for a row that was deleted while the list was read.
    private var versions: IDTable<Version?>

    struct Version: Sendable {
        /// The version, or `nil` if the server has none.
        var text: String?
    }

    init(matching: TableSchema.IDMatching) { versions = IDTable(matching: matching) }

    /// Adds the rows of a page. If a row is repeated, its last state is used.
    mutating func add(_ page: PulledPage) {
        var nextDeleted = page.deleted[...]
        var index = 0
        page.rows.forEachRow { view in
            let isDeleted = nextDeleted.first == index
            if isDeleted { nextDeleted.removeFirst() }
            let text = page.columns.versionBytes(of: view).map { String(decoding: $0, as: UTF8.self) }
            versions.insert(isDeleted ? nil : Version(text: text), for: view.packedID)
            index += 1
        }
        // The server has a row that does not fit the table, too.
        for row in page.skipped { row.id.withUTF8Bytes { versions.insert(Version(), for: $0) } }
    }

    /// Returns whether the server has a row.
    func contains(_ id: UnsafeRawBufferPointer) -> Bool { versions[id].flatMap(\.self) != nil }

    func contains(_ id: String) -> Bool { id.withUTF8Bytes { contains($0) } }

    /// Calls a closure with each row's identifier, in the server's case, and its version.
    func forEachRow(_ body: (_ id: String, _ version: String?) throws -> Void) rethrows {
        try versions.forEachEntry { id, version in
            if let version { try body(String(decoding: id, as: UTF8.self), version.text) }
        }
    }
}

/// A row of the local table in the state in which a comparison found it.
struct ComparedRow: Sendable, Hashable {
    let id: RowID
    let version: String?
    let updatedAt: Timestamp?

    init(_ view: borrowing RowView) {
        id = view.id
        let columns = StampColumns(view.shape)
        version = columns.versionBytes(of: view).map { String(decoding: $0, as: UTF8.self) }
        updatedAt = columns.updatedAt(of: view)
    }
}

/// The local rows that match a query, and that the server does not have.
struct Leavers: Sendable {
    var rows: [ComparedRow] = []
    /// The identifiers of rows that are not in the server's list and have pending operations.
    var pending: [String] = []
    /// The epoch of ``RecentlyPushedRows`` before the rows were read.
    var epoch: UInt64
}
