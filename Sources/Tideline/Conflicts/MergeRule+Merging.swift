internal import TidelineStore

extension MergeRule {
    /// Returns the merged value, or `nil` if the conflict must be left to the app.
    ///
    /// - Parameter isUncertain: Whether an earlier request with an unknown outcome may have written the column.
    func merge(_ conflict: ColumnConflict, isUncertain: Bool = false) throws -> Value? {
        let (local, server) = (conflict.local, conflict.server)
        switch kind {
        case .server: return server
        case .client: return local
        case .custom(_, let body): return try body(conflict)
        // A null array is an empty one.
        case .union: return JSONUnion.merge(base: conflict.base ?? .null, local: local, server: server)
        case _ where local.isNull: return server
        case _ where server.isNull: return local
        case .greatest: return local.isLess(than: server) ? server : local
        case .least: return server.isLess(than: local) ? server : local
        case .sum:
            guard let base = conflict.base, !isUncertain else { return nil }
            return try sum(base, local, server)
        case .text:
            guard case .string(let local) = local, case .string(let server) = server else {
                throw PolicyError(
                    message: "the rule \(name) cannot merge \(local) and \(server)", column: conflict.column)
            }
            return .string(TextMerge.merge(base: conflict.base?.string ?? "", local: local, server: server))
        }
    }

    private func sum(_ base: Value, _ local: Value, _ server: Value) throws -> Value {
        switch (base, local, server) {
        case (.null, .int, _): return try sum(.int(0), local, server)
        case (.null, .double, _): return try sum(.double(0), local, server)
        case (.int(let base), .int(let local), .int(let server)):
            // The sum of three 64-bit integers fits 128 bits.
            return .int(Int64(clamping: Int128(local) + Int128(server) - Int128(base)))
        case (.double(let base), .double(let local), .double(let server)):
            // Halves cannot overflow.
            let half = local / 2 - base / 2 + server / 2
            let sum = local - base + server
            if sum.isFinite { return .double(sum) }
            guard half.isFinite, abs(half) <= .greatestFiniteMagnitude / 2 else {
                return .double(half < 0 ? -.greatestFiniteMagnitude : .greatestFiniteMagnitude)
            }
            return .double(half * 2)
        default:
            throw PolicyError(message: "the rule sum cannot add \(base), \(local), and \(server)")
        }
    }
}
