"""The clients of Benchmarks/signal, which describes the arguments and the results."""
import asyncio
import json
import os
import sys
import time

TICKS = os.sysconf("SC_CLK_TCK")


def processor_time(process):
    """Returns the processor time of a process in seconds."""
    with open(f"/proc/{process}/stat") as file:
        fields = file.read().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory(process, name):
    """Returns a value of /proc/PID/status in MiB."""
    with open(f"/proc/{process}/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith(name))


class Client:
    """A connection that sends one request after another."""

    def __init__(self, url):
        self.host, self.port = url.removeprefix("http://").rsplit(":", 1)

    async def open(self):
        self.reader, self.writer = await asyncio.open_connection(self.host, int(self.port), limit=1 << 14)
        return self

    async def send(self, method, target, body=""):
        self.writer.write(
            f"{method} {target} HTTP/1.1\r\nHost: {self.host}\r\nZUMO-API-VERSION: 2.0.0\r\n"
            f"Content-Length: {len(body)}\r\n\r\n{body}".encode())
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(head.split("content-length: ")[1].split("\r\n")[0])
        text = await self.reader.readexactly(length)
        if " 20" not in head.split("\r\n")[0]:
            raise RuntimeError(f"{method} {target}: {head} {text}")
        return json.loads(text)

    async def poll(self, cursor=None):
        since = f"&since={cursor}" if cursor else ""
        return await self.send("GET", f"/.changes?tables=TodoItem{since}")


def percentile(values, part):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * part))] * 1000


async def measure_latency(name, clients, changes, process, wait_url, write_url):
    waiting = [await Client(wait_url).open() for _ in range(clients)]
    writer = await Client(write_url).open()
    cursors = [(await client.poll())["cursor"] for client in waiting]
    times = []

    async def wait(number):
        answer = await waiting[number].poll(cursors[number])
        seen = time.perf_counter()
        cursors[number] = answer["cursor"]
        return seen, bool(answer["changes"])

    before = processor_time(process)
    for change in range(changes):
        tasks = [asyncio.ensure_future(wait(number)) for number in range(clients)]
        # The pause differs from a multiple of the interval of the server's looks.
        await asyncio.sleep(0.313)
        sent = time.perf_counter()
        await writer.send("POST", "/tables/TodoItem", '{"text":"change %d"}' % change)
        for seen, has_changes in await asyncio.gather(*tasks):
            if not has_changes:
                raise RuntimeError("an answer without a change")
            times.append(seen - sent)
    cost = (processor_time(process) - before) / changes
    print(
        f"{name}, {clients} waiting clients, {changes} changes: p50 {percentile(times, .5):.1f} ms, "
        f"p99 {percentile(times, .99):.1f} ms, maximum {max(times) * 1000:.1f} ms; "
        f"processor time of the server for one change and its answers: {cost * 1000:.1f} ms")
    for client in waiting + [writer]:
        client.writer.close()


async def measure_idle(count, seconds, process, url):
    base = memory(process, "VmRSS")
    clients = [await Client(url).open() for _ in range(count)]
    cursors = [(await client.poll())["cursor"] for client in clients]

    async def idle(number):
        while True:
            cursors[number] = (await clients[number].poll(cursors[number]))["cursor"]

    tasks = [asyncio.ensure_future(idle(number)) for number in range(count)]
    await asyncio.sleep(5)
    before, start = processor_time(process), time.perf_counter()
    await asyncio.sleep(seconds)
    share = (processor_time(process) - before) / (time.perf_counter() - start)
    print(
        f"{count} idle clients for {seconds} s: resident memory {memory(process, 'VmRSS'):.1f} MiB "
        f"({base:.1f} MiB before, {memory(process, 'VmHWM'):.1f} MiB at most), "
        f"{share * 100:.2f} % of a processor")
    for task in tasks:
        if task.done():
            task.result()
        task.cancel()


async def main():
    clients, changes, idle, seconds, process = map(int, sys.argv[1:6])
    wait_url, other_url = sys.argv[6:8]
    await measure_idle(idle, seconds, process, wait_url)
    await measure_latency("Same server", clients, changes, process, wait_url, wait_url)
    await measure_latency("Another server over the store", clients, changes, process, wait_url, other_url)


asyncio.run(main())
