"""Schedules as files: what runs where and when, as a table or as a trace for a viewer.

- spans: work that holds units of a resource for a time; which units; whether two schedules agree.
- places: a server and GPUs of it as one name.
- gantt: a CSV file, one line a span.
- chrome_trace: JSON that Perfetto and chrome://tracing show, one bar for each unit of a resource.
"""
