internal import TidelineStore
internal import TidelineSupport

/// Rows generated from their numbers, inexpensive to create and verify, for very large tables.
struct ManyRows {
    /// A number, its last digit with an index, and a text.
    static let schema = TableSchema(
        "Many", columns: [.int("number"), .int("digit"), .string("text")], systemColumns: [], indexes: [["digit"]])
    /// The number of rows per write.
    static let batch = 1_000

    /// The number of rows.
    let count: Int
    private let textLength: Int
    private let noise: [UInt8]

    /// Creates rows with numbers from 0 to `count` and texts of the given length that cannot be compressed.
    init(_ count: Int, textLength: Int = 40) {
        self.count = max(count, 1)
        self.textLength = textLength
        var random = SplitMix64(seed: 1)
        noise = (0..<(8_192 + textLength)).map { _ in UInt8(33 + random.next() % 90) }
    }

    /// The total size of all texts and identifiers in bytes.
    var byteCount: Int { count * (textLength + 28) }

    /// Returns an identifier; identifiers sort like the numbers.
    static func id(_ number: Int) -> String {
        let digits = String(number)
        return "row " + String(repeating: "0", count: max(8 - digits.count, 0)) + digits
    }

    /// Returns the text of a row.
    func text(_ number: Int) -> String {
        String(decoding: noise[number * 37 % 8_192..<number * 37 % 8_192 + textLength], as: UTF8.self)
    }

    /// Returns a batch of rows. Those of another version have other texts.
    func packed(_ numbers: some Sequence<Int>, version: Int = 0) throws -> PackedRows {
        var packed = PackedRows(shape: Self.schema.makeShape())
        for number in numbers {
            packed.beginRow()
            packed.setID(.string(Self.id(number)))
            packed.setInt(Int64(number), at: 0)
            packed.setInt(Int64(number % 10), at: 1)
            let start = (number + version) * 37 % 8_192
            noise[start..<start + textLength].withUnsafeBytes { packed.setBytes($0, as: .string, at: 2) }
            try packed.endRow()
        }
        return packed
    }

    /// The numbers of each batch. Every batch is spread over the whole table, like the pages of a server.
    var batches: [[Int]] {
        let number = (count + Self.batch - 1) / Self.batch
        return (0..<number).map { Array(stride(from: $0, to: count, by: number)) }
    }

    /// Returns a store with all rows.
    func store(in context: CheckContext, _ name: String = "store") throws -> TracedStore {
        let store = try context.store(Self.schema, in: name)
        try load(into: store)
        return store
    }

    /// Writes all rows, each batch in a separate write.
    func load(into store: TracedStore, version: Int = 0) throws {
        for batch in batches { try store.put(packed(batch, version: version), into: Self.schema.name) }
    }

    /// Fails unless a query finds the rows with these numbers, in this order, each with the correct values.
    func expect(
        _ query: TableQuery, in reader: any StoreReader, finds numbers: some Sequence<Int>, _ what: String
    ) throws {
        var expected = numbers.makeIterator()
        var seen = 0
        try reader.scan(query) { view in
            guard let number = expected.next() else {
                throw CheckFailure("\(what): \(query.swiftSource) finds more than the expected \(seen) rows")
            }
            guard view.idText == Self.id(number), view["number"]?.int == Int64(number) else {
                throw CheckFailure(
                    "\(what): row \(seen) of \(query.swiftSource) is \(view.owned()), expected \(Self.id(number))")
            }
            guard number % 97 != 0 || view["text"]?.string == text(number) else {
                throw CheckFailure("\(what): the text of \(view.idText) differs from the stored text")
            }
            seen += 1
            return .next
        }
        guard expected.next() == nil else {
            throw CheckFailure("\(what): \(query.swiftSource) finds \(seen) rows, expected more")
        }
    }
}
