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

    init(matching: IDMatching) { hasher = IDHasher(matching: matching) }

    /// Creates a table from pairs of identifiers and values. For equal identifiers, the first value is used.
    init(_ elements: some Sequence<(id: RowID, element: Element)>, matching: IDMatching) {
        self.init(matching: matching)
        for (id, element) in elements {
            id.text.withUTF8Bytes { if self[$0] == nil { insert(element, for: $0) } }
        }
    }

    var isEmpty: Bool { entries.isEmpty }

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
    fileprivate func withUTF8Bytes<T>(_ body: (UnsafeRawBufferPointer) -> T) -> T {
        var text = self
        return text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }
}
