"""The lab's Flink, with a real session cluster."""

import httpx
import psutil

from headwater.lab.lab import Lab


def test_the_cluster_has_its_slots_and_listens_on_this_machine_only(flink: Lab) -> None:
    overview = httpx.get(f"{flink.address('jobmanager')}/overview").json()

    assert (overview["flink-version"], overview["taskmanagers"], overview["slots-total"]) == ("2.1.3", 1, 8)
    processes = [psutil.Process(pid) for part in flink.status() for pid in part.pids]
    sockets = [connection for process in processes for connection in process.net_connections("inet")]
    listening = {
        connection.laddr.ip.removeprefix("::ffff:") for connection in sockets if connection.status == psutil.CONN_LISTEN
    }
    assert listening == {"127.0.0.1"}
