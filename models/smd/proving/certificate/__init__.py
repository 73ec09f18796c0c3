"""The check of certificates.

- `check`: prices of the resources, and what is left at them
- `best_gain`: the largest gain of one job at prices
- `exhaustion`: all choices that can bring more than a bound
"""
