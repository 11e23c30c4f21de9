from fuzzing import LAW, LONG


def pytest_terminal_summary(terminalreporter):
    if LONG:
        terminalreporter.write_line(f"{LAW.tried:,} inputs were tried, {LAW.refused:,} of them refused")
