internal import HTTPTypes
internal import TidelineStore
internal import TidelineWire

/// The last timestamp of each table of a client, as of the answer that contains it.
///
/// The text has a part for each table, `NAME.STAMP`, with a hash of the name and the timestamp in base 36. Cursors are
/// compared for equality, so one of another server, or of a database before it was restored, only leads to an answer at
/// once.
struct ChangeCursor: Sendable, Hashable {
    /// The timestamps by the hashes of the tables' names. The value `nil` is that of a table without rows.
    private var stamps: [UInt64: Timestamp?] = [:]

    /// The maximum length of the text of a cursor.
    private static let maximumLength = 40 * ChangesRequest.maximumTables

    /// Creates the cursor of tables with these timestamps.
    init(_ tables: [String], _ clocks: TableClocks) {
        for table in tables { stamps[table.utf8.stableHash] = .some(clocks[table]) }
    }

    /// - Throws: ``RequestRejection`` for a text that is not a cursor.
    init(_ text: String) throws(RequestRejection) {
        let invalid = RequestRejection(
            .badRequest,
            "\(String(text.prefix(100)).debugDescription) is not a cursor; omit it to begin with an answer at once")
        guard text.utf8.count <= Self.maximumLength else { throw invalid }
        for part in text.split(separator: "-", omittingEmptySubsequences: false) {
            let fields = part.split(separator: ".", omittingEmptySubsequences: false)
            guard fields.count == 2, let hash = UInt64(fields[0], radix: 36) else { throw invalid }
            guard !fields[1].isEmpty else {
                stamps[hash] = .some(nil)
                continue
            }
            guard let bits = UInt64(fields[1], radix: 36), let stamp = Timestamp(ticks: Int64(bitPattern: bits)) else {
                throw invalid
            }
            stamps[hash] = .some(stamp)
        }
    }

    /// Whether the table has another timestamp than in this cursor, or is not in it.
    func differs(for table: String, at stamp: Timestamp?) -> Bool {
        guard let known = stamps[table.utf8.stableHash] else { return true }
        return known != stamp
    }

    /// The text in the order of the tables.
    static func text(of tables: [String], _ clocks: TableClocks) -> String {
        tables.map { table in
            let stamp = clocks[table].map { String(UInt64(bitPattern: $0.ticks), radix: 36) } ?? ""
            return "\(String(table.utf8.stableHash, radix: 36)).\(stamp)"
        }.joined(separator: "-")
    }
}
