/// One promise that every local store keeps, and the code that holds a store to it.
///
/// The checks are data: ``all`` is the one list, from which runs, reports and the documentation are made. An id never
/// changes its meaning and is never used again.
public struct Check: Sendable, Identifiable {
    /// The stable name, such as `UPS-004`: the group's code and a number.
    public let id: String
    /// What part of a store it is about.
    public let group: CheckGroup
    /// What kind of promise it is.
    public let tier: CheckTier
    /// The promise, in one line.
    public let promise: String
    /// Why the promise is asked for, and what mistakes break it; empty where the promise says all.
    public let explanation: String
    /// What the store must declare and the harness must offer, for the check to run.
    public let needs: [CheckNeed]

    let body: @Sendable (Trial) throws -> Void

    /// A check of the list.
    ///
    /// - Parameters:
    ///   - id: The group's code, a hyphen, three digits.
    ///   - promise: What a store does, in the present tense, without a full stop.
    ///   - why: Why it is asked for, and what mistakes break it; for `--explain`.
    ///   - tier: By default ``CheckTier/required``, or ``CheckTier/capability`` where a capability is needed.
    ///   - needs: What must be declared and offered.
    init(
        _ id: String, _ promise: String, why explanation: String = "", tier: CheckTier? = nil,
        needs: [CheckNeed] = [], body: @escaping @Sendable (Trial) throws -> Void
    ) {
        let code = String(id.prefix { $0 != "-" })
        guard let group = CheckGroup(rawValue: code) else {
            preconditionFailure("no group of checks is called \(code)")
        }
        self.id = id
        self.group = group
        self.tier = tier ?? (needs.contains(where: \.isCapability) ? .capability : .required)
        self.promise = promise
        self.explanation = explanation
        self.needs = needs
        self.body = body
    }
}

extension Check: Hashable, CustomStringConvertible {
    public static func == (a: Check, b: Check) -> Bool { a.id == b.id }
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
    /// The id and the promise.
    public var description: String { "\(id) \(promise)" }
}
