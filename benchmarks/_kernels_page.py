def write(lines):
    pass
