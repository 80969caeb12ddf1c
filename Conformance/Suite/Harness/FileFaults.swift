/// Makes the file calls of this process fail, and records them.
///
/// The suite's own implementation is `InterposedFiles` of the library `TidelineFaults`; a store that reaches its files
/// through a layer of its own may have its own.
public protocol FileFaults: Sendable {
}
