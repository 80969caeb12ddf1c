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
