/// A view of bytes whose owner keeps them alive while they are read.
///
/// Unsafe pointers: at every access, an `UnsafeRawBufferPointer` checks that its base address is not `nil` and computes
/// its length, which takes a tenth of the time to read a page. Callers must compare the offset with ``count`` before
/// they load bytes; debug builds check this again.
struct ByteView {
    let base: UnsafeRawPointer
    let count: Int

    init(_ bytes: UnsafeRawBufferPointer) {
        // An empty buffer may have no base address. No byte is read from it, so any address is valid.
        base = bytes.baseAddress ?? UnsafeRawPointer(StaticString("").utf8Start)
        count = bytes.count
    }

    @inline(__always)
    subscript(offset: Int) -> UInt8 {
        assert(offset >= 0 && offset < count, "the offset is out of range")
        return base.load(fromByteOffset: offset, as: UInt8.self)
    }

    @inline(__always)
    func loadUnaligned<T: BitwiseCopyable>(fromByteOffset offset: Int, as type: T.Type) -> T {
        assert(offset >= 0 && count - offset >= MemoryLayout<T>.size, "the offset is out of range")
        return base.loadUnaligned(fromByteOffset: offset, as: type)
    }

    @inline(__always)
    func slice(_ start: Int, _ end: Int) -> UnsafeRawBufferPointer {
        assert(start >= 0 && end >= start && end <= count, "the range is out of bounds")
        return UnsafeRawBufferPointer(start: base + start, count: end - start)
    }
}
