/// The relation of two values.
enum Ordering {
    case less, equal, greater

    init<T: Comparable>(_ a: T, _ b: T) { self = a < b ? .less : a == b ? .equal : .greater }

    /// Compares two sequences of bytes; a prefix is less than a longer sequence.
    init(bytes a: some Collection<UInt8>, _ b: some Collection<UInt8>) {
        let difference = zip(a, b).first { $0 != $1 }
        self = difference.map { Ordering($0, $1) } ?? Ordering(a.count, b.count)
    }

    var reversed: Ordering {
        switch self {
        case .less: .greater
        case .equal: .equal
        case .greater: .less
        }
    }
}

extension Value {
    /// Returns how two values compare in a query, or `nil` if none of `<`, `==`, and `>` holds.
    ///
    /// None holds if one value is null or NaN, or if their types differ and are not int and double.
    static func ordering(_ a: Value, _ b: Value, ignoringCase: Bool = false) -> Ordering? {
        switch (a, b) {
        case (.bool(let x), .bool(let y)): Ordering(x ? 1 : 0, y ? 1 : 0)
        case (.int(let x), .int(let y)): Ordering(x, y)
        case (.double(let x), .double(let y)): x.isNaN || y.isNaN ? nil : Ordering(x, y)
        case (.int(let x), .double(let y)): ordering(x, y)
        case (.double(let x), .int(let y)): ordering(y, x)?.reversed
        case (.timestamp(let x), .timestamp(let y)): Ordering(x, y)
        case (.string(let x), .string(let y)) where ignoringCase:
            Ordering(bytes: x.asciiLowercased.utf8, y.asciiLowercased.utf8)
        case (.string(let x), .string(let y)), (.json(let x), .json(let y)): Ordering(bytes: x.utf8, y.utf8)
        case (.bytes(let x), .bytes(let y)): Ordering(bytes: x, y)
        default: nil
        }
    }

    /// Returns whether two values are equal in a query: both are null, or neither is less or greater.
    static func areEqual(_ a: Value, _ b: Value, ignoringCase: Bool = false) -> Bool {
        a.isNull && b.isNull || ordering(a, b, ignoringCase: ignoringCase) == .equal
    }

    /// Returns the order of two values in a result: null, then NaN, then all others as they compare.
    ///
    /// Values that do not compare, which never occur in one column, are ordered by type.
    static func sortOrdering(_ a: Value, _ b: Value) -> Ordering {
        ordering(a, b) ?? Ordering(a.sortRank, b.sortRank)
    }

    private var sortRank: Int {
        switch self {
        case .null: 0
        case .bool: 1
        case .double(let value) where value.isNaN: 2
        case .int, .double: 3
        case .timestamp: 4
        case .string: 5
        case .bytes: 6
        case .json: 7
        }
    }

    /// Compares exact values, because converting either to the other's type could round.
    private static func ordering(_ a: Int64, _ b: Double) -> Ordering? {
        if b.isNaN { return nil }
        if b >= 0x1p63 { return .less }
        if b < -0x1p63 { return .greater }
        let whole = Int64(b)
        return whole == a ? Ordering(0, b - b.rounded(.towardZero)) : Ordering(a, whole)
    }
}
