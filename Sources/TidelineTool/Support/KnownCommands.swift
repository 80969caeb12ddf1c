internal import ArgumentParser
internal import TidelineCommandSupport

extension ParsableCommand {
    /// Refuses words that begin with no command of this one, with the command that may be meant.
    /// - Throws: `ValidationError`.
    static func requireKnownCommand(_ words: some Collection<String>) throws {
        let commands = configuration.subcommands
        guard let word = words.first, !word.hasPrefix("-"), word != "help", !commands.isEmpty else { return }
        if let command = commands.first(where: { $0.configuration.commandName == word }) {
            return try command.requireKnownCommand(words.dropFirst())
        }
        let names = commands.compactMap(\.configuration.commandName)
        throw ValidationError(
            "there is no command \(word.debugDescription)." + suggestion(for: word, among: names)
                + " The commands are: \(names.joined(separator: ", ")).")
    }
}
