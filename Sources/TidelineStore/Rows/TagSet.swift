/// A set of tags of packed values.
@usableFromInline
package struct TagSet: OptionSet, Sendable {
    @usableFromInline package let rawValue: UInt16
    /// The tags of values that are null or absent.
    @inlinable package static var null: TagSet {
        TagSet(rawValue: 1 << RowTag.null.rawValue | 1 << RowTag.absent.rawValue)
    }

    @inlinable package init(rawValue: UInt16) { self.rawValue = rawValue }
    package init(_ tag: RowTag) { rawValue = 1 << tag.rawValue }

    /// The valid tags of a column of the given type.
    package init(of type: ColumnType) {
        self = RowTag.all.reduce(into: []) { if $1.fits(type) { $0.insert(Self($1)) } }
    }

    /// The tags of the values that a row stores in a column.
    package init(storedIn column: ColumnSchema) {
        self.init(of: column.type)
        remove(Self(.absent))
        if !column.isOptional { remove(Self(.null)) }
    }

    /// Whether the set contains the tag with the given raw value.
    @inlinable
    @inline(__always)
    package func contains(tag: UInt8) -> Bool { tag < 16 && rawValue &>> UInt16(tag) & 1 == 1 }
}
