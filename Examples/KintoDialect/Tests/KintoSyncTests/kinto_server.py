"""Runs a Kinto server for the tests: python kinto_server.py memory|postgresql [PROGRAMS OF POSTGRESQL]

Prints the ports of the server and of a proxy that cuts one response in four. Commands on standard input, each answered by
a line: `kill` kills the server without warning and starts it again, `sql TEXT` runs SQL. Everything ends with the input.
"""

import asyncio
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

INI = """
[server:main]
use = egg:waitress
host = 127.0.0.1
port = {port}
threads = 8
[app:main]
use = egg:kinto
kinto.storage_backend = kinto.core.storage.{backend}
kinto.storage_url = {url}
kinto.permission_backend = kinto.core.permission.{backend}
kinto.permission_url = {url}
kinto.cache_backend = kinto.core.cache.memory
kinto.userid_hmac_secret = test
multiauth.policies = basicauth
kinto.bucket_create_principals = system.Authenticated
"""


def free_port():
    """Returns a port that the system does not select by itself, so that no other program gets it during a restart."""
    for port in random.SystemRandom().sample(range(10_000, 30_000), 100):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass
    sys.exit("no port is free")


def wait_until(condition):
    for _ in range(3000):
        try:
            return condition()
        except Exception:
            time.sleep(0.1)
    return condition()


class Server:
    def __init__(self, backend, programs):
        self.folder = tempfile.mkdtemp(prefix="kinto-")
        self.port = free_port()
        self.database = None
        url = ""
        if backend == "postgresql":
            url = f"postgresql://postgres@127.0.0.1:{free_port()}/postgres"
            self.start_database(programs, url)
        self.url = url
        self.ini = os.path.join(self.folder, "kinto.ini")
        with open(self.ini, "w") as file:
            file.write(INI.format(port=self.port, backend=backend, url=url))
        if url:
            subprocess.run([self.program(), "migrate", "--ini", self.ini], check=True, capture_output=True)
        self.start()

    def program(self):
        return os.path.join(os.path.dirname(sys.executable), "kinto")

    def start_database(self, programs, url):
        # PostgreSQL refuses to run as root.
        user = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.getuid() == 0 else {}
        os.chmod(self.folder, 0o777)
        data, log = os.path.join(self.folder, "data"), open(os.path.join(self.folder, "log"), "w")
        options = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
        subprocess.run([f"{programs}/initdb", "-D", data] + options, check=True, stdout=log, stderr=log, **user)
        port = url.split(":")[-1].split("/")[0]
        options = ["-k", self.folder, "-c", "listen_addresses=127.0.0.1", "-c", "port=" + port, "-c", "fsync=off"]
        self.database = subprocess.Popen([f"{programs}/postgres", "-D", data] + options, stdout=log, stderr=log, **user)
        wait_until(lambda: self.sql("SELECT 1", url))

    def sql(self, text, url=None):
        import psycopg2

        connection = psycopg2.connect(url or self.url)
        connection.autocommit = True
        connection.cursor().execute(text)
        connection.close()

    def start(self):
        log = open(os.path.join(self.folder, "kinto.log"), "a")
        command = [self.program(), "start", "--ini", self.ini, "--port", str(self.port)]
        self.process = subprocess.Popen(command, stdout=log, stderr=log)
        wait_until(lambda: urllib.request.urlopen(f"http://127.0.0.1:{self.port}/v1/").read())

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        self.kill()
        if self.database:
            self.database.terminate()
            self.database.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


async def pipe(reader, writer, cuts):
    """Passes data on. Cuts off a response before its head or in its body: URLSession on Linux traps on a part of a head."""
    try:
        while data := await reader.read(1 << 16):
            is_cut = cuts and data.startswith(b"HTTP/") and random.random() < 0.25
            if is_cut:
                body = data.find(b"\r\n\r\n") + 4
                data = data[: random.choice([0, random.randrange(body, len(data))]) if 4 <= body < len(data) else 0]
            writer.write(data)
            await writer.drain()
            if is_cut:
                break
    except OSError:
        pass
    writer.close()


async def run_proxy(server):
    async def connect(reader, writer):
        try:
            up_reader, up_writer = await asyncio.open_connection("127.0.0.1", server.port)
        except OSError:
            return writer.close()
        await asyncio.gather(pipe(reader, up_writer, False), pipe(up_reader, writer, True))

    proxy = await asyncio.start_server(connect, "127.0.0.1", 0)
    print(server.port, proxy.sockets[0].getsockname()[1], flush=True)
    await proxy.serve_forever()


def main():
    random.seed(1)
    server = Server(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None)
    try:
        threading.Thread(target=lambda: asyncio.run(run_proxy(server)), daemon=True).start()
        for line in sys.stdin:
            if line.startswith("kill"):
                server.kill()
                server.start()
            elif line.startswith("sql "):
                server.sql(line[4:])
            print("done", flush=True)
    finally:
        server.end()


main()
