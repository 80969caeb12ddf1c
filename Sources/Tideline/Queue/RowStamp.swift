internal import TidelineStore

/// An identifier of one state of a server row.
///
/// The version alone is not sufficient. Servers count versions per row, so a row that was deleted and inserted again,
/// or restored from a backup, can reuse a version with different content.
struct RowStamp: Sendable {
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
