internal import Foundation
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

/// Chooses rows by chance as YCSB does.
struct KeyChooser {
    /// How likely each row is.
    enum Choice: Sendable {
        /// All as likely.
        case uniform
        /// Few much likelier than the others, scattered over all.
        case zipfian
        /// The later a row was inserted, the likelier.
        case latest
    }

    private let choice: Choice
    private var zipfian: Zipfian

    init(_ choice: Choice) {
        self.choice = choice
        zipfian = choice == .zipfian ? .ofManyItems : Zipfian()
    }

    /// A row of so many.
    mutating func next(of count: Int, using random: inout SplitMix64) -> Int {
        switch choice {
        case .uniform: Int.random(in: 0..<count, using: &random)
        case .zipfian: Self.scattered(zipfian.next(of: Zipfian.manyItems, using: &random), over: count)
        case .latest: count - 1 - zipfian.next(of: count, using: &random)
        }
    }

    /// The place of an item among so many rows, by the 64-bit FNV hash of its number.
    private static func scattered(_ item: Int, over count: Int) -> Int {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in 0..<8 {
            hash = (hash ^ UInt64(item) >> UInt64(byte * 8) & 0xFF) &* 0x100_0000_01B3
        }
        return Int(hash % UInt64(count))
    }
}

/// Numbers from 0 of which the first are the likeliest: the *n*th by 1/*n*^0.99.
///
/// After Gray et al., *Quickly Generating Billion-Record Synthetic Databases*, 1994, as YCSB has it.
struct Zipfian {
    private static let theta = 0.99
    private static let alpha = 1 / (1 - theta)

    /// The sum of 1/*n*^0.99 over the first so many numbers.
    private var zeta = 0.0
    private var summed = 0

    init() {}

    /// So many items that each row of any table stands for several, and the sum for them, which takes minutes to make; both
    /// are YCSB's.
    static let manyItems = 10_000_000_000
    static let ofManyItems: Zipfian = {
        var zipfian = Zipfian()
        zipfian.zeta = 26.469_028_201_783_02
        zipfian.summed = manyItems
        return zipfian
    }()

    /// A number below `count`, which may only grow from call to call.
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
