internal import TidelineStore
internal import TidelineWire

/// Recognizes an operation's own lost requests in a server row that a later request finds.
///
/// The server applied at most one of the bodies whose responses were lost, because each is conditional on the same
/// version or inserts the same identifier. The server row is the operation's own work if it shows such a body. Other
/// differences were written by others.
struct LostRequests: Sendable {
    let codec: RowCodec
    /// The base row, or `nil` if there is none or it is not known.
    let base: Row?
    /// The bodies, oldest first.
    let bodies: [Row]
    /// Whether the bodies are those of an insert.
    let isInsert: Bool

    /// - Parameter operation: The operation of the bodies.
    init(_ operation: TableOperation, codec: RowCodec, base: Row?, bodies: [Row]) {
        (self.codec, self.base, self.bodies) = (codec, base, bodies)
        let hasBase = operation.base != nil || operation.baseVersion != nil || !(base?.columnNames.isEmpty ?? true)
        isInsert = !hasBase
    }

    /// A body that the server applied, and the row as it was then.
    struct Match: Sendable {
        /// The values that the operation is known to have written.
        var body: Row
        /// The base row with the body merged in, on which further changes are based.
        var ancestor: Row
    }

    /// Returns the body that the row shows, or `nil` if it shows none.
    ///
    /// If it shows several, the body that explains most of the row is returned; of equal ones, the newest. With a body
    /// that explains less, the operation's own value would look like a change by others.
    func match(_ server: Row) -> Match? {
        var best: (match: Match, unexplained: Int)?
        for body in bodies.reversed() where codec.shows(server, body) {
            let ancestor = (base ?? Row()).merging(body)
            let unexplained = codec.appColumns.count { !codec.isSame(server, ancestor, in: $0) }
            if unexplained < best?.unexplained ?? .max { best = (Match(body: body, ancestor: ancestor), unexplained) }
        }
        return best?.match
    }

    /// Returns the newest match whose ancestor equals the row in every column, which means that no one has changed the
    /// row since. The base row alone can also match.
    ///
    /// Columns that the body of an insert omits prove nothing, because the server may have filled them in, unless it
    /// reports that the row was changed since.
    func exactMatch(_ server: Row) -> Match? {
        let bases = base.map { [Match(body: Row(), ancestor: $0)] } ?? []
        let matches = bases + bodies.map { Match(body: $0, ancestor: (base ?? Row()).merging($0)) }
        let mayBeFilledIn = isAsInserted(server) ?? true
        return matches.last { match in
            codec.appColumns.allSatisfy { name in
                codec.isSame(server, match.ancestor, in: name) || (mayBeFilledIn && match.body[name] == nil)
            }
        }
    }

    /// Returns whether the server has not changed a row since it was inserted, or `nil` if it does not report when that
    /// was.
    ///
    /// Only a row with a random identifier is certain to result from this insert. A server may change the row that it
    /// inserts, such as in a trigger, so the two times may differ by a second.
    func isAsInserted(_ server: Row) -> Bool? {
        guard isInsert, ItemID.isUUID(server.idText) else { return false }
        guard let created = server["createdAt"]?.timestamp, let updated = server.updatedAt else { return nil }
        return abs(updated.ticks - created.ticks) <= Timestamp.ticksPerSecond
    }
}

extension RowCodec {
    /// Returns the columns in which the item differs from its ancestor, with the item's values, including null. Without
    /// an ancestor, returns all columns of the item.
    func changes(of item: Row, since ancestor: Row?) -> Row {
        var changes: [(name: String, value: Value)] = []
        for (index, name) in appColumns.enumerated() {
            let value = item.value(of: name, guess: index)
            guard let ancestor else {
                if let value { changes.append((name, value)) }
                continue
            }
            if value ?? .null != ancestor.value(of: name, guess: index) ?? .null {
                changes.append((name, value ?? .null))
            }
        }
        return Row(id: item.id, distinctColumns: changes)
    }

    /// Returns whether others have changed one of these columns differently: the server row's value differs from the
    /// ancestor's and from the changed one.
    ///
    /// - Parameter counts: Returns whether equal changes to a column differ, too, because they add up.
    func overlaps(_ changes: Row, _ server: Row, ancestor: Row, counts: (String) -> Bool) -> Bool {
        changes.columnNames.contains { name in
            !isSame(server, ancestor, in: name) && (counts(name) || !isSame(server, changes, in: name))
        }
    }
}
