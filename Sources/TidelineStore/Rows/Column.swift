/// A column's name with the Swift type of its values: `let text = Column<String>("text")`, then `row[text]`.
public struct Column<T: ColumnValue>: Sendable, Hashable {
    /// The name.
    public let name: String

    /// A column of that name.
    public init(_ name: String) { self.name = name }

    /// The column's place in rows of `shape`, to be used for many rows without a look-up by name; nil when the shape
    /// has no such column.
    public func resolved(in shape: RowShape) -> ResolvedColumn<T>? {
        shape.index(of: name).map { ResolvedColumn(index: $0) }
    }
}

/// A typed column's place in the rows of one shape; see ``Column/resolved(in:)``.
public struct ResolvedColumn<T: ColumnValue>: Sendable {
    @usableFromInline let index: Int
}
