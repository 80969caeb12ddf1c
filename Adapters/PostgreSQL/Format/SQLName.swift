internal import TidelineStore

extension String {
    /// The name under which PostgreSQL stores an object with this name. It cuts names at 63 bytes, so a longer name is
    /// replaced by its beginning and a hash of all of it. So is the name of a column that every table of PostgreSQL
    /// has.
    var storedName: String {
        guard utf8.count > Self.maximumNameLength || Self.systemColumns.contains(self) else { return self }
        var beginning = ""
        for scalar in unicodeScalars {
            guard beginning.utf8.count + UTF8.width(scalar) <= Self.maximumNameLength - 17 else { break }
            beginning.unicodeScalars.append(scalar)
        }
        return "\(beginning)~\(nameHash)"
    }

    /// The text as a quoted SQL identifier, whatever characters it contains.
    var sqlName: String { "\"\(storedName.replacingUTF8("\"", with: "\"\""))\"" }

    /// The FNV-1a hash of the UTF-8 bytes, 16 hexadecimal digits.
    var nameHash: String {
        let digits = String(utf8.stableHash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    private static let systemColumns: Set<String> = ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"]

    /// The maximum number of bytes of an identifier in PostgreSQL as it is usually built.
    static let maximumNameLength = 63
}
