"""Exercises that are no function of the library: numbers, evidence, programs, explanations.

The bodies are the sample solutions. A student edition has these files without the bodies.
"""
