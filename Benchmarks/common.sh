# Shared by the scripts in this folder, which source it.

# Builds a product of the package in release, and sets `tool` to its path.
build_tool() {
    local scratch=${TIDELINE_SCRATCH_PATH:-.build}
    SWIFT_DETERMINISTIC_HASHING=1 swift build --traits Benchmark -c release --product "$1" --scratch-path "$scratch" >&2
    tool=$(swift build --traits Benchmark -c release --show-bin-path --scratch-path "$scratch")/$1
}

# Starts a PostgreSQL server in `folder` with the given options, and sets `database` to its process and `programs` to the folder
# of its programs, which connect to it by the environment.
start_postgresql() {
    programs=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
    [ -x "$programs/initdb" ] || { echo "error: PostgreSQL is not installed; run: apt-get install postgresql" >&2; exit 1; }
    # PostgreSQL refuses to run as root.
    local as_user=()
    if [ "$(id -u)" = 0 ]; then as_user=(setpriv --reuid nobody --regid nogroup --clear-groups); fi
    chmod 755 "$folder"
    mkdir "$folder/pg"
    if [ "$(id -u)" = 0 ]; then chown nobody "$folder/pg"; fi
    "${as_user[@]}" "$programs/initdb" -D "$folder/pg/data" -U postgres -A trust -E UTF8 --locale=C --no-instructions >/dev/null
    "${as_user[@]}" "$programs/postgres" -D "$folder/pg/data" -k "$folder/pg" -c listen_addresses= "$@" >"$folder/pg.log" 2>&1 &
    database=$!
    export PGHOST=$folder/pg PGUSER=postgres PGDATABASE=postgres
    until "$programs/pg_isready" --quiet; do sleep 0.1; done
}

# Starts the server of the command with the given options, and sets `server` to its process and `url` to its address.
start_server() {
    # What an earlier server has written is not the address of this one.
    rm -f "$folder/server.out"
    "$tool" serve --port 0 "$@" >"$folder/server.out" &
    server=$!
    until grep -qs listening "$folder/server.out"; do sleep 0.1; done
    url=$(awk '{print $NF}' "$folder/server.out")
}
