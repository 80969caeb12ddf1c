/// The name of a column and the Swift type of its values: `let text = Column<String>("text")`, then `row[text]`.
public struct Column<T: ColumnValue>: Sendable {
    /// The name.
    public let name: String

    /// Creates a column with the given name.
    @inlinable
    public init(_ name: String) { self.name = name }

    /// Returns the column's position in rows of `shape`, or `nil` if the shape has no such column.
    ///
    /// The result can be used for many rows without a lookup by name.
    public func resolved(in shape: RowShape) -> ResolvedColumn<T>? {
        shape.index(of: name).map { ResolvedColumn(index: $0) }
    }
}

/// The position of a typed column in the rows of one shape; see ``Column/resolved(in:)``.
public struct ResolvedColumn<T: ColumnValue>: Sendable {
    @usableFromInline let index: Int
}
