internal import TidelineSupport

/// Which operations a mix has, and on which rows: the same whenever it is made from the same chance.
struct MixPlan: Sendable {
    /// The kinds of operations.
    enum Kind: Sendable {
        case read, update, insert, scan, readModifyWrite
    }

    /// An operation, with the row's place in the source.
    enum Step: Hashable {
        case read(Int)
        case update(Int)
        case insert(Int)
        case scan(Int, count: Int)
        case readModifyWrite(Int)

        /// The row whose text it changes.
        var changed: Int? {
            switch self {
            case .update(let row), .readModifyWrite(let row): row
            case .read, .insert, .scan: nil
            }
        }

        /// The row that is new with it.
        var inserted: Int? {
            if case .insert(let row) = self { row } else { nil }
        }
    }

    /// Of each kind, how many of a hundred operations are.
    let shares: [(kind: Kind, percent: Int)]
    /// How rows are chosen.
    let choice: KeyChooser.Choice
    /// How many operations there are.
    let count: Int

    /// How many rows a scan reads at most, as in YCSB's workload E.
    static let longestScan = 100

    /// The operations on a table of so many rows. Inserted rows come behind them; only the latest are chosen among those
    /// too.
    func steps(rows: Int, random: inout SplitMix64) -> [Step] {
        var chooser = KeyChooser(choice)
        var present = rows
        return (0..<count).map { _ in
            switch kind(at: Int.random(in: 0..<100, using: &random)) {
            case .insert:
                present += 1
                return .insert(present - 1)
            case .read: return .read(chooser.next(of: choice == .latest ? present : rows, using: &random))
            case .update: return .update(chooser.next(of: rows, using: &random))
            case .readModifyWrite: return .readModifyWrite(chooser.next(of: rows, using: &random))
            case .scan:
                return .scan(
                    chooser.next(of: rows, using: &random),
                    count: Int.random(in: 1...Self.longestScan, using: &random))
            }
        }
    }

    /// The kind at a percentile.
    private func kind(at percentile: Int) -> Kind {
        var rest = percentile
        for share in shares {
            if rest < share.percent { return share.kind }
            rest -= share.percent
        }
        return .read
    }
}
