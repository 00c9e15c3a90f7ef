"""The visible checks, one file for each unit. They ship to students, so they hold no answer.

Next room: framework.py, how a check is written.
"""
