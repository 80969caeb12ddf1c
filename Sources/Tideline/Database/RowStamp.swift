internal import TidelineStore

/// An identifier of one state of a server row.
///
/// The version alone is not sufficient. Servers count versions per row, so a row that was deleted and inserted again,
/// or restored from a backup, can reuse a version with different content.
struct RowStamp: Sendable, Hashable {
    let version: String
    let updatedAt: Timestamp?
}

/// The positions of the columns of a ``RowStamp`` in rows of one shape.
struct StampColumns: Sendable {
    let updatedAt: Int?
    private let version: Int?

    init(_ shape: RowShape) {
        updatedAt = shape.index(of: "updatedAt")
        version = shape.index(of: "version")
    }

    func updatedAt(of view: borrowing RowView) -> Timestamp? { updatedAt.flatMap { view.timestamp(at: $0) } }

    /// Returns the stamp of a row, or `nil` if the row has no version.
    func stamp(of view: borrowing RowView) -> RowStamp? {
        guard let version = version.flatMap({ view.string(at: $0) }) else { return nil }
        return RowStamp(version: version, updatedAt: updatedAt(of: view))
    }

    /// Returns whether a row has the given stamp.
    func has(_ stamp: RowStamp, _ view: borrowing RowView) -> Bool {
        guard let bytes = versionBytes(of: view) else { return false }
        return stamp.version.utf8.elementsEqual(bytes) && stamp.updatedAt == updatedAt(of: view)
    }

    /// Returns the bytes of a row's version, or `nil` if it has none. They are valid as long as the row's buffer.
    func versionBytes(of view: borrowing RowView) -> UnsafeRawBufferPointer? {
        guard let version, view.tag(at: version) == .string else { return nil }
        return view.bytes(at: version)
    }
}

extension Row {
    /// The stamp that identifies this state of the row, or `nil` if the row has no version.
    var stamp: RowStamp? { version.map { RowStamp(version: $0, updatedAt: updatedAt) } }
}

/// The age of a local row, compared with the same row of a page. The order of requests decides before any clock.
enum RowAge: Sendable, Hashable {
    /// The page's row is at least as new.
    case older
    /// The local row is newer.
    case newer
    /// Either row may be newer.
    case unknown

    /// The order of the request of a page and the last push of one of its rows.
    enum PageOrder: Sendable, Hashable {
        case afterPush
        /// Another process or client may have pushed the row since the page was requested.
        case perhapsBeforePush
        /// An operation of the row ended after the page was requested. `showsBase` if the page's row is the one that
        /// the operation has replaced, whatever the server's clock says.
        case beforePush(showsBase: Bool)
    }

    /// The state of the row in the local store.
    enum LocalRow: Sendable, Hashable {
        case removed
        case present(updatedAt: Timestamp?)
    }

    /// - Parameters:
    ///   - updatedAt: The time of the page's row.
    ///   - isDeleted: Whether the page's row is a tombstone.
    init(of local: LocalRow, comparedWith updatedAt: Timestamp?, isDeleted: Bool, _ order: PageOrder) {
        switch (order, local) {
        case (.beforePush(showsBase: true), _):
            self = .newer
        case (.beforePush, .removed):
            // The row may have been restored since its delete was pushed.
            self = isDeleted ? .newer : .unknown
        case (.beforePush, .present(let known)):
            // The least time is that of servers without one: such a row is not older than any other.
            let (page, known) = (updatedAt ?? .min, known ?? .min)
            self = page == .min || page == known ? .unknown : page < known ? .newer : .older
        case (.perhapsBeforePush, .present(let known?)):
            self = updatedAt.map { $0 < known } ?? false ? .newer : .older
        case (.afterPush, _), (.perhapsBeforePush, _):
            self = .older
        }
    }
}
