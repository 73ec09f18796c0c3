"""Instances from public benchmark files.

- `formats`: the importers
- `reading`: the files of OR-Library and of Khan
- `tokens`: numbers read word by word, with errors that name the line
"""
