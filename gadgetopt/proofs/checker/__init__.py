"""Anybody's proof about a model file: checked, and what it shows said in plain words.

verdict        reads a proof and a model and checks one against the other: standard library only
vipr_verdict   what a VIPR file shows, and whether that is what it claims
sentences      what a proof shows, in plain words
command_line   what the checker in one file runs
writing        writes that file from the modules that are run here
"""
