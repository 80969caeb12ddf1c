// Runs the simulation for a range of seeds, and prints the first failure in one line:
//
//     SimulationProbe FIRST LAST [--vary] [--dialect kinto] [--flaw FLAW] [--timeline] [--digests]
//
// With --vary, each seed determines a world (`SimulatedWorld.vary(by:)`). With --dialect kinto, each seed determines a
// world whose devices speak the dialect of Kinto, which --flaw breaks: it is the description of a `KintoFlaw`. With
// --digests, it prints a digest of each seed's timeline, to compare builds.

import Foundation
import TidelineSimulation

let bounds = CommandLine.arguments.dropFirst().compactMap { UInt64($0) }
guard bounds.count == 2, bounds[0] <= bounds[1] else {
    let usage = "SimulationProbe FIRST LAST [--vary] [--dialect kinto] [--flaw FLAW] [--timeline] [--digests]"
    FileHandle.standardError.write(Data("usage: \(usage)\n".utf8))
    exit(64)
}
let varies = CommandLine.arguments.contains("--vary")
let speaksKinto = CommandLine.arguments.contains("kinto")
let flaw = KintoFlaw.all.first { CommandLine.arguments.contains($0.description) }
let printsDigests = CommandLine.arguments.contains("--digests")
var events = 0
for seed in bounds[0]...bounds[1] {
    do {
        let result = try await Simulation(seed: seed) { world in
            if varies { world.vary(by: seed) }
            if speaksKinto { world.varyKinto(by: seed, flaw: flaw) }
            world.recordsTimeline = printsDigests
        }.run()
        events += result.events
        if printsDigests {
            // FNV-1a, which has no seed of the process.
            let digest = result.timeline.joined(separator: "\n").utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
                ($0 ^ UInt64($1)) &* 0x100_0000_01B3
            }
            print("seed \(seed) \(String(digest, radix: 16)) \(result.events)")
            if CommandLine.arguments.contains("--timeline") { print(result.timeline.joined(separator: "\n")) }
        }
    } catch let failure as SimulationFailure {
        let steps = failure.schedule.steps.count
        print("seed \(seed), \(steps) of \(failure.originalSteps) steps, \(failure.violations[0])")
        if CommandLine.arguments.contains("--timeline") { print(failure) }
        break
    }
}
print("\(events) events")
