#if Serve
internal import ArgumentParser
internal import TidelineSupport

/// Checks that the words begin with a command of `parent`.
/// - Throws: `ValidationError`, with the most similar command, if they do not.
func requireKnownCommand(_ words: ArraySlice<String>, of parent: any ParsableCommand.Type) throws {
    let commands = parent.configuration.subcommands
    guard let word = words.first, !word.hasPrefix("-"), word != "help", !commands.isEmpty else { return }
    let names = commands.compactMap { $0.configuration.commandName }
    for command in commands where command.configuration.commandName == word {
        return try requireKnownCommand(words.dropFirst(), of: command)
    }
    throw ValidationError(
        "there is no command \(word.debugDescription)." + suggestion(for: word, among: names)
            + " The commands are: \(names.joined(separator: ", ")).")
}
#endif
