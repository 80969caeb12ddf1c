/// One step of a simulation: an action of a device, its user, or the server, with the faults that it meets.
///
/// A step does not depend on the steps before it: a write of a row that does not exist is an insert, and a push
/// without operations sends nothing. A failing simulation can therefore be shortened by removing steps.
public struct SimulationStep: Sendable, Hashable, Codable {
    /// An action of a device, its user, or the server.
    public enum Action: Sendable, Hashable, Codable {
        /// The user writes columns of a row. The row is inserted if the local table does not have it.
        case write(table: String, id: String, columns: [String])
        /// The user deletes a row, if the local table has it.
        case delete(table: String, id: String)
        /// The app pushes.
        case push
        /// The app pulls a table, incrementally if `queryID` is not `nil`. If `isFiltered`, it pulls the rows that
        /// match the world's filter of the table.
        case pull(table: String, queryID: String?, isFiltered: Bool)
        /// The app runs a sync that keeps its tables in step, unless one is running.
        case sync(seconds: Int)
        /// The app purges a table.
        case purge(table: String)
        /// The app purges a table with its operations.
        case forcePurge(table: String)
        /// The process ends and starts again.
        case restart
        /// The app is updated: it defines its tables with all columns.
        case update
        /// The clock of the device jumps.
        case setClock(seconds: Int)
        /// Something stands between the device and the server for a time.
        case intermediary(Intermediary, seconds: Int)
        /// The first or the second user of the device signs in.
        case signIn(user: Int)
        /// The app removes the data of its user.
        case wipe
        /// Another process of the device, with a newer version of the app, defines its tables with all columns.
        case updateElsewhere
        /// The app performs one of the author's actions.
        case custom(name: String)
        /// The server changes a row.
        case serverWrite(table: String, id: String)
        /// The server deletes a row.
        case serverDelete(table: String, id: String)
        /// The server ends and starts again.
        case serverRestart
        /// The clock of the server jumps, and the server restarts.
        case setServerClock(seconds: Int)
        /// Time passes.
        case wait(seconds: Int)
    }

    /// A fault of the network or the server, which happens to one request.
    public enum Fault: Sendable, Hashable, Codable {
        /// The request does not arrive.
        case requestLost
        /// The request is processed, but its response does not arrive.
        case responseLost
        /// Another client changes the row after the request was processed. The response arrives later, or is lost.
        case overtaken(isLost: Bool)
        /// The request arrives after the client stopped waiting, before a later step.
        case late(steps: Int)
        /// The request arrives twice.
        case doubled
        /// The server responds with a status, before or after it has processed the request.
        case status(code: Int, processed: Bool)
        /// The response has a body that is not JSON.
        case unreadable
        /// The response to a write has only the system columns of the row.
        case partial
        /// The columns of a response are named in another case.
        case otherCase
        /// The server's clock is ahead for this request.
        case ahead(seconds: Int)
        /// The server returns only the first rows of a page, without an indication.
        case cutPage
        /// The server stamps the row, and commits it later.
        case lateCommit(milliseconds: Int)
        /// The server ends at one of its calls of its store, and starts again.
        case serverCrash(call: Int)
    }

    /// The number of the step when the schedule was made. The values that the step writes, and its random choices,
    /// depend on it.
    public var number: Int
    /// The device, from 0, or `nil` for an action of the server.
    public var device: Int?
    /// The action.
    public var action: Action
    /// The number of events after which the next step begins, while this one still runs; `nil` if the next step begins
    /// after this one has ended. An event is a request, a response, a call of a store, or the start of a step.
    public var overlap: Int?
    /// The faults, by the number of the request within the step, from 1.
    public var faults: [Int: Fault]
    /// The call of the store or the network at which the device's process is killed, counted from the start of the
    /// step, from 1; `nil` if it is not.
    public var kill: Int?
    /// The number of events after which the step's task is cancelled; `nil` if it is not.
    public var cancel: Int?

    /// Creates a step.
    public init(
        _ number: Int, _ action: Action, on device: Int? = nil, overlap: Int? = nil, faults: [Int: Fault] = [:],
        kill: Int? = nil, cancel: Int? = nil
    ) {
        self.number = number
        self.action = action
        self.device = device
        self.overlap = overlap
        self.faults = faults
        self.kill = kill
        self.cancel = cancel
    }
}

extension SimulationStep.Action {
    /// The action as a Swift expression, without the leading dot: Swift's own description, except for an optional and
    /// an enumeration in it.
    var expression: String {
        switch self {
        case .pull(let table, let queryID, let isFiltered):
            "pull(table: \(table.debugDescription), queryID: \(queryID?.debugDescription ?? "nil"), "
                + "isFiltered: \(isFiltered))"
        case .intermediary(let intermediary, let seconds): "intermediary(.\(intermediary), seconds: \(seconds))"
        default: "\(self)"
        }
    }
}

extension SimulationStep: CustomStringConvertible {
    /// The step as a Swift expression.
    public var description: String {
        var parts = ["\(number)", ".\(action.expression)"]
        if let device { parts.append("on: \(device)") }
        if let overlap { parts.append("overlap: \(overlap)") }
        if !faults.isEmpty {
            let list = faults.sorted { $0.key < $1.key }.map { "\($0.key): .\($0.value)" }
            parts.append("faults: [\(list.joined(separator: ", "))]")
        }
        if let kill { parts.append("kill: \(kill)") }
        if let cancel { parts.append("cancel: \(cancel)") }
        return "SimulationStep(\(parts.joined(separator: ", ")))"
    }
}

/// A complete plan of a simulation, which repeats exactly.
public struct SimulationSchedule: Sendable, Hashable, Codable {
    /// The seed of everything that the steps do not determine, such as the order of concurrent tasks.
    public var seed: UInt64
    /// The number of devices.
    public var devices: Int
    /// The raw value of the server's `ServerQuirks`.
    public var serverQuirks: Int
    /// The number of services that serve the server's store: 1 to 8.
    public var services: Int
    /// The steps, in the order in which they begin.
    public var steps: [SimulationStep]

    /// Creates a schedule.
    public init(seed: UInt64, devices: Int, serverQuirks: Int = 0, services: Int = 1, steps: [SimulationStep]) {
        self.seed = seed
        self.devices = devices
        self.serverQuirks = serverQuirks
        self.services = services
        self.steps = steps
    }
}
