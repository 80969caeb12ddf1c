#if Macros
internal import SwiftDiagnostics
internal import SwiftSyntax

/// The errors found in a declaration, each at the source that causes it.
struct Problems {
    private(set) var diagnostics: [Diagnostic] = []

    var isEmpty: Bool { diagnostics.isEmpty }

    /// Adds an error at a node.
    ///
    /// - Parameters:
    ///   - message: States the error and what to do.
    ///   - fix: A change that corrects the error.
    ///   - note: Another node that the error concerns, with what it is.
    mutating func add(
        _ message: String, at node: some SyntaxProtocol, fix: Fix? = nil, note: (node: Syntax, text: String)? = nil
    ) {
        diagnostics.append(
            Diagnostic(
                node: node, message: Message(message: message),
                notes: note.map { [Note(node: $0.node, message: Message(message: $0.text))] } ?? [],
                fixIts: fix.map { [FixIt(message: Message(message: $0.title), changes: $0.changes)] } ?? []))
    }
}

/// A change of the source that an editor offers.
struct Fix {
    let title: String
    let changes: [FixIt.Change]

    /// Replaces a node, and keeps the space around it.
    static func replace(_ title: String, _ old: some SyntaxProtocol, with new: some SyntaxProtocol) -> Fix {
        let new = Syntax(new).with(\.leadingTrivia, old.leadingTrivia).with(\.trailingTrivia, old.trailingTrivia)
        return Fix(title: title, changes: [.replace(oldNode: Syntax(old), newNode: new)])
    }
}

private struct Message: DiagnosticMessage, NoteMessage, FixItMessage {
    let message: String

    var severity: DiagnosticSeverity { .error }
    var diagnosticID: MessageID { MessageID(domain: "Tideline", id: "Table") }
    var noteID: MessageID { diagnosticID }
    var fixItID: MessageID { diagnosticID }
}
#endif
