/// The actual size of a database file, and the size that its header records.
///
/// See "The Database Header" in https://sqlite.org/fileformat2.html.
struct FileExtent {
    static let headerSize = 100

    let pageSize: Int64
    private let size: Int64
    /// The number of pages in the database at the last checkpoint.
    private let recordedPages: Int64

    init(header: [UInt8], size: Int64) {
        self.size = size
        let stored = Int64(header[16]) << 8 | Int64(header[17])
        pageSize = stored == 1 ? 65_536 : max(512, stored)
        // The count is valid only if it was written by the last change of the file.
        let isValid = header[24..<28] == header[92..<96]
        recordedPages = isValid ? header[28..<32].reduce(0) { $0 << 8 | Int64($1) } : 0
    }

    /// Whether the last page is incomplete.
    var endsWithinPage: Bool { size % pageSize != 0 }

    /// The numbers of the pages that should be in the file but are missing or incomplete.
    var missingPages: Range<Int64> {
        let whole = size / pageSize
        return (whole + 1)..<(max(whole, recordedPages) + 1)
    }

    /// Whether any page is missing or incomplete.
    var lacksPages: Bool { !missingPages.isEmpty }
}
