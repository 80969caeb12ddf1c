#if Tool
internal import ArgumentParser
internal import Foundation
internal import Tideline
internal import TidelineSimulation
internal import TidelineSupport

/// `tideline simulate`: searches for seeds whose simulation violates a promise of the sync core.
struct SimulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Simulate devices, a network and a server with faults, and check that nothing is lost.",
        discussion: """
            Each seed determines a simulation completely: the actions of the devices, the faults, and the order of \
            concurrent work. A violation is printed with the shortest schedule that was found to lead to it.

            Exit status: 0 without a violation, 1 after a violation or a failure, 2 for an invalid command line or \
            schedule, or a schedule that cannot be saved, 130 after an interruption.
            """
    )

    @Option(
        help: ArgumentHelp(
            "The seeds to simulate, such as 1..1000, or one seed.", discussion: "The default is 1..1000.",
            valueName: "range"),
        transform: SeedRange.init(parsing:))
    var seeds: SeedRange?

    @Option(
        help: ArgumentHelp(
            "Simulate the first seed and those after it for this time, in minutes, such as 0.5.",
            valueName: "number"))
    var minutes: Double?

    @Option(help: ArgumentHelp("The number of devices; 3 by default.", valueName: "number"))
    var devices: Int?

    @Option(
        help: ArgumentHelp(
            "The number of steps before the final synchronization; 24 by default, 32 with --vary.", valueName: "number")
    )
    var steps: Int?

    @Option(
        help: ArgumentHelp("The greatest number of rows that the devices share; 3 by default.", valueName: "number"))
    var rows: Int?

    @Option(
        help: ArgumentHelp(
            "The greatest number of services over the server's store; 2 by default, which some seeds have.",
            discussion: """
                With more than 2, and the fault server, all seeds have at least 2. With more than 2 services, the devices \
                pull without a look-back, unless the timestamps have whole milliseconds.
                """,
            valueName: "number"))
    var services: Int?

    @Option(
        help: ArgumentHelp(
            "The faults to inject: all, none, or a list of \(FaultList.names.joined(separator: ", ")).",
            discussion: "The default is all.", valueName: "list"),
        transform: FaultList.init(parsing:))
    var faults: FaultList?

    @Option(
        help: ArgumentHelp(
            "The dialect that devices and server speak: \(DialectOption.names).",
            discussion: "The default is zumo2.", valueName: "name"),
        transform: DialectOption.client)
    var dialect = ServerDialect.zumo2

    @Option(
        help: ArgumentHelp(
            "The stores of the devices and of the server: \(StoreEngine.all.map(\.name).joined(separator: ", ")).",
            discussion: """
                The default is memory. Settings follow the name: NAME,SETTING=VALUE. The files are in a temporary \
                folder, which is removed.
                """,
            valueName: "name"),
        transform: SimulatedStoreKind.init(parsing:))
    var store: SimulatedStoreKind?

    @Flag(
        help: ArgumentHelp(
            "Vary the dialect, the tables, the conflict policy, and the numbers of requests, services, and clients.",
            discussion: "Each seed determines them. The devices also edit in transactions, and sync by themselves."))
    var vary = false

    @Option(
        help: ArgumentHelp(
            "The number of simulations to run at the same time; the number of cores by default.", valueName: "number"))
    var jobs: Int = min(256, ProcessInfo.processInfo.activeProcessorCount)

    @Option(
        help: ArgumentHelp("Repeat a schedule in JSON, as --save writes it; - is standard input.", valueName: "file"))
    var replay: String?

    @Option(
        help: ArgumentHelp(
            "Write the schedule as JSON: the shortened one after a violation, or that of a single seed.",
            valueName: "file"))
    var save: String?

    @Flag(help: "Print the events of a single seed or of a schedule, even without a violation.")
    var timeline = false

    @Flag(help: "Print the result or the violation as JSON.")
    var json = false

    func validate() throws {
        if let devices { try confirm(devices, in: 1...64, "--devices") }
        if let steps { try confirm(steps, in: 0...100_000, "--steps") }
        if let rows { try confirm(rows, in: 1...1000, "--rows") }
        if let services { try confirm(services, in: 1...8, "--services") }
        try confirm(jobs, in: 1...256, "--jobs")
        if let minutes, !(minutes > 0 && minutes <= 1_000_000) {
            throw ValidationError("--minutes must be more than 0 and at most 1000000, not \(minutes).")
        }
        if timeline, !isSingle {
            throw ValidationError("--timeline needs a single seed, such as --seeds 7, or --replay.")
        }
        if vary, dialect != .zumo2 {
            throw ValidationError("--dialect cannot be combined with --vary, because the seed determines the dialect.")
        }
        if save == "-" {
            throw ValidationError("--save needs a file; --json prints the schedule of a violation on standard output.")
        }
        guard replay != nil else { return }
        let others = [
            ("seeds", seeds != nil), ("minutes", minutes != nil), ("devices", devices != nil), ("steps", steps != nil),
            ("rows", rows != nil), ("services", services != nil), ("faults", faults != nil),
        ]
        if let (name, _) = others.first(where: \.1) {
            throw ValidationError("--\(name) cannot be combined with --replay, because the schedule determines it.")
        }
    }

    func run() async throws {
        // A schedule is saved and files are removed even if standard output is closed.
        signal(SIGPIPE, SIG_IGN)
        let output = try save.map { try Output(path: $0, option: "--save") }
        let schedule = try replay.map { try ScheduleFile.read($0) }
        let status = try await SimulationSession(self, schedule: schedule, output: output).run()
        if status != 0 { throw ExitCode(status) }
    }

    /// Whether there is only one simulation.
    var isSingle: Bool { replay != nil || minutes == nil && seeds.map { $0.first == $0.last } ?? false }

    /// The command that repeats the simulation of a seed, or the schedule in a file, by default that of `--replay`.
    func repetition(of seed: UInt64, schedule file: String? = nil) -> String {
        var words = ["tideline", "simulate"]
        if let file = file ?? replay {
            words += ["--replay", file]
        } else {
            words += ["--seeds", "\(seed)"]
            for (name, number) in [("devices", devices), ("steps", steps), ("rows", rows), ("services", services)] {
                if let number { words += ["--\(name)", "\(number)"] }
            }
            if let faults { words += ["--faults", faults.text] }
        }
        if dialect != .zumo2 { words += ["--dialect", dialect.description] }
        if vary { words.append("--vary") }
        if let store { words += ["--store", store.text] }
        return words.map(shellWord).joined(separator: " ")
    }

    /// Changes the world of a seed as the options say.
    func configure(_ world: inout SimulatedWorld, seed: UInt64) {
        if vary { world.vary(by: seed) }
        world.devices = devices ?? world.devices
        world.steps = steps ?? world.steps
        world.rows = rows ?? world.rows
        world.services = services ?? world.services
        world.faults = faults?.faults ?? world.faults
        if !vary { world.dialect = dialect }
        world.recordsTimeline = timeline
    }
}
#endif
