#if Serve
internal import ArgumentParser

/// The options of `serve` that choose what is configured and how. They can only be given on the command line.
struct ServeConfigurationOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Read options from a file in YAML or JSON, with their names as keys: \"port: 8080\".",
            discussion: """
                The environment variables TIDELINE_SERVE_PORT, TIDELINE_SERVE_MAX_BODY_SIZE, and so on set options too, and \
                TIDELINE_SERVE_CONFIG names the file. Options that may be repeated are lists in the file, and have \
                commas in the environment.
                """,
            valueName: "file"))
    var config: String?

    @Flag(help: "Check the options, the schema, and the store, print the changes that a start would make, and end.")
    var check = false

    @Flag(help: "Print the effective options with their sources, without secrets, and end.")
    var printConfig = false
}
#endif
