internal import TidelineSupport

/// A model of the possible contents of a disk after a power loss at some position in a log of file changes.
///
/// The model is a journaling file system on a disk that writes sectors of 512 bytes atomically:
/// - Everything that a completed sync covered is present: the content of its file, and every earlier change of names
///   and sizes of any file, because file systems write their journal as a whole.
/// - Later changes of names and sizes are present up to some point, in order.
/// - After later writes, each sector has the content of some point in time, independently of the others. A sector that
///   was never written reads as zeros within the file's length. A write after a lost change of size is also lost.
struct PowerLoss: Sendable, Hashable {
    /// The extent of the loss.
    let extent: Extent
    private let seed: UInt64

    /// How much unsynced data is lost.
    enum Extent: Sendable, Hashable, CaseIterable {
        /// All unsynced data is lost.
        case everything
        /// Nothing is lost, as when the process is killed.
        case nothing
        /// A part of the last write is lost.
        case tornWrite
        /// Earlier writes are lost while later ones are present.
        case earlierWrites
        /// Random parts are lost.
        case anything

        /// A description for a message.
        var description: String {
            switch self {
            case .everything: "all unsynced data is lost"
            case .nothing: "no written data is lost"
            case .tornWrite: "the last write is only partly present"
            case .earlierWrites: "of the unsynced data, later writes are present and earlier ones are lost"
            case .anything: "of the unsynced data, some sectors are present and some are lost"
            }
        }
    }

    /// Creates a loss; the same seed loses the same data.
    init(_ extent: Extent, seed: UInt64) {
        self.extent = extent
        self.seed = seed
    }

    /// Returns the contents of the disk after the first `position` entries of a log.
    func image(of log: FileLog, at position: Int) -> FolderImage {
        let entries = log.entries[..<position]
        let pending = PendingWrites(entries)
        var chance = SplitMix64(seed: seed)
        let metadata = keptMetadata(pending.journaled, position, &chance)
        var choice = SectorChoice(extent, pending, chance)
        var disk = Disk()
        var uncut: Set<Int> = []
        for (index, entry) in entries.enumerated() {
            if case .write(let file, let offset, let bytes, _) = entry.change {
                for sector in pending.sectors(of: index) ?? [] where choice.keeps(sector, of: index) {
                    let range = sector.range(offset, bytes.count)
                    if !uncut.contains(file) { disk.write(bytes[range], to: file, at: offset + range.lowerBound) }
                }
                if pending.sectors(of: index) == nil { disk.write(bytes[...], to: file, at: offset) }
            } else if index < metadata {
                disk.apply(entry.change)
            } else if case .resize(let file, _) = entry.change {
                uncut.insert(file)
            }
        }
        return disk.image
    }

    /// Returns the number of entries before the first lost change of names or sizes.
    private func keptMetadata(_ journaled: Int, _ position: Int, _ chance: inout SplitMix64) -> Int {
        switch extent {
        case .everything: journaled
        case .nothing, .tornWrite: position
        case .earlierWrites: Bool.random(using: &chance) ? position : journaled
        case .anything: Int.random(in: journaled...position, using: &chance)
        }
    }
}

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

/// The writes in a log that are not guaranteed to be on the disk.
struct PendingWrites {
    /// The number of entries up to the last sync. Earlier changes of names and sizes are on the disk.
    private(set) var journaled = 0
    /// The pending writes, in order.
    private(set) var writes: [Int] = []
    /// The last pending write of each sector.
    private(set) var last: [Sector: Int] = [:]
    private var touched: [Int: [Sector]] = [:]
    /// The last synced write of each sector, which also made the sector's earlier content durable.
    private var settled: [Sector: Int] = [:]

    init(_ entries: ArraySlice<FileLog.Entry>) {
        var synced: [Int: Int] = [:]
        for (index, entry) in entries.enumerated() {
            if entry.change.isSync { journaled = index + 1 }
            if case .sync(let file) = entry.change { synced[file] = index }
        }
        for (index, entry) in entries.enumerated() {
            guard case .write(let file, let offset, let bytes, let isSynced) = entry.change,
                index > synced[file] ?? -1
            else { continue }
            add(Sector.all(of: file, from: offset, count: bytes.count), index, isSynced)
        }
        for (sector, index) in settled where last[sector] ?? index < index { last[sector] = nil }
    }

    private mutating func add(_ sectors: [Sector], _ index: Int, _ isSynced: Bool) {
        if isSynced {
            for sector in sectors { settled[sector] = index }
            return
        }
        writes.append(index)
        touched[index] = sectors
        for sector in sectors { last[sector] = index }
    }

    /// Returns the sectors of a pending write, or `nil` for a write that is on the disk.
    func sectors(of index: Int) -> [Sector]? { touched[index] }

    /// Returns whether a sector is guaranteed to contain the data of a write or of a later one.
    func isSettled(_ sector: Sector, since index: Int) -> Bool { settled[sector].map { $0 > index } ?? false }
}

/// A sector of a file: the unit that a disk writes completely or not at all.
struct Sector: Hashable, Sendable {
    static let size = 512

    let file: Int
    let index: Int

    /// Returns the sectors of a range of bytes.
    static func all(of file: Int, from offset: Int, count: Int) -> [Sector] {
        (offset / size..<(offset + count + size - 1) / size).map { Sector(file: file, index: $0) }
    }

    /// Returns the range of bytes, within a write at `offset`, that falls into this sector.
    func range(_ offset: Int, _ count: Int) -> Range<Int> {
        max(0, index * Sector.size - offset)..<min(count, (index + 1) * Sector.size - offset)
    }
}
