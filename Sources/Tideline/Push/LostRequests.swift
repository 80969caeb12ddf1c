internal import TidelineStore

/// Recognizes an operation's own lost requests in a row that a later request meets on the server.
///
/// Of the bodies whose answers were lost the server carried out at most one, since each of them is conditional on the same
/// version or inserts the same identifier. The row on the server is the operation's own work if it shows such a body;
/// what it shows beyond that was written by others.
struct LostRequests: Sendable {
    let codec: RowCodec
    /// The row that the operation was made on; nil when there is none or it is not known.
    let base: Row?
    /// The bodies, the oldest first.
    let bodies: [Row]

    /// The body that the server carried out, and the row as it was then.
    struct Match: Sendable {
        /// What the operation is known to have written.
        var body: Row
        /// The base with the body merged in: the row that further changes are based on.
        var ancestor: Row
    }

    /// The body that the row shows, nil when it shows none.
    ///
    /// Where it shows several, the one that explains most of the row counts, and of these the newest: taken for a body that
    /// explains less, a value of one's own would pass for a change by others.
    func match(_ server: Row) -> Match? {
        var best: (match: Match, unexplained: Int)?
        for body in bodies.reversed() where codec.shows(server, body) {
            let ancestor = (base ?? Row()).merging(body)
            let unexplained = codec.appColumns.count { !codec.isSame(server, ancestor, in: $0) }
            if unexplained < best?.unexplained ?? .max { best = (Match(body: body, ancestor: ancestor), unexplained) }
        }
        return best?.match
    }

    /// The match whose ancestor equals the row in every column: nobody changed the row since. The base alone counts, too.
    func exactMatch(_ server: Row) -> Match? {
        let bases = base.map { [Match(body: Row(), ancestor: $0)] } ?? []
        let matches = bodies.map { Match(body: $0, ancestor: (base ?? Row()).merging($0)) } + bases
        return matches.last { match in codec.appColumns.allSatisfy { codec.isSame(server, match.ancestor, in: $0) } }
    }
}

extension RowCodec {
    /// The columns in which the item differs from the row it is based on, with the item's values, null included; without
    /// such a row all columns that the item names.
    func changes(of item: Row, since ancestor: Row?) -> Row {
        var changes = Row(id: item.key)
        for name in appColumns {
            guard let ancestor else {
                if let value = item[name] { changes[name] = value }
                continue
            }
            let value = item[name] ?? .null
            if value != ancestor[name] ?? .null { changes[name] = value }
        }
        return changes
    }

    /// Whether the server's row has a value of others in one of these columns: another one than the row had that the
    /// changes are based on.
    func overlaps(_ changes: Row, _ server: Row, ancestor: Row) -> Bool {
        changes.columnNames.contains { !isSame(server, ancestor, in: $0) }
    }
}
