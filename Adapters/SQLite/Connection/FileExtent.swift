/// How large a database file is, and how large its header says it is.
///
/// See "The Database Header" in https://sqlite.org/fileformat2.html.
struct FileExtent {
    static let headerSize = 100

    let pageSize: Int64
    private let size: Int64
    /// How many pages the database had when pages were last moved from the log to the file.
    private let recordedPages: Int64

    init(header: [UInt8], size: Int64) {
        self.size = size
        let stored = Int64(header[16]) << 8 | Int64(header[17])
        pageSize = stored == 1 ? 65_536 : max(512, stored)
        // The count is valid for one state of the file only.
        let isValid = header[24..<28] == header[92..<96]
        recordedPages = isValid ? header[28..<32].reduce(0) { $0 << 8 | Int64($1) } : 0
    }

    /// Whether the last page is not whole.
    var endsWithinPage: Bool { size % pageSize != 0 }

    /// The numbers of the pages that the file should have and has not, or not as a whole.
    var missingPages: Range<Int64> {
        let whole = size / pageSize
        return (whole + 1)..<(max(whole, recordedPages) + 1)
    }

    /// Whether there are such pages.
    var lacksPages: Bool { !missingPages.isEmpty }
}
