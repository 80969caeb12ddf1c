internal import TidelineStore

/// What tells one state of a server's row from another.
///
/// A version alone does not: servers count versions for each row, so that a row that was deleted and inserted again, or
/// whose server was restored from a backup, shows versions that it had with other content.
struct RowStamp: Sendable {
    let version: String
    let updatedAt: Timestamp?
}

/// Where the rows of one shape hold what a ``RowStamp`` is made of.
struct StampColumns: Sendable {
    let updatedAt: Int?
    private let version: Int?

    init(_ shape: RowShape) {
        updatedAt = shape.index(of: "updatedAt")
        version = shape.index(of: "version")
    }

    func updatedAt(of view: borrowing RowView) -> Timestamp? { updatedAt.flatMap { view.timestamp(at: $0) } }

    /// The stamp of a row; nil for one without a version.
    func stamp(of view: borrowing RowView) -> RowStamp? {
        guard let version = version.flatMap({ view.string(at: $0) }) else { return nil }
        return RowStamp(version: version, updatedAt: updatedAt(of: view))
    }

    /// Whether a row is in the state of a stamp.
    func has(_ stamp: RowStamp, _ view: borrowing RowView) -> Bool {
        guard let bytes = versionBytes(of: view) else { return false }
        return stamp.version.utf8.elementsEqual(bytes) && stamp.updatedAt == updatedAt(of: view)
    }

    /// The bytes of a row's version, valid as long as the view points where it does; nil when it has none.
    func versionBytes(of view: borrowing RowView) -> UnsafeRawBufferPointer? {
        guard let version, view.tag(at: version) == .string else { return nil }
        return view.bytes(at: version)
    }
}
