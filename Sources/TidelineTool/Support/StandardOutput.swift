internal import Foundation

/// Standard output, line by line and unbuffered, so that a program that reads it sees each line at once.
enum StandardOutput {
    /// Writes a line. That nobody reads any more is no failure of the command.
    static func line(_ text: String) { try? FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8)) }
}
