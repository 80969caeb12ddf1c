#if Serve
internal import ArgumentParser
internal import TidelineSupport

/// The `name=value` settings after a store's path.
struct StoreSettings: Sendable {
    private var values: [String: String] = [:]

    /// Parses the settings of an engine.
    /// - Throws: `ValidationError` if a part is not a setting, or a name is unknown or repeated.
    init(_ parts: some Sequence<String>, of engine: StoreEngine) throws {
        for part in parts {
            guard let sign = part.firstIndex(of: "=") else {
                throw ValidationError(
                    "\(part.debugDescription) is not a setting; write NAME=VALUE, and double each comma in a path.")
            }
            let name = String(part[..<sign])
            guard !engine.settings.isEmpty else { throw ValidationError("\(engine.name) has no settings.") }
            guard engine.settings.contains(name) else {
                throw ValidationError(
                    "\(engine.name) has no setting \(name.debugDescription)."
                        + suggestion(for: name, among: engine.settings)
                        + " Its settings are: \(engine.settings.joined(separator: ", ")).")
            }
            guard values.updateValue(String(part[part.index(after: sign)...]), forKey: name) == nil else {
                throw ValidationError("the setting \(name.debugDescription) is given more than once.")
            }
        }
    }

    /// Returns these settings with another value of one of them.
    func setting(_ name: String, to value: String) -> StoreSettings {
        var settings = self
        settings.values[name] = value
        return settings
    }

    /// Returns the value of a setting, or `nil` if the setting is not given.
    func text(_ name: String) -> String? { values[name] }

    /// Returns the value of a setting with a fixed set of values, or `nil` if the setting is not given.
    func choice<T>(_ name: String, _ choices: [String: T]) throws -> T? {
        try value(name, choices.keys.sorted().joined(separator: " or ")) { choices[$0] }
    }

    /// Returns whether a setting is `yes`. A setting that is not given is `no`.
    func isOn(_ name: String) throws -> Bool { try choice(name, ["yes": true, "no": false]) ?? false }

    /// Returns a setting in seconds, from 0 to one day, or `nil` if the setting is not given.
    func seconds(_ name: String) throws -> Duration? {
        try value(name, "a number of seconds from 0 to 86400") { text in
            guard let seconds = Double(text), (0...86_400).contains(seconds) else { return nil }
            return Duration.seconds(seconds)
        }
    }

    /// Returns a setting that is a whole number, or `nil` if the setting is not given.
    func number(_ name: String, in range: ClosedRange<Int>) throws -> Int? {
        try value(name, "a whole number from \(range.lowerBound) to \(range.upperBound)") { text in
            guard let number = Int(text), range.contains(number) else { return nil }
            return number
        }
    }

    /// Returns a number of bytes from 64 KiB to 64 TiB, or `nil` if the setting is not given. The text is a whole
    /// number, optionally followed by K, M, G or T for powers of 1024.
    func bytes(_ name: String) throws -> Int? {
        let units: [Character: Int] = ["K": 10, "M": 20, "G": 30, "T": 40]
        return try value(name, "a number of bytes from 64K to 64T, such as 256M") { text in
            let shift = text.last.flatMap { units[$0] }
            let number = Int(shift == nil ? text[...] : text.dropLast())
            guard let number, number > 0, let bytes = Int(exactly: Double(number) * Double(1 << (shift ?? 0))),
                (1 << 16...1 << 46).contains(bytes)
            else { return nil }
            return bytes
        }
    }

    /// Returns the value of a setting, or `nil` if the setting is not given.
    /// - Throws: `ValidationError`, with what is expected, if `read` returns `nil` for the text.
    private func value<T>(_ name: String, _ expected: String, _ read: (String) -> T?) throws -> T? {
        guard let text = values[name] else { return nil }
        guard let value = read(text) else {
            throw ValidationError("\(name) must be \(expected), not \(text.debugDescription).")
        }
        return value
    }
}
#endif
