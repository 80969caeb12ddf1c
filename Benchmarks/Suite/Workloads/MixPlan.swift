#if Commands
internal import Foundation
internal import TidelineSupport

/// The operations of a mix and their rows, determined by the random generator.
struct MixPlan: Sendable {
    /// The kinds of operations.
    enum Kind: Sendable {
        case read, update, insert, scan, readModifyWrite
    }

    /// An operation, with the index of its row in the source.
    enum Step: Hashable {
        case read(Int)
        case update(Int)
        case insert(Int)
        case scan(Int, count: Int)
        case readModifyWrite(Int)

        /// The row whose text the step changes.
        var changed: Int? {
            switch self {
            case .update(let row), .readModifyWrite(let row): row
            case .read, .insert, .scan: nil
            }
        }

        /// The row that the step inserts.
        var inserted: Int? {
            if case .insert(let row) = self { row } else { nil }
        }
    }

    /// The percentage of each kind of operation.
    let shares: [(kind: Kind, percent: Int)]
    /// The distribution of the rows.
    let choice: KeyChooser.Choice
    /// The number of operations.
    let count: Int

    /// The maximum number of rows of a scan, as in YCSB's workload E.
    static let maxScan = 100

    /// Returns the operations for a table. New rows follow the existing ones; only ``KeyChooser/Choice/latest`` chooses
    /// them too.
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
                    count: Int.random(in: 1...Self.maxScan, using: &random))
            }
        }
    }

    /// The kind of operation at a percentile.
    private func kind(at percentile: Int) -> Kind {
        var rest = percentile
        for share in shares {
            if rest < share.percent { return share.kind }
            rest -= share.percent
        }
        return .read
    }
}

/// Chooses rows with the distributions of YCSB.
struct KeyChooser {
    /// A distribution.
    enum Choice: Sendable {
        /// All rows are equally likely.
        case uniform
        /// A few rows, scattered over the table, are much more likely.
        case zipfian
        /// Rows that were inserted later are more likely.
        case latest
    }

    private let choice: Choice
    private var zipfian: Zipfian

    init(_ choice: Choice) {
        self.choice = choice
        zipfian = choice == .zipfian ? .ofManyItems : Zipfian()
    }

    /// Returns the index of one of `count` rows.
    mutating func next(of count: Int, using random: inout SplitMix64) -> Int {
        switch choice {
        case .uniform: Int.random(in: 0..<count, using: &random)
        case .zipfian: Self.scattered(zipfian.next(of: Zipfian.manyItems, using: &random), over: count)
        case .latest: count - 1 - zipfian.next(of: count, using: &random)
        }
    }

    /// Maps an item to a row by the 64-bit FNV hash of its number.
    private static func scattered(_ item: Int, over count: Int) -> Int {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in 0..<8 {
            hash = (hash ^ UInt64(item) >> UInt64(byte * 8) & 0xFF) &* 0x100_0000_01B3
        }
        return Int(hash % UInt64(count))
    }
}

/// Numbers from 0 with a Zipfian distribution: the probability of the *n*th is proportional to 1/*n*^0.99.
///
/// After Gray et al., *Quickly Generating Billion-Record Synthetic Databases*, 1994, as in YCSB.
struct Zipfian {
    private static let theta = 0.99
    private static let alpha = 1 / (1 - theta)

    /// The sum of 1/*n*^0.99 over the first ``summed`` numbers.
    private var zeta = 0.0
    private var summed = 0

    /// YCSB's number of items, so large that each row stands for several, and its sum, which takes minutes to compute.
    static let manyItems = 10_000_000_000
    static let ofManyItems: Zipfian = {
        var zipfian = Zipfian()
        zipfian.zeta = 26.469_028_201_783_02
        zipfian.summed = manyItems
        return zipfian
    }()

    /// Returns a number below `count`, which must not decrease between calls.
    mutating func next(of count: Int, using random: inout SplitMix64) -> Int {
        while summed < count {
            summed += 1
            zeta += 1 / pow(Double(summed), Self.theta)
        }
        let chance = Double.random(in: 0..<1, using: &random)
        let scaled = chance * zeta
        let firstTwo = 1 + pow(0.5, Self.theta)
        if scaled < 1 || count < 2 { return 0 }
        if scaled < firstTwo || count < 3 { return 1 }
        let eta = (1 - pow(2 / Double(count), 1 - Self.theta)) / (1 - firstTwo / zeta)
        return min(Int(Double(count) * pow(eta * chance - eta + 1, Self.alpha)), count - 1)
    }
}
#endif
