internal import Foundation
internal import TidelineStore

/// Ends a program of this package that was built without a trait that it needs: prints the command that builds and runs
/// it with the trait, and exits with status 1.
package func exitForMissingTrait(_ trait: String) -> Never {
    let arguments = CommandLine.arguments
    let program = URL(fileURLWithPath: arguments[0]).lastPathComponent
    let words = arguments.dropFirst().map { word in
        let isPlain = !word.isEmpty && word.allSatisfy { $0.isLetter || $0.isNumber || "-_./:=,%+@".contains($0) }
        return isPlain ? word : "'\(word.replacingUTF8("'", with: "'\\''"))'"
    }
    let command = (["swift run --traits", trait, program] + words).joined(separator: " ")
    let text = "error: this build does not have the trait \(trait). Run:\n    \(command)\n"
    FileHandle.standardError.write(Data(text.utf8))
    exit(1)
}
