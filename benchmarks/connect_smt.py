"""The time per record in Kafka Connect with `OpenLineageLifecycleSmt` and without, by JMH.

Each case passes the same 1,024 records of 30 fields repeatedly: after the first of a topic and schema, nothing new is
reported. Events go to a port where nothing listens. Prints nanoseconds per record and the difference, which should stay
below 2,000.

    .venv/bin/python benchmarks/connect_smt.py [--seconds 1]
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

MODULE = Path(__file__).resolve().parents[1] / "jvm" / "connect-smt"
MAVEN = ["mvn", "--batch-mode", "--quiet", "--no-transfer-progress", "-Pjmh", "-f", str(MODULE / "pom.xml")]

QUIET = "-Xmx256m -Dorg.slf4j.simpleLogger.defaultLogLevel=off"


def main() -> None:
    """Measure and print."""
    options = _options()
    subprocess.run([*MAVEN, "test-compile"], check=True)
    print(f"{'records':<24}{'without':>12}{'with':>12}{'the SMT':>12}   ns per record")
    for records, took in _measured(options.seconds).items():
        cost = took["with"] - took["without"]
        print(f"{records:<24}{took['without']:>12.1f}{took['with']:>12.1f}{cost:>12.1f}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=1, help="of each of the three measured rounds")
    return parser.parse_args()


def _measured(seconds: int) -> dict[str, dict[str, float]]:
    """Nanoseconds per record, by case, then by `with` and `without`."""
    classes = f"{MODULE}/target/classes:{MODULE}/target/test-classes"
    classpath = f"{classes}:{(MODULE / 'target' / 'jmh.classpath').read_text().strip()}"
    rounds = ["-f", "1", "-wi", "2", "-w", str(seconds), "-i", "3", "-r", str(seconds), "-jvmArgs", QUIET]
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        command = ["java", "-cp", classpath, "org.openjdk.jmh.Main", "ApplyBenchmark", *rounds]
        subprocess.run([*command, "-rf", "json", "-rff", report.name], check=True, stdout=subprocess.DEVNULL)
        results: list[dict[str, Any]] = json.loads(Path(report.name).read_bytes())
    took: dict[str, dict[str, float]] = {}
    for result in results:
        way = result["benchmark"].rpartition(".")[2]
        took.setdefault(result["params"]["records"], {})[way] = result["primaryMetric"]["score"]
    return took


if __name__ == "__main__":
    main()
