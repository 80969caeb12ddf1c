internal import TidelineSupport

/// What a disk may have when the power goes at some place in a log of file changes.
///
/// The model is that of a journaling file system on a disk that writes sectors of 512 bytes whole:
/// - What a sync that has ended covered is there: the content of its file, and every change of names and sizes before
///   it, of any file, as file systems write their journal as a whole.
/// - Later changes of names and sizes are there up to some moment, in their order.
/// - Of the writes since, each sector has what it had at some moment, whatever the others have; one that was never
///   written reads zero where the file is longer. A write behind a change of size that is lost is lost, too.
struct PowerLoss: Sendable, Hashable {
    /// How much of what was not synced is lost.
    let extent: Extent
    private let seed: UInt64

    /// How much of what was not synced is lost.
    enum Extent: Sendable, Hashable, CaseIterable {
        /// All of it.
        case everything
        /// Nothing: as when the process is killed.
        case nothing
        /// A part of the last write.
        case tornWrite
        /// Earlier writes, while later ones are there.
        case earlierWrites
        /// Any of it.
        case anything

        /// For a message.
        var description: String {
            switch self {
            case .everything: "all that was not synced is lost"
            case .nothing: "nothing that was written is lost"
            case .tornWrite: "the last write is there in part"
            case .earlierWrites: "of what was not synced, later writes are there and earlier ones are not"
            case .anything: "of what was not synced, some sectors are there and some are not"
            }
        }
    }

    /// A loss; the same seed loses the same.
    init(_ extent: Extent, seed: UInt64) {
        self.extent = extent
        self.seed = seed
    }

    /// What is on the disk after the first so many entries of a log.
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

    /// How many entries there are before the first change of names or sizes that is lost.
    private func keptMetadata(_ journaled: Int, _ position: Int, _ chance: inout SplitMix64) -> Int {
        switch extent {
        case .everything: journaled
        case .nothing, .tornWrite: position
        case .earlierWrites: Bool.random(using: &chance) ? position : journaled
        case .anything: Int.random(in: journaled...position, using: &chance)
        }
    }
}
