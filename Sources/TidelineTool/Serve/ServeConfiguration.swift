#if Serve
internal import ArgumentParser
internal import Foundation
internal import TidelineStore
internal import TidelineSupport
internal import Yams

/// The options of `serve` from a file, the environment, and the command line, in ascending order of precedence.
///
/// The keys of the file are the names of the options without their dashes. The variables of the environment have the
/// prefix `TIDELINE_SERVE_`, such as `TIDELINE_SERVE_MAX_BODY_SIZE`. An option that is repeated on the command line is
/// a list in the file, and has commas in the environment. The values become arguments, which the parser of the command
/// checks.
struct ServeConfiguration {
    /// An option and its source.
    struct Entry {
        var option: ConfigurableOption
        /// The name that was given, one of the option's.
        var name: String
        var values: [String]
        /// The location for messages, such as `server.yaml:3`.
        var source: String

        /// The option as arguments of the command.
        var arguments: [String] {
            guard option.isFlag else { return values.map { "--\(name)=\($0)" } }
            if values.last == "true" { return ["--\(name)"] }
            return option.names.first { $0 == "no-\(name)" || "no-\($0)" == name }.map { ["--\($0)"] } ?? []
        }
    }

    static let prefix = "TIDELINE_SERVE_"
    /// The options that only the command line can contain.
    private static let commandLineOnly = ["check", "config", "print-config", "help", "version"]

    private let options: [ConfigurableOption]
    /// The options of the file and the environment that no source of higher precedence contains.
    private(set) var entries: [Entry] = []
    private let commandLine: [String]

    /// Collects the options.
    ///
    /// - Parameter commandLine: The arguments after `serve`.
    /// - Throws: `ValidationError`, with file and line or the variable, for an unknown option or an invalid file.
    init(commandLine: [String], environment: [String: String]) throws {
        options = try ConfigurableOption.all(of: ServeCommand.self)
        self.commandLine = commandLine
        let path = Self.values(of: "config", in: commandLine).last ?? environment["\(Self.prefix)CONFIG"]
        let file = try path.map(fileEntries) ?? []
        let variables = try environmentEntries(environment)
        let given = Set(commandLine.compactMap(Self.name))
        func isFree(_ entry: Entry, _ higher: [Entry]) -> Bool {
            !entry.option.names.contains { given.contains($0) } && !higher.contains { $0.option == entry.option }
        }
        entries = file.filter { isFree($0, variables) } + variables.filter { isFree($0, []) }
    }

    /// All arguments for the command. The parser accepts the last of several values.
    var arguments: [String] { entries.flatMap(\.arguments) + commandLine }

    /// Returns an error with the source of the option that causes it, if one alone does.
    func located(_ error: any Error) -> any Error {
        let message = ServeCommand.message(for: error)
        for entry in entries {
            do {
                _ = try ServeCommand.parse(entry.arguments)
            } catch let other where ServeCommand.message(for: other) == message {
                return ValidationError("\(entry.source): \(message)")
            } catch {
                continue
            }
        }
        return error
    }

    // MARK: Sources

    private func fileEntries(_ path: String) throws -> [Entry] {
        let root: Node?
        do {
            root = try InputFile.yaml(InputFile.text(path, kind: "configuration file"), file: path)
        } catch {
            throw ValidationError("\(error)")
        }
        guard let root, root.scalar?.string.isEmpty != true else { return [] }
        guard let mapping = root.mapping else {
            throw ValidationError("\(path): the file must map names of options to values, such as \"port: 8080\".")
        }
        return try mapping.map { key, value in
            let source = "\(path):\(key.mark?.line ?? 1)"
            let name = key.scalar?.string ?? ""
            let option = try option(name, source, shownAs: { $0 })
            guard let values = value.scalar.map({ [$0.string] }) ?? value.sequence.flatMap(Self.scalars),
                option.isRepeating || values.count == 1
            else {
                throw ValidationError(
                    "\(source): \(name) must have \(option.isRepeating ? "a list of values" : "one value").")
            }
            return try entry(option, name, values, source)
        }
    }

    private static func scalars(_ sequence: Node.Sequence) -> [String]? {
        let values = sequence.compactMap { $0.scalar?.string }
        return values.count == sequence.count ? values : nil
    }

    private func environmentEntries(_ environment: [String: String]) throws -> [Entry] {
        let links = Set(Self.serviceLinks(in: environment))
        let names = environment.keys.filter {
            $0.hasPrefix(Self.prefix) && $0 != "\(Self.prefix)CONFIG" && !links.contains($0)
        }
        return try names.sorted().map { variable in
            let name = variable.dropFirst(Self.prefix.count).lowercased().replacing("_", with: "-")
            let option = try option(name, "the environment", shownAs: Self.variable)
            let text = environment[variable] ?? ""
            let values = option.isRepeating ? text.split(separator: ",").map(String.init) : [text]
            guard !values.isEmpty else { throw ValidationError("\(variable): there is no value; unset the variable.") }
            return try entry(option, name, values, variable)
        }
    }

    /// Returns the variables that Kubernetes sets in each container for a service named `tideline-serve`, or
    /// for one whose name begins with `tideline-serve-`.
    static func serviceLinks(in environment: [String: String]) -> [String] {
        environment.keys.sorted().filter { variable in
            guard variable.hasPrefix(prefix) else { return false }
            let name = variable.dropFirst(prefix.count)
            let link = /(.+_)?(SERVICE_HOST|SERVICE_PORT(_.+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)/
            if name.wholeMatch(of: link) != nil { return true }
            return name.wholeMatch(of: /(.+_)?PORT/) != nil
                && environment[variable]?.prefixMatch(of: /(tcp|udp|sctp):\/\//) != nil
        }
    }

    private static func variable(_ name: String) -> String {
        prefix + name.uppercased().replacing("-", with: "_")
    }

    private func option(_ name: String, _ source: String, shownAs show: (String) -> String) throws -> ConfigurableOption
    {
        guard !Self.commandLineOnly.contains(name) else {
            throw ValidationError("\(source): \(show(name)) can only be given on the command line.")
        }
        if let option = options.first(where: { $0.names.contains(name) }) { return option }
        let names = options.flatMap(\.names).filter { !Self.commandLineOnly.contains($0) }
        throw ValidationError(
            "\(source): there is no option \(show(name).debugDescription)."
                + suggestion(for: show(name), among: names.map(show)))
    }

    private func entry(
        _ option: ConfigurableOption, _ name: String, _ values: [String], _ source: String
    ) throws -> Entry {
        if option.isFlag, values != ["true"], values != ["false"] {
            throw ValidationError("\(source): \(name) must be true or false.")
        }
        return Entry(option: option, name: name, values: values, source: source)
    }

    // MARK: The command line

    private static func name(_ argument: String) -> String? {
        guard argument.hasPrefix("--"), argument.count > 2 else { return nil }
        return String(argument.dropFirst(2).prefix { $0 != "=" })
    }

    private static func values(of name: String, in commandLine: [String]) -> [String] {
        commandLine.indices.compactMap { index in
            let argument = commandLine[index]
            if argument.hasPrefix("--\(name)=") { return String(argument.dropFirst(name.count + 3)) }
            return argument == "--\(name)" && index + 1 < commandLine.count ? commandLine[index + 1] : nil
        }
    }

    // MARK: Effective values

    /// The effective values as a configuration file, with their sources as comments. Values that may be secret are
    /// hidden.
    var description: String {
        options.compactMap { option in
            guard let name = option.names.first, !Self.commandLineOnly.contains(name) else { return nil }
            let (values, source) = effective(option, name)
            guard !values.isEmpty else { return "# \(name):" }
            let texts = values.map { option.isSecret ? "(hidden)" : Self.scalar($0) }
            return "\(name): \(option.isRepeating ? "[\(texts.joined(separator: ", "))]" : texts[0])  # \(source)"
        }.joined(separator: "\n")
    }

    private func effective(_ option: ConfigurableOption, _ name: String) -> (values: [String], source: String) {
        for other in option.names where commandLine.compactMap(Self.name).contains(other) {
            let values = option.isFlag ? [other == name ? "true" : "false"] : Self.values(of: other, in: commandLine)
            return (option.isRepeating ? values : values.suffix(1), "command line")
        }
        if let entry = entries.first(where: { $0.option == option }) {
            guard option.isFlag, entry.name != name else { return (entry.values, entry.source) }
            return ([entry.values == ["true"] ? "false" : "true"], entry.source)
        }
        return (
            option.defaultValue.map { [$0] } ?? (option.isFlag && option.names.count == 1 ? ["false"] : []), "default"
        )
    }

    private static func scalar(_ text: String) -> String {
        text.wholeMatch(of: /[A-Za-z0-9_.\/-]+/) == nil ? "'\(text.replacingUTF8("'", with: "''"))'" : text
    }
}

/// An option of a command that a file or the environment can contain, as the command's parser describes it.
struct ConfigurableOption: Equatable {
    /// The names without dashes. A flag may have a second one that negates it.
    var names: [String]
    var isFlag: Bool
    var isRepeating: Bool
    var defaultValue: String?

    /// Whether a value may be a secret, which is then not printed.
    var isSecret: Bool { names.contains { $0.hasSuffix("secret") || $0.hasSuffix("password") || $0.hasSuffix("key") } }

    static func all(of command: any ParsableCommand.Type) throws -> [ConfigurableOption] {
        struct Tool: Decodable {
            struct Command: Decodable { var arguments: [Argument]? }
            struct Argument: Decodable {
                struct Name: Decodable { var kind, name: String }
                var kind: String
                var isRepeating: Bool
                var names: [Name]?
                var defaultValue: String?
            }
            var command: Command
        }
        let tool = try JSONDecoder().decode(Tool.self, from: Data(command._dumpHelp().utf8))
        let options = (tool.command.arguments ?? []).compactMap { argument -> ConfigurableOption? in
            let names = (argument.names ?? []).filter { $0.kind == "long" }.map(\.name)
            guard !names.isEmpty else { return nil }
            return ConfigurableOption(
                names: names, isFlag: argument.kind == "flag", isRepeating: argument.isRepeating,
                defaultValue: argument.defaultValue)
        }
        // The parser describes a flag and its negation separately.
        let names = Set(options.flatMap(\.names))
        return options.compactMap { option in
            guard option.isFlag, option.names.count == 1, let name = option.names.first else { return option }
            if name.hasPrefix("no-"), names.contains(String(name.dropFirst(3))) { return nil }
            var option = option
            if names.contains("no-\(name)") { option.names.append("no-\(name)") }
            // The parser describes the default of a flag by its name.
            option.defaultValue = option.defaultValue.map { $0 == "--\(name)" ? "true" : "false" }
            return option
        }
    }
}
#endif
