"""Where instances come from: presets (`generate`), plans of SPP and DAPPLE (`importers`)."""
