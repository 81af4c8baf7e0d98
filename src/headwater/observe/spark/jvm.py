"""Calls into the JVM of a Spark driver."""

from typing import Any

from py4j.clientserver import ClientServer
from py4j.java_gateway import JavaClass
from pyspark import SparkContext
from pyspark.sql import SparkSession

Java = Any
"""An object in the JVM."""


def java_class(session: SparkSession, name: str) -> Java:
    """A class of the JVM by its whole name: one call where `_jvm.org.apache…` asks for every package on the way."""
    return JavaClass(name, session.sparkContext._gateway._gateway_client)


def private(thing: Java, name: str) -> Java:
    """A field that a thing's class, or one that it extends, keeps to itself; None where none has it."""
    kind = thing.getClass()
    while kind is not None:
        if any(one.getName() == name for one in kind.getDeclaredFields()):
            holder = kind.getDeclaredField(name)
            holder.setAccessible(True)
            return holder.get(thing)
        kind = kind.getSuperclass()
    return None


def activate(session: SparkSession) -> None:
    """Make the session the one whose catalogs and configuration this thread's calls into Spark use."""
    java_class(session, "org.apache.spark.sql.classic.SparkSession").setActiveSession(session._jsparkSession)


def release_thread() -> None:
    """Close this thread's connection to the JVM, and with it the thread that serves it there; call it last."""
    gateway = SparkContext._gateway
    if isinstance(gateway, ClientServer) and (connection := gateway._gateway_client.get_thread_connection()):
        connection.close()
