#if Commands
internal import CBaselines
internal import TidelineStore

/// Identifiers for C code: their bytes in a reusable buffer.
struct IDBlock: ~Copyable {
    /// The number of identifiers to pass to C at a time, small enough for the processor's first-level cache.
    static let common = 256

    private var bytes: UnsafeMutableRawBufferPointer
    private var positions: UnsafeMutableBufferPointer<baseline_bytes>

    init() {
        bytes = .allocate(byteCount: Self.common * 40, alignment: 8)
        positions = .allocate(capacity: Self.common)
    }

    deinit {
        bytes.deallocate()
        positions.deallocate()
    }

    /// Calls `body` with identifiers whose bytes are valid until it returns.
    mutating func withIDs<T>(
        _ ids: ArraySlice<RowID>, _ body: (UnsafePointer<baseline_bytes>, Int) throws -> T
    ) throws -> T {
        var needed = 0
        for id in ids {
            guard case .string(let text) = id else { throw BaselineError("the table's identifiers must be strings") }
            needed += text.utf8.count
        }
        reserve(bytes: needed, ids: ids.count)
        guard let base = bytes.baseAddress, let first = positions.baseAddress else {
            throw BaselineError("out of memory")
        }
        var end = base
        for (position, id) in ids.enumerated() {
            guard case .string(var text) = id else { continue }
            let length = text.withUTF8 { utf8 in
                UnsafeMutableRawBufferPointer(start: end, count: utf8.count).copyBytes(from: utf8)
                return utf8.count
            }
            let start = UnsafePointer(end.assumingMemoryBound(to: UInt8.self))
            (first + position).initialize(to: baseline_bytes(start: start, length: length))
            end += length
        }
        return try body(first, ids.count)
    }

    private mutating func reserve(bytes needed: Int, ids count: Int) {
        if needed > bytes.count {
            bytes.deallocate()
            bytes = .allocate(byteCount: needed, alignment: 8)
        }
        if count > positions.count {
            positions.deallocate()
            positions = .allocate(capacity: count)
        }
    }
}

/// Calls `body` with the UTF-8 bytes of a text.
@inline(__always)
func withBytes<T>(of text: String, _ body: (baseline_bytes) throws -> T) rethrows -> T {
    var text = text
    return try text.withUTF8 { try body(baseline_bytes(start: $0.baseAddress, length: $0.count)) }
}

/// Calls `body` with the UTF-8 bytes of a string identifier.
@inline(__always)
func withBytes<T>(of id: RowID, _ body: (baseline_bytes) throws -> T) throws -> T {
    guard case .string(let text) = id else { throw BaselineError("the table's identifiers must be strings") }
    return try withBytes(of: text, body)
}
#endif
