"""`python -m headwater.spark program.py …`."""

from headwater.spark.program import main

main()
