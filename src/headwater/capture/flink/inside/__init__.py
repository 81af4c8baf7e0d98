"""Code that runs in Flink's own Python, which has Flink's packages and none of ours.

headwater_probe    runs a job and reports what its statements read and write; only this folder is on its path, and it
                   imports only PyFlink and the standard library
"""
