internal import TidelineStore
internal import TidelineWire

/// A dictionary of values by string identifiers, with lookup by the bytes of an identifier and without allocation.
///
/// Identifiers are compared as the table compares them. A dictionary with string keys would treat canonically
/// equivalent identifiers, such as `café` composed and decomposed, as equal.
struct IDTable<Element: Sendable>: Sendable {
    private struct Entry: Sendable {
        let id: [UInt8]
        var element: Element
        /// The index of the previous entry whose identifier has the same hash.
        let next: Int?
    }

    private let hasher: IDHasher
    private var first: [UInt64: Int] = [:]
    private var entries: [Entry] = []

    init(matching: TableSchema.IDMatching) { hasher = IDHasher(matching: matching) }

    /// Creates a table from pairs of identifiers and values. For equal identifiers, the first value is used.
    init(_ elements: some Sequence<(id: RowID, element: Element)>, matching: TableSchema.IDMatching) {
        self.init(matching: matching)
        for (id, element) in elements {
            id.text.withUTF8Bytes { if self[$0] == nil { insert(element, for: $0) } }
        }
    }

    var isEmpty: Bool { entries.isEmpty }

    /// Calls a closure with each identifier, as it was first inserted, and its value.
    func forEachEntry(_ body: (_ id: [UInt8], _ element: Element) throws -> Void) rethrows {
        for entry in entries { try body(entry.id, entry.element) }
    }

    subscript(id: UnsafeRawBufferPointer) -> Element? { index(of: id).map { entries[$0].element } }

    /// Returns the identifier as it was first inserted.
    func spelling(of id: UnsafeRawBufferPointer) -> [UInt8]? { index(of: id).map { entries[$0].id } }

    /// Inserts a value, or replaces the value of an equal identifier.
    mutating func insert(_ element: Element, for id: UnsafeRawBufferPointer) {
        if let index = index(of: id) {
            entries[index].element = element
            return
        }
        let hash = hasher.hash(id)
        entries.append(Entry(id: Array(id), element: element, next: first[hash]))
        first[hash] = entries.count - 1
    }

    private func index(of id: UnsafeRawBufferPointer) -> Int? {
        guard !entries.isEmpty else { return nil }
        var index = first[hasher.hash(id)]
        while let candidate = index, !hasher.areSame(entries[candidate].id, id) { index = entries[candidate].next }
        return index
    }
}

extension String {
    /// Calls a closure with the text as it is compared in an ``IDTable``.
    func withUTF8Bytes<T>(_ body: (UnsafeRawBufferPointer) -> T) -> T {
        var text = self
        return text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }
}

/// The cases of the ASCII letters in the identifiers of rows.
///
/// Two identifiers can differ only in case if both cases occur. Nearly all tables have identifiers of one case, such as
/// UUIDs, and need no further check.
struct IDCases: OptionSet, Sendable {
    let rawValue: UInt8

    static let upper = IDCases(rawValue: 1)
    static let lower = IDCases(rawValue: 2)
    static let both: IDCases = [.upper, .lower]

    /// Adds the cases of an identifier's letters.
    ///
    /// The pointer access is safe: eight bytes are loaded only if at least eight remain.
    mutating func note(_ id: UnsafeRawBufferPointer) {
        guard self != .both else { return }
        guard id.count >= 8 else {
            for byte in id { note(UInt64(byte)) }
            return
        }
        for offset in stride(from: 0, to: id.count - 8, by: 8) {
            note(id.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        note(id.loadUnaligned(fromByteOffset: id.count - 8, as: UInt64.self))
    }

    private mutating func note(_ bytes: UInt64) {
        if Self.hasUpper(bytes) { insert(.upper) }
        if Self.hasUpper(bytes ^ Self.ones &* 0x20) { insert(.lower) }
    }

    private static let ones: UInt64 = 0x0101_0101_0101_0101

    /// Returns whether one of eight bytes is an ASCII letter from `A` to `Z`.
    private static func hasUpper(_ bytes: UInt64) -> Bool {
        let low = bytes & (ones &* 0x7F)
        let fromA = low &+ ones &* (0x80 - 0x41)
        let beyondZ = low &+ ones &* (0x80 - 0x5B)
        return fromA & ~beyondZ & ~bytes & (ones &* 0x80) != 0
    }
}
