/// The name of a key space's database: its number as eight hexadecimal digits.
enum SpaceName {
    static let length = 8

    static func of(_ space: UInt32) -> String {
        let digits = String(space, radix: 16)
        return String(repeating: "0", count: length - digits.count) + digits
    }

    /// Returns the space of a database with the given name, or `nil` for a name that this engine does not use.
    static func space(named name: UnsafeRawBufferPointer) -> UInt32? {
        guard name.count == length else { return nil }
        var space: UInt32 = 0
        for byte in name {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): space = space << 4 | UInt32(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): space = space << 4 | UInt32(byte - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return space
    }
}
