"""What runs inside Flink's own Python, which has Flink's packages and none of ours.

headwater_probe    runs a job with what its statements read and write written down; only this folder is on its path,
                   and nothing in it imports anything but PyFlink and the standard library
"""
