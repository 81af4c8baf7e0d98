"""Requests and answers, whatever they are about.

answers     JSON responses, times            failures    every error in one shape
body        a body, up to a limit            heads       HEAD
paths       names in paths, with slashes     query       parameters that no route takes
as_of       which events a read counts: its parameters asOf and logSize
"""
