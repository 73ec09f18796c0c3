"""What a system declares, and the data that it works on.

declaration   the parts of a `Problem`: formulations, methods, theorems, generators, pictures
registry      the installed systems
methods       methods by name, with their parameters
data          base types of instances, solutions and certificates
files         reading and writing them; output: files that appear whole or not at all
schema        JSON Schema of these files
generation    instances generated from presets
training      what trains a policy, and policies as files of arrays
features      numbers that describe an instance's difficulty
result        limits of a solve, the outcome that a method returns, and the judged result
"""
