internal import TidelineSupport

/// Chooses the sectors of pending writes that are on the disk after a power loss.
struct SectorChoice {
    private let extent: PowerLoss.Extent
    private let pending: PendingWrites
    private var chance: SplitMix64
    /// The write that determines the choice: the last one, or the first one that is present.
    private let deciding: Int
    /// The sectors of the last write that are present.
    private let torn: Range<Int>
    /// The number of adjacent sectors that are lost or kept together.
    private let stride: Int
    /// The entry whose content each sector has.
    private var moments: [Sector: Int] = [:]

    init(_ extent: PowerLoss.Extent, _ pending: PendingWrites, _ chance: SplitMix64) {
        var chance = chance
        self.extent = extent
        self.pending = pending
        let last = pending.writes.last ?? 0
        deciding = extent == .earlierWrites ? pending.writes.dropFirst().randomElement(using: &chance) ?? 0 : last
        torn = SectorChoice.tornPart(pending.sectors(of: last)?.first, pending.sectors(of: last)?.count ?? 0, &chance)
        // A disk tears writes between sectors; a file system writes pages.
        stride = Bool.random(using: &chance) ? 1 : 8
        self.chance = chance
    }

    /// Returns the first sectors of a write, or sometimes the last ones, but never all.
    private static func tornPart(_ first: Sector?, _ count: Int, _ chance: inout SplitMix64) -> Range<Int> {
        guard let first, count > 0 else { return 0..<0 }
        let kept = Int.random(in: 0..<count, using: &chance)
        let start = Int.random(in: 0..<4, using: &chance) == 0 ? first.index + count - kept : first.index
        return start..<start + kept
    }

    /// Returns whether a sector contains the data of a write.
    mutating func keeps(_ sector: Sector, of write: Int) -> Bool {
        if pending.isSettled(sector, since: write) { return true }
        return switch extent {
        case .everything: false
        case .nothing: true
        case .tornWrite: write != deciding || torn.contains(sector.index)
        case .earlierWrites: pending.last[sector].map { $0 >= deciding } ?? true
        case .anything: write < moment(of: sector)
        }
    }

    private mutating func moment(of sector: Sector) -> Int {
        let group = Sector(file: sector.file, index: sector.index / stride)
        if let known = moments[group] { return known }
        let moment =
            switch Int.random(in: 0..<4, using: &chance) {
            case 0: 0
            case 1: Int.max
            default: (pending.writes.randomElement(using: &chance) ?? 0) + 1
            }
        moments[group] = moment
        return moment
    }
}
