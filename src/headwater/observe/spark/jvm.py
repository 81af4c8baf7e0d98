"""Calls into the JVM of a Spark driver."""

from typing import Any

from py4j.clientserver import ClientServer
from py4j.java_gateway import JavaClass
from pyspark import SparkContext
from pyspark.sql import SparkSession

Java = Any
"""An object in the JVM."""


def java_class(session: SparkSession, name: str) -> Java:
    """A JVM class by its full name, with one call; `_jvm.org.apache…` needs one for each package in the path."""
    return JavaClass(name, session.sparkContext._gateway._gateway_client)


def private(thing: Java, name: str) -> Java:
    """The value of a private field of an object's class or a superclass; None if there is no such field."""
    kind = thing.getClass()
    while kind is not None:
        if any(one.getName() == name for one in kind.getDeclaredFields()):
            holder = kind.getDeclaredField(name)
            holder.setAccessible(True)
            return holder.get(thing)
        kind = kind.getSuperclass()
    return None


def activate(session: SparkSession) -> None:
    """Make the session active, so that this thread's calls into Spark use its catalogs and configuration."""
    java_class(session, "org.apache.spark.sql.classic.SparkSession").setActiveSession(session._jsparkSession)


def release_thread() -> None:
    """Close this thread's connection to the JVM, and the thread that serves it there; to be called last."""
    gateway = SparkContext._gateway
    if isinstance(gateway, ClientServer) and (connection := gateway._gateway_client.get_thread_connection()):
        connection.close()
